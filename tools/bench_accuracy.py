"""Print how exactly latencies are measured on a clean line; run as ``python -m tools.bench_accuracy [EVENTS]``."""

from __future__ import annotations

import statistics
import sys

from tests.measure.accuracy import SOURCES, p95, response_errors, stop_errors

__all__ = ["main"]


def main(events: int) -> None:
    """Print the median, p95 and maximum error of each figure and kind of sound."""
    for figure, errors_of in (("response latency", response_errors), ("stop latency", stop_errors)):
        for name, source in SOURCES.items():
            errors = errors_of(source, events)
            print(
                f"{figure} error, {name}: median {1000 * statistics.median(errors):.2f} ms, p95 {p95(errors):.2f} ms, "
                f"max {1000 * max(errors):.2f} ms ({len(errors)} seeded events)"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
