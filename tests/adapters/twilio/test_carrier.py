"""What the carrier does on the wire, as an agent sees it."""

from __future__ import annotations

import json
from base64 import b64decode

import numpy as np
import pytest

from tests.adapters.twilio.wire_agent import (
    STREAM,
    Got,
    WireAgent,
    burst,
    mark,
    media,
    near,
    paced,
    play,
    speech,
    tone_media,
)
from voiceharness.audio import g711, signals
from voiceharness.audio.chunk import AudioChunk
from voiceharness.capabilities import Requirement
from voiceharness.errors import UnsupportedCapabilityError
from voiceharness.protocols.media_streams.signature import sign
from voiceharness.scenario.checks import Transcript
from voiceharness.scenario.scenario import LineProfile
from voiceharness.scenario.steps import Check, Hangup, Hear, Press, Say, Wait
from voiceharness_adapters.twilio import Twilio

__all__: list[str] = []

TOKEN = "0123456789abcdef0123456789abcdef"


def timestamps(agent: WireAgent) -> list[int]:
    return [int(got.message["media"]["timestamp"]) for got in agent.of("media")]


# Frames


def test_a_whole_call_on_the_wire() -> None:
    """Case B52: order, numbers and types of everything that the carrier sends."""
    agent = WireAgent([(0.1, tone_media(440, 0.1)), (0.1, mark("m"))])
    play(agent, Wait(0.5), Press("5"), Hangup(), parameters={"case": "B52"})
    events = [got.message["event"] for got in agent.got]
    assert (events[:3], events[-1]) == (["connected", "start", "media"], "stop")
    assert "sequenceNumber" not in agent.got[0].message
    assert [got.message["sequenceNumber"] for got in agent.got[1:]] == [str(n) for n in range(1, len(agent.got))]
    start = agent.got[1].message["start"]
    assert (start["mediaFormat"]["sampleRate"], start["mediaFormat"]["channels"]) == (8000, 1)
    assert (start["tracks"], start["customParameters"]) == (["inbound"], {"case": "B52"})
    (digit,) = agent.of("dtmf")
    assert digit.message["dtmf"] == {"track": "inbound_track", "digit": "5"}
    frames = agent.of("media")
    assert {got.message["media"]["track"] for got in frames} == {"inbound"}
    assert [got.message["media"]["chunk"] for got in frames] == [str(n + 1) for n in range(len(frames))]
    assert timestamps(agent) == list(range(0, 20 * len(frames), 20))


def test_frames_go_on_from_answer_to_hang_up_whatever_the_user_does() -> None:
    """Case A64, continuous: 50 a second, silence as 0xFF."""
    agent = WireAgent()
    play(agent, Say(audio=speech(1.0)), Wait(5), Say(audio=speech(1.0)))
    frames = agent.of("media")
    assert len(frames) == pytest.approx(350, abs=1)
    assert [got.at for got in frames] == pytest.approx([0.02 * (n + 1) for n in range(len(frames))], abs=1e-6)
    quiet = [got for got in frames if 1.1 < got.at < 5.9]
    assert {b64decode(got.message["media"]["payload"]) for got in quiet} == {b"\xff" * 160}


def test_a_carrier_may_leave_out_silence() -> None:
    """Case A64, gaps: the timestamps jump; an agent that waits for silent frames never answers."""

    answered_by: list[WireAgent] = []

    def answers_after_silent_frames(agent: WireAgent, got: Got) -> None:
        quiet = [f for f in agent.of("media")[-25:] if f.message["media"]["payload"].startswith("////////")]
        if len(quiet) == 25 and agent not in answered_by:
            answered_by.append(agent)
            agent.later(0.0, tone_media(440, 0.2))

    said = Say(audio=speech(1.0))
    continuous, gaps = (WireAgent(react=answers_after_silent_frames) for _ in range(2))
    answered = play(continuous, said, Hear(within=3))
    unanswered = play(gaps, said, Wait(5), said, inbound="gaps")
    assert answered.result.steps[1].outcome == "done"
    metrics = unanswered.result.metrics
    assert metrics is not None
    assert metrics.latencies[0] is None
    jumps = np.diff(timestamps(gaps))
    assert max(jumps) == near(5000, 40)
    assert set(jumps.tolist()) <= {20, int(max(jumps))}


@pytest.mark.parametrize("length", [0.06, 0.12, 0.25, 0.4])
def test_short_words_arrive_whole_with_real_silence_around(length: float) -> None:
    """Case A66."""
    agent = WireAgent()
    word = signals.speech_like(length, seed=4)
    play(agent, Wait(0.5), Say(audio=AudioChunk.from_samples(word)), Wait(0.5))
    assert g711.decode(g711.encode(word.tobytes())) in agent.user_audio.pcm


def test_lost_frames_are_missing_on_the_wire_and_the_same_in_every_run() -> None:
    """Case B62: numbers without gaps, timestamps that jump."""
    agents = [WireAgent(), WireAgent()]
    runs = [
        play(agent, Wait(60), scenario={"line": LineProfile(loss=0.05), "seed": 7, "max_duration": 120.0})
        for agent in agents
    ]
    missing = [sorted(set(range(0, 60_000, 20)) - set(timestamps(agent))) for agent in agents]
    assert missing[0] == missing[1]
    assert len(missing[0]) == pytest.approx(150, abs=30)
    assert runs[0].adapter.log.lost_ms == [at for at in missing[0] if at <= max(timestamps(agents[0]))]
    numbers = [int(got.message["sequenceNumber"]) for got in agents[0].got[1:]]
    assert numbers == list(range(1, len(numbers) + 1))


def test_lost_frames_may_be_replaced_by_silence() -> None:
    """Case B62, the second mode."""
    agent = WireAgent()
    play(agent, Wait(5), scenario={"line": LineProfile(loss=0.2), "seed": 7}, lost_as="silence")
    assert timestamps(agent) == list(range(0, 20 * len(agent.of("media")), 20))


# Time


@pytest.mark.parametrize("delay", [0.0, 0.25, 0.75, 2.0])
@pytest.mark.parametrize("size", [160, 49_152], ids=["small messages", "64 KB messages"])
def test_latency_is_exact_whatever_the_delay_and_the_size(delay: float, size: int) -> None:
    """Cases B54 and B23: the agent answers a fixed time after it has the last frame of ten seconds of speech."""
    payload = g711.encode(signals.tone(440, 6.144).tobytes())
    heard_last = [0.0]

    def answer(agent: WireAgent, got: Got) -> None:
        if got.message["event"] != "media":
            return
        if not got.message["media"]["payload"].startswith("////////"):
            heard_last[0] = got.at
        elif heard_last[0] and got.at > 10 and not agent.of("answered"):
            agent.got.append(Got(got.at, {"event": "answered"}))
            wait = heard_last[0] + 0.1 + delay - got.at
            agent.later(max(0.0, wait), *(media(payload[n : n + size]) for n in range(0, len(payload), size)))

    agent = WireAgent(react=answer)
    played = play(agent, Say(audio=speech(10.0)), Hear(within=5), scenario={"max_duration": 60.0})
    metrics = played.result.metrics
    assert metrics is not None
    assert metrics.utterances[0].offset / 8000 == pytest.approx(heard_last[0], abs=0.02)
    assert metrics.latencies[0] == pytest.approx(0.1 + delay, abs=0.02)


def test_transcripts_that_the_transport_cannot_give_cost_no_time() -> None:
    """Case B25: ten turns, each answered after 500 ms, in virtual seconds that are only theirs."""
    agent = WireAgent()
    steps = [step for _ in range(10) for step in (Say(audio=speech(0.5)), Wait(0.1))]
    played = play(agent, *steps)
    assert played.result.metrics is not None
    assert played.result.metrics.duration == pytest.approx(6.0, abs=0.1)
    assert not Twilio.capabilities.supports(Requirement("streaming_transcripts"))


# Keys and signals


def test_keys_are_one_event_each() -> None:
    """Case A71, the user's side."""
    agent = WireAgent()
    play(agent, Press("1*#", tone_ms=80, gap_ms=60), Wait(0.5))
    assert [(got.message["dtmf"]["digit"], got.at) for got in agent.of("dtmf")] == [
        ("1", 0.0),
        ("*", pytest.approx(0.14, abs=0.001)),
        ("#", pytest.approx(0.28, abs=0.001)),
    ]


def test_keys_may_be_pressed_as_tones_in_the_sound() -> None:
    agent = WireAgent()
    play(agent, Press("1", method="inband"), Wait(0.5))
    assert agent.of("dtmf") == []
    assert np.any(agent.user_audio.samples)


def test_a_clear_to_the_agent_is_sent_only_where_it_is_known_to_be_honoured() -> None:
    needs = {Requirement("interruption")}
    assert Twilio.capabilities_for({"url": STREAM, "app": WireAgent()}).missing(needs)
    assert not Twilio.capabilities_for({"url": STREAM, "honours_clear": True}).missing(needs)


def test_the_network_cannot_be_followed_by_virtual_time() -> None:
    assert not Twilio.capabilities_for({"url": STREAM}).virtual_time
    assert Twilio.capabilities_for({"url": STREAM, "app": WireAgent()}).virtual_time


# Who is who


def test_the_user_is_on_the_users_track_and_the_agent_on_the_agents() -> None:
    """Case B60."""
    agent = WireAgent(paced(900, 1.0, 1.5))
    user = AudioChunk.from_samples(signals.tone(500, 1.0))
    played = play(agent, Say(audio=user), Wait(2))
    record = played.result.record
    assert record is not None
    for track, hz in ((record.user, 500), (record.agent, 900)):
        spectrum = np.abs(np.fft.rfft(track.astype(float)))
        assert np.argmax(spectrum) * 8000 / len(track) == pytest.approx(hz, abs=2)


# Requests


def test_the_upgrade_is_signed_as_the_vendor_signs_it() -> None:
    """Case B33: the vector is over this very URL."""
    agent = WireAgent()
    play(agent, Wait(0.1), url="wss://harness.example.test/media", token=TOKEN)
    headers = dict(agent.scopes[0]["headers"])
    assert headers[b"x-twilio-signature"] == b"iNuL9NV1k2Cjxf0Guwcz5MSn6xo="
    assert headers[b"host"] == b"harness.example.test"


def test_without_a_token_nothing_is_signed() -> None:
    agent = WireAgent()
    play(agent, Wait(0.1))
    assert b"x-twilio-signature" not in dict(agent.scopes[0]["headers"])
    assert sign(TOKEN, STREAM)


def test_another_vendors_dialect_is_spoken_when_asked_for() -> None:
    class Telnyx(WireAgent):
        async def say(self, wire: object) -> None:
            assert isinstance(wire, dict)
            await super().say(json.dumps(wire))

    texts: list[dict[str, object]] = []

    async def app(scope: object, receive: object, send: object) -> None:
        await send({"type": "websocket.accept"})  # type: ignore[operator] # ASGI's callables
        while (event := await receive())["type"] != "websocket.disconnect":  # type: ignore[operator]
            if "text" not in event:
                continue
            texts.append(json.loads(event["text"]))
            if texts[-1]["event"] == "start":
                text = json.dumps(tone_media(440, 0.5))
                await send({"type": "websocket.send", "text": text})  # type: ignore[operator]

    played = play(app, Wait(1), dialect="telnyx")
    assert played.heard == [(near(0), near(500))]
    assert played.faults == []
    assert texts[1]["stream_id"]


# What is seen is what was


def test_what_was_sent_is_counted_after_it_was_sent() -> None:
    """Case B64: the agent closes at its 40th frame."""

    def close_at_forty(agent: WireAgent, got: Got) -> None:
        if len(agent.of("media")) == 40:
            agent.later(0.0, {"close": True})

    agent = WireAgent(burst(440, 1.0), react=close_at_forty)
    played = play(agent, Wait(5))
    assert played.adapter.log.sent["media"] == len(agent.of("media")) == 40
    assert played.result.ended_by == "agent"


def test_digits_from_an_agent_have_no_way_through_a_stream() -> None:
    """Case A71, the agent's side: the error names the way there is."""
    from voiceharness.doubles import ScriptedPhoneAgent
    from voiceharness.events import Digit
    from voiceharness_adapters.twilio import TwilioAgentApp

    played = play(TwilioAgentApp(ScriptedPhoneAgent([(0.5, Digit("1"))])), Wait(2))
    assert played.result.error is not None
    cause = played.result.error.__cause__
    assert isinstance(cause, UnsupportedCapabilityError)
    assert "REST" in str(cause)
    assert played.result.metrics is not None
    assert played.result.metrics.duration <= 1.0


def test_an_expectation_of_words_uses_the_harness_own_ears() -> None:
    """Case B25: the transport has no words, so a step that needs them says who hears them."""
    assert Check(Transcript(contains="hello")).needs_words
    assert not Twilio.capabilities.streaming_transcripts
