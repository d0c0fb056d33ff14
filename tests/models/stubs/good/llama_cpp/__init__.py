"""A tiny stand-in for llama-cpp-python: a token is a byte, the logit of a byte is how often it was evaluated.

It chatters on C's stdout and Python's, as native libraries do. Some paths misbehave on purpose:
`crash.gguf` aborts while it evaluates "boom", `hang.gguf` never returns from it.
"""

import ctypes
import os
import sys
import time

C = ctypes.CDLL(None)


def chatter():
    C.puts(b'{"id": 1, "ok": true, "scores": [99.0]}')
    C.fflush(None)
    print("ggml_init: using 640 MB")
    sys.stdout.flush()


chatter()


class Llama:
    def __init__(self, path, n_ctx=512, **options):
        if "broken" in path:
            raise ValueError("Failed to load model from file: " + path)
        self.path, self._n_ctx = path, n_ctx
        self.n_tokens, self.cells = 0, []
        self.ctx = self
        self._model = self
        self.metadata = {"general.name": "stub"}
        chatter()

    def n_ctx_train(self):
        return 100_000

    def n_ctx(self):
        return self._n_ctx

    def n_embd(self):
        return 4

    def pooling_type(self):
        return 1

    def close(self):
        pass

    def reset(self):
        self.n_tokens = 0

    def tokenize(self, text, add_bos=True, special=False):
        return ([1] if add_bos else []) + list(text)

    def eval(self, tokens):
        if b"boom" in bytes(tokens):
            if "crash" in self.path:
                os.abort()
            if "hang" in self.path:
                time.sleep(600)
        del self.cells[self.n_tokens :]
        self.cells += tokens
        self.n_tokens += len(tokens)
        assert self.n_tokens <= self._n_ctx, "context overflow aborts the real library"
        chatter()

    def create_completion(self, prompt, max_tokens, temperature, grammar):
        self.cells, self.n_tokens = list(prompt), len(prompt)
        chatter()
        text = '{"summary": "port 5433"}' if max_tokens > 20 else '{"summary": "po'
        return {"choices": [{"text": text, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": len(prompt), "completion_tokens": len(text)}}

    def embed(self, text, normalize, truncate):
        return [float(len(text)), 3.0, 0.0, 0.0]


class LlamaGrammar:
    @classmethod
    def from_json_schema(cls, schema, verbose):
        return cls()


def llama_get_memory(ctx):
    return ctx


def llama_memory_seq_rm(memory, sequence, start, end):
    if "recurrent" in memory.path and start:
        return False
    del memory.cells[start:]
    return True


def llama_memory_clear(memory, data):
    memory.cells.clear()


def llama_get_logits_ith(ctx, i):
    return [float(ctx.cells.count(token)) for token in range(256)]
