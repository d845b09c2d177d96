"""An agent double on the wire: an ASGI application that writes Twilio's JSON by hand and keeps all that it got.

It shares no code with the protocol under test.
"""

from __future__ import annotations

import asyncio
import base64
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from voiceharness.audio import g711, signals
from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.vad import find_segments
from voiceharness.clock import LoopClock
from voiceharness.scenario.run import run_scenario
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Wait
from voiceharness_adapters.twilio import Twilio

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator

    from voiceharness.scenario.result import CallResult
    from voiceharness.scenario.steps import AnyStep

__all__ = [
    "STREAM",
    "VOICE",
    "Cue",
    "Got",
    "Played",
    "WireAgent",
    "burst",
    "clear",
    "close",
    "mark",
    "media",
    "near",
    "paced",
    "play",
    "speech",
    "spread",
    "tone_media",
    "trusted",
]

STREAM = "wss://agent.example.test/media"
VOICE = "https://agent.example.test/voice"

Wire = dict[str, Any] | str | bytes | Exception
Cue = tuple[float, Wire]
"""Seconds after ``start``, and what is sent: a message (its streamSid is added), raw text or bytes, or an error."""


@dataclass(frozen=True, slots=True)
class Got:
    """One message of the carrier; ``at`` is in seconds after ``start``."""

    at: float
    message: dict[str, Any]


class WireAgent:
    """Follows a timetable from ``start`` on, then stays until the carrier is gone."""

    def __init__(
        self, cues: Iterable[Cue] = (), *, react: Callable[[WireAgent, Got], None] = lambda _agent, _got: None
    ) -> None:
        self.cues = sorted(cues, key=lambda cue: cue[0])
        self.got: list[Got] = []
        self.scopes: list[dict[str, Any]] = []
        self.stream = ""
        self.closed: dict[str, Any] | None = None
        self.closed_at = 0.0
        self._react = react
        self._start_ns = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._send: Callable[[dict[str, Any]], Awaitable[None]] | None = None

    def forget(self) -> None:
        """Forget all that came: the call is made again."""
        self.got.clear()
        self.scopes.clear()

    def of(self, event: str) -> list[Got]:
        """The messages of one kind."""
        return [got for got in self.got if got.message["event"] == event]

    @property
    def user_audio(self) -> AudioChunk:
        """All that the user said, as it arrived."""
        payloads = (base64.b64decode(got.message["media"]["payload"]) for got in self.of("media"))
        return AudioChunk(g711.decode(b"".join(payloads)))

    @property
    def now(self) -> float:
        """Seconds after ``start``."""
        return (LoopClock().now_ns() - self._start_ns) / 1e9

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one ASGI connection; an application without a lifespan."""
        assert scope["type"] == "websocket"
        self.scopes.append(scope)
        self._send = send
        assert (await receive())["type"] == "websocket.connect"
        await send({"type": "websocket.accept"})
        acting: asyncio.Task[None] | None = None
        try:
            while (event := await receive())["type"] != "websocket.disconnect":
                message = json.loads(event["text"])
                if message["event"] == "start":
                    self.stream, self._start_ns = message["streamSid"], LoopClock().now_ns()
                    acting = asyncio.create_task(self._follow())
                self._take(Got(self.now, message))
                if acting is not None and acting.done():
                    acting.result()
            self.closed, self.closed_at = event, self.now
            if acting is not None and not acting.done():
                await acting
        finally:
            for task in (*self._tasks, *([acting] if acting else [])):
                task.cancel()

    def _take(self, got: Got) -> None:
        self.got.append(got)
        self._react(self, got)

    async def _follow(self) -> None:
        clock = LoopClock()
        for at, wire in self.cues:
            await clock.sleep_until_ns(self._start_ns + round(at * 1e9))
            await self.say(wire)

    async def say(self, wire: Wire) -> None:
        """Send one thing now."""
        assert self._send is not None
        if isinstance(wire, Exception):
            raise wire
        if wire == {"close": True}:
            await self._send({"type": "websocket.close", "code": 1000})
        elif isinstance(wire, bytes):
            await self._send({"type": "websocket.send", "bytes": wire})
        else:
            text = wire if isinstance(wire, str) else json.dumps({"streamSid": self.stream, **wire})
            await self._send({"type": "websocket.send", "text": text})

    def later(self, delay: float, *wires: Wire) -> None:
        """Send things after some seconds."""

        async def send() -> None:
            await LoopClock().sleep(delay)
            for wire in wires:
                await self.say(wire)

        self._tasks.add(asyncio.create_task(send()))


# What agents say


def media(payload: bytes) -> dict[str, Any]:
    """Encoded audio."""
    return {"event": "media", "media": {"payload": base64.b64encode(payload).decode()}}


def tone_media(hz: float, seconds: float) -> dict[str, Any]:
    """A tone in one message."""
    return media(g711.encode(signals.tone(hz, seconds).tobytes()))


def mark(name: str) -> dict[str, Any]:
    """A mark."""
    return {"event": "mark", "mark": {"name": name}}


def clear() -> dict[str, Any]:
    """A clear."""
    return {"event": "clear"}


def close() -> dict[str, Any]:
    """The agent closes the websocket."""
    return {"close": True}


def spread(payload: bytes, start: float, over: float, frame: int = 160) -> Iterator[Cue]:
    """Audio in frames that are sent evenly over some seconds."""
    count = -(-len(payload) // frame)
    for index in range(count):
        yield start + over * index / count, media(payload[index * frame : (index + 1) * frame])


def burst(hz: float, seconds: float, start: float = 0.0, over: float = 0.2) -> list[Cue]:
    """A tone that is sent much faster than it is heard."""
    return list(spread(g711.encode(signals.tone(hz, seconds).tobytes()), start, over))


def paced(hz: float, seconds: float, start: float) -> list[Cue]:
    """A tone that is sent at the speed of sound."""
    return burst(hz, seconds, start, seconds)


# Calls


def speech(seconds: float, seed: int = 1) -> AudioChunk:
    """Sound that stands for the user's speech."""
    return AudioChunk.from_samples(signals.speech_like(seconds, seed=seed))


def near(milliseconds: float, either_way: float = 20) -> Any:
    """A time, a frame either way."""
    return pytest.approx(milliseconds, abs=either_way)


@dataclass(frozen=True, slots=True)
class Played:
    """A call that was played in virtual time."""

    result: CallResult
    adapter: Twilio

    @property
    def heard(self) -> list[tuple[int, int]]:
        """Where the agent was heard, in milliseconds."""
        record = self.result.record
        assert record is not None
        return [(round(s.onset / 8), round(s.offset / 8)) for s in find_segments(record.agent, record.rate)]

    def found(self, kind: str) -> list[Any]:
        """The findings of one kind."""
        return [finding for finding in self.result.findings if finding.kind == kind]

    @property
    def unmet(self) -> set[str]:
        """The kinds of expectation that were not met."""
        return {check.kind for check in self.result.failures}

    @property
    def faults(self) -> list[str]:
        """The kinds of protocol fault that were noted."""
        record = self.result.record
        assert record is not None
        return [str(event.data["kind"]) for event in record.of_kind("protocol_fault")]


def trusted(run: Callable[[], CallResult]) -> CallResult:
    """Make a call in real time; one that the harness itself could not hold is made again, twice at most."""
    for _ in range(2):
        result = run()
        if result.trust.trustworthy:
            return result
    return run()


def play(
    app: Any, *steps: AnyStep, url: str = STREAM, scenario: dict[str, Any] | None = None, **options: Any
) -> Played:
    """Call an application in virtual time; without steps, listen for ten seconds."""
    adapters: list[Twilio] = []

    def make() -> Twilio:
        adapters.append(Twilio(url, app=app, **options))
        return adapters[0]

    case = Scenario("case", list(steps) or [Wait(10)], **(scenario or {}))
    return Played(run_scenario(case, make), adapters[0])
