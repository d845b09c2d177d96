"""The audit against agents that are careful, careless and fragile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import pytest

from tests.adapters.twilio.wire_agent import STREAM, VOICE, WireAgent
from voiceharness.clock import run_real, run_virtual
from voiceharness.doubles import SilentAgent
from voiceharness.errors import CallRejectedError
from voiceharness_adapters.twilio import TwilioAgentApp, host
from voiceharness_adapters.twilio.asgi_server import serve_asgi
from voiceharness_adapters.twilio.audit import AUDIT, CHECKS, audit

if TYPE_CHECKING:
    from voiceharness.audit import AuditReport

__all__: list[str] = []

TOKEN = "0123456789abcdef0123456789abcdef"


def verdicts(report: AuditReport) -> dict[str, str]:
    return {finding.attack: finding.verdict for finding in report.findings}


def test_an_agent_that_checks_signatures_refuses_strangers() -> None:
    """Case B33."""
    report = run_virtual(audit(VOICE, app=TwilioAgentApp(SilentAgent(), token=TOKEN), token=TOKEN))
    found = verdicts(report)
    signed = {attack: verdict for attack, verdict in found.items() if "sign" in attack}
    assert len(signed) == 8
    assert set(signed.values()) == {"refused"}
    assert found["stream of a call that was never announced"] == "tolerated"
    assert (found["a second start"], found["media before the start"]) == ("refused", "refused")
    assert report.findings[-1].passed
    assert "not met as they should be" in str(report)


def test_a_webhook_that_redirects_is_attacked_where_it_leads() -> None:
    careful = TwilioAgentApp(SilentAgent(), token=TOKEN)

    async def moved(scope: Any, receive: Any, send: Any) -> None:
        if scope["path" if scope["type"] == "http" else "type"] != "/old":
            await careful(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": 307, "headers": [(b"location", VOICE.encode())]})
        await send({"type": "http.response.body"})

    found = verdicts(run_virtual(audit(urljoin(VOICE, "/old"), app=moved, token=TOKEN)))
    assert found["webhook without a signature"] == "refused"
    assert found["webhook with a replayed signature on another body"] == "refused"


def test_an_agent_that_takes_anybody_is_found_out() -> None:
    report = run_virtual(audit(VOICE, app=TwilioAgentApp(SilentAgent())))
    found = verdicts(report)
    assert found["webhook without a signature"] == "tolerated"
    assert found["stream signed by a stranger"] == "tolerated"
    assert found["webhook signed for another scheme"] == "left_out"
    assert not report.passed


def test_an_agent_that_breaks_on_a_bad_message_is_told_from_one_that_refuses_it() -> None:
    """The wire agent parses without care."""
    report = run_virtual(audit(STREAM, app=WireAgent))
    hostile = report.findings[-1]
    assert hostile.verdict == "broke"
    assert "a word" in hostile.detail
    assert not hostile.passed


def test_the_stream_alone_can_be_audited() -> None:
    report = run_virtual(audit(STREAM, app=TwilioAgentApp(SilentAgent(), token=TOKEN), token=TOKEN))
    assert not any(finding.attack.startswith("webhook") for finding in report.findings)
    assert verdicts(report)["stream of a call that was never announced"] == "left_out"


def test_an_agent_that_knows_its_calls_refuses_a_forged_one() -> None:
    app = TwilioAgentApp(SilentAgent(), token=TOKEN, announced_only=True)
    report = run_virtual(audit(VOICE, app=app, token=TOKEN))
    assert report.passed, str(report)
    assert verdicts(report)["stream of a call that was never announced"] == "refused"


def test_what_our_own_host_serves_meets_every_attack() -> None:
    async def main() -> AuditReport:
        async with host(SilentAgent()) as target:
            known = {name: target[name] for name in ("url", "app", "token")}
            return await AUDIT.run(**known)

    report = run_virtual(main())
    assert report.passed, str(report)
    assert [finding.check for finding in report.findings] == list(CHECKS)


def test_one_attack_can_be_made_by_itself() -> None:
    app = TwilioAgentApp(SilentAgent(), token=TOKEN)
    report = run_virtual(audit(VOICE, app=app, token=TOKEN, only=frozenset({"second_start"})))
    assert [finding.check for finding in report.findings] == ["second_start"]


def test_an_agent_that_refuses_the_proper_call_cannot_be_audited() -> None:
    with pytest.raises(CallRejectedError, match="proper call"):
        run_virtual(audit(VOICE, app=TwilioAgentApp(SilentAgent(), token=TOKEN)))


@pytest.mark.realtime
def test_an_audit_over_sockets_finds_the_same() -> None:
    async def main() -> AuditReport:
        async with serve_asgi(TwilioAgentApp(SilentAgent(), token=TOKEN)) as port:
            return await audit(f"http://127.0.0.1:{port}/voice", token=TOKEN, patience=0.1)

    report = run_real(main())
    virtual = run_virtual(audit(VOICE, app=TwilioAgentApp(SilentAgent(), token=TOKEN), token=TOKEN))
    assert {a: v for a, v in verdicts(report).items() if "sign" in a} == {
        a: v for a, v in verdicts(virtual).items() if "sign" in a
    }
