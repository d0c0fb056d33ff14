"""In: a sentence, who said it and where it stood. Out: named numbers that the gate weighs.

The names are what organizer/data/gate.json holds weights for. Context that is not known counts as 0, so a bare
line can be judged too.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from organizer.rules.cues import cues, language_of


@dataclass(frozen=True, slots=True)
class Context:
    """Where a sentence stood. `found`: under a heading or lead-in that announces causes, results or decisions; `asks`: in a
    message that asks something (0 or 1 each).

    Place in the message and in the session, list items, headings of plans and summaries, what tools did around it, whether the
    turn ends there, what the user answers and whether its values come back were tried as well and earned nothing on labelled lines.
    """

    found: int = 0
    asks: int = 0


UNKNOWN = Context()

# The cues that mean something else when a person says them than when the assistant does.
BY_ROLE = (
    "decision", "correction", "instruction", "task", "cause", "outcome", "condition", "relation", "setting",
    "question", "option", "oneoff", "edit", "status", "vague", "hedge", "imperative",
)
PLAIN = ("narration", "chatter", "log", "preference", "strong", "quotation")

_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uff66-\uff9d]")
_WORD = re.compile(r"[A-Za-z0-9_À-ɏЀ-ӿ'’.-]+")
_CODE = re.compile(r"`[^`]+`")
_NAME = re.compile(r"\b(?:[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|[a-z0-9]+_\w+|[A-Z][A-Z0-9]*_[A-Z0-9_]+|\w+\(\)|[\w-]+/[\w./-]+)")
_NUMBER = re.compile(r"\d")
_LABEL = re.compile(r"^\W*[^.:：]{2,50}[:：]\s+\S|^\*\*[^*]+\*\*")
_EXPLAINS = re.compile(r"\w[:：] ?(?=[\w`\"'「『])")
_CAPITALS = re.compile(r"\b[A-Z]{3,}\b")
_FOUND = re.compile(
    r"\b(?:root cause|cause|problem|issue|found|findings?|result|decisions?|decided|agreed|fix(?:ed)?|bug|why|behaviou?r|how it works|"
    r"rules?|requirements?|constraints?|conclusion|key|important|notes?|learned|the fix|solution|answer)\b|原因|結論|決定|問題|仕様|ルール|결론|원인|결정|문제|규칙|原因|结论|决定|问题|规则",
    re.I,
)


def words(text: str) -> float:
    """Length in words; two wide characters count as one."""
    wide = len(_WIDE.findall(text))
    return len(_WORD.findall(_WIDE.sub(" ", text))) + wide / 2


def context_of(heading: str, message: str = "") -> Context:
    """The context that a heading or lead-in gives, and the message that the sentence stands in."""
    return Context(int(bool(heading and _FOUND.search(heading))), int("?" in message or "？" in message))


def features(
    text: str, role: str, context: Context = UNKNOWN, *, language: str = "", shown: frozenset[str] | None = None
) -> dict[str, float]:
    """The features of one sentence (clean text); only those that are not 0. `shown` are its cues, if already known."""
    language = language or language_of(text)
    found = cues(text, language) if shown is None else shown
    user = role == "user"
    who = "user" if user else "assistant"
    out: dict[str, float] = {"bias": 1.0, "user": float(user)}
    for name in BY_ROLE:
        if name in found:
            out[name] = 1.0
            out[f"{name}:{who}"] = 1.0
    for name in PLAIN:
        if name in found:
            out[name] = 1.0
    length = words(text)
    out["length"] = min(math.log1p(length), 4.5) - 2.5
    out["short"] = float(length < 5)
    out["long"] = float(length > 45)
    out["lead_in"] = float(text.endswith((":", "：")))
    out["ends_in_stop"] = float(text.endswith((".", "。", "!", "！", ")")))
    code = _CODE.findall(text)
    out["code"] = min(len(code), 4) / 4
    out["all_code"] = float(bool(code) and sum(map(len, code)) > 0.6 * len(text))
    out["names"] = min(len(_NAME.findall(text)), 4) / 4
    out["number"] = float(bool(_NUMBER.search(text)))
    out["label"] = float(bool(_LABEL.match(text)))
    out["lower_start"] = float(text[:1].islower())
    if not user and length >= 8 and not found & {"narration", "edit", "status", "option", "question"}:
        out["plain_statement"] = 1.0
    if user and length >= 8 and not found & {"question", "oneoff", "log"}:
        out["plain_statement:user"] = 1.0
    if _EXPLAINS.search(text):
        out[f"explains:{who}"] = 1.0
    if _CAPITALS.search(_CODE.sub("", text)):
        out[f"capitals:{who}"] = 1.0
    if context.asks:
        out[f"asks:{who}"] = 1.0
    if context.found:
        out["in_found"] = 1.0
        out[f"in_found:{who}"] = 1.0
    return {k: v for k, v in out.items() if v}
