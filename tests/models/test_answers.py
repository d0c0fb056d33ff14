"""ORG-07: what models write instead of JSON."""

import pytest

from memoryfs.errors import ModelAnswerError
from memoryfs.models.answers import parse_object

SCHEMA = {"type": "object", "required": ["facts"]}


@pytest.mark.parametrize(
    "text",
    [
        '{"facts": []}',
        '```json\n{"facts": []}\n```',
        'Sure! {about travel} here: {"facts": []} Anything else?',
        '<think>maybe {"facts": ["invented"]}</think>{"facts": []}',
        '{"other": 1}\n{"facts": []}',
        '{"facts": []}{"facts": ["again"]}',
    ],
)
def test_org_07_object_among_other_things(text):
    assert parse_object(text, SCHEMA) == {"facts": []}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"), ("   \n", "empty"), ("<think>still thinking", "empty"),
        ("I'm sorry, I can't.", "no JSON object"), ('["port"]', "no JSON object"),
        ('{"facts": ["cut of', "not valid JSON"), ('{"facts": NaN}', "not valid JSON"),
        ('{"facts": [], "facts": ["two"]}', "stands twice"), ('{"facts": ["\\ud83d"]}', "half a character"),
        ('{"fact": []}', "keys missing: facts"), ('{"facts":' + "[" * 100_000, "not valid JSON"),
    ],
)
def test_org_07_nothing_usable(text, says):
    with pytest.raises(ModelAnswerError, match=says):
        parse_object(text, SCHEMA)
