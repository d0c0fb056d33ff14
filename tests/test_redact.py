"""Secrets of known kinds never stay; look-alikes do. All keys here are made up from pieces."""

from __future__ import annotations

import base64
import random
import string

import pytest

from memoryfs.redact import redact

ALNUM = string.ascii_letters + string.digits


def made(alphabet: str, length: int, seed: int) -> str:
    return "".join(random.Random(seed).choices(alphabet, k=length))


def pem(label: str, lines: int, seed: int = 1) -> str:
    body = "\n".join(made(ALNUM + "+/", 64, seed + i) for i in range(lines))
    return f"-----BEGIN {label}-----\n{body}\n-----END {label}-----"


def seeded() -> list[tuple[str, str, str]]:
    """(name, text, what must not be left of it) of sixty and more made-up secrets."""
    a = {n: made(ALNUM, n, n) for n in (16, 20, 24, 32, 33, 34, 35, 36, 40, 43, 48, 64, 82, 95, 150)}
    up, hexes = (
        made(string.ascii_uppercase + string.digits, 16, 3),
        {n: made("0123456789abcdef", n, n) for n in (32, 40, 64)},
    )
    ghp, akia = "ghp_" + a[36], "AKIA" + up
    jwt = ".".join(("eyJ" + a[34], "eyJ" + a[64], a[43]))
    rows = [
        ("github", f"git clone https://{ghp}@github.com/x/y", ghp),
        ("github-plain", ghp, ghp),
        ("github-quoted", f'token="{ghp}",', ghp),
        ("github-escaped", "line\\n" + ghp + "\\n", ghp),
        ("github-pat", "github_pat_" + a[82], a[82]),
        ("gho", "gho_" + a[36], a[36]),
        ("ghs", "x ghs_" + a[36] + ".", a[36]),
        ("ghu", "ghu_" + a[36], a[36]),
        ("aws-id", f"key {akia} here", akia),
        ("aws-sts", "ASIA" + up, up),
        ("aws-secret", "aws_secret_access_key = " + a[40], a[40]),
        ("aws-secret-env", "AWS_SECRET_ACCESS_KEY=" + a[40], a[40]),
        ("aws-secret-json", f'"SecretAccessKey": "{a[40]}"', a[40]),
        ("openai", "sk-" + a[48], a[48]),
        ("openai-project", "sk-proj-" + a[95], a[95]),
        ("openai-letters", "sk-" + "a" * 48, "a" * 40),
        ("anthropic", "sk-ant-api03-" + a[95], a[95]),
        ("slack-bot", "xoxb-" + "1234567890-" * 2 + a[24], a[24]),
        ("slack-user", "xoxp-" + a[48], a[48]),
        ("slack-hook", "https://hooks.slack.com/services/T0000AAAA/B0000BBBB/" + a[24], a[24]),
        ("gitlab", "glpat-" + a[20], a[20]),
        ("jwt", f"cookie {jwt};", a[43]),
        ("pem", pem("RSA " + "PRIVATE KEY", 24), made(ALNUM + "+/", 64, 20)),
        ("pem-ssh", pem("OPENSSH " + "PRIVATE KEY", 6), made(ALNUM + "+/", 64, 4)),
        ("pem-ec", pem("EC " + "PRIVATE KEY", 3), made(ALNUM + "+/", 64, 2)),
        ("pem-escaped", pem("PRIVATE " + "KEY", 20).replace("\n", "\\n"), made(ALNUM + "+/", 64, 9)),
        (
            "pem-prefixed",
            "> " + pem("RSA " + "PRIVATE KEY", 20).replace("\n", "\n> "),
            made(ALNUM + "+/", 64, 9),
        ),
        (
            "pem-numbered",
            "".join(f"{i:6}→{t}\n" for i, t in enumerate(pem("RSA " + "PRIVATE KEY", 20).split("\n"))),
            made(ALNUM + "+/", 64, 19),
        ),
        ("pem-cut", "\n".join(pem("RSA " + "PRIVATE KEY", 20).split("\n")[:12]), made(ALNUM + "+/", 64, 9)),
        ("url", "postgres://u:" + "p9w" + "@h/db", "p9w"),
        ("url-long", f"mysql://root:{a[16]}@db.local:3306/x", a[16]),
        ("url-redis", f"redis://:{a[20]}@cache:6379/0", a[20]),
        ("url-amqp", f"amqps://svc:{a[24]}@mq/v", a[24]),
        ("url-mongo", f"mongodb+srv://app:{a[16]}@c0.example.net/?retryWrites=true", a[16]),
        ("export", f"export FOO_TOKEN={a[24]}", a[24]),
        ("env", f"STRIPE_API_KEY={a[32]}", a[32]),
        ("env-quoted", f"DB_PASSWORD='{a[16]}'", a[16]),
        ("env-word", "DB_PASSWORD=swordfish", "swordfish"),
        ("yaml", f"api_key: {a[32]}", a[32]),
        ("yaml-upper", f"API_KEY: {a[32]}", a[32]),
        ("json", f'{{"client_secret": "{a[40]}"}}', a[40]),
        ("json-escaped", f'{{\\"api_key\\": \\"{a[32]}\\"}}', a[32]),
        ("code", 'password = "hunter2!x"', "hunter2!x"),
        ("camel", f"apiKey: '{a[32]}',", a[32]),
        ("toml", f'secret-key = "{a[43]}"', a[43]),
        ("hex-token", f"auth_token={hexes[40]}", hexes[40]),
        ("bearer", f"Authorization: Bearer {a[40]}", a[40]),
        ("bearer-curl", f'-H "Authorization: Bearer {a[32]}"', a[32]),
        (
            "basic",
            "Authorization: Basic " + base64.b64encode(f"user:{a[16]}".encode()).decode(),
            base64.b64encode(f"user:{a[16]}".encode()).decode(),
        ),
        ("header", f"X-Api-Key: {a[32]}", a[32]),
        ("curl-user", f"curl -u bob:{a[16]} https://x", a[16]),
        ("flag", f"mysqldump --password={a[16]} db", a[16]),
        ("flag-space", f"tool --token {a[24]} run", a[24]),
        (
            "base64",
            "data: " + base64.b64encode(ghp.encode()).decode(),
            base64.b64encode(ghp.encode()).decode()[:30],
        ),
        (
            "base64-env",
            base64.b64encode(f"TOKEN={ghp}\n".encode()).decode(),
            base64.b64encode(f"TOKEN={ghp}\n".encode()).decode()[12:40],
        ),
        (
            "base64-shifted",
            base64.b64encode(f"a{akia}".encode()).decode(),
            base64.b64encode(f"a{akia}".encode()).decode()[:24],
        ),
        ("split", ghp[:20] + "\n" + ghp[20:], ghp[20:]),
        ("split-head", ghp[:20] + "\n  " + ghp[20:] + "\nnext", ghp[:20]),
        ("split-string", f'"{ghp[:30]}" +\n    "{ghp[30:]}"', ghp[:30]),
        ("split-aws", akia[:12] + "\\\n" + akia[12:], akia[:12]),
        ("split-anthropic", "sk-ant-api03-" + a[40] + "\n" + made(ALNUM, 55, 9), made(ALNUM, 55, 9)),
        ("google", "AIza" + a[35], a[35]),
        ("google-secret", "GOCSPX-" + a[24], a[24]),
        ("stripe", "sk_" + "live_" + a[24], a[24]),
        ("stripe-restricted", "rk_" + "live_" + a[24], a[24]),
        ("npm", "//registry.example/:_authToken=npm_" + a[36], a[36]),
        ("npm-plain", "npm_" + a[36], a[36]),
        ("pypi", "pypi-AgEIcHlwaS5vcmc" + a[82], a[82]),
        ("hf", "hf_" + a[34], a[34]),
        (
            "azure",
            f"DefaultEndpointsProtocol=https;AccountName=x;AccountKey={made(ALNUM + '+/', 86, 5)}==;",
            made(ALNUM + "+/", 86, 5),
        ),
        ("telegram", "123456789:AA" + a[33], a[33]),
        ("twilio", "SK" + hexes[32], hexes[32]),
        ("sendgrid", f"SG.{made(ALNUM, 22, 1)}.{a[43]}", a[43]),
        ("mailgun", "key-" + hexes[32], hexes[32]),
        ("digitalocean", "dop_v1_" + hexes[64], hexes[64]),
        ("shopify", "shpat_" + hexes[32], hexes[32]),
        ("vault", "hvs." + a[24], a[24]),
        ("groq", "gsk_" + a[48], a[48]),
        ("linear", "lin_api_" + a[40], a[40]),
        ("discord-hook", f"https://discord.com/api/webhooks/123456789012345678/{a[64]}", a[64]),
        ("spoken", "the password is Tr0ub4dor&3 for now", "Tr0ub4dor&3"),
        ("spoken-ja", "パスワードは Tr0ub4dor3x です", "Tr0ub4dor3x"),
        ("session-token", f"aws_session_token = {a[150]}", a[150]),
    ]
    return rows


@pytest.mark.parametrize(("text", "secret"), [pytest.param(t, s, id=n) for n, t, s in seeded()])
def test_org_13_no_seeded_secret_is_left(text: str, secret: str) -> None:
    result = redact(f"before\n{text}\nafter")
    assert secret not in result.text
    assert secret not in result.text.replace("\n", "")
    assert result.text.startswith("before\n") and result.text.rstrip().endswith("after")
    assert redact(result.text).text == result.text


LOOKALIKES = [
    "commit 3f2b8c9d0e1f2a3b4c5d6e7f8091a2b3c4d5e6f7",
    "550e8400-e29b-41d4-a716-446655440000",
    "pip install sk-learn",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0bb22cd15d6c15b0f00a08",
    "github.com/pkg/errors v0.9.1 h1:FEBLx1zS214owpjy7qsBeixbURkuhQAwrK5UwLGTwt4=",
    '"integrity": "sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg=="',
    "export FOO_TOKEN=$FOO",
    "API_KEY=${API_KEY}",
    "API_KEY=your-key-here",
    "api_key = os.environ['API_KEY']",
    "const token = process.env.TOKEN",
    "password: string",
    "token = get_token()",
    "password: ***",
    "token: Token,",
    "max_tokens=1500",
    '"input_tokens": 20135',
    "tokenizer: cl100k_base",
    "password=password",
    "GITHUB_TOKEN: ${{ secrets.GH }}",
    "export GOOGLE_APPLICATION_CREDENTIALS=/path/to/service-account.json",
    "git@github.com:entireio/cli.git",
    "http://localhost:8080/@scope/name",
    "The Bearer of bad news",
    "task-management-with-long-names",
    "key: value",
    "if err := validateToken(token); err != nil {",
    "secret := loadSecret(path)",
    "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
    'strings.Contains(s, "-----BEGIN RSA PRIVATE KEY-----")',
    "risk-abcdefghijklmnopqrstuvwxyz",
    "user:pass",
    "token_count: 12345",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "toolu_01BD242uEqYjGWb5cjw7BAew",
    "Set a password of at least 8 characters.",
    "パスワードは必須です",
    "token: 42",
]


@pytest.mark.parametrize("text", LOOKALIKES)
def test_org_13_lookalikes_stay(text: str) -> None:
    assert redact(text).text == text


def test_only_the_password_of_a_url_goes() -> None:
    assert redact("postgres://u:" + "p" + "@h/db").text == "postgres://u:[REDACTED:password]@h/db"


def test_only_the_value_of_an_assignment_goes() -> None:
    assert (
        redact('export FOO_TOKEN="' + "abc12345xyz" + '" # x').text
        == 'export FOO_TOKEN="[REDACTED:token]" # x'
    )


def test_spans_and_moved_offsets_agree_with_the_text() -> None:
    key = "ghp_" + "b" * 36
    text = f"one {key} two {key} three"
    result = redact(text)
    assert [result.text[a:b] for a, b in result.spans] == ["[REDACTED:github-token]"] * 2
    for word in ("one", "two", "three"):
        at = text.index(word)
        assert result.text[result.moved(at) :].startswith(word)
    assert result.moved(len(text)) == len(result.text)
    assert result.moved(0) == 0


def test_a_key_at_the_end_of_a_line_does_not_eat_the_next_line() -> None:
    text = "A=ghp_" + "c" * 36 + "\nNEXT_VARIABLE=1\n"
    assert redact(text).text.endswith("\nNEXT_VARIABLE=1\n")


def test_long_text_is_fast() -> None:
    import time

    text = "word another_word x = y(z) https://example.com/path?q=1 " * 20_000  # 1.1 MB
    start = time.perf_counter()
    assert not redact(text).spans
    assert time.perf_counter() - start < 10
