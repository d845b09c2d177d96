"""How tasks wait for the line: until a position, or until something changes what they compute from."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from voiceharness.clock import Clock

__all__ = ["Bell"]


@dataclass(slots=True, eq=False)
class _Sleeper:
    future: asyncio.Future[None]
    growth: bool


class Bell:
    """Wakes sleepers. A *growth* (more sound, more words) wakes only those who asked for it; the rest wakes all."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._sleepers: list[_Sleeper] = []

    def ring(self, *, growth: bool = False) -> None:
        """Wake everybody, or with ``growth`` those who wait for more."""
        for sleeper in self._sleepers:
            if (sleeper.growth or not growth) and not sleeper.future.done():
                sleeper.future.set_result(None)

    async def sleep(self, until_ns: int | None, *, growth: bool) -> None:
        """Sleep until a time on the loop's clock (None: no such time), or until the bell rings."""
        sleeper = _Sleeper(asyncio.get_running_loop().create_future(), growth)
        timer = None if until_ns is None else self._clock.call_at_ns(until_ns, lambda: _wake(sleeper))
        self._sleepers.append(sleeper)
        try:
            await sleeper.future
        finally:
            self._sleepers.remove(sleeper)
            if timer is not None:
                timer.cancel()


def _wake(sleeper: _Sleeper) -> None:
    if not sleeper.future.done():
        sleeper.future.set_result(None)
