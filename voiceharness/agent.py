"""The duplex door of an agent, independent of the transport that carries the call.

Theory of operation. A :class:`PhoneAgent` is written once and served by a host on any transport (in-process, a Twilio
stream, SIP, a sound card). For each call the host makes an :class:`AgentCall` and runs ``agent.answer(call)``. The
agent's face of that object is ``receive`` or ``listen`` (the user's audio frame by frame, digits, ``Interrupted``,
played marks, the end of the call) and ``send`` with its short forms (audio, flush, mark, words, hang-up). The host's
face is ``deliver`` and ``sent``. Nothing here knows a transport, and nothing here waits for time.

Audio may be sent at any rate and leaves the door at the line's. The resampler needs to see a few milliseconds ahead, so
the end of what was sent is held back: until more of the same item comes, or something else that ends it, or its time
has run out. Each chunk is stamped with the time at which its own first sample was due, so holding back moves no sound.

``listen`` hands each item to a function at once, without a task switch; it is how an agent that reacts to single
frames stays cheap. ``receive`` is the same stream for agents that prefer to await.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from inspect import signature
from math import isfinite
from numbers import Integral, Real
from typing import TYPE_CHECKING, Final, TypeAlias

from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.resample import Resampler
from voiceharness.clock import NS
from voiceharness.errors import AgentCrashedError, AudioError, LocalProtocolError, VirtualTimeError
from voiceharness.events import (
    AgentEvent,
    CallEnded,
    EndOfStream,
    Flush,
    Mark,
    RemoteHangup,
    TurnDone,
    UserItem,
    Word,
    Words,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from voiceharness.clock import Clock

__all__ = ["AgentCall", "AgentItem", "Host", "PhoneAgent", "hosted", "serve"]

AgentItem: TypeAlias = AudioChunk | AgentEvent
"""What an agent can send through its door."""

ENDS_ITEM: Final = (Flush, TurnDone, RemoteHangup, EndOfStream)
MOST_ENDS_TOLD: Final = 1000
SENT_AHEAD: Final = 0.1
TAIL_LEAD: Final = 0.01
TAIL_GRACE: Final = 0.02


class PhoneAgent(ABC):
    """An agent that answers the phone. One object may serve many calls at once; keep a call's state in ``answer``.

    ``ring``: seconds that a call to it rings before it is answered, on transports where a call can ring.
    """

    ring: float = 0.0

    @abstractmethod
    async def answer(self, call: AgentCall) -> None:
        """Serve one call from answer to hang-up. Returning hangs up; raising is a crash of the agent."""

    def missed(self, code: int | None, reason: str) -> None:  # noqa: B027  a hook with an empty default
        """Take note of a call that never came up: given up while it rang here, or one of its own that was refused.

        ``code`` and ``reason`` are the transport's own cause, where it has one.
        """


Host: TypeAlias = Callable[..., AbstractAsyncContextManager[Mapping[str, object]]]
"""Serves an agent on some transport while it is entered; yields the options of the adapter that reaches it.

It is called with the agent, and by name with those options of the adapter that it takes: where they decide how the
agent is to be reached.
"""


def hosted(
    host: Host, agent: PhoneAgent, options: Mapping[str, object]
) -> AbstractAsyncContextManager[Mapping[str, object]]:
    """Serve an agent by a host to an adapter with these options; an agent among them gives way to this one."""
    _, *known = signature(host).parameters
    return host(agent, **{name: value for name, value in options.items() if name in known})


class AgentCall:
    """One call, as the agent and its host see it.

    ``rate`` is the line's rate in hertz: the user's audio comes at it. ``late_items`` counts what the agent sent
    after the call had ended; it is dropped.
    """

    def __init__(self, clock: Clock, *, rate: int = 8000) -> None:
        self.clock = clock
        self.rate = rate
        self.late_items = 0
        self._inbox: deque[UserItem] = deque()
        self._outbox: deque[AgentItem] = deque()
        self._inbox_waiter: asyncio.Future[None] | None = None
        self._outbox_waiter: asyncio.Future[None] | None = None
        self._sink: Callable[[UserItem], None] | None = None
        self._ended: CallEnded | None = None
        self._hung_up = False
        self._ends_told = 0
        self._crash: BaseException | None = None
        self._to_line_rate = _ToLineRate(clock, rate, self._put)

    # The agent's face

    @property
    def ended(self) -> bool:
        """Whether the call is over: either side has ended it, or the agent crashed."""
        return self._ended is not None or self._hung_up or self._crash is not None

    @property
    def crash_cause(self) -> BaseException | None:
        """What the agent's code raised, if it did."""
        return self._crash

    async def receive(self) -> UserItem:
        """Return the next thing from the user's side, in order of arrival; after the end, ``CallEnded`` each time.

        Raises:
            LocalProtocolError: if ``listen`` was chosen, if another task is receiving, or if the end was told so often
                that nobody looks for it.
        """
        if self._sink is not None:
            raise LocalProtocolError("this call is listened to by a function; it cannot be received from as well")
        while not self._inbox:
            if self._ended is not None:
                return self._tell_end(self._ended)
            if self._inbox_waiter is not None:
                raise LocalProtocolError("two tasks receive from one call; give the items to one of them")
            self._inbox_waiter = asyncio.get_running_loop().create_future()
            try:
                await self._inbox_waiter
            finally:
                self._inbox_waiter = None
        return self._inbox.popleft()

    def _tell_end(self, ended: CallEnded) -> CallEnded:
        """Tell the end again, but not for ever: a loop that does not look for it never lets anybody else run."""
        self._ends_told += 1
        if self._ends_told > MOST_ENDS_TOLD:
            raise LocalProtocolError(
                f"receive() has said {self._ends_told - 1} times that the call has ended; leave the loop at a CallEnded"
            )
        return ended

    def listen(self, sink: Callable[[UserItem], None]) -> None:
        """Hand every item to a function as it arrives, instead of queueing it for ``receive``."""
        self._sink = sink
        while self._inbox:
            sink(self._inbox.popleft())

    def send(self, item: AgentItem) -> None:
        """Send audio, of any rate, or an event to the user's side; it is stamped with the time of sending.

        Raises:
            AudioError: if the audio is not 16-bit PCM in bytes, has half a sample, or no rate.
            LocalProtocolError: if it is nothing that can be sent, or if words are not timed.
        """
        if self.ended:
            self.late_items += 1
            return
        _check_item(item)
        sent_ns = self.clock.now_ns() if item.at_ns is None else item.at_ns
        stamped = replace(item, at_ns=sent_ns)
        if isinstance(stamped, AudioChunk):
            self._to_line_rate.send(_frozen(stamped), sent_ns)
            return
        if isinstance(stamped, ENDS_ITEM):
            self._to_line_rate.finish(flushed=isinstance(stamped, Flush))
        self._put(stamped)

    def _put(self, item: AgentItem) -> None:
        self._outbox.append(item)
        _wake(self._outbox_waiter)

    def flush(self) -> None:
        """Empty the playout queue: what the user has not heard yet is dropped."""
        self.send(Flush())

    def mark(self, name: str) -> None:
        """Ask for ``MarkPlayed(name)`` when playout reaches this point."""
        self.send(Mark(name))

    def send_words(self, words: Sequence[Word], *, item: str | None = None) -> None:
        """Tell the words of an item, timed from the item's first sample.

        Raises:
            LocalProtocolError: if one is not a ``Word``, or has no finite times.
        """
        self.send(Words(item, tuple(words)))

    def hang_up(self, reason: str = "", *, code: int | None = None) -> None:
        """End the call at once: audio that was not heard yet is lost."""
        if self.ended:
            return
        self.send(RemoteHangup(reason, code))
        self.send(EndOfStream())
        self._hung_up = True

    # The host's face

    def deliver(self, item: UserItem) -> None:
        """Give the agent one thing from the user's side. ``CallEnded`` ends the call; what comes after is dropped."""
        if self._ended is not None:
            return
        if isinstance(item, CallEnded):
            self._end(item)
        if self._sink is None:
            self._inbox.append(item)
            _wake(self._inbox_waiter)
            return
        try:
            self._sink(item)
        except Exception as error:  # supervision point: the agent's own code
            self.crash(error)

    def _end(self, ended: CallEnded) -> None:
        if not self.ended:
            self._to_line_rate.finish()
            self._put(EndOfStream(at_ns=self.clock.now_ns()))
        self._ended = ended

    def take_sent(self) -> AgentItem | None:
        """Return the next thing the agent sent, or None if there is nothing now.

        Raises:
            AgentCrashedError: once everything that was sent before the crash has been taken.
        """
        if self._outbox:
            return self._outbox.popleft()
        if self._crash is not None:
            raise _crash_error(self._crash) from self._crash
        return None

    async def sent(self) -> AgentItem:
        """Wait for the next thing the agent sends; ``EndOfStream`` is the last.

        Raises:
            AgentCrashedError: once everything that was sent before the crash has been taken.
        """
        while (item := self.take_sent()) is None:
            self._outbox_waiter = asyncio.get_running_loop().create_future()
            try:
                await self._outbox_waiter
            finally:
                self._outbox_waiter = None
        return item

    def crash(self, error: BaseException) -> None:
        """Record that the agent's code raised: the host's ``sent`` will raise it in its turn. The first one counts."""
        if self._crash is None:
            self._to_line_rate.finish()
            self._crash = error
        _wake(self._outbox_waiter)


async def serve(agent: PhoneAgent, call: AgentCall) -> None:
    """Run an agent on one call: its return hangs up, its exception becomes the call's crash."""
    try:
        await agent.answer(call)
    except asyncio.CancelledError as error:  # by the host once the call has ended; else something inside was cancelled
        if not call.ended:
            call.crash(error)
        raise
    except (Exception, SystemExit) as error:  # supervision point: the agent's own code
        call.crash(error)
    else:
        call.hang_up("the agent returned")


class _ToLineRate:
    """Bring an agent's audio to the line rate, item by item.

    What is held back is let go when its time has run out. Who sent well ahead has it let go shortly before, so that
    even a transport that cannot carry stamps plays on without a hole; who sends each frame just in time gets a grace,
    so that the next frame, slightly late, still continues the same stream.
    """

    def __init__(self, clock: Clock, rate: int, put: Callable[[AudioChunk], None]) -> None:
        self._clock = clock
        self._rate = rate
        self._put = put
        self._resampler: Resampler | None = None
        self._item: str | None = None
        self._sent_until_ns = 0
        self._timer: asyncio.TimerHandle | None = None

    def send(self, chunk: AudioChunk, sent_ns: int) -> None:
        """Pass a chunk on at the line rate, as far as it is complete."""
        resampler = self._resampler
        if resampler is not None and (chunk.rate, chunk.item) != (resampler.from_rate, self._item):
            self.finish()
        if chunk.rate == self._rate or not chunk.pcm:
            self._put(chunk)
            return
        started = sent_ns
        if self._resampler is None:
            self._resampler, self._item = Resampler(chunk.rate, self._rate), chunk.item
        elif self._sent_until_ns <= sent_ns:  # it had run dry, but for what is held back
            started -= self._held_ns()
        self._emit(self._resampler.push(chunk.samples), started)
        self._sent_until_ns = max(self._sent_until_ns, sent_ns) + len(chunk) * NS // chunk.rate
        self._set_timer(self._sent_until_ns - sent_ns)

    def finish(self, *, flushed: bool = False) -> None:
        """Let go of what is held back: the item has ended, or what follows of it is not wanted any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._resampler is not None:
            now_ns = self._clock.now_ns()
            dry = self._sent_until_ns <= now_ns
            self._emit(self._resampler.flush(), self._sent_until_ns - self._held_ns() if dry else now_ns)
            self._resampler = None
        if flushed:
            self._sent_until_ns = 0

    def _held_ns(self) -> int:
        return 0 if self._resampler is None else round(self._resampler.lookahead * NS)

    def _emit(self, samples: NDArray[np.int16], at_ns: int) -> None:
        if len(samples):
            self._put(replace(AudioChunk.from_samples(samples, self._rate, item=self._item), at_ns=at_ns))

    def _set_timer(self, queued_ns: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
        shift = -TAIL_LEAD if queued_ns > SENT_AHEAD * NS else TAIL_GRACE
        self._timer = self._clock.call_at_ns(self._sent_until_ns + round(shift * NS), self.finish)


def _check_item(item: object) -> None:
    """Refuse what is no item of a call here, where the agent's own code is at fault: later it would look like ours."""
    if isinstance(item, AudioChunk):
        _check_audio(item.pcm, item.rate)
    elif isinstance(item, Words):
        for word in item.words:
            _check_word(word)
    elif not isinstance(item, AgentEvent):
        raise LocalProtocolError(f"the agent sent {_kind(item)}; it can send an AudioChunk, or an event such as Flush")


def _check_audio(pcm: object, rate: object) -> None:
    if not isinstance(pcm, bytes | bytearray | memoryview):
        raise AudioError(
            f"the agent sent {_kind(pcm)} as pcm, which takes the bytes of 16-bit samples; "
            "for an int16 array there is AudioChunk.from_samples"
        )
    size = pcm.nbytes if isinstance(pcm, memoryview) else len(pcm)
    if size % 2:
        raise AudioError(f"the agent sent {size} bytes of audio; 16-bit samples take an even number")
    if not isinstance(rate, int | Integral):
        raise AudioError(f"the agent sent audio at {rate!r} Hz; a rate is a whole number")
    if rate <= 0:
        raise AudioError(f"the agent sent audio at {rate} Hz; a rate is positive")


def _frozen(chunk: AudioChunk) -> AudioChunk:
    """Copy audio out of a buffer that the agent may fill anew."""
    pcm: object = chunk.pcm
    return replace(chunk, pcm=bytes(pcm)) if isinstance(pcm, bytearray | memoryview) else chunk


def _check_word(word: object) -> None:
    if not isinstance(word, Word):
        raise LocalProtocolError(f"the agent sent {_kind(word)} as a word; one is a Word(text, start, end) in seconds")
    if not (isinstance(word.text, str) and _is_time(word.start) and _is_time(word.end)):
        raise LocalProtocolError(f"the agent sent {word!r}; a word has a text, and a start and an end in seconds")


def _is_time(value: object) -> bool:
    return isinstance(value, int | float | Real) and isfinite(value)


def _kind(value: object) -> str:
    return "nothing (None)" if value is None else f"a value of the type {type(value).__name__}"


def _crash_error(cause: BaseException) -> Exception:
    if isinstance(cause, VirtualTimeError):
        return VirtualTimeError(str(cause))
    return AgentCrashedError(f"the agent's code raised {type(cause).__name__}: {cause}")


def _wake(waiter: asyncio.Future[None] | None) -> None:
    if waiter is not None and not waiter.done():
        waiter.set_result(None)
