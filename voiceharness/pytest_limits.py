"""What a suite file limits over all its calls, as the last test of the file.

The limits are judged over the calls that were made in this process. Calls that were deselected, or skipped by
something else than this plugin, are told; where pytest-xdist gave calls of the file to other workers, nothing is
judged. A call that failed is a failed test of its own, also where the limit ``failed`` allows it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from voiceharness.report.limits import LimitDocument, SuiteLimits
    from voiceharness.report.suite import SuiteCall
    from voiceharness.scenario.result import CallResult
    from voiceharness.suite.plan import Plan

__all__ = ["ALL_CALLS", "LimitsItem", "MadeCalls", "limits_told", "move_behind_their_calls"]

ALL_CALLS: Final = "all_calls"
"""The name of the test, and its mark: the key in the suite file."""

_TOLD: Final = "voiceharness_limits"


@dataclass(frozen=True, slots=True)
class MadeCalls:
    """The calls of a suite file that were made so far, by their place in its plan."""

    plan: Plan
    made: dict[int, SuiteCall] = field(default_factory=dict)

    @property
    def limits(self) -> SuiteLimits | None:
        """The limits that are to be judged over them; None if there are none."""
        from voiceharness.report.limits import SuiteLimits

        return None if self.plan.limits in (None, SuiteLimits()) else self.plan.limits

    def keep(self, number: int, result: CallResult, secrets: Iterable[str]) -> None:
        """Keep of a call what the limits need; one that is made again replaces the earlier one."""
        from voiceharness.report.document import call_document

        cell = self.plan.calls[number].cell
        if self.limits is None or cell is None:
            return
        call = call_document(result, secrets=secrets)
        self.made[number] = {"file": cell["file"], "folder": None, "call": call, "cell": cell}

    def in_order(self) -> list[SuiteCall]:
        """Return the calls in the order of the plan."""
        return [self.made[number] for number in sorted(self.made)]


class LimitsItem(pytest.Item):
    """The limits of all calls of a suite file as a test."""

    def __init__(self, *, calls: MadeCalls, **options: Any) -> None:  # Any: pytest's own
        super().__init__(**options)
        self.calls = calls
        self.add_marker(ALL_CALLS)

    def runtest(self) -> None:
        """Judge the limits over the calls that were made."""
        from voiceharness.report.console import limits_text
        from voiceharness.report.limits import judge_suite

        assert self.calls.limits is not None  # it was collected for them
        self._refuse_what_others_made()
        judged = judge_suite(self.calls.limits, self.calls.in_order())
        told = f"{self._over()}\n{limits_text(judged)}".rstrip()
        self.user_properties.append((_TOLD, told))
        verdicts = {limit["verdict"] for limit in judged}
        if "broken" in verdicts:
            pytest.fail(told, pytrace=False)
        if "held" not in verdicts:
            pytest.skip(f"not judged: {_reasons(judged)}")

    def _refuse_what_others_made(self) -> None:
        elsewhere = self._selected() - len(self.calls.made)
        if elsewhere > 0 and hasattr(self.config, "workerinput"):  # as pytest-xdist tells its workers
            pytest.skip(f"other workers made {elsewhere} of the suite's calls; --dist=loadfile keeps them together")
        if not self.calls.made:
            pytest.skip("no call of the suite was made")

    def _over(self) -> str:
        """Say over how many calls the limits are judged, and why not over all."""
        plan, made, selected = self.calls.plan, len(self.calls.made), self._selected()
        reasons = ((len(plan.calls) - selected, "deselected"), (selected - made, "skipped"))
        missing = " and ".join(f"{count} {why}" for count, why in reasons if count > 0)
        all_of_them = f"all {made}" if made == len(plan.calls) else f"{made} of {len(plan.calls)}"
        return f"suite {plan.name}, {all_of_them} calls{f' ({missing})' if missing else ''}:"

    def _selected(self) -> int:
        return sum(item.parent is self.parent for item in self.session.items) - 1

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Say where the limits stand."""
        return self.path, None, f"suite: {self.name}"


def move_behind_their_calls(items: list[pytest.Item]) -> None:
    """Put limits behind the last call that they judge, whatever order the tests were put in."""
    for item in [each for each in items if isinstance(each, LimitsItem)]:
        items.remove(item)
        behind = [place for place, other in enumerate(items, start=1) if other.parent is item.parent]
        items.insert(max(behind, default=len(items)), item)


def limits_told(reports: Iterable[pytest.TestReport | pytest.CollectReport]) -> Iterator[str]:
    """Return what limits came to, of those reports that are of limits; a module may have been skipped as a whole."""
    for report in reports:
        if isinstance(report, pytest.CollectReport):
            continue
        yield from (str(told) for name, told in report.user_properties if name == _TOLD and report.when == "call")


def _reasons(judged: Iterable[LimitDocument]) -> str:
    return "; ".join(f"{limit['kind']}: {limit['explanation']}" for limit in judged)
