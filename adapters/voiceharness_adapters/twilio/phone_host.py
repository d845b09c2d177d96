"""Let an agent be reached, or call, over the telephone network on loopback: the adapter's every request is real."""

from __future__ import annotations

import asyncio
import logging
import socket
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from voiceharness.clock import LoopClock
from voiceharness.errors import VirtualTimeError
from voiceharness_adapters.twilio.phone_number import TwilioNumber
from voiceharness_adapters.twilio.telephone_network import ACCOUNT, TOKEN, TelephoneNetwork

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from voiceharness.agent import PhoneAgent

__all__ = ["AGENT_NUMBER", "OUR_NUMBER", "phone_dialler", "phone_host"]

OUR_NUMBER: Final = "+15550100001"
AGENT_NUMBER: Final = "+15550100002"

logger = logging.getLogger(__name__)


@asynccontextmanager
async def phone_host(agent: PhoneAgent) -> AsyncIterator[Mapping[str, object]]:
    """Serve an agent at its phone; yields the options with which the adapter ``twilio_phone`` dials it.

    The REST interface answers on loopback, the adapter's own server is asked there by our carrier, and nothing leaves
    this machine.

    Raises:
        VirtualTimeError: in virtual time, which sockets do not follow.
    """
    async with _rest_interface(TelephoneNetwork(agent)) as api_url:
        port = _free_port()
        yield {
            "number": OUR_NUMBER,
            "to": AGENT_NUMBER,
            "allow": [AGENT_NUMBER],
            "dry_run": False,
            "account": ACCOUNT,
            "token": TOKEN,
            "public_url": f"http://127.0.0.1:{port}",
            "port": port,
            "api_url": api_url,
        }


@asynccontextmanager
async def phone_dialler(agent: PhoneAgent) -> AsyncIterator[Mapping[str, object]]:
    """Let an agent call each adapter ``twilio_phone`` that waits; yields the options of such an adapter."""
    network = TelephoneNetwork(agent)
    async with _rest_interface(network) as api_url:
        port = _free_port()
        url = f"http://127.0.0.1:{port}"
        async with TwilioNumber(account=ACCOUNT, token=TOKEN, public_url=url, port=port, api_url=api_url) as number:
            calling = asyncio.create_task(_keep_calling(network, number), name="the agent's phone calls")
            try:
                yield {"number": OUR_NUMBER, "endpoint": number}
            finally:
                calling.cancel()
                await asyncio.gather(calling, return_exceptions=True)


async def _keep_calling(network: TelephoneNetwork, number: TwilioNumber) -> None:
    while True:
        await number.claimed()
        await network.call_number(f"{number.public_url}/voice", caller=AGENT_NUMBER, number=OUR_NUMBER)


@asynccontextmanager
async def _rest_interface(network: TelephoneNetwork) -> AsyncIterator[str]:
    if LoopClock().virtual:
        raise VirtualTimeError("the telephone network is made of sockets: run in real time")
    from voiceharness_adapters.twilio.asgi_server import serve_asgi

    async with serve_asgi(network) as port:
        yield f"http://127.0.0.1:{port}"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
