"""Pages for terminals: width in cells, colour and links only where they belong, nothing from notes obeyed."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import select
import sys

import pytest

from memoryfs import MemoryStore
from memoryfs.render import Paper, cells, cut, pad, paper, safe, table, wrap

CSI = re.compile(r"\x1b\[[0-9;]*m")
OSC = re.compile(r"\x1b\]8;;([^\x1b]*)\x1b\\")


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("text", "width"), [("abc", 3), ("日本語", 6), ("한글 ok", 7), ("e\u0301", 1), ("🚀", 2), ("", 0)])
def test_width_is_counted_in_cells(text, width):
    assert cells(text) == width


def test_cut_and_pad_never_split_a_wide_character():
    for width in range(1, 12):
        assert cells(cut("日本語abc日本語", width)) <= width
    assert cut("日本語", 6) == "日本語" and cut("日本語", 5) == "日本…"
    assert pad("日本", 6) == "日本  "


@pytest.mark.parametrize("text", [
    "plain words in a row that go on and on until the line is full", "メールアドレスの正規表現は英語と日本語で違うので注意してください。",
    "한국어 문장은 띄어쓰기가 있으므로 단어 단위로 줄을 바꿉니다", "mixed 日本語 and English 한국어 in one line of text 日本語",
])
def test_wrapped_lines_fit_and_lose_nothing(text):
    for width in (12, 20, 33, 80):
        rows = wrap(text, width, "  ", "> ")
        assert all(cells(row) <= width for row in rows), rows
        assert "".join(rows).replace(" ", "").replace(">", "") == text.replace(" ", "")


def test_a_path_stays_whole_and_a_line_stays_one_without_a_width():
    long = "/srv/" + "x" * 90
    assert long in wrap(f"see {long} now", 40)
    assert wrap("a  b\nc", 0, "  ") == ["  a b c"]


def test_a_table_of_wide_characters_is_aligned():
    rows = table([("日本", "x"), ("abcdef", "y")]).splitlines()
    assert [cells(row[: row.index(c)]) for row, c in zip(rows, "xy", strict=True)] == [8, 8]


@pytest.mark.parametrize(("environ", "colour", "links"), [
    ({"TERM": "xterm-256color"}, True, False),
    ({"TERM": "xterm-256color", "VTE_VERSION": "6800"}, True, True),
    ({"TERM": "xterm-256color", "VTE_VERSION": "4205"}, True, False),
    ({"TERM": "xterm-kitty"}, True, True),
    ({"TERM": "xterm-256color", "TERM_PROGRAM": "vscode"}, True, True),
    ({"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"}, True, False),
    ({"TERM": "tmux-256color", "VTE_VERSION": "6800"}, True, False),
    ({"TERM": "xterm-kitty", "NO_COLOR": "1"}, False, False),
    ({"TERM": "dumb", "VTE_VERSION": "6800"}, False, False),
    ({}, False, False),
])
def test_cli_02_what_a_terminal_gets(environ, colour, links):
    on = paper(Terminal(), environ)
    assert (on.colour, on.links, on.terminal) == (colour, links, True)


@pytest.mark.parametrize("environ", [{"TERM": "xterm-kitty"}, {"TERM": "xterm", "FORCE_COLOR": "1", "CLICOLOR_FORCE": "1"}])
def test_cli_02_off_a_terminal_no_escape(environ):
    on = paper(io.StringIO(), environ)
    assert not (on.colour or on.links or on.terminal)
    assert on.bold(on.link("x", __file__)) == "x"


def test_a_link_names_the_file_and_quotes_what_is_in_its_name(tmp_path):
    shown = Paper(links=True).link("x", tmp_path / "a b\x1b\\日.md", 3)
    (target, end) = OSC.findall(shown)
    assert end == "" and target.endswith("/a%20b%1B%5C%E6%97%A5.md#3") and OSC.sub("", shown) == "x"


def test_safe_leaves_no_way_to_command_a_terminal():
    assert not set(safe("".join(map(chr, range(0x20))) + "\x7f\x9b\u202e\ud800")) & {"\x1b", "\r", "\x07", "\x9b", "\u202e"}


def at_terminal(root, *args, **environ):
    """What a command writes to a terminal of 80 columns."""
    pid, fd = pty.fork()
    if pid == 0:
        import fcntl
        import struct
        import termios

        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
        env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS", "TMUX")}
        os.execve(sys.executable, [sys.executable, "-m", "memoryfs", "--store", str(root), *args], {**env, **environ})
    out = b""
    while select.select([fd], [], [], 20)[0]:
        try:
            more = os.read(fd, 65536)
        except OSError:
            break
        if not more:
            break
        out += more
    os.waitpid(pid, 0)
    return out.decode().replace("\r\n", "\n")


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    talk = folder / "talk.jsonl"
    talk.write_text(json.dumps({"role": "user", "content": "予約システムの連絡先。", "time": "2026-03-01T09:00:00Z"}) + "\n")
    store = MemoryStore.init(folder / "store")
    store.import_transcripts([talk])
    store.remember("予約システムのメールアドレスは教員用と生徒用の二つに分かれており、卒業生用のアドレスはもう使えません。連絡先は情報センターです。",
                   topic="projects/日本語")
    store.remember("The reservation system sends its reminders at seven in the morning, Tokyo time, and never on a holiday "
                   "of the school, as the office asked.", topic="projects/reminders", kind="instruction")
    store.remember("bad \x1b]0;pwned\x07 \x1b[31mred \u202eesrever", topic="notes/bad")
    return store.root


@pytest.mark.parametrize("args", [["list"], ["recall", "reservation reminders holiday"], ["recall", "予約システム"], ["audit", "projects"]])
def test_pages_fit_80_columns_of_a_terminal(root, args):
    shown = at_terminal(root, *args, TERM="xterm-kitty")
    plain = OSC.sub("", CSI.sub("", shown))
    assert CSI.search(shown) and OSC.search(shown)
    assert "\x1b" not in plain and all(cells(row) <= 80 for row in plain.splitlines()), plain
    assert "情報センターです。" in plain.replace("\n", "").replace(" ", "") or "holiday" in plain
    assert "…" not in plain, "nothing is cut"
    assert "\x1b" not in at_terminal(root, *args, TERM="xterm-kitty", NO_COLOR="1")
    assert "\x1b" not in at_terminal(root, *args, TERM="dumb")


def test_cli_05_a_note_does_nothing_to_the_terminal(root):
    for args in (["list"], ["recall", "bad pwned red"], ["audit", "notes/bad"]):
        shown = at_terminal(root, *args, TERM="xterm")
        assert "pwned" in shown and not re.search(r"\x1b(?!\[\d+m)", shown)
        assert "\x1b[31m" not in shown and "\u202e" not in shown and "\x07" not in shown


def test_json_is_pure_at_a_terminal_too(root):
    for args in (["list", "--json"], ["recall", "予約", "--json"], ["audit", "projects", "--json"]):
        json.loads(at_terminal(root, *args, TERM="xterm-kitty"))
