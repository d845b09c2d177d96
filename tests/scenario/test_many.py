"""Many calls at once in one process."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import pytest

from tests.scenario.playing import RATE, speech, tone
from voiceharness.clock import LoopClock, run_real, run_virtual
from voiceharness.doubles import SilentAgent, TurnTakingAgent
from voiceharness.errors import OptionError
from voiceharness.scenario.many import run_calls
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Hangup, Hear, Press, Say
from voiceharness_adapters.in_process import InProcess

if TYPE_CHECKING:
    from voiceharness.scenario.result import CallResult

ASKING = Scenario("asking", [Say(audio=speech(0.5)), Hear(within=3, tail_silence=0.3), Hangup()])


def answering() -> InProcess:
    return InProcess(TurnTakingAgent([tone(440, 0.5)], pause=0.2, thinking=0.3))


def test_each_call_has_its_result_in_the_order_of_the_calls() -> None:
    calls = [(ASKING, answering()), (ASKING, InProcess(SilentAgent())), (ASKING, answering())]
    results = run_virtual(run_calls(calls))
    assert [result.outcome for result in results] == ["passed", "failed", "passed"]


def test_a_call_of_many_is_measured_as_if_it_were_alone() -> None:
    (alone,) = run_virtual(run_calls([(ASKING, answering())]))
    results = run_virtual(run_calls([(ASKING, answering()) for _ in range(8)]))
    assert alone.metrics is not None
    for result in results:
        assert result.metrics is not None
        assert result.metrics.latencies == pytest.approx(alone.metrics.latencies, abs=0.02)
        assert result.metrics.agent_talk == pytest.approx(alone.metrics.agent_talk, abs=0.005)


def test_a_call_that_cannot_be_made_holds_up_none() -> None:
    refused = Scenario("keys", [Press("1", method="info")])
    kept: list[CallResult] = []
    results = run_virtual(run_calls([(refused, answering()), (ASKING, answering())], keep=kept.append))
    assert [result.outcome for result in results] == ["unsupported", "passed"]
    assert sorted(result.outcome for result in kept) == ["passed", "unsupported"]


def test_results_are_made_when_all_calls_are_over() -> None:
    async def main() -> list[float]:
        clock, kept = LoopClock(), list[float]()
        slow = Scenario("slow", [Say(audio=speech(3.0)), Hear(within=3, tail_silence=0.3), Hangup()])
        await run_calls(
            [(ASKING, answering()), (slow, answering())], keep=lambda _result: kept.append(clock.now_ns() / 1e9)
        )
        return kept

    first, last = run_virtual(main())
    assert first == last > 3.0


def test_no_calls_have_no_results() -> None:
    assert run_virtual(run_calls([])) == []


def test_a_negative_distance_is_refused() -> None:
    with pytest.raises(OptionError, match="apart"):
        run_virtual(run_calls([], apart=-0.1))


def test_the_garbage_collector_is_left_as_it_was() -> None:
    before = gc.get_threshold()
    run_virtual(run_calls([(ASKING, answering())]))
    assert gc.get_threshold() == before


@pytest.mark.realtime
def test_calls_in_real_time_are_right_or_say_that_they_are_not_to_be_trusted() -> None:
    results = run_real(run_calls([(ASKING, answering()) for _ in range(10)]))
    for result in results:
        assert result.metrics is not None
        assert result.outcome in ("passed", "harness_fault"), result.explain()
        if result.trust.trustworthy:
            assert result.metrics.latencies[0] == pytest.approx(0.5, abs=0.06)
            assert result.metrics.agent_talk * RATE == pytest.approx(0.5 * RATE, abs=0.05 * RATE)
