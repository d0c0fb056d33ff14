"""In: a parsed topic file. Out: its body as HTML in which nothing that a note says can run, load or leave unseen.

Raw HTML is shown as text, `javascript:` and the like are not links, images are links to themselves (nothing is fetched
from elsewhere). What the file format adds becomes something to click: `^m-…` an anchor with the memory's badges,
`[[…#^m-…]]` a link to that memory, a source footnote a link to the events it names.
"""

from __future__ import annotations

import posixpath
import re
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlsplit

from memoryfs.model import Memory
from memoryfs.notation import is_source_label, stated

if TYPE_CHECKING:
    from memoryfs.topic import Topic

MAX_NESTING = 60
_BLOCK_ID = re.compile(r"\^([mr]-[0-9A-Za-z]+(?:-[0-9A-Za-z]+)*)(?=\s|$)")
_WIKI = re.compile(r"\[\[([^\[\]|#]*)(?:#\^?([^\[\]|]*))?(?:\|([^\[\]]*))?\]\]")
_SCHEMES = ("http", "https", "mailto")


def topic_url(path: str) -> str:
    return "/topics/" + quote(path)


def memory_url(id: str) -> str:
    return "/memory/" + quote(id, safe="")


def source_url(label: str, topic: str = "") -> str:
    """Where a footnote label (`3f9a21:128-146`) leads; `topic` helps to tell threads of one hash apart."""
    return f"/source/{quote(label, safe=':~')}" + (f"?topic={quote(topic)}" if topic else "")


def to_html(topic: Topic) -> str:
    """The topic's body, front matter left out. Lines keep their numbers, so that memories are found by theirs."""
    text = topic.text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").removeprefix("\ufeff")
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)
    if topic.front.has_block:
        lines[: topic.front.end] = ["\n"] * topic.front.end
    env = {"memories": {memory.line: memory for memory in topic.memories}, "path": topic.path}
    return _renderer().render("".join(lines), env)


def badges(memory: Memory) -> str:
    """Status, origin and date of a memory as small labels."""
    out = [badge(memory.status)]
    if memory.stated_by == "person":
        out.append(badge("person", "said by a person"))
    elif memory.metadata.get("role") == "user":
        out.append(badge("person", "said by the user"))
    elif memory.stated_by == "agent":
        out.append(badge("agent", "noted by an agent"))
    if not memory.source_range and memory.stated_by == "organizer":
        out.append(badge("weak", "no source"))
    if not memory.metadata.get("adopted", True):
        out.append(badge("new", "not read in yet"))
    if memory.date:
        out.append(f'<time datetime="{escape(memory.date)}">{escape(memory.date)}</time>')
    return " ".join(out)


def badge(name: str, text: str = "") -> str:
    return f'<span class="badge {escape(name)}">{escape(text or name)}</span>'


def unpointed(text: str) -> str:
    """A line of text with its pointers (`[[projects/x#^m-…]]`) as a person would write them."""
    return _WIKI.sub(lambda m: m[3] or (f"^{m[2]}" if m[2] else m[1]), text)


def safe_link(url: str) -> bool:
    """Whether a note's link may be clicked: http, https, mailto, or a place in the store."""
    try:
        parts = urlsplit(re.sub(r"[\x00-\x20\x7f]", "", unquote(url)))
    except ValueError:
        return False
    return (parts.scheme in _SCHEMES) if parts.scheme else not url.startswith(("//", "/\\", "\\"))


@lru_cache(maxsize=1)
def _renderer() -> Any:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.footnote import footnote_plugin

    md = MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_NESTING}).enable(["table", "strikethrough"])
    md.use(footnote_plugin, inline=False)
    md.validateLink = safe_link  # type: ignore[method-assign]
    md.inline.ruler.before("link", "wiki", _wiki)
    md.inline.ruler.before("link", "block_id", _block_id)
    for name, rule in (
        ("list_item_open", _item), ("block_id", _show_id), ("wiki", _show_wiki), ("image", _image), ("link_open", _link),
        ("footnote_ref", _reference), ("footnote_open", _footnote), ("footnote_anchor", lambda *_: ""),
        ("table_open", lambda *_: '<div class="wide" tabindex="0" role="region" aria-label="table"><table>'),
        ("table_close", lambda *_: "</table></div>"),
        ("heading_open", _heading_open), ("heading_close", _heading_close),
    ):
        md.renderer.rules[name] = rule
    return md


# -- reading our own marks ----------------------------------------------------------------------------------------


def _block_id(state: Any, silent: bool) -> bool:
    match = _BLOCK_ID.match(state.src, state.pos)
    if not match or (state.pos and not state.src[state.pos - 1].isspace()):
        return False
    if not silent:
        state.push("block_id", "", 0).content = match[1]
    state.pos = match.end()
    return True


def _wiki(state: Any, silent: bool) -> bool:
    match = _WIKI.match(state.src, state.pos)
    if not match or not (match[1] or match[2]):
        return False
    if not silent:
        state.push("wiki", "", 0).meta = {"path": match[1].strip(), "anchor": match[2] or "", "text": match[3] or ""}
    state.pos = match.end()
    return True


# -- showing them -------------------------------------------------------------------------------------------------


def _item(tokens: Any, i: int, options: Any, env: Any) -> str:
    memory = env["memories"].get(tokens[i].map[0] + 1) if tokens[i].map else None
    if memory is None:
        return "<li>"
    return f'<li class="memory {escape(memory.status)}" id="{escape(memory.id)}"><span class="badges">{badges(memory)}</span> '


def _show_id(tokens: Any, i: int, options: Any, env: Any) -> str:
    id = escape(tokens[i].content)
    if id.startswith("r-"):
        return f'<a class="id" href="/review#{id}">settle</a>'
    return f'<a class="id" href="{memory_url(tokens[i].content)}" aria-label="about memory {id}">^{id}</a>'


def _show_wiki(tokens: Any, i: int, options: Any, env: Any) -> str:
    meta = tokens[i].meta
    path, anchor = meta["path"], meta["anchor"]
    text = escape(meta["text"] or (f"^{anchor}" if anchor.startswith("m-") else anchor) or path)
    if anchor.startswith("m-"):
        return f'<a href="{memory_url(anchor)}">{text}</a>'
    if not path:
        return text
    return f'<a href="{topic_url(path if path.lower().endswith(".md") else path + ".md")}">{text}</a>'


def _image(tokens: Any, i: int, options: Any, env: Any) -> str:
    source = str(tokens[i].attrs.get("src", ""))
    text = escape(tokens[i].content or "image")
    if not urlsplit(source).scheme:
        return f"[{text}]"
    return f'<a href="{escape(source)}" rel="noreferrer noopener">[{text}]</a>'


def _link(tokens: Any, i: int, options: Any, env: Any) -> str:
    url = str(tokens[i].attrs.get("href", ""))
    parts = urlsplit(url)
    if parts.scheme:
        return f'<a href="{escape(url)}" rel="noreferrer noopener">'
    if parts.path.lower().endswith(".md"):
        inside = posixpath.normpath(posixpath.join(posixpath.dirname(env["path"]), unquote(parts.path))).lstrip("./")
        return f'<a href="{escape(topic_url(inside))}">'
    return f'<a href="{escape("#" + parts.fragment)}">'


def _reference(tokens: Any, i: int, options: Any, env: Any) -> str:
    meta = tokens[i].meta
    label = str(meta.get("label", ""))
    said = stated(label)
    if said:
        return ""  # the memory's badges say it
    if is_source_label(label):
        return f'<a class="source" href="{escape(source_url(label, env["path"]))}">source {escape(label)}</a>'
    return f'<sup><a href="#fn{int(meta["id"]) + 1}">[{int(meta["id"]) + 1}]</a></sup>'


def _footnote(tokens: Any, i: int, options: Any, env: Any) -> str:
    label = str(tokens[i].meta.get("label", ""))
    shown = f"<code>{escape(label)}</code> " if label else ""
    return f'<li id="fn{int(tokens[i].meta["id"]) + 1}">{shown}'


def _heading_open(tokens: Any, i: int, options: Any, env: Any) -> str:
    return f"<h{min(6, int(tokens[i].tag[1]) + 1)}>"  # the page has its own first heading


def _heading_close(tokens: Any, i: int, options: Any, env: Any) -> str:
    return f"</h{min(6, int(tokens[i].tag[1]) + 1)}>\n"
