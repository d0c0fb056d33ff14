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
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from memoryfs.exact import exact_values
from memoryfs.model import Evidence, Inserted
from memoryfs.recall import answer_tone as told
from memoryfs.recall import kinds
from memoryfs.recall.answer_sheet import Sheet, literals, stands_in
from memoryfs.recall.answer_tone import content
from memoryfs.recall.history import restates
from memoryfs.render import safe
from memoryfs.text import is_stopword, normalise, script_of, stem

MAX_CHARS = 400
SUPPORT = 0.5  # share of the sentence's content words that stand in the cited evidence or the question

_WIDE = str.maketrans("［］【】｛｝", "[][]{}")
_CITED = re.compile(r"\[(\d{1,3}(?:\s?[,、]\s?\d{1,3})*)\]")
_NAMED = re.compile(r"\{([vd]\d{1,4})\}")
_TWO_SENTENCES = re.compile(r"(?<![ .][a-z])[.!?][\"'”)]?\s+\S|[。！？]\s*[^\s。！？」』）)]")

_NUMBER_WORD = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|ninety|hundreds?|thousands?|"
    r"millions?|billions?|dozens?|twice|thrice)\b"
    r"|[一二三四五六七八九][百千万億亿]|[〇零一二三四五六七八九十百千万億亿]{3,}|[一이삼사오육칠팔구십백천만]{2,}(?= ?(?:번|원|개|명|일|년|월|초|분|시간|회|대|퍼센트))"
    r"|(?!十分)(?:[〇零一二三四五六七八九十百千万億亿两兩]{2,}|[二三四五六七八九十两兩])(?=[日週月年時分秒回件個人位名台番号号割倍天个次条岁块行本枚点]|小时)"
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

_ANSWERED_NO = re.compile(r"^(?:no|nope|いいえ|いや|아니요|아니오|不是?|没有)[,，、。.!]\s*", re.IGNORECASE)
_WHICH = re.compile(r"\b(?:what|which|where)\b|何|どの|どれ|どこ|教え|무엇|뭐|몇|어떤|어느|어디|무슨|알려|什么|哪|多少|几", re.IGNORECASE)
_WHY = re.compile(r"\b(?:why|how come|who|when)\b|なぜ|どうして|誰|いつ|왜|누가|언제|为什么|为何|谁|什么时候", re.IGNORECASE)

_GROWS_BEFORE = re.compile(r"[A-Za-z0-9_+/.@=#$~^\\-]$|[A-Za-z0-9_\])]:$")
_GROWS_AFTER = re.compile(r"[A-Za-z0-9_/@=%\\]|[-.,:+][A-Za-z0-9]")
_STARTS = frozenset("according based since currently every each both while once".split())

_HOW_MANY = re.compile(r"\bhow (?:many|much)\b|いくつ|何[個人回件本枚台匹]|몇 ?(?:개|명|번|회|대)|얼마|多少|几[个次人]", re.IGNORECASE)

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
    start, end = told.plain_place(value, sheet) or value.places[0]
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
    for char in _letters_as_figures(draft.bare) - _letters_as_figures(draft.source):
        return f"holds {char!r}, which the evidence does not"
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


def _letters_as_figures(text: str) -> set[str]:
    return {char for char in text if unicodedata.category(char) in ("No", "Nl")}  # ① ² ½ Ⅳ


def named(draft: _Draft) -> str:
    """Names of people, products and the like stand in the evidence or the question."""
    known = content(draft.known)
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
    if draft.same_script and told.NEGATION.search(said) and not told.NEGATION.search(draft.known):
        return "denies something that the evidence does not"
    return ""


def told_as_said(draft: _Draft) -> str:
    """What the evidence denies, replaces, doubts or only asks about, a value or a whole sentence, is not told as a plain fact."""
    for name in draft.names:
        value = draft.sheet.values[name]
        if value.kind == "date" or told.plain_place(value, draft.sheet):
            continue
        ways = [told.mark(value, place, draft.sheet) for place in value.places]
        for way, cue in (("denied", told.NEGATION), ("replaced", told.CHANGE), ("doubted", told.DOUBT)):
            if way in ways and cue.search(draft.bare):
                break
        else:
            return f"tells {value.text!r} as a fact, which the evidence {_SAID[ways[0]]}"
    if not draft.same_script or any(draft.sheet.values[name].kind != "date" for name in draft.names):
        return ""
    ways = {told.tone(sentence) for sentence in _nearest(draft)}
    for way, cue in (("", _ANYTHING), ("denied", told.NEGATION), ("doubted", told.DOUBT)):
        if way in ways and cue.search(draft.bare):
            return ""
    return f"tells as a fact what the evidence {_SAID[min(ways)]}" if ways else ""


def _nearest(draft: _Draft) -> list[str]:
    """The sentences of the cited evidence that share most words with a sentence which holds no value."""
    own = content(draft.bare)
    parts = [part for p in draft.proofs for part in told.sentences(p.text)]
    shared = [len(own & content(part)) for part in parts]
    most = max(shared, default=0)
    return [part for part, count in zip(parts, shared, strict=True) if count == most > 0]


def its_own(draft: _Draft) -> str:
    """No value of something else, where the same evidence has one for what is asked: "A on 1 and B on 2" has no B on 1."""
    asked = content(draft.bare) | content(draft.sheet.question)
    used = {draft.sheet.values[name].text for name in draft.names}
    for name in draft.names:
        value = draft.sheet.values[name]
        if value.kind == "date":
            continue
        near = told.around(value, draft.sheet)
        if not near - asked:
            continue
        for other in draft.sheet.values.values():
            if other.number != value.number or other.text in used or not (other.kind == value.kind or {other.kind, value.kind} <= _PLAIN):
                continue
            there = told.around(other, draft.sheet)
            if there and there <= asked and there - near and told.plain_place(other, draft.sheet):
                return f"gives {value.text!r}, which the evidence says of something else"
    return ""


_PLAIN = {"number", "port", "version"}
_ANYTHING = re.compile("")
_SAID = {"denied": "denies", "replaced": "says was replaced", "doubted": "says only perhaps", "asked": "only asks about"}


def current(draft: _Draft) -> str:
    """No value of superseded evidence, unless something later says it again; none that later evidence changes."""
    own = content(draft.bare)
    for name in draft.names:
        value = draft.sheet.values[name]
        proof = draft.sheet.items[value.number]
        gone = draft.sheet.replaced.get(value.text)
        if gone is not None and (proof.time or "") <= gone:
            return f"gives {value.text!r}, which has been superseded"
        for number, later in draft.sheet.items.items():
            newer = number not in draft.cited and (later.time or "") > (proof.time or "~")
            if newer and restates(later.text, proof.text) and len(own & content(later.text)) >= len(own & content(proof.text)):
                return f"gives {value.text!r}, which evidence [{number}] changes"
    return ""


def dated(draft: _Draft) -> str:
    """A day is that of the evidence which says most of it."""
    own = content(draft.bare)
    shared = {number: len(own & content(proof.text)) for number, proof in draft.sheet.items.items()}
    for name in draft.names:
        value = draft.sheet.values[name]
        if value.kind == "date" and draft.same_script and shared[value.number] < max(shared.values()):
            return f"gives the day of evidence [{value.number}], where another says more of it"
    return ""


def of_kind_asked(draft: _Draft) -> str:
    """Where a value of some kind is asked for, one of that kind is given; where a number is, one or a word that denies."""
    question = draft.sheet.question
    if _HOW_MANY.search(question) and not (re.search(r"\d", draft.full) or _NUMBER_WORD.search(draft.bare) or told.NEGATION.search(draft.bare)):
        return "gives no number, which is asked for"
    wanted = kinds.asked(question)
    if not wanted or literals(question) or _WHY.search(question) or not _WHICH.search(question):
        return ""
    fitting = wanted | {kind for want in wanted for kind in _FITS.get(want, ())}
    given = [draft.sheet.values[name] for name in draft.names]
    if not any(v.kind in fitting and (v.kind != "number" or v.kind in wanted or v.text.replace(".", "").isdigit()) for v in given):
        return f"gives no {' or '.join(sorted(wanted))}, which is asked for"
    return ""


def supported(draft: _Draft) -> str:
    """Most of the words are those of the evidence and the question, and some are the evidence's own."""
    own = content(draft.bare)
    if not draft.same_script:
        if not draft.names:
            return "cannot be compared with the evidence, which is in another script, and holds no value of it"
        return "" if not own or own & content(draft.sheet.question) else "has no word of the question"
    if own and len(own & content(draft.known)) < SUPPORT * len(own):
        return "says more than the evidence"
    asked = content(draft.sheet.question)
    if asked and not asked & (own | content(draft.source)):
        return "has no word of the question"
    for number in draft.cited:
        used = any(draft.sheet.values[name].number == number for name in draft.names)
        if not used and not own & content(draft.sheet.items[number].text):
            return f"has nothing of evidence [{number}], which it cites"
    return ""


RULES: tuple[Callable[[_Draft], str], ...] = (
    in_its_language, own_value, whole_value, counted, named, same_sign, told_as_said, its_own, current, dated, of_kind_asked, supported,
)
