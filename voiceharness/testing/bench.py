"""The bench an adapter is checked on: an agent that does what it is told, and a guard around the adapter.

The guard turns the two faults that any call can show, not returning in time and raising an error that is none of ours,
into broken rules. Errors of our own tree pass, for the rule to judge.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from voiceharness.audio.chunk import AudioChunk
from voiceharness.clock import NS, LoopClock, Pacer
from voiceharness.doubles.probe_agent import ProbeAgent
from voiceharness.errors import ConformanceError, UnsupportedCapabilityError, VoiceHarnessError
from voiceharness.events import EndOfStream

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterable

    from voiceharness.adapter import Message, Received, VoiceAgentAdapter
    from voiceharness.agent import Host
    from voiceharness.doubles.log import CallLog
    from voiceharness.doubles.scripted_agent import Cue

__all__ = ["Bench", "BenchCall", "GuardedAdapter"]

T = TypeVar("T")
FRAME: Final = 0.02
EARLY: Final = 0.01


class GuardedAdapter:
    """An adapter whose calls are bounded in time and in what they may raise."""

    def __init__(self, adapter: VoiceAgentAdapter, patience: float) -> None:
        self.adapter = adapter
        self.track = _Track(adapter.rate)
        self._patience = patience

    @property
    def keeps_time(self) -> bool:
        """Whether the transport asks for the user's frames by its own tick."""
        return self.adapter.timing.paced_by == "transport"

    @property
    def asked(self) -> list[tuple[int, int]]:
        """Which stretches of the user's track a transport that keeps time has asked for: position and length."""
        return self.track.asked

    def broken(self, detail: str) -> ConformanceError:
        """Make the error that says what was observed; the rule's words are added by who runs the rule."""
        return ConformanceError(adapter=self.adapter.name, rule="", detail=detail)

    async def bounded(self, what: str, work: Coroutine[Any, Any, T]) -> T:
        """Await something the adapter does.

        Raises:
            ConformanceError: if it does not end in time, or raises what is none of our errors.
        """
        limit = asyncio.timeout(self._patience)
        try:
            async with limit:
                return await work
        except VoiceHarnessError:
            raise
        except asyncio.CancelledError as error:
            if _is_cancelled():
                raise
            raise self.broken(f"{what} was cancelled by nobody: what it waits for had been cancelled before") from error
        except Exception as error:
            if limit.expired():
                raise self.broken(f"{what} did not return within {self._patience:g} s") from None
            raise self.broken(
                f"{what} raised {type(error).__name__}: {error}; an adapter translates foreign errors into ours"
            ) from error

    async def connect(self) -> None:
        """Connect; a transport that keeps time finds a silent user's track to ask for frames."""
        await self.bounded("connect()", self.adapter.connect())
        if self.keeps_time:
            self.adapter.attach(self.track)

    async def disconnect(self) -> None:
        """Disconnect, which never raises."""
        try:
            await self.bounded("disconnect()", self.adapter.disconnect())
        except ConformanceError:
            raise
        except VoiceHarnessError as error:
            raise self.broken(f"disconnect() raised {type(error).__name__}: {error}; it never raises") from error

    async def send_audio(self, chunk: AudioChunk) -> None:
        """Send the user's audio."""
        await self.bounded("send_audio()", self.adapter.send_audio(chunk))

    async def receive_audio(self, timeout: float | None = None) -> Received | None:
        """Receive what comes next."""
        clock = LoopClock()
        start_ns = clock.now_ns()
        what = f"receive_audio(timeout={timeout})" if timeout is None else f"receive_audio(timeout={timeout:g})"
        item = await self.bounded(what, self.adapter.receive_audio(timeout))
        waited = (clock.now_ns() - start_ns) / NS
        if item is None and (timeout is None or waited < timeout - EARLY):
            raise self.broken(f"{what} returned None after {waited:.3f} s")
        if item is not None and item.at_ns is None and not isinstance(item, EndOfStream):
            raise self.broken(f"receive_audio() returned {item!r} without the time of its arrival (at_ns)")
        return item

    async def received_until(self, enough: Callable[[list[Received]], bool]) -> list[Received]:
        """Receive until there is enough, the stream has ended, or patience has."""
        return await self.received_for(self._patience, enough)

    async def received_for(
        self, seconds: float, enough: Callable[[list[Received]], bool] = lambda _items: False
    ) -> list[Received]:
        """Receive for some time, or until there is enough or the stream has ended."""
        items: list[Received] = []
        clock = LoopClock()
        end_ns = clock.now_ns() + round(seconds * NS)
        while not enough(items) and (left := end_ns - clock.now_ns()) > 0:
            item = await self.receive_audio(left / NS)
            if item is not None:
                items.append(item)
            if isinstance(item, EndOfStream):
                break
        return items


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


@dataclass(frozen=True, slots=True)
class BenchCall:
    """One connected call of the adapter under check to the probe agent."""

    adapter: GuardedAdapter
    agent: ProbeAgent
    bench: Bench

    async def agent_has(self, what: str, condition: Callable[[CallLog], bool]) -> None:
        """Wait until the agent's log fulfils a condition, which is described by ``what``."""
        try:
            async with asyncio.timeout(self.bench.patience):
                await self.agent.until(condition)
        except TimeoutError:
            raise self.adapter.broken(f"the agent did not get {what} within {self.bench.patience:g} s") from None

    async def agent_has_answered(self) -> None:
        """Wait until the agent's own end of the call is up, which may be a moment after the harness's."""
        await self.agent_has("the call", lambda _log: True)

    @property
    def keeps_time(self) -> bool:
        """Whether the transport asks for the user's frames by its own tick."""
        return self.adapter.keeps_time

    async def say(self, samples: Any, *, at: int = 0) -> None:
        """Send the user's audio at 1x, its first sample at a position, by the adapter's own tick where it has one."""
        clock, rate = LoopClock(), self.adapter.adapter.rate
        if self.keeps_time:
            self.adapter.track.say(samples)
            await clock.sleep(len(samples) / rate)
            return
        frame = round(FRAME * rate)
        pacer = Pacer(clock, start_ns=clock.now_ns(), rate=rate)
        for start in range(0, len(samples), frame):
            piece = AudioChunk.from_samples(samples[start : start + frame], rate, at + start)
            await pacer.wait_for(start + len(piece))
            await self.adapter.send_audio(piece)


@dataclass(frozen=True, slots=True)
class Bench:
    """Makes calls of the adapter under check."""

    make: Callable[..., VoiceAgentAdapter]
    host: Host
    patience: float = 5.0
    calls: int = 20
    dialler: Host | None = None

    @asynccontextmanager
    async def adapter(self, agent: ProbeAgent) -> AsyncIterator[GuardedAdapter]:
        """Serve an agent and make an adapter that reaches it; at the end it is disconnected."""
        async with self.host(agent) as target:
            guarded = GuardedAdapter(self.make(**target), self.patience)
            try:
                yield guarded
            finally:
                await guarded.disconnect()

    async def answers_only(self) -> bool:
        """Say whether the agent is a function, which answers when it is spoken to."""
        async with self.adapter(ProbeAgent()) as guarded:
            return guarded.adapter.answers_only

    @asynccontextmanager
    async def call(self, cues: Iterable[Cue] = ()) -> AsyncIterator[BenchCall]:
        """Make a call to an agent that follows a timetable."""
        agent = ProbeAgent(cues)
        async with self.adapter(agent) as adapter:
            await adapter.connect()
            yield BenchCall(adapter, agent, self)


class _Track:
    """What a transport that keeps its own time asks for the user's frames: silence, until something is said."""

    def __init__(self, rate: int) -> None:
        self.agent_speaking = asyncio.Event()
        self.heard_transcript = ""
        self.asked: list[tuple[int, int]] = []
        self._rate = rate
        self._sound: Any = np.zeros(0, np.int16)
        self._start = 0

    def say(self, samples: Any) -> None:
        """Put a sound where the next frame is asked for."""
        self._start = sum(self.asked[-1]) if self.asked else 0
        self._sound = samples

    async def take_turn(self, message: Message) -> AudioChunk:
        """Take no turn."""
        raise UnsupportedCapabilityError(adapter="the bench", capability="turns")

    @property
    def is_over(self) -> bool:
        """Never: the kit ends the call by ending the adapter's."""
        return False

    def user_frame(self, position: int, samples: int, due_ns: int | None = None) -> AudioChunk:
        """Return a stretch of the track, silence where nothing is said."""
        self.asked.append((position, samples))
        frame = np.zeros(samples, np.int16)
        begin = position - self._start
        piece = self._sound[max(begin, 0) : max(begin + samples, 0)]
        frame[max(-begin, 0) :][: len(piece)] = piece
        return AudioChunk.from_samples(frame, self._rate, position)
