"""Calls of baresip that never came up: which status they ended with; and ports where it can listen."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING

import pytest

from voiceharness.clock import run_real
from voiceharness.errors import ConnectError
from voiceharness_adapters.sip import Sip, SipEndpoint, SipSettings
from voiceharness_adapters.sip.baresip_worker.configuration import free_port, is_free
from voiceharness_adapters.sip.settings import choose_backend

if TYPE_CHECKING:
    from voiceharness_adapters.sip.call import CallEnd, SipCall

__all__: list[str] = []


async def ended(*, by: str) -> CallEnd:
    """Begin a call between the backends and end it before it is answered; returns what baresip's side takes it for."""
    other = SipSettings(backend=choose_backend("auto"))
    async with SipEndpoint(SipSettings(backend="baresip")) as ours, SipEndpoint(other) as theirs:
        dialling, called = (theirs, ours) if by in ("the agent that dialled", "refusal") else (ours, theirs)
        claimed = asyncio.create_task(called.claim(timeout=10))
        await called.claimed()
        call = await dialling.new_call()
        rings = asyncio.Event()
        call.on_ringing = rings.set
        await dialling.dial(call, called.uri)
        taken: SipCall = (await claimed).handle
        await rings.wait()
        await (taken if by == "refusal" else call).hang_up()
        own = taken if called is ours else call
        await own.over()
        assert own.end is not None
        return own.end


@pytest.mark.realtime
@pytest.mark.parametrize(
    ("by", "status"),
    [
        ("the agent that dialled", (487, "Request Terminated")),
        ("refusal", (486, "Busy Here")),
        ("the user that dialled", (487, "Request Terminated")),
    ],
)
def test_a_call_that_was_never_answered_has_the_status_that_was_given(by: str, status: tuple[int, str]) -> None:
    end = run_real(ended(by=by))
    assert (end.code, end.reason) == status


@pytest.mark.realtime
def test_an_address_where_nobody_listens_is_no_success() -> None:
    async def main() -> None:
        adapter = Sip(f"sip:agent@127.0.0.1:{free_port('127.0.0.1')}", backend="baresip", transport="tcp")
        with pytest.raises(ConnectError, match="could not be reached: 503"):
            await adapter.connect()
        await adapter.disconnect()

    run_real(main())


@pytest.mark.parametrize(("kind", "beside"), [("SOCK_DGRAM", 0), ("SOCK_STREAM", 0), ("SOCK_STREAM", 1)])
def test_a_port_is_free_if_all_that_listens_there_can(kind: str, beside: int) -> None:
    port = free_port("127.0.0.1")
    assert is_free("127.0.0.1", port)
    with socket.socket(socket.AF_INET, getattr(socket, kind)) as other:
        other.bind(("127.0.0.1", port + beside))
        assert not is_free("127.0.0.1", port)
    assert not is_free("127.0.0.1", 65535)
