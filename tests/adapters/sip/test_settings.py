"""Every setting of an endpoint, by what the other side sees of it."""

from __future__ import annotations

import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.adapters.sip.calling import on_line, stream
from tests.adapters.sip.peer import OK, RINGING, SipPeer, peer
from tests.adapters.sip.programs import kamailio
from voiceharness.clock import run_real
from voiceharness.doubles import ProbeAgent
from voiceharness.errors import CallRejectedError, OptionError
from voiceharness_adapters.sip import Sip, SipEndpoint, SipSettings
from voiceharness_adapters.sip.baresip_worker.configuration import EVERYWHERE, own_address
from voiceharness_adapters.sip.hosting import serve_calls

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from voiceharness_adapters.sip.settings import Backend

__all__: list[str] = []

BOTH: tuple[Backend, Backend] = ("pjsua2", "baresip")
on_both = pytest.mark.parametrize("backend", BOTH)


@asynccontextmanager
async def called(**options: Any) -> AsyncIterator[tuple[SipPeer, Sip]]:  # Any: those of an adapter
    """Let a peer be called with some options; yields when the call is up."""
    async with peer(media=stream()) as agent:
        adapter = Sip(agent.uri, **options)
        async with on_line(adapter):
            yield agent, adapter


@pytest.mark.realtime
def test_host_is_where_signalling_and_media_are_bound() -> None:
    """With pjsua2 alone: baresip sees no way from one loopback address to another."""

    async def main() -> None:
        async with called(host="127.0.0.2") as (agent, adapter):
            assert adapter.endpoint.address.startswith("127.0.0.2:")
            assert "c=IN IP4 127.0.0.2" in agent.invite
            assert re.search(r"(?m)^Contact:.*@127\.0\.0\.2", agent.invite)

    run_real(main())


def test_a_host_that_is_every_interface_has_an_address_of_its_own_to_tell() -> None:
    assert own_address("127.0.0.1") == "127.0.0.1"
    assert own_address(EVERYWHERE) != EVERYWHERE


@pytest.mark.realtime
@on_both
def test_port_is_where_it_listens(backend: Backend) -> None:
    async def main() -> None:
        async with SipEndpoint(SipSettings(backend=backend)) as first:
            port = int(first.address.rsplit(":", 1)[1])
        async with SipEndpoint(SipSettings(backend=backend, port=port)) as second:
            assert second.address == f"127.0.0.1:{port}"

    run_real(main())


@pytest.mark.realtime
def test_the_public_address_is_the_one_that_the_peer_is_told() -> None:
    async def main() -> None:
        async with called(public_address="127.0.0.3") as (agent, adapter):
            assert adapter.endpoint.address.startswith("127.0.0.")
            assert "c=IN IP4 127.0.0.3" in agent.invite
            assert re.search(r"(?m)^Contact:.*@127\.0\.0\.3", agent.invite)

    run_real(main())


def test_a_public_address_needs_a_backend_that_can_tell_it() -> None:
    with pytest.raises(OptionError, match="public_address needs the backend 'pjsua2'"):
        SipSettings(public_address="127.0.0.3", backend="baresip")


@pytest.mark.realtime
@on_both
def test_user_is_the_name_in_its_own_address(backend: Backend) -> None:
    async def main() -> None:
        async with called(backend=backend, user="desk7") as (agent, _adapter):
            assert re.search(r"(?m)^From:.*sip:desk7@", agent.invite)

    run_real(main())


@pytest.mark.realtime
@on_both
def test_auth_user_is_the_name_that_a_registrar_checks(backend: Backend, tmp_path: Path) -> None:
    """The PBX takes the password of the name in the credentials, whoever is registered by them."""

    async def main() -> None:
        async with kamailio(tmp_path) as (port, _):
            account: dict[str, Any] = {"user": "tester", "registrar": f"127.0.0.1:{port}", "backend": backend}
            async with SipEndpoint(SipSettings(auth_user="clerk", password="secret-clerk", **account)) as endpoint:
                assert any("SIP/2.0 200" in message.text for message in endpoint.messages)
            with pytest.raises(CallRejectedError):
                await SipEndpoint(SipSettings(password="secret-clerk", **account)).open()

    run_real(main())


@pytest.mark.realtime
@on_both
def test_expires_is_how_long_a_registration_is_asked_for(backend: Backend, tmp_path: Path) -> None:
    async def main() -> list[str]:
        async with kamailio(tmp_path) as (port, _):
            account = SipSettings(
                user="tester", password="secret-tester", registrar=f"127.0.0.1:{port}", expires=240, backend=backend
            )
            async with SipEndpoint(account) as endpoint:
                pass
            return [message.text for message in endpoint.messages if message.text.startswith("REGISTER")]

    registrations = run_real(main())
    assert re.search(r"(?im)expires[:=]\s*240", registrations[0])
    assert re.search(r"(?im)expires[:=]\s*0", registrations[-1])


@pytest.mark.realtime
@on_both
def test_requests_go_through_the_proxy(backend: Backend) -> None:
    """The address called has no such host: only the proxy can have been asked."""

    async def main() -> None:
        async with peer(media=stream()) as proxy:
            adapter = Sip("sip:agent@127.0.0.9:9", proxy=proxy.address, backend=backend)
            async with on_line(adapter):
                assert proxy.requests[0].startswith("INVITE sip:agent@127.0.0.9:9")

    run_real(main())


@pytest.mark.realtime
@on_both
@pytest.mark.parametrize(
    ("srtp", "profile", "has_keys"),
    [("off", "RTP/AVP", False), ("optional", "RTP/AVP", True), ("mandatory", "RTP/SAVP", True)],
)
def test_srtp_is_what_is_offered_and_used(
    backend: Backend, srtp: Any, profile: str, has_keys: bool
) -> None:  # Any: one
    async def main() -> None:
        theirs = SipSettings(backend=backend, srtp=srtp)
        async with SipEndpoint(theirs) as endpoint, serve_calls(ProbeAgent(), endpoint):
            adapter = Sip(endpoint.uri, backend=backend, srtp=srtp)
            async with on_line(adapter):
                invite = next(each.text for each in adapter.endpoint.messages if each.text.startswith("INVITE"))
                assert re.search(rf"(?m)^m=audio \d+ {profile} ", invite)
                assert ("a=crypto:" in invite) is has_keys
                facts = adapter.call_facts()
                assert facts["srtp"] is has_keys
                assert str(facts["srtp_suite"]).startswith("AES_") is has_keys

    run_real(main())


@pytest.mark.realtime
@on_both
def test_optional_srtp_does_without_keys_where_the_agent_has_none(backend: Backend) -> None:
    async def main() -> None:
        async with peer(media=stream(), replies=(RINGING, OK)) as agent:
            adapter = Sip(agent.uri, backend=backend, srtp="optional")
            async with on_line(adapter) as line:
                await line.until_position(8000)
            assert adapter.call_facts()["srtp"] is False
            assert adapter.quality.received > 20

    run_real(main())


@pytest.mark.realtime
@on_both
def test_mandatory_srtp_takes_no_call_without_keys(backend: Backend) -> None:
    async def main() -> None:
        secure = SipSettings(backend=backend, srtp="mandatory")
        async with SipEndpoint(secure) as endpoint, serve_calls(ProbeAgent(), endpoint):
            adapter = Sip(endpoint.uri, backend=backend)
            with pytest.raises(CallRejectedError):
                await adapter.connect()
            await adapter.disconnect()

    run_real(main())


@pytest.mark.realtime
@pytest.mark.parametrize("lead_ms", [20, 200])
def test_lead_is_how_far_ahead_user_audio_is_made(lead_ms: int) -> None:
    async def main() -> int:
        async with peer(media=stream()) as agent, on_line(Sip(agent.uri, lead_ms=lead_ms)) as line:
            await line.until_position(8000)
            return line.uplink.sent - line.now

    ahead = min(run_real(main()) for _ in range(2))
    assert ahead == pytest.approx(8 * lead_ms, abs=500)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"srtp": "dtls"}, "needs the backend 'baresip'"),
        ({"transport": "tls", "tls_certificate": "cert.pem"}, "needs its key"),
        ({"auth_user": "clerk"}, "needs a password"),
        ({"backend": "baresip", "rate": 16000}, "carries 8000 Hz"),
    ],
)
def test_settings_that_cannot_work_are_refused(settings: dict[str, Any], says: str) -> None:  # Any: theirs
    with pytest.raises(OptionError, match=says):
        SipSettings(**settings)


def test_secrets_are_not_shown() -> None:
    settings = SipSettings(password="open sesame", tls_certificate="cert.pem", tls_key="key.pem", transport="tls")
    assert "sesame" not in repr(settings)
    assert "key.pem" not in repr(settings)
