"""Who does what when, while many calls are made at once in one process.

Theory of operation. Making the user's audio and judging a call take the processor for longer than a frame lasts; a call
that goes on meanwhile would be late. So a batch has three parts: the audio of all calls is made; then they dial, a
moment apart, their frames spread over the time of a frame; and when the last of them is over, all are judged.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from voiceharness.clock import NS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from voiceharness.clock import Clock
    from voiceharness.scenario.preparation import Clip
    from voiceharness.scenario.scenario import Scenario

__all__ = ["Slot", "Slots"]


class Slots:
    """The slots of one batch. ``apart``: seconds from one call's dialling to the next one's."""

    def __init__(self, count: int, clock: Clock, apart: float) -> None:
        self.count = count
        self.clock = clock
        self.apart_ns = round(apart * NS)
        self.first_ns = 0
        self.clips: dict[int, Mapping[int, Clip]] = {}
        self.ready = asyncio.Event()
        self.over = asyncio.Event()
        self._preparing = self._going_on = count

    def prepared(self) -> None:
        """Take note that one more call is ready to dial; the last one begins the calls."""
        self._preparing -= 1
        if not self._preparing:
            self.first_ns = self.clock.now_ns()
            self.ready.set()

    def ended(self) -> None:
        """Take note that one more call is over."""
        self._going_on -= 1
        if not self._going_on:
            self.over.set()


class Slot:
    """One call's slot. Whoever has it goes on to each part in turn, and leaves it however the call came to its end."""

    def __init__(self, slots: Slots, index: int) -> None:
        self._slots = slots
        self._index = index
        self._is_prepared = self._is_over = False
        self.phase = index / slots.count
        """Where in the time of a frame the call's frames are due."""

    def clips(self, scenario: Scenario, make: Callable[[], Mapping[int, Clip]]) -> Mapping[int, Clip]:
        """Return the user's audio of a scenario: it is made once for all calls that play the same one."""
        known = self._slots.clips
        if id(scenario) not in known:
            known[id(scenario)] = make()
        return known[id(scenario)]

    async def until_dialling(self) -> None:
        """Wait until the audio of all calls is made and this one's moment has come."""
        self._prepare()
        await self._slots.ready.wait()
        await self._slots.clock.sleep_until_ns(self._slots.first_ns + self._index * self._slots.apart_ns)

    async def until_judging(self) -> None:
        """Wait until all calls are over."""
        self.leave()
        await self._slots.over.wait()

    def leave(self) -> None:
        """Let nobody wait for this call. Idempotent."""
        self._prepare()
        if not self._is_over:
            self._is_over = True
            self._slots.ended()

    def _prepare(self) -> None:
        if not self._is_prepared:
            self._is_prepared = True
            self._slots.prepared()
