"""A probe, and how what it saw becomes a cell of the matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from voiceharness.errors import (
    ConfigurationError,
    DeviceError,
    UnsupportedCapabilityError,
    VirtualTimeError,
    VoiceHarnessError,
)
from voiceharness.matrix.cell import Cell, Proof

if TYPE_CHECKING:
    from collections.abc import Callable

    from voiceharness.capabilities import AdapterCapabilities
    from voiceharness.matrix.cell import Verdict
    from voiceharness.matrix.stand import Stand

__all__ = ["Probe", "foreign", "run_probe"]

ATTEMPTS: Final = 3
"""How often a probe is made when the machine was too busy for its figures to be believed."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A short scripted call that makes a capability's effect observable.

    ``declared`` reads the declaration; None: no adapter declares it. Then ``required`` says whether the contract asks
    it of every adapter, and ``of_functions`` whether also of one whose agent only answers. ``needs_probe_agent``: the
    user's own agent cannot be expected to show it.
    """

    name: str
    about: str
    look: Callable[[Stand], Proof]
    declared: Callable[[AdapterCapabilities], bool] | None = None
    required: bool = False
    of_functions: bool = True
    needs_probe_agent: bool = True


def run_probe(probe: Probe, new_stand: Callable[[], Stand]) -> Cell:
    """Make a probe's calls on a fresh stand, again if the machine was too busy, and judge what they showed."""
    proof, stand = _attempt(probe, new_stand())
    for _ in range(ATTEMPTS - 1):
        if proof.shown or not stand.doubts:
            break
        proof, stand = _attempt(probe, new_stand())
    if not proof.shown and stand.doubts:
        proof = Proof.unable(f"this run cannot be believed: {stand.doubts[0]}")
    subject = stand.subject
    return Cell(
        capability=probe.name,
        verdict=_verdict(probe, proof, stand),
        detail=proof.detail,
        by_class=None if probe.declared is None else probe.declared(subject.declares),
        here=None if probe.declared is None else probe.declared(stand.here),
        figures=proof.figures,
        start=proof.start,
        end=proof.end,
        runs=tuple(stand.runs),
    )


def _attempt(probe: Probe, stand: Stand) -> tuple[Proof, Stand]:
    if probe.needs_probe_agent and not stand.subject.is_ours:
        return Proof.unable("only the probe agent can show it"), stand
    try:
        return probe.look(stand), stand
    except VoiceHarnessError as error:
        if isinstance(error, DeviceError):
            stand.doubts.append(str(error))  # a device may recover
        return _proof_of(error), stand
    except Exception as error:  # supervision point: adapters and hosts of others raise anything at all
        return Proof(False, foreign(error)), stand


def foreign(error: Exception) -> str:
    """Say what came out of an adapter or its host that the contract does not know."""
    return f"{type(error).__name__}, which is no error of voiceharness's, came out of the adapter or its host: {error}"


def _proof_of(error: BaseException) -> Proof:
    """Say what an error shows: the adapter refused, this machine cannot tell, or the call broke."""
    refusal = _cause(error, UnsupportedCapabilityError) or _cause(error, VirtualTimeError)
    if refusal is not None:
        first_line = str(refusal).partition("\n")[0]  # the stack below it names files of this machine
        return Proof.nothing(f"refused: {first_line}")
    told = f"{type(error).__name__}: {error}"
    if isinstance(error, ConfigurationError | DeviceError):
        return Proof.unable(told)
    return Proof(False, told)


def _cause(error: BaseException | None, kind: type[BaseException]) -> BaseException | None:
    """Return an error, or the first of its causes, that is of a kind."""
    while error is not None and not isinstance(error, kind):
        error = error.__cause__
    return error


def _verdict(probe: Probe, proof: Proof, stand: Stand) -> Verdict:
    asked = probe.required and (probe.of_functions or not stand.subject.answers_only)
    declared = asked if probe.declared is None else probe.declared(stand.here)
    if proof.shown:
        return "demonstrated" if declared or probe.declared is None else "works_undeclared"
    if proof.untestable:
        return "not_testable_here" if declared or probe.declared is None else "not_declared"
    if declared or (probe.declared is None and proof.sign):
        return "failed"
    return "not_declared"
