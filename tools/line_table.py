"""Print how exactly latencies are measured on each named line, as Markdown; there is no target on a bad line.

Run as ``python -m tools.line_table [CALLS]`` from the checkout (default: 20 calls for each line). Truth is the agent's
clean sound as it was sent, in the place where it was played; measured is what was heard at the end of the line.
"""

from __future__ import annotations

import statistics
import sys
from typing import TYPE_CHECKING

from tests.measure.accuracy import p95
from voiceharness.audio.edges import speech_edges
from voiceharness.doubles.faulty import clean_scenario, healthy_agent
from voiceharness.impairment.path import PROFILES
from voiceharness.measure.disturbance import as_sent
from voiceharness.scenario.line_profile import CLEAN_LINE, LineProfile
from voiceharness.scenario.run import run_scenario
from voiceharness_adapters.in_process import InProcess

if TYPE_CHECKING:
    from collections.abc import Iterator

    from voiceharness.line.record import CallRecord
    from voiceharness.measure import Metrics

__all__ = ["main"]


def response_errors(record: CallRecord, metrics: Metrics) -> Iterator[float]:
    """Errors of the response latencies of a call, in seconds."""
    for exchange in metrics.exchanges:
        if exchange.answer is not None:
            turn = metrics.agent_turns[exchange.answer]
            begun = next(arrival.start for arrival in record.arrivals if arrival.item == turn.item)
            edges = speech_edges(record.agent[begun : turn.offset], record.rate)
            assert edges is not None  # something was heard of it
            yield abs(turn.onset - begun - edges.onset) / record.rate


def stop_errors(record: CallRecord, metrics: Metrics) -> Iterator[float]:
    """Errors of the stop latencies of a call, in seconds."""
    for barge_in in metrics.barge_ins:
        if barge_in.intent == "turn" and barge_in.turn is not None and barge_in.flush is not None:
            turn = metrics.agent_turns[barge_in.turn]
            edges = speech_edges(record.agent[turn.onset : barge_in.flush], record.rate)
            assert edges is not None  # something was heard of it
            yield abs(turn.offset - turn.onset - edges.offset) / record.rate


def row(name: str, line: LineProfile, calls: int) -> str:
    """Call a healthy agent over a line; return the row of the table."""
    responses: list[float] = []
    stops: list[float] = []
    for seed in range(calls):
        result = run_scenario(clean_scenario(seed, line=line), lambda seed=seed: InProcess(healthy_agent(seed)))  # type: ignore[misc] # the default binds the loop's variable
        assert result.record is not None
        assert result.metrics is not None
        sent = as_sent(result.record)
        responses += response_errors(sent, result.metrics)
        stops += stop_errors(sent, result.metrics)
    return f"| {name} | {_figures(responses)} | {_figures(stops)} |"


def _figures(errors: list[float]) -> str:
    return f"{len(errors)} | {1000 * statistics.median(errors):.1f} | {p95(errors):.1f} | {1000 * max(errors):.1f}"


def main(calls: int) -> None:
    """Print the table."""
    print("| line | response latencies | median ms | p95 ms | max ms | stop latencies | median ms | p95 ms | max ms |")
    print("|---|---|---|---|---|---|---|---|---|")
    print(row("clean", CLEAN_LINE, calls))
    for name in PROFILES:
        print(row(name, LineProfile(profile=name), calls), flush=True)  # type: ignore[arg-type] # the names of the profiles


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
