"""In: a repository, the names that memories use, and since when. Out: which of these left it, when, and what a file is called now.

One `git log` of the main line tells what each commit took out (a merge counts as one commit, on its own day); what it took out and
is nowhere in the newest commit has gone. What only moves to another file has not. Read from git's objects: the working files
are not looked at. The store itself, changelogs and lock files don't count: they go on naming what is gone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from memoryfs import gitfacts
from organizer.named import word_of

SECONDS = 20.0  # for the log of one repository
GREP_SECONDS = 20.0
AT_ONCE = 200  # values in one search
MOST_NAMES = 2_000  # of those that were taken out, the latest
MOST_EARLY = 1_000  # commits in a row dated before the time asked for, behind which none from after it is looked for
CLOCKS = 86_400.0  # seconds by which the clocks of two machines may differ
_ASIDE = (
    "CHANGELOG*", "CHANGES*", "HISTORY*", "RELEASES*", "NEWS*", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock",
    "bun.lock*", "Cargo.lock", "poetry.lock", "uv.lock", "Pipfile.lock", "Gemfile.lock", "composer.lock", "go.sum", "*.min.js",
    "*.min.css", "*.map", "*.svg", "*.ipynb",
)
_WORD = re.compile(rb"[A-Za-z0-9_]+")
_RAW = re.compile(rb":(\d{6}) (\d{6}) [0-9a-f.]+ [0-9a-f.]+ ([A-Z])\d*\t([^\t]+)(?:\t([^\t]+))?\Z")
_SPECIAL = re.compile(r"[][\\.*+?{}()|^$]")  # in extended regular expressions
_PLAIN = re.compile(r"[\w./@+ -]{1,120}\Z")


@dataclass(frozen=True)
class Gone:
    """One thing that left: when (epoch seconds), and, for a file that is called otherwise now, its new path."""

    time: float
    now: str = ""


@dataclass
class Log:
    """What the commits since some time took out. `files`: path → when, and the new path if it was renamed; `whole`: whether
    all commits were read; a name that is not here was then not taken out."""

    tip: str
    values: dict[str, float] = field(default_factory=dict)
    files: dict[str, Gone] = field(default_factory=dict)
    whole: bool = False


def pathspec(inside: str) -> list[str]:
    """All files but those that go on naming what is gone; `inside`: the store's folder below the repository's, or ""."""
    out = ["--", ":(top)", *(f":(top,exclude,glob,icase)**/{name}" for name in _ASIDE)]
    return [*out, f":(top,exclude,literal){inside}"] if inside else out


def read_log(
    repo: Path, tip: str, since: float, until: float, values: Collection[str], inside: str = "", seconds: float = SECONDS,
) -> Log:
    """What left the files on the way to the commit `tip`, from `since` on; `until` is now (both in epoch seconds)."""
    finder = _Finder(values)
    log = Log(tip)
    begun = monotonic()
    commits = _line(repo, tip, since, until, seconds)
    if commits is None:
        return log
    times = commits.times
    if not times:
        log.whole = commits.sure
        return log
    lines = gitfacts.Lines(
        repo, "log", "--first-parent", "--diff-merges=first-parent", "--no-ext-diff", "--no-textconv", "--no-color",
        "--no-show-signature", "--no-notes", "--submodule=short", "-O/dev/null", "--format=%x01%H", "--raw", "--no-abbrev",
        "-p", "-U0", "-M", "-l400", tip, *pathspec(inside), seconds=seconds - (monotonic() - begun))
    time, hunk, past = 0.0, False, False
    for line in lines:
        first = line[:1]
        if first == b"-":
            if hunk:
                for value in finder.find(line[1:]):
                    log.values.setdefault(value, time)
        elif first == b"@":
            hunk = True
        elif first == b"\x01":
            if line[1:] not in times:
                past = True
                break
            time, hunk = times[line[1:]], False
        elif first == b"d":
            hunk = False
        elif first == b":":
            _file(log, line, time)
    log.whole = commits.sure and (past or lines.code == 0)
    return log


@dataclass(frozen=True)
class _Line:
    """Commits, newest first, and when each was made, in epoch seconds; `sure`: the newest one's clock was right."""

    times: Mapping[bytes, float]
    sure: bool


def _line(repo: Path, tip: str, since: float, until: float, seconds: float) -> _Line | None:
    """The commits of the main line down to the last one from `since` on; None if that could not be told.

    git's own `--since` ends at the first commit that is dated earlier, as one from a machine whose clock stood at 1970.
    """
    rows: list[tuple[bytes, float]] = []
    early = 0
    lines = gitfacts.Lines(repo, "rev-list", "--first-parent", "--timestamp", tip, "--", seconds=seconds)
    for line in lines:
        stamp, _, commit = line.partition(b" ")
        rows.append((commit, float(stamp)))
        early = early + 1 if rows[-1][1] < since else 0
        if early == MOST_EARLY:
            break
    else:
        if lines.code != 0:
            return None
    times = _times(rows, since, until)
    last = max((number for number, time in enumerate(times) if time >= since), default=-1)
    sure = not rows or times[0] == rows[0][1]
    return _Line({commit: time for (commit, _), time in zip(rows[: last + 1], times, strict=False)}, sure)


def _times(rows: Sequence[tuple[bytes, float]], since: float, until: float) -> list[float]:
    """When each commit was made: as it is dated, or, where that cannot be (in the future, or too early and before its parent),
    not before its parent."""
    out, parent = [], 0.0
    for _, time in reversed(rows):
        wrong = time > until + CLOCKS or time < min(since, parent - CLOCKS)
        out.append(parent if wrong else time)
        parent = max(parent, out[-1])
    return out[::-1]


def _file(log: Log, line: bytes, time: float) -> None:
    match = _RAW.match(line)
    if match and match[3] in (b"D", b"R"):
        old = match[4].decode("utf-8", "surrogateescape")
        log.files.setdefault(old, Gone(time, match[5].decode("utf-8", "surrogateescape") if match[5] else ""))


class _Finder:
    """Which of many values stand in a line as words of their own; found by their longest word."""

    def __init__(self, values: Iterable[str]) -> None:
        self._by_word: dict[bytes, list[tuple[bytes, str]]] = {}
        for value in values:
            if word := word_of(value):
                self._by_word.setdefault(word.encode(), []).append((value.encode("utf-8", "replace"), value))

    def find(self, line: bytes) -> Iterator[str]:
        for word in set(_WORD.findall(line)) & self._by_word.keys():
            for data, value in self._by_word[word]:
                if data == word or _alone(data, line):
                    yield value


def _alone(value: bytes, line: bytes) -> bool:
    """Whether `value` stands in the line, not as a part of a longer word or number."""
    at = line.find(value)
    while at >= 0:
        before, after = line[at - 1 : at] if at else b"", line[at + len(value) : at + len(value) + 1]
        if not (value[:1].isalnum() and (before.isalnum() or before == b"_")) and not (
                value[-1:].isalnum() and (after.isalnum() or after == b"_")):
            return True
        at = line.find(value, at + 1)
    return False


def standing(repo: Path, tip: str, values: Collection[str], inside: str = "", seconds: float = GREP_SECONDS) -> set[str] | None:
    """Those of `values` that stand somewhere in the commit; None if that could not be told."""
    wanted = sorted(values)
    held: set[str] = set()
    for begin in range(0, len(wanted), AT_ONCE):
        part = wanted[begin : begin + AT_ONCE]
        finder = _Finder(part)
        lines = gitfacts.Lines(
            repo, "grep", "-h", "-I", "-E", "--no-color", "--no-textconv", "--no-recurse-submodules", "--threads=2",
            "-e", "|".join(_SPECIAL.sub(r"\\\g<0>", value) for value in part), tip, *pathspec(inside), seconds=seconds)
        for line in lines:
            held |= {value for value in finder.find(line) if value not in held}
            if len(held & set(part)) == len(part):
                break
        else:
            if lines.code not in (0, 1):  # 1: none of them stands there
                return None
    return held


def gone_values(log: Log, repo: Path, inside: str = "") -> dict[str, Gone] | None:
    """The values that commits took out and that are nowhere now; None if that could not be told."""
    latest = dict(sorted(log.values.items(), key=lambda item: (-item[1], item[0]))[:MOST_NAMES])
    held = standing(repo, log.tip, latest, inside) if latest else set()
    return None if held is None else {value: Gone(time) for value, time in latest.items() if value not in held}


def gone_paths(log: Log, repo: Path, wanted: Iterable[str]) -> dict[str, Gone] | None:
    """By path as a memory writes it (`auth.ts`, `src/auth.ts`, `src`): when the last file went that it can mean, if none is left.
    None if that could not be told."""
    tails: dict[str, Gone] = {}
    for path, gone in log.files.items():
        for name in _names(path):
            if name not in tails or tails[name].time < gone.time:
                tails[name] = gone if path.endswith(name) else Gone(gone.time)
    found = {name: tails[name] for name in wanted if name in tails}
    if not found:
        return {}
    lines = gitfacts.Lines(repo, "ls-tree", "-r", "--name-only", "--full-tree", log.tip, seconds=GREP_SECONDS)
    here = {line.decode("utf-8", "surrogateescape") for line in lines}
    if lines.code != 0:
        return None
    left = {name for path in here for name in _names(path)} & found.keys()
    return {name: _renamed(gone, log.files, here) for name, gone in found.items() if name not in left}


def _names(path: str) -> Iterator[str]:
    """Every tail of a path, and every run of its folders, as a person may name the file or a folder of it."""
    parts = path.split("/")
    for start in range(len(parts)):
        yield "/".join(parts[start:])
        for end in range(start + 1, len(parts)):
            yield "/".join(parts[start:end])


def _renamed(gone: Gone, files: Mapping[str, Gone], here: Collection[str]) -> Gone:
    """With the name that the file has now, through several renamings; without where it has none, or one that is not plain."""
    now, steps = gone.now, 0
    while now and now not in here and steps < 20:
        now, steps = (files[now].now if now in files else ""), steps + 1
    return Gone(gone.time, now if now in here and _PLAIN.match(now) else "")
