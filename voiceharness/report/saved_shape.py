"""Whether a document that was read from a file has the shape that its readers rely on.

A saved call may have been edited, or cut off by a full disk. It is held against the published schema, as far as a
reader can trip: members that are missing, and values of another type. What a newer version added is passed over.
"""

from __future__ import annotations

from functools import cache
from types import NoneType
from typing import TYPE_CHECKING, Any, Final

from voiceharness.report.document import schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["misfit", "misfit_of", "published"]

_URN: Final = "urn:voiceharness:schema:"

_TYPES: Final[Mapping[str, type | tuple[type, ...]]] = {
    "object": dict,
    "array": list,
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "null": NoneType,
}


def misfit(value: object, name: str) -> str | None:
    """Say where a value is not as the published schema ``name`` has it; None if it is."""
    return misfit_of(value, published(name))


def misfit_of(value: object, shape: Mapping[str, Any]) -> str | None:  # Any: JSON
    """Say where a value is not as a JSON Schema has it; None if it is."""
    return next(_misfits(value, shape, shape, ""), None)


@cache
def published(name: str) -> Mapping[str, Any]:  # Any: JSON
    """Return a published schema, read once."""
    return schema(name)


def _misfits(
    value: object, shape: Mapping[str, Any], root: Mapping[str, Any], where: str
) -> Iterator[str]:  # Any: JSON
    if "$ref" in shape:
        yield from _misfits(value, *_referred(shape["$ref"], root), where)
    elif "oneOf" in shape:
        yield from _of_none(value, shape["oneOf"], root, where)
    elif not _is_as(value, shape):
        yield f"{_named(where)} cannot be {_shown(value)}"
    elif isinstance(value, dict):
        yield from _in_object(value, shape, root, where)
    elif isinstance(value, list) and "items" in shape:
        for index, each in enumerate(value):
            yield from _misfits(each, shape["items"], root, f"{where}[{index}]")


def _referred(reference: str, root: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:  # Any: JSON
    """Return the schema that is referred to, and the one it stands in."""
    document, _, path = reference.partition("#")
    home = published(document.removeprefix(_URN).partition(":")[0]) if document else root
    found = home
    for name in path.split("/")[1:]:
        found = found[name]
    return found, home


def _of_none(value: object, shapes: list[Any], root: Mapping[str, Any], where: str) -> Iterator[str]:  # Any: JSON
    """Tell what is wrong with a value that is as none of some schemas, by the one that comes nearest: the deepest."""
    wrong = [next(_misfits(value, each, root, where), None) for each in shapes]
    if None not in wrong:
        yield max((each for each in wrong if each is not None), key=lambda each: each.count(".") + each.count("["))


def _in_object(value: dict[str, Any], shape: Mapping[str, Any], root: Mapping[str, Any], where: str) -> Iterator[str]:
    inside = f"{where}." if where else ""
    for name in shape.get("required", ()):
        if name not in value:
            yield f"{inside}{name} is missing"
    known, others = shape.get("properties", {}), shape.get("additionalProperties")
    for name, each in value.items():
        if name in known:
            yield from _misfits(each, known[name], root, inside + name)
        elif isinstance(others, dict):
            yield from _misfits(each, others, root, inside + name)


def _is_as(value: object, shape: Mapping[str, Any]) -> bool:  # Any: JSON
    if "enum" in shape:
        return type(value) in {type(each) for each in shape["enum"]}  # one of a newer version is just shown
    wanted = shape.get("type")
    names = [wanted] if isinstance(wanted, str) else wanted
    if isinstance(value, bool):  # Python takes it for a number
        return names is None or "boolean" in names
    return names is None or any(isinstance(value, _TYPES[name]) for name in names)


def _named(where: str) -> str:
    return where or "the whole"


def _shown(value: object) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = "null" if value is None else repr(value)
    return text if len(text) <= 40 else f"{text[:39]}…"
