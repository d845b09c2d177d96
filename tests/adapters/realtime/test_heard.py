"""What is heard and found on calls over a realtime transport: the whole engine, in virtual time."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.adapters.realtime.far_sides import (
    RATE,
    at,
    burst,
    events,
    kinds,
    paced,
    play,
    provided,
    speech,
    timetable,
    tone,
)
from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.edges import Span
from voiceharness.audio.resample import resample
from voiceharness.measure.tones import pure_tone
from voiceharness.scenario.scenario import LineProfile
from voiceharness.scenario.steps import Hear, Interrupt, Say, Silence, Wait
from voiceharness.scenario.triggers import AtRandom, at_time, seconds, words
from voiceharness.scripted.calls import SendAudioCall
from voiceharness.scripted.inbound import (
    AudioEvent,
    AudioInterruptedEvent,
    FunctionCallEvent,
    RawEvent,
    TurnDoneEvent,
    TurnStartedEvent,
)
from voiceharness.scripted.simulated_agent import SimulatedAgent, Speak
from voiceharness.scripted.sounds import PCM_24K, WireFormat
from voiceharness.scripted.transport import ScriptedRealtimeTransport
from voiceharness.scripted.turns import Word
from voiceharness_adapters.realtime import TransportVoiceAdapter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from voiceharness.scenario.steps import AnyStep
    from voiceharness.scenario.triggers import Trigger

__all__: list[str] = []

FRAME = 0.02
HARNESS = {"turn_detection": "harness"}
TEN_WORDS = "alpha bravo charlie delta echo foxtrot golf hotel india juliet"


def ten_words() -> list[Word]:
    """Ten words of half a second."""
    return [Word(text, number / 2, (number + 1) / 2) for number, text in enumerate(TEN_WORDS.split())]


def simulated(*answers: Speak, latency: float = 0.3) -> ScriptedRealtimeTransport:
    transport = ScriptedRealtimeTransport()
    SimulatedAgent(transport, *answers, latency=latency)
    return transport


# A conversation


def test_a_conversation_has_its_turns_latencies_and_words() -> None:
    transport = simulated(Speak("how can I help you", 1.5), Speak("done", 0.5))
    steps: list[AnyStep] = [Say(audio=speech(1.0)), Hear(text="help you"), Say(audio=speech(0.7, seed=2)), Hear("done")]
    result = play(transport, *steps, options=HARNESS)
    assert result.passed, result.explain()
    assert result.virtual
    assert result.metrics is not None
    assert [exchange.latency for exchange in result.metrics.exchanges] == [pytest.approx(0.3, abs=FRAME)] * 2
    heard = [event.data["text"] for event in events(result, "word_heard")]
    assert heard == ["how", "can", "I", "help", "you", "done"]
    assert transport.status == "disconnected"
    transport.assert_complete()


def test_what_is_heard_is_what_was_sent_at_the_time_it_was_sent() -> None:
    result = play(timetable(paced(0.5, "a", PCM_24K.tone(440, 1.0))), Hear())
    assert result.record is not None
    assert result.metrics is not None
    assert result.metrics.segments == (Span(4000, 12000),)
    assert pure_tone(result.record.agent[4000:12000], RATE) == pytest.approx(440, rel=0.002)


@pytest.mark.parametrize("rate", [8000, 16000, 48000])
@pytest.mark.parametrize(("encoding", "wire_rate"), [("pcm16", 24000), ("mulaw", 8000), ("alaw", 8000)])
def test_both_sides_keep_their_time_at_every_rate(rate: int, encoding: Any, wire_rate: int) -> None:
    wire = WireFormat(wire_rate, encoding)
    turn = ((1.0, AudioEvent(data=frame, item_id="a")) for frame in wire.frames(wire.tone(440, 0.5)))
    transport = timetable([*turn, (1.0, TurnDoneEvent())])
    user = speech(0.8)
    options = {"audio_rate": wire_rate, "audio_encoding": encoding, "rate": rate}
    said = AudioChunk.from_samples(resample(user.samples, RATE, rate), rate)
    result = play(transport, Say(audio=said), Hear(), options=options, rate=rate)
    assert result.record is not None
    loud = np.flatnonzero(np.abs(result.record.agent.astype(int)) > 1000)
    assert (loud[0] / rate, loud[-1] / rate) == (pytest.approx(1.0, abs=0.002), pytest.approx(1.5, abs=0.002))
    sent = resample(wire.decode(transport.audio_sent())[: round(0.8 * wire_rate)], wire_rate, RATE)
    ours = user.samples[: len(sent)].astype(float)
    assert np.corrcoef(sent[: len(ours)], ours)[0, 1] > 0.99


# Barge-in


@pytest.mark.parametrize(
    ("after", "onset"),
    [(seconds(0.6), 7.92), (words(3), 8.82), (at_time(1.9), 1.9), (at_time(9.0), 9.0)],
)
def test_a_barge_in_starts_where_the_agents_speech_says(after: Trigger, onset: float) -> None:
    """Case B09."""
    transport = timetable(paced(7.32, "a", PCM_24K.tone(440, 5.0), ten_words()))
    result = play(transport, Interrupt(audio=speech(0.5), after=after), options=HARNESS)
    assert result.metrics is not None
    (barge_in,) = result.metrics.barge_ins
    assert barge_in.onset / RATE == pytest.approx(onset, abs=FRAME)
    assert barge_in.phase == ("speaking" if onset > 7.32 else "silent")


def test_random_barge_ins_are_the_same_for_the_same_seed_and_all_turns_are_there() -> None:
    """Case B09."""

    def once(seed: int) -> tuple[list[float], int]:
        transport = simulated(*[Speak("one two three four", 2.5)] * 10)
        barge_in = Interrupt(audio=speech(0.5, seed=3), after=AtRandom(probability=0.3))
        turn: list[AnyStep] = [Say(audio=speech(0.6)), barge_in, Silence(3.0)]
        result = play(transport, *turn * 5, options=HARNESS, seed=seed)
        assert result.metrics is not None
        onsets = [barge_in.onset / RATE for barge_in in result.metrics.barge_ins]
        return onsets, len(result.metrics.agent_turns)

    onsets, turns = once(1)
    assert (onsets, turns) == once(1)
    assert turns >= 5
    assert onsets != once(2)[0]


def test_the_transports_own_interrupt_stops_an_agent_whose_turns_the_harness_detects() -> None:
    transport = simulated(Speak(TEN_WORDS, 5.0), Speak("sure", 0.5))
    steps: list[AnyStep] = [Say(audio=speech(0.6)), Interrupt(audio=speech(0.8, seed=2), after=words(3)), Hear("sure")]
    result = play(transport, *steps, options=HARNESS, line=LineProfile(delay=0.05))
    assert result.passed, result.explain()
    assert result.metrics is not None
    assert result.metrics.barge_ins[0].via == "both"
    assert result.metrics.barge_ins[0].stop_latency == pytest.approx(0.1, abs=FRAME)
    assert [call.method for call in transport.calls].count("interrupt") == 1
    assert len(events(result, "flush")) == 1


def test_where_the_server_detects_turns_only_speech_interrupts() -> None:
    transport = timetable([*burst(0.2, "a", PCM_24K.speech(4.0)), (1.6, AudioInterruptedEvent())])
    result = play(transport, Interrupt(audio=speech(0.8), after=seconds(1.0)))
    assert result.passed, result.explain()
    assert result.metrics is not None
    assert result.metrics.barge_ins[0].via == "speech"
    assert result.metrics.barge_ins[0].stop_latency == pytest.approx(0.4, abs=FRAME)
    assert "interrupt" not in [call.method for call in transport.calls]
    assert not any(call.commit for call in transport.calls_of(SendAudioCall))


@pytest.mark.parametrize("late_frames", [10, 0])
def test_late_audio_of_the_interrupted_item_is_a_leak_and_the_next_answer_is_not(late_frames: int) -> None:
    """Case A03."""
    late = PCM_24K.frames(PCM_24K.tone(440, 0.02 * late_frames))
    cues = [
        *burst(0.0, "old", PCM_24K.tone(440, 5.0)),
        (1.7, AudioInterruptedEvent(item_id="old")),
        *((1.72 + 0.02 * number, AudioEvent(data=frame, item_id="old")) for number, frame in enumerate(late)),
        *burst(3.2, "new", PCM_24K.tone(880, 1.0)),
    ]
    result = play(timetable(cues), Interrupt(audio=speech(1.0), after=at_time(1.5)), Hear())
    leaks = [finding for finding in result.findings if finding.kind == "audio_after_flush"]
    assert len(leaks) == bool(late_frames)
    for leak in leaks:
        assert leak.start / RATE == pytest.approx(1.72, abs=FRAME)
        assert leak.figure == pytest.approx(0.2, abs=FRAME)
    assert result.passed is not bool(late_frames)


def test_what_came_in_the_tick_of_the_flush_is_kept_and_not_heard() -> None:
    """Case B11."""
    delta = AudioEvent(data=PCM_24K.tone(440, 0.1), item_id="a")
    started = RawEvent(data={"type": "input_audio_buffer.speech_started"})
    cues = [(1.0, event) for event in (started, delta, delta, AudioInterruptedEvent(item_id="a"))]
    result = play(timetable(cues), Wait(2.0))
    assert result.record is not None
    assert not result.record.agent.any()
    assert sum(arrival.samples for arrival in result.record.arrivals) == 1600
    assert sum(arrival.heard for arrival in result.record.arrivals) == 0


# Turns


def test_a_second_response_request_is_refused_and_its_answer_names_it() -> None:
    """Case A31."""
    transport, provider = provided([(1.01, TurnStartedEvent(response_id="auto"))])
    provider.follow(paced(1.2, "auto", PCM_24K.tone(440, 1.0)))
    request = {"type": "response.create", "event_id": "request-7"}
    transport.when("connect").run(lambda _call: at(1.015, lambda: transport.send_event(request)))
    result = play(transport, Say(audio=speech(1.0)), Hear())
    assert [step.outcome for step in result.steps] == ["done", "done"]
    assert result.metrics is not None
    assert len(result.metrics.agent_turns) == 1
    assert [refusal.event_id for refusal in provider.refusals] == ["request-7"]
    (fault,) = events(result, "protocol_fault")
    assert fault.at == pytest.approx(1.015 * RATE)
    assert fault.data["kind"] == "conversation_already_has_active_response"
    assert str(fault.data["detail"]).endswith("(in answer to request-7)")
    assert result.outcome == "protocol_violation"


@pytest.mark.parametrize(("answers", "lags"), [((500, 700, 900), (0, 0, 0)), ((500, 500, 700), (0, 1, 1))])
def test_an_answer_to_an_earlier_turn_is_told_by_its_sound(answers: Iterable[int], lags: tuple[int, ...]) -> None:
    """Case A33."""
    transport = simulated(*(Speak("", audio=PCM_24K.tone(hz, 1.0)) for hz in answers))
    steps = [step for hz in (500, 700, 900) for step in (Say(audio=tone(hz, 1.0)), Hear())]
    result = play(transport, *steps, options=HARNESS)
    assert result.metrics is not None
    assert tuple(exchange.lag for exchange in result.metrics.exchanges) == lags
    latencies = [exchange.latency for exchange in result.metrics.exchanges]
    assert latencies == [None if lag else pytest.approx(0.3, abs=FRAME) for lag in lags]
    assert ("stale_answer" in kinds(result)) is any(lags)


@pytest.mark.parametrize("unanswered", [None, 0.12])
def test_each_short_word_is_committed_and_answered_and_a_missing_answer_is_named(unanswered: float | None) -> None:
    """Case A66."""
    lengths = [0.06, 0.12, 0.25, 0.4]
    transport, provider = provided()
    answered = iter(lengths)

    def answer() -> None:
        if next(answered) != unanswered:
            for due, event in paced(0.4, f"item {len(transport.calls)}", PCM_24K.speech(0.3)):
                at(due, partial(provider.emit, event))

    provider.take_audio(answer)
    steps = [step for length in lengths for step in (Say(audio=speech(length)), Hear(within=1.5), Wait(0.5))]
    result = play(transport, *steps, options=HARNESS)
    commits = [call for call in transport.calls_of(SendAudioCall) if call.commit]
    assert len(commits) == len(lengths)
    assert all(call.audio for call in commits)
    assert provider.refusals == []
    unmet = [check.step for check in result.failures if check.kind == "no_answer"]
    assert unmet == ([] if unanswered is None else [4])


# Ends, and turns without sound


def after_a_first_turn(*cues: tuple[float, Any]) -> ScriptedRealtimeTransport:
    return timetable([*paced(0.5, "one", PCM_24K.tone(440, 1.0)), *cues])


TOOL_ONLY = [TurnStartedEvent(), FunctionCallEvent(name="look_up", call_id="call-1"), TurnDoneEvent()]
EMPTY = [TurnStartedEvent(), AudioEvent(data=b"", item_id="two"), TurnDoneEvent()]


def test_a_turn_that_was_heard_is_no_empty_one_when_it_is_done() -> None:
    transport = timetable([*paced(0.5, "one", PCM_24K.tone(440, 1.0)), *paced(4.0, "two", PCM_24K.tone(440, 1.0))])
    result = play(transport, Hear(), Hear())
    assert [step.end / RATE for step in result.steps] == [pytest.approx(2.2, abs=FRAME), pytest.approx(5.7, abs=FRAME)]


@pytest.mark.parametrize("turn", [TOOL_ONLY, EMPTY], ids=["tool only", "empty audio"])
def test_a_turn_without_sound_is_over_when_it_is_done(turn: list[Any]) -> None:
    """Case B01."""
    transport = after_a_first_turn(*((3.0, event) for event in turn))
    result = play(transport, Hear(), Hear(within=30.0))
    assert result.passed, result.explain()
    assert result.steps[1].end / RATE <= 3.5


@pytest.mark.parametrize("error", [None, ConnectionResetError("reset by peer")], ids=["closed", "reset"])
def test_a_transport_that_ends_ends_the_wait(error: OSError | None) -> None:
    """Case B01."""
    transport = after_a_first_turn()
    transport.when("connect").run(lambda _call: at(3.0, lambda: transport.disconnect(error)))
    result = play(transport, Hear(), Hear(within=30.0))
    assert result.record is not None
    assert result.record.duration == pytest.approx(3.0)
    if error is None:
        assert (result.ended_by, result.ended_reason) == ("agent", "the transport was disconnected")
        assert result.outcome == "failed"
    else:
        assert result.ended_by == "transport"
        assert result.outcome == "not_called"
        assert "reset by peer" in result.explain()
        assert result.error is not None
        assert result.error.__cause__ is error


@pytest.mark.parametrize("options", [{"transcripts": False}, {"transcripts": True}])
def test_transcripts_that_never_come_cost_no_time(options: dict[str, Any]) -> None:
    """Case B25."""
    transport = simulated(*[Speak("", 0.5)] * 10)
    steps = [step for number in range(10) for step in (Say(audio=speech(0.5, seed=number)), Hear())]
    result = play(transport, *steps, options=HARNESS | options)
    assert result.passed, result.explain()
    assert result.record is not None
    turn = 0.5 + 0.3 + 0.5 + TransportVoiceAdapter.tail_silence
    assert result.record.duration <= 10 * turn + 0.5
    assert TransportVoiceAdapter.capabilities_for(options).streaming_transcripts is options["transcripts"]
