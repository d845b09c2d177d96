"""TLS with certificates of its own: what is refused before a call, and what by the other side."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.adapters.sip.calling import on_line
from tests.adapters.sip.programs import certificate
from voiceharness.clock import run_real
from voiceharness.doubles import EchoAgent
from voiceharness.errors import ConnectError, OptionError
from voiceharness_adapters.sip import Sip, SipEndpoint, SipSettings
from voiceharness_adapters.sip.certificates import check_certificates, with_its_key
from voiceharness_adapters.sip.hosting import serve_calls

if TYPE_CHECKING:
    from voiceharness_adapters.sip.settings import Backend

__all__: list[str] = []

BOTH: tuple[Backend, Backend] = ("pjsua2", "baresip")


@pytest.mark.realtime
@pytest.mark.parametrize("theirs", BOTH)
@pytest.mark.parametrize("ours", BOTH)
def test_an_agent_shows_its_certificate_and_the_user_verifies_it(
    ours: Backend, theirs: Backend, tmp_path: Path
) -> None:
    async def main() -> None:
        cert, key = map(str, await certificate(tmp_path))
        served = SipSettings(transport="tls", tls_certificate=cert, tls_key=key, backend=theirs)
        async with SipEndpoint(served) as agent, serve_calls(EchoAgent(), agent):
            adapter = Sip(agent.uri, transport="tls", tls_authorities=cert, backend=ours)
            async with on_line(adapter) as line:
                await line.until_position(1600)
            assert "TLS" in adapter.artefacts()["sip.txt"].decode()

    run_real(main())


@pytest.mark.realtime
@pytest.mark.parametrize("backend", BOTH)
@pytest.mark.parametrize("fault", ["another authority", "another name"])
def test_a_certificate_of_somebody_else_is_refused(fault: str, backend: Backend, tmp_path: Path) -> None:
    """The name: the certificate is for 127.0.0.1, and the agent is dialled as localhost."""
    (tmp_path / "other").mkdir()

    async def main() -> None:
        cert, key = map(str, await certificate(tmp_path))
        other, _ = map(str, await certificate(tmp_path / "other"))
        served = SipSettings(transport="tls", tls_certificate=cert, tls_key=key, backend=backend)
        async with SipEndpoint(served) as agent, serve_calls(EchoAgent(), agent):
            by_name = fault == "another name"
            target = agent.uri.replace("127.0.0.1", "localhost") if by_name else agent.uri
            adapter = Sip(target, transport="tls", tls_authorities=cert if by_name else other, backend=backend)
            with pytest.raises(ConnectError, match="could not be reached: 503"):
                await adapter.connect()
            await adapter.disconnect()

    run_real(main())


def test_files_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    cert, key = map(str, run_real(certificate(tmp_path)))
    _, other_key = map(str, run_real(certificate(tmp_path / "other")))
    garbage = tmp_path / "garbage.pem"
    garbage.write_text("garbage")
    missing = str(tmp_path / "missing.pem")
    check_certificates(SipSettings(tls_certificate=cert, tls_key=key, tls_authorities=cert))
    for wrong, says in (
        (SipSettings(tls_certificate=missing, tls_key=key), "missing.pem"),
        (SipSettings(tls_certificate=cert, tls_key=missing), "No such file"),
        (SipSettings(tls_certificate=cert, tls_key=other_key), "(?i)mismatch"),
        (SipSettings(tls_certificate=str(garbage), tls_key=key), "garbage.pem"),
        (SipSettings(tls_authorities=missing), "missing.pem"),
        (SipSettings(tls_authorities=str(garbage)), "garbage.pem"),
    ):
        with pytest.raises(OptionError, match=says):
            check_certificates(wrong)


def test_a_certificate_and_its_key_are_together_for_a_moment_and_for_nobody_else(tmp_path: Path) -> None:
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    cert.write_text("the certificate")
    key.write_text("the key")
    with with_its_key(str(cert), str(key)) as name:
        both = Path(name)
        assert both.read_text().split("\n") == ["the key", "the certificate", ""]
        assert stat.S_IMODE(both.stat().st_mode) == 0o600
    assert not both.exists()
    with with_its_key("", "") as name:
        assert name == ""
