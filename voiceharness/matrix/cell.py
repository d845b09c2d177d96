"""One cell of the matrix: what an adapter declares, and what a probe has shown of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

__all__ = ["VERDICTS", "Cell", "Figures", "Proof", "Verdict"]

Verdict = Literal["demonstrated", "failed", "works_undeclared", "not_declared", "not_testable_here"]

VERDICTS: Final[Mapping[Verdict, str]] = MappingProxyType(
    {
        "demonstrated": "a call showed it",
        "failed": "declared (or asked of every adapter, or of a careful agent), and no call could show it",
        "works_undeclared": "a call showed it, though it is not declared",
        "not_declared": "not declared, and no call showed it",
        "not_testable_here": "no call could tell, for the reason given",
    }
)

Figures: TypeAlias = Mapping[str, float]
"""What was measured, by name with its unit: ``{"stop latency, s": 0.12}``."""

NO_FIGURES: Final[Figures] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Proof:
    """What a probe has seen.

    ``sign``: whether there was any sign of the capability at all; ``shown``: whether it did all that it must. ``start``
    and ``end`` say where in the recording of the probe's last call, in seconds (None: the whole call).
    ``untestable``: no call can tell here, and ``detail`` says why.
    """

    shown: bool
    detail: str
    figures: Figures = field(default_factory=lambda: NO_FIGURES)
    start: float | None = None
    end: float | None = None
    sign: bool = True
    untestable: bool = False

    @classmethod
    def unable(cls, why: str) -> Proof:
        """Say that no call can tell here."""
        return cls(False, why, untestable=True)

    @classmethod
    def nothing(cls, why: str) -> Proof:
        """Say that there was no sign of the capability."""
        return cls(False, why, sign=False)


@dataclass(frozen=True, slots=True)
class Cell:
    """One capability of one adapter.

    ``by_class`` and ``here``: what the class declares, and what it declares for the options that were used; None where
    there is nothing to declare. ``runs`` names the saved calls that were made for it.
    """

    capability: str
    verdict: Verdict
    detail: str
    by_class: bool | None = None
    here: bool | None = None
    figures: Figures = field(default_factory=lambda: NO_FIGURES)
    start: float | None = None
    end: float | None = None
    runs: tuple[str, ...] = ()
