"""In: a piece of evidence and a place in it. Out: how it speaks there: plainly, or of what is denied, replaced, doubted, asked.

Rules in four languages over the clause of a value, or a whole sentence; and the content words by which texts are compared.
"""

from __future__ import annotations

import re
from itertools import pairwise

from memoryfs.recall.answer_sheet import Sheet, Value
from memoryfs.text import is_stopword, scan, script_of

NEGATION = re.compile(
    r"\b(?:not|never|no|none|nothing|neither|nor|cannot|without|avoid\w*|forb[ia]d\w*|disallow\w*|refus\w*|except|unless|stop\w*|instead|rather)\b|n[’']t\b"
    r"|ない|なく|ません|ず(?:に|、|。|$)|禁止|不可|やめ|않|안 |못|없|아니|금지|말고|마세요|不|没|沒|别|無|无",
    re.IGNORECASE,
)
CHANGE = re.compile(
    r"\b(?:chang\w+|switch\w*|replac\w+|mov\w+|rais\w+|lower\w*|renam\w+|updat\w+|bump\w*|migrat\w+|increas\w+|decreas\w+|reduc\w+|former\w*|previous\w*|used to|"
    r"before|earlier|old|until|instead|no longer)\b"
    r"|変更|改め|切り替え|代わり|ではなく|やめ|引き上げ|引き下げ|変え|変わ|以前|前は|移|変更|변경|바꾸|바꿨|바꿔|바뀌|대신|이전|전에|올렸|내렸|옮|改为|改成|换成|换|不再|调整|更新|以前|之前|提高|降|从",
    re.IGNORECASE,
)
DOUBT = re.compile(
    r"\b(?:maybe|perhaps|might|could|possibly|what if|suppose|should we|let.?s say|would|if|i think|not sure|probably)\b"
    r"|かもしれ|たぶん|もし|仮に|だろう|でしょう|おそらく|と思|아마|혹시|만약|것 같|까요|也许|可能|大概|假如|如果|或许|好像",
    re.IGNORECASE,
)
_DENIED_BEFORE = re.compile(
    r"\b(?:not|never|no longer|avoid|without|instead of|rather than|cannot)\b|n[’']t\b|(?:不(?:要|再|能|可|用|是|应)|别|没有|禁止)|(?:^|\s)(?:안|못) ", re.I
)
_DENIED_AFTER = re.compile(
    r"^.{0,40}?(?:\b(?:not|never|no longer|deprecated|forbidden|obsolete|wrong|disallowed)\b|n[’']t\b|ない|ません|ではな|じゃな|禁止|やめ|않|아니|없|말고|말아|마세요|금지|不再|不用|弃用|废弃|不对|错)",
    re.I,
)
_NOT_IT = re.compile(r"(?:\b(?:not|never|no longer)|n[’']t)\b[^.]{0,20}\b(?:it|that|this|them)\b|使(?:いません|わない|うな)|쓰지 ?(?:않|마)|안 써|不(?:要|能|再)?用|别用", re.I)
_FROM_BEFORE = re.compile(r"(?:\b(?:from|formerly|previously|replac(?:e|es|ed|ing))\s+(?:\w+\s+){0,2}|[从由]\s*)[`'\"“「]?$", re.I)
_FROM_AFTER = re.compile(r"^[`'\"”」]?\s*(?:から|에서|の代わり|대신)")
_ARROW = re.compile(r"^[`'\"”」]?\s*(?:→|->|=>)")
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|[。！？\n]")
_CLAUSE_END = re.compile(r"[,;:、，；—]|\.(?=\s)| (?:but|and|then) |けど|지만|但是?")
_ASKS = re.compile(r"(?:[?？]|(?:です|ます|でしょう)か|까|나요|吗|呢)[\"'”」)]*$")


def content(text: str) -> frozenset[str]:
    """The content words of a text as they can be compared: stems, the beginnings of Korean words, pairs of Han, katakana."""
    out: set[str] = set()
    for term, kind in scan(text):
        if kind in ("single", "symbol") or is_stopword(term) or term.isdigit():
            continue
        script = script_of(term)
        if script == "hangul":
            if kind == "word":
                out.add(term[:2])
        elif script == "kana":
            if not any("\u3041" <= char <= "\u309f" for char in term):
                out.add(term)
        elif len(term) > 1:
            out.add(term)
    return frozenset(out)


def sentences(text: str) -> list[str]:
    ends = [0, *(m.end() for m in _SENTENCE_END.finditer(text)), len(text)]
    return [text[a:b].strip() for a, b in pairwise(ends) if text[a:b].strip()]


def tone(sentence: str) -> str:
    """asked, denied, doubted or "": how a whole sentence is said."""
    if _ASKS.search(sentence.strip(" \n。.")):
        return "asked"
    return "denied" if NEGATION.search(sentence) else "doubted" if DOUBT.search(sentence) else ""


def context(value: Value, place: tuple[int, int], sheet: Sheet) -> tuple[str, str, str]:
    """What stands before and after a value in its clause, up to the next values; and its whole sentence."""
    text, (start, end) = sheet.items[value.number].text, place
    others = [p for p in sheet.of_item(value.number) if p != place]
    first = max((m.end() for m in _SENTENCE_END.finditer(text, 0, start)), default=0)
    stop = _SENTENCE_END.search(text, end)
    last = stop.end() if stop else len(text)
    before = text[max(first, max((e for _, e in others if e <= start), default=0)) : start]
    after = text[end : min(last, min((s for s, _ in others if s >= end), default=last))]
    return _CLAUSE_END.split(before)[-1], _CLAUSE_END.split(after)[0], text[first:last]


def mark(value: Value, place: tuple[int, int], sheet: Sheet) -> str:
    """denied, replaced, doubted or asked: how the evidence speaks of the value at this place; "" for plainly."""
    before, after, whole = context(value, place, sheet)
    if _DENIED_BEFORE.search(before) or _DENIED_AFTER.search(after):
        return "denied"
    text = sheet.items[value.number].text
    following = next((s for s, _ in sheet.of_item(value.number) if s >= place[1]), len(text))
    if _NOT_IT.search(text[place[1] : min(following, place[1] + len(whole))].split("\n")[0]):  # "4.2 has a leak, we do not use it"
        return "denied"
    if _ARROW.match(after) or (CHANGE.search(whole) and (_FROM_BEFORE.search(before) or _FROM_AFTER.match(after))):
        return "replaced"
    if _ASKS.search(whole.strip(" \n。.")):
        return "asked"
    return "doubted" if DOUBT.search(whole) else ""


def plain_place(value: Value, sheet: Sheet) -> tuple[int, int] | None:
    """The first place of a value where its evidence simply says it."""
    return next((place for place in value.places if not mark(value, place, sheet)), None)


def around(value: Value, sheet: Sheet) -> frozenset[str]:
    """The content words beside a value's first plain place, up to the next values and clauses."""
    if not value.places:
        return frozenset()
    before, after, _ = context(value, plain_place(value, sheet) or value.places[0], sheet)
    return content(before) | content(after)
