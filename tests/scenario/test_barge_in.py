"""Talking over the agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.scenario.playing import RATE, play, speech, tone
from voiceharness.doubles import Cue, ScriptedPhoneAgent, SilentAgent, TurnTakingAgent
from voiceharness.errors import UnsupportedCapabilityError
from voiceharness.events import Flush, Interrupted, Word, Words
from voiceharness.measure.finding import FINDING_KINDS
from voiceharness.scenario.steps import AnyStep, Hangup, Hear, Interrupt, Say, Wait
from voiceharness.scenario.triggers import at_random, at_time, said, seconds, words

if TYPE_CHECKING:
    from voiceharness.scenario.result import CallResult

LATE = 7.32
TEN_WORDS = Words("a", tuple(Word(f"w{index}", index * 0.5, index * 0.5 + 0.4) for index in range(10)))


def late_agent(*more: Cue) -> ScriptedPhoneAgent:
    """Case B09: the agent starts at 7320 ms."""
    return ScriptedPhoneAgent([(LATE, tone(440, 5.0, item="a")), (LATE, TEN_WORDS), *more])


def onsets(result: CallResult) -> list[int]:
    """Where the user barged in, in samples."""
    assert result.metrics is not None
    return [barge_in.onset for barge_in in result.metrics.barge_ins]


def test_seconds_count_from_the_heard_onset_of_the_agent() -> None:
    result = play(late_agent(), Interrupt(audio=tone(700, 0.5), after=seconds(0.6), within=10), Hangup())
    assert result.outcome == "passed"
    assert onsets(result) == [pytest.approx((LATE + 0.6) * RATE, abs=2)]
    assert result.metrics is not None
    assert result.metrics.barge_ins[0].phase == "speaking"


def test_placement_is_exact_to_the_sample_and_the_clips_own_silence_does_not_count() -> None:
    from voiceharness.audio.chunk import AudioChunk

    padded = AudioChunk(bytes(2 * 777) + tone(700, 0.5).pcm)
    for after in (0.6, 0.61234, 1.5):
        result = play(late_agent(), Interrupt(audio=padded, after=seconds(after), within=10), Hangup())
        assert result.record is not None
        asked = next(iter(result.record.of_kind("barge_in"))).data["asked"]
        assert onsets(result) == [asked]


def test_a_word_counts_when_its_audio_has_been_heard() -> None:
    result = play(late_agent(), Interrupt(audio=tone(700, 0.5), after=words(3), within=10), Hangup())
    assert onsets(result) == [pytest.approx((LATE + 1.4) * RATE, abs=2)]
    assert result.record is not None
    assert next(iter(result.record.of_kind("barge_in"))).data["word_source"] == "agent"


def test_a_time_at_which_the_agent_is_silent_is_labelled_and_interrupts_nobody() -> None:
    result = play(late_agent(), Interrupt(audio=tone(700, 0.5), after=at_time(1.9)), Hear(within=10), Hangup())
    assert onsets(result) == [1.9 * RATE]
    assert result.metrics is not None
    assert result.metrics.barge_ins[0].phase != "speaking"
    assert result.metrics.barge_ins[0].stop_latency is None


def test_chance_gives_the_same_onsets_for_the_same_seed_and_keeps_every_turn() -> None:
    """Case B09: p = 0.3, seed 1, five turns."""

    def run(seed: int) -> CallResult:
        agent = TurnTakingAgent([tone(440, 3.0)])
        steps: list[AnyStep] = []
        for _ in range(5):
            steps += [Say(audio=tone(500, 0.5)), Interrupt(audio=tone(700, 0.3), after=at_random(probability=0.3))]
        return play(agent, *steps, seed=seed)

    first, second, other = run(1), run(1), run(2)
    assert onsets(first) == onsets(second) != onsets(other)
    assert first.outcome == "passed"
    assert [step.outcome for step in first.steps] == ["done"] * 10
    assert first.metrics is not None
    assert len(first.metrics.agent_turns) >= 5


def test_an_agent_whose_turn_is_over_before_the_point_was_not_interrupted() -> None:
    agent = ScriptedPhoneAgent([(0.5, tone(440, 0.5))])
    result = play(agent, Interrupt(audio=tone(700, 0.5), after=seconds(2.0)), Hangup())
    assert [check.kind for check in result.failures] == ["barge_in_missed"]


def test_words_that_never_come_are_not_waited_for_after_the_turn() -> None:
    agent = ScriptedPhoneAgent([(0.5, tone(440, 5.0, item="a")), (0.5, TEN_WORDS), (1.5, Flush())])
    result = play(agent, Interrupt(audio=tone(700, 0.5), after=words(8)), Hangup(), allow=["self_interruption"])
    assert [check.kind for check in result.failures] == ["barge_in_missed"]


def test_an_agent_that_never_speaks_cannot_be_interrupted() -> None:
    result = play(SilentAgent(), Interrupt(audio=tone(700, 0.5), after=seconds(0.5), within=2), Hangup())
    assert [check.kind for check in result.failures] == ["no_answer"]


def test_digits_can_interrupt() -> None:
    result = play(late_agent(), Interrupt(digits="5", after=seconds(0.5), within=10), Hangup())
    assert result.metrics is not None
    [key] = result.metrics.keys
    assert key.digit == "5"
    assert key.at == pytest.approx((LATE + 0.5) * RATE, abs=2)


@pytest.mark.parametrize(
    ("via", "signals", "speaks"),
    [("auto", False, True), ("speech", False, True), ("signal", True, False), ("both", True, True)],
)
def test_the_result_says_by_which_means_the_agent_was_interrupted(via: str, signals: bool, speaks: bool) -> None:
    agent = late_agent()
    step = Interrupt(audio=speech(0.5), after=seconds(0.5), within=10, via=via)  # type: ignore[arg-type] # the four that there are
    result = play(agent, step, Hangup())
    assert any(isinstance(entry.item, Interrupted) for entry in agent.log.items) is signals
    assert result.record is not None
    assert any(result.record.of_kind("user_utterance")) is speaks
    used = next(iter(result.record.of_kind("barge_in"))).data["via"]
    assert used == {"auto": "speech", "speech": "speech", "signal": "signal", "both": "both"}[via]


def test_the_flush_of_an_agent_that_stops_gives_the_stop_latency() -> None:
    """Cases A01 and B09: from the barge-in's onset to the last audio that was heard."""
    for flush, latency in (([(LATE + 0.8, Flush())], 0.2), ([], 4.4)):
        result = play(
            late_agent(*flush), Interrupt(audio=tone(700, 1.0), after=seconds(0.6), within=10), Wait(5), Hangup()
        )
        assert result.metrics is not None
        assert result.metrics.barge_ins[0].stop_latency == pytest.approx(latency, abs=0.002)


def test_a_turn_can_be_heard_in_part_and_then_interrupted() -> None:
    agent = ScriptedPhoneAgent([(1.0, tone(440, 5.0))])
    result = play(
        agent,
        Hear(within=2, up_to=seconds(0.5)),
        Interrupt(audio=tone(700, 0.5), after=seconds(1.5)),
        Hangup(),
    )
    assert onsets(result) == [pytest.approx(2.5 * RATE, abs=2)]


def test_a_signal_that_was_demanded_is_refused_before_dialling_where_there_is_none() -> None:
    from voiceharness.scenario.run import run_scenario
    from voiceharness.scenario.scenario import Scenario
    from voiceharness_adapters.in_process import InProcessTurns

    asked: list[object] = []
    scenario = Scenario("s", [Interrupt(audio=tone(700, 0.5), after=seconds(1), via="both")])
    result = run_scenario(scenario, lambda: InProcessTurns(asked.append))
    assert result.outcome == "unsupported"
    assert result.exit_code == 4
    assert isinstance(result.error, UnsupportedCapabilityError)
    assert result.record is None
    assert asked == []


def test_a_phrase_counts_when_its_last_word_has_been_heard() -> None:
    result = play(late_agent(), Interrupt(audio=tone(700, 0.5), after=said("W4, w5"), within=10), Hangup())
    assert result.outcome == "passed"
    assert onsets(result) == [pytest.approx((LATE + 2.9) * RATE, abs=2)]
    assert result.record is not None
    assert next(iter(result.record.of_kind("barge_in"))).data["word_source"] == "agent"


def test_a_phrase_that_is_not_said_is_a_missed_barge_in_that_names_it() -> None:
    result = play(late_agent(), Interrupt(audio=tone(700, 0.5), after=said("w5 w4"), within=10), Hangup())
    assert [check.kind for check in result.failures] == ["barge_in_missed"]
    assert "before the words 'w5 w4' of the agent had been heard: heard 'w0 w1 w2" in result.failures[0].explanation


def test_a_point_that_had_passed_with_the_agents_turn_interrupts_nobody() -> None:
    agent = ScriptedPhoneAgent([(0.5, tone(440, 2.0))])
    result = play(agent, Wait(4.0), Interrupt(audio=tone(700, 0.5), after=seconds(1)), Hangup())
    assert [check.kind for check in result.failures] == ["barge_in_missed"]
    assert result.record is not None
    [event] = result.record.of_kind("barge_in")
    assert (event.at, event.data["phase"]) == (4 * RATE, "silent")
    assert event.data["asked"] == pytest.approx(1.5 * RATE, abs=2)
    assert onsets(result) == [4 * RATE]


def test_a_point_that_had_passed_while_the_agent_goes_on_interrupts_it_at_once() -> None:
    agent = ScriptedPhoneAgent([(0.5, tone(440, 6.0))])
    result = play(agent, Wait(4.0), Interrupt(audio=tone(700, 0.5), after=seconds(1)), Hangup())
    assert onsets(result) == [4 * RATE]
    assert result.metrics is not None
    assert result.metrics.barge_ins[0].phase == "speaking"


def test_words_of_the_agents_next_turn_do_not_count() -> None:
    three = Words("a", tuple(Word(f"w{index}", index * 0.3, index * 0.3 + 0.3) for index in range(3)))
    more = Words("b", tuple(Word(f"v{index}", index * 0.3, index * 0.3 + 0.3) for index in range(9)))
    agent = ScriptedPhoneAgent(
        [(0.5, tone(440, 0.9, item="a")), (0.5, three), (6.0, tone(440, 3.0, item="b")), (6.0, more)]
    )
    result = play(agent, Interrupt(audio=tone(700, 0.5), after=words(4)), Hangup())
    assert [check.kind for check in result.failures] == ["barge_in_missed"]
    assert result.steps[0].end == pytest.approx((1.4 + 1.5) * RATE, abs=2)


def test_an_agent_that_is_left_alone_must_speak_all_the_same() -> None:
    step = Interrupt(audio=tone(700, 0.5), after=at_random(probability=0.0), within=2)
    result = play(SilentAgent(), step, Hangup())
    assert [check.kind for check in result.failures] == ["no_answer"]
    assert result.steps[0].end == 2 * RATE


def test_an_agent_that_talks_through_an_interruption_is_not_said_to_be_silent() -> None:
    agent = ScriptedPhoneAgent([(0.5, tone(440, 9.0))])
    again = Interrupt(audio=tone(700, 0.5), after=seconds(1.0), within=2)
    result = play(agent, Interrupt(audio=tone(700, 0.5), after=seconds(1.0)), again, Hangup(), allow=FINDING_KINDS)
    assert [check.measured for check in result.failures] == ["speech that had begun before"]
