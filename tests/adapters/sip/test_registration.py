"""Registrations after the first one: made anew by another worker, or lost when they should be refreshed."""

from __future__ import annotations

import os
import re
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.adapters.sip.peer import Reply, SipPeer, peer
from voiceharness.clock import run_real
from voiceharness.errors import CallDroppedError, CallRejectedError, ConnectError
from voiceharness_adapters.sip import SipEndpoint, SipSettings

if TYPE_CHECKING:
    from voiceharness_adapters.sip.settings import Backend

__all__: list[str] = []

pytestmark = pytest.mark.realtime


@dataclass(slots=True, eq=False)
class Registrar(SipPeer):
    """Takes the first registration, for so many seconds, and refuses the next."""

    seconds: int = 6

    def _respond(self, request: str, reply: Reply) -> None:
        if self.methods().count("REGISTER") > 1:
            reply = Reply(403, "Forbidden")
        headers = f"Contact: {contact_of(request)};expires={self.seconds}"
        super(Registrar, self)._respond(request, Reply(reply.code, reply.reason, headers=headers))


def contact_of(request: str) -> str:
    """The address at which who sent a request can be reached."""
    found = re.search(r"(?im)^Contact:\s*(<[^>]+>)", request)
    assert found is not None
    return found[1]


def test_an_endpoint_whose_worker_died_registers_again() -> None:
    async def main() -> None:
        async with peer() as registrar:
            settings = SipSettings(registrar=registrar.address, user="tester")
            async with SipEndpoint(settings) as ours:
                os.kill(ours.pids[0], signal.SIGKILL)
                with pytest.raises(CallDroppedError):
                    await ours.claim(timeout=60)
                with pytest.raises(CallRejectedError, match="no inbound call"):
                    await ours.claim(timeout=0)
                assert registrar.methods() == ["REGISTER", "REGISTER"]
                assert all(f"sip:tester@{ours.address}" in contact_of(request) for request in registrar.requests)

    run_real(main())


@pytest.mark.parametrize(("backend", "seconds", "wait"), [("pjsua2", 6, 6.5), ("baresip", 2, 3.0)])
def test_a_registration_that_is_not_renewed_is_the_reason_why_no_call_came(
    backend: Backend, seconds: int, wait: float
) -> None:
    """The libraries renew it a little before it ends, pjsua2 not before 5 s."""

    async def main() -> None:
        registrar = Registrar(seconds=seconds)
        await registrar.open()
        settings = SipSettings(registrar=registrar.address, user="tester", expires=seconds, backend=backend)
        async with SipEndpoint(settings) as ours:
            with pytest.raises(ConnectError, match=r"the registration at .+ was lost: 403 Forbidden"):
                await ours.claim(timeout=wait)
        await registrar.close()

    run_real(main())
