"""exact_values: every span is verbatim, kinds are told apart, time is linear."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryfs.exact import KINDS, exact_values

CASES = [
    ("regex", r"`^[a-z]+@(?:a|b)\.example\.jp$` is the rule", r"^[a-z]+@(?:a|b)\.example\.jp$"),
    ("regex", r"match /^\d{3}-\d{4}$/ only", r"/^\d{3}-\d{4}$/"),
    ("regex", r"正規表現は「^[0-9]{4}$」です", "^[0-9]{4}$"),
    ("sql", "run `SELECT id FROM users WHERE x = 1;` now", "SELECT id FROM users WHERE x = 1;"),
    ("sql", "SELECT *\nFROM a\nWHERE b = 1\nwhich is all of it", "SELECT *\nFROM a\nWHERE b = 1"),
    ("path", "src/auth.tsを直す", "src/auth.ts"),
    ("path", "ファイルはsrc/auth.tsです", "src/auth.ts"),
    ("path", "our store is ~/.config/app, fine", "~/.config/app"),
    ("path", "see internal/auth/token.go:120-130.", "internal/auth/token.go:120-130"),
    ("command", "use `git push --force-with-lease origin main`", "git push --force-with-lease origin main"),
    ("command", "I ran npm run build and it failed", "npm run build"),
    ("command", "```sh\n$ docker compose up -d\n```", "docker compose up -d"),
    ("env", "set AUTH_ALLOWED_DOMAINS=a.jp,b.jp please", "AUTH_ALLOWED_DOMAINS=a.jp,b.jp"),
    ("env", "읽는 값은 $DATABASE_URL 입니다", "$DATABASE_URL"),
    ("port", "ポートは8080を使う", "8080"),
    ("port", "포트는 5433입니다", "5433"),
    ("port", "端口改为 9090", "9090"),
    ("port", "listens on localhost:5433.", "localhost:5433"),
    ("version", "pin v1.2.3-rc.1 now", "v1.2.3-rc.1"),
    ("version", "needs node >=20.1", ">=20.1"),
    ("url", "see https://x.org/a(b)?c=1).", "https://x.org/a(b)?c=1"),
    ("url", "https://x.org/doc。次に", "https://x.org/doc"),
    ("email", "write to a.b+c@mail.example.org.", "a.b+c@mail.example.org"),
    ("identifier", "call validateEmail() first", "validateEmail()"),
    ("identifier", "the flag --no-telemetry is ignored", "--no-telemetry"),
    ("identifier", "tracked as ENT-108", "ENT-108"),
    ("identifier", "host 192.168.0.1 answers", "192.168.0.1"),
    ("number", "the cookie lives 14 days", "14 days"),
    ("number", "クッキーは7日間", "7日間"),
    ("number", "제한은 3회", "3회"),
    ("number", "超时是30秒", "30秒"),
    ("number", "due 2026-05-12", "2026-05-12"),
    ("hash", "at 3f9a21bc", "3f9a21bc"),
    ("quoted", "label it \"Only mine\" there", "Only mine"),
]


@pytest.mark.parametrize(("kind", "text", "value"), CASES)
def test_finds_the_value_verbatim(kind, text, value):
    found = exact_values(text)
    assert (kind, value) in [(v.kind, v.text) for v in found]


@pytest.mark.parametrize("text", [
    "and/or it's a state of the art, e.g. this one i.e. that", "We shipped it well before lunch.", "それは良いと思います。", "",
])
def test_prose_has_none(text):
    assert exact_values(text) == []


@given(st.text() | st.from_regex(r"[ -~`'\"/\\^$.\[\](){}あ한中]{0,200}", fullmatch=True))
def test_spans_are_verbatim_and_do_not_overlap(text):
    found = exact_values(text)
    end = 0
    for value in found:
        assert text[value.start:value.end] == value.text and value.text
        assert value.kind in KINDS
        if value.kind != "quoted":
            assert value.start >= end
            end = value.end


@pytest.mark.parametrize("unit", ["a/", "^", "`", "SELECT ", "A_", "1,", "[a-", "/a", "'a ", "a.", "(?:", "$ git ", "y", "Y", "aA"])
def test_time_is_linear(unit):
    text = unit * (60_000 // len(unit))
    started = time.perf_counter()
    exact_values(text)
    assert time.perf_counter() - started < 5
