"""Markdown out of docstrings and tables."""

from __future__ import annotations

import ast
import inspect
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from types import ModuleType

__all__ = ["documented_names", "fenced", "page", "prose", "simple_table", "table"]

NOTE: Final = "<!-- Made by `python -m tools.make_reference` from the code; change it there. -->"
_RULE: Final = re.compile(r"^=+ +=+$", re.MULTILINE)


def page(title: str, *parts: str) -> str:
    """Put a page together."""
    return "\n\n".join([NOTE, f"# {title}", *(part.strip("\n") for part in parts)]) + "\n"


def prose(docstring: str | None) -> str:
    """Turn a docstring into Markdown, up to what it raises."""
    text = inspect.cleandoc(docstring or "").partition("\n\nRaises:")[0]
    text = re.sub(r":\w+:`~?(?:[\w.]+\.)?([^`]+)`", r"`\1`", text)
    return text.replace("``", "`")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def fenced(language: str, text: str) -> str:
    """Write a block of code."""
    return f"```{language}\n{text.rstrip()}\n```"


def simple_table(text: str) -> tuple[list[tuple[str, str]], str]:
    """Read the rows of the two-column table in a docstring, and what stands after it.

    A row goes on where the next line has nothing on its left, or this one ends its left with a comma.
    """
    _before, _head, body, after = _RULE.split(text, maxsplit=3)
    width = len(_RULE.findall(text)[0].partition(" ")[0]) + 1
    rows: list[tuple[str, str]] = []
    goes_on = False
    for line in body.strip("\n").splitlines():
        left, right = line[:width].strip(), line[width:].strip()
        if rows and (goes_on or not left):
            rows[-1] = (f"{rows[-1][0]} {left}".strip(), f"{rows[-1][1]} {right}".strip())
        else:
            rows.append((left, right))
        goes_on = left.endswith(",")
    return rows, after.strip()


def documented_names(module: ModuleType) -> Mapping[str, str]:
    """Return the public names of a module that a docstring follows, with it."""
    body = ast.parse(inspect.getsource(module)).body
    found = {}
    for node, after in pairwise(body):
        match node, after:
            case (
                (ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)])),
                ast.Expr(value=ast.Constant(value=str(text))),
            ) if not name.startswith("_"):
                found[name] = prose(" ".join(text.split()))
    return found
