"""What is special about the fast websocket; what it shares with the other is tested over both."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from voiceharness.clock import run_real
from voiceharness_adapters.twilio.asgi_server import serve_asgi

pytest.importorskip("picows")

from voiceharness_adapters.twilio.fast_socket import open_fast

if TYPE_CHECKING:
    from voiceharness_adapters.twilio.door import Closed

pytestmark = pytest.mark.realtime


class Listener:
    """Keeps what came, and when; taking a message takes a while."""

    def __init__(self, count: int) -> None:
        self.arrived: list[int] = []
        self.taken: list[int] = []
        self.complete = asyncio.Event()
        self._count = count

    def stream_message(self, data: str | bytes, at_ns: int) -> None:
        sum(range(20_000))
        self.arrived.append(at_ns)
        self.taken.append(json.loads(data))
        if len(self.taken) == self._count:
            self.complete.set()

    def stream_closed(self, closed: Closed) -> None:
        self.complete.set()


def test_messages_that_are_read_at_once_arrived_at_once() -> None:
    count = 300

    async def burst(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        for index in range(count):
            await send({"type": "websocket.send", "text": str(index)})
        await receive()

    async def main() -> Listener:
        listener = Listener(count)
        async with serve_asgi(burst) as port:
            socket = await open_fast(f"ws://127.0.0.1:{port}/", [], listener, timeout=5.0, max_frame=1 << 20)
            await listener.complete.wait()
            socket.close()
            await socket.wait_closed(1.0)
        return listener

    listener = run_real(main())
    assert listener.taken == list(range(count))
    assert listener.arrived == sorted(listener.arrived)
    assert len(set(listener.arrived)) < count / 10


def test_a_far_side_that_reads_slowly_is_no_news_for_the_console(caplog: pytest.LogCaptureFixture) -> None:
    async def busy(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        while (await receive())["type"] == "websocket.receive":
            pass

    async def main() -> None:
        async with serve_asgi(busy) as port:
            socket = await open_fast(f"ws://127.0.0.1:{port}/", [], Listener(1), timeout=5.0, max_frame=1 << 20)
            for _ in range(120):
                socket.send("x" * 100_000)
            socket.close()
            await socket.wait_closed(5.0)

    run_real(main())
    assert caplog.messages == []
