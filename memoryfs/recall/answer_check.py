"""In: the sentence that a model wrote from a sheet. Out: `Checked`, with the values put in; or `Refused`, with the reason.

Nothing is mended: a sentence that fails one check is not given. What is checked: that it is in the question's script; that every number in brackets names a
piece of evidence and every name a value of a piece that is cited; that the sentence spells no value, figure, number word,
weekday or name which the cited evidence lacks; that with the values in their places every exact value of it stands in
the cited evidence; that a value which is denied, replaced, doubted or only asked about there is not told as plain; that the
sign is the same; that no superseded value is told; and that most of its words are those of evidence and question. Words
are compared only where sentence and evidence are written in one script.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from memoryfs.exact import exact_values
from memoryfs.model import Evidence, Inserted
from memoryfs.recall import kinds
from memoryfs.recall.answer_sheet import Sheet, Value, literals, stands_in
from memoryfs.render import safe
from memoryfs.text import is_stopword, normalise, scan, script_of, stem

MAX_CHARS = 400
SUPPORT = 0.5  # share of the sentence's content words that stand in the cited evidence or the question

_WIDE = str.maketrans("［］【】｛｝", "[][]{}")
_CITED = re.compile(r"\[(\d{1,3}(?:\s?[,、]\s?\d{1,3})*)\]")
_NAMED = re.compile(r"\{([vd]\d{1,4})\}")
_TWO_SENTENCES = re.compile(r"(?<![ .][a-z])[.!?][\"'”)]?\s+\S|[。！？]\s*[^\s。！？」』）)]")

_NUMBER_WORD = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|ninety|hundreds?|thousands?|"
    r"millions?|billions?|dozens?|twice|thrice)\b"
    r"|(?:[〇零一二三四五六七八九十百千万億亿两兩]{2,}|[二三四五六七八九十两兩])(?=[日週月年時分秒回件個人位名台番号号割倍天个次条岁块行本枚点]|小时)"
    r"|(?:두|세|네|다섯|여섯|일곱|여덟|아홉|열|스무)(?= ?(?:개|번|명|시|달|주|대|살|권|장|줄)(?:$|[^가-힣]|[가-힣]))",
    re.IGNORECASE,
)
_DAYS = tuple(
    (english, re.compile(rf"\b{english}(?:day)?s?\b|[{kanji}]曜|{hangul}요일|(?:星期|礼拜|周)[{han}]", re.IGNORECASE))
    for english, kanji, hangul, han in (
        ("monday", "月", "월", "一"), ("tuesday", "火", "화", "二"), ("wednesday", "水", "수", "三"), ("thursday", "木", "목", "四"),
        ("friday", "金", "금", "五"), ("saturday", "土", "토", "六"), ("sunday", "日", "일", "日天"),
    )
)
_MONTH = re.compile(
    r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\b|(?:十[一二]?|[一二三四五六七八九])月"
)
_NAME = re.compile(r"(?<=[\w,;:)’'\"”\]}] )[A-Z][\w’'-]+|\b[A-Z]{2,}\b")
_LATIN = re.compile(r"[A-Za-z][\w'-]+", re.ASCII)
_CALLED = re.compile(r"([\u30a1-\u30fc\u3400-\u9fff]{1,6})(?:さん|様|氏|くん|ちゃん|先生)|([가-힣]{2,4}) ?(?:씨|님)|([\u3400-\u9fff]{1,3})(?:先生|女士|老师)")

_NEGATION = re.compile(
    r"\b(?:not|never|no|none|nothing|neither|nor|cannot|without|avoid\w*|forb[ia]d\w*|disallow\w*|refus\w*|except|unless|stop\w*|instead|rather)\b|n[’']t\b"
    r"|ない|なく|ません|ず(?:に|、|。|$)|禁止|不可|やめ|않|안 |못|없|아니|금지|말고|마세요|不|没|沒|别|無|无",
    re.IGNORECASE,
)
_ANSWERED_NO = re.compile(r"^(?:no|nope|いいえ|いや|아니요|아니오|不是?|没有)[,，、。.!]\s*", re.IGNORECASE)
_CHANGE = re.compile(
    r"\b(?:chang\w+|switch\w*|replac\w+|mov\w+|rais\w+|lower\w*|renam\w+|updat\w+|bump\w*|migrat\w+|increas\w+|decreas\w+|reduc\w+|former\w*|previous\w*|used to|"
    r"before|earlier|old|until|instead|no longer)\b"
    r"|変更|改め|切り替え|代わり|ではなく|やめ|引き上げ|引き下げ|変え|変わ|以前|前は|移|変更|변경|바꾸|바꿨|바꿔|바뀌|대신|이전|전에|올렸|내렸|옮|改为|改成|换成|换|不再|调整|更新|以前|之前|提高|降|从",
    re.IGNORECASE,
)
_DOUBT = re.compile(
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
_FROM_BEFORE = re.compile(r"(?:\b(?:from|formerly|previously|replac(?:e|es|ed|ing))\s+(?:\w+\s+){0,2}|[从由]\s*)[`'\"“「]?$", re.I)
_FROM_AFTER = re.compile(r"^[`'\"”」]?\s*(?:から|에서|の代わり|대신)")
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|[。！？\n]")
_CLAUSE_END = re.compile(r"[,;:、，；—]|\.(?=\s)| (?:but|and|then) |けど|지만|但是?")
_ASKS = re.compile(r"(?:[?？]|(?:です|ます|でしょう)か|까|나요|吗|呢)[\"'”」)]*$")
_WHICH = re.compile(r"\b(?:what|which|where)\b|何|どの|どれ|どこ|教え|무엇|뭐|몇|어떤|어느|어디|무슨|알려|什么|哪|多少|几", re.IGNORECASE)
_WHY = re.compile(r"\b(?:why|how come|who|when)\b|なぜ|どうして|誰|いつ|왜|누가|언제|为什么|为何|谁|什么时候", re.IGNORECASE)

_GROWS_BEFORE = re.compile(r"[A-Za-z0-9_+/.@=#$~^\\-]$|[A-Za-z0-9_\])]:$")
_GROWS_AFTER = re.compile(r"[A-Za-z0-9_/@=%\\]|[-.,:+][A-Za-z0-9]")
_STARTS = frozenset("according based since currently every each both while once".split())

# The kinds of `memoryfs.exact` that answer a question for one: where the word "port" is far away, a port is a number.
_FITS = {
    "regex": {"quoted", "command"}, "port": {"number", "url"}, "sql": {"quoted", "command"}, "env": {"identifier", "quoted"},
    "command": {"quoted", "path", "identifier", "sql"}, "path": {"url", "command", "quoted", "identifier"},
    "version": {"number", "identifier"}, "url": {"path", "port", "identifier"}, "email": {"quoted"}, "hash": {"number", "identifier"},
}


@dataclass(frozen=True, slots=True)
class Checked:
    """A sentence that passed: its text with the values in their places, the numbers it cites, and what was put in."""

    text: str
    citations: tuple[int, ...]
    values: tuple[Inserted, ...]


class Refused(ValueError):
    """Why a sentence is not given; a clause that goes on after "it"."""


@dataclass(frozen=True, slots=True)
class _Draft:
    """A sentence taken apart: `bare` has neither citations nor values; `full` has the values, at the places `put`."""

    sheet: Sheet
    cited: tuple[int, ...]
    names: tuple[str, ...]
    bare: str
    full: str
    put: tuple[tuple[int, int], ...]
    same_script: bool

    @property
    def proofs(self) -> list[Evidence]:
        return [self.sheet.items[number] for number in self.cited]

    @property
    def source(self) -> str:
        """The cited evidence, and when it was said."""
        return "\n".join(part for p in self.proofs for part in (p.text, p.time or ""))

    @property
    def known(self) -> str:
        """What names and words may come from."""
        return self.source + "\n" + self.sheet.question


def check(sentence: str, sheet: Sheet) -> Checked:
    """The sentence with its values. Raises Refused; an empty sentence is the model's way to say that there is no answer."""
    text = " ".join(sentence.translate(_WIDE).split())
    if not _CITED.sub("", text).strip(" .。"):
        raise Refused("found no answer in the evidence")
    if safe(text) != text:
        raise Refused("holds characters that a terminal would obey")
    cited = _citations(text, sheet)
    names = _names(text, sheet, cited)
    bare = _NAMED.sub(" … ", _CITED.sub(" ", text))
    if "{" in bare or "}" in bare:
        raise Refused("holds a name that stands for no value")
    if len(bare) > MAX_CHARS:
        raise Refused(f"is longer than {MAX_CHARS} characters")
    if _TWO_SENTENCES.search(" ".join(bare.split())):
        raise Refused("holds more than one sentence")
    script = script_of(bare)
    same = all(script_of(sheet.items[number].text) == script for number in cited)
    draft = _Draft(sheet, cited, names, bare, *_filled(_CITED.sub(" ", text), sheet), same)
    for rule in RULES:
        reason = rule(draft)
        if reason:
            raise Refused(reason)
    return Checked(_filled(text, sheet)[0], cited, tuple(_inserted(sheet, name) for name in names))


def _citations(text: str, sheet: Sheet) -> tuple[int, ...]:
    cited = list(dict.fromkeys(int(n) for m in _CITED.finditer(text) for n in re.split(r"\s?[,、]\s?", m[1])))
    if not cited:
        raise Refused("cites no evidence")
    for number in cited:
        if number not in sheet.items:
            raise Refused(f"cites evidence [{number}], which it was not given")
    return tuple(cited)


def _names(text: str, sheet: Sheet, cited: tuple[int, ...]) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(m[1] for m in _NAMED.finditer(text)))
    for name in names:
        value = sheet.values.get(name)
        if value is None:
            raise Refused(f"uses the value {{{name}}}, which there is not")
        if value.number not in cited:
            raise Refused(f"uses a value of evidence [{value.number}] without citing it")
    return names


def _filled(text: str, sheet: Sheet) -> tuple[str, tuple[tuple[int, int], ...]]:
    """`text` with the values in the places of their names, and these places."""
    pieces: list[str] = []
    put: list[tuple[int, int]] = []
    at = length = 0
    for match in _NAMED.finditer(text):
        value = sheet.values[match[1]].text
        pieces += [text[at : match.start()], value]
        length += match.start() - at + len(value)
        put.append((length - len(value), length))
        at = match.end()
    return "".join([*pieces, text[at:]]), tuple(put)


def _inserted(sheet: Sheet, name: str) -> Inserted:
    value = sheet.values[name]
    proof = sheet.items[value.number]
    if value.kind == "date":
        return Inserted(value.text, value.number, proof.thread, proof.index, 0, len(value.text), "time")
    start, end = _plain_place(value, sheet) or value.places[0]
    return Inserted(value.text, value.number, proof.thread, proof.index, proof.start + start, proof.start + end, "text")


# --- the rules: each gives "" or a reason ----------------------------------------------------------------------------


def in_its_language(draft: _Draft) -> str:
    """The sentence is written as the question is; Han alone may be Chinese or Japanese."""
    said, asked = script_of(draft.bare), script_of(draft.sheet.question)
    if said == asked or {said, asked} <= {"han", "kana"} or not re.search(r"[^\W\d_]", draft.bare):
        return ""
    return "is not in the language of the question"


def own_value(draft: _Draft) -> str:
    """What the model spelled itself stands in the question and in the cited evidence, or it is refused."""
    for start, end, _ in literals(draft.bare):
        value = draft.bare[start:end]
        if re.search(r"\w", value) and not (stands_in(value, draft.sheet.question) and stands_in(value, draft.source)):
            return f"holds {value!r}, which is no value taken from the evidence"
    return ""


def whole_value(draft: _Draft) -> str:
    """With the values in their places, nothing has grown around them: no `{v1}0`, no `-{v1}`, no other unit."""
    for start, end in draft.put:
        if _GROWS_BEFORE.search(draft.full[:start]) or _GROWS_AFTER.match(draft.full[end:]):
            return f"adds to the value {draft.full[start:end]!r}"
    spans = [(start, end) for start, end, _ in literals(draft.full)]
    spans += [(v.start, v.end) for v in exact_values(draft.full, ("number",))]  # "port 8443 days": a port, with a unit put to it
    for start, end in spans:
        if any(a <= start and end <= b for a, b in draft.put):
            continue
        value = draft.full[start:end]
        if re.search(r"\w", value) and not stands_in(value, draft.source):
            return f"makes {value!r} of a value, which the evidence does not say"
    return ""


def counted(draft: _Draft) -> str:
    """Number words, weekdays and months are those of the evidence or the question."""
    known = normalise(draft.known)
    for match in _NUMBER_WORD.finditer(draft.bare):
        if not re.search(rf"(?<![a-z]){re.escape(normalise(match[0]))}", known):
            return f"says {match[0]!r}, which the evidence does not"
    for english, pattern in _DAYS:
        if pattern.search(draft.bare) and not pattern.search(draft.known):
            return f"names a day ({english}) which the evidence does not"
    for match in _MONTH.finditer(draft.bare):
        if draft.same_script and normalise(match[0]) not in known:
            return f"names a month ({match[0]}) which the evidence does not"
    return ""


def named(draft: _Draft) -> str:
    """Names of people, products and the like stand in the evidence or the question."""
    known = _content(draft.known)
    folded = normalise(draft.known)
    latin = script_of(draft.bare) == "latin"
    words = [m[0] for m in (_NAME if latin else _LATIN).finditer(draft.bare)]
    if latin and draft.same_script and (first := _LATIN.match(draft.bare.strip(" \"'“‘(*"))) and first[0].lower() not in _STARTS:
        words.append(first[0])  # a name at the beginning looks like any first word
    for word in words:
        plain = normalise(word).removesuffix("'s").removesuffix("’s")
        if not is_stopword(plain) and stem(plain) not in known and plain not in folded:
            return f"names {word!r}, which the evidence does not"
    for match in _CALLED.finditer(draft.bare):
        who = next(group for group in match.groups() if group)
        if draft.same_script and not any(normalise(who[at:]) in folded for at in range(max(1, len(who) - 1))):
            return f"names {who!r}, whom the evidence does not"
    return ""


def same_sign(draft: _Draft) -> str:
    """A sentence that denies something rests on evidence, or a question, that does."""
    said = _ANSWERED_NO.sub("", draft.bare.strip())
    if draft.same_script and _NEGATION.search(said) and not _NEGATION.search(draft.known):
        return "denies something that the evidence does not"
    return ""


def told_as_said(draft: _Draft) -> str:
    """A value that the evidence denies, replaces, doubts or only asks about is not told as a plain fact."""
    for name in draft.names:
        value = draft.sheet.values[name]
        if value.kind == "date" or _plain_place(value, draft.sheet):
            continue
        marks = [_mark(value, place, draft.sheet) for place in value.places]
        for mark, cue in (("denied", _NEGATION), ("replaced", _CHANGE), ("doubted", _DOUBT)):
            if mark in marks and cue.search(draft.bare):
                break
        else:
            return f"tells {value.text!r} as a fact, which the evidence {_SAID[marks[0]]}"
    return ""


_SAID = {"denied": "denies", "replaced": "says was replaced", "doubted": "says only perhaps", "asked": "only asks about"}


def current(draft: _Draft) -> str:
    """No value of superseded evidence, unless something later says it again."""
    for name in draft.names:
        value = draft.sheet.values[name]
        gone = draft.sheet.replaced.get(value.text)
        if gone is not None and (draft.sheet.items[value.number].time or "") <= gone:
            return f"gives {value.text!r}, which has been superseded"
    return ""


def of_kind_asked(draft: _Draft) -> str:
    """Where a value of some kind is asked for, one of that kind is given."""
    question = draft.sheet.question
    wanted = kinds.asked(question)
    if not wanted or literals(question) or _WHY.search(question) or not _WHICH.search(question):
        return ""
    fitting = wanted | {kind for want in wanted for kind in _FITS.get(want, ())}
    if not any(draft.sheet.values[name].kind in fitting for name in draft.names):
        return f"gives no {' or '.join(sorted(wanted))}, which is asked for"
    return ""


def supported(draft: _Draft) -> str:
    """Most of the words are those of the evidence and the question, and some are the evidence's own."""
    own = _content(draft.bare)
    if not draft.same_script:
        if not draft.names:
            return "cannot be compared with the evidence, which is in another script, and holds no value of it"
        return "" if not own or own & _content(draft.sheet.question) else "has no word of the question"
    if own and len(own & _content(draft.known)) < SUPPORT * len(own):
        return "says more than the evidence"
    if not draft.names and not own & _content(draft.source):
        return "has no word of the evidence it cites"
    return ""


RULES: tuple[Callable[[_Draft], str], ...] = (
    in_its_language, own_value, whole_value, counted, named, same_sign, told_as_said, current, of_kind_asked, supported,
)


def _plain_place(value: Value, sheet: Sheet) -> tuple[int, int] | None:
    """The first place of a value where its evidence simply says it."""
    return next((place for place in value.places if not _mark(value, place, sheet)), None)


def _mark(value: Value, place: tuple[int, int], sheet: Sheet) -> str:
    """denied, replaced, doubted or asked: how the evidence speaks of the value at this place; "" for plainly."""
    text, (start, end) = sheet.items[value.number].text, place
    others = [p for p in sheet.of_item(value.number) if p != place]
    first = max((m.end() for m in _SENTENCE_END.finditer(text, 0, start)), default=0)
    stop = _SENTENCE_END.search(text, end)
    last = stop.end() if stop else len(text)
    before = text[max(first, max((e for _, e in others if e <= start), default=0)) : start]
    after = text[end : min(last, min((s for s, _ in others if s >= end), default=last))]
    before = _CLAUSE_END.split(before)[-1]
    after = _CLAUSE_END.split(after)[0]
    if _DENIED_BEFORE.search(before) or _DENIED_AFTER.search(after):
        return "denied"
    whole = text[first:last]
    if _CHANGE.search(whole) and (_FROM_BEFORE.search(before) or _FROM_AFTER.match(after)):
        return "replaced"
    if _ASKS.search(whole.strip(" \n。.")):
        return "asked"
    return "doubted" if _DOUBT.search(whole) else ""


def _content(text: str) -> frozenset[str]:
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
