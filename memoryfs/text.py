"""In: text in any script. Out: normalised text, search terms (the same function for documents and queries), token counts.

Normalisation: NFKC, case folded, diacritics folded (Latin, Greek, Cyrillic; kana voicing marks and Hangul stay whole).
Terms: English words stemmed (Snowball), identifiers whole and split, Han and kana as overlapping bigrams (Han and
katakana as single characters too), Korean words whole, without particles, and as bigrams, symbols and emoji as `u+hex`.
What is not folded: `caffè` and `cafe`, British and American spelling, simplified and traditional Han.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from threading import Lock

VERSION = 4  # of the terms below; an index made with another one is rebuilt

_EXTRA = str.maketrans({
    "ł": "l", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "ŋ": "n", "ŧ": "t",
    "’": "'", "‘": "'", "“": '"', "”": '"', "‐": "-", "‑": "-", "–": "-", "—": "-", "−": "-",
})
_MARKS = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\u200b-\u200f\u2060\ufeff]")

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f々〆〇"
_HIRA = "\u3041-\u3096\u309d-\u309f"
_KATA = "\u30a1-\u30fa\u30fc-\u30ff"
_HANGUL = "\uac00-\ud7a3\u1100-\u11ff\u3131-\u318e"
_CJK = _HAN + _HIRA + _KATA

_JOIN = r"(?:[._/\\:@+&=~-]|::|://|->)"
_W = f"(?:(?![{_CJK}{_HANGUL}])\\w)"


@lru_cache(maxsize=2)
def _pattern(w: str) -> re.Pattern[str]:
    # Compiled at first use, like the classes below: ranges of all scripts take longer than an English query.
    word = rf"(?P<pre>(?<![\w)\]])(?:--?|[@#$.]))?(?P<word>{w}+(?:{_JOIN}{w}+)*)(?P<post>\+\+|[#%])?"
    return re.compile(rf"{word}|(?P<cjk>[{_CJK}]+)|(?P<ko>[{_HANGUL}]+)|(?P<sym>[^\x00-\x7f\s\w])")


@lru_cache(maxsize=16)
def _class(characters: str) -> re.Pattern[str]:
    return re.compile(f"[{characters}]")


_ASCII_W = "[A-Za-z0-9_]"
_ATOM = re.compile(r"\w+")
_SUB = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
_NUMERIC = re.compile(r"v?\d+(?:[.]\d+)+(?:[-+._]?\w+)*$")
_OPAQUE = re.compile(r"(?=[0-9a-z_]*\d)[0-9a-z_]{16,}$|.{41,}")
_STEMMABLE = re.compile(r"[a-z]{3,24}$")
_APOSTROPHE = re.compile(r"(?<=\w)['’](?:s\b)?(?=\W|$|\w)")
_MAX_WHOLE = 80  # longest compound kept as one term, characters
_MAX_TERMS = 64  # longest query, terms

_KO_TAIL = re.compile(
    "(?:에서는|에서의|에게서|으로는|으로서|으로써|이라고|라고는|까지는|부터는|에서도|한테서|입니까|입니다|인가요|이에요|예요|"
    "에서|에게|으로|라고|까지|부터|처럼|보다|마다|조차|밖에|이나|이란|한테|하고|이며|에는|에도|은|는|이|가|을|를|의|에|도|만|로|와|과|나|란|야|요)$"
)

_STOP_EN = """a about above after again all also am an and any are as at be because been before being below between both but by
can cannot could did do does doing done down during each else ever every few for from further get give go got had has have having
he her here hers him his how i if in into is it its itself just know let like made make many may me might more most much must my
need no nor not now of off on once one only or other ought our out over own please said same say shall she should show so some such
tell than that the their them then there these they thing this those through to too under until up upon us use used using very want
was we well were what when where which while who whom whose why will with would yes you your dont doesnt didnt cant couldnt wont
isnt arent wasnt werent ive im id ill youre thats whats lets exactly again still ok okay hi hello thanks"""
_STOP_EN_SET = frozenset(_STOP_EN.split())
_STOP_CJK = frozenset(
    ["です", "ます", "した", "して", "する", "から", "まで", "とは", "ため", "こと", "もの", "ので", "のは", "のが", "のを", "には", "では", "でも", "たの", "たか", "すか", "のか", "なに", "なん", "何で", "どの", "どこ", "どれ", "どう", "いつ", "だれ", "くだ", "ださ", "さい", "てく", "えて", "教え", "れは", "それ", "これ", "あれ", "この", "その", "あの", "ある", "いる", "った", "ない", "なの", "の", "は", "が", "を", "に", "で", "と", "も", "へ", "や", "か", "什么", "怎么", "哪里", "哪个", "为什", "么是", "是什", "请问", "多少", "一下", "我们", "你们", "的", "了", "是", "在", "吗", "呢", "吧", "有", "和", "与", "무엇", "무엇인", "어디", "어떤", "어떻", "떻게", "언제", "누구", "왜", "은", "는", "이", "가", "을", "를", "의", "에", "에서", "로", "으로", "와", "과", "도", "알려", "려줘", "알려줘", "해줘", "주세", "세요", "주세요", "인가", "인가요", "가요", "있나", "나요", "하나", "했나", "어떻게", "무슨", "얼마", "그", "저", "것", "수", "니다", "습니", "합니", "입니"]
)

_stem_cache: dict[str, str] = {}
_stem_word: Callable[[str], str] | None = None
_stemming = Lock()


def normalise(text: str) -> str:
    """NFKC, case folded, diacritics folded; idempotent, length may change."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", text).casefold()
    text = _MARKS.sub("", unicodedata.normalize("NFD", text.translate(_EXTRA))).translate(_EXTRA)
    return unicodedata.normalize("NFKC", text)


def stem(word: str) -> str:
    """The Snowball English stem of a folded word; anything that is not a plain word comes back as it is."""
    known = _stem_cache.get(word)
    if known is not None:
        return known
    if not _STEMMABLE.match(word):
        return word
    global _stem_word
    if _stem_word is None:
        _stem_word = _english_stemmer()
    if len(_stem_cache) > 200_000:
        _stem_cache.clear()
    with _stemming:  # the stemmer keeps the word it works on in itself
        result = _stem_cache[word] = _stem_word(word)
    return result


def _english_stemmer() -> Callable[[str], str]:
    """Snowball's English stemmer alone: its package would import thirty languages, a tenth of a cold recall."""
    import sys
    from importlib.machinery import PathFinder
    from types import ModuleType

    spec = PathFinder.find_spec("snowballstemmer")
    if "snowballstemmer" in sys.modules or spec is None:
        from snowballstemmer.english_stemmer import EnglishStemmer

        return EnglishStemmer().stemWord
    package = ModuleType("snowballstemmer")
    package.__path__ = list(spec.submodule_search_locations or ())
    sys.modules["snowballstemmer"] = package
    try:
        from snowballstemmer.english_stemmer import EnglishStemmer
    finally:
        del sys.modules["snowballstemmer"]  # whoever imports it later gets the whole package
    return EnglishStemmer().stemWord


def is_stopword(word: str) -> bool:
    """Whether a folded (not stemmed) word says nothing about the subject, in the four languages."""
    return word in _STOP_EN_SET or word in _STOP_CJK


@lru_cache(maxsize=50_000)
def _word_terms(pre: str, word: str, post: str) -> tuple[tuple[str, str], ...]:
    """(term, kind) of one compound; kind is whole, word or part."""
    out: list[tuple[str, str]] = []
    whole = normalise(word)
    atoms = _ATOM.findall(word)
    if (pre and pre != ".") or post:
        out.append((pre + whole + post, "whole"))
    if len(atoms) > 1:
        if len(whole) <= _MAX_WHOLE:
            out.append((whole, "whole"))
        if _NUMERIC.match(whole) and "/" not in whole:
            if whole[0] == "v":
                out.append((whole[1:], "whole"))
            return tuple(out)
        if "/" in word or "\\" in word:
            for piece in re.split(r"[/\\]", whole):
                if piece != whole and 2 < len(piece) <= _MAX_WHOLE and not piece.isalnum():
                    out.append((piece, "whole"))
    for atom in atoms:
        folded = normalise(atom)
        if not folded:
            continue
        subs = [] if _OPAQUE.match(folded) or not atom.isascii() else _SUB.findall(atom)
        if len(subs) <= 1 and "_" not in folded:
            out.append((stem(folded) if len(folded) <= 64 else folded[:64], "word" if len(atoms) == 1 else "part"))
            continue
        out.append((folded[:64], "whole"))
        for sub in subs:
            if len(sub) > 1:
                out.append((stem(normalise(sub)), "part"))
    return tuple(out)


def _ko_stem(run: str) -> str:
    short = _KO_TAIL.sub("", run)
    return short if len(short) >= 2 or (short and len(run) == 2) else run


def scan(text: str, query: bool = False) -> Iterator[tuple[str, str]]:
    """(term, kind) in order; kind: word, whole, part, gram, single, symbol. A query yields single characters only alone."""
    if text.isascii():
        pattern = _pattern(_ASCII_W)
    else:
        text = unicodedata.normalize("NFKC", text)
        pattern = _pattern(_W)
    if "'" in text or "’" in text:
        text = _APOSTROPHE.sub("", text)
    for match in pattern.finditer(text):
        kind = match.lastgroup
        if kind in ("word", "post"):
            yield from _word_terms(match["pre"] or "", match["word"], match["post"] or "")
        elif kind == "cjk":
            run = normalise(match["cjk"])
            run = re.sub(f"(?<=[{_KATA}]{{2}})ー(?![{_KATA}])", "", run)
            if len(run) == 1:
                yield run, "single"
                continue
            previous = ""
            for char in run:
                if previous:
                    yield previous + char, "gram"
                if not query and _class(_HAN + _KATA).match(char):
                    yield char, "single"
                previous = char
        elif kind == "ko":
            run = normalise(match["ko"])
            short = _ko_stem(run)
            yield short, "word"
            if short != run and not query:
                yield run, "word"
            if len(short) > 2 or short != run:
                for i in range(len(run if not query else short) - 1):
                    yield run[i : i + 2], "gram"
            if not query and len(run) <= 2:
                for char in run:
                    yield char, "single"
        else:
            char = match["sym"]
            if unicodedata.category(char) in ("So", "Sk", "Sm", "Sc"):
                yield f"u+{ord(char):x}", "symbol"


def index_terms(text: str) -> str:
    """The terms of a document, separated by blanks, for an FTS5 table whose tokenizer splits on blanks only."""
    return " ".join([term for term, _ in scan(text)])


def query_terms(text: str) -> list[str]:
    """The distinct terms of a query in order, without stop words unless it holds nothing else; at most 64."""
    return [term for term, _ in weighted_terms(text)]


_KIND_WEIGHT = {"word": 1.0, "whole": 1.3, "part": 0.6, "gram": 0.6, "single": 1.0, "symbol": 1.0}


def weighted_terms(text: str) -> list[tuple[str, float]]:
    """(term, weight) of a query; whole identifiers weigh more than their parts, kana-only bigrams less."""
    kept: dict[str, float] = {}
    spare: dict[str, float] = {}
    for term, kind in scan(text[:20_000], query=True):
        weight = _KIND_WEIGHT[kind]
        if kind == "gram" and all(map(_class(_HIRA).match, term)):
            weight *= 0.4
        stop = term in _STOP_CJK or term in _STOP_STEMS()
        target = spare if stop and kind != "whole" else kept
        if len(target) < _MAX_TERMS:
            target[term] = max(weight, target.get(term, 0.0))
    return list((kept or spare).items())


@lru_cache(maxsize=1)
def _STOP_STEMS() -> frozenset[str]:
    return frozenset(_STOP_EN_SET | {stem(word) for word in _STOP_EN_SET})


def estimate_tokens(text: str) -> int:
    """About how many model tokens the text has: one a CJK character, one a four other characters."""
    if text.isascii():
        return -(-len(text) // 4)
    wide = sum(1 for _ in _class(_CJK + _HANGUL).finditer(text))
    return wide + -(-(len(text) - wide) // 4)


def script_of(text: str) -> str:
    """`hangul`, `kana`, `han` or `latin`: the first of these that the text holds; a Japanese text holds kana."""
    if text.isascii():
        return "latin"
    for name, characters in (("hangul", _HANGUL), ("kana", _HIRA + _KATA), ("han", _HAN)):
        if _class(characters).search(text):
            return name
    return "latin"


def similarity_key(text: str) -> str:
    """Letters and digits of the normalised text, words one blank apart: equal keys are the same statement."""
    return " ".join(re.findall(r"\w+", normalise(text)))
