"""A transport belongs to one thread; the facade lets others in."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from voiceharness.clock import LoopClock
from voiceharness.scripted.errors import (
    ForeignThreadError,
)
from voiceharness.scripted.inbound import TurnDoneEvent
from voiceharness.scripted.transport import ScriptedRealtimeTransport

__all__: list[str] = []


def in_another_thread(work: Any) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_another_thread_is_refused(transport: ScriptedRealtimeTransport) -> None:
    transport.interrupt()
    caught = list[BaseException]()

    def work() -> None:
        for use in (
            transport.interrupt,
            transport.close,
            transport.disconnect,
            lambda: transport.emit(TurnDoneEvent()),
        ):
            try:
                use()
            except ForeignThreadError as error:
                caught.append(error)

    in_another_thread(work)
    assert len(caught) == 4
    assert "threadsafe()" in str(caught[0])
    assert len(transport.calls) == 1


def test_the_facade_lets_another_thread_in() -> None:
    async def main() -> None:
        transport = ScriptedRealtimeTransport()
        transport.when("interrupt").fail(OSError("refused"))
        facade = transport.threadsafe()

        def work() -> tuple[bool, bool]:
            facade.send_audio(b"\x01\x02", commit=True).result()
            with pytest.raises(OSError, match="refused"):
                facade.run(lambda inner: inner.interrupt()).result()
            return facade.emit(TurnDoneEvent()).result(), facade.run(lambda inner: inner.muted).result()

        assert await asyncio.to_thread(work) == (False, False)
        assert transport.audio_sent() == b"\x01\x02"

    asyncio.run(main())


def test_a_request_of_another_thread_can_be_cancelled_before_it_ran() -> None:
    async def main() -> None:
        transport = ScriptedRealtimeTransport()
        request = transport.threadsafe().send_audio(b"")
        assert request.cancel()
        await LoopClock().sleep(0)
        assert transport.calls == ()

    asyncio.run(main())
