"""The figures of a call that can be set against those of another: one number each, under its name in the document.

Names are those below ``metrics`` (``response_latency.maximum``, ``exchanges[2].latency``), and beside them
``answered_after``, ``failures`` (expectations not met) and ``findings`` (faults found, in all and of each kind).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

from voiceharness.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from voiceharness.report.document import CallDocument

__all__ = ["MEASURES", "Better", "Measure", "call_figures", "family", "measure_for", "parse_tolerances"]

Better = Literal["lower", "higher", "neither"]

Figures: TypeAlias = "Mapping[str, Any]"  # Any: a JSON object of a document


@dataclass(frozen=True, slots=True)
class Measure:
    """What a change of a figure means: which way is ``better``, and how much is nothing.

    A change counts from the larger of ``absolute`` (in the figure's own unit) and ``relative`` (a share of the base).
    """

    better: Better
    absolute: float = 0.0
    relative: float = 0.0

    def tolerance(self, base: float) -> float:
        """Return the largest change from a base that is nothing."""
        return max(self.absolute, self.relative * abs(base))


_LATENCY: Final = Measure("lower", 0.05, 0.1)
_COUNT: Final = Measure("lower")
_AMOUNT: Final = Measure("neither", 0.2, 0.05)

MEASURES: Final[Mapping[str, Measure]] = {
    "response_latency": _LATENCY,
    "exchanges": _LATENCY,
    "stop_latency": _LATENCY,
    "barge_ins": _LATENCY,
    "answered_after": Measure("lower", 0.1, 0.25),
    "double_talk": Measure("lower", 0.1, 0.1),
    "failures": _COUNT,
    "findings": _COUNT,
    "duration": _AMOUNT,
    "user_talk": _AMOUNT,
    "agent_talk": _AMOUNT,
}
"""What is compared, by family: the first part of a figure's name."""

_SPREAD: Final = ("missing", "minimum", "mean", "maximum")


def family(name: str) -> str:
    """Return the first part of a figure's name."""
    return re.split(r"[.\[]", name, maxsplit=1)[0]


def measure_for(name: str, measures: Mapping[str, Measure]) -> Measure:
    """Return what a change of a figure means. One unanswered turn more is always something."""
    measure = measures[family(name)]
    return Measure(measure.better) if name.endswith(".missing") else measure


def call_figures(call: CallDocument) -> dict[str, float | None]:
    """Return all figures of a call; None is one that it should have and does not, as the latency of no answer."""
    faults = [finding["kind"] for finding in call["findings"] if finding["severity"] == "fault"]
    figures: dict[str, float | None] = {
        "failures": float(sum(not check["passed"] for check in call["checks"])),
        "findings": float(len(faults)),
        **{f"findings[{kind}]": float(faults.count(kind)) for kind in sorted(set(faults))},
    }
    metrics = cast("Figures | None", call["metrics"])
    return (
        figures
        if metrics is None
        else {"answered_after": call["answered_after"], **dict(_measured(metrics)), **figures}
    )


def _measured(metrics: Figures) -> Iterator[tuple[str, float | None]]:
    for name in ("response_latency", "stop_latency"):
        yield from ((f"{name}.{each}", metrics[name][each]) for each in _SPREAD)
    for index, exchange in enumerate(metrics["exchanges"]):
        yield f"exchanges[{index}].latency", exchange["latency"]
    for index, barge_in in enumerate(metrics["barge_ins"]):
        yield f"barge_ins[{index}].stop_latency", barge_in["stop_latency"]
    for name in ("duration", "user_talk", "agent_talk", "double_talk"):
        yield name, metrics[name]


_AMOUNTS: Final = re.compile(r"(?P<number>\d+(?:\.\d+)?)(?P<unit>ms|s|%|)")


def parse_tolerances(settings: Iterable[str]) -> dict[str, Measure]:
    """Read ``FAMILY=AMOUNT`` settings (``response_latency=80ms``, ``stop_latency=20%``) over the defaults.

    Raises:
        OptionError: if there is no such family, or the amount is no number with ``ms``, ``s``, ``%`` or nothing.
    """
    measures = dict(MEASURES)
    for setting in settings:
        name, _, amount = setting.partition("=")
        found = _AMOUNTS.fullmatch(amount.strip())
        if name not in MEASURES or found is None:
            raise OptionError(
                f"a tolerance is FAMILY=AMOUNT such as response_latency=80ms or stop_latency=20%, not {setting!r}; "
                f"families are {', '.join(MEASURES)}"
            )
        number = float(found["number"])
        better = MEASURES[name].better
        if found["unit"] == "%":
            measures[name] = Measure(better, relative=number / 100)
        else:
            measures[name] = Measure(better, absolute=number / 1000 if found["unit"] == "ms" else number)
    return measures
