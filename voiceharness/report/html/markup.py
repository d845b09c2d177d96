"""HTML as values: text is escaped because it is text, and only what was built here is not."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Final

from voiceharness.report.printable import printable
from voiceharness.report.serialization import json_text

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Markup", "data_block", "joined", "table", "tag", "text"]

_VOID: Final = frozenset({"img", "input", "link", "meta"})


class Markup(str):
    """HTML that may stand as it is."""

    __slots__ = ()


def text(value: object) -> Markup:
    """Escape a value's text, for content and for quoted attributes; what is already markup stays."""
    return value if isinstance(value, Markup) else Markup(html.escape(printable(str(value))))


def joined(parts: Iterable[object]) -> Markup:
    """Put parts after each other; None is nothing."""
    return Markup("".join(text(part) for part in parts if part is not None))


def tag(name: str, /, *content: object, **attributes: object) -> Markup:
    """Build an element. Underscores in attribute names are hyphens, a last one is dropped (``class_``).

    An attribute that is None or False is left out; True stands without a value.
    """
    given = "".join(_attribute(each, value) for each, value in attributes.items())
    return Markup(f"<{name}{given}>" if name in _VOID else f"<{name}{given}>{joined(content)}</{name}>")


def _attribute(name: str, value: object) -> str:
    if value is None or value is False:
        return ""
    written = name.removesuffix("_").replace("_", "-")
    return f" {written}" if value is True else f' {written}="{text(value)}"'


def table(caption: str, head: Iterable[object], rows: Iterable[Iterable[object]], **attributes: object) -> Markup:
    """Build a table; a row may be a finished ``tr``, or cells, the first of which names the row."""
    columns = tag("tr", *(column if isinstance(column, Markup) else tag("th", column, scope="col") for column in head))
    body = (row if isinstance(row, Markup) else _row(row) for row in rows)
    return tag(
        "div",
        tag("table", tag("caption", caption), tag("thead", columns), tag("tbody", *body), **attributes),
        class_="wide",
    )


def _row(cells: Iterable[object]) -> Markup:
    first, *others = cells
    return tag("tr", tag("th", first, scope="row"), *(tag("td", cell) for cell in others))


def data_block(name: str, value: object) -> Markup:
    """Embed a JSON value that a script finds by its id; nothing in it can end the element."""
    written = json_text(value).replace("<", r"\u003c")
    return Markup(f'<script type="application/json" id="{name}">{written}</script>')
