"""In: a store's `memoryfs.toml` (all of it optional). Out: a frozen `Config`, read once at the edge and passed in."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from memoryfs.model import Problem

FILE = "memoryfs.toml"


@dataclass(frozen=True)
class Briefing:
    """Caps of MEMORY.md: `max_bytes` of UTF-8 and `max_lines`."""

    max_bytes: int = 8192
    max_lines: int = 200


@dataclass(frozen=True)
class Organize:
    """The bounds of one run of the organizer."""

    budget_seconds: float = 600.0
    max_sessions: int = 200
    idle_minutes: float = 30.0  # a session is finished when its file has not changed for this long
    memories_per_session: int = 60
    topic_max_bytes: int = 65536
    topic_split_memories: int = 40  # a topic that holds more gives a subject away to a file of its own; 0: never
    inbox_per_session: int = 5  # statements of one session that may wait in inbox.md, the best of those that narrowly fail
    inbox_items: int = 40  # ... of all sessions; the oldest make room
    archive_after_days: int = 365  # what was replaced or is done moves to archive/; 0: never
    fade_after_days: int = 365  # what matters little and was not said again, too
    cold_after_days: int = 365  # threads that have not grown since they were organized are compressed


@dataclass(frozen=True)
class Models:
    """Which models to use: `auto` (best packaged one that passes its check), `none`, a GGUF path, or an http(s) URL."""

    generator: str = "auto"
    embedder: str = "auto"
    generator_name: str = ""
    embedder_name: str = ""
    threads: int = 0  # 0: as many as the machine has
    context: int = 8192


@dataclass(frozen=True)
class RecallSettings:
    """Defaults of recall; `max_tokens` bounds the evidence."""

    k: int = 10
    max_tokens: int = 1500
    embed_seconds: float = 300.0  # how long one organize or index run may spend on embedding
    scope_penalty: float = 0.05
    expand: bool = False  # a trusted model writes what an answer might read like, and that helps to rank
    expand_seconds: float = 20.0  # for the model to load, and as many to write it
    answer_seconds: float = 180.0  # the same for `recall --answer`


@dataclass(frozen=True)
class Hooks:
    """Bounds of what a hook says and of how long it may take; `memories` per prompt, 0 for none."""

    max_bytes: int = 9500  # hosts cut a hook's output at 10,000 characters
    deadline_ms: int = 800
    memories: int = 5
    organize: bool = True  # a session's end starts a detached run of low priority; else the next scheduled run takes it


@dataclass(frozen=True)
class Schedule:
    """When `memoryfs schedule install` lets the organizer run: how often, and between which hours of the local day."""

    every_minutes: int = 60
    active_hours: str = ""  # "8-20": from 8:00 until 20:00; "22-6" over midnight; "": at all hours


@dataclass(frozen=True)
class Recheck:
    """After how many days a passing fact is to be checked again, by its kind; 0: never."""

    version_days: int = 90  # "Node 20.11", "version 3.2"
    price_days: int = 60
    role_days: int = 180  # who does what
    host_days: int = 180  # servers, domains, addresses
    deadline_days: int = 1  # behind the day of a deadline
    sources: bool = True  # hold memories against the git repository that they are about


@dataclass(frozen=True)
class Config:
    """All settings of a store, with the defaults of DESIGN §2-§6."""

    categories: tuple[str, ...] = (
        "projects", "contacts", "infrastructure", "decisions", "preferences", "procedures", "tasks", "notes",
    )
    ignore: tuple[str, ...] = ()
    follow_links_outside: bool = False
    briefing: Briefing = field(default_factory=Briefing)
    organize: Organize = field(default_factory=Organize)
    models: Models = field(default_factory=Models)
    recall: RecallSettings = field(default_factory=RecallSettings)
    hooks: Hooks = field(default_factory=Hooks)
    routes: dict[str, str] = field(default_factory=dict)  # folder pattern → store; read from the user's own store only
    schedule: Schedule = field(default_factory=Schedule)
    recheck: Recheck = field(default_factory=Recheck)


def _merge(default: Any, data: dict[str, Any], where: str, problems: list[Problem]) -> Any:
    known = {f.name: f for f in fields(default)}
    changes: dict[str, Any] = {}
    for key, value in data.items():
        name = f"{where}{key}"
        if key not in known:
            problems.append(Problem(FILE, f"unknown setting `{name}`", "Remove it, or see templates/memoryfs.toml."))
            continue
        old = getattr(default, key)
        if is_dataclass(old):
            if isinstance(value, dict):
                changes[key] = _merge(old, value, f"{name}.", problems)
            else:
                problems.append(Problem(FILE, f"`{name}` must be a table"))
        elif isinstance(old, dict):
            if isinstance(value, dict) and all(isinstance(v, str) for v in value.values()):
                changes[key] = dict(value)
            else:
                problems.append(Problem(FILE, f"`{name}` must be a table of strings"))
        elif isinstance(old, tuple):
            if isinstance(value, list) and all(isinstance(v, str) for v in value):
                changes[key] = tuple(value)
            else:
                problems.append(Problem(FILE, f"`{name}` must be a list of strings"))
        elif isinstance(old, float) and isinstance(value, int) and not isinstance(value, bool):
            changes[key] = float(value)
        elif type(value) is type(old):
            changes[key] = value
        else:
            problems.append(Problem(FILE, f"`{name}` must be of type {type(old).__name__}"))
    return replace(default, **changes)


def load(root: Path) -> tuple[Config, tuple[Problem, ...]]:
    """The settings of the store at `root`; what cannot be read is a problem, and its default applies."""
    try:
        text = (root / FILE).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return Config(), ()
    except (OSError, UnicodeDecodeError) as error:
        return Config(), (Problem(FILE, f"cannot be read: {error}"),)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return Config(), (Problem(FILE, f"not valid TOML: {error}", "Mend the file; defaults apply until then."),)
    problems: list[Problem] = []
    config = _merge(Config(), data, "", problems)
    return config, tuple(problems)
