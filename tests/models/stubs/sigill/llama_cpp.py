import os
import signal
import sys

print("ggml: about to use an instruction this machine lacks", file=sys.stderr, flush=True)
os.kill(os.getpid(), signal.SIGILL)
