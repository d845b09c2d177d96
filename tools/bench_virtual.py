"""Measure calls in virtual time, side by side with a peer (`pip install voicebench==0.2.0`) in the same run.

The call is the peer's own example: five turns in about 18 s, with a barge-in that must stop the agent and a cough that
must not. Ours is played against two agents: one that answers in bursts, as a stream does, and one that sends a frame
every 20 ms, as the peer's does. Everything is included: agent, line, both tracks recorded, turns, latencies, barge-ins.
Times are processor time of one core; rounds alternate, so that what else the machine does meets both.

    python tools/bench_virtual.py [--rounds N] [--where]
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import pstats
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from voiceharness.audio import signals
from voiceharness.audio.chunk import AudioChunk
from voiceharness.clock import run_virtual
from voiceharness.doubles import TurnTakingAgent
from voiceharness.scenario.run import run_call
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Hear, Interrupt, Say
from voiceharness.scenario.triggers import seconds
from voiceharness_adapters.in_process import InProcess

if TYPE_CHECKING:
    from voiceharness.agent import AgentCall
    from voiceharness.scenario.result import CallResult

ANSWER = AudioChunk.from_samples(signals.speech_like(2.5, seed=9))
Round = Callable[[], float]


class PacedAgent(TurnTakingAgent):
    """Sends each answer frame by frame, each when the one before it has been played."""

    async def act(self, call: AgentCall) -> None:
        """Replace sending at once by sending at 1x."""
        send, tasks = call.send, set[asyncio.Task[None]]()

        async def pace(chunk: AudioChunk) -> None:
            for start in range(0, len(chunk.pcm), 320):
                if not conversation_goes_on(call, self):
                    return
                send(replace(chunk, pcm=chunk.pcm[start : start + 320]))
                await call.clock.sleep(0.02)

        def paced_send(item: object) -> None:
            if isinstance(item, AudioChunk):
                task = asyncio.create_task(pace(item))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
            else:
                for task in tasks:
                    task.cancel()
                send(item)  # type: ignore[arg-type] # whatever the agent sends

        call.send = paced_send  # type: ignore[method-assign] # a bench's agent, not the door's business


def conversation_goes_on(call: AgentCall, _agent: PacedAgent) -> bool:
    """Say whether there is still somebody to talk to."""
    return not call.ended


def user(duration: float, seed: int, level_db: float = -20.0) -> AudioChunk:
    """Make one utterance of the user."""
    return AudioChunk.from_samples(signals.speech_like(duration, level_db=level_db, seed=seed))


def our_scenario() -> Scenario:
    """Return the peer's conversation in our words."""
    return Scenario(
        "mock-conversation",
        [
            Say(audio=user(1.8, 0)),
            Hear(within=3, tail_silence=0.4),
            Say(audio=user(1.2, 1)),
            Interrupt(audio=user(1.4, 2), after=seconds(0.9)),
            Interrupt(audio=user(0.18, 5, -25.0), after=seconds(0.6)),
            Hear(within=3, tail_silence=0.5),
            Say(audio=user(0.9, 3)),
            Hear(within=3),
        ],
    )


def ours(agent: type[TurnTakingAgent]) -> Callable[[], CallResult]:
    """Return a function that runs our call once."""
    scenario = our_scenario()

    def call() -> CallResult:
        double = agent([ANSWER], pause=0.3, thinking=0.35, stops_after=0.37)
        return run_virtual(run_call(scenario, InProcess(double)))

    return call


def peer(folder: Path) -> Callable[[], float]:
    """Return a function that runs the peer's call once and returns its length in seconds."""
    from voicebench.adapters import create_adapter
    from voicebench.metrics import analyze
    from voicebench.runner import run
    from voicebench.scenario import load_scenario

    path = folder / "mock-conversation.yaml"
    scenario = load_scenario(path)

    def call() -> float:
        adapter = create_adapter(scenario.adapter.type, dict(scenario.adapter.options))
        record = asyncio.run(run(scenario, adapter))
        analyze(record)
        return float(record.duration)

    return call


def peer_example() -> Path:
    """Write the peer's own example where its loader can read it."""
    import subprocess
    import sys
    import tempfile

    import voicebench  # noqa: F401 # where it is missing, that is said before its command is run

    folder = Path(tempfile.mkdtemp())
    command = [sys.executable, "-m", "voicebench", "example", "mock-conversation"]
    (folder / "mock-conversation.yaml").write_bytes(subprocess.run(command, check=True, capture_output=True).stdout)
    return folder


def cost(call: Callable[[], object]) -> tuple[float, float]:
    """Return the processor seconds of one call, and the length of the call."""
    start = time.process_time()
    made = call()
    spent = time.process_time() - start
    length = made if isinstance(made, float) else made.metrics.duration  # type: ignore[attr-defined] # a CallResult
    return spent, length


def compare(contenders: dict[str, Callable[[], object]], rounds: int) -> None:
    """Let the contenders call in turn, and print a table of what a call of each costs."""
    for call in contenders.values():
        call()
    measured: dict[str, list[tuple[float, float]]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, call in contenders.items():
            measured[name].append(cost(call))
    heads = f"{'call':>7} {'best':>9} {'median':>9} {'real time':>10} {'calls/s':>8}"
    print(f"{'':32} {heads}   (median of {rounds} rounds)")
    for name, calls in measured.items():
        best, spent = min(each[0] for each in calls), statistics.median(each[0] for each in calls)
        length = calls[0][1]
        shown = f"{length:6.1f}s {best * 1000:7.1f}ms {spent * 1000:7.1f}ms {length / spent:9.0f}x {1 / spent:8.1f}"
        print(f"{name:32} {shown}")


def where(call: Callable[[], object]) -> None:
    """Show where the time of one call goes, by package."""
    profile = cProfile.Profile()
    profile.runcall(call)
    spent: dict[str, float] = {}
    for (file, _line, _name), row in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined] # set at run time
        parts = Path(file).with_suffix("").parts
        package = ".".join(parts[parts.index("voiceharness") :][:2]) if "voiceharness" in parts else "elsewhere"
        package = "in_process" if "in_process" in parts else "asyncio" if "asyncio" in parts else package
        package = "numpy" if "numpy" in parts else package
        spent[package] = spent.get(package, 0.0) + row[2]
    total = sum(spent.values())
    for package, seconds_spent in sorted(spent.items(), key=lambda entry: -entry[1])[:12]:
        print(f"  {package:28} {seconds_spent / total:6.1%}")


def main() -> None:
    """Run the rounds and print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=30)
    options.add_argument("--where", action="store_true", help="also show where the time goes, by package")
    given = options.parse_args()
    contenders: dict[str, Callable[[], object]] = {
        "voiceharness, agent in bursts": ours(TurnTakingAgent),
        "voiceharness, agent paced": ours(PacedAgent),
    }
    try:
        contenders["voicebench 0.2.0, agent paced"] = peer(peer_example())
    except ImportError:
        print("voicebench is not installed: no peer in this run")
    compare(contenders, given.rounds)
    if given.where:
        for name, call in list(contenders.items())[:2]:
            print(name)
            where(call)


if __name__ == "__main__":
    main()
