"""URLs that nobody can be reached at, told by everyone who takes one."""

from __future__ import annotations

import pytest

from voiceharness.clock import run_virtual
from voiceharness.errors import ConnectError, OptionError
from voiceharness_adapters.twilio import Twilio
from voiceharness_adapters.twilio.audit import audit
from voiceharness_adapters.twilio.network_door import NetworkDoor
from voiceharness_adapters.twilio.urls import WEBHOOK_SCHEMES, why_no_url

__all__: list[str] = []

WRONG = [
    ("agent.example.test", "begins with ws, wss, http, https, not 'agent.example.test'"),
    ("", "begins with ws, wss, http, https, not ''"),
    ("ftp://agent.example.test/", "begins with ws, wss, http, https, not"),
    ("ws://", "names a host, which 'ws://' does not"),
    ("http:///voice", "names a host"),
    ("http://an agent/", "names a host"),
    ("http://[::1", "cannot be read: Invalid IPv6 URL in"),
    ("ws://127.0.0.1:media/", "cannot be read: Port could not be cast"),
    ("ws://127.0.0.1:99999/", "cannot be read: Port out of range"),
]


@pytest.mark.parametrize("url", ["ws://127.0.0.1:9/media?a=b", "https://agent.example.test/voice", "http://[::1]:80"])
def test_a_url_that_can_be_tried_is_not_doubted(url: str) -> None:
    assert why_no_url(url) is None


def test_a_webhook_is_no_stream() -> None:
    assert why_no_url("ws://127.0.0.1:9/", WEBHOOK_SCHEMES) == "begins with http, https, not 'ws://127.0.0.1:9/'"


@pytest.mark.parametrize(("url", "wrong"), WRONG)
def test_no_call_and_no_audit_begins_with_a_url_that_leads_nowhere(url: str, wrong: str) -> None:
    with pytest.raises(OptionError, match="adapter 'twilio': url ") as call:
        Twilio(url)
    assert wrong in str(call.value)
    with pytest.raises(OptionError, match="the URL to audit ") as attack:
        run_virtual(audit(url))
    assert wrong in str(attack.value)


@pytest.mark.parametrize("callback", ["http://[::1", "ftp://agent.example.test/", "ws://agent.example.test/"])
def test_progress_is_posted_to_webhooks_alone(callback: str) -> None:
    with pytest.raises(OptionError, match="status_callback is an http or https URL"):
        Twilio("https://agent.example.test/voice", status_callback=callback)


@pytest.mark.parametrize("url", ["ws://", "ws://127.0.0.1:media/", "/media"])
def test_a_stream_that_an_agent_names_wrongly_is_not_called(url: str) -> None:
    async def main() -> None:
        with pytest.raises(ConnectError, match="no stream can be opened: its URL "):
            await NetworkDoor().open_stream(url, [], lambda _message: None)  # type: ignore[arg-type] # nothing comes

    run_virtual(main())
