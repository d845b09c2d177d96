"""Far sides for the tests of realtime adapters: a timetable, a provider with its rules, a call through the engine."""

from __future__ import annotations

import base64
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from voiceharness.audio import signals
from voiceharness.audio.chunk import AudioChunk
from voiceharness.clock import NS, LoopClock
from voiceharness.scenario.run import run_scenario
from voiceharness.scenario.scenario import Scenario
from voiceharness.scripted.inbound import ErrorEvent, RawEvent
from voiceharness.scripted.transport import ScriptedRealtimeTransport
from voiceharness.scripted.turns import audio_turn
from voiceharness.scripted.wire.frames import ServerEvents
from voiceharness.scripted.wire.provider import ProviderSession, Refusal
from voiceharness_adapters.realtime import TransportVoiceAdapter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from voiceharness.line.record import TimelineEvent
    from voiceharness.scenario.result import CallResult
    from voiceharness.scenario.steps import AnyStep
    from voiceharness.scripted.inbound import RealtimeEvent
    from voiceharness.scripted.turns import Word

__all__ = [
    "RATE",
    "Cue",
    "Provider",
    "at",
    "burst",
    "events",
    "kinds",
    "paced",
    "play",
    "provided",
    "speech",
    "timetable",
    "tone",
    "truncate",
]

RATE = 8000
Cue = tuple[float, "RealtimeEvent"]
"""What the far side emits, and when: seconds after it was connected."""


def speech(seconds: float, *, seed: int = 1) -> AudioChunk:
    """Sound that stands for a user's speech."""
    return AudioChunk.from_samples(signals.speech_like(seconds, seed=seed))


def tone(hz: float, seconds: float) -> AudioChunk:
    """A user who says nothing but a tone."""
    return AudioChunk.from_samples(signals.tone(hz, seconds))


def at(seconds: float, action: Callable[[], object]) -> None:
    """Do something so many seconds from now."""
    clock = LoopClock()
    clock.call_at_ns(clock.now_ns() + round(seconds * NS), action)


def timetable(cues: Iterable[Cue]) -> ScriptedRealtimeTransport:
    """A transport whose far side follows a timetable and takes whatever is sent."""
    transport = ScriptedRealtimeTransport(ambient={"send_audio", "interrupt", "close"})
    cues = tuple(cues)

    def start(_call: object) -> None:
        for due, event in cues:
            at(due, partial(transport.emit, event))

    transport.when("connect").run(start)
    return transport


def burst(start: float, name: str, audio: bytes, words: str | list[Word] = "") -> Iterator[Cue]:
    """A turn that is sent in one burst."""
    return paced(start, name, audio, words, speed=float("inf"))


def paced(start: float, name: str, audio: bytes, words: str | list[Word] = "", *, speed: float = 1.0) -> Iterator[Cue]:
    """A turn that is sent frame by frame; its item has its name."""
    turn = audio_turn(name, audio, words=words, item_id=name, speed=speed)
    return ((start + due, event) for due, event in turn.events)


def play(
    transport: ScriptedRealtimeTransport, *steps: AnyStep, options: dict[str, Any] | None = None, **fields: Any
) -> CallResult:
    """Run a scenario of these steps over a transport, in virtual time."""
    scenario = Scenario("test", list(steps), **fields)
    return run_scenario(scenario, lambda: TransportVoiceAdapter(transport, **(options or {})))


def kinds(result: CallResult) -> set[str]:
    """The kinds of faults that were found."""
    return {finding.kind for finding in result.findings}


def events(result: CallResult, kind: Any) -> list[TimelineEvent]:
    """The events of a kind in a call's timeline."""
    assert result.record is not None
    return list(result.record.of_kind(kind))


def truncate(item: str, end_ms: int) -> dict[str, Any]:
    """A client's request to cut an item."""
    return {"type": "conversation.item.truncate", "item_id": item, "content_index": 0, "audio_end_ms": end_ms}


class Provider:
    """A provider's rules behind a scripted transport: what breaks them is answered with an error event."""

    def __init__(self, transport: ScriptedRealtimeTransport) -> None:
        self.refusals: list[Refusal] = []
        self._transport = transport
        self._session = ProviderSession()
        self._server_events = ServerEvents(self._session)
        transport.when("send_event").run(lambda call: self.receive(call.event))
        transport.when("request_response").run(lambda _call: self.receive({"type": "response.create"}))

    def take_audio(self, on_commit: Callable[[], object]) -> None:
        """Judge audio and commits too; a good one is told."""

        def take(call: Any) -> None:
            audio = base64.b64encode(call.audio).decode("ascii")
            self.receive({"type": "input_audio_buffer.append", "audio": audio})
            if call.commit and self.receive({"type": "input_audio_buffer.commit"}):
                on_commit()

        self._transport.when("send_audio").run(take)

    def receive(self, event: dict[str, Any]) -> bool:
        """Take a client's event and answer it; says whether it was accepted."""
        answer = self._session.receive(event)
        if isinstance(answer, Refusal):
            self.refusals.append(replace(answer, event_id=event.get("event_id")))
            self._transport.emit(ErrorEvent(error=self.refusals[-1].as_event()["error"]))
            return False
        for body in answer:
            self._transport.emit(RawEvent(data=body))
        return True

    def follow(self, cues: Iterable[Cue]) -> None:
        """Send these events once connected, and know of them."""
        cues = tuple(cues)

        def start(_call: object) -> None:
            for due, event in cues:
                at(due, partial(self.emit, event))

        self._transport.when("connect").run(start)

    def emit(self, event: RealtimeEvent) -> None:
        """Send an event, now."""
        for body in self._server_events.of(event):
            self._session.note(body)
        self._transport.emit(event)


def provided(cues: Iterable[Cue] = ()) -> tuple[ScriptedRealtimeTransport, Provider]:
    """A transport with a provider behind it."""
    transport = ScriptedRealtimeTransport(ambient={"send_audio", "interrupt", "connect", "close"})
    provider = Provider(transport)
    provider.follow(cues)
    return transport, provider
