"""Nothing yet, the end, and a failure: three things."""

from __future__ import annotations

import asyncio

import pytest

from voiceharness.audio.chunk import AudioChunk
from voiceharness.clock import LoopClock, run_virtual
from voiceharness.errors import CallDroppedError
from voiceharness.events import Digit, EndOfStream
from voiceharness.inbox import Inbox

__all__: list[str] = []

CHUNK = AudioChunk(b"\1\0", 8000)


def test_items_come_in_order_and_then_the_end_for_ever() -> None:
    async def main() -> None:
        inbox = Inbox()
        inbox.put(CHUNK)
        inbox.put(Digit("1"))
        inbox.end()
        inbox.put(Digit("2"))
        assert [await inbox.get(None) for _ in range(4)] == [CHUNK, Digit("1"), EndOfStream(), EndOfStream()]

    run_virtual(main())


def test_an_error_is_raised_once_when_everything_before_it_was_taken() -> None:
    async def main() -> None:
        inbox = Inbox()
        inbox.put(CHUNK)
        inbox.end(CallDroppedError("the line broke"))
        inbox.end(CallDroppedError("and again"))
        assert await inbox.get(0.0) == CHUNK
        with pytest.raises(CallDroppedError, match="the line broke"):
            await inbox.get(0.0)
        assert await inbox.get(None) == EndOfStream()

    run_virtual(main())


def test_nothing_in_time_is_none() -> None:
    async def main() -> None:
        clock, inbox = LoopClock(), Inbox()
        assert await inbox.get(0.25) is None
        assert clock.now_ns() == 250_000_000
        assert await inbox.get(0.0) is None

    run_virtual(main())


@pytest.mark.parametrize("ends", [True, False])
def test_who_waits_is_woken_by_an_item_or_the_end(*, ends: bool) -> None:
    async def main() -> None:
        inbox = Inbox()
        getting = asyncio.create_task(inbox.get(None))
        await LoopClock().sleep(1.0)
        inbox.end() if ends else inbox.put(CHUNK)
        assert await getting == (EndOfStream() if ends else CHUNK)

    run_virtual(main())


def test_who_gives_up_waiting_takes_nothing_away() -> None:
    async def main() -> None:
        inbox = Inbox()
        getting = asyncio.create_task(inbox.get(None))
        await LoopClock().sleep(1.0)
        getting.cancel()
        inbox.put(CHUNK)
        await asyncio.wait([getting])
        assert await inbox.get(0.0) == CHUNK

    run_virtual(main())
