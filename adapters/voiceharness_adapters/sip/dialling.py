"""Let an agent call: over SIP, whoever waits for it on the endpoint that is yielded."""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from voiceharness.errors import CallRejectedError, ConnectError
from voiceharness_adapters.sip.endpoint import SipEndpoint
from voiceharness_adapters.sip.hosting import AgentSide
from voiceharness_adapters.sip.settings import SipSettings, choose_backend

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from voiceharness.agent import PhoneAgent

__all__ = ["dialler"]

logger = logging.getLogger(__name__)


@asynccontextmanager
async def dialler(agent: PhoneAgent, *, backend: str = "auto") -> AsyncIterator[Mapping[str, object]]:
    """Let an agent call each adapter ``sip`` that waits, one after the other; yields the options of such an adapter.

    ``backend`` is the adapter's.
    """
    async with (
        SipEndpoint(SipSettings(backend=choose_backend(backend))) as waiting,
        SipEndpoint(SipSettings(user="agent", backend=choose_backend("auto"))) as own,
    ):
        calling = asyncio.create_task(_keep_calling(agent, own, waiting), name="SIP dialler")
        try:
            yield {"endpoint": waiting}
        finally:
            calling.cancel()
            await asyncio.gather(calling, return_exceptions=True)


async def _keep_calling(agent: PhoneAgent, own: SipEndpoint, waiting: SipEndpoint) -> None:
    while True:
        await waiting.claimed()
        try:
            call = await own.new_call()
            await own.dial(call, waiting.uri)
        except (ConnectError, CallRejectedError) as error:
            logger.warning("sip: the agent's call could not be placed: %s", error)
            return
        await AgentSide(agent, call, own.settings.rate).talk()
