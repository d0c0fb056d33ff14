"""In: what somebody said, or an edit of a file. Out: `Change`: what was given up, and what came in its place; and whether a
text still states what was given up.

Only what the words show: "renamed A to B", "use B instead of A", 「AをやめてBに」, "A 말고 B로", 「把A改成B」. Likeness is no sign: a
value of another subject is not a replacement. Questions, proposals and what an assistant merely plans change nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memoryfs.patterns import lazy
from memoryfs.text import is_stopword, scan

MOST = 6000  # characters of one text that are read
LONGEST = 600  # characters of one sentence
_QUOTED = r"`[^`\n]{1,120}`|\"[^\"\n]{1,80}\"|“[^”\n]{1,80}”|「[^」\n]{1,60}」|『[^』\n]{1,60}』"
_BARE = r"(?:--?)?[A-Za-z0-9_$@/.~][\w$@./:=+%#~-]*(?:\(\))?(?:\s?(?:ms|seconds?|minutes?|hours?|days?|weeks?|months?|%|MB|GB|KB))?"
_A = rf"(?P<old>{_QUOTED}|{_BARE})"
_B = rf"(?P<new>{_QUOTED}|{_BARE})"
_LEAD = r"(?:(?:the|a|an|our|my|all|old|existing|removed|deprecated|current|legacy|previous|former|method|function|flag|option|file|field|class|variable|constant|package|module)\s+)*"
_TAIL = r"(?:\s+[a-z]+){0,2}?"
# In CJK a value is quoted, Latin, a figure with its unit, or the run of one script.
_WORD = r"[A-Za-z0-9_$@./:=+%#~-]+\s?[\u3040-\u30ff\u4e00-\u9fff]{0,3}?|[\u4e00-\u9fff]{1,8}?|[\u30a0-\u30ff]{2,16}"
_JA, _JB = rf"(?P<old>{_QUOTED}|{_WORD})", rf"(?P<new>{_QUOTED}|[A-Za-z0-9_$@./:=+%#~-]+\s?(?:[秒分時間日週月年個冊件回台本人円]+)?|[\u4e00-\u9fff]{{1,8}}|[\u30a0-\u30ff]{{2,16}})"
_KA, _KB = (rf"(?P<{name}>{_QUOTED}|[A-Za-z0-9_$@./:=+%#~-]+\s?(?:초|분|시간|일|주|개월|년|개|권|건|회|번|명|원)?|[가-힣]{{1,10}}?)" for name in ("old", "new"))
_ZA, _ZB = (rf"(?P<{name}>{_QUOTED}|(?:每[\u4e00-\u9fff]{{1,2}})?[A-Za-z0-9_$@./:=+%#~-]+\s?(?:秒|分钟|小时|天|周|个月|年|个|本|次|元)?|[\u4e00-\u9fff]{{1,8}}?)" for name in ("old", "new"))
_ZH_SET = r"(?:改名为|重命名为|改成|改为|改到|换成|替换为|替换成|切换到|迁移到|提高到|降到|升级到|更新为)"
_END = r"(?=[\s,.;:!?、。，；！？)）]|$)"

# Each with how it is said and words that it holds: done, or told (an order: only the user's changes anything). "set": what stands first may be the
# thing and not its value ("changed the port to 9090"), so both must look like values.
_SHAPES: tuple[tuple[str, str, str], ...] = (
    ("done", "renamed|replaced|changed|switched|migrated|moved|converted|swapped|bumped|upgraded|downgraded|raised|lowered|increased|decreased|reduced", rf"\b(?:renamed|replaced|changed|switched|migrated|moved|converted|swapped|bumped|upgraded|downgraded|raised|lowered|increased|decreased|reduced)\**:?\s+(?:\w+\s+){{0,4}}?from\s+{_LEAD}{_A}{_TAIL}\s+(?:to|into)\s+{_LEAD}{_B}"),
    ("done", "renamed", rf"\brenamed\**:?\s+{_LEAD}{_A}{_TAIL}\s*(?:\bto\b|\binto\b|\bas\b|→|->|=>)\s*{_LEAD}{_B}"),
    ("done set", "converted|changed|updated", rf"\b(?:converted|changed|updated)\**:?\s+{_LEAD}{_A}{_TAIL}\s*(?:\bto\b|\binto\b|→|->|=>)\s*{_LEAD}{_B}"),
    ("done", "replaced|swapped|superseded", rf"\b(?:replaced|swapped|superseded)\**:?\s+{_LEAD}{_A}{_TAIL}\s*(?:\bwith\b|\bby\b|\bfor\b|→|->|=>)\s*{_LEAD}{_B}"),
    ("done", "renamed from", rf"\b(?:is|was|were|are|has been|have been|got)\s+renamed\s+from\s+{_A}\s+to\s+{_B}"),
    ("done set", "renamed |changed |converted ", rf"{_A}\s+(?:(?:is|was|were|are|has been|have been|got)\s+)(?:renamed|changed|converted)\s+(?:to|into)\s+{_LEAD}{_B}"),
    ("done", "replaced |superseded ", rf"{_A}\s+(?:(?:is|was|were|are|has been|have been|got)\s+)(?:replaced|superseded)\s+(?:with|by)\s+{_LEAD}{_B}"),
    ("done", "instead of|rather than|in place of", rf"\b(?:now\s+(?:use|call|run)|uses|using|used|calls|runs|moved to|updated to use|switched to|migrated to)\s+{_LEAD}{_B}{_TAIL}\s+(?:instead of|rather than|in place of)\s+{_LEAD}{_A}"),
    ("told", "rename ", rf"\brename\s+{_LEAD}{_A}{_TAIL}\s*(?:\bto\b|\binto\b|\bas\b|→|->)\s*{_LEAD}{_B}"),
    ("told set", "change |convert |update ", rf"\b(?:change|convert|update)\s+{_LEAD}{_A}{_TAIL}\s*(?:\bto\b|\binto\b|→|->)\s*{_LEAD}{_B}"),
    ("told", "replace |swap ", rf"\b(?:replace|swap)\s+{_LEAD}{_A}{_TAIL}\s+(?:with|by|for)\s+{_LEAD}{_B}"),
    ("told", "change |switch |move |migrate |raise |lower |bump |increase |reduce ", rf"\b(?:change|switch|move|migrate|raise|lower|bump|increase|reduce)\s+(?:\w+\s+){{0,4}}?from\s+{_LEAD}{_A}{_TAIL}\s+to\s+{_LEAD}{_B}"),
    ("told", ", not |instead of|rather than|in place of", rf"\b(?:use|take|run|call|prefer)\s+{_LEAD}{_B}(?:,\s*not|\s+(?:instead of|rather than|in place of))\s+{_LEAD}{_A}"),
    ("told", "stop using|not use|don't use|drop |no more", rf"\b(?:stop using|do not use|don't use|drop|no more)\s+{_LEAD}{_A}\s*(?:[,;.:—-]|\band\b)\s*(?:please\s+)?(?:use|take|switch to|go with)\s+{_LEAD}{_B}"),
    ("told", "instead of", rf"\binstead of\s+{_LEAD}{_A}\s*,\s*(?:please\s+)?(?:use|take|rename (?:it|\w+ \w+) (?:as|to))\s+{_LEAD}{_B}"),
    ("done", "not ", rf"\bmust (?:be|come)\s+(?:\w+\s+){{0,2}}?from\s+{_B},\s*not\s+{_A}"),
    ("told", "やめ|止め|廃止", rf"{_JA}\s?(?:は|を)(?:もう)?(?:やめ|止め|廃止し)(?:て|で)[、,\s]*{_JB}\s?(?:に|を|へ)"),
    ("done", "から", rf"{_JA}\s?から\s?{_JB}\s?(?:に|へ)(?:変更|改名|置き換え|リネーム|切り替え|移行|引き上げ|引き下げ|変え|改め)"),
    ("done set", "を", rf"{_JA}\s?を\s?{_JB}\s?(?:に|へ)(?:変更|改名|置き換え|差し替え|リネーム|切り替え|移行|引き上げ|引き下げ|変え|改め)"),
    ("told", "なく|代わりに", rf"{_JA}\s?(?:ではなく|じゃなく|でなく|の代わりに)(?:て)?[、,\s]*{_JB}"),
    ("told", "말고|대신", rf"(?<![가-힣]){_KA}\s?(?:말고|대신에?)[,\s]+{_KB}(?:으로|로|을|를){_END}"),
    ("done", "에서", rf"(?<![가-힣]){_KA}에서\s+{_KB}(?:으로|로)\s+(?:변경|교체|바꿨|바꾸|바꿔|전환|옮겼|옮기|올렸|올리|내렸|내리)"),
    ("done set", "을|를", rf"(?<![가-힣]){_KA}(?:을|를)\s+{_KB}(?:으로|로)\s+(?:변경|교체|바꿨|바꾸|바꿔|이름|전환|옮겼|옮기|올렸|올리|내렸|내리)"),
    ("told", "아니라", rf"(?<![가-힣]){_KA}(?:이|가)\s+아니라\s+{_KB}"),
    ("told", "不用|不再|别用|停用", rf"(?:不用|不再用|不再使用|别用|停用)\s?{_ZA}\s?(?:了)?[，,、\s]*(?:而是|改|换|请)?(?:用|成|为|使用)+\s?{_ZB}{_END}"),
    ("done", "从|從", rf"(?:從|从)\s?{_ZA}\s?(?:都|已|已经|全部)?{_ZH_SET}\s?{_ZB}{_END}"),
    ("done set", "改|换|替换|切换|迁移|提高|降|升级|更新", rf"(?:(?:把|将)\s?|(?<![\w]))(?:[\u4e00-\u9fff]{{1,8}}(?=[\dA-Za-z`「“]))?{_ZA}\s?(?:都|已|已经|全部)?{_ZH_SET}了?\s?{_ZB}{_END}"),
    ("told", "代替|取代|替换|而不是", rf"用\s?{_ZB}\s?(?:代替|取代|替换|而不是)\s?{_ZA}{_END}"),
)  # fmt: skip
# What stands in a sentence of that shape: looked for first, since most sentences hold none.
_GUARDS: dict[str, tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...]] = {
    role: tuple((how, tuple(words.split("|")), lazy(shape, re.I)) for how, words, shape in _SHAPES if role != "assistant" or "told" not in how)
    for role in ("user", "assistant", "tool")
}
_COMMIT = lazy(r"(?m)^\s*(?:\*\s+)?(?:[0-9a-f]{7,40}\s|\[[\w/.-]+ [0-9a-f]{7,40}\]\s|Subject: )")
_OPEN = lazy(
    r"\?\s*$|？\s*$|\b(?:should we|shall we|could|might|maybe|perhaps|would|what if|consider|propos|suggest|option \d|alternativ|either|let's not|"
    r"do not rename|don't rename|do not replace|don't replace|not (?:renam|replac|chang|switch)ed|if we|whether|instead of (?:renam|replac|chang|switch)ing|plan to|want to)\b"
    r"|でしょうか|ますか|どう(?:です|だ)|かもしれ|検討|提案|たら|변경할까|바꿀까|할까요|어떨까|제안|검토|吗[？?]?\s*$|要不要|是否|建议|考虑|如果",
    re.I,
)
_SENTENCES = lazy(r"(?<=[.!?])\s+|(?<=[。！？])|\n")
_QUOTES = "`\"“”「」『』"
_UPDATED = lazy(
    r"\b(?:updated?|revised?|corrected|final|new)\s+(?:\w+\s+){0,2}?(?P<what>summary|plan|version|message|list|draft|proposal|description|text|table|wording)\b",
    re.I,
)
_UPDATED_CJK = lazy(
    r"(?:更新|改訂|修正|最終)(?:版|した|後)の?(?P<ja>[一-龠]{1,4}|[ァ-ー]{2,6})?|(?:수정|업데이트|최종)\s?(?:본|안|된|한)\s?(?P<ko>[가-힣]{2,4})?"
    r"|(?:更新|修订|修改|最终)(?:后的|版|稿)(?P<zh>[一-龠]{2})?"
)


@dataclass(frozen=True, slots=True)
class Change:
    """`old` gave way to `new`. `beside`: the other words of the sentence; `everywhere`: a rename, true wherever the name stands."""

    old: str
    new: str
    beside: str
    everywhere: bool = False


def stated(text: str, role: str = "user") -> list[Change]:
    """The changes that a message or a commit's subject says were made (or, said by the user, are to be made).

    `role`: user, assistant or tool, of whose output only the subjects of commits count (`1a2b3c4 Rename A to B`).
    """
    return list(_stated(text[:MOST], role))


@lru_cache(maxsize=4096)
def _stated(text: str, role: str) -> tuple[Change, ...]:
    out: list[Change] = []
    if role == "tool" and not _COMMIT.search(text):
        return ()
    guarded = _held(_GUARDS.get(role, ()), text.lower())
    for sentence in _SENTENCES.split(text) if guarded else ():
        if not 8 <= len(sentence) <= LONGEST or (role == "tool" and not _COMMIT.match(sentence)):
            continue
        shapes = _held(guarded, sentence.lower())
        if not shapes or _OPEN.search(sentence):
            continue
        for how, _, shape in shapes:
            for match in shape.finditer(sentence):
                old, new = _clean(match["old"]), _clean(match["new"])
                if role != "user" and not _value(match["old"]):
                    continue  # "replaced the prompt with a notice": words of a report, not values
                if _told_apart(old, new) and (not how.endswith("set") or _values(match["old"], match["new"])):
                    beside = f"{sentence[: match.start()]} {sentence[match.end() :]} {_between(match)}"
                    out.append(Change(old, new, beside, bool(_RENAMES.search(match[0]))))
    return tuple({(change.old, change.new): change for change in out}.values())


def _held(shapes: Sequence[tuple[str, tuple[str, ...], re.Pattern[str]]], lowered: str) -> list[tuple[str, tuple[str, ...], re.Pattern[str]]]:
    return [shape for shape in shapes if any(word in lowered for word in shape[1])]


_RENAMES = lazy(r"renam|改名|リネーム|重命名|이름", re.I)


def _between(match: re.Match[str]) -> str:
    """The words of a match that are neither value: "the session timeout from … to …" """
    (a, b), (c, d) = sorted((match.span("old"), match.span("new")))
    text = match.string
    return f"{text[match.start() : a]} {text[b:c]} {text[d : match.end()]}"


def _values(old: str, new: str) -> bool:
    """Both hold a figure, or both are names of things: identifiers, or put in quotation marks."""
    if any(c.isdigit() for c in old) and any(c.isdigit() for c in new):
        return True
    return all(value[0] in _QUOTES or distinctive(value) for value in (old, new))


def _value(text: str) -> bool:
    """A figure, a name, or something in quotation marks; not a plain word."""
    return text[0] in _QUOTES or distinctive(text) or any(c.isdigit() or c.isupper() for c in text) or not text.isascii()


def _clean(value: str) -> str:
    """Without quotation marks, and a call without its empty brackets."""
    return value.strip().strip(_QUOTES).rstrip(".,:;").removesuffix("()")


def _told_apart(old: str, new: str) -> bool:
    """Both are values, and two: not an article, a pronoun, or a word that only joins."""
    if old.lower() == new.lower() or min(len(old), len(new)) < 1:
        return False
    return not any(is_stopword(value.lower()) or value.lower() in _EMPTY for value in (old, new))


_EMPTY = frozenset("""both one two it's them another something anything everything nothing others each which what new same different
true false being having simple better existing plain proper actual dedicated more less""".split())


def distinctive(value: str) -> bool:
    """Whether a value names one thing wherever it stands: an identifier, a flag, a path; not a word or a figure."""
    if not re.search(r"[A-Za-z]", value) or " " in value:
        return False
    return bool(re.search(r"[a-z][A-Z]|_|^--?[a-z]|\w[./:]\w|\(\)$|[A-Z]{2,}\d|[a-z]-[a-z]", value)) and len(value) >= 5


def subject(change: Change) -> frozenset[str]:
    """What the change is about: the terms of its sentence beside both values and the words that only say that there is a change."""
    return content(change.beside) - _about_change()


_INFLECTED = lazy(r"[\u3041-\u309f]|^u\+|[가-힣]")  # kana endings and symbols say nothing; Hangul is taken by word
_HANGUL = lazy(r"[가-힣]+")
_PARTICLE = lazy(r"(?<=.)(?:에서는|에서|에게|으로|에는|까지|부터|는|은|이|가|을|를|에|의|로|도)$")
_VERBAL = lazy(r"(?:니다|세요|해줘|해요|하자|써줘|줘)$")


def content(text: str) -> frozenset[str]:
    """The terms of a text that tell what it is about: no stop words, no inflection."""
    terms = {term for term, _ in scan(text) if len(term) > 1 and not is_stopword(term) and not _INFLECTED.search(term)}
    words = {_PARTICLE.sub("", word) for word in _HANGUL.findall(text) if not _VERBAL.search(word)}
    return frozenset(terms | {word for word in words if not is_stopword(word)})


@lru_cache(maxsize=1)
def _about_change() -> frozenset[str]:
    return content(
        """renamed rename replaced replace changed change switched switch migrated migrate moved move converted convert swapped swap
        bumped bump upgraded raised raise lowered lower increased reduced updated update instead rather place use used uses using now stop
        please remove removed everywhere across files file now from to 代替 変更 改名 切り替え 移行 置き換え 대신 말고 변경 교체 아니라 改成 改为 换成 不用"""
    )


def stands(value: str, text: str) -> bool:
    """Whether a value stands in a text, whole: `npm` not in `pnpm`, `5` not in `15`."""
    at = text.find(value)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(value) : at + len(value) + 1]
        if not (_joins(before) and _joins(value[0])) and not (_joins(after) and _joins(value[-1])):
            return True
        at = text.find(value, at + 1)
    return False


def _joins(character: str) -> bool:
    return bool(character) and character.isascii() and (character.isalnum() or character in "_-")


def given_up(change: Change, text: str) -> bool:
    """Whether a text states what the change gave up, of the same subject, and not what came in its place."""
    if not stands(change.old, text) or stands(change.new, text):
        return False
    about = subject(change)
    if distinctive(change.old) and (change.everywhere or not about):
        return True
    needed = 1 if distinctive(change.old) else max(min(2, len(about)), (len(about) + 1) // 2)
    for sentence in _SENTENCES.split(text):
        if stands(change.old, sentence):
            words = content(sentence.replace(change.old, " "))
            if (len(words & about) >= needed) if about else len(words) <= 4:
                return True
    return False


@lru_cache(maxsize=512)
def edited(parts: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """The lines that an edit takes away and those that it puts in: of the strings of a tool call, or of a patch among them."""
    pairs = list(_edits(parts))
    gone, come = (frozenset().union(*side) for side in zip(*pairs, strict=True)) if pairs else (frozenset(), frozenset())
    return gone - come, come


def _edits(parts: Sequence[str]) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    for part in parts:
        if re.search(r"^\*\*\* (?:Update|Begin)|^@@ ", part, re.M):
            gone = frozenset(line[1:].strip() for line in part.splitlines() if line.startswith("-") and not line.startswith("---"))
            come = frozenset(line[1:].strip() for line in part.splitlines() if line.startswith("+") and not line.startswith("+++"))
            yield _lines(gone - come), _lines(come - gone)
            return
    texts = [part for part in parts[1:] if "\n" in part or len(part) > 3]  # the first is the tool's name
    texts = [part for part in texts if not re.fullmatch(r"(?:[A-Za-z]:)?[\w./\\~ -]*[/\\][\w./\\~ -]+", part)]
    for old, new in zip(texts[::2], texts[1::2], strict=False):
        before, after = (frozenset(line.strip() for line in text.splitlines()) for text in (old, new))
        yield _lines(before - after), _lines(after - before)


def written(parts: Sequence[str]) -> frozenset[str]:
    """The lines of a file that a tool call writes whole (its name, a path, a text); empty where it is another call."""
    if len(parts) != 3 or not re.match(r"(?i)(?:write|create)", parts[0]) or "\n" in parts[1]:
        return frozenset()
    return _lines(frozenset(line.strip() for line in parts[2].splitlines()))


def _lines(lines: frozenset[str]) -> frozenset[str]:
    """Those that say something: a brace or a blank line is not a statement."""
    return frozenset(line for line in lines if len(line) >= LINE and sum(c.isalnum() for c in line) >= LINE // 2)


LINE = 12  # characters of a line that is long enough to be known again


def updates(text: str, earlier: str) -> bool:
    """Whether a message begins by saying that it is the updated form ("the updated summary", 修正版の計画) of what the earlier is."""
    head = text[:240]
    found = _UPDATED.search(head) or (None if head.isascii() else _UPDATED_CJK.search(head))
    named = next((name for name in found.groups() if name), "") if found else ""
    return found is not None and named.lower() in earlier.lower()
