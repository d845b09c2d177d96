"""Values as JSON, in UTF-8, losslessly whatever text they hold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from voiceharness.measure.metrics import Json

__all__ = ["from_json", "json_bytes", "json_text", "plain"]


def plain(value: object) -> Json:
    """Turn a value (dataclasses, mappings, sequences and scalars, nested) into what JSON can hold, names unchanged."""
    if isinstance(value, str | int | float | bool | None):
        return value
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(each) for each in (sorted(value) if isinstance(value, set | frozenset) else value)]
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    raise TypeError(f"no JSON form for {value!r}")


def json_bytes(value: object, *, depth: int = 3) -> bytes:
    """Write a JSON value for a file, in UTF-8; what is nested deeper than ``depth`` stays on one line."""
    # A lone surrogate has no UTF-8 form; its Python escape is also the JSON one.
    return f"{_laid_out(value, depth, 0)}\n".encode("utf-8", "backslashreplace")


def json_text(value: object) -> str:
    """Write a JSON value for a stream of unknown encoding: ASCII only."""
    return json.dumps(value, allow_nan=False, indent=1)


def from_json(data: bytes) -> Any:  # Any: whatever the file holds
    """Read what `json_bytes` wrote.

    Raises:
        ValueError: if it is no JSON, or not in UTF-8, or has a number that is none or is infinite.
    """
    try:
        return json.loads(data.decode("utf-8"), parse_constant=_finite, parse_float=_finite)
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text} is no number of JSON")
    return number


def _laid_out(value: object, depth: int, indent: int) -> str:
    if not value or not depth or not isinstance(value, Mapping | list | tuple):
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    pad, deeper = " " * (indent + 1), (depth - 1, indent + 1)
    if isinstance(value, Mapping):
        named = ((json.dumps(name, ensure_ascii=False), each) for name, each in value.items())
        lines = [f"{pad}{name}: {_laid_out(each, *deeper)}" for name, each in named]
    else:
        lines = [f"{pad}{_laid_out(each, *deeper)}" for each in value]
    opening, closing = "{}" if isinstance(value, Mapping) else "[]"
    return "\n".join((opening, ",\n".join(lines), " " * indent + closing))
