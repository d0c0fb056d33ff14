"""In: a value that stands where a secret could. Out: whether it is a placeholder, code, plain or technical words, or mixed as a key is."""

from __future__ import annotations

from memoryfs.patterns import lazy

_VERSION = lazy(r"v?[\d.,:TZ+-]+")
_SOURCE = lazy(
    r"[\w.-]+\.(?:go|py|ts|tsx|js|rs|md|json|ya?ml|toml|txt|sh|java|rb|c|h|cpp|html|css|log|lock)(?::\d+)?"
)
_SIGN = lazy(r"[!@#%^&*+~?]")
_DIGIT, _LETTER = lazy(r"\d"), lazy(r"[^\W\d_]")


def is_mixed(value: str) -> bool:
    """Letters and digits (or signs) together, as in a key, and not a path, a version, a time or a plain
    name."""
    if value.startswith(("/", "./", "../", "~/", "http://", "https://")) or (value[0] == "-" and not _turns(value) > 2):
        return False
    if _VERSION.fullmatch(value) or _SOURCE.fullmatch(value) or not _LETTER.search(value):
        return False
    return bool(_DIGIT.search(value)) or (len(value) >= 8 and bool(_SIGN.search(value))) or is_scrambled(value)


# The pairs of letters that make up nine tenths of what programmers call things; of letters drawn at random a third.
_USUAL = frozenset((
    "ab ac ad ag ai al am an ap ar as at au av ay ba be bi bl bo bu ca ce ch ci ck cl co cr ct cu da dd de di dl do dr ds "
    "ea eb ec ed ee ef eg ei el em en ep eq er es et ev ew ex ey fa fe ff fi fl fo fr ga ge gi gr ha he hi ho ht ia ib ic id "
    "ie if ig il im in io ip ir is it iv iz ke la ld le li ll lo ls lt lu ly ma me mi mo mp na nc nd ne nf ng ni nn no ns "
    "nt nu nv oa ob oc od oi ol om on oo op or os ot ou ov ow pa pe pl po pp pr pt qu ra rc rd re ri rl rm rn ro rr rs rt "
    "ry sa sc se sh si so sp ss st su ta tc td te tf th ti tl tm to tp tr ts tt tu ty ue ui ul um un up ur us ut va ve vi "
    "wi xe xt yp ze"
).split())
_LETTERS = lazy(r"[A-Za-z]+")


def is_scrambled(value: str) -> bool:
    """Whether letters stand together as nobody writes them: `bzqwwKUXNtJm`, and not `getMyUserId`."""
    pairs = [run[i : i + 2] for run in _LETTERS.findall(value) for i in range(len(run) - 1)]
    if not 10 <= len(value) <= 512 or len(pairs) < 7 or "/" in value:
        return False
    switches = sum(pair[0].isupper() != pair[1].isupper() for pair in pairs)
    return switches >= len(pairs) * 0.25 and sum(pair.lower() in _USUAL for pair in pairs) <= len(pairs) * 0.6


_TURN = lazy(r"[A-Za-z](?=\d)|\d(?=[A-Za-z])")


def _turns(value: str) -> int:
    return len(_TURN.findall(value))


_SEPARATOR = lazy(r"[-_/+.:]+")
_WORD = lazy(r"[A-Za-z]+\d{0,3}|\d{1,4}[A-Za-z]{0,3}")


def is_keylike(value: str) -> bool:
    """Whether a token or key that is spoken of looks made by a machine: `a3Bx9…`, and not `RS256-signed` or `user-42-v2`."""
    if len(value) < 8 or not is_mixed(value) or is_technical(value):
        return False
    pieces = [piece for piece in _SEPARATOR.split(value) if piece]
    if len(pieces) > 1 and all(_WORD.fullmatch(piece) for piece in pieces):
        return False
    return _turns(value) >= 2 or (len(value) >= 16 and len(_DIGIT.findall(value)) >= 2) or is_scrambled(value)


_ALGORITHM = lazy(
    r"(?i)argon2(?:id|[id])?|bcrypt\d?|y?e?scrypt|pbkdf2|hkdf|hmac|sha\d{0,3}|md[45]|blake[23][bs]?|crc(?:32|64)|murmur3|xxh\d{1,3}"
    r"|(?:rsa|aes|hs|rs|es|ps|ecdsa|eddsa)\d{0,4}|(?:ed|x|curve)(?:25519|448)|secp\d{3}[kr]1|x?chacha20|poly1305|3des"
    r"|base(?:16|32|36|58|62|64|85)(?:url)?|utf\d{0,2}|oauth\d?|saml\d?|pkcs\d{0,2}|pkce|x509|uuid(?:v\d)?|ulid|cuid2|totp|fido2|ntlmv2|web3"
)
_MEASURE = lazy(
    r"(?i)\d{1,5}[ -]?(?:bits?|bytes?|chars?|characters?|letters?|digits?|hex|words?|[kmg]b|ms|s|sec|m|min|h|hours?|d|days?|x)"
    r"|\d{1,4}[smhd](?:\d{1,4}[smhd]){1,3}"
)
_PLAIN = lazy(r"[A-Za-z]+|\d{1,4}")


def is_technical(value: str) -> bool:
    """Whether it names an algorithm or a measure (`argon2id`, `RS256-signed`, `256-bit`)."""
    if _MEASURE.fullmatch(value):
        return True
    pieces = [piece for piece in _SEPARATOR.split(value) if piece]
    known = [piece for piece in pieces if _ALGORITHM.fullmatch(piece) or _MEASURE.fullmatch(piece)]
    return bool(known) and len(pieces) <= 8 and all(piece in known or _PLAIN.fullmatch(piece) for piece in pieces)


_WORDS = lazy(r"[a-z]{2,16}(?:[- ][a-z]{2,16}){2,9}")
_NOT_DICED = frozenset(
    "a an and are as at be by can client default empty enter env error field file for form from hash header hint input is key label"
    " length login may message min must name new no not of on or password passphrase path please policy prompt required reset secret"
    " set should test text that the this to token type user value variable was when with without your".split()
)


def is_diced(value: str, words: int) -> bool:
    """Whether it is so many lower-case words in a row that say nothing: `correct-horse-battery-staple`."""
    if not _WORDS.fullmatch(value):
        return False
    found = value.replace("-", " ").split(" ")
    return len(found) >= words and _NOT_DICED.isdisjoint(found)


_PLACEHOLDER = lazy(
    r"(?i)(?:[$%{<\[(*].*|.*\$\{.*|.*\{\{.*|.*<[\w -]+>.*|x{3,}.*|.*x{5,}.*|\.{3,}.*|.*\.{3,}|…+.*|.*…|.*\*{3,}.*|#.*|-+|=+.*|_+"
    r"|(?:your|my|the|some|insert|enter|add|put|replace|new|old|example|sample|dummy|placeholder|change)[-_ ].*"
    r"|(?:user)?(?:name)?:?(?:pass(?:word|wd|phrase)?|pwd|pw|secret|token|key|apikey|api_key|access_token|credentials?)"
    r"|(?:string|str|number|int|integer|bool(?:ean)?|bytes|any|object|none|null|nil|undefined|true|false|required|optional|yes|no"
    r"|todo|tbd|n/a|empty|hidden|redacted|masked|unset|unknown|invalid|valid|missing|changeme|disabled|enabled)\d{0,2}"
    r"|(?:os\.environ|os\.getenv|process\.env|import\.meta|env[.:\[]|secrets\.|vars\.|config\.|settings\.|self\.|this\."
    r"|args\.|ctx\.|cfg\.|opts\.|options\.|req\.|request\.|res\.|params\.|props\.|state\.|data\.|user\.|c\.|s\.|r\.|t\.).*)\Z"
)
_HEADER = lazy(r"(?:X|x|[A-Z][a-z]{1,20})(?:-(?:[A-Z]?[a-z]{1,20}|[A-Z]{2,5})){1,6}(?:-\d{1,3}|\d{1,2})?")
_SAMPLE = lazy(r"(?i)(?:abc|xyz|foo|bar|baz|test|demo|fake|tok|token|key|id|user)[-_]?(?:\d{1,3}|1234|12345|123456)")


def is_placeholder(value: str) -> bool:
    """Whether the value only stands for a secret: a variable, a word, stars."""
    value = value.strip()
    return (
        not value
        or (len(set(value)) == 1 and len(value) > 3 and value[0] in "*xX.-_#0")
        or bool(_PLACEHOLDER.match(value))
    )


def is_sample(value: str) -> bool:
    """Whether it is no token but one as examples have it, or a header's name: `abc123`, `user42`, `X-Hub-Signature-256`."""
    return bool(_SAMPLE.fullmatch(value) or _HEADER.fullmatch(value))


FILE = lazy(
    r"(?:[\w.~-]*/)+[\w.-]+\.\w{1,10}"
)  # a path with a suffix: where a secret is, not what it is
ACCESS = lazy(
    r"&?[A-Za-z_]\w*(?:(?:\.|->|::|\?\.)[A-Za-z_]|[\[(])"
)  # an attribute, a call, an element
_CODE = lazy(
    r"(?:[A-Za-z_][\w]*)(?:(?:\.|->|::|\?\.)[A-Za-z_][\w]*)+\Z|[A-Za-z_]\w*\Z|&?[A-Za-z_]\w*[.\[(].*|[A-Za-z]+(?:[-/][A-Za-z]+)*\Z"
)


def is_expression(value: str) -> bool:
    """Whether a bare value reads as code (a name, an attribute, a call) or as plain words and not as a
    key."""
    if not _CODE.match(value) or is_scrambled(value):
        return False
    digits = sum(c.isdigit() for c in value)
    return digits < 3 or digits < len(value) / 12


def is_told(value: str, *, password: bool) -> bool:
    """Whether what a sentence or a cell of a table calls a password (or else a token or key) is one."""
    if is_placeholder(value) or ACCESS.match(value) or FILE.fullmatch(value) or is_technical(value):
        return False
    if not password:
        return is_keylike(value) and not is_sample(value)
    return len(value) >= 6 and is_mixed(value)
