"""What is told of a call: faults, events and outcomes."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tools.reference.markup import documented_names, page, prose, simple_table, table
from voiceharness.cli.app import app
from voiceharness.line import record
from voiceharness.measure import faults
from voiceharness.measure.finding import FINDING_KINDS, Finding
from voiceharness.report.suite import suite_exit_code
from voiceharness.scenario import result
from voiceharness.scenario.result import EXIT_CODES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from voiceharness.scenario.result import Outcome

__all__ = ["exit_codes_page", "findings_page", "timeline_page"]

_EVENT: Final = re.compile(r'^    "(\w+)",(?:  # (.*))?$', re.MULTILINE)
_CODE: Final = re.compile(r"(\d+) ([^;:]+?)[;.]")


def findings_page() -> str:
    """Tell of the faults that are looked for, and of the thresholds."""
    rows, after = simple_table(inspect.cleandoc(faults.__doc__ or ""))
    told = [(_kinds(kinds), when) for kinds, when in rows]
    untold = set(FINDING_KINDS) - {kind for kinds, _when in told for kind in kinds}
    if untold:
        raise SystemExit(f"the docstring of {faults.__name__} does not say when {', '.join(sorted(untold))} is found")
    return page(
        "Findings",
        "Faults of the agent that are looked for in every call. A *fault* fails the call, unless the scenario's "
        "`allow` names its kind; a *warning* is only told.",
        prose(Finding.__doc__),
        table(("kind", "when it is found"), [(", ".join(f"`{kind}`" for kind in kinds), when) for kinds, when in told]),
        prose(after),
        "## Thresholds",
        table(("name", "value", "meaning"), _thresholds()),
    )


def _kinds(cell: str) -> list[str]:
    """Read ``dtmf_lost, _doubled``: a name that begins with an underscore shares the stem of the first."""
    names = [name.strip() for name in cell.split(",") if name.strip()]
    stem = names[0].rpartition("_")[0]
    return [stem + name if name.startswith("_") else name for name in names]


def _thresholds() -> Iterator[tuple[str, str, str]]:
    for file in sorted(Path(str(faults.__file__)).parent.glob("[!_]*.py")):
        module = importlib.import_module(f"{faults.__name__}.{file.stem}")
        for name, text in documented_names(module).items():
            yield f"`{file.stem}.{name}`", str(getattr(module, name)).strip("()"), text


def timeline_page() -> str:
    """Tell of the events of a timeline."""
    source = inspect.getsource(record)
    kinds = _EVENT.findall(source[source.index("EventKind = Literal[") :].partition("\n]")[0])
    return page(
        "Timeline",
        "The file `timeline.json` of a saved call holds these events, in time order. `at` is a position in samples at "
        "the line's rate, counted from the answer.",
        table(("kind", "data"), [(f"`{kind}`", data) for kind, data in kinds]),
        "`step` is the index of a step, from 0, as in `result.json`. What is made to be read (the console, "
        "`voiceharness show`, pages, JUnit) counts steps from 1.",
        "## Arrivals",
        prose(record.Arrival.__doc__),
    )


def exit_codes_page() -> str:
    """Tell of the exit codes."""
    meanings = dict(_CODE.findall(" ".join((app.epilog or "").split())))
    rows = [(str(code), f"`{outcome}`", meanings[str(code)]) for outcome, code in EXIT_CODES.items()]
    grave = [outcome for outcome in EXIT_CODES if suite_exit_code([outcome, "passed"])]
    codes = ", ".join(str(EXIT_CODES[outcome]) for outcome in sorted(grave, key=_graver_ones))
    return page(
        "Exit codes",
        table(("code", "outcome of a call", "meaning"), rows),
        prose(documented_names(result)["Outcome"]),
        f"Several calls end with the first of {codes} that is among their codes, else with 0. Unsupported scenarios "
        "count as skipped; where nothing else ran, the code is 4. A run whose results could not all be written (a full "
        "disk) ends with 2, unless it is 5. One that is interrupted (Ctrl-C) ends with 130.",
        "In a [suite file](suites.md), a broken limit of all calls counts like a call with code 1, what its `failed` "
        "allows like calls that passed (only 1, 3 and 6 can be allowed), and a call that the run did not come to like "
        "one with code 3.",
    )


def _graver_ones(outcome: Outcome) -> int:
    return sum(suite_exit_code([outcome, other]) != EXIT_CODES[outcome] for other in EXIT_CODES)
