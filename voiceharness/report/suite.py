"""Several calls as one document, and the exit code they make together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NotRequired, TypedDict

from voiceharness.report.cells import told_apart
from voiceharness.report.interruption import was_interrupted
from voiceharness.report.limits import TOLERABLE, judge_suite
from voiceharness.report.repeats import repeats
from voiceharness.report.serialization import plain
from voiceharness.scenario.result import EXIT_CODES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from voiceharness.measure.metrics import Json
    from voiceharness.report.cells import Cell
    from voiceharness.report.document import CallDocument
    from voiceharness.report.limits import LimitDocument, SuiteLimits
    from voiceharness.scenario.result import Outcome

__all__ = [
    "SUITE_FORMAT",
    "Attempt",
    "MissingCall",
    "SuiteCall",
    "SuiteDocument",
    "incomplete",
    "suite_document",
    "suite_exit_code",
]

SUITE_FORMAT: Final = "voiceharness-suite/1"

_GRAVEST_FIRST: Final[tuple[Outcome, ...]] = (
    "harness_fault",
    "bad_scenario",
    "not_called",
    "protocol_violation",
    "failed",
)


class Attempt(TypedDict):
    """An earlier call of a cell that was called again, and where its evidence is."""

    outcome: Outcome
    folder: str | None


class SuiteCall(TypedDict):
    """One call of a suite: the file its scenario stands in, and the folder its evidence is in, where there are any.

    ``unsaved`` tells why its evidence, or a page of it, could not be saved; it is there only if that is so.

    ``cell`` is its place in the grid of a suite file. Where only what had failed was called again, ``made`` tells
    whether this call was made in this run or is kept of an earlier one, and ``before`` what the cell came to earlier,
    oldest first.
    """

    file: str | None
    folder: str | None
    call: CallDocument
    unsaved: NotRequired[str]
    cell: NotRequired[Cell]
    made: NotRequired[Literal["now", "earlier"]]
    before: NotRequired[Sequence[Attempt]]


class MissingCall(TypedDict):
    """A call that was planned and not made, because the run ended early; its evidence would be in ``folder``.

    ``before``: as of a call.
    """

    scenario: str
    file: str | None
    folder: str
    cell: Cell
    before: NotRequired[Sequence[Attempt]]


class SuiteDocument(TypedDict):
    """A suite; ``counts`` has the number of calls of each outcome that occurred, ``repeats`` what was called again.

    Calls that were going on when the run was stopped count for nothing, see :mod:`.interruption`.

    ``limits`` and ``missing`` are those of a suite file.
    """

    format: str
    name: str
    exit_code: int
    counts: Mapping[Outcome, int]
    calls: Sequence[SuiteCall]
    repeats: Sequence[Json]
    limits: NotRequired[Sequence[LimitDocument]]
    missing: NotRequired[Sequence[MissingCall]]


def suite_document(
    name: str, calls: Sequence[SuiteCall], *, limits: SuiteLimits | None = None, missing: Sequence[MissingCall] = ()
) -> SuiteDocument:
    """Put calls together, in their order; ``limits``, also empty ones, and ``missing`` are those of a suite file.

    A call whose evidence could not be saved keeps its verdict, and the whole gets the code of wrong use.
    """
    outcomes = [each["call"]["outcome"] for each in calls if not was_interrupted(each["call"])]
    interrupted = bool(missing) or len(outcomes) < len(calls)
    judged = [] if limits is None else judge_suite(limits, calls, interrupted=interrupted)
    not_made: list[Outcome] = ["not_called"] if interrupted else []
    unsaved: list[Outcome] = ["bad_scenario"] if any("unsaved" in each for each in calls) else []
    document: SuiteDocument = {
        "format": SUITE_FORMAT,
        "name": name,
        "exit_code": suite_exit_code([*_with_limits(outcomes, judged), *not_made, *unsaved]),
        "counts": {outcome: outcomes.count(outcome) for outcome in EXIT_CODES if outcome in outcomes},
        "calls": calls,
        "repeats": [plain(each) for each in repeats(told_apart(calls)) if each.n > 1],
    }
    if limits is not None:
        document["limits"] = judged
        document["missing"] = missing
    return document


def _with_limits(outcomes: Sequence[Outcome], judged: Sequence[LimitDocument]) -> list[Outcome]:
    """Return the outcomes that decide: what is allowed to fail counts as passed, and a broken limit as a failure."""
    allowed = any(each["kind"] == "failed" and each["verdict"] == "held" for each in judged)
    deciding: list[Outcome] = ["passed" if allowed and each in TOLERABLE else each for each in outcomes]
    return [*deciding, "failed"] if any(each["verdict"] == "broken" for each in judged) else deciding


def incomplete(suite: SuiteDocument) -> SuiteDocument:
    """Return a suite as it is told where a file of it could not be written: with the code of wrong use, unless 5."""
    fault = EXIT_CODES["harness_fault"]
    return suite if suite["exit_code"] == fault else {**suite, "exit_code": EXIT_CODES["bad_scenario"]}


def suite_exit_code(outcomes: Iterable[Outcome]) -> int:
    """Return the exit code of the gravest outcome: 5, 2, 3, 6, 1, else 0.

    Unsupported scenarios are skipped; only where nothing else ran, they make it 4.
    """
    present = set(outcomes)
    for outcome in _GRAVEST_FIRST:
        if outcome in present:
            return EXIT_CODES[outcome]
    return EXIT_CODES["unsupported"] if present == {"unsupported"} else EXIT_CODES["passed"]
