"""In: what the stages of a run did. Out: a RunReport: data, JSON, a text a person reads, and the exit code of DESIGN §7.

Every statement that was not kept appears with its reason, every failed file or session by name, and each kept one
says whether rules or the model proposed it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memoryfs.errors import EXIT_DONE, EXIT_FAILED, EXIT_NOTHING, EXIT_PARTIAL, EXIT_REVIEW
from memoryfs.model import Problem
from memoryfs.render import one_line
from memoryfs.runs import REPORTS
from memoryfs.textfile import STATE, write_atomic

KEPT_REPORTS = 20
DONE, FAILED, EMPTY_SESSION = "done", "failed", "empty"


@dataclass(frozen=True, slots=True)
class Item:
    """One statement and what became of it. `action` is a Decision's, or `drop`."""

    action: str
    text: str
    why: str = ""
    id: str = ""
    topic: str = ""
    kind: str = ""
    by: str = "rules"
    source: str = ""
    target: str = ""
    before: str = ""  # what the target says

    def to_dict(self) -> dict[str, Any]:
        fields = ("action", "id", "kind", "topic", "text", "why", "by", "source", "target", "before")
        return {k: getattr(self, k) for k in fields if getattr(self, k)}


@dataclass(frozen=True, slots=True)
class SessionReport:
    """One session: its thread, what was read of it, and what became of each candidate. `seconds` is wall time."""

    thread: str
    title: str = ""
    status: str = DONE
    events: int = 0
    seconds: float = 0.0
    items: tuple[Item, ...] = ()
    episode: str = ""
    message: str = ""

    def count(self, *actions: str) -> int:
        return sum(1 for item in self.items if item.action in actions)

    def to_dict(self) -> dict[str, Any]:
        return {
            "thread": self.thread, "title": self.title, "status": self.status, "events": self.events,
            "seconds": round(self.seconds, 3), "episode": self.episode, "message": self.message,
            "items": [item.to_dict() for item in self.items],
        }


@dataclass(frozen=True, slots=True)
class Held:
    """A session that failed `failures` times and was not tried in this run; `retry_at` "" where it was set aside."""

    thread: str
    failures: int
    message: str
    retry_at: str = ""

    def line(self) -> str:
        when = f"tried again after {self.retry_at}" if self.retry_at else "set aside; `memoryfs organize --retry` tries it again"
        return f"{self.thread} failed {self.failures} times ({one_line(self.message, 120)}): {when}"

    def to_dict(self) -> dict[str, Any]:
        return {"thread": self.thread, "failures": self.failures, "message": self.message, "retry_at": self.retry_at}


@dataclass
class RunReport:
    """One run over one store; filled by the pipeline, then read only. `tokens` are those a model evaluated."""

    store: str = ""
    started: str = ""
    seconds: float = 0.0
    dry_run: bool = False
    generator: str = ""
    embedder: str = ""
    tokens: int = 0
    judged: int = 0
    imported: dict[str, int] = field(default_factory=dict)
    unchanged: int = 0
    adopted: list[Mapping[str, Any]] = field(default_factory=list)
    remembered: list[Mapping[str, Any]] = field(default_factory=list)  # what the check of agents' statements changed
    stale: list[Mapping[str, Any]] = field(default_factory=list)  # what was marked as changed at its source, or no longer
    dated: int = 0  # memories that got a new day to be checked again
    stale_counts: Mapping[str, int] = field(default_factory=dict)  # memories that are stale now, where the run looked, by what made them so
    sessions: list[SessionReport] = field(default_factory=list)
    held: list[Held] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    stopped: str = ""
    briefing_bytes: int = 0
    briefing_changed: bool = False
    stages: dict[str, float] = field(default_factory=dict)
    nothing_found: bool = False

    def items(self, *actions: str) -> list[Item]:
        return [i for s in self.sessions for i in s.items if not actions or i.action in actions]

    @property
    def changed(self) -> bool:
        """Whether the run wrote anything that a person can see."""
        return bool(self.sessions or self.adopted or self.remembered or self.stale or self.briefing_changed or self.imported.get("added"))

    @property
    def exit_code(self) -> int:
        failed = [s for s in self.sessions if s.status == FAILED]
        errors = [p for p in self.problems if p.severity == "error"]
        if self.nothing_found:
            return EXIT_FAILED if errors else EXIT_NOTHING
        if failed or errors:
            good = self.unchanged or any(s.status != FAILED for s in self.sessions) or self.imported.get("threads")
            return EXIT_PARTIAL if good else EXIT_FAILED
        if self.items("conflict") or any(r.get("action") == "conflict" for r in self.remembered):
            return EXIT_REVIEW
        return EXIT_DONE

    def trouble(self) -> str:
        """What was wrong in the run, in one line; "" if nothing was."""
        wrong = [s.message for s in self.sessions if s.status == FAILED]
        wrong += [f"{p.path}: {p.message}" for p in self.problems if p.severity == "error"]
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        return f"{one_line(wrong[0], 200)}{more}" if wrong else ""

    def counts(self) -> dict[str, int]:
        return dict(sorted(Counter(i.action for i in self.items()).items()))

    def share(self) -> dict[str, int]:
        """How many of the kept statements rules proposed, and how many the model."""
        kept = self.items("add", "reinforce", "merge", "supersede", "conflict")
        return dict(sorted(Counter(i.by for i in kept).items()))

    def dropped_because(self) -> dict[str, int]:
        return dict(Counter(_family(i.why) for i in self.items("drop")).most_common())

    def to_dict(self) -> dict[str, Any]:
        return {
            "store": self.store, "started": self.started, "seconds": round(self.seconds, 3), "dry_run": self.dry_run,
            "exit_code": self.exit_code, "generator": self.generator, "embedder": self.embedder, "tokens": self.tokens,
            "judged_by_model": self.judged,
            "imported": self.imported, "unchanged_sessions": self.unchanged, "counts": self.counts(),
            "kept_by": self.share(), "dropped_because": self.dropped_because(), "stopped": self.stopped,
            "briefing": {"bytes": self.briefing_bytes, "changed": self.briefing_changed},
            "stages": {k: round(v, 3) for k, v in self.stages.items()},
            "adopted": [dict(a) for a in self.adopted], "remembered": [dict(a) for a in self.remembered],
            "stale": {"marked": [dict(a) for a in self.stale], "counts": dict(self.stale_counts), "dated": self.dated},
            "sessions": [s.to_dict() for s in self.sessions],
            "held": [h.to_dict() for h in self.held],
            "notices": list(self.notices), "problems": [p.to_dict() for p in self.problems],
        }

    def to_text(self) -> str:
        """The report as a person reads it: a summary, then what changed, session by session."""
        return "\n".join([*self._summary(), *self._detail()]) + "\n"

    def summary_text(self) -> str:
        """The few lines that end a run on the terminal."""
        return "\n".join(self._summary())

    def _summary(self) -> list[str]:
        counts = self.counts()
        done = sum(1 for s in self.sessions if s.status in (DONE, EMPTY_SESSION))
        lines = [
            f"{'would organize' if self.dry_run else 'organized'} {done} session{'' if done == 1 else 's'}"
            + (f", {self.unchanged} unchanged" if self.unchanged else "") + f" in {self.seconds:.1f} s"
        ]
        names = (("add", "learned"), ("reinforce", "seen again"), ("merge", "said more fully"), ("supersede", "superseded"), ("conflict", "to review"),
                 ("inbox", "in the inbox"), ("drop", "dropped"), ("ignore", "known already"))
        told = ", ".join(f"{counts[key]} {word}" for key, word in names if counts.get(key))
        if told:
            lines.append(told)
        share = self.share()
        if share:
            lines.append("proposed by " + ", ".join(f"{who}: {n}" for who, n in share.items()) + "; " + self._model_part())
        if self.briefing_bytes:
            lines.append(f"MEMORY.md: {self.briefing_bytes:,} bytes" + ("" if self.briefing_changed else ", unchanged"))
        if self.stopped:
            lines.append(f"stopped: {self.stopped}")
        lines += [held.line() for held in self.held[:10]]
        if len(self.held) > 10:
            lines.append(f"… and {len(self.held) - 10} more that failed before")
        lines += self.notices
        return lines

    def _model_part(self) -> str:
        if not self.generator:
            return "no generator"
        return f"{self.generator} judged {self.judged} lines in {self.tokens:,} tokens"

    def _detail(self) -> list[str]:
        lines: list[str] = []
        heads = {"add": "+", "reinforce": "=", "merge": "≈", "supersede": "~", "conflict": "?", "inbox": "…", "drop": "-"}
        for session in self.sessions:
            lines += ["", f"{session.thread}  {one_line(session.title, 70)}  ({session.status}, {session.events} events)"]
            if session.message:
                lines.append(f"  ! {one_line(session.message)}")
            for item in session.items:
                if item.action not in heads:
                    continue
                place = f" → {item.topic} ^{item.id}" if item.topic else ""
                why = f"  [{item.why}]" if item.why and item.action not in ("add",) else ""
                lines.append(f"  {heads[item.action]} {one_line(item.text, 100)}{place}{why}")
        for problem in self.problems:
            lines.append(f"{problem.severity}: {problem.path}: {one_line(problem.message)}")
        return lines


def _family(why: str) -> str:
    return why.split(":", 1)[0].strip() or "no reason given"


def save(root: Path, report: RunReport, *, stamp: str) -> None:
    """Keep the report under `.memoryfs/reports/`: `last.json` always, data and a page of each run that changed something
    or failed, of the last 20 of these."""
    from organizer.page import page

    folder = root / STATE / REPORTS
    data = json.dumps(report.to_dict(), ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass")
    if report.changed or report.exit_code:
        write_atomic(folder / f"{stamp}.json", data)
        write_atomic(folder / f"{stamp}.md", page(report).encode("utf-8", "replace"))
        _prune(folder)
    brief = {k: v for k, v in report.to_dict().items() if k not in ("sessions", "adopted")}
    write_atomic(folder / "last.json", json.dumps(brief, ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass"))


def _prune(folder: Path) -> None:
    stamps = sorted({p.stem for p in folder.glob("2*.json")})
    for stamp in stamps[:-KEPT_REPORTS]:
        for suffix in (".json", ".md"):
            (folder / f"{stamp}{suffix}").unlink(missing_ok=True)


def merged_exit_code(reports: Iterable[RunReport]) -> int:
    """The exit code of a run over several stores: partial if they differ in failing, else the most telling one."""
    codes = [r.exit_code for r in reports]
    if not codes:
        return EXIT_DONE
    if any(c in (EXIT_FAILED, EXIT_PARTIAL) for c in codes):
        return codes[0] if len(set(codes)) == 1 else EXIT_PARTIAL
    return max(codes, key=lambda c: (c == EXIT_REVIEW, c == EXIT_DONE, c))
