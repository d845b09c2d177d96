"""A scenario as one call, from what it needs to its result."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.scenario.playing import RATE, play, speech, tone
from voiceharness.agent import AgentCall, PhoneAgent
from voiceharness.audio.chunk import AudioChunk
from voiceharness.clock import run_virtual, stopwatch
from voiceharness.doubles import ScriptedPhoneAgent, SilentAgent, TurnTakingAgent
from voiceharness.errors import OptionError, VirtualTimeError
from voiceharness.events import CallEnded, Interrupted, ProtocolFault
from voiceharness.scenario.checks import ResponseLatency, StopLatency
from voiceharness.scenario.result import CallFailed, CallResult
from voiceharness.scenario.run import SpeechEngines, run_call, run_scenario
from voiceharness.scenario.scenario import LineProfile, Scenario
from voiceharness.scenario.steps import AnyStep, Hangup, Hear, Interrupt, Say, Wait
from voiceharness.scenario.triggers import at_time, seconds
from voiceharness_adapters.in_process import InProcess

if TYPE_CHECKING:
    from voiceharness.events import UserItem


def booking(**fields: object) -> Scenario:
    steps: list[AnyStep] = [
        Say(audio=speech(1.0)),
        Hear(within=3),
        Say(audio=speech(0.8, seed=2)),
        Hear(within=3),
        Hangup(),
    ]
    return Scenario("booking", steps, **fields)  # type: ignore[arg-type] # the scenario checks its own fields


def test_the_same_seed_gives_the_same_recording_timeline_and_result() -> None:
    def run() -> CallResult:
        return run_scenario(booking(), lambda: InProcess(TurnTakingAgent([tone(440, 1.0)])))

    first, second = run(), run()
    assert first.record is not None
    assert second.record is not None
    assert first.record.user.tobytes() == second.record.user.tobytes()
    assert first.record.agent.tobytes() == second.record.agent.tobytes()
    assert first.record.events == second.record.events
    assert first.steps == second.steps
    assert first.checks == second.checks
    assert first.metrics == second.metrics


def test_limits_judge_the_whole_call() -> None:
    agent = TurnTakingAgent([tone(440, 0.5)], thinking=1.0)
    result = run_scenario(booking(limits=[ResponseLatency(at_most=0.8)]), lambda: InProcess(agent))
    assert result.outcome == "failed"
    assert [(check.kind, check.step) for check in result.failures] == [("response_latency", None)]


def test_a_failed_call_can_be_raised_with_its_explanation() -> None:
    result = play(SilentAgent(), Hear(within=1))
    with pytest.raises(CallFailed, match="no speech of the agent") as caught:
        result.raise_for_failure()
    assert caught.value.result is result
    assert play(SilentAgent(), Hangup()).raise_for_failure().passed


def test_a_fault_of_the_agents_protocol_is_told_apart_from_its_behaviour() -> None:
    result = play(ScriptedPhoneAgent([(1.0, ProtocolFault("bad_json", "{"))]), Wait(2), Hangup())
    assert (result.outcome, result.exit_code) == ("protocol_violation", 6)


def test_one_way_delay_is_part_of_the_measured_latency() -> None:
    agent = TurnTakingAgent([tone(440, 1.0)], pause=0.2, thinking=0.3)
    scenario = booking(line=LineProfile(delay=0.15))
    result = run_scenario(scenario, lambda: InProcess(agent))
    assert result.metrics is not None
    assert result.metrics.latencies[0] == pytest.approx(0.5 + 0.3, abs=0.02)


def test_a_rate_that_the_adapter_was_not_made_for_is_refused_before_dialling() -> None:
    result = run_scenario(booking(rate=16000), lambda: InProcess(SilentAgent()))
    assert isinstance(result.error, OptionError)
    assert result.exit_code == 2
    assert result.record is None


def test_a_call_at_sixteen_kilohertz_measures_the_same() -> None:
    agent = TurnTakingAgent([tone(440, 1.0)], pause=0.2, thinking=0.3)
    result = run_scenario(booking(rate=16000), lambda: InProcess(agent, rate=16000))
    assert result.outcome == "passed"
    assert result.metrics is not None
    assert result.metrics.latencies[0] == pytest.approx(0.5, abs=0.02)


def test_an_engine_that_is_missing_is_said_before_dialling() -> None:
    """An unknown synthesizer: nothing was dialled."""
    agent = SilentAgent()
    result = run_scenario(
        Scenario("s", [Say("hello")]), lambda: InProcess(agent), speech=SpeechEngines(synthesizer="nobody")
    )
    assert result.exit_code == 2
    assert agent.logs == []


def test_work_that_leaves_the_loop_is_a_harness_fault_with_the_evidence_kept() -> None:
    class Threaded(PhoneAgent):
        """Waits for a thread that calls back into the loop."""

        async def answer(self, call: AgentCall) -> None:
            call.send(tone(440, 1.0))
            await call.clock.sleep(1.5)
            loop, done = asyncio.get_running_loop(), asyncio.Event()

            def work() -> None:
                try:
                    loop.call_soon_threadsafe(done.set)
                except VirtualTimeError:
                    return

            threading.Thread(target=work).start()
            await done.wait()

    kept: list[CallResult] = []
    result = run_scenario(Scenario("s", [Hear(within=3), Wait(5)]), lambda: InProcess(Threaded()), keep=kept.append)
    assert result.outcome == "harness_fault"
    assert isinstance(result.error, VirtualTimeError)
    assert "run in real time" in str(result.error)
    assert kept == [result]
    assert result.record is not None
    assert np.any(result.record.agent)


def test_a_cancelled_run_keeps_its_evidence_once_and_ends_the_call() -> None:
    """Case B35, task cancelled: the agent is told, exactly once."""
    agent, kept = SilentAgent(), list[CallResult]()

    async def main() -> None:
        scenario = Scenario("s", [Say(audio=speech(1.0)), Hear(within=30)])
        run = asyncio.create_task(run_call(scenario, InProcess(agent), keep=kept.append))
        await asyncio.get_running_loop().create_task(_later(2.0))
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    run_virtual(main())
    assert [type(entry.item) for entry in agent.log.items if isinstance(entry.item, CallEnded)] == [CallEnded]
    assert len(kept) == 1
    assert kept[0].record is not None
    assert kept[0].record.duration == 2.0


async def _later(after: float) -> None:
    done = asyncio.Event()
    asyncio.get_running_loop().call_later(after, done.set)
    await done.wait()


def test_a_turn_nobody_ends_is_refused_by_its_maximum() -> None:
    result = play(SilentAgent(), Wait(1000), max_duration=3)
    assert result.record is not None
    assert result.record.duration == 3.0
    assert result.ended_by == "limit"


def test_interrupts_at_an_absolute_time_reach_an_agent_that_is_thinking() -> None:
    """Case A07 (a): the user speaks while the answer is still being computed."""
    agent = ScriptedPhoneAgent([(3.0, tone(440, 8.0))])
    result = play(
        agent,
        Say(audio=speech(1.0)),
        Interrupt(audio=speech(0.6, seed=3), after=at_time(2.0)),
        Interrupt(audio=speech(1.5, seed=4), after=at_time(6.0)),
        Hangup(),
    )
    assert result.metrics is not None
    assert [barge_in.phase for barge_in in result.metrics.barge_ins] == ["thinking", "speaking"]
    heard = [entry for entry in agent.log.items if isinstance(entry.item, AudioChunk) and entry.item.pcm.strip(b"\0")]
    assert sum(1.99 < entry.at < 2.65 for entry in heard) >= 28
    assert sum(5.99 < entry.at < 7.55 for entry in heard) >= 70


def test_a_stop_latency_limit_names_the_missing_flush() -> None:
    """Case A01: the message says that no flush was sent."""
    agent = ScriptedPhoneAgent([(0.0, tone(440, 5.0))])
    result = play(
        agent,
        Interrupt(audio=speech(1.0), after=seconds(1.5)),
        Wait(4),
        limits=[StopLatency(at_most=0.5)],
    )
    assert [check.kind for check in result.failures] == ["stop_latency", "no_fault"]
    assert [found.kind for found in result.findings] == ["no_flush_on_barge_in"]
    assert "no flush" in result.failures[0].explanation
    assert result.failures[0].value == pytest.approx(3.5, abs=0.02)


@pytest.mark.realtime
def test_a_blocked_event_loop_is_reported_and_moves_no_audio() -> None:
    """Case A62: the agent blocks the loop for 3 s from 1000 ms; the barge-in was planned at 1500 ms."""

    class Blocking(PhoneAgent):
        async def answer(self, call: AgentCall) -> None:
            call.send(tone(440, 6.0))
            over = asyncio.Event()

            def take(item: UserItem) -> None:
                if isinstance(item, CallEnded):
                    over.set()

            call.listen(take)
            await call.clock.sleep(1.0)
            elapsed = stopwatch()
            while elapsed() < 3.0:
                pass
            await over.wait()

    steps: list[AnyStep] = [Interrupt(audio=speech(1.0), after=at_time(1.5)), Wait(3.0)]
    result = run_scenario(Scenario("s", steps), lambda: InProcess(Blocking()), virtual=False)
    assert result.outcome == "harness_fault"
    assert result.record is not None
    stalls = [event.data["duration"] for event in result.record.of_kind("stall")]
    assert max(float(stall or 0) for stall in stalls) >= 2.9
    assert "blocked" in result.trust.reasons[0]
    onset = int(np.flatnonzero(np.abs(result.record.user) > 300)[0])
    assert onset == pytest.approx(1.5 * RATE, abs=0.04 * RATE)


@pytest.mark.realtime
def test_real_time_measures_what_virtual_time_does() -> None:
    agent = TurnTakingAgent([tone(440, 0.5)], pause=0.2, thinking=0.3)
    scenario = Scenario("s", [Say(audio=speech(0.5)), Hear(within=3), Hangup()])
    result = run_scenario(scenario, lambda: InProcess(agent), virtual=False)
    assert not result.virtual
    assert result.outcome in ("passed", "harness_fault"), result.explain()
    assert result.metrics is not None
    assert result.metrics.latencies[0] == pytest.approx(0.5, abs=0.04)
    assert not any(isinstance(entry.item, Interrupted) for entry in agent.log.items)


SILENT_CALL = """
import sys
from voiceharness import Hear, Scenario, run_scenario
from voiceharness.doubles import SilentAgent
from voiceharness.events import CallEnded
from voiceharness_adapters.in_process import InProcess


class Ringing(InProcess):
    async def connect(self):
        await super().connect()
        print("answered", flush=True)


agent = SilentAgent()
try:
    run_scenario(
        Scenario("s", [Hear(within=60)]),
        lambda: Ringing(agent),
        virtual=False,
        keep=lambda result: print("kept", result.record is not None, flush=True),
    )
finally:
    print("ended", sum(isinstance(entry.item, CallEnded) for entry in agent.log.items), flush=True)
"""


@pytest.mark.realtime
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, -signal.SIGINT)])
def test_a_run_that_is_told_to_stop_ends_its_call_once_and_keeps_the_evidence(sent: signal.Signals, code: int) -> None:
    """Case B35: SIGTERM, and the keyboard's interrupt."""
    command = [sys.executable, "-c", SILENT_CALL]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "answered\n"
            process.send_signal(sent)
            told, _ = process.communicate(timeout=30)
        finally:
            process.kill()
    assert told.splitlines() == ["kept True", "ended 1"]
    assert process.returncode == code


def test_a_transport_that_fails_to_disconnect_hides_nothing() -> None:
    """Case B37: closing raises; the verdict of the call stays what it was, and the failure is told."""

    class Stuck(InProcess):
        async def disconnect(self) -> None:
            await super().disconnect()
            raise OSError("the socket is gone")

    result = run_scenario(Scenario("s", [Hear(within=1)]), lambda: Stuck(SilentAgent()))
    assert isinstance(result.error, OSError)
    assert result.outcome == "harness_fault"
    assert [check.kind for check in result.checks] == ["no_answer"]
    assert result.record is not None
    assert result.record.duration == 1.0


def test_a_step_that_breaks_is_not_hidden_by_the_disconnect_that_fails_too(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(InProcess):
        async def disconnect(self) -> None:
            await super().disconnect()
            raise OSError("the socket is gone")

    def break_down(_step: object) -> None:
        raise ValueError("a reporter's own fault")

    result = run_scenario(Scenario("s", [Wait(0.1), Hangup()]), lambda: Broken(SilentAgent()), on_step=break_down)
    assert isinstance(result.error, ValueError)
    assert "the socket is gone" in caplog.text
