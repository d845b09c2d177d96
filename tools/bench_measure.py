"""Time the measuring of an 18 s call of five turns; run as ``python -m tools.bench_measure`` from the checkout."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

from tests.measure.calls import Call, silence, speechlike, tone
from voiceharness.measure import measure

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["five_turns", "main"]

BUDGET_MS = {"measure": 3.0}


def five_turns(*, paced: bool) -> Call:
    """18 s: five questions, five answers of word-like bursts, one of them cut by a barge-in."""
    call = Call(18)
    send = call.paced if paced else call.agent
    for turn in range(5):
        at = 3.5 * turn
        call.user(at, speechlike(1.2, seed=turn), text="What comes next?", step=turn)
        for word in range(5):
            send(at + 1.6 + 0.3 * word, tone(440, 0.24), f"answer {turn}")
            send(at + 1.84 + 0.3 * word, silence(0.06), f"answer {turn}")
    return call.barge_in(2.2, speechlike(0.8), text="Wait, please.").flush(2.5).hang_up("user")


def timed(work: Callable[[], object], repeat: int = 200) -> tuple[float, float]:
    """Return the median and the 95th percentile in milliseconds."""
    figures = []
    for _ in range(repeat):
        started = time.perf_counter()
        work()
        figures.append(1000 * (time.perf_counter() - started))
    return statistics.median(figures), statistics.quantiles(figures, n=20)[-1]


def main() -> None:
    """Print a line for each way of sending."""
    for paced in (False, True):
        record = five_turns(paced=paced).record()
        median, high = timed(lambda record=record: measure(record))  # type: ignore[misc]  # bound as a default on purpose
        kind = "20 ms frames" if paced else "bursts"
        print(
            f"measure, agent audio in {kind} ({len(record.arrivals)} arrivals): median {median:.2f} ms, "
            f"p95 {high:.2f} ms (budget {BUDGET_MS['measure']:g} ms)"
        )


if __name__ == "__main__":
    main()
