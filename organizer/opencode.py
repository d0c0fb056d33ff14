"""In: OpenCode's own store (`storage/` with one JSON file a record, or `opencode.db`). Out: its sessions as exports.

OpenCode keeps no transcript file. What `opencode export` would print is put together here, so that the importer and
the position of each message are the same whichever way a session came. The database is opened read-only.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memoryfs.model import Problem
from memoryfs.textfile import slug

DATABASE = "opencode.db"


@dataclass(frozen=True, slots=True)
class Stored:
    """One session in OpenCode's store: `modified` is a Unix time, `origin` the session's file or the database."""

    id: str
    directory: str | None
    modified: float
    origin: Path
    base: Path


def sessions(base: Path, problems: list[Problem]) -> Iterator[Stored]:
    """Every session below OpenCode's data folder `base`, those of the database first, each once."""
    seen: set[str] = set()
    for found in (*_from_database(base, problems), *_from_files(base, problems)):
        if found.id not in seen:
            seen.add(found.id)
            yield found


def export(session: Stored) -> bytes:
    """The session as `opencode export` writes it: `{"info": …, "messages": [{"info", "parts"}, …]}`.

    Raises OSError, ValueError or sqlite3.Error for a store that cannot be read.
    """
    if session.origin.name == DATABASE:
        data = _export_rows(session)
    else:
        data = _export_files(session)
    return json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogatepass")


def export_name(session: Stored) -> str:
    """A file name for the session's export."""
    return f"{slug(session.id)}.json"


def _connect(base: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{(base / DATABASE).resolve().as_uri()}?mode=ro", uri=True, timeout=2.0)


def _from_database(base: Path, problems: list[Problem]) -> list[Stored]:
    if not (base / DATABASE).is_file():
        return []
    try:
        with closing(_connect(base)) as db:
            rows = db.execute("SELECT id, directory, time_updated FROM session ORDER BY id").fetchall()
    except sqlite3.Error as error:
        problems.append(Problem(str(base / DATABASE), f"cannot be read: {error}", "Use `opencode export` and `memoryfs import`."))
        return []
    return [Stored(str(i), _text(d), (t or 0) / 1000, base / DATABASE, base) for i, d, t in rows]


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _export_rows(session: Stored) -> dict[str, Any]:
    with closing(_connect(session.base)) as db:
        db.row_factory = sqlite3.Row
        row = db.execute("SELECT * FROM session WHERE id = ?", (session.id,)).fetchone()
        if row is None:
            raise ValueError(f"no session {session.id}")
        columns = dict(row)
        info = {"id": session.id, "directory": columns.get("directory"), "title": columns.get("title"),
                "version": columns.get("version"), "parentID": columns.get("parent_id"),
                "time": {"created": columns.get("time_created"), "updated": columns.get("time_updated")}}
        parts: dict[str, list[dict[str, Any]]] = {}
        for part in db.execute("SELECT id, message_id, data FROM part WHERE session_id = ? ORDER BY message_id, id", (session.id,)):
            record = json.loads(part["data"])
            parts.setdefault(part["message_id"], []).append({**record, "id": part["id"], "messageID": part["message_id"]})
        messages = [
            {"info": {**json.loads(m["data"]), "id": m["id"], "sessionID": session.id}, "parts": parts.get(m["id"], [])}
            for m in db.execute("SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id", (session.id,))
        ]
    return {"info": {k: v for k, v in info.items() if v is not None}, "messages": messages}


def _from_files(base: Path, problems: list[Problem]) -> list[Stored]:
    found = []
    for path in sorted((base / "storage" / "session").glob("*/*.json")):
        try:
            info = json.loads(path.read_bytes())
            messages = base / "storage" / "message" / path.stem
            times = [path.stat().st_mtime, *(p.stat().st_mtime for p in messages.glob("*.json"))]
        except (OSError, ValueError) as error:
            problems.append(Problem(str(path), f"cannot be read: {error}"))
            continue
        if isinstance(info, dict) and isinstance(info.get("id"), str):
            found.append(Stored(info["id"], _text(info.get("directory")), max(times), path, base))
    return found


def _export_files(session: Stored) -> dict[str, Any]:
    storage = session.base / "storage"
    messages = []
    for path in sorted((storage / "message" / session.origin.stem).glob("*.json")):
        info = json.loads(path.read_bytes())
        parts = [json.loads(p.read_bytes()) for p in sorted((storage / "part" / path.stem).glob("*.json"))]
        messages.append({"info": info, "parts": parts})
    messages.sort(key=lambda m: ((m["info"].get("time") or {}).get("created") or 0, str(m["info"].get("id"))))
    return {"info": json.loads(session.origin.read_bytes()), "messages": messages}
