"""In: the text a model wrote. Out: the JSON object in it, or `ModelAnswerError`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from memoryfs.errors import ModelAnswerError

_THINK = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")


def parse_object(text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The first JSON object in `text` that has every key the schema requires.

    Thinking, code fences and talk around it are ignored. NaN and infinities, duplicate keys, lone surrogates and an
    object cut off in the middle make an answer unusable: guessing what was meant is not ours to do.
    """
    plain = _THINK.sub("", text)
    required = schema.get("required", ())
    decoder = json.JSONDecoder(parse_constant=_reject, object_pairs_hook=_once)
    reason = "no JSON object" if plain.strip() else "empty answer"
    start = plain.find("{")
    while start >= 0:
        try:
            value, end = decoder.raw_decode(plain, start)
        except (ValueError, RecursionError) as error:
            reason = f"not valid JSON: {error}"
            start = plain.find("{", start + 1)
            continue
        missing = [key for key in required if key not in value]
        if not missing:
            if _SURROGATE.search(json.dumps(value, ensure_ascii=False)):
                raise ModelAnswerError("it holds half a character")
            return value
        reason = f"keys missing: {', '.join(missing)}"
        start = plain.find("{", end)
    raise ModelAnswerError(reason)


def _reject(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON value")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("a key stands twice")
    return out
