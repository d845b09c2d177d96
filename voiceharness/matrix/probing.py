"""Probe adapters: one column of the matrix for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from voiceharness.clock import run_real, run_virtual
from voiceharness.doubles.probe_agent import ProbeAgent
from voiceharness.errors import VoiceHarnessError
from voiceharness.matrix.cell import Cell
from voiceharness.matrix.probe import Probe, run_probe
from voiceharness.matrix.probes import PROBES
from voiceharness.matrix.stand import Stand

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from voiceharness.capabilities import AdapterCapabilities
    from voiceharness.matrix.subject import Subject
    from voiceharness.scenario.result import CallResult
    from voiceharness.scenario.run import SpeechEngines

__all__ = ["Column", "probe_adapter"]


@dataclass(frozen=True, slots=True)
class Column:
    """What was probed of one adapter. ``agent``: who answered, and ``clock``: which time the calls ran in."""

    adapter: str
    source: str
    agent: str
    clock: str
    cells: tuple[Cell, ...]
    trouble: str = ""


def probe_adapter(
    subject: Subject,
    *,
    probes: Iterable[Probe] = PROBES,
    virtual: bool | None = None,
    keep: Callable[[str, CallResult], str] = lambda _capability, result: result.scenario,
    speech: SpeechEngines | None = None,
    on_probe: Callable[[Probe], None] = lambda _probe: None,
) -> Column:
    """Make every probe of one adapter. ``keep`` saves a call that was made for a capability, and names its run.

    ``virtual``: None takes virtual time where the adapter declares it for its options.
    """
    here, trouble = _declared_here(subject, virtual)
    is_virtual = here.virtual_time if virtual is None else virtual
    cells: list[Cell] = []
    for probe in probes:
        on_probe(probe)
        if trouble:
            cells.append(_untestable(probe, subject, here, trouble))
            continue

        def stand(name: str = probe.name) -> Stand:
            return Stand(subject, name, is_virtual, here, lambda result: keep(name, result), speech)

        cells.append(run_probe(probe, stand))
    agent = "the probe agent" if subject.is_ours else "the user's agent"
    return Column(subject.name, subject.source, agent, "virtual" if is_virtual else "real", tuple(cells), trouble)


def _declared_here(subject: Subject, virtual: bool | None) -> tuple[AdapterCapabilities, str]:
    """Return what the adapter declares for the options with which it is reached, or why it cannot be reached."""

    async def visit() -> AdapterCapabilities:
        async with subject.reach(ProbeAgent()) as target:
            options = {**subject.options, **target}
            subject.make(options)
            return subject.capabilities_for(options)

    try:
        before = subject.capabilities_for(subject.options)
        is_virtual = before.virtual_time if virtual is None else virtual
        return (run_virtual if is_virtual else run_real)(visit()), ""
    except VoiceHarnessError as error:
        return subject.declares, f"{type(error).__name__}: {error}"


def _untestable(probe: Probe, subject: Subject, here: AdapterCapabilities, trouble: str) -> Cell:
    declared = probe.declared
    by_class = None if declared is None else declared(subject.declares)
    return Cell(probe.name, "not_testable_here", trouble, by_class, None if declared is None else declared(here))
