"""Several calls as one document, and the exit code they make together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypedDict

from voiceharness.report.repeats import repeats
from voiceharness.report.serialization import plain
from voiceharness.scenario.result import EXIT_CODES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from voiceharness.measure.metrics import Json
    from voiceharness.report.document import CallDocument
    from voiceharness.scenario.result import Outcome

__all__ = ["SUITE_FORMAT", "SuiteCall", "SuiteDocument", "suite_document", "suite_exit_code"]

SUITE_FORMAT: Final = "voiceharness-suite/1"

_GRAVEST_FIRST: Final[tuple[Outcome, ...]] = (
    "harness_fault",
    "bad_scenario",
    "not_called",
    "protocol_violation",
    "failed",
)


class SuiteCall(TypedDict):
    """One call of a suite: the file its scenario stands in, and the folder its evidence is in, where there are any."""

    file: str | None
    folder: str | None
    call: CallDocument


class SuiteDocument(TypedDict):
    """A suite; ``counts`` has the number of calls of each outcome that occurred, ``repeats`` what was called again."""

    format: str
    name: str
    exit_code: int
    counts: Mapping[Outcome, int]
    calls: Sequence[SuiteCall]
    repeats: Sequence[Json]


def suite_document(name: str, calls: Sequence[SuiteCall]) -> SuiteDocument:
    """Put calls together, in their order."""
    outcomes = [each["call"]["outcome"] for each in calls]
    return {
        "format": SUITE_FORMAT,
        "name": name,
        "exit_code": suite_exit_code(outcomes),
        "counts": {outcome: outcomes.count(outcome) for outcome in EXIT_CODES if outcome in outcomes},
        "calls": calls,
        "repeats": [plain(each) for each in repeats(each["call"] for each in calls) if each.n > 1],
    }


def suite_exit_code(outcomes: Iterable[Outcome]) -> int:
    """Return the exit code of the gravest outcome: 5, 2, 3, 6, 1, else 0.

    Unsupported scenarios are skipped; only where nothing else ran, they make it 4.
    """
    present = set(outcomes)
    for outcome in _GRAVEST_FIRST:
        if outcome in present:
            return EXIT_CODES[outcome]
    return EXIT_CODES["unsupported"] if present == {"unsupported"} else EXIT_CODES["passed"]
