"""In: a sentence. Out: the names of the cues that it shows, from organizer/data/cues.toml (English, Japanese, Korean, Chinese)."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from pathlib import Path

FILE = Path(__file__).resolve().parent.parent / "data" / "cues.toml"
LANGUAGES = ("en", "ja", "ko", "zh")

_KANA = re.compile(r"[\u3041-\u30ff\uff66-\uff9d]")
_HANGUL = re.compile(r"[\uac00-\ud7af\u1100-\u11ff\u3130-\u318f]")
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")


def language_of(text: str) -> str:
    """`ja`, `ko`, `zh` by the script of a sentence, else `en` (which stands for every language without one here)."""
    if _HANGUL.search(text):
        return "ko"
    if _KANA.search(text):
        return "ja"
    return "zh" if _HAN.search(text) else "en"


@lru_cache(maxsize=1)
def table() -> dict[str, dict[str, re.Pattern[str]]]:
    """cue → language → one compiled alternation of its patterns; languages without a pattern are left out."""
    raw = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return {
        name: {
            lang: re.compile("|".join(f"(?:{p})" for p in entry[lang]), re.I) for lang in LANGUAGES if entry.get(lang)
        }
        for name, entry in raw.items()
    }


def cues(text: str, language: str = "") -> frozenset[str]:
    """The cues that `text` shows. English patterns apply in every language, since technical talk mixes them."""
    language = language or language_of(text)
    body = text[:1500]
    found = set()
    for name, patterns in table().items():
        own = patterns.get(language)
        english = patterns.get("en")
        if (own and own.search(body)) or (language != "en" and english and english.search(body)):
            found.add(name)
    return frozenset(found)


def shows(text: str, cue: str) -> bool:
    """Whether `text` shows one cue."""
    patterns = table()[cue]
    language = language_of(text)
    return any(patterns[lang].search(text) for lang in {language, "en"} if lang in patterns)
