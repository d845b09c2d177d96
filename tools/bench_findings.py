"""Time the search for faults in an 18 s call of five turns, and its dearest detectors.

Run as ``python -m tools.bench_findings`` from the checkout.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

from tools.bench_measure import five_turns, timed
from voiceharness.measure import find_faults, measure
from voiceharness.measure.faults import DETECTORS, SOUND_DETECTORS

if TYPE_CHECKING:
    from voiceharness.line.record import CallRecord
    from voiceharness.measure import Metrics
    from voiceharness.measure.faults import Detector

__all__ = ["main"]

BUDGET_MS = 40.0
SHOWN = 5


def _exhaust(detector: Detector, record: CallRecord, metrics: Metrics) -> None:
    list(detector(record, metrics))


def main() -> int:
    """Print the medians; return 1 if the budget is exceeded."""
    worst = 0.0
    for paced in (False, True):
        record = five_turns(paced=paced).record()
        metrics = measure(record)
        cost = timed(partial(find_faults, record, metrics))
        worst = max(worst, cost)
        how = f"{len(record.arrivals)} arrivals, {'20 ms frames' if paced else 'bursts'}"
        print(f"find_faults ({how}): {cost:.2f} ms, budget {BUDGET_MS:g} ms")
        costs = {
            each.__name__: timed(partial(_exhaust, each, record, metrics)) for each in (*DETECTORS, *SOUND_DETECTORS)
        }
        for name, each in sorted(costs.items(), key=lambda pair: -pair[1])[:SHOWN]:
            print(f"    {name}: {each:.2f} ms")
    return worst > BUDGET_MS


if __name__ == "__main__":
    sys.exit(main())
