"""Probes made of a transport's audit: each attack is a row, shown where the agent refuses it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from voiceharness.doubles.probe_agent import ProbeAgent
from voiceharness.matrix.cell import Proof
from voiceharness.matrix.probe import Probe

if TYPE_CHECKING:
    from voiceharness.audit import Audit, Finding
    from voiceharness.matrix.stand import Stand

__all__ = ["audit_probes"]


def audit_probes(audit: Audit) -> tuple[Probe, ...]:
    """Return a probe for each attack of an audit, in their order."""
    return tuple(
        Probe(
            f"audit:{check}", f"the agent's side withstands: {attack}", partial(_withstands, audit=audit, check=check),
            required=True, needs_probe_agent=False,
        )
        for check, attack in audit.checks.items()
    )  # fmt: skip


def _withstands(stand: Stand, audit: Audit, check: str) -> Proof:
    async def attack() -> Finding | None:
        async with stand.subject.reach(ProbeAgent()) as target:
            return await audit.check(check, {**stand.subject.options, **target})

    finding = stand.run(attack())
    if finding is None:
        return Proof.unable("there is nothing of the kind at the agent's address")
    if finding.verdict == "left_out":
        return Proof.unable(finding.detail)
    harmless = "survived" if finding.wanted == "tolerated" else "not refused"
    met = {"refused": "refused", "tolerated": harmless, "broke": "the agent's side broke"}[finding.verdict]
    return Proof(finding.passed, f"{met}: {finding.attack}: {finding.detail}")
