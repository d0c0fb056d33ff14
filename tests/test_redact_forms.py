"""Secrets said in a sentence, a table, a tag or a command go; policies about secrets stay. All keys here are made up."""

from __future__ import annotations

import base64
import string
import time

import pytest
from test_redact import ALNUM, made

from memoryfs.redact import redact

HEX = "0123456789abcdef"
KEY, PW = made(ALNUM, 24, 7), "Pw" + made(ALNUM, 10, 8)
LOGIN = base64.b64encode(f"joe:{made(ALNUM, 20, 9)}".encode()).decode()
LETTERS = "bzqwwKUXNtJm"  # what a generator makes of letters only, one time in eight

SAID = {
    "aws-said": ("the AWS secret access key is " + made(ALNUM + "/+", 40, 1), made(ALNUM + "/+", 40, 1)),
    "aws-slash": ("aws_secret_access_key = /" + made(ALNUM, 39, 2), made(ALNUM, 39, 2)),
    "key-said": (f"The API token for staging is {KEY}.", KEY),
    "password-of": (f"the password for the staging database is {PW}", PW),
    "bold": (f"**Password:** {KEY}", KEY),
    "bold-outside": (f"__Password__: {PW}", PW),
    "bold-code": (f"- **API key**: `{KEY}`", KEY),
    "in-brackets": (f"API key (staging): `{KEY}`", KEY),
    "table": (f"| password | {KEY} |", KEY),
    "table-bold": (f"| **DB password** | `{PW}` | the app |", PW),
    "fence": (f"API token:\n```\n{KEY}\n```\n", KEY),
    "fence-named": (f"**Password**:\n\n```text\n{PW}\n```", PW),
    "tag": (f"<server><username>joe</username><password>{PW}</password></server>", PW),
    "tag-letters": (f"<password>{LETTERS}</password>", LETTERS),
    "attribute": (f'<add key="DbPassword" value="{PW}"/>', PW),
    "plist": (f"<key>APIToken</key>\n<string>{KEY}</string>", KEY),
    "name-value": (f"- name: DB_PASSWORD\n  value: {PW}", PW),
    "name-value-json": (f'{{"name": "API_KEY", "value": "{KEY}"}}', KEY),
    "netrc": (f"machine api.example.com login joe password {PW}", PW),
    "netrc-lines": (f"machine h\n  login joe\n  password {LETTERS}", LETTERS),
    "mysql": (f"mysql -u root -p{PW} app", PW),
    "sshpass": (f"sshpass -p '{PW}' ssh root@h", PW),
    "docker-login": (f"docker login -u joe -p {PW} reg.example", PW),
    "redis-cli": (f"redis-cli -h x -a {PW} ping", PW),
    "fish": (f"set -x API_TOKEN {KEY}", KEY),
    "setx": (f"setx API_TOKEN {KEY}", KEY),
    "rust": (f'let api_key = String::from("{KEY}");', KEY),
    "typed": (f'val apiKey: String = "{KEY}"', KEY),
    "docker-auth": (f'"auths":{{"https://index.docker.io/v1/":{{"auth":"{LOGIN}"}}}}', LOGIN.rstrip("=")),
    "url-slashes": ("mysql://root:oIgN9J3J/lN0q/Gf9l@db/app", "oIgN9J3J/lN0q/Gf9l"),
    "url-at": ("postgresql://app:mk29x#q8@wT3z@db.internal:5432/app", "wT3z"),
    "query": (f"https://maps.example.com/v1?key={made(ALNUM, 32, 3)}&q=1", made(ALNUM, 32, 3)),
    "azure-client": ("client secret value: dJN" + "8Q~" + made(ALNUM + "_-~", 34, 4), made(ALNUM + "_-~", 34, 4)),
    "postman": (f"PMAK-{made(HEX, 24, 5)}-{made(HEX, 34, 6)}", made(HEX, 34, 6)),
    "square": ("EAAA" + made(ALNUM + "-_", 60, 7), made(ALNUM + "-_", 60, 7)),
    "braintree": (f"access_token$production${made(string.ascii_lowercase, 16, 8)}${made(HEX, 32, 9)}", made(HEX, 32, 9)),
    "resend": (f"re_{made(ALNUM, 8, 10)}_{made(ALNUM, 24, 11)}", made(ALNUM, 24, 11)),
    "tavily": ("tvly-" + made(ALNUM, 32, 12), made(ALNUM, 32, 12)),
    "firebase": (f"AAAA{made(ALNUM, 7, 13)}:APA91b{made(ALNUM + '-_', 134, 14)}", made(ALNUM + "-_", 134, 14)),
    "words": ("passphrase: correct-horse-battery-staple", "correct-horse-battery-staple"),
    "letters": (f"odbc: Uid=sa;Password={LETTERS};Encrypt=yes", LETTERS),
    "ja-at-once": ("パスワードはkurashi2931pwです", "kurashi2931pw"),
    "zh-colon": (f"密码：{PW}。", PW),
}


@pytest.mark.parametrize(("text", "secret"), SAID.values(), ids=SAID)
def test_org_13_a_secret_goes_however_it_is_said(text: str, secret: str) -> None:
    result = redact(f"before\n{text}\nafter")
    assert secret not in result.text and secret[-12:] not in result.text
    assert result.text.startswith("before\n") and result.text.endswith("\nafter")
    assert redact(result.text).text == result.text


POLICIES = """パスワードは12文字以上にすると決めた。
password: 12文字以上にする
パスワードはargon2idでハッシュする
비밀번호는 bcrypt2로 저장
비밀번호는 8자 이상
密码是用argon2id哈希的
密码是12位以上数字
the token is RS256-signed and lives 15m
token: RS256-signed
The password is PBKDF2-HMAC-SHA256-hashed.
the token is 256-bit
API key: 32-characters long
private key: ed25519
The token is invalid2
The passphrase is optional2
passphrase: not-set-by-default
webhook_key: X-Hub-Signature-256
token=abc123
API_TOKEN=abc123
mongodb://mongo1:27017,mongo2:27017/?authSource=admin@x
mongodb://mongo1:27017,mongo2:27017/?replicaSet=rs0&authSource=admin@x
s3://bucket:prefix/file@v2
http://host:4873/@scope/pkg@1.2.3
https://localhost:3000/users/x@me.example
https://x.example/?key=user-profile-settings-page-v2
| password | varchar(255) |
| password_hash | argon2id |
| token | string |
<token>string</token>
- name: password
docker run --name mysql -p3306:3306 mysql
mysql -p$PASS app
set -x PATH /usr/bin
token = String::from(input)
"auth": "basic"
private_key: PKCS7PrivateKeyTypes
_DHPrivateKey = DHPrivateKey
self.token = call_assertion_pass_hook
The token for user42 is valid
the API key is stored in config.toml2"""


@pytest.mark.parametrize("text", POLICIES.split("\n"))
def test_org_13_what_is_decided_about_secrets_stays(text: str) -> None:
    assert redact(text).text == text


def test_a_value_that_is_redacted_once_is_redacted_wherever_it_stands_in_the_text() -> None:
    odd = "Tr0ub4dor&3xyz"
    assert redact(f"log in as admin / {odd} (password: {odd})").text == "log in as admin / [REDACTED:password] (password: [REDACTED:password])"
    assert KEY not in redact(f"api_key: {KEY}\nthen sent as {KEY}x").text
    short = redact("DB_PASSWORD=swordfish\nthe swordfish is a fish").text
    assert short.endswith("the swordfish is a fish"), "a word is no key"


@pytest.mark.parametrize("count", [10, 2000])
def test_many_values_are_looked_for_together(count: int) -> None:
    words = [made(ALNUM, 12, 100 + i) + "1x" for i in range(count)]
    text = "".join(f"password: {word}\n" for word in words) + "and again: " + " ".join(words)
    begun = time.process_time()
    left = redact(text).text
    assert not [word for word in words if word in left]
    assert time.process_time() - begun < 5


HOSTILE = [
    "password ", "password:", "token for a ", "| password ", "<password>", "<password ", "machine h login j ", "mysql ", "mysql -p", "curl -u a",
    "set -x ", "name: token value", "name: token ", "docker login ", "token:\n```\n", "```\nabcdefg\n", "api_key = String::from(", "mysql://a:", "mysql://a:b/",
    "a.", "://", "?key=a", "\"auth\":\"", "re_aaaaaaaa_", "EAAA-", "q~", "secret access key ", "passphrase: correct-horse-", "authorization: ", "a1-", "sha256-",
]


@pytest.mark.parametrize("piece", [" ", "a", "-", *HOSTILE])
@pytest.mark.parametrize("start", ["password: ", "authorization:", "mysql "])
def test_time_grows_with_the_length_of_a_hostile_text(start: str, piece: str) -> None:
    redact("password: warm2up\n")
    begun = time.process_time()
    redact((start + piece * 20_000)[:60_000])
    assert time.process_time() - begun < 3
