"""Measure the Twilio carrier, side by side with peers in the same run.

The peers: `pip install voicebench==0.2.0` (virtual: its own five turns, in process, for it has no stream there) and
`pip install streamdouble==0.3.0` (one and load).

    python tools/bench_twilio.py virtual             an 18 s five-turn call to an ASGI agent: times real time
    python tools/bench_twilio.py one                 one call over a socket: lateness, overhead, latency error
    python tools/bench_twilio.py load [--calls N]    N calls in one process: lateness, processor time, correctness

The far end of `one` and `load` is a process of its own (tools/bench_twilio_agent.py), on another core where there is
one. Needs the extras `twilio` and `fast`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import statistics
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools.bench_virtual import compare, peer, peer_example
from voiceharness.audio import g711, signals
from voiceharness.audio.chunk import AudioChunk
from voiceharness.clock import run_real, run_virtual
from voiceharness.doubles import TurnTakingAgent
from voiceharness.scenario.many import run_calls
from voiceharness.scenario.run import run_call
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Hear, Interrupt, Say, Wait
from voiceharness.scenario.triggers import seconds
from voiceharness_adapters.twilio import Twilio, TwilioAgentApp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from voiceharness.scenario.result import CallResult

VOICE = "https://agent.example.test/voice"
SPEECH = 2.0
QUIET_FRAME_MS = 20  # the agent knows that the user has stopped when it has the first quiet frame


def user(duration: float, seed: int, level_db: float = -20.0) -> AudioChunk:
    """Make one utterance of the user."""
    return AudioChunk.from_samples(signals.speech_like(duration, level_db=level_db, seed=seed))


@contextmanager
def far_end() -> Iterator[str]:
    """Run the agent as a process; yields its address. Harness and agent each get a core, if there are two."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    agent = Path(__file__).with_name("bench_twilio_agent.py")
    cores = sorted(os.sched_getaffinity(0))
    with subprocess.Popen([sys.executable, str(agent), str(port)], stdout=subprocess.PIPE, text=True) as process:
        if len(cores) > 1:
            os.sched_setaffinity(process.pid, cores[1:])
            os.sched_setaffinity(0, cores[:1])
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield f"ws://127.0.0.1:{port}"
        finally:
            process.kill()


# Virtual time


def conversation() -> Scenario:
    """Five turns in about 18 s, with a barge-in that must stop the agent and a cough that must not."""
    return Scenario(
        "conversation",
        [
            Say(audio=user(1.8, 0)),
            Hear(within=3, tail_silence=0.4),
            Say(audio=user(1.2, 1)),
            Interrupt(audio=user(1.4, 2), after=seconds(0.9)),
            Interrupt(audio=user(0.18, 5, -25.0), after=seconds(0.6), intent="backchannel"),
            Hear(within=3, tail_silence=0.5),
            Say(audio=user(0.9, 3)),
            Hear(within=3),
        ],
    )


def bench_virtual(rounds: int) -> None:
    """Time the call in processor seconds of one core, everything included, and the peer's in turn with it."""
    scenario, answer = conversation(), AudioChunk.from_samples(signals.speech_like(2.5, seed=9))

    def call() -> CallResult:
        agent = TurnTakingAgent([answer], pause=0.3, thinking=0.35, stops_after=0.37)
        return run_virtual(run_call(scenario, Twilio(VOICE, app=TwilioAgentApp(agent))))

    contenders: dict[str, Callable[[], object]] = {"voiceharness, Twilio over ASGI": call}
    try:
        contenders["voicebench 0.2.0, in process"] = peer(peer_example())
    except ImportError:
        print("voicebench is not installed: no peer in this run")
    compare(contenders, rounds)


# One call


def bench_one() -> None:
    """Lateness and overhead of one call, and the error of its latency over delays and message sizes."""
    with far_end() as url:
        result, wall = timed(Scenario("one", [Say(audio=user(SPEECH, 1)), Wait(8)]), f"{url}/echo")
        media = result.metrics.duration if result.metrics else 0.0
        trust = result.trust
        print(f"ours:         lateness mean {trust.mean_lateness_ms:.2f} ms, max {trust.max_lateness_ms:.1f}")
        print(f"              overhead over its media {wall - media:.3f} s of {media:.1f} s")
        peer_one(f"{url}/echo")
        for delay in (0, 250, 750, 2000):
            for size in (160, 48_000):
                said = AudioChunk.from_samples(signals.tone(500, SPEECH))  # without a pause that could be its end
                scenario = Scenario("latency", [Say(audio=said), Hear(within=5, tail_silence=0.3)])
                result, _ = timed(scenario, f"{url}/answer/{delay}/{size}")
                latency = result.metrics.latencies[0] if result.metrics else None
                shown = "none" if latency is None else f"{latency * 1000 - delay - QUIET_FRAME_MS:+.1f} ms"
                print(f"latency:      delay {delay:4} ms, messages of {size:5} bytes: error {shown}")


def timed(scenario: Scenario, url: str) -> tuple[CallResult, float]:
    """Make a call in real time and measure it from outside."""
    start = time.perf_counter()
    result = run_real(run_call(scenario, Twilio(url)))
    return result, time.perf_counter() - start


def peer_one(url: str) -> None:
    """Make the peer's call of the same length."""
    try:
        import streamdouble.api
    except ImportError:
        print("streamdouble is not installed: no peer in this run")
        return
    frames = peer_frames(10.0)
    start = time.perf_counter()
    report: Any = streamdouble.api.call_sync(url, frames=frames)
    wall, metrics = time.perf_counter() - start, report.metrics
    late, worst = metrics.pacing_mean_lateness_ms, metrics.pacing_max_lateness_ms
    print(f"streamdouble: lateness mean {late:.2f} ms, max {worst:.1f}; overhead over its media {wall - 10.0:.3f} s")


def peer_frames(length: float) -> list[bytes]:
    """The same user as ours, as the peer takes it."""
    audio = g711.encode(signals.speech_like(SPEECH, seed=1).tobytes()).ljust(round(length * 8000), b"\xff")
    return [audio[start : start + 160] for start in range(0, len(audio), 160)]


# Many calls


def bench_load(calls: int, length: float) -> None:
    """Make many calls at once in one process, as a user does."""
    import uvloop

    with far_end() as url:
        report(ours_at_once(f"{url}/echo", calls, length), calls, length)
        try:
            import streamdouble.api
        except ImportError:
            print("streamdouble is not installed: no peer in this run")
            return
        uvloop.run(peers_at_once(streamdouble.api, f"{url}/echo", calls, length))


def ours_at_once(url: str, calls: int, length: float) -> tuple[list[CallResult], float]:
    """Run the calls; returns their results, and the processor time until the first of them is judged."""
    import uvloop

    scenario = Scenario("load", [Say(audio=user(SPEECH, 1)), Wait(length - SPEECH)], max_duration=length + 5)
    start, judged = time.process_time(), list[float]()
    batch = run_calls(
        [(scenario, Twilio(url)) for _ in range(calls)], keep=lambda _result: judged.append(time.process_time())
    )
    return uvloop.run(batch), judged[0] - start


def report(ran: tuple[list[CallResult], float], calls: int, length: float) -> None:
    """Say how late the calls were, how many were heard right, and whether the harness knew of the others."""
    results, spent = ran
    broken = [result for result in results if result.metrics is None]
    mean = statistics.mean(result.trust.mean_lateness_ms for result in results)
    worst = max(result.trust.max_lateness_ms for result in results)
    right = [result for result in results if is_right(result)]
    trusted = [result for result in results if result.trust.trustworthy]
    deceived = [result for result in trusted if not is_right(result)]
    print(f"ours:         {calls} calls of {length:.0f} s: lateness mean {mean:.2f} ms, max {worst:.0f}")
    print(f"              {len(right)} heard right, {len(trusted)} trusted, {len(broken)} not made")
    print(f"              {len(deceived)} wrong although trusted")
    print(f"              {spent / (calls * length * 50) * 1e6:.0f} us of processor time per frame pair")
    for reason, count in Counter(reason for result in results for reason in result.trust.reasons).most_common(3):
        print(f"              {count} x {reason}")


def is_right(result: CallResult) -> bool:
    """Say whether the echo was as long as what was said."""
    return result.metrics is not None and abs(result.metrics.agent_talk - SPEECH) < 0.05


async def phase(begin: float, index: int, calls: int) -> None:
    """Wait for a call's turn: connected in groups of ten, each in a phase of its own within the frame."""
    now = asyncio.get_running_loop().time()
    await asyncio.sleep(begin - now + (index // 10) * 0.1 + index * 0.02 / calls)


async def peers_at_once(api: Any, url: str, calls: int, length: float) -> None:
    frames = peer_frames(length)
    begin = asyncio.get_running_loop().time() + 0.5

    async def one(index: int) -> Any:
        await phase(begin, index, calls)
        return await api.call(url, frames=frames)

    start = time.process_time()
    reports = await asyncio.gather(*(one(index) for index in range(calls)), return_exceptions=True)
    spent = time.process_time() - start
    good = [report for report in reports if not isinstance(report, BaseException)]
    mean = statistics.mean(report.metrics.pacing_mean_lateness_ms for report in good)
    worst = max(report.metrics.pacing_max_lateness_ms for report in good)
    print(f"streamdouble: {calls} calls: {len(good)} made; lateness mean {mean:.2f} ms, max {worst:.0f}")
    print(f"              {spent / (calls * length * 50) * 1e6:.0f} us of processor time per frame pair")


def main() -> None:
    """Run one of the benchmarks."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("what", choices=["virtual", "one", "load"])
    options.add_argument("--rounds", type=int, default=20)
    options.add_argument("--calls", type=int, default=200)
    options.add_argument("--length", type=float, default=10.0, help="seconds of a call under load")
    given = options.parse_args()
    if given.what == "virtual":
        bench_virtual(given.rounds)
    elif given.what == "one":
        bench_one()
    else:
        bench_load(given.calls, given.length)


if __name__ == "__main__":
    main()
