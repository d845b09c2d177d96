"""Time the measuring of an 18 s call of five turns.

Run as ``python -m tools.bench_measure`` from the checkout.
"""

from __future__ import annotations

import statistics
import sys
import time
from functools import partial
from typing import TYPE_CHECKING

from tests.measure.calls import Call, spoken
from voiceharness.measure import measure

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["five_turns", "main", "timed"]

BUDGET_MS = 3.0

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
    """Return the median of the processor time in milliseconds."""
    work()
    figures = []
    for _ in range(repeat):
        started = time.process_time()
        work()
        figures.append(1000 * (time.process_time() - started))
    return statistics.median(figures)


def main() -> int:
    """Print the medians; return 1 if the budget is exceeded."""
    worst = 0.0
    for paced in (False, True):
        record = five_turns(paced=paced).record()
        cost = timed(partial(measure, record))
        worst = max(worst, cost)
        how = f"{len(record.arrivals)} arrivals, {'20 ms frames' if paced else 'bursts'}"
        print(f"measure ({how}): {cost:.2f} ms, budget {BUDGET_MS:g} ms")
    return worst > BUDGET_MS


if __name__ == "__main__":
    sys.exit(main())
