"""Level 3: a trusted model puts what answers first; without one the answer is level 2's, and says so."""

import pytest
from index import stores

from memoryfs import index as indexes
from memoryfs.models.fakes import ScriptedGenerator
from memoryfs.recall import judged, recall

NAME = "2026-05-12-aaaaaa"
RIGHT = "It answers on 8443."


def fair(item):
    """A model that knows answers by a figure or a reason in the text."""
    text = item.split("Text:")[-1]
    return 2.0 if any(c.isdigit() for c in text) or "because" in text or "every" in text or "/etc" in text or "skips" in text else -2.0


@pytest.fixture
def index(tmp_path):
    stores.thread(tmp_path, NAME, [
        "Which gateway port is it, the gateway port of the gateway house?", f"About the gateway port. {RIGHT}",
        "The gateway port is on my list.",
    ])
    with indexes.open(tmp_path) as opened:
        opened.sync()
        yield opened


def ask(index, **over):
    return recall(index, "gateway port", level="3", now=stores.NOW, **over)


def test_without_a_model_it_is_level_2_and_says_so(index):
    answer = ask(index)
    assert answer.level == 2 and judged.NO_MODEL in answer.notices
    assert answer.evidence == recall(index, "gateway port", level="2", now=stores.NOW).evidence


def test_a_model_that_was_not_measured_or_failed_is_not_asked(index):
    coin = ScriptedGenerator(lambda item: 0.0)
    assert judged.NOT_TRUSTED in ask(index, generator=coin).notices and not coin.scored
    assert not judged.measure(index.root, coin).trusted
    assert judged.NOT_TRUSTED in ask(index, generator=coin).notices


def test_a_trusted_model_puts_the_answer_first_and_changes_no_text(index):
    model = ScriptedGenerator(fair)
    assert judged.measure(index.root, model).trusted
    answer = ask(index, generator=model)
    plain = recall(index, "gateway port", level="2", now=stores.NOW)
    assert answer.level == 3 and not answer.notices
    assert RIGHT in answer.evidence[0].text and RIGHT not in plain.evidence[0].text
    assert sorted(e.text for e in answer.evidence) == sorted(e.text for e in plain.evidence)
