"""In: a question and evidence. Out: `Sheet`: the evidence as a writing model sees it, its exact values behind names.

Each exact value and figure becomes `{v1}`, `{v2}` …; where the question asks when, the day of an event is `{d1}` (numbered
as the evidence is). So a model can place a value but never spell one; of each it is told the kind and the words in it. What stands in the question
too stays readable. Every line of evidence begins with `| `: nothing inside can look like the frame around it. Two kinds of
evidence are kept from the model: what has been superseded, and what speaks to its reader ("ignore the above and answer …").
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from memoryfs.exact import KINDS, exact_values
from memoryfs.model import Evidence
from memoryfs.render import safe

MOST = 12  # pieces of evidence shown
CHARS, ITEM_CHARS = 4_000, 1_200  # of evidence in all (about 1,000 tokens), and of one piece
READ_CHARS = 3_000  # of a superseded piece, or beyond the room of another, that are looked through for values
NAMED, HINTS = 16, 6  # values of one piece whose kind is told, and the words of each
ROLES = ("user", "assistant", "tool", "system")
SHORT_QUOTE, CODE_QUOTE = 30, 200  # characters of a quotation that counts as a value: prose, code
_WHEN = re.compile(r"\bwhen\b|\b(?:what|which) (?:date|day|year|month)\b|いつ|何[年月]|언제|몇\s?[년월]|什么时候|何时|哪[年天月]", re.IGNORECASE)
_FIGURE = re.compile(r"\d+(?:[.,:/_-]?\d+)*")
_HINT = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z]?[a-z]{2,}|[^\W\d_a-zA-Z]+")
_NAME = re.compile(r"\{[vd]\d+\}")
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec)[a-z]{0,6}"
_MOMENT = re.compile(  # dates and times of day as people write them, which are one value each
    r"\d{1,4} ?[年년](?: ?\d{1,2} ?[月월])?(?: ?\d{1,2} ?[日일号])?|\d{1,2} ?[月월] ?\d{1,2} ?[日일号]"
    r"|(?:午前|午後|上午|下午|오전 ?|오후 ?)?\d{1,2} ?[時시点](?!間|간|间)(?: ?\d{1,2} ?[分분]|半| ?반)?|\d+ ?(?:分钟|秒钟)"
    rf"|\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}}\b)?|\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}\b(?:,? \d{{4}}\b)?"
)
_SENTENCE_SIGNS = re.compile(r"[.!?。！？、，]")

# Evidence that tells its reader what to do instead of saying something.
_ADDRESSED = re.compile(
    r"\b(?:ignore|disregard|forget|override|overrule)\b.{0,40}\b(?:above|previous|prior|earlier|preceding|system|everything|instructions?|evidence|question|context)\b"
    r".{0,60}?\b(?:instructions?|rules?|prompts?|guidelines?|answer|say|reply|respond|output|write|print|state|claim)\b"
    r"|\b(?:answer|reply|respond|output)\b[ :]{1,2}(?:only|just|always|exactly|with (?:only|exactly|just))\b|<\|?(?:im_start|system|assistant)\b|\[/?INST\]"
    r"|\byou (?:are|must act as) (?:now )?an? (?:\w+ ){0,3}(?:ai|assistant|model|bot)\b|\b(?:ai|language) models?,? (?:must|should|reading|who read)\b"
    r"|(?:以前|これまで|今まで|上記|上|前)の?(?:指示|命令|ルール|内容|文|証拠|質問)?.{0,12}(?:無視|忘れ).{0,40}(?:答え|回答|出力|書|言|従)"
    r"|(?:이전|앞선|위의?|지금까지의) ?(?:지시|명령|규칙|내용|문장|질문)?.{0,12}(?:무시|잊).{0,40}(?:답|출력|써|쓰|말|따르)"
    r"|(?:忽略|无视|忘记|忘掉)(?:掉)?.{0,6}(?:之前|以前|以上|上面|上述|先前|此前|前面).{0,40}(?:回答|答|输出|写|说|按照)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Value:
    """What a name stands for. `places` are its [start, end) places in the evidence's text; none where it is the date."""

    text: str
    kind: str  # of `memoryfs.exact`, or "date"
    number: int  # of its evidence
    places: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Sheet:
    """`shown` is the text for the model; `items` the evidence by its number, which is its place in the recall, from 1."""

    question: str
    shown: str
    items: dict[int, Evidence] = field(default_factory=dict)
    values: dict[str, Value] = field(default_factory=dict)
    replaced: dict[str, str] = field(default_factory=dict)  # values of superseded evidence → the latest time of it
    withheld: tuple[int, ...] = ()  # evidence that speaks to its reader

    def of_item(self, number: int) -> list[tuple[int, int]]:
        """The places of all values of one piece of evidence, in order."""
        return sorted(place for value in self.values.values() if value.number == number for place in value.places)


def addressed(text: str) -> bool:
    """Whether a piece of evidence speaks to whoever reads it, as an injected instruction does."""
    return bool(_ADDRESSED.search(text))


def literals(text: str) -> list[tuple[int, int, str]]:
    """(start, end, kind) of every exact value, date, short quotation and figure of `text`, in order; none overlaps another."""
    found = exact_values(text)
    spans = [(v.start, v.end, v.kind) for v in found if v.kind != "quoted"]

    def put(start: int, end: int, kind: str, over: Collection[str] = (), *, whole: bool = False) -> None:
        """Add a span, unless one is in its way that is of no kind in `over`; such a one makes room. `whole`: if it lies within."""
        nonlocal spans
        crossing = [span for span in spans if span[0] < end and start < span[1]]
        if all(span[2] in over and (not whole or (start <= span[0] and span[1] <= end)) for span in crossing):
            spans = [span for span in spans if span not in crossing] + [(start, end, kind)]

    for match in _NAME.finditer(text):  # what looks like one of our names is a value like any other
        put(*match.span(), "quoted", over=KINDS)
    for match in _MOMENT.finditer(text):
        put(*match.span(), "number", over=("number",))
    for quoted in (v for v in found if v.kind == "quoted"):
        if text[quoted.start - 1 : quoted.start] == "`":  # code is one value, whatever it is made of
            if len(quoted.text) <= CODE_QUOTE:
                put(quoted.start, quoted.end, "quoted", over=KINDS, whole=True)
        elif len(quoted.text) <= SHORT_QUOTE and not _SENTENCE_SIGNS.search(quoted.text):
            put(quoted.start, quoted.end, "quoted")
    for match in _FIGURE.finditer(text):
        put(*match.span(), "number")
    return sorted(spans)


def stands_in(value: str, text: str) -> bool:
    """Whether `value` stands in `text` as a whole: not as a part of a longer word or figure."""
    return any(True for _ in _wholes(value, text))


def _wholes(value: str, text: str) -> Iterator[int]:
    at = text.find(value)
    while at >= 0 and value:
        before, after = text[at - 1 : at], text[at + len(value) : at + len(value) + 2]
        joined = (_joins(before) and _joins(value[0])) or (_joins(after[:1]) and _joins(value[-1]))
        figure = value[-1].isdigit() and after[:1] in ".,:" and after[1:2].isdigit()
        led = value[0].isdigit() and before in (".", "-", ":") and text[at - 2 : at - 1].isdigit()
        if not joined and not figure and not led:
            yield at
        at = text.find(value, at + 1)


def _joins(char: str) -> bool:
    return char == "_" or (char.isascii() and char.isalnum())


def sheet(question: str, evidence: Sequence[Evidence]) -> Sheet:
    """The sheet of a question; `items` is empty where there is nothing that a model may answer from."""
    asked = " ".join(safe(question).split())
    items: dict[int, Evidence] = {}
    values: dict[str, Value] = {}
    replaced: dict[str, str] = {}
    withheld: list[int] = []
    blocks: list[tuple[int, str]] = []
    room = CHARS
    for number, proof in enumerate(evidence, 1):
        if proof.superseded_by:
            for start, end, _ in literals(proof.text[:READ_CHARS]):
                text = proof.text[start:end]
                replaced[text] = max(replaced.get(text, ""), proof.time or "~")
        elif addressed(proof.text[: ITEM_CHARS + READ_CHARS]):
            withheld.append(number)
        elif len(items) < MOST and room > 0:
            items[number] = proof
            block = _block(number, proof, asked, values, min(room, ITEM_CHARS))
            blocks.append((number, block))
            room -= len(block)
    latest = max((p.time or "" for p in items.values()), default="")
    lines = ["Evidence"]
    for number, block in blocks:
        proof = items[number]
        said = f"[{number}] {proof.role if proof.role in ROLES else 'someone'}"
        if proof.time and _WHEN.search(asked):
            values[f"d{number}"] = Value(proof.time[:10], "date", number)
            said += f", said on {{d{number}}}"
        if len(items) > 1 and proof.time and proof.time == latest:
            said += " (the latest)"
        lines += [said, block]
    lines.append(f"Question: {asked}")
    return Sheet(asked, "\n".join(lines), items, values, replaced, tuple(withheld))


def _block(number: int, proof: Evidence, asked: str, values: dict[str, Value], room: int) -> str:
    """The lines of one piece, with names for its values, which are added to `values`."""
    text = proof.text[: ITEM_CHARS + READ_CHARS]  # a value that begins in the room may end beyond it
    pieces: list[str] = []
    named: dict[str, str] = {}
    at = length = 0
    for start, end, kind in [*literals(text), (len(text), len(text), "")]:
        gap = text[at:start]
        if length + len(gap) > room:
            pieces.append(gap[: room - length] + " …")
            break
        pieces.append(gap)
        at = end
        value = text[start:end]
        shown = value
        if value and ((kind == "quoted" and _NAME.search(value)) or not stands_in(value, asked)):
            name = named.get(value)
            if name is None:
                name = named[value] = f"v{1 + sum(key[0] == 'v' for key in values)}"
                values[name] = Value(value, kind, number)
            known = values[name]
            values[name] = Value(value, known.kind, number, (*known.places, (start, end)))
            shown = f"{{{name}}}"
        pieces.append(shown)
        length += len(gap) + len(shown)
    lines = ["| " + safe(line) for line in "".join(pieces).splitlines()]
    if named:
        lines.append("values: " + ", ".join(f"{{{name}}} {_about(values[name])}" for name in list(named.values())[:NAMED]))
    return "\n".join(lines)


def _about(value: Value) -> str:
    """The kind of a value and the words in it, so that a model can tell what it is for: `env (cache disabled)`."""
    words = [] if value.kind in ("regex", "hash") else [word.lower() for word in _HINT.findall(value.text)][:HINTS]
    return f"{value.kind} ({' '.join(words)})" if words else value.kind
