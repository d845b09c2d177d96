"""Serve an agent on a TCP socket, for tests of the adapter and for probes."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from voiceharness.agent import AgentCall, serve
from voiceharness.audio.chunk import AudioChunk
from voiceharness.clock import LoopClock
from voiceharness.errors import AgentCrashedError
from voiceharness.events import CallEnded, Digit, EndOfStream, Flush, Interrupted, Mark, MarkPlayed, RemoteHangup
from voiceharness_pcm_socket import wire
from voiceharness_pcm_socket.wire import Message, pack, read_message

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from voiceharness.agent import AgentItem, PhoneAgent

__all__ = ["host"]

GOODBYE = 1.0
"""Seconds that an agent may go on after its call has ended."""


@asynccontextmanager
async def host(agent: PhoneAgent) -> AsyncIterator[Mapping[str, object]]:
    """Serve an agent on a free port; yields the options with which ``pcm_socket`` reaches it."""
    calls: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        call = asyncio.create_task(_serve(agent, reader, writer), name="pcm_socket call")
        calls.add(call)
        call.add_done_callback(calls.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield {"port": server.sockets[0].getsockname()[1]}
    finally:
        server.close()
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)


async def _serve(agent: PhoneAgent, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    first = await read_message(reader)
    call = AgentCall(LoopClock(), rate=int(first.text) if first else 8000)
    tasks = [
        asyncio.create_task(serve(agent, call), name="agent of pcm_socket"),
        asyncio.create_task(_listen(call, reader), name="pcm_socket listens"),
    ]
    try:
        await _talk(call, writer)
        call.deliver(CallEnded("the call is over"))
        await asyncio.wait(tasks[:1], timeout=GOODBYE)
    finally:
        writer.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        with suppress(OSError):
            await writer.wait_closed()


async def _listen(call: AgentCall, reader: asyncio.StreamReader) -> None:
    while (message := await read_message(reader)) is not None:
        _hand_over(call, message)
    call.deliver(CallEnded("the socket was closed"))


def _hand_over(call: AgentCall, message: Message) -> None:
    match message.kind:
        case wire.AUDIO:
            call.deliver(AudioChunk(message.payload, call.rate))
        case wire.DIGIT:
            call.deliver(Digit(message.text))
        case wire.INTERRUPT:
            call.deliver(Interrupted())
        case wire.PLAYED:
            call.deliver(MarkPlayed(message.text))
        case wire.HANGUP:
            call.deliver(CallEnded(message.text or "the user hung up"))


async def _talk(call: AgentCall, writer: asyncio.StreamWriter) -> None:
    """Send what the agent sends, until it ends; one that crashed does not say goodbye."""
    try:
        while not isinstance(item := await call.sent(), EndOfStream):
            writer.write(_packed(item))
            await writer.drain()
    except (AgentCrashedError, OSError):
        return


def _packed(item: AgentItem) -> bytes:
    match item:
        case AudioChunk():
            return pack(wire.AUDIO, item.pcm)
        case Flush():
            return pack(wire.FLUSH)
        case Mark(name=name):
            return pack(wire.MARK, name.encode())
        case RemoteHangup(reason=reason):
            return pack(wire.HANGUP, reason.encode())
    return b""
