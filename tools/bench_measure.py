"""Time the measuring of an 18 s call of five turns, and the search for faults in it.

Run as ``python -m tools.bench_measure`` from the checkout.
"""

from __future__ import annotations

import statistics
import sys
import time
from functools import partial
from typing import TYPE_CHECKING

from tests.measure.calls import Call, spoken
from voiceharness.measure import find_faults, measure
from voiceharness.measure.faults import DETECTORS

if TYPE_CHECKING:
    from collections.abc import Callable

    from voiceharness.line.record import CallRecord
    from voiceharness.measure import Metrics
    from voiceharness.measure.faults import Detector

__all__ = ["five_turns", "main"]

MEASURE_MS = 3.0
FAULTS_MS = 40.0

QUESTIONS = ("user_hello", "user_question", "user_tuesday", "user_stop", "user_thanks")
ANSWERS = ("agent_greeting", "agent_menu", "agent_menu", "agent_goodbye", "agent_goodbye")


def five_turns(*, paced: bool) -> Call:
    """18 s of recorded speech: five questions with their answers, one of them cut by a barge-in."""
    call, at = Call(18), 0.0
    send = call.paced if paced else call.agent
    for step, (question, answer) in enumerate(zip(QUESTIONS, ANSWERS, strict=True)):
        asked, told = spoken(question), spoken(answer)[:20000]
        call.user(at, asked, text=question, step=step)
        send(at + len(asked) / 8000 + 0.3, told, f"answer {step}")
        at += len(asked) / 8000 + 0.3 + len(told) / 8000 + 0.2
    return call.barge_in(2.3, spoken("user_wait"), text="Wait, please.").flush(2.6).hang_up("user")


def timed(work: Callable[[], object], repeat: int = 100) -> float:
    """Return the median in milliseconds."""
    work()
    figures = []
    for _ in range(repeat):
        started = time.perf_counter()
        work()
        figures.append(1000 * (time.perf_counter() - started))
    return statistics.median(figures)


def _exhaust(detector: Detector, record: CallRecord, metrics: Metrics) -> None:
    list(detector(record, metrics))


def main() -> int:
    """Print the medians; return 1 if a budget is exceeded."""
    over = False
    for paced in (False, True):
        record = five_turns(paced=paced).record()
        metrics = measure(record)
        how = f"{len(record.arrivals)} arrivals, {'20 ms frames' if paced else 'bursts'}"
        measuring = timed(partial(measure, record))
        print(f"measure ({how}): {measuring:.2f} ms, budget {MEASURE_MS:g} ms")
        searching = timed(partial(find_faults, record, metrics))
        print(f"find_faults ({how}): {searching:.2f} ms, budget {FAULTS_MS:g} ms")
        costs = {each.__name__: timed(partial(_exhaust, each, record, metrics)) for each in DETECTORS}
        for name, cost in sorted(costs.items(), key=lambda each: -each[1])[:5]:
            print(f"    {name}: {cost:.2f} ms")
        over = over or measuring > MEASURE_MS or searching > FAULTS_MS
    return over


if __name__ == "__main__":
    sys.exit(main())
