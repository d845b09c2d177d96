"""What an audit of an agent is, on any transport: attacks by name, and what became of each.

A transport's package offers an :class:`Audit` under the entry-point group ``voiceharness.audits``.
"""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

__all__ = ["Audit", "AuditReport", "Finding", "Verdict"]

Verdict = Literal["refused", "tolerated", "broke", "left_out"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One attack and what became of it. ``check`` is its short name, and ``wanted`` what a careful agent does."""

    check: str
    attack: str
    verdict: Verdict
    detail: str
    wanted: Verdict = "refused"

    @property
    def passed(self) -> bool:
        """Whether the agent did as a careful one does; one that was left out says nothing against it."""
        return self.verdict in (self.wanted, "left_out") or (self.wanted == "tolerated" and self.verdict == "refused")


@dataclass(frozen=True, slots=True)
class AuditReport:
    """All findings, in the order of the attacks."""

    url: str
    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing was found against the agent."""
        return all(finding.passed for finding in self.findings)

    def __str__(self) -> str:
        lines = [f"{finding.verdict:10} {finding.attack}: {finding.detail}" for finding in self.findings]
        wrong = sum(not finding.passed for finding in self.findings)
        return "\n".join([*lines, f"{len(self.findings)} attacks, {wrong} of them not met as they should be"])


@dataclass(frozen=True, slots=True)
class Audit:
    """The attacks of one transport.

    ``checks`` names them, each with its attack in words. ``run`` makes those that ``only`` names (None: all); besides
    it takes the agent's ``url`` and, by name, further options of the transport's adapter, ``token`` and ``patience``.
    """

    checks: Mapping[str, str]
    run: Callable[..., Awaitable[AuditReport]]

    async def check(self, name: str, options: Mapping[str, object]) -> Finding | None:
        """Make one attack on the agent that an adapter reaches with these options; None: nothing to attack there."""
        known = signature(self.run).parameters
        given = {option: value for option, value in options.items() if option in known}
        report = await self.run(**given, only=frozenset({name}))
        return next((finding for finding in report.findings if finding.check == name), None)
