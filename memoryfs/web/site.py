"""In: a store and the secrets of a run. Out: what all pages share: templates, the form's token, messages, timings."""

from __future__ import annotations

import threading
import time
from collections import deque
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import jinja2
from starlette.responses import HTMLResponse, RedirectResponse, Response

from memoryfs.errors import NotFoundError
from memoryfs.files import TopicFile, scan
from memoryfs.web import markdown
from memoryfs.web.guard import Keys

if TYPE_CHECKING:
    from memoryfs.store import MemoryStore
    from memoryfs.topic import Topic

KEPT_TIMINGS = 200


class Site:
    """One store behind one address; handlers get it with each request."""

    def __init__(self, store: MemoryStore, keys: Keys) -> None:
        self.store = store
        self.keys = keys
        self.recalling = threading.Lock()  # one embedder, one question at a time
        self.timings: deque[float] = deque(maxlen=KEPT_TIMINGS)  # milliseconds of each recall of this run
        self.undoable = ""  # the id of the last review or inbox line that was settled here
        self._read: tuple[tuple[TopicFile, ...], int, dict[str, Topic]] = ((), 0, {})
        self._messages: deque[str] = deque(maxlen=8)

    def tell(self, message: str) -> None:
        """A line for the next page."""
        self._messages.append(message)

    def page(self, template: str, *, code: int = 200, **values: Any) -> Response:
        """A rendered template; every value is escaped but what was made as markup."""
        messages = []
        while self._messages:
            messages.append(self._messages.popleft())
        html = _environment().get_template(template).render(
            csrf=self.keys.form, messages=messages, store_name=self.store.root.name, store_path=str(self.store.root), **values
        )
        # Text of notes may hold lone surrogates; a browser cannot be sent one.
        return HTMLResponse(html.encode("utf-8", "replace"), status_code=code)

    def topics(self) -> dict[str, Topic]:
        """Every topic, parsed again only when a file is not the one that was read. Not to be changed."""
        files = scan(self.store.root, self.store.config).files
        known, read_at, topics = self._read
        if files == known and not any(file.changed_about(read_at) for file in files):
            return topics
        now = time.time_ns()
        topics = self.store.topics()
        self._read = (files, now, topics)
        return topics

    def topic(self, path: str, topics: dict[str, Topic]) -> Topic:
        """The topic at a path that the store itself lists; nothing else can be named. Raises NotFoundError."""
        if path not in topics:
            raise NotFoundError(f"the topic {path}")
        return topics[path]


def redirect(url: str) -> Response:
    return RedirectResponse(url, status_code=303)


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    env = jinja2.Environment(
        loader=jinja2.PackageLoader("memoryfs.web"), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )
    env.globals |= {
        "topic_url": markdown.topic_url, "memory_url": markdown.memory_url, "source_url": markdown.source_url,
        "edit_url": lambda path, line=0: "/edit/" + quote(path) + (f"?line={line}" if line else ""),
    }
    env.filters["unpointed"] = markdown.unpointed
    env.filters["badges"] = lambda memory: jinja2_markup(markdown.badges(memory))
    env.filters["badge"] = lambda name, text="": jinja2_markup(markdown.badge(name, text))
    return env


def jinja2_markup(html: str) -> Any:
    """Marks HTML of our own making as such."""
    from markupsafe import Markup

    return Markup(html)


class Stopwatch:
    """Milliseconds since it was made."""

    def __init__(self) -> None:
        self.start = time.perf_counter()

    def milliseconds(self) -> float:
        return (time.perf_counter() - self.start) * 1000
