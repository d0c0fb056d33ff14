"""In: one turn of the resumed part of a session of SpecStory, where tool calls stand without tags. Out: the
events of a tool call, of printed output or of a file edit; None where it is a message, or may be one.

Such a turn holds nothing else: what is done, the command, the output. Fences inside the output stand as they
were printed, so it goes on to the turn's end. Where a heading was left out the turn begins with a blank line
more than others, or a path with a blank.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memoryfs.importers import injected
from memoryfs.importers.mdtext import Lines, block
from memoryfs.thread import EventDraft

FILE = re.compile(r"`([^`\s]+\.[\w]{1,8})`")
_NOTE = re.compile(r"^Resumed from an? ([\w .-]+?) session via SpecStory\.$")
_CALL = re.compile(r"^Tool use: \*\*([^*`]+)\*\*(?: .*)?$")
_EDIT = re.compile(r"^\*\*(?:Add|Update|Delete): `([^`]+)`\*\*$")
_HEADLESS = re.compile(r"^ (?:[a-z_]+ )?`.+`$")
_QUOTED = re.compile(r"^`[^`]+`$")
_PATH = re.compile(r"^`[^`\s]*[./][^`\s]*`$")
_REASONING = re.compile(r"^\*\*[^*\s]+(?: [^*\s]+)* [^*\s]*[^*\s.,:;!?…。！？：]\*\*$")
_DESCRIPTION = re.compile(r"^(?![\s#>*_|+-]|\d+[.)]\s|<).{0,199}[^\s.,:;!?…、。；：！？*_]$")
_FENCE = re.compile(r"^(`{3,}|~{3,}) *([\w+#./:-][^`]*)?$")
_WRITTEN = re.compile(
    r"^(?:File created successfully at: (\S.*?)(?: \(.*)?|The file (\S.*?) has been updated\b.*)$"
)
_FAILED = re.compile(r"^(?:<tool_use_error>|apply_patch verification failed\b)")
_HEAD = 20  # lines in which a turn must begin
_LOOKED_AT = 50  # lines of output in which the mark of what memoryfs said is looked for


def note(lines: Lines) -> str:
    """The harness that the session was resumed from, where these lines say only that; else ""."""
    texts = [text.strip() for _, text in lines[:_HEAD] if text.strip()]
    match = _NOTE.match(texts[0]) if len(texts) == 1 and len(lines) <= _HEAD else None
    return match[1] if match else ""


def begins(lines: Lines) -> bool:
    """Whether a turn with these first lines may be a tool call without tags."""
    texts = [text.rstrip() for _, text in lines[:_HEAD]]
    at = _next(texts, 0)
    if at == len(texts):
        return False
    head, after = texts[at], _next(texts, at + 1)
    if any(shape.match(head) for shape in (_CALL, _EDIT, _HEADLESS, _QUOTED, _FENCE)):
        return True
    return after < len(texts) and bool(_QUOTED.match(texts[after]) or _about(texts[after]) == "bash")


def events(
    lines: Lines, time: str | None, *, codex: bool, embeds: bool, last: bool
) -> list[EventDraft] | None:
    """The events of the turn. `codex`: resumed from there; `embeds`: it holds a whole file of SpecStory;
    `last`: the user speaks next."""
    texts = [text.rstrip() for _, text in lines]
    at = _next(texts, 0)
    if at == len(texts):
        return None
    head = texts[at]
    if codex and not last and at == len(texts) - 1 and _REASONING.match(head):
        found = block(lines, "assistant", time=time, metadata={"skip": injected.THINKING})
        return [found] if found else None
    if _EDIT.match(head):
        return _edits(lines, texts, at, time)
    cut = _cut(texts, at, codex, embeds, last)
    return None if cut is None else _called(lines, texts, at, cut, time)


def _cut(texts: Sequence[str], at: int, codex: bool, embeds: bool, last: bool) -> int | None:
    """The line of the fence that holds the output, or the end if nothing was printed; None if this may be an
    answer."""
    head, after, end = texts[at], _next(texts, at + 1), len(texts)
    if _CALL.match(head) or _HEADLESS.match(head):
        out = _behind(texts, after) if after < end and _about(texts[after]) == "bash" else after
        return out if out == end or _prints(texts, out, True) else None
    if _FENCE.match(head):
        return _fenced(texts, at, codex, embeds, last) if at < 2 else _unnamed(texts, at)
    if _PATH.match(head):
        out, alone = after, False
    elif after < end and _DESCRIPTION.match(head) and _QUOTED.match(texts[after]):
        out, alone = _next(texts, after + 1), not last
    elif after < end and _DESCRIPTION.match(head) and _about(texts[after]) == "bash":
        out, alone = _behind(texts, after), not last and _prints(texts, after, False)
    else:
        return None
    if out == end:
        return out if alone else None
    return out if _about(texts[out]) == "text" and _prints(texts, out, embeds) else None


def _fenced(texts: Sequence[str], at: int, codex: bool, embeds: bool, last: bool) -> int | None:
    """`_cut` of a turn that begins with a fence as an answer might: a refusal, output, or a command of Codex
    with its output hard below it."""
    about = _about(texts[at])
    if about == "text":
        refused = at + 1 < len(texts) and _FAILED.match(texts[at + 1])
        return at if (refused or not last) and _prints(texts, at, embeds) else None
    out = _close(texts, at) + 1
    if not codex or about != "bash" or out >= len(texts) or _about(texts[out]) != "":
        return None
    return out if _prints(texts, out, embeds) else None


def _unnamed(texts: Sequence[str], at: int) -> int | None:
    """`_cut` of a turn that begins with a fence below a heading that was left out: output alone, a command,
    or the content of a file; the latter two with what was printed then."""
    about = _about(texts[at])
    if about == "text":
        return at if _prints(texts, at, True) else None
    out, before = len(texts), ""
    for number in range(at + 1, len(texts)):
        if _about(texts[number]) == "text" and _about(before) == "":
            out = number
        before = texts[number] or before
    if about == "bash" and not (out + 1 < len(texts) and _WRITTEN.match(texts[out + 1])):
        out = _behind(texts, at)
    found = out < len(texts) and _about(texts[out]) == "text" and _prints(texts, out, True)
    return out if found else None


def _called(lines: Lines, texts: Sequence[str], at: int, cut: int, time: str | None) -> list[EventDraft]:
    head, first = texts[at], texts[cut + 1] if cut + 1 < len(texts) else ""
    named, written = _CALL.match(head), _WRITTEN.match(first)
    content = bool(written and cut > at and _FENCE.match(head))
    files = [written[1] or written[2]] if written else FILE.findall(head)
    about: dict[str, object] = {"tool": named[1]} if named else {}
    if files:
        about["files"] = files[:20]
    call, printed = lines[at:cut], lines[cut:]
    recalled = not content and injected.own_call(named[1] if named else "", [text for _, text in call])
    single = sum(1 for text in texts[at:cut] if text) == 1
    found = [
        block(
            call,
            "assistant",
            "file_edit" if content else "tool_call",
            time,
            {**about, **_skip(recalled or (content and _marked(call)))},
            strip=(lambda text: text.strip().removeprefix("Tool use: ")) if single else None,
        ),
        _printed(printed, first, time, about, recalled),
    ]
    return [event for event in found if event]


def _edits(lines: Lines, texts: Sequence[str], at: int, time: str | None) -> list[EventDraft] | None:
    """The edits of a patch, one for each file, and what was printed then."""
    found, end = [], len(texts)
    files: list[str] = []
    while at < end and (named := _EDIT.match(texts[at])):
        stop = _next(texts, at + 1)
        if stop < end and texts[stop] == "```diff":
            stop = next((i for i in range(stop + 1, end) if texts[i] == "```"), end - 1) + 1
        files.append(named[1])
        about = {"files": [named[1]], **_skip(_marked(lines[at:stop]))}
        found.append(block(lines[at:stop], "assistant", "file_edit", time, about))
        at = _next(texts, stop)
    if at < end:
        if not _prints(texts, at, True):
            return None
        found.append(_printed(lines[at:], texts[at + 1], time, {"files": files[:20]}, False))
    return [event for event in found if event]


def _printed(
    lines: Lines, first: str, time: str | None, about: dict[str, object], recalled: bool
) -> EventDraft | None:
    failed = {"error": True} if _FAILED.match(first) else {}
    return block(lines, "tool", "tool_result", time, {**about, **failed, **_skip(recalled or _marked(lines))})


def _marked(lines: Lines) -> bool:
    return any(injected.is_recalled(text) for _, text in lines[:_LOOKED_AT])


def _skip(recalled: bool) -> dict[str, object]:
    return {"skip": injected.RECALLED} if recalled else {}


def _next(texts: Sequence[str], start: int) -> int:
    """The first line from `start` on that is not blank; the number of lines if there is none."""
    return next((i for i in range(start, len(texts)) if texts[i]), len(texts))


def _about(text: str) -> str | None:
    """What stands behind the mark of a fence; None if this is no fence."""
    match = _FENCE.match(text)
    return (match[2] or "") if match else None


def _behind(texts: Sequence[str], start: int) -> int:
    """The first line that is not blank after the fence that begins at `start`."""
    return _next(texts, _close(texts, start) + 1)


def _prints(texts: Sequence[str], start: int, sure: bool) -> bool:
    """Whether a fence begins at `start` and one ends with the turn: the same one, unless that is `sure`."""
    begun = _FENCE.match(texts[start])
    ended = _FENCE.match(texts[-1]) if start < len(texts) - 1 else None
    if not begun or not ended or ended[2] or not _closes(ended[1], begun[1]):
        return False
    return sure or _close(texts, start) >= len(texts) - 1


def _closes(mark: str, begun: str) -> bool:
    return mark[0] == begun[0] and len(mark) >= len(begun)


def _close(texts: Sequence[str], start: int) -> int:
    """The line that ends the fence of the line `start`, those that begin inside it counted; the number of
    lines if there is none."""
    first = _FENCE.match(texts[start])
    open_fences = [first[1]] if first else []
    for number in range(start + 1, len(texts)):
        match = _FENCE.match(texts[number])
        if not match or (match[1][0] == open_fences[-1][0] and len(match[1]) < len(open_fences[-1])):
            continue
        if match[2] or match[1][0] != open_fences[-1][0]:
            open_fences.append(match[1])
            continue
        open_fences.pop()
        if not open_fences:
            return number
    return len(texts)
