"""How tasks wait for the line: until a position, or until something changes what they compute from."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Collection

    from voiceharness.clock import Clock

__all__ = ["AN_ONSET", "NOTHING", "Bell", "News"]

News = Literal["onset", "audio", "words", "change"]
"""``onset``: sound that may begin a segment; ``audio``: any audio; ``words``: words or the end of a turn, as events.

``change``: a flush, the end of the call, a digit. It wakes everybody: a waited-for position may have come nearer.
"""

NOTHING: Final[tuple[News, ...]] = ()
"""For those whose position more sound can only postpone."""

AN_ONSET: Final[tuple[News, ...]] = ("onset",)
"""For those who wait for sound to begin."""


@dataclass(slots=True, eq=False)
class _Sleeper:
    future: asyncio.Future[None]
    news: Collection[News]


class Bell:
    """Wakes sleepers when there is the news they asked for."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._sleepers: list[_Sleeper] = []

    def ring(self, news: News = "change") -> None:
        """Wake those who asked for some news, or everybody for a change."""
        for sleeper in self._sleepers:
            if news == "change" or news in sleeper.news:
                _wake(sleeper)

    async def sleep(self, until_ns: int | None, news: Collection[News]) -> None:
        """Sleep until a time on the loop's clock (None: no such time), or until the bell rings."""
        sleeper = _Sleeper(asyncio.get_running_loop().create_future(), news)
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
