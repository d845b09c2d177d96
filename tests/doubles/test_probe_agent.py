"""The agent that transports are probed with."""

from __future__ import annotations

import asyncio

from voiceharness.clock import run_virtual
from voiceharness.doubles.probe_agent import MissedCall, ProbeAgent

__all__: list[str] = []


def test_a_call_that_never_came_up_can_be_waited_for() -> None:
    async def main() -> MissedCall:
        agent = ProbeAgent(ring=2.0)
        asyncio.get_running_loop().call_soon(agent.missed, 486, "Busy Here")
        return await agent.until_missed()

    assert run_virtual(main()) == MissedCall(486, "Busy Here")
