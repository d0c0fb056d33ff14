"""What was given up is marked with what shows it and stands behind it; likeness, other subjects and mere talk mark nothing."""

import pytest
from index import stores

from memoryfs import index as indexes
from memoryfs.recall import changes, recall

OLD, MID, NEW = "2026-03-02-aaaaaa", "2026-04-02-bbbbbb", "2026-05-02-cccccc"


def ask(root, query, **over):
    with indexes.open(root) as index:
        index.sync()
        return recall(index, query, now=stores.NOW, level="2", **over).evidence


def say(root, thread, *texts, role="user", **over):
    at = f"{thread[:10]}T10:00:00Z"
    stores.thread(root, thread, [{"text": text, "role": role, "time": at, **over} for text in texts])


PAIRS = [  # what was said, what was said later, a question
    ("The session timeout is 30 minutes.", "We changed the session timeout from 30 minutes to 60 minutes.", "How long is the session timeout?"),
    ("Parsing lives in parse_header_line for all files.", "Please rename parse_header_line to read_header.", "Which function parses the header line?"),
    ("The web app installs with npm.", "Use pnpm instead of npm in the web app.", "Which package manager installs the web app?"),
    ("The queue of orders runs on RabbitMQ.", "We migrated the orders queue from RabbitMQ to NATS.", "What does the orders queue run on?"),
    ("ウェブアプリの依存関係は npm で入れる。", "ウェブアプリの npm はやめて、pnpm にして。", "ウェブアプリのパッケージ管理は?"),
    ("同時予約の上限は5冊です。", "同時予約の上限を5冊から8冊に変更しました。", "同時予約の上限は何冊?"),
    ("ログの保存先は Redis です。", "ログの保存先は Redis ではなく PostgreSQL にしてください。", "ログの保存先は?"),
    ("웹 앱 의존성은 npm 으로 설치한다.", "웹 앱에서는 npm 말고 pnpm으로 해줘.", "웹 앱 패키지 관리자는?"),
    ("세션 만료는 7일이다.", "세션 만료를 7일에서 14일로 변경했습니다.", "세션 만료는 며칠?"),
    ("前端应用用 npm 安装依赖。", "前端应用不用 npm 了，改成 pnpm。", "前端应用用什么安装依赖?"),
    ("普通日志保留期是30天。", "把普通日志保留期从30天改为90天。", "普通日志保留期多久?"),
    ("限流是每分钟60次。", "限流从每分钟60次改为每分钟100次。", "限流每分钟多少次?"),
]


@pytest.mark.parametrize(("old", "new", "question"), PAIRS)
def test_the_old_value_is_marked_and_stands_behind_the_new(tmp_path, old, new, question):
    say(tmp_path, OLD, old)
    say(tmp_path, NEW, new)
    found = ask(tmp_path, question)
    assert [e.thread for e in found] == [NEW, OLD]
    assert found[0].superseded_by is None and found[1].superseded_by == f"{NEW}:0"
    assert found[1].text == old  # verbatim all the same


APART = [  # what holds still, though the later words look like a change of it
    ("The gateway timeout is 30 minutes.", "We changed the session timeout from 30 minutes to 60 minutes."),  # another subject
    ("The CI image installs with npm.", "Use pnpm instead of npm in the web app."),  # another scope
    ("The session timeout is 30 minutes.", "Should we change the session timeout from 30 minutes to 60 minutes?"),
    ("The session timeout is 30 minutes.", "We might change the session timeout from 30 minutes to 60 minutes."),
    ("The session timeout is 30 minutes.", "The session timeout of the mobile app is 60 minutes."),  # no word of a change
    ("Parsing lives in parse_header_line.", "Parsing of cookies lives in parse_cookie_line."),
    ("貸出の上限は5冊です。", "同時予約の上限を5冊から8冊に変更しました。"),
    ("同時予約の上限は5冊です。", "同時予約の上限を5冊から8冊に変更しますか？"),
    ("장바구니 만료는 7일이다.", "세션 만료를 7일에서 14일로 변경했습니다."),
    ("세션 만료는 7일이다.", "세션 만료를 7일에서 14일로 변경할까요?"),
    ("审计日志保留期是30天。", "把普通会话的期限从30天改为90天。"),
    ("普通日志保留期是30天。", "普通日志保留期是否从30天改为90天？"),
]


@pytest.mark.parametrize(("old", "new"), APART)
def test_what_was_not_given_up_is_not_marked(tmp_path, old, new):
    say(tmp_path, OLD, old)
    say(tmp_path, NEW, new)
    assert all(e.superseded_by is None for e in ask(tmp_path, old))


def test_what_an_assistant_only_plans_changes_nothing(tmp_path):
    say(tmp_path, OLD, "Parsing lives in parse_header_line.")
    say(tmp_path, NEW, "I will rename parse_header_line to read_header.", role="assistant")
    assert all(e.superseded_by is None for e in ask(tmp_path, "parse_header_line parsing"))
    say(tmp_path, NEW, "Renamed `parse_header_line` → `read_header`.", role="assistant")
    assert {e.thread for e in ask(tmp_path, "parse_header_line parsing") if e.superseded_by} == {OLD}


def test_a_commit_among_a_tools_output_tells_of_a_change_and_documentation_does_not(tmp_path):
    say(tmp_path, OLD, "Parsing lives in parse_header_line.")
    say(tmp_path, NEW, "Use read_header instead of parse_header_line. Rename parse_header_line to read_header.",
        role="tool", kind="tool_result")
    assert all(e.superseded_by is None for e in ask(tmp_path, "parse_header_line parsing"))
    say(tmp_path, NEW, "1a2b3c4 Rename parse_header_line to read_header", role="tool", kind="tool_result")
    assert {e.thread for e in ask(tmp_path, "parse_header_line parsing") if e.superseded_by} == {OLD}


def test_there_and_back_again(tmp_path):
    say(tmp_path, OLD, "The web app installs with npm.")
    say(tmp_path, MID, "Use pnpm instead of npm in the web app.")
    say(tmp_path, NEW, "Use npm instead of pnpm in the web app.")
    found = {e.thread: e.superseded_by for e in ask(tmp_path, "What installs the web app?")}
    assert found[OLD] is None and found[NEW] is None


def test_a_question_about_the_past_keeps_the_order(tmp_path):
    say(tmp_path, OLD, "The session timeout is 30 minutes, a short timeout for a session.")
    say(tmp_path, NEW, "We changed the session timeout from 30 minutes to 60 minutes.")
    found = ask(tmp_path, "What was the session timeout before, originally?")
    assert {e.thread: e.superseded_by for e in found}[OLD] == f"{NEW}:0"


def test_as_of_knows_nothing_of_later_changes(tmp_path):
    say(tmp_path, OLD, PAIRS[0][0])
    say(tmp_path, NEW, PAIRS[0][1])
    assert [e.superseded_by for e in ask(tmp_path, PAIRS[0][2], as_of="2026-03-30")] == [None]


def test_a_change_said_in_other_words_is_found_by_the_name(tmp_path):
    say(tmp_path, OLD, "To count the apples of the orchard call count_apples_now from the shell.")
    say(tmp_path, NEW, *["Weather was fine today and nobody worked."] * 3, "Housekeeping: renamed count_apples_now to tally.")
    found = ask(tmp_path, "How do I count the apples of the orchard from the shell?")
    assert found[0].text.startswith("Housekeeping") and found[1].superseded_by == f"{NEW}:3"


def edit(old, new, **over):
    parts, text = [], ""
    for piece in ("Edit", "/src/limits.py", old, new):
        text += "\n" if text else ""
        parts.append([len(text), len(text) + len(piece)])
        text += piece
    return {"text": text, "role": "assistant", "kind": "file_edit", "metadata": {"tool": "Edit", "call": "c1", "parts": parts, **over}}


BEFORE, AFTER = "reservation_limit = 5  # books a student", "reservation_limit = 8  # books a student"


@pytest.mark.parametrize(("answer", "marked"), [({}, True), ({"error": True}, False)])
def test_a_line_that_an_edit_took_away(tmp_path, answer, marked):
    say(tmp_path, OLD, f"   12→{BEFORE}", role="tool", kind="tool_result")
    at = f"{NEW[:10]}T10:00:00Z"
    result = {"text": "ok", "role": "tool", "kind": "tool_result", "time": at, "metadata": {"call": "c1", **answer}}
    stores.thread(tmp_path, NEW, [{**edit(BEFORE, AFTER), "time": at}, result])
    found = {e.thread: e.superseded_by for e in ask(tmp_path, "reservation_limit of books a student")}
    assert (found[OLD] == f"{NEW}:0") is marked


def test_a_line_that_an_edit_left_or_that_came_back(tmp_path):
    say(tmp_path, OLD, f"   12→{BEFORE}", role="tool", kind="tool_result")
    for thread, old, new in ((MID, BEFORE, AFTER), (NEW, AFTER, BEFORE)):
        stores.thread(tmp_path, thread, [{**edit(old, new), "time": f"{thread[:10]}T10:00:00Z"}])
    found = {e.thread: e.superseded_by for e in ask(tmp_path, "reservation_limit of books a student")}
    assert found[OLD] is None and found[NEW] is None


def test_a_patch_shows_what_went_and_what_came():
    patch = f"*** Begin Patch\n*** Update File: limits.py\n@@\n import os\n-{BEFORE}\n+{AFTER}\n*** End Patch"
    assert changes.edited(("apply_patch", patch)) == (frozenset({BEFORE}), frozenset({AFTER}))
    assert changes.edited(("Edit", "/a.py", "}\n", "};\n")) == (frozenset(), frozenset())  # a brace states nothing


def test_the_updated_summary_replaces_the_summary(tmp_path):
    first = "## Summary\n" + "The command resumes a session: it looks at the head of the branch, asks for confirmation and needs --force after a merge. " * 2
    second = "Tests pass. Here is the updated summary:\nThe command resumes a session: it looks at the branch and resumes after a merge without a question."
    say(tmp_path, OLD, first, "Fine, but not after a merge.", second, role="assistant")
    found = ask(tmp_path, "Does the command ask for confirmation after a merge?")
    assert [e.superseded_by for e in found if e.index == 0] == [f"{OLD}:2"] and found[0].index == 2


@pytest.mark.parametrize(("sentence", "role", "pairs"), [
    ("Changed the port to 9090.", "user", []),  # 9090 did not replace "the port"
    ("ポートを9090に変更して", "user", []),
    ("포트를 9090으로 변경해줘", "user", []),
    ("把端口改成9090", "user", []),
    ("Replaced the prompt with a notice.", "assistant", []),  # a report's words, not values
    ("`foo`を`bar`に改名して", "user", [("foo", "bar")]),
    ("QAction must be imported from PySide6.QtGui, not QtWidgets", "assistant", [("QtWidgets", "PySide6.QtGui")]),
    ("Updated to use `trailers.parse()` instead of the removed `paths.parse_trailer()`", "assistant", [("paths.parse_trailer", "trailers.parse")]),
    ("用 pnpm 代替 npm", "user", [("npm", "pnpm")]),
    ("npm 대신 pnpm을 써줘", "user", [("npm", "pnpm")]),
])  # fmt: skip
def test_what_a_sentence_says_was_replaced(sentence, role, pairs):
    assert [(c.old, c.new) for c in changes.stated(sentence, role)] == pairs


def test_a_value_stands_whole():
    assert changes.stands("npm", "use npm!") and not changes.stands("npm", "use pnpm") and not changes.stands("5", "15 or 5_000")
    assert changes.stands("5冊", "上限は5冊です") and not changes.stands("5冊", "15冊まで")


def test_a_memory_of_what_was_given_up_stands_behind_and_is_marked_unless_a_person_wrote_it(tmp_path):
    say(tmp_path, OLD, "Our web app installs its packages with npm.")
    say(tmp_path, NEW, "Use pnpm instead of npm in the web app.")
    source = f" [^aaaaaa:0] ^m-00000a\n\n[^aaaaaa:0]: {OLD[:10]}; \"Our web app installs its packages with npm.\"\n"
    stores.topic(tmp_path, "projects/web.md", stores.fact_file("The web app has packages.").replace(
        "^m-000001", "^m-000001\n- The web app installs its packages with npm." + source))
    with indexes.open(tmp_path) as index:
        index.sync()
        found = recall(index, "What installs the packages of the web app?", now=stores.NOW, level="2").memories
    assert [(c.memory.id, c.memory.superseded_by) for c in found] == [("m-000001", None), ("m-00000a", f"{NEW}:0")]
    assert found[1].to_dict()["superseded_by"] == f"{NEW}:0"


PAST = f"""---
title: Day
---
# Day

## Events
- alumni も通して。 [^aaaaaa:1] ^m-00000b
- Lunch with the alumni office was late. [^aaaaaa:7] ^m-00000c

## History
- ~~alumni.example.ed.jp も許可する~~ superseded by [[#^m-00000d]] on 2026-05-02 [^aaaaaa:0-3] ^m-00000a

[^aaaaaa:1]: {OLD[:10]}
[^aaaaaa:7]: {OLD[:10]}
[^aaaaaa:0-3]: {OLD[:10]}
"""


def test_what_an_episode_tells_is_past_once_what_was_learned_from_it_was_replaced(tmp_path):
    say(tmp_path, OLD, *[f"alumni and their addresses, number {n}" for n in range(9)])
    stores.topic(tmp_path, "episodes/2026/day.md", PAST)
    with indexes.open(tmp_path) as index:
        index.sync()
        found = recall(index, "May alumni still sign in?", now=stores.NOW, level="2").memories
    assert {c.memory.id: c.memory.superseded_by for c in found} == {"m-00000c": None, "m-00000b": "m-00000d"}


def written(thread, path, *lines):
    parts, text = [], ""
    for piece in ("Write", path, "\n".join(lines)):
        text += "\n" if text else ""
        parts.append([len(text), len(text) + len(piece)])
        text += piece
    return {"text": text, "role": "assistant", "kind": "file_edit", "time": f"{thread[:10]}T10:00:00Z",
            "metadata": {"tool": "Write", "parts": parts, "files": [path]}}


def test_a_file_that_was_written_anew_holds_what_it_holds_now(tmp_path):
    same = "shelf_count = 12  # shelves of books"
    stores.thread(tmp_path, OLD, [written(OLD, "/src/limits.py", BEFORE, same)])
    stores.thread(tmp_path, MID, [written(MID, "/src/other.py", "reservation_limit = 30  # of another file")])
    stores.thread(tmp_path, NEW, [written(NEW, "/src/limits.py", AFTER, same)])
    found = {e.thread: e.superseded_by for e in ask(tmp_path, "reservation_limit of books a student")}
    assert found == {OLD: f"{NEW}:0", MID: None, NEW: None}
    assert all(e.superseded_by is None for e in ask(tmp_path, "shelf_count of shelves"))
