"""Probe adapters: one column of the matrix for each."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from voiceharness.capabilities import AdapterCapabilities
from voiceharness.clock import run_real, run_virtual
from voiceharness.errors import VoiceHarnessError
from voiceharness.matrix.cell import Cell
from voiceharness.matrix.probe import Probe, foreign, run_probe
from voiceharness.matrix.probes import PROBES
from voiceharness.matrix.stand import Stand

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from voiceharness.matrix.subject import Subject
    from voiceharness.scenario.result import CallResult
    from voiceharness.scenario.run import SpeechEngines

__all__ = ["Column", "probe_adapter", "troubled_column"]

NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Column:
    """What was probed of one adapter. ``agent``: who answered, and ``clock``: which time the calls ran in.

    ``about`` says in words what was looked for in each capability, and ``options`` with which options the adapter was
    made that were chosen for it, as ``KEY=VALUE``.
    """

    adapter: str
    source: str
    agent: str
    clock: str
    cells: tuple[Cell, ...]
    trouble: str = ""
    about: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    options: tuple[str, ...] = ()


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
    try:
        here = _declared_here(subject, virtual)
    except Exception as error:  # supervision point: adapters and hosts of others raise anything at all
        trouble = f"{type(error).__name__}: {error}" if isinstance(error, VoiceHarnessError) else foreign(error)
        return troubled_column(subject.name, trouble, source=subject.source, declares=subject.declares, probes=probes)
    is_virtual = here.virtual_time if virtual is None else virtual

    def stand(probe: Probe) -> Stand:
        return Stand(subject, probe.name, is_virtual, here, lambda result: keep(probe.name, result), speech)

    cells: list[Cell] = []
    probes = tuple(probes)
    for probe in probes:
        on_probe(probe)
        cells.append(run_probe(probe, partial(stand, probe)))
    return Column(
        subject.name,
        subject.source,
        "the probe agent" if subject.is_ours else "the user's agent",
        "virtual" if is_virtual else "real",
        tuple(cells),
        about=_about(probes),
    )


def troubled_column(
    name: str,
    trouble: str,
    *,
    source: str = "",
    declares: AdapterCapabilities | None = None,
    probes: Iterable[Probe] = PROBES,
) -> Column:
    """Make the column of an adapter that cannot be probed here, with what its class ``declares``, if that is known."""
    probes = tuple(probes)
    cells = tuple(_untestable(probe, declares or AdapterCapabilities(), trouble) for probe in probes)
    return Column(name, source, "nobody", "no", cells, trouble, _about(probes))


def _about(probes: Iterable[Probe]) -> dict[str, str]:
    return {probe.name: probe.about for probe in probes}


def _declared_here(subject: Subject, virtual: bool | None) -> AdapterCapabilities:
    """Return what the adapter declares for the options with which it is reached."""
    before = subject.capabilities_for(subject.options)
    return (run_virtual if (before.virtual_time if virtual is None else virtual) else run_real)(subject.declares_here())


def _untestable(probe: Probe, declares: AdapterCapabilities, trouble: str) -> Cell:
    declared = None if probe.declared is None else probe.declared(declares)
    return Cell(probe.name, "not_testable_here", trouble, declared, declared)
