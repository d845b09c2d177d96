"""The calls of a run that have ended, told in the order of their jobs, whatever the order in which they end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from voiceharness.report.suite import SuiteCall

__all__ = ["Ledger"]


@dataclass(slots=True)
class Ledger:
    """Calls by the number of their job, from 0; ``ended`` holds those that wait for one before them."""

    on_call: Callable[[SuiteCall], None]
    ended: dict[int, SuiteCall] = field(default_factory=dict)
    told: int = 0

    def enter(self, number: int, call: SuiteCall) -> None:
        """Take a call that has ended."""
        self.ended[number] = call

    def tell(self) -> None:
        """Tell of every call before which none is missing."""
        while self.told in self.ended:
            self.told += 1
            self.on_call(self.ended.pop(self.told - 1))

    def tell_rest(self) -> None:
        """Tell of what there is, because no more will come."""
        for number in sorted(self.ended):
            self.on_call(self.ended.pop(number))
