"""In: a sentence, its exact values, its segment's vocabulary. Out: query hints, a topic key and "retrieve when"."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from memoryfs.exact import ExactValue
from memoryfs.model import Event
from memoryfs.notation import pictured
from memoryfs.text import is_stopword, normalise, stem
from organizer.rules.cues import language_of

MAX_HINTS = 8
_NAME_BYTES = 255  # of a folder
HINT_CHARS = 48

_WORKTREE = re.compile(r"/(?:\.?worktrees?|\.claude/worktrees|\.git/worktrees)/.*$")
_HOMES = re.compile(r"^/(?:Users|home|root|var|tmp|private/tmp|mnt|workspaces?)(?:/[^/]+)?$|^[A-Za-z]:[/\\]?(?:Users[/\\][^/\\]+)?$")
_LATIN = re.compile(r"[A-Za-zÀ-ɏЀ-ӿ][A-Za-z0-9À-ɏЀ-ӿ]*(?:[-'’][A-Za-z0-9]+)*")
_KATAKANA = re.compile(r"[\u30a1-\u30fa\u30fc]{3,16}")
_KANJI = re.compile(r"[\u3400-\u9fff]{2,8}")
_HANGUL = re.compile(r"[\uac00-\ud7af]{2,10}")
_PARTICLE = re.compile(
    r"(?:입니다|습니다|합니다|하세요|해주세요|이라서|에서는|으로는|에서|에게|까지|부터|처럼|마다|으로|하고|이나|에는|은|는|이|가|을|를|에|의|로|도|와|과|만|고|며)$"
)
_NAMES = re.compile(r"(?<=[a-z,)] )(?:(?:Mr|Ms|Mrs|Dr)\.? )?[A-Z][a-z]{2,20}(?: [A-Z][a-z]{2,20}){0,2}\b|\b[A-Z]{2,8}s?\b|\b[A-Z][a-z]+[A-Z]\w*\b")
_COMMON = frozenset(
    ["use", "used", "using", "now", "also", "just", "only", "like", "make", "makes", "made", "need", "needs", "want", "wants", "should", "must", "always", "never", "will", "would", "can", "could", "does", "don", "doesn", "didn", "get", "gets", "got", "set", "sets", "one", "two", "first", "last", "new", "old", "when", "where", "which", "while", "since", "because", "instead", "rather", "than", "then", "there", "their", "they", "them", "this", "that", "these", "those", "with", "without", "from", "into", "onto", "over", "under", "about", "after", "before", "again", "any", "all", "both", "each", "every", "some", "more", "most", "other", "same", "such", "very", "still", "already", "yet", "even", "ever", "thing", "things", "way", "ways", "let", "look", "looks", "see", "show", "shows", "say", "says", "said", "run", "runs", "add", "added", "adds", "change", "changed", "fix", "fixed", "update", "updated", "file", "files", "code", "line", "lines", "function", "work", "works", "working", "right", "wrong", "good", "sure", "yes", "not", "nor", "but", "and", "for", "its", "our", "your", "his", "her", "are", "was", "were", "has", "have", "had", "been", "being", "is", "be", "do", "it", "we", "you", "i", "a", "an", "the", "of", "to", "in", "on", "at", "by", "or", "as", "if", "so", "up", "out", "off", "no", "ok", "okay"]
)
_KIND_ORDER = {
    k: i for i, k in enumerate(
        ("identifier", "env", "path", "command", "port", "url", "email", "regex", "version", "quoted", "hash", "sql", "number")
    )
}


def repository(cwd: str | None) -> str:
    """The name of the project a working directory belongs to: the folder above a worktree, else its last part;
    "" for a home directory, a system folder or nothing, and for a name too long for a folder."""
    if not cwd:
        return ""
    path = _WORKTREE.sub("", pictured(cwd).replace("\\", "/").rstrip("/"))
    if not path or _HOMES.match(path) or path.count("/") < 1:
        return ""
    name = path.rsplit("/", 1)[-1].strip()
    return name if len(name.encode("utf-8", "replace")) <= _NAME_BYTES else ""


def cwd_of(event: Event) -> str:
    """The working directory that an event's metadata tells; "" where it tells none."""
    session = event.metadata.get("session")
    told = event.metadata.get("cwd") or (session.get("cwd") if isinstance(session, dict) else None)
    return told if isinstance(told, str) else ""


def content_words(text: str) -> list[str]:
    """The words of `text` that carry its subject, as written, in order, once each."""
    found: dict[str, str] = {}
    for match in _LATIN.finditer(text):
        word = match.group().replace("’", "'").removesuffix("'s")
        folded = normalise(word)
        if len(folded) > 2 and folded not in _COMMON and not is_stopword(folded) and "'" not in folded:
            found.setdefault(stem(folded), word)
    language = language_of(text)
    if language == "ko":
        for match in _HANGUL.finditer(text):
            word = _PARTICLE.sub("", match.group())
            if len(word) >= 2 and not is_stopword(word):
                found.setdefault(word, word)
    elif language in ("ja", "zh"):
        for pattern in (_KATAKANA, _KANJI):
            for match in pattern.finditer(text):
                if not is_stopword(match.group()):
                    found.setdefault(match.group(), match.group())
    return list(found.values())


def vocabulary(texts: Iterable[tuple[str, float]]) -> Counter[str]:
    """How much each content word weighs in a stretch of conversation; `texts` are (text, weight)."""
    weights: Counter[str] = Counter()
    for text, weight in texts:
        for word in content_words(text):
            weights[stem(normalise(word))] += weight  # type: ignore[assignment]
    return weights


def _short(value: ExactValue) -> str:
    text = value.text.strip()
    if value.kind == "env":
        text = text.split("=", 1)[0].strip("${}")
    elif value.kind == "path":
        text = re.sub(r":\d+(?:[-:]\d+)?$", "", text)
        if len(text) > HINT_CHARS and "/" in text:
            text = text.rstrip("/").rsplit("/", 1)[-1]
    elif value.kind == "identifier":
        text = text.removesuffix("()")
    elif value.kind == "command":
        text = " ".join(text.split()[:3])
    return " ".join(text.split())


def query_hints(
    text: str, values: Sequence[ExactValue], words: Counter[str], *, heading: str = "", limit: int = MAX_HINTS
) -> tuple[str, ...]:
    """Words that a person or an agent will search with later: identifiers, files, variables, error text, abbreviations and
    names first, then the natural words that the stretch of conversation is about; each up to 48 characters."""
    hints: dict[str, str] = {}

    def add(hint: str) -> None:
        hint = hint.strip(" ,;\"'`[]")
        if 1 < len(hint) <= HINT_CHARS and not any(c in hint for c in ",;\n\"`"):
            hints.setdefault(normalise(hint), hint)

    for value in sorted(values, key=lambda v: (_KIND_ORDER[v.kind], v.start)):
        if value.kind not in ("number", "sql"):
            add(_short(value))
        if len(hints) >= limit - 3:
            break
    for match in _NAMES.finditer(text):
        folded = normalise(match.group())
        if len(hints) < limit - 2 and folded not in _COMMON and not is_stopword(folded):
            add(match.group())
    natural = content_words(f"{text} {heading}")
    order = {w: i for i, w in enumerate(natural)}
    known = " ".join(hints)
    for word in sorted(natural, key=lambda w: (-words.get(stem(normalise(w)), 0.0), order[w])):
        if len(hints) >= limit:
            break
        if normalise(word) not in known:
            add(word)
    return tuple(list(hints.values())[:limit])


def topic_key(text: str, words: Counter[str], repo: str) -> str:
    """`repository/subject`: the subject is the statement's own word that its stretch of conversation says most."""
    own = content_words(text)
    own = [w for w in own if not w.endswith(("ing", "ed", "ly"))] or own
    best = max(own, key=lambda w: (words.get(stem(normalise(w)), 0.0), len(w)), default="")
    return "/".join(p for p in (repo, normalise(best)) if p)


def retrieve_when(hints: Sequence[str]) -> str:
    """One line that says when to come back to this: the subjects, most specific first."""
    return "asked about " + ", ".join(hints[:4]) if hints else ""
