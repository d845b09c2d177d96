"""Read a page of the documentation: its code blocks, what is said of each, its links and headings.

An HTML comment before a block says what is done with it:

``<!-- file: NAME -->``
    it is saved under that name, for a later block to use
``<!-- not run: REASON -->``
    it is only shown
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Block", "as_module", "blocks", "headings_of", "links_of", "names_of_tests", "repeated"]

FENCE: Final = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,})(?P<info>[^`]*)$")
DIRECTIVE: Final = re.compile(r"^<!-- (file|not run): (.+) -->$")
LINK: Final = re.compile(r"\]\(([^)\s]+)\)")
HEADING: Final = re.compile(r"^#+ (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """A code block. ``line`` is that of its first line; ``follows``: only blank lines part it from the block before."""

    language: str
    text: str
    line: int
    file: str | None = None
    not_run: str | None = None
    follows: bool = False


def blocks(page: str) -> Iterator[Block]:
    """Find the code blocks of a page, in order.

    Raises:
        ValueError: if a block is not closed.
    """
    lines = iter(enumerate(page.splitlines(), start=1))
    before, follows = "", False
    for number, line in lines:
        if (fence := FENCE.match(line)) is None:
            if line.strip():
                before, follows = line.strip(), False
            continue
        directive = DIRECTIVE.match(before)
        said: dict[str, str] = {directive[1]: directive[2]} if directive else {}
        text = "".join(f"{inside}\n" for inside in _until_closed(lines, fence))
        language = (fence["info"].split() or [""])[0]
        yield Block(language, text, number + 1, said.get("file"), said.get("not run"), follows)
        before, follows = "", True


def _until_closed(lines: Iterable[tuple[int, str]], opened: re.Match[str]) -> Iterator[str]:
    for _number, line in lines:
        fence = FENCE.match(line)
        if fence is not None and fence["ticks"] == opened["ticks"] and not fence["info"]:
            return
        yield line.removeprefix(opened["indent"])
    raise ValueError(f"a block that begins with {opened[0]!r} is not closed")


def as_module(page_blocks: Iterable[Block]) -> str:
    """Return the Python blocks that are run as one module, each on its own lines."""
    lines: list[str] = []
    for block in page_blocks:
        if block.language == "python" and block.file is None and block.not_run is None:
            lines += [""] * (block.line - 1 - len(lines))
            lines += block.text.splitlines()
    return "\n".join(lines) + "\n"


def names_of_tests(module: str) -> list[str]:
    """Return the names of the tests of a module, in order."""
    return [
        node.name
        for node in ast.parse(module).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    ]


def repeated(names: list[str]) -> list[str]:
    """Return the names that come more than once: of such tests only the last would run."""
    return [name for name, times in Counter(names).items() if times > 1]


def links_of(page: str) -> list[str]:
    """Return the targets of a page's links, code left out."""
    return LINK.findall(re.sub(r"`[^`\n]*`", "`", _without_blocks(page)))


def headings_of(page: str) -> set[str]:
    """Return the headings of a page as a link names them."""
    titles = HEADING.findall(_without_blocks(page))
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def _without_blocks(page: str) -> str:
    return re.sub(r"^ *(`{3,}).*?^ *\1$", "", page, flags=re.DOTALL | re.MULTILINE)
