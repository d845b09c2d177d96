"""``voiceharness audit``: an agent on loopback is attacked, and the verdict is told for people and programs."""

from __future__ import annotations

import asyncio
import json
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from voiceharness.cli.audit import audit_agent
from voiceharness.clock import run_real
from voiceharness.doubles import SilentAgent
from voiceharness.errors import CallRejectedError, UnknownAdapterError
from voiceharness_adapters.twilio import TwilioAgentApp
from voiceharness_adapters.twilio.asgi_server import serve_asgi

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__: list[str] = []

TOKEN = "0123456789abcdef0123456789abcdef"


@contextmanager
def served(token: str | None) -> Iterator[str]:
    """Serve an agent from a thread of its own; yields the address of its webhook."""
    ready: list[tuple[int, asyncio.AbstractEventLoop, asyncio.Event]] = []
    started = threading.Event()

    async def main() -> None:
        async with serve_asgi(TwilioAgentApp(SilentAgent(), token=token)) as port:
            over = asyncio.Event()
            ready.append((port, asyncio.get_running_loop(), over))
            started.set()
            await over.wait()

    thread = threading.Thread(target=lambda: run_real(main()))
    thread.start()
    started.wait()
    port, loop, over = ready[0]
    try:
        yield f"http://127.0.0.1:{port}/voice"
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()


@pytest.mark.realtime
def test_a_careless_agent_costs_code_one_and_is_told_why(capsys: pytest.CaptureFixture[str]) -> None:
    with served(None) as url:
        assert audit_agent(transport="twilio", url=url, token=None, patience=0.05, as_json=False) == 1
    assert "tolerated  webhook without a signature" in capsys.readouterr().out


@pytest.mark.realtime
def test_programs_get_every_finding(capsys: pytest.CaptureFixture[str]) -> None:
    with served(TOKEN) as url:
        audit_agent(transport="twilio", url=url, token=TOKEN, patience=0.05, as_json=True)
    report = json.loads(capsys.readouterr().out)
    assert report["format"] == "voiceharness-audit/1"
    assert report["findings"][0] == {
        "check": "unsigned_request",
        "attack": "webhook without a signature",
        "verdict": "refused",
        "detail": "HTTP 403",
        "wanted": "refused",
    }


@pytest.mark.realtime
def test_an_agent_that_refuses_the_proper_call_is_no_verdict() -> None:
    with served(TOKEN) as url, pytest.raises(CallRejectedError):
        audit_agent(transport="twilio", url=url, token=None, patience=0.05, as_json=False)


def test_a_transport_without_attacks_is_unknown() -> None:
    with pytest.raises(UnknownAdapterError, match="twilio"):
        audit_agent(transport="pigeon", url="", token=None, patience=1.0, as_json=False)
