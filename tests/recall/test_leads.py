"""Memories are ranked by what they lead to as well: the words of the events that they rest on count as theirs."""

from index import stores

from memoryfs import index as indexes
from memoryfs.recall import recall

THREAD = "2026-03-02-aaaaaa"
PAGE = f"""---
title: Cookies
status: active
kind: episode
source_range:
  - {{thread: {THREAD}, start: 0, end: 9}}
---
# Cookies

## Asked
- Make the sign-in shorter. … `{THREAD}:0` `{THREAD}:3`

## Done
- Settled as discussed. `{THREAD}:3`
"""


def ask(root, query, **over):
    with indexes.open(root) as index:
        index.sync()
        return recall(index, query, now=stores.NOW, level="2", **over)


def a_store(root):
    stores.thread(root, THREAD, ["Make the sign-in shorter.", "Which one?", "The one of the browser.",
                                 {"text": "Done: the session cookie now expires after 14 days (SESSION_COOKIE_MAX_AGE).", "role": "assistant"}])
    stores.topic(root, "episodes/2026/2026-03-02-cookies-aaaaaa.md", PAGE)


def test_a_line_of_a_page_is_an_event_with_its_places_as_source(tmp_path):
    a_store(tmp_path)
    found = {m.memory.summary: m.memory for m in ask(tmp_path, "make the sign-in shorter").memories}
    line = found["Make the sign-in shorter. …"]
    assert (line.kind, line.date, line.stated_by) == ("event", "2026-03-02", "organizer")
    assert [(r.thread, r.start, r.end) for r in line.source_range] == [(THREAD, 0, 0), (THREAD, 3, 3)]


def test_a_memory_is_found_by_the_words_of_its_source(tmp_path):
    a_store(tmp_path)
    memories = ask(tmp_path, "When does the session cookie expire?").memories
    assert memories and (THREAD, 3, 3) in [(r.thread, r.start, r.end) for r in memories[0].memory.source_range]
    assert memories[0].why["together"] == 1.0


def test_the_status_that_is_asked_for_holds_for_what_the_source_led_to(tmp_path):
    a_store(tmp_path)
    assert ask(tmp_path, "When does the session cookie expire?", status=("none",)).memories == ()


def test_places_come_before_repetitions(tmp_path):
    other = "2026-03-03-bbbbbb"
    stores.thread(tmp_path, THREAD, ["The gateway port is 8080 for the gateway.", "ok"])
    stores.thread(tmp_path, other, ["The port of the gateway was moved to the cellar.", "ok"])
    body = "\n".join(f"- Gateway port note {n}. [^aaaaaa:0] ^m-00000{n}" for n in range(1, 4))
    stores.topic(tmp_path, "a.md", f"# A\n\n## Facts\n{body}\n- The port of the gateway was moved. [^bbbbbb:0] ^m-000009\n\n"
                 "[^aaaaaa:0]: 2026-03-02\n[^bbbbbb:0]: 2026-03-03\n")
    memories = ask(tmp_path, "gateway port").memories
    assert [m.memory.source_range[0].thread for m in memories[:2]] == [THREAD, other]
    assert "again" in memories[2].why


def test_a_source_that_moves_is_followed(tmp_path):
    a_store(tmp_path)
    before = ask(tmp_path, "session cookie expire").memories[0].memory
    path = tmp_path / before.topic
    path.write_text(PAGE.replace(f"`{THREAD}:3`", f"`{THREAD}:1`"), encoding="utf-8")
    after = ask(tmp_path, "session cookie expire").memories
    assert all((THREAD, 3, 3) not in [(r.thread, r.start, r.end) for r in m.memory.source_range] for m in after)


FEES = f"""---
title: Fees
status: active
kind: episode
source_range:
  - {{thread: {THREAD}, start: 0, end: 7}}
---
# Fees

## Done
- Holidays count from now on. · Weekends do not. `{THREAD}:0` `{THREAD}:7`
"""


def test_the_message_whose_words_a_line_is_made_of_is_shown_though_no_word_of_the_question_stands_in_it(tmp_path):
    said = ["Make the late fee of the desk stricter.", "Which part?", "You know it.", "Hm.", "Well.", "Go on.", "Look.",
            {"text": "Holidays count from now on. Weekends do not.", "role": "assistant"}]
    stores.thread(tmp_path, THREAD, said)
    stores.thread(tmp_path, "2026-03-01-bbbbbb", [f"Somebody asked about the late fee of hall {n} again." for n in range(12)])
    stores.topic(tmp_path, "episodes/2026/2026-03-02-fees-aaaaaa.md", FEES)
    found = ask(tmp_path, "stricter late fee of the desk")
    (shown,) = [e for e in found.evidence if (e.thread, e.index) == (THREAD, 7)]
    assert shown.text.startswith("Holidays count") and shown.why["memory"]
    before = ask(tmp_path, "stricter late fee of the desk", as_of="2026-03-01T12:00:00Z")
    assert THREAD not in [e.thread for e in before.evidence]
