"""Turn a page of the documentation into a module of tests: its Python blocks, in order, on their own lines."""

from __future__ import annotations

import ast
import re
from collections import Counter
from typing import Final

__all__ = ["as_module", "links_of", "names_of_tests", "repeated"]

FENCE: Final = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,})(?P<info>[^`]*)$")


def as_module(page: str) -> str:
    """Return the page's ``python`` blocks as one module; every other line is left empty, so that lines agree.

    Raises:
        ValueError: if a block is not closed.
    """
    lines: list[str] = []
    opened: re.Match[str] | None = None
    for line in page.splitlines():
        fence = FENCE.match(line)
        if opened is None:
            opened = fence
            lines.append("")
        elif fence is not None and fence["ticks"] == opened["ticks"] and not fence["info"]:
            opened = None
            lines.append("")
        else:
            is_python = opened["info"].split()[:1] == ["python"]
            lines.append(line.removeprefix(opened["indent"]) if is_python else "")
    if opened is not None:
        raise ValueError(f"a block that begins with {opened[0]!r} is not closed")
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


def links_of(page: str) -> tuple[set[str], set[str]]:
    """Return the places within a page that it links to, and its headings as such places."""
    links = set(re.findall(r"\]\(#([^)]+)\)", page))
    titles = re.findall(r"^#+ (.+)$", page, flags=re.MULTILINE)
    headings = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
    return links, headings
