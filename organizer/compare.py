"""In: two statements. Out: what they share and where they differ, as data.

Pure: dedupe asks `why_different`, reconcile asks `contradiction`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from memoryfs.recall import changes
from memoryfs.text import stem
from organizer import words as lists
from organizer.statement import SCOPE, STOP, VALUE, Statement, fold, tokens

_GENERIC = lists.listed("generic")  # words of every software project
_CONTRAST = re.compile(
    r"(?:(?:,|\u2014|-|;|\()\s*not\b|\binstead of|\brather than|\b(?:no longer|stop|don't|do not|never) us(?:e|ing)|\breplac(?:es|ed|ing))\s+"
    r"(?P<a>[^\s,;.]+(?:\s[^\s,;.]+)?)"
    r"|(?:switch(?:ed|ing)?|chang(?:e|ed|ing)|mov(?:e|ed|ing)|migrat(?:e|ed|ing))\s+(?:\w+\s+){0,3}?from\s+(?P<b>[^\s,;.]+)"
    r"|(?P<c>[\w./@$:-]+)\s*(?:ではなく|じゃなく|でなく|をやめて|の代わりに|から(?=[\w./@$:-]+\s*(?:に変更|へ変更|に切り替)))"
    r"|(?P<d>[\w./@$:-]+?)(?:이|가)?\s*(?:아니라|아닌|대신)"
    r"|(?:不再(?:使用|用)?|不要(?:使用|用)|而不是|代替|取代)\s*(?P<e>[\w./@$:-]+)",
    re.IGNORECASE,
)
READ = 1_000  # characters of a statement in which amounts and phrases turned away from are looked for: a statement has 320
# The speaker says that something is different from now on, or that what was said was wrong.
_CHANGE_CUE = re.compile(
    r"\b(?:no longer|any ?more|any longer|instead|from now on|as of|switch(?:ed|ing)? (?:to|from|over)|chang(?:e|ed|ing) .{0,60}\b(?:to|from)\b|"
    r"replac(?:e|ed|es|ing)|correction|actually|i was wrong|that(?:'|\u2019)?s wrong|that is wrong|scratch that|rather than|"
    r"mov(?:e|ed|ing) (?:to|from|over)|migrat(?:e|ed|ing)|updated? .{0,40}\bto\b|bump(?:ed)? .{0,40}\bto\b|raise[d]? .{0,40}\bto\b|"
    r"lower(?:ed)? .{0,40}\bto\b|new (?:rule|policy|value|default|limit)|stop (?:using|allowing)|now\b)"
    r"|もう|ではなく|じゃなく|でなく|変更|変わ|変え|やめ|今後|これから|訂正|間違|切り替|新しい"
    r"|이제|더 ?이상|대신|변경|바뀌|바꾸|바꿔|앞으로|정정|아니라|틀렸"
    r"|不再|改为|改為|改成|改用|换成|換成|从现在|從現在|以后|更正|更改|变更|而不是|现在",
    re.IGNORECASE,
)
# Predicates that admit one value at a time. "uses", "supports", "includes" do not.
_FUNCTIONAL = re.compile(
    r"\b(?:is|are|was|be|equals?|lives?|lasts?|expires?|defaults?|runs? (?:on|at|under)|listens?|set|takes|costs?|named|called|"
    r"stored|located|due|owned|maintained|deployed|hosted|starts?|ends?|happens?|returns?|requires?|limit(?:ed)?|max(?:imum)?|min(?:imum)?|"
    r"port|version|timeout|deadline|threshold|size|count|default|must be|should be|kept|points? to|resolves? to|at most|at least|"
    r"ha(?:s|ve)(?= (?:\d|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)))\b|[=:\u2192]"
    r"|は|です|とする|にする|まで|은|는|이다|입니다|是|为|為|设为|設為"
    r"|(?:运行|监听|保存|存储|存放|部署)[在于]|位于|端口|版本|超时|期限|截止|上限|下限|默认|最多|至少|提前|需要|保留",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Why two statements about one subject cannot both hold: `how` is negation, value, contrast or refinement."""

    how: str
    detail: str


def explicit_change(text: str) -> bool:
    """True if the words themselves say that something changed or was wrong (English, Japanese, Korean, Chinese)."""
    return bool(_CHANGE_CUE.search(fold(text)))


def contrasted(text: str) -> tuple[tuple[str, ...], ...]:
    """The phrases a statement turns away from: `npm` in "use pnpm, not npm", "npm の代わりに pnpm", "不再用 npm"."""
    phrases = (
        tuple(w for w in tokens(group) if w not in STOP)
        for match in _CONTRAST.finditer(fold(text[:READ]))
        for group in match.groups()
        if group
    )
    return tuple(p for p in phrases if p)


def why_different(a: Statement, b: Statement) -> str:
    """What forbids taking two similar statements for one: number, name, negation, scope or that one turns away from what
    the other holds; "" if nothing does."""
    if any(_contains(x.words, phrase) for x, y in ((a, b), (b, a)) for phrase in contrasted(y.text) if phrase not in contrasted(x.text)):
        return "contrast"
    if a.negated != b.negated or _prefixed(a, b) or _prefixed(b, a):
        return "negation"
    if a.values != b.values:
        return "number" if any(c.isdigit() for c in "".join(a.values ^ b.values)) else "value"
    if a.scopes != b.scopes:
        return "scope"
    if _other_compound(a, b) or _other_compound(b, a):
        return "name"
    lower = {w for name in a.names ^ b.names for w in name.split()}
    if lower - (set(a.words) & set(b.words)):
        return "name"
    return ""


_PREFIXES = ("un", "in", "im", "ir", "il", "non", "dis", "de", "mis", "anti", "비", "불", "미", "무", "non-", "un-", "de-")


def _prefixed(a: Statement, b: Statement) -> bool:
    """A word of `a` is one of `b` with a prefix that turns it round: encrypted, unencrypted; 공개, 비공개."""
    there = set(b.words)
    return any(
        word.startswith(prefix) and word[len(prefix) :] in there
        for word in set(a.words) - there for prefix in _PREFIXES
    )


def _other_compound(a: Statement, b: Statement) -> bool:
    """`a` holds a hyphenated word whose parts are not all in `b`: media-eu and media-us are two things."""
    parts = {part for word in (*b.words, *tokens(fold(b.text))) for part in (word, *word.split("-"))}  # with its lead: "Pre-existing issue:"
    return any(
        word.replace("-", "") not in parts and not parts.issuperset(filter(None, word.split("-")))
        for word in a.words if "-" in word.strip("-")
    )


def overlap(a: Statement, b: Statement) -> float:
    """Shared content words over those of the smaller statement, 0 to 1."""
    smaller = min(len(a.content), len(b.content))
    return len(a.content & b.content) / smaller if smaller else float(a.key == b.key)


def contradiction(old: Statement, new: Statement) -> Contradiction | None:
    """Whether `new` says of the same subject what `old` cannot agree with; None when both can hold.

    Six shapes are recognised: an old value that the new statement says gave way ("renamed A to B"), or names as given up;
    another value for one name (`A=1`, `A=2`); the same words with the opposite sign; the same words but for one value in the predicate of a verb that
    admits one value; and, across two languages, another amount of one unit for one thing.
    """
    shared = old.content & new.content
    if old.key == new.key:
        return None
    stated = changes.stated(new.text)
    for change in stated:
        if changes.given_up(change, old.text):
            return Contradiction("contrast", f"{change.old} / {change.new}")
    if not shared:
        return None
    if not old.negated:
        turned_away = contrasted(old.text)
        judged = {token for change in stated for token in tokens(fold(change.old))}  # and found to be of another subject
        for phrase in contrasted(new.text):
            if phrase not in turned_away and not judged.issuperset(phrase) and _contains(old.words, phrase) and _contrast_fits(old, new, shared, phrase):
                return Contradiction("contrast", " ".join(phrase))
    assigned = _assignments(old.text), _assignments(new.text)
    for name in sorted(assigned[0].keys() & assigned[1].keys()):
        if assigned[0][name] != assigned[1][name]:
            return Contradiction("value", f"{name}: {assigned[0][name]} / {assigned[1][name]}")
    if old.negated != new.negated:
        return _opposite(old, new, shared)
    return _value_slot(old, new) or _other_quantity(old, new, shared)


_CHANGE = lists.listed("change")
_CHANGE_WORDS = _CHANGE | frozenset(map(stem, _CHANGE))


def _contains(words: tuple[str, ...], phrase: tuple[str, ...]) -> bool:
    return any(words[i : i + len(phrase)] == phrase for i in range(len(words) - len(phrase) + 1))


def _contrast_fits(old: Statement, new: Statement, shared: frozenset[str], phrase: tuple[str, ...]) -> bool:
    """Whether the value given up is what `old` is about, and not a word that both happen to hold."""
    rest = shared - {stem(w) for w in phrase}
    if len(phrase) > 1 or any(w in old.values for w in phrase):
        return bool(rest) or len(old.content) <= 3
    verb = next(iter(old.words), "") == next(iter(new.words), " ")
    return (bool(rest) or verb) and len(old.content - new.content) <= max(1, len(old.content) // 2)


_ASSIGNMENT = re.compile(r"(?<![\w.])([a-z_][a-z0-9_.]*[a-z0-9_])\s?=\s?([^\s,;()（）]+)")
_SWITCHES = frozenset({"true", "false", "on", "off", "yes", "no", "0", "1"})  # set one way here and another way there
_NEGATOR = re.compile(r"\b(?:not|never|no longer|cannot|without|\w+n't)\b")
_QUANTITY = re.compile(
    r"(\d+(?:[.,]\d+)*)\s?(?:(?P<second>seconds?|secs?|s(?![a-z])|秒|초)|(?P<minute>minutes?|mins?|分(?!之)|분)"
    r"|(?P<hour>hours?|時間|시간|小时|小時)|(?P<day>days?|日(?!本)|일|天)|(?P<week>weeks?|週間?|주|周|星期)|(?P<month>months?|か月|ヶ月|개월|个月|個月)"
    r"|(?P<year>years?|年|년)|(?P<percent>%|percent|パーセント|퍼센트)|(?P<yen>yen|円|엔|日元)|(?P<char>characters?|chars?|文字|자|个字符|字符))"
)


def _assignments(text: str) -> dict[str, str]:
    """`NAME=VALUE` pairs of a statement, folded; a name that is given twice says nothing."""
    found: dict[str, str] = {}
    for name, value in _ASSIGNMENT.findall(fold(text)):
        found[name] = "" if name in found and found[name] != value else value.rstrip(".。:")
    return {name: value for name, value in found.items() if value and value.strip("`'\"") not in _SWITCHES}


def _quantities(text: str) -> dict[str, set[str]]:
    """Amounts by unit, the unit's name in English: "7 日" and "7 days" are both {"day": {"7"}}."""
    found: dict[str, set[str]] = {}
    for match in _QUANTITY.finditer(fold(text[:READ])):
        unit = next(k for k, v in match.groupdict().items() if v)
        found.setdefault(unit, set()).add(match[1])
    return found


def _other_quantity(old: Statement, new: Statement, shared: frozenset[str]) -> Contradiction | None:
    """One thing named alike in two languages ("Cookie") with another amount of one unit; words cannot be compared there."""
    if _wide(old.text) == _wide(new.text):
        return None
    named = {w for w in shared if w.isascii() and len(w) > 3 and not w[0].isdigit() and w not in _GENERIC}
    before, after = _quantities(old.text), _quantities(new.text)
    for unit in sorted(before.keys() & after.keys()) if named else ():
        if len(before[unit]) == len(after[unit]) == 1 and before[unit] != after[unit]:
            return Contradiction("value", f"{min(before[unit])} / {min(after[unit])} {unit}")
    return None


def _wide(text: str) -> bool:
    return bool(re.search(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]", text))


def _opposite(old: Statement, new: Statement, shared: frozenset[str]) -> Contradiction | None:
    if not (_denies(old.text, shared) and _denies(new.text, shared)):
        return None
    extra = (old.content ^ new.content) - _CHANGE_WORDS
    detail = ", ".join(sorted(extra))
    if len(extra) <= 2 and overlap(old, new) >= 0.99 and (len(shared) >= 2 or len(old.content) == len(new.content)):
        return Contradiction("refinement" if extra else "negation", detail)
    if len(extra) <= 3 and overlap(old, new) >= 0.75 and len(shared) >= 3 and not _other_subject(old, new):
        return Contradiction("negation", detail)
    if old.values and old.values == new.values and explicit_change(new.text) and new.negated:
        return Contradiction("negation", detail)
    return None


def _denies(text: str, shared: frozenset[str]) -> bool:
    """Whether an English "not" stands before words that both statements hold; where there is none, the sign came otherwise."""
    match = _NEGATOR.search(fold(text))
    if match is None:
        return True
    following = [stem(w) for w in tokens(fold(text)[match.end() :]) if w not in STOP][:3]
    return not following or sum(w in shared for w in following) * 2 >= len(following)


def _other_subject(old: Statement, new: Statement) -> bool:
    """The first words that tell something are different: two sentences of one shape about two things."""
    first_old = next((w for w in old.words if w not in STOP), "")
    first_new = next((w for w in new.words if w not in STOP), "")
    return first_old not in new.words and first_new not in old.words


def _value_slot(old: Statement, new: Statement) -> Contradiction | None:
    from difflib import SequenceMatcher

    drop = STOP | _CHANGE_WORDS | {"not", "never"}
    a = [w for w in old.words if w not in drop]
    b = [w for w in new.words if w not in drop]
    changed = [o for o in SequenceMatcher(None, a, b, autojunk=False).get_opcodes() if o[0] != "equal"]
    if len(changed) != 1 or changed[0][0] != "replace":
        return None
    _, i1, i2, j1, j2 = changed[0]
    was, now = a[i1:i2], b[j1:j2]
    if i1 == 0 or len(was) > 2 or len(now) > 2 or len(a) - len(was) < max(len(was), len(now)):
        return None
    moved = explicit_change(new.text) and any(w in SCOPE for w in was) and any(w in SCOPE for w in now)
    if not moved and not (_follows_verb(old.text, was) and _follows_verb(new.text, now)):
        return None  # "the team now meets on Thursday" needs no such verb: a day, a stage or a side, and said to be a change
    return Contradiction("value", f"{' '.join(was)} / {' '.join(now)}")


def _follows_verb(text: str, slot: list[str]) -> bool:
    """The slot is what is said, not what it is said of: after a verb that admits one value; a bare word directly so."""
    folded = fold(text)
    at = folded.rfind(slot[0])
    if len(slot) > 1 and _FUNCTIONAL.search(folded, at + len(slot[0]), max(at, folded.rfind(slot[-1]))):
        return False  # the slot spans the verb: part of it is what is spoken of
    valued = any(VALUE.search(w) for w in slot)
    for verb in _FUNCTIONAL.finditer(folded):
        if verb.start() > at:
            break
        between = [w for w in tokens(folded[verb.end() : at]) if w not in STOP]
        if valued or not between:
            return True
    return False
