"""``voiceharness audit``: attack an agent as a stranger would, and say what it refuses.

The attacks belong to a transport, so each transport's package offers its own, as an entry point of the group
``voiceharness.audits``: an :class:`~voiceharness.audit.Audit`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from voiceharness.cli.output import tell, tell_json
from voiceharness.clock import run_real
from voiceharness.registry import load_audit
from voiceharness.report.serialization import plain

if TYPE_CHECKING:
    from voiceharness.audit import AuditReport

__all__ = ["audit_agent"]


def audit_agent(*, transport: str, url: str, token: str | None, patience: float, as_json: bool) -> int:
    """Audit the agent at a URL; 1: it did not meet every attack as a careful agent does.

    Raises:
        UnknownAdapterError: if no package offers attacks on this transport.
        CallError: if the agent cannot be reached, or refuses a proper call.
    """
    report = run_real(_audit(transport, url, token, patience))
    if as_json:
        facts = {"url": report.url, "passed": report.passed, "findings": plain(report.findings)}
        tell_json({"format": "voiceharness-audit/1", **facts})
    else:
        tell(str(report))
    return 0 if report.passed else 1


async def _audit(transport: str, url: str, token: str | None, patience: float) -> AuditReport:
    return await load_audit(transport).run(url, token=token, patience=patience)
