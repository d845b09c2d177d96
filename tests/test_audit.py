"""Audits, whatever the transport."""

from __future__ import annotations

import pytest

from voiceharness.audit import Audit, AuditReport, Finding, Verdict
from voiceharness.clock import run_virtual

__all__: list[str] = []


@pytest.mark.parametrize(
    ("verdict", "wanted", "passed"),
    [
        ("refused", "refused", True),
        ("tolerated", "refused", False),
        ("broke", "refused", False),
        ("left_out", "refused", True),
        ("refused", "tolerated", True),
        ("tolerated", "tolerated", True),
        ("broke", "tolerated", False),
    ],
)
def test_an_attack_is_met_as_a_careful_agent_meets_it(verdict: Verdict, wanted: Verdict, passed: bool) -> None:
    finding = Finding("door", "an open door", verdict, "", wanted)
    assert finding.passed is passed
    assert AuditReport("here", (finding,)).passed is passed


def test_one_check_is_run_with_the_options_that_the_audit_knows() -> None:
    asked: list[tuple[str, frozenset[str] | None]] = []

    async def run(url: str, *, only: frozenset[str] | None = None) -> AuditReport:
        asked.append((url, only))
        return AuditReport(url, (Finding("door", "an open door", "refused", "shut"),))

    audit = Audit({"door": "an open door", "window": "an open window"}, run)
    options = {"url": "here", "colour": "green"}
    assert run_virtual(audit.check("door", options)) == Finding("door", "an open door", "refused", "shut")
    assert run_virtual(audit.check("window", options)) is None
    assert asked == [("here", frozenset({"door"})), ("here", frozenset({"window"}))]
