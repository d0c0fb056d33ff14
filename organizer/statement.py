"""In: a text in any of the supported languages. Out: `Statement`: what matters of it when two are compared.

Its words in order, its exact values (numbers, identifiers, paths), names, scope words and whether it denies. Words come
from the scripts themselves: Latin words, katakana and hiragana runs, Hangul words without their particles, Han runs cut
into pairs. Pure; `compare` holds two of them against each other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from memoryfs.text import normalise, stem
from organizer import words as lists

_TOKEN = re.compile(
    r"[a-z0-9_$@#~./\\][a-z0-9_$@#~./\\:+*%'-]*"  # Latin words, numbers, identifiers, paths, URLs
    r"|[\u30a0-\u30ff\u31f0-\u31ff]+"  # katakana
    r"|[\u3040-\u309f]+"  # hiragana
    r"|[\u4e00-\u9fff\u3400-\u4dbf\u3005]+"  # Han
    r"|[\uac00-\ud7af]+"  # Hangul
    r"|[^\W\d_]+"
)
_HAN = re.compile(r"^[\u4e00-\u9fff\u3400-\u4dbf\u3005]+$")
_HAN_FUNCTION = re.compile(
    r"改为|改為|改成|改用|换成|換成|设为|設為|不再|现在|已经|是|为|為|的|了|在|和|与|把|被|(?<![自理])由(?!来)|(?<!自)已|(?<![社机议大开])会(?![话议员])"
)
_HAN_VERB = re.compile(r"(使用|采用|运行|负责|需要|保存|保留|允许|默认|禁止)")  # cut out of a run of Han, so that pairs do not span them
_HIRAGANA = re.compile(r"^[\u3040-\u309f]+$")
_HANGUL = re.compile(r"^[\uac00-\ud7af]+$")
_PARTICLE = re.compile(r"(?:에서는|으로는|에서|으로|부터|까지|에게|한테|이나|이며|은|는|이|가|을|를|에|의|로|도|만|와|과)$")
# What a Hangul verb of Han-Korean stock ends in: 허용한다, 허용합니다, 허용하지 are one word, 허용된다 another.
_HANGUL_VERB = re.compile(r"(?<=[\uac00-\ud7af]{2})(?:(한다|합니다|하다|했다|하지|하는|하고|하며|하여|해야|함)|(된다|됩니다|되다|되었다|됐다|되지|되는|되고|되며|되어|됨))$")
_NOT = re.compile(r"^(?:not|never|longer|cannot|禁止|금지|않.*|못하.*)$")
_NUMBER_WORD = {
    "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10",
    "eleven": "11", "twelve": "12",
}
VALUE = re.compile(r"\d|[/_$@#\\]|\w[.:=]\w|--?\w+-")

STOP = lists.listed("stop")
# Words whose presence on one side alone changes what is said.
SCOPE = lists.listed("scope")
# A word that denies another: both reduce to the second, the first with its sign turned.
_ANTONYM = {
    "forbidden": "allowed", "disallowed": "allowed", "denied": "allowed", "prohibited": "allowed", "banned": "allowed",
    "blocked": "allowed", "permitted": "allowed", "disallow": "allow", "forbid": "allow", "deny": "allow", "block": "allow",
    "disabled": "enabled", "disable": "enable", "disables": "enables", "rejected": "accepted", "reject": "accept",
    "rejects": "accepts", "fails": "passes", "failing": "passing", "failed": "passed", "unsupported": "supported",
    "unused": "used", "optional": "required", "invalid": "valid", "insensitive": "sensitive", "unsafe": "safe",
    "off": "on", "false": "true", "exclude": "include", "excluded": "included", "hidden": "visible",
    "avoid": "use", "停用": "启用", "禁用": "启用", "비활성화": "활성화", "無効": "有効",
}
_SAME_SIGN = frozenset({"permitted"})
_NEGATION = re.compile(
    r"\b(?:not|never|no longer|no more|cannot|without|neither|nor|none|don ?t|doesn ?t|isn ?t|aren ?t|won ?t|can ?t|"
    r"shouldn ?t|mustn ?t|wasn ?t|weren ?t|didn ?t|hasn ?t|haven ?t)\b|\w+n['\u2019]t\b"
    r"|[非](?!常)(?=[\u4e00-\u9fff])|未(?![来來])(?=[\u4e00-\u9fff])"
    r"|ません|(?<!少)(?<!じゃ)ない(?!と)|なくな|ずに|禁止|不可|やめ|しないで|通さない"
    r"|않|못하|없[다는이음]|지 ?마|말[고아자라]|금지|불가|아니[다라]|안 ?(?:된|돼|됩|합|한)"
    r"|不(?!过|過|同|断|錯|错)|没有|沒有|别再|勿|禁止|无法"
)
# What only announces the statement that follows: "The key insight was that …", "Root cause: …".
_LEAD = re.compile(
    r"^\W*(?:(?:the |an? )?(?:key |main |real |actual |important |root |pre-existing |additional |another )*"
    r"(?:insight|point|finding|cause|problem|issue|reason|bug|improvement|note|result|conclusion|answer|fix|solution|decision|correction|update)s?"
    r"(?: here)?(?:\s*:\s*|\s+(?:is|was)\s+(?:that\s+)?)|(?:so|also|now|and|note that|it turns out that|basically|actually)[,:]?\s+)+"
)


@dataclass(frozen=True, slots=True)
class Statement:
    """One text, reduced for comparison. `key` is equal for texts that differ only in case, width and punctuation."""

    text: str
    key: str
    words: tuple[str, ...]
    content: frozenset[str]
    values: frozenset[str]
    names: frozenset[str]
    scopes: frozenset[str]
    negated: bool


def fold(text: str) -> str:
    """Normalised text without Markdown marks and quotation marks; the form in which all comparison happens."""
    return re.sub(r"[`*\"“”「」『』]+", " ", normalise(text))


def tokens(folded: str) -> list[str]:
    """The words of a folded text, in order: what is compared."""
    out: list[str] = []
    for match in _TOKEN.finditer(folded):
        token = match[0].removesuffix("'s").rstrip(".:/*+-\\'")
        if not token:
            continue
        if _HAN.match(token):
            for piece in (p for part in _HAN_FUNCTION.split(token) for p in _HAN_VERB.split(part)):
                if len(piece) > 2:
                    out.extend(piece[i : i + 2] for i in range(len(piece) - 1))
                elif piece:
                    out.append(piece)
        elif _HANGUL.match(token) and len(token) > 1:
            verb = _HANGUL_VERB.search(token)
            if verb:
                out.append(token[: verb.start()] + ("하" if verb[1] else "되"))
            else:
                out.append(_PARTICLE.sub("", token) or token)
        elif _HIRAGANA.match(token) and len(token) == 1:
            continue
        else:
            out.append(_NUMBER_WORD.get(token, token))
    return out


def _names(text: str) -> frozenset[str]:
    """Capitalised words inside a sentence and words with inner capitals; a sentence's first word says nothing."""
    found = re.findall(r"(?<![.!?:\n] )(?<!^)\b[A-Z][\w-]*", text) + re.findall(r"\b[a-z]+[A-Z]\w*|\b[A-Z]\w*[A-Z]\w*", text)
    katakana = re.findall(r"[\u30a0-\u30ff]{2,}", text)
    return frozenset(fold(n).strip() for n in found if n != "I") | frozenset(katakana)


@lru_cache(maxsize=65536)
def analyse(text: str) -> Statement:
    """The comparable form of one sentence or short paragraph; deterministic and independent of locale."""
    folded = _LEAD.sub("", fold(text), count=1)
    raw = tokens(folded)
    negative = bool(_NEGATION.search(folded))
    words: list[str] = []
    for word in raw:
        base = _ANTONYM.get(word)
        if base is not None and len(raw) > 2:
            if word not in _SAME_SIGN:
                negative = not negative
            word = base
        words.append(word)
    kept = [stem(w) for w in words if w not in STOP and not _NOT.match(w)]
    return Statement(
        text=text,
        key=" ".join(raw),
        words=tuple(words),
        content=frozenset(kept),
        values=frozenset(w for w in raw if VALUE.search(w)),
        names=_names(text),
        scopes=frozenset(w for w in words if w in SCOPE),
        negated=negative,
    )
