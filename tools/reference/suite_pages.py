"""What a suite file can say."""

from __future__ import annotations

from dataclasses import MISSING
from textwrap import dedent
from typing import TYPE_CHECKING, Any, Final

from tools.reference.markup import fenced, page, prose, table
from voiceharness.report.limits import SuiteLimits
from voiceharness.scenario.fields import fields_of
from voiceharness.suite import suite_file
from voiceharness.suite.selection import Selection
from voiceharness.suite.suite_file import AdapterEntry, Limits, SuiteFile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voiceharness.scenario.fields import Field

__all__ = ["suites_page"]

LATENCY: Final = "[`at_most`, `p50`, `p95`](checks.md), or a duration alone: at most that"
TOLD: Final[Mapping[str, str]] = {
    "scenarios": "a list: files, folders and patterns (`*`, `?`, `**`), relative to the suite file",
    "adapters": "a list: [ways to reach the agent](#adapters)",
    "lines": "a list: `own`, `clean`, a name or the fields of a [line profile](line-profiles.md), with a `label`",
    "select": "[which scenarios to take](#select)",
    "limits": "[limits](#limits)",
    "options": "options of the adapter, by name; `${NAME}` is a variable of the environment",
    "resources": "amounts by name, such as `{trunk: 1}`",
    "each_call": "[checks](checks.md), by name",
    "all_calls": "[limits of all calls](#limits-of-all-calls)",
    "response_latency": LATENCY,
    "stop_latency": LATENCY,
}


def suites_page() -> str:
    """Tell of the fields of a suite file."""
    before, example, after = _with_example(suite_file.__doc__)
    return page(
        "Suite files",
        before,
        fenced("yaml", example),
        after,
        prose(SuiteFile.__doc__),
        _table(SuiteFile),
        "## Adapters",
        prose(AdapterEntry.__doc__),
        _table(AdapterEntry),
        "## Select",
        prose(Selection.__doc__),
        _table(Selection),
        "## Limits",
        prose(Limits.__doc__),
        _table(Limits),
        "## Limits of all calls",
        prose(SuiteLimits.__doc__),
        _table(SuiteLimits),
    )


def _with_example(docstring: str | None) -> tuple[str, str, str]:
    """Part a docstring at its example."""
    before, _, rest = (docstring or "").partition(".. code-block:: yaml\n\n")
    lines = rest.splitlines()
    length = next(number for number, line in enumerate(lines) if line and not line.startswith(" "))
    return prose(before), dedent("\n".join(lines[:length])), prose("\n".join(lines[length:]))


def _table(cls: type[Any]) -> str:  # Any: of any dataclass
    rows = [(f"`{name}`", TOLD.get(name) or _takes(field), _needed(field)) for name, field in fields_of(cls).items()]
    return table(("field", "takes", "default"), rows)


def _takes(field: Field) -> str:
    assert field.kind is not None  # the others are told above
    choices = " or ".join(f"`{choice}`" for choice in field.kind.choices)
    return ("a list: " if field.many else "") + (choices or field.kind.wanted)


def _needed(field: Field) -> str:
    return "required" if field.default is MISSING else "none"
