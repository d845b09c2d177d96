"""Dialling an agent that SIPp plays, message by message: refusals, silence, and all that is legal but rare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.adapters.sip.calling import heard_from, level, on_line
from tests.adapters.sip.sipp_calls import TONE_HZ, agent_plays
from voiceharness import Hangup, Scenario, Wait, run_call
from voiceharness.audio.signals import tone
from voiceharness.clock import run_real
from voiceharness.errors import CallRejectedError, ConnectError
from voiceharness_adapters.sip import Sip, SipEndpoint, SipSettings

if TYPE_CHECKING:
    from pathlib import Path

    from voiceharness.line.line import Line
    from voiceharness_adapters.sip.settings import Backend

__all__: list[str] = []

pytestmark = pytest.mark.realtime

BACKENDS = ("pjsua2", "baresip")


def called(
    folder: Path,
    scenario: str,
    *arguments: str,
    seconds: float = 0.4,
    options: dict[str, Any] | None = None,
    **filled: str,
) -> tuple[Line, Sip]:  # Any: the adapter's options
    """Call an agent that plays a scenario, talk to it for a while, and end the call, if it has not ended yet."""

    async def main() -> tuple[Line, Sip]:
        async with agent_plays(folder, scenario, *arguments, **filled) as agent:
            adapter = Sip(agent.uri, **(options or {}))
            async with on_line(adapter) as line:
                line.say(tone(700, seconds), at=800)
                await line.until_position(round(8000 * seconds))
            return line, adapter

    return run_real(main())


@pytest.mark.parametrize(
    ("code", "reason", "header"),
    [
        (302, "Moved Temporarily", "Contact: <sip:other@127.0.0.1:9>"),
        (404, "Not Found", "X-Nothing: 1"),
        (486, "Busy Here", "X-Nothing: 1"),
        (503, "Service Unavailable", "Retry-After: 30"),
        (603, "Decline", "X-Nothing: 1"),
    ],
)
def test_a_refusal_is_in_the_result_with_its_code_and_cause(
    code: int, reason: str, header: str, tmp_path: Path
) -> None:
    """A redirect is one too: who is called is what the user asked for, so it is reported and not followed."""

    async def main() -> None:
        async with agent_plays(tmp_path, "refuse", status=f"{code} {reason}", header=header) as agent:
            result = await run_call(Scenario("refused", steps=[Wait(1.0), Hangup()]), Sip(agent.uri))
        assert isinstance(result.error, CallRejectedError)
        assert (result.error.code, result.error.reason) == (code, reason)
        assert f"{code} {reason}" in result.explain()
        assert header in result.artefacts["sip.txt"].decode()

    run_real(main())


@pytest.mark.parametrize(
    ("scenario", "status", "backend"),
    [
        ("ring_for_ever", "100 Trying", "pjsua2"),
        ("ring_for_ever", "180 Ringing", "pjsua2"),
        ("ring_for_ever", "183 Session Progress", "baresip"),
        ("ring_late", "", "pjsua2"),
        ("say_nothing", "", "pjsua2"),
        ("answer_a_cancel", "", "pjsua2"),
        ("answer_a_cancel", "", "baresip"),
    ],
)
def test_an_agent_that_does_not_answer_in_time_is_given_up_properly(
    scenario: str, status: str, backend: Backend, tmp_path: Path
) -> None:
    """SIPp sees to it that CANCEL comes when it may, and that an answer that crosses it is acknowledged and ended."""

    async def main() -> None:
        async with (
            agent_plays(tmp_path, scenario, status=status) as agent,
            SipEndpoint(SipSettings(backend=backend)) as ours,  # so that its start takes no time of the call's
        ):
            with pytest.raises(ConnectError, match="not answered within 1 s"):
                async with on_line(Sip(agent.uri, endpoint=ours), connect_timeout=1.0):
                    pass
            await agent.done()

    run_real(main())


@pytest.mark.parametrize(
    ("scenario", "arguments"),
    [
        ("answer_again", ("-nr",)),
        ("answer_without_contact", ()),
        ("answer_through_a_proxy", ()),
        ("answer_in_short", ()),
        ("answer_with_prack", ()),
        ("fork", ()),
        ("ask_in_the_call", ()),
    ],
)
def test_what_is_legal_but_rare_disturbs_no_call(scenario: str, arguments: tuple[str, ...], tmp_path: Path) -> None:
    line, adapter = called(tmp_path, scenario, *arguments)
    assert line.ended is not None
    assert (line.ended.by, line.ended.error) == ("user", None)
    assert adapter.answered_code == 200
    assert adapter.findings == ()


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ('Reason: Q.850;cause=16;text="Normal call clearing"', "Normal call clearing"),
        ("Reason: Q.850;cause=31", "Q.850;cause=31"),
    ],
)
def test_an_agent_that_ends_the_call_at_once_has_done_so_with_its_reason(
    header: str, reason: str, tmp_path: Path
) -> None:
    line, _adapter = called(tmp_path, "end_at_once", seconds=2.0, header=header)
    assert line.ended is not None
    assert (line.ended.by, line.ended.reason, line.ended.error) == ("agent", reason, None)
    assert line.ended.at < 4000


@pytest.mark.parametrize(
    ("scenario", "backend"),
    [("hold_by_reinvite", "pjsua2"), ("hold_by_update", "pjsua2"), ("hold_by_reinvite", "baresip")],
)
def test_an_agent_may_hold_the_call_and_take_it_up_again(scenario: str, backend: str, tmp_path: Path) -> None:
    """The agent echoes: while it holds the call it gets no sound, and there is none to come back."""
    options = {"backend": backend, "media_timeout": 0.5}
    line, adapter = called(tmp_path, scenario, "-rtp_echo", seconds=2.0, options=options)
    track = line.record().agent
    assert level(track, 0.25, 0.35) > 1000
    assert level(track, 0.8, 1.0) == 0
    assert level(track, 1.6, 1.9) > 1000
    assert [finding for finding in adapter.findings if finding.fault] == []


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_agent_that_refuses_to_be_held_goes_on_talking(backend: Backend, tmp_path: Path) -> None:
    async def main() -> None:
        async with agent_plays(tmp_path, "refuse_the_hold", "-rtp_echo") as agent:
            adapter = Sip(agent.uri, backend=backend)
            async with on_line(adapter) as line:
                line.say(tone(700, 1.5), at=800)
                await line.until_position(3200)
                with pytest.raises(CallRejectedError, match="refuses to hold the call: 488") as raised:
                    await adapter.control("hold")
                assert raised.value.code == 488
                await line.until_position(11200)
            assert line.ended is not None
            assert line.ended.by == "user"
            assert level(line.record().agent, 1.0, 1.3) > 1000

    run_real(main())


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_challenge_is_met_with_the_password(backend: str, tmp_path: Path) -> None:
    account = {"user": "tester", "password": "right", "backend": backend}
    _line, adapter = called(tmp_path, "challenge", options=account)
    assert adapter.answered_code == 200


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_wrong_password_is_refused_with_the_status_of_the_agent(backend: str, tmp_path: Path) -> None:
    account = {"user": "tester", "password": "wrong", "backend": backend}
    with pytest.raises(CallRejectedError) as raised:
        called(tmp_path, "challenge", options=account)
    assert (raised.value.code, raised.value.reason) == (403, "Forbidden")


def test_what_is_heard_before_the_answer_is_kept_apart(tmp_path: Path) -> None:
    line, adapter = called(tmp_path, "early_media")
    assert adapter.early_media is not None
    assert level(adapter.early_media.samples, 0.2, 0.35) > 1000
    assert heard_from(line.record(), TONE_HZ, 0.1, 0.35) > 0.99
