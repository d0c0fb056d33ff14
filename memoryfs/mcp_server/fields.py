"""In: a tool's fields, the arguments a client sent. Out: the JSON schema of the fields; the checked arguments or what to mend.

One rule for a value of another type: text that holds JSON of the right type is read as that, and a list may come as one
text with commas. Unknown and missing fields, and what is too long, are refused with the names of what there is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memoryfs.errors import UsageError


@dataclass(frozen=True)
class Field:
    """One argument. `kind`: string, integer, boolean or list (of strings); `least` and `most` bound a number, or the length of text."""

    name: str
    about: str
    kind: str = "string"
    default: Any = None
    required: bool = False
    choices: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None
    unless: str = ""  # the argument beside which a required one may be left out


def schema(fields: Sequence[Field]) -> dict[str, Any]:
    """The fields as a JSON schema."""
    return {
        "type": "object", "properties": {f.name: _property(f) for f in fields},
        "required": [f.name for f in fields if f.required and not f.unless], "additionalProperties": False,
    }


def _property(field: Field) -> dict[str, Any]:
    kind = {"list": "array"}.get(field.kind, field.kind)
    out: dict[str, Any] = {"type": kind, "description": field.about}
    if field.kind == "list":
        out["items"] = {"type": "string"}
    if field.choices:
        out["enum"] = list(field.choices)
    if field.default is not None:
        out["default"] = field.default
    low, high = ("minimum", "maximum") if field.kind == "integer" else ("minLength", "maxLength")
    if field.least is not None:
        out[low] = field.least
    if field.most is not None and field.kind != "list":
        out[high] = field.most
    return out


def check(fields: Sequence[Field], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Every field with its value, defaults filled in, text without NUL and lone surrogates. Raises UsageError."""
    known = {f.name for f in fields}
    unknown = sorted(str(name)[:60] for name in arguments if name not in known)
    names = ", ".join(f.name for f in fields) or "none"
    if unknown:
        raise UsageError(f"unknown argument {', '.join(map(repr, unknown))}", remedy=f"Arguments: {names}.")
    out: dict[str, Any] = {}
    for field in fields:
        value = arguments.get(field.name)
        spared = bool(field.unless and arguments.get(field.unless))
        if value is None or (spared and value == ""):
            if field.required and not spared:
                raise UsageError(f"`{field.name}` is missing", remedy=f"{field.about} Arguments: {names}.")
            out[field.name] = field.default
        else:
            out[field.name] = _value(field, value)
    return out


def _value(field: Field, value: Any) -> Any:
    if field.kind == "integer":
        return _number(field, value)
    if field.kind == "boolean":
        return _truth(field, value)
    if field.kind == "list":
        return _list(field, value)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and field.choices:
        value = str(value)
    if not isinstance(value, str):
        raise _wrong(field, value, "text")
    if field.most is not None and len(value) > field.most:
        raise UsageError(f"`{field.name}` has {len(value)} characters; at most {field.most} are taken",
                         remedy="Send less; nothing was cut or stored.")
    text = clean(value)
    if field.choices and text not in field.choices:
        raise UsageError(f"`{field.name}` must be one of {', '.join(field.choices)}, not {text[:60]!r}", remedy=field.about)
    if field.least and not text.strip():
        raise UsageError(f"`{field.name}` is empty", remedy=field.about)
    return text


def _number(field: Field, value: Any) -> int:
    if isinstance(value, str):
        try:
            value = json.loads(value[:40])
        except ValueError:
            raise _wrong(field, value, "a whole number") from None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value % 1 != 0:
        raise _wrong(field, value, "a whole number")
    if (field.least is not None and value < field.least) or (field.most is not None and value > field.most):
        raise UsageError(f"`{field.name}` must be from {field.least} to {field.most}, not {value}", remedy=field.about)
    return int(value)


def _truth(field: Field, value: Any) -> bool:
    if isinstance(value, str):
        value = {"true": True, "false": False}.get(value.strip().casefold(), value)
    if not isinstance(value, bool):
        raise _wrong(field, value, "true or false")
    return value


def _list(field: Field, value: Any) -> list[str]:
    if isinstance(value, str):
        try:
            read = json.loads(value)
        except (ValueError, RecursionError):
            read = None
        value = read if isinstance(read, list) else value.split(",")
    if not isinstance(value, list) or not all(isinstance(v, (str, int, float)) for v in value):
        raise _wrong(field, value, "a list of texts")
    out = [clean(str(v)).strip() for v in value]
    if field.most is not None and sum(map(len, out)) > field.most:
        raise UsageError(f"`{field.name}` is too long; at most {field.most} characters are taken", remedy=field.about)
    return [v for v in out if v]


def _wrong(field: Field, value: Any, wanted: str) -> UsageError:
    return UsageError(f"`{field.name}` must be {wanted}, not {type(value).__name__} {str(value)[:60]!r}", remedy=field.about)


def clean(text: str) -> str:
    """NUL and lone surrogates out: neither reaches SQLite or a file name."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")
