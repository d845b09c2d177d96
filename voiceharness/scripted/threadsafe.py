"""A way into a scripted transport from threads it does not belong to (a SIP stack, a sound card)."""

from __future__ import annotations

from concurrent.futures import Future
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from voiceharness.scripted.inbound import EventLike
    from voiceharness.scripted.protocol import AudioLike
    from voiceharness.scripted.transport import ScriptedRealtimeTransport

__all__ = ["ThreadsafeTransport"]

R = TypeVar("R")


class ThreadsafeTransport:
    """Runs what other threads want on the transport's own loop, in the order they asked.

    Each method returns a ``concurrent.futures.Future`` at once. It holds what the transport returned or raised; wait
    for it in the other thread only. Not for virtual time, which refuses other threads.
    """

    def __init__(self, transport: ScriptedRealtimeTransport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop

    def run(self, use: Callable[[ScriptedRealtimeTransport], R]) -> Future[R]:
        """Let ``use`` work with the transport on its loop."""
        future: Future[R] = Future()

        def call() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(use(self._transport))
            except BaseException as error:  # relayed to the thread that asked
                future.set_exception(error)

        self._loop.call_soon_threadsafe(call)
        return future

    def send_audio(self, audio: AudioLike, *, commit: bool = False) -> Future[None]:
        """Send user audio."""
        return self.run(lambda transport: transport.send_audio(audio, commit=commit))

    def emit(self, event: EventLike) -> Future[bool]:
        """Deliver an event; the result is whether anybody listened."""
        return self.run(lambda transport: bool(transport.emit(event)))
