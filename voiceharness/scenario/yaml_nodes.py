"""YAML text as values that know their place: no scalar is guessed at, and nothing in a file can run or explode.

Scalars stay as they were written, with the fact whether they stood in quotes: what ``012``, ``no`` or ``1e3`` mean is
for the reader of a field to say, never for YAML 1.1's resolver. Size, depth and the expansion of aliases are bounded,
tags are refused, and a key counts once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import yaml

from voiceharness.scenario.place import Place

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Entries", "Entry", "Items", "Node", "Scalar", "parse_yaml"]

MAX_BYTES: Final = 1_000_000
MAX_NODES: Final = 50_000
MAX_DEPTH: Final = 20

_CORE_TAGS: Final = frozenset(f"tag:yaml.org,2002:{name}" for name in ("str", "seq", "map"))
_LONGEST_SHOWN: Final = 60
_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value as it was written; ``plain`` means without quotes."""

    text: str
    plain: bool
    place: Place

    @property
    def is_null(self) -> bool:
        """Whether nothing is given here."""
        return self.plain and self.text in _NULLS

    @property
    def shown(self) -> str:
        """The value as error messages show it, a long one by its beginning."""
        if self.is_null:
            return "nothing"
        return repr(self.text if self.is_short else f"{self.text[: _LONGEST_SHOWN - 1]}…")

    @property
    def is_short(self) -> bool:
        """Whether a message can show the whole value."""
        return len(self.text) <= _LONGEST_SHOWN


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    items: tuple[Node, ...]
    place: Place

    shown = "a list"
    is_null = False

    def __iter__(self) -> Iterator[Node]:
        return iter(self.items)


@dataclass(frozen=True, slots=True)
class Entry:
    """A key's place and its value."""

    place: Place
    node: Node


@dataclass(frozen=True, slots=True)
class Entries:
    """A mapping, in its order."""

    entries: Mapping[str, Entry]
    place: Place

    shown = "a mapping"
    is_null = False


Node: TypeAlias = Scalar | Items | Entries


def parse_yaml(data: bytes, file: str) -> Node:
    """Read one YAML document.

    Raises:
        ScenarioError: with line and column, if it is no YAML, too big, or uses what is not read here.
    """
    text = _decode(data, file)
    try:
        root = _BoundedLoader(text, file).get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        context = f" {error.context}" if error.context else ""
        place = Place(file, mark.line + 1, mark.column + 1) if mark else Place(file, 1, 1)
        raise place.error(f"cannot read this as YAML: {error.problem}{context}") from error
    except yaml.reader.ReaderError as error:
        place = _place_at(text, error.position, file)
        raise place.error(f"the character {chr(error.character)!r} cannot stand in YAML") from error
    if root is None:
        raise Place(file, 1, 1).error("the file is empty")
    return _convert(root, file)


def _decode(data: bytes, file: str) -> str:
    if len(data) > MAX_BYTES:
        raise Place(file, 1, 1).error(f"the file has more than {MAX_BYTES} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = _place_at(data[: error.start].decode("utf-8-sig"), error.start, file)
        raise place.error(f"the file is not UTF-8 (byte 0x{data[error.start]:02x})") from error


def _place_at(text: str, position: int, file: str) -> Place:
    before = text[:position]
    return Place(file, before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)


class _BoundedLoader(yaml.BaseLoader):
    """Composes nodes, and counts them: an alias counts as many as what it stands for."""

    def __init__(self, text: str, file: str) -> None:
        super().__init__(text)
        self._file = file
        self._nodes = 0
        self._depth = 0
        self._sizes: dict[str, int] = {}

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:  # Any: as in the base class
        event: yaml.Event = self.peek_event()  # type: ignore[no-untyped-call] # the stubs leave it out
        place = _place_of(event, self._file)
        before = self._nodes
        self._nodes += 1
        self._depth += 1
        if isinstance(event, yaml.AliasEvent):
            self._nodes += self._size_of(str(event.anchor), place)
        if self._nodes > MAX_NODES:
            raise place.error(f"the file has more than {MAX_NODES} values, aliases counted in full")
        if self._depth > MAX_DEPTH:
            raise place.error(f"this is nested more than {MAX_DEPTH} deep")
        node = super().compose_node(parent, index)
        self._depth -= 1
        if isinstance(event, yaml.CollectionStartEvent | yaml.ScalarEvent) and event.anchor is not None:
            self._sizes[event.anchor] = self._nodes - before
        return node

    def _size_of(self, anchor: str, place: Place) -> int:
        if anchor in self.anchors and anchor not in self._sizes:
            raise place.error(f"*{anchor} stands inside what it stands for")
        return self._sizes.get(anchor, 0)


def _place_of(marked: yaml.Event | yaml.Node, file: str) -> Place:
    mark = marked.start_mark
    return Place(file, mark.line + 1, mark.column + 1) if mark else Place(file, 1, 1)


def _convert(node: yaml.Node, file: str) -> Node:
    place = _place_of(node, file)
    if node.tag not in _CORE_TAGS:
        raise place.error(f"the tag {node.tag} is not read here; write the value without it")
    if isinstance(node, yaml.ScalarNode):
        return Scalar(node.value, node.style is None, place)
    if isinstance(node, yaml.SequenceNode):
        return Items(tuple(_convert(item, file) for item in node.value), place)
    return Entries(_convert_entries(node, file), place)


def _convert_entries(node: yaml.Node, file: str) -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    for key_node, value_node in node.value:
        key = _convert(key_node, file)
        if not isinstance(key, Scalar) or key.is_null:
            raise key.place.error(f"a key must be a word, not {key.shown}")
        if key.text == "<<" and key.plain:
            raise key.place.error(
                "merge keys (<<) are not read here; write the fields out, or what scenarios share under defaults"
            )
        if key.text in entries:
            first = entries[key.text].place.line
            raise key.place.error(f"{key.text!r} is given twice; first in line {first}")
        entries[key.text] = Entry(key.place, _convert(value_node, file))
    return entries
