"""Malformed input from an agent: never a crash, never blamed on the wrong side, each with its own finding."""

from __future__ import annotations

import asyncio

import pytest

from tests.adapters.twilio.wire_agent import WireAgent, burst, clear, close, media, near, play, tone_media
from voiceharness.errors import RemoteProtocolError
from voiceharness.protocols.media_streams.hostile import Hostile, hostile_inputs
from voiceharness.scenario.steps import Hangup, Wait
from voiceharness_adapters.twilio.buffer import MAX_MARKS

__all__: list[str] = []

ATTACKS = hostile_inputs("agent", "{stream}")


class Attacker(WireAgent):
    async def say(self, wire: object) -> None:
        text = wire.replace("{stream}", self.stream) if isinstance(wire, str) else wire
        await super().say(text)  # type: ignore[arg-type] # what came, addressed


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_an_attack_is_noted_and_the_call_goes_on(attack: Hostile) -> None:
    cues = [(0.5, message) for message in attack.messages]
    agent = Attacker([*cues, (1.0, clear()), (1.1, tone_media(440, 0.5))])
    played = play(agent, Wait(2), Hangup())
    assert played.faults == ([attack.kind] if attack.kind else [])
    assert played.result.outcome == ("protocol_violation" if attack.kind else "passed")
    if attack.kind == "message_too_big":
        assert agent.closed is not None
        assert agent.closed["code"] == 1009
        assert isinstance(played.result.error, RemoteProtocolError)
    else:
        assert played.result.error is None
        assert played.heard[-1] == (near(1100), near(1600))
        assert len(agent.of("stop")) == 1


def test_a_fault_is_noted_once_and_counted() -> None:
    played = play(WireAgent([(0.1, "{}") for _ in range(50)]), Wait(1))
    assert played.faults == ["no_event"]
    assert played.adapter.log.violations == {"no_event": 50}


def test_media_before_the_start_is_impossible_to_take() -> None:
    class Eager(WireAgent):
        async def __call__(self, scope, receive, send):  # type: ignore[no-untyped-def] # ASGI
            await receive()
            await send({"type": "websocket.accept"})
            await send({"type": "websocket.send", "text": '{"event":"clear","streamSid":"MZ1"}'})
            while (await receive())["type"] != "websocket.disconnect":
                continue

    played = play(Eager(), Wait(1))
    assert played.result.error is None
    assert played.faults == ["out_of_order"]


def test_more_than_ten_minutes_of_audio_are_discarded() -> None:
    """Of eleven minutes, ten are heard."""
    agent = WireAgent([(0.0, media(b"\x10" * 8000 * 60)) for _ in range(11)])
    played = play(agent, Wait(1))
    assert played.faults == ["buffer_full"]
    record = played.result.record
    assert record is not None
    assert sum(piece.samples for piece in record.arrivals) == 600 * 8000


def test_marks_without_end_are_dropped_at_a_bound() -> None:
    agent = WireAgent(
        [(0.0, tone_media(440, 5.0)), *((0.1, {"event": "mark", "mark": {"name": "m"}}),) * (MAX_MARKS + 9)]
    )
    played = play(agent, Wait(0.5))
    assert played.faults == ["too_many_marks"]
    assert played.adapter.log.violations["too_many_marks"] == 9


def test_a_clear_makes_room_in_the_buffer() -> None:
    minutes = [(0.0, media(b"\x10" * 8000 * 60)) for _ in range(10)]
    played = play(WireAgent([*minutes, (0.5, clear()), *burst(440, 1.0, 1.0)]), Wait(3))
    assert played.faults == []
    assert played.heard[-1] == (near(1000), near(2000))


def test_an_agent_that_leaves_early_has_hung_up() -> None:
    played = play(WireAgent([(0.0, close())]), Wait(2))
    assert (played.result.ended_by, played.result.error) == ("agent", None)


def test_an_agent_that_never_reads_is_no_fault_of_the_harness() -> None:
    async def deaf(scope: object, receive: object, send: object) -> None:
        await receive()  # type: ignore[operator] # ASGI
        await send({"type": "websocket.accept"})  # type: ignore[operator]
        await asyncio.get_running_loop().create_future()

    played = play(deaf, Wait(3), Hangup())
    assert played.result.error is None
    assert played.adapter.log.still_running
