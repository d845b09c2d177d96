"""The attacks of an audit as rows of the matrix."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.matrix.adapters import subject_of
from voiceharness.audit import Audit, AuditReport, Finding
from voiceharness.doubles import SilentAgent
from voiceharness.matrix import audit_probes, matrix_document, probe_adapter
from voiceharness_adapters.in_process import InProcess

if TYPE_CHECKING:
    from voiceharness.agent import PhoneAgent
    from voiceharness.audit import Verdict
    from voiceharness.matrix import Cell, Subject

__all__: list[str] = []


def row(verdict: Verdict | None, *, wanted: Verdict = "refused", subject: Subject | None = None) -> Cell:
    """The row of one attack that ends like this; None: there is nothing to attack."""

    async def run(agent: PhoneAgent, *, only: frozenset[str] | None = None) -> AuditReport:
        assert only == frozenset({"door"})
        return AuditReport("", () if verdict is None else (Finding("door", "an open door", verdict, "so", wanted),))

    probes = audit_probes(Audit({"door": "an open door"}, run))
    (cell,) = probe_adapter(subject or subject_of(InProcess), probes=probes).cells
    return cell


@pytest.mark.parametrize(
    ("verdict", "shown", "detail"),
    [
        ("refused", "demonstrated", "refused: an open door: so"),
        ("tolerated", "failed", "not refused: an open door: so"),
        ("broke", "failed", "the agent's side broke: an open door: so"),
        ("left_out", "not_testable_here", "so"),
        (None, "not_testable_here", "there is nothing of the kind at the agent's address"),
    ],
)
def test_an_attack_is_shown_where_it_is_refused(verdict: Verdict | None, shown: str, detail: str) -> None:
    cell = row(verdict)
    assert (cell.capability, cell.verdict, cell.detail) == ("audit:door", shown, detail)
    assert cell.by_class is None


def test_what_may_be_survived_need_not_be_refused() -> None:
    cell = row("tolerated", wanted="tolerated")
    assert (cell.verdict, cell.detail) == ("demonstrated", "survived: an open door: so")


def test_the_users_own_agent_is_attacked_too() -> None:
    assert row("tolerated", subject=replace(subject_of(InProcess), agent=SilentAgent)).verdict == "failed"


def test_the_document_says_what_was_attacked() -> None:
    async def run(agent: PhoneAgent, *, only: frozenset[str]) -> AuditReport:
        return AuditReport("", ())

    column = probe_adapter(subject_of(InProcess), probes=audit_probes(Audit({"door": "an open door"}, run)))
    assert matrix_document([column])["about"]["audit:door"] == "the agent's side withstands: an open door"
