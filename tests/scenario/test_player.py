"""The steps of a scenario, played against agents in the same loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.scenario.playing import RATE, play, speech, tone
from voiceharness.agent import AgentCall, PhoneAgent
from voiceharness.audio import signals
from voiceharness.audio.chunk import AudioChunk
from voiceharness.doubles import Cue, ScriptedPhoneAgent, SilentAgent, TurnTakingAgent, paced
from voiceharness.events import CallEnded, Digit, EndOfStream, Flush, RemoteHangup, TurnDone, Word, Words
from voiceharness.measure.finding import FINDING_KINDS
from voiceharness.scenario.checks import Ended, ResponseLatency, Tone
from voiceharness.scenario.steps import AnyStep, Check, Hangup, Hear, Interrupt, Press, Say, Silence, Wait
from voiceharness.scenario.triggers import AfterSeconds, AfterWords

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from voiceharness.scenario.result import CallResult

MADE_AT_24_KHZ = signals.tone(440, 1.0, 24000)
MADE_AT_8_KHZ = signals.tone(440, 1.0, 8000)


def failures(result: CallResult) -> list[str]:
    return [check.kind for check in result.failures]


def seconds(result: CallResult) -> float:
    assert result.record is not None
    return result.record.duration


def test_an_answer_is_heard_to_its_end_and_the_scenario_goes_on_after_the_tail_silence() -> None:
    result = play(TurnTakingAgent([tone(440, 1.5)]), Say(audio=tone(500, 1.0)), Hear(within=3), Hangup())
    assert result.outcome == "passed"
    say, hear, hangup = result.steps
    assert (say.start, say.end) == (0, 8000)
    assert hear.end == pytest.approx((1.0 + 0.5 + 1.5 + 0.7) * RATE, abs=160)
    assert hangup.start == hear.end
    assert result.ended_by == "user"


def test_a_silent_agent_fails_the_step_with_a_message_that_says_what_was_received() -> None:
    """Case B03: the message names adapter, step, waiting time, frames sent and received, last event."""
    result = play(SilentAgent(), Say(audio=tone(500, 1.0)), Hear(within=2))
    assert result.outcome == "failed"
    assert failures(result) == ["no_answer"]
    explanation = result.failures[0].explanation
    for part in ("in_process", "2.00 s", "user frames sent: 1", "agent chunks received: 0", "last event: "):
        assert part in explanation
    assert seconds(result) == pytest.approx(3.0, abs=0.02)


def test_an_agent_that_greets_first_is_heard_before_the_user_speaks() -> None:
    """Case B07 (a): the greeting is turn 0; no prompt follows, because the user answers."""
    agent = ScriptedPhoneAgent([(0.5, tone(440, 2.0)), (5.0, tone(880, 1.0))])
    result = play(agent, Hear(within=3), Say(audio=tone(500, 1.0)), Hear(within=3))
    assert result.outcome == "passed"
    assert result.metrics is not None
    assert [round(turn.onset / 8) for turn in result.metrics.agent_turns] == [500, 5000]
    assert result.steps[1].start == pytest.approx(3.2 * RATE, abs=2)


def test_an_answer_is_not_the_greeting_that_the_user_talked_over() -> None:
    """Case B07 (b): the user speaks at 0 while the greeting plays; the answer is what begins after the user's end."""
    agent = ScriptedPhoneAgent([(0.5, tone(440, 2.0)), (4.0, tone(880, 1.0))])
    result = play(agent, Say(audio=tone(500, 1.5)), Hear(within=5))
    assert result.outcome == "passed"
    assert result.metrics is not None
    assert result.metrics.double_talk == pytest.approx(1.0, abs=0.01)
    assert list(result.metrics.latencies) == pytest.approx([2.5], abs=0.01)


def test_an_agent_that_talks_over_the_user_and_then_says_nothing_has_no_latency() -> None:
    """Case B21 (a): speech before the user's offset alone is overlap; the answer is missing, not negative."""
    result = play(ScriptedPhoneAgent([(0.2, tone(440, 0.5))]), Say(audio=tone(500, 1.0)), Hear(within=2))
    assert failures(result) == ["no_answer"]
    assert result.metrics is not None
    assert result.metrics.latencies == (None,)
    assert result.metrics.double_talk > 0


def test_an_answer_that_begins_just_before_the_users_end_is_the_answer() -> None:
    agent = ScriptedPhoneAgent([(1.3, tone(440, 2.0))])
    result = play(agent, Say(audio=tone(500, 1.5)), Hear(within=5), Hear(within=1, absent=True))
    assert result.outcome == "passed"
    assert result.steps[1].end == pytest.approx((3.3 + 0.7) * RATE, abs=2)


def test_an_answer_that_begins_just_before_the_users_end_can_be_interrupted() -> None:
    agent = ScriptedPhoneAgent([(1.3, tone(440, 3.0))])
    result = play(agent, Say(audio=tone(500, 1.5)), Interrupt(audio=tone(500, 0.5), after=AfterSeconds(1.5)))
    assert "no_answer" not in failures(result)
    assert result.steps[1].end == pytest.approx((1.3 + 1.5 + 0.5) * RATE, abs=2)


def test_a_backchannel_at_the_users_end_is_not_the_answer() -> None:
    agent = ScriptedPhoneAgent([(1.3, tone(440, 0.5)), (3.0, tone(880, 1.0))])
    result = play(agent, Say(audio=tone(500, 1.5)), Hear(within=5))
    assert result.outcome == "passed"
    assert result.steps[1].end == pytest.approx((4.0 + 0.7) * RATE, abs=2)


def test_a_pause_inside_a_turn_does_not_end_it() -> None:
    agent = ScriptedPhoneAgent([(1.0, tone(440, 1.0)), (2.5, tone(440, 1.0))])
    result = play(agent, Hear(within=3), Hear(within=1, absent=True))
    assert result.outcome == "passed"
    assert result.steps[0].end == pytest.approx((3.5 + 0.7) * RATE, abs=2)


def test_a_pause_longer_than_the_tail_silence_does() -> None:
    agent = ScriptedPhoneAgent([(1.0, tone(440, 1.0)), (2.5, tone(440, 1.0))])
    result = play(agent, Hear(within=3, tail_silence=0.4), Hear(within=2, tail_silence=0.4))
    assert [round(step.end / 8) for step in result.steps] == [2400, 3900]


def test_a_turn_of_ninety_seconds_ends_the_wait_and_stays_one_turn() -> None:
    agent = ScriptedPhoneAgent([(0.0, tone(440, 90.0)), (95.0, tone(880, 1.0))])
    result = play(
        agent, Hear(within=3), Say(audio=tone(500, 1.0)), Hear(within=80), max_duration=200, allow=FINDING_KINDS
    )
    assert failures(result) == ["turn_too_long"]
    assert result.steps[0].end == pytest.approx(30.0 * RATE, abs=2)
    assert result.steps[2].end == pytest.approx((96.0 + 0.7) * RATE, abs=2)
    assert result.metrics is not None
    assert len(result.metrics.agent_turns) == 2


def test_a_longer_turn_can_be_asked_for() -> None:
    result = play(ScriptedPhoneAgent([(0.0, tone(440, 90.0))]), Hear(within=3, max_duration=100), max_duration=200)
    assert result.outcome == "passed"


@pytest.mark.parametrize(
    "cues",
    [
        [(2.0, TurnDone())],
        [(1.9, AudioChunk(b"")), (2.0, TurnDone())],
        [(1.9, AudioChunk(bytes(320))), (2.0, TurnDone())],
    ],
    ids=["a tool call and no audio", "empty audio", "silent audio"],
)
def test_a_turn_without_audio_ends_the_wait_at_once(cues: list[Cue]) -> None:
    """Case B01 (a), (c): within 500 ms of the end of the turn, not at the response timeout."""
    result = play(ScriptedPhoneAgent(cues), Say(audio=tone(500, 1.0)), Hear(within=30))
    assert result.outcome == "passed"
    assert 2.0 <= seconds(result) <= 2.5


def test_an_agent_that_ends_its_stream_ends_the_call() -> None:
    """Case B01 (b)."""
    result = play(ScriptedPhoneAgent([(2.0, EndOfStream())]), Say(audio=tone(500, 1.0)), Hear(within=30))
    assert result.ended_by == "agent"
    assert failures(result) == ["no_answer"]
    assert seconds(result) == 2.0


def test_a_farewell_before_the_hang_up_is_kept_and_the_rest_of_the_script_is_skipped() -> None:
    """Case B05."""
    agent = ScriptedPhoneAgent([(5.0, tone(440, 2.0)), (7.0, RemoteHangup("bye"))])
    result = play(agent, Hear(within=6), Say(audio=tone(500, 1.0)), Hear(within=3))
    assert result.outcome == "failed"
    assert result.ended_by == "agent"
    assert [(step.outcome, step.detail) for step in result.steps] == [
        ("done", ""),
        ("skipped", "call ended"),
        ("skipped", "call ended"),
    ]
    assert failures(result) == ["no_answer"]
    assert result.metrics is not None
    assert [(round(turn.onset / 8), round(turn.offset / 8)) for turn in result.metrics.agent_turns] == [(5000, 7000)]


def test_an_agent_that_crashes_is_the_cause_of_the_result_and_the_evidence_is_kept() -> None:
    """Case B03 (b): the original exception, at once."""

    class Crashing(PhoneAgent):
        async def answer(self, call: AgentCall) -> None:
            call.send(tone(440, 1.0))
            await call.clock.sleep(1.5)
            raise ValueError("boom")

    result = play(Crashing(), Hear(within=3), Hear(within=30))
    assert result.outcome == "not_called"
    assert result.exit_code == 3
    assert isinstance(result.error, Exception)
    assert isinstance(result.error.__cause__, ValueError)
    assert seconds(result) == 1.5
    assert result.metrics is not None
    assert len(result.metrics.agent_turns) == 1


def test_a_crash_is_told_once_and_later_steps_refer_to_it() -> None:
    class Crashing(PhoneAgent):
        async def answer(self, call: AgentCall) -> None:
            raise ValueError("no table is free")

    result = play(Crashing(), Say(audio=tone(500, 1.0)), Hear(), Say(audio=tone(500, 1.0)), Hear(text="hello"), Hear())
    first, *later = [check.explanation for check in result.failures]
    assert first.startswith(
        "in_process: the call was ended by the transport before the agent spoke in 'hear': AgentCrashedError, see above"
    )
    assert later == [
        "in_process: the call had ended before 'hear \"hello\"', see step 2",
        "in_process: the call had ended before 'hear', see step 2",
    ]
    assert result.explain().count("no table is free") == 1


def test_a_hang_up_is_told_with_its_reason_once() -> None:
    agent = ScriptedPhoneAgent([(1.0, RemoteHangup("we are closed"))])
    result = play(agent, Hear(within=3), Hear(within=3))
    first, later = [check.explanation for check in result.failures]
    assert "ended by the agent before the agent spoke in 'hear within 3': we are closed; user frames" in first
    assert later == "in_process: the call had ended before 'hear within 3', see step 1"
    assert {check.measured for check in result.failures} == {"the call was ended by the agent"}


def test_absence_of_speech_is_an_expectation() -> None:
    assert play(SilentAgent(), Hear(absent=True, within=2)).outcome == "passed"
    result = play(ScriptedPhoneAgent([(1.0, tone(440, 1.0))]), Hear(absent=True, within=2))
    assert failures(result) == ["hear_absent"]
    assert "1.00 s" in result.failures[0].explanation


def test_a_step_can_end_while_the_agent_still_speaks() -> None:
    agent = ScriptedPhoneAgent([(1.0, tone(440, 5.0))])
    result = play(agent, Hear(within=2, up_to=AfterSeconds(0.8)), Say(audio=tone(500, 1.0)))
    assert result.steps[0].end == pytest.approx(1.8 * RATE, abs=2)
    assert result.metrics is not None
    assert result.metrics.double_talk == pytest.approx(1.0, abs=0.01)


def test_a_step_can_end_after_some_words() -> None:
    words = Words("a", tuple(Word(f"w{index}", index * 0.5, index * 0.5 + 0.4) for index in range(8)))
    agent = ScriptedPhoneAgent([(1.0, tone(440, 4.0, item="a")), (1.0, words)])
    result = play(agent, Hear(within=2, up_to=AfterWords(3)))
    assert result.outcome == "passed"
    assert result.steps[0].end == pytest.approx((1.0 + 1.4) * RATE, abs=2)


def test_expected_text_is_looked_for_in_the_turn_alone() -> None:
    hello, bye = Words("a", (Word("Hello", 0.0, 0.5),)), Words("b", (Word("Goodbye", 0.0, 0.5),))
    cues: list[Cue] = [(0.0, tone(440, 1.0, item="a")), (0.0, hello), (3.0, tone(880, 1.0, item="b")), (3.0, bye)]
    assert play(ScriptedPhoneAgent(cues), Hear("hello", within=1), Hear("goodbye", within=3)).outcome == "passed"
    result = play(ScriptedPhoneAgent(cues), Hear("hello", within=1), Hear("hello", within=3))
    assert failures(result) == ["hear_text"]


def test_words_that_come_late_belong_to_the_turn_they_were_said_in() -> None:
    """Case A19 (c): the last word's event arrives 150 ms after the end of the turn."""
    words = Words("a", (Word("last", 0.5, 1.0),))
    agent = ScriptedPhoneAgent([(0.0, tone(440, 1.0, item="a")), (1.15, words)])
    assert play(agent, Hear("last", within=1)).outcome == "passed"


def test_a_flushed_word_was_not_heard() -> None:
    words = Words("a", (Word("heard", 0.0, 0.5), Word("never", 2.0, 2.5)))
    agent = ScriptedPhoneAgent([(0.0, tone(440, 3.0, item="a")), (0.0, words), (1.0, Flush())])
    assert failures(play(agent, Hear("never", within=1), allow=["self_interruption", "history_missing_words"])) == [
        "hear_text"
    ]


def test_time_passes_while_waiting_and_the_next_hear_still_gets_what_was_said_meanwhile() -> None:
    agent = ScriptedPhoneAgent([(1.0, tone(440, 1.0))])
    assert play(agent, Wait(5.0), Hear(within=0.1)).outcome == "passed"


def test_what_is_said_during_a_silence_belongs_to_it() -> None:
    agent = ScriptedPhoneAgent([(1.0, tone(440, 1.0))])
    assert failures(play(agent, Silence(5.0), Hear(within=1))) == ["no_answer"]


def test_digits_reach_the_agent_one_by_one_by_the_best_declared_method() -> None:
    agent = SilentAgent()
    result = play(agent, Press("12#", tone_ms=100, gap_ms=50), Hangup())
    assert result.metrics is not None
    assert [(key.digit, key.method, key.at) for key in result.metrics.keys] == [
        ("1", "event", 0),
        ("2", "event", 1200),
        ("#", "event", 2400),
    ]
    assert result.steps[0].end == 3600


def test_in_band_digits_are_tones_on_the_users_track() -> None:
    from voiceharness.audio.dtmf import detect

    result = play(SilentAgent(), Press("159D", method="inband"), Hangup())
    assert result.record is not None
    assert "".join(digit.key for digit in detect(result.record.user)) == "159D"


def test_waiting_for_the_agents_hang_up_is_bounded_by_the_expectation() -> None:
    """Case A12: the agent that hangs up, and its twin that never does."""
    agent = ScriptedPhoneAgent([(5.0, tone(440, 1.0)), (10.0, RemoteHangup())])
    good = play(agent, Check(Ended(by="agent", within=12)))
    assert good.outcome == "passed"
    assert seconds(good) == 10.0
    bad = play(ScriptedPhoneAgent([(5.0, tone(440, 1.0))]), Check(Ended(by="agent", within=12)))
    assert failures(bad) == ["ended"]
    assert seconds(bad) == 12.0


def test_a_call_never_lasts_longer_than_its_maximum() -> None:
    result = play(SilentAgent(), Check(Ended(by="agent")), max_duration=15)
    assert result.ended_by == "limit"
    assert seconds(result) == 15.0


@pytest.mark.parametrize("step", [Wait(900), Silence(900), Press("12", tone_ms=100_000), Hear(within=900, absent=True)])
def test_a_script_that_the_maximum_cuts_off_has_not_passed(step: AnyStep) -> None:
    """A wait of 900 where 900 ms were meant: nothing that comes after it was tried."""
    result = play(SilentAgent(), step, Say(audio=tone(500, 1.0)), max_duration=15)
    assert failures(result) == ["cut_by_limit"]
    assert [each.outcome for each in result.steps] == ["failed", "skipped"]
    assert "the call's maximum of 15 s (max_duration) was over in" in result.explain()
    assert "with 1 more to play" in result.explain()


def test_what_the_user_cannot_say_to_its_end_is_told_once() -> None:
    result = play(SilentAgent(), Say(audio=tone(500, 8.0)), Say(audio=tone(500, 8.0)), Wait(1), max_duration=10)
    assert failures(result) == ["cut_by_limit"]
    assert [(each.step, each.at) for each in result.checks] == [(1, 10 * RATE)]


def test_a_hear_that_the_maximum_cuts_off_tells_so_itself() -> None:
    result = play(SilentAgent(), Hear(within=20), Say(audio=tone(500, 1.0)), max_duration=10)
    assert failures(result) == ["no_answer"]


@pytest.mark.parametrize("ended", [Ended(), Ended(by="limit")])
def test_a_call_that_is_to_last_until_its_maximum_passes(ended: Ended) -> None:
    assert play(SilentAgent(), Wait(900), Check(ended), max_duration=15).outcome == "passed"
    assert play(SilentAgent(), Wait(900), limits=[ended], max_duration=15).outcome == "passed"


def test_a_script_that_the_agents_hang_up_cuts_off_is_judged_by_its_expectations() -> None:
    assert play(ScriptedPhoneAgent([(5.0, RemoteHangup())]), Wait(900), max_duration=15).outcome == "passed"


def test_ten_turns_cost_no_grace_for_words_that_nobody_asked_for() -> None:
    """Case B25: the turns follow each other as fast as their sounds."""
    turn: list[AnyStep] = [Say(audio=tone(500, 0.5)), Hear(within=3)]
    result = play(TurnTakingAgent([tone(440, 0.5)]), *turn * 10)
    assert result.outcome == "passed"
    assert seconds(result) == pytest.approx(10 * (0.5 + 0.5 + 0.5 + 0.7), abs=0.5)


def test_a_check_in_the_middle_judges_the_latest_turn() -> None:
    agent = ScriptedPhoneAgent([(2.0, tone(440, 1.0)), (8.0, tone(440, 1.0))])
    check = Check(ResponseLatency(at_most=1.5))
    result = play(
        agent, Say(audio=tone(500, 1.0)), Hear(within=3), check, Say(audio=tone(500, 1.0)), Hear(within=9), check
    )
    assert [step.outcome for step in result.steps if step.label.startswith("check")] == ["done", "failed"]


@pytest.mark.parametrize(
    ("samples", "rate", "outcome", "told"),
    [
        (MADE_AT_24_KHZ, 8000, "failed", ["146.7 Hz for 3.00", "0.333 times", "24 kHz audio treated as 8 kHz"]),
        (MADE_AT_8_KHZ, 24000, "failed", ["1320.0 Hz for 0.33", " 3 times", "8 kHz audio treated as 24 kHz"]),
        (MADE_AT_24_KHZ, 24000, "passed", ["440.0 Hz for 1.00"]),
    ],
    ids=["24 kHz called 8 kHz", "8 kHz called 24 kHz", "right"],
)
def test_a_tone_whose_rate_is_called_wrongly_is_heard_at_another_frequency(
    samples: NDArray[np.int16], rate: int, outcome: str, told: list[str]
) -> None:
    """Case A34, over the door in the same process; as a step, and as a limit."""
    agent = ScriptedPhoneAgent([(0.5, AudioChunk.from_samples(samples, rate))])
    for result in (play(agent, Wait(5), Check(Tone(440, 1.0))), play(agent, Wait(5), limits=[Tone(440, 1.0)])):
        assert result.outcome == outcome, result.explain()
        (judged,) = (check for check in result.checks if check.kind == "tone")
        for part in told:
            assert part in judged.explanation


def test_a_tone_is_judged_up_to_where_its_check_stands() -> None:
    agent = ScriptedPhoneAgent([(0.5, tone(440, 1.0))])
    result = play(agent, Wait(0.2), Check(Tone(440)), Wait(0.8), Check(Tone(440)), Check(Tone(440, 1.0)), Wait(1.0))
    assert [check.passed for check in result.checks] == [False, True, False]
    assert "the agent was silent" in result.checks[0].explanation
    assert "440.0 Hz for 0.500 s" in result.checks[2].explanation


def test_an_utterance_of_ten_seconds_takes_ten_seconds_whatever_the_agent_does() -> None:
    """Case B23: agent audio paced by summed floats does not disturb the user's frames; latency is 800 ms."""
    agent = TurnTakingAgent([tone(440, 1.0)], pause=0.2, thinking=0.6)
    result = play(agent, Say(audio=speech(10.0)), Hear(within=3))
    assert result.steps[0].end == pytest.approx(10.0 * RATE, abs=160)
    assert result.metrics is not None
    assert result.metrics.latencies[0] == pytest.approx(0.8, abs=0.02)


def test_paced_and_burst_answers_measure_the_same() -> None:
    """Case B54: latency depends neither on the delay nor on the size of the messages."""
    for delay in (0.0, 0.25, 0.75, 2.0):
        measured = []
        for cues in ([(1.0 + delay, tone(440, 1.0))], list(paced(tone(440, 1.0), 1.0 + delay))):
            result = play(ScriptedPhoneAgent(cues), Say(audio=tone(500, 1.0)), Hear(within=4))
            assert result.metrics is not None
            measured.append(result.metrics.latencies[0])
        assert measured[0] == measured[1] == pytest.approx(delay, abs=0.001)


def test_a_turn_that_ends_before_the_asked_part_of_it_fails_the_step() -> None:
    result = play(ScriptedPhoneAgent([(0.5, tone(440, 1.0))]), Hear(within=2, up_to=AfterSeconds(5.0)))
    assert failures(result) == ["hear"]
    assert result.steps[0].end == pytest.approx((1.5 + 0.7) * RATE, abs=2)


def test_the_part_of_a_turn_that_was_heard_must_contain_the_expected_text() -> None:
    words = Words("a", tuple(Word(f"w{index}", index * 0.5, index * 0.5 + 0.4) for index in range(8)))
    cues: list[Cue] = [(1.0, tone(440, 4.0, item="a")), (1.0, words)]
    assert play(ScriptedPhoneAgent(cues), Hear("w1 w2", within=2, up_to=AfterWords(3))).outcome == "passed"
    result = play(ScriptedPhoneAgent(cues), Hear("w5", within=2, up_to=AfterSeconds(1.5)))
    assert failures(result) == ["hear_text"]


@pytest.mark.parametrize("before", [Say(audio=tone(500, 1.0)), Silence(1.0)])
def test_an_agent_that_just_speaks_on_is_not_absent(before: AnyStep) -> None:
    agent = ScriptedPhoneAgent([(0.5, tone(440, 6.0))])
    result = play(agent, before, Hear(absent=True, within=2), allow=FINDING_KINDS)
    assert failures(result) == ["hear_absent"]


class AnswersKeys(PhoneAgent):
    """Answers the key # after a delay in seconds."""

    def __init__(self, delay: float) -> None:
        self.delay = delay

    async def answer(self, call: AgentCall) -> None:
        while not isinstance(item := await call.receive(), CallEnded):
            if isinstance(item, Digit) and item.digit == "#":
                await call.clock.sleep(self.delay)
                call.send(tone(440, 1.0))


@pytest.mark.parametrize("delay", [0.05, 0.15, 0.25])
def test_an_answer_that_begins_while_the_last_key_is_still_down_is_heard(delay: float) -> None:
    result = play(AnswersKeys(delay), Press("1#"), Hear(within=3), allow=FINDING_KINDS)
    assert result.steps[1].end == pytest.approx((0.2 + delay + 1.0 + 0.7) * RATE, abs=2)


def test_no_step_ends_after_the_call_and_what_it_cut_short_is_not_called_done() -> None:
    result = play(ScriptedPhoneAgent([(0.5, RemoteHangup("bye"))]), Say(audio=tone(500, 2.0)), allow=FINDING_KINDS)
    assert result.steps[0].end == 0.5 * RATE
    assert (result.steps[0].outcome, result.steps[0].detail) == ("cut", "call ended")
    assert result.record is not None
    assert [event.at for event in result.record.of_kind("step_ended")] == [0.5 * RATE]


@pytest.mark.parametrize("named", [False, True], ids=["without items", "with items"])
def test_the_rest_of_a_turn_that_was_too_long_is_not_the_answer_to_what_the_user_said_over_it(named: bool) -> None:
    """The agent goes on for 20 s with short pauses, the user speaks over it after 10 s; the answer comes at 25 s."""
    name = "a" if named else None
    going_on = [(index * 1.3, tone(440, 1.0, item=name)) for index in range(15)]
    agent = ScriptedPhoneAgent([*going_on, (25.0, tone(880, 1.0, item="b" if named else None))])
    result = play(
        agent,
        Hear(within=3, max_duration=10),
        Say(audio=tone(500, 1.0)),
        Hear(within=20),
        allow=FINDING_KINDS,
    )
    assert failures(result) == ["turn_too_long"]
    assert result.steps[2].end == pytest.approx((26.0 + 0.7) * RATE, abs=2)


def test_an_answer_that_follows_the_flush_of_a_turn_that_was_too_long_is_one() -> None:
    agent = ScriptedPhoneAgent([(0.0, tone(440, 30.0)), (10.5, Flush()), (11.2, tone(880, 1.0))])
    result = play(
        agent,
        Hear(within=3, max_duration=10),
        Say(audio=tone(500, 1.0)),
        Hear(within=20),
        allow=FINDING_KINDS,
    )
    assert failures(result) == ["turn_too_long"]
    assert result.steps[2].end == pytest.approx((12.2 + 0.7) * RATE, abs=2)
