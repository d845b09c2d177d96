"""The full-duplex in-process adapter: a :class:`PhoneAgent` in the same loop."""

from __future__ import annotations

from typing import Annotated

from voiceharness.adapter import Option
from voiceharness.agent import PhoneAgent  # noqa: TC001  the registry reads the types of options at run time
from voiceharness.capabilities import AdapterCapabilities, DtmfMethod, Timing
from voiceharness.errors import UnsupportedCapabilityError
from voiceharness.events import Digit, Interrupted
from voiceharness_adapters.in_process.session import InProcessAdapter

__all__ = ["InProcess"]


class InProcess(InProcessAdapter):
    """One call to a :class:`PhoneAgent` in the same loop.

    ``interrupt`` delivers ``Interrupted`` at the agent's door and removes no audio. The agent's own exception is the
    cause of the :class:`AgentCrashedError` that ``receive_audio`` raises, once what was sent before it has been taken.
    """

    name = "in_process"
    capabilities = AdapterCapabilities(
        interruption=True,
        dtmf=frozenset({"event", "inband"}),
        streaming_transcripts=True,
        directions=frozenset({"dial"}),
        rates=frozenset({8000, 16000, 48000}),
        virtual_time=True,
    )
    timing = Timing(paced_by="line", playout="queued")

    def __init__(
        self,
        agent: Annotated[PhoneAgent, Option("the agent that answers, or package.module:name of it")],
        *,
        rate: Annotated[int, Option("line rate: 8000, 16000 or 48000", "Hz")] = 8000,
        goodbye: Annotated[float, Option("time the agent may take to finish after the call has ended", "s")] = 1.0,
    ) -> None:
        super().__init__(rate=rate, goodbye=goodbye)
        self.agent = agent

    def _agent(self) -> PhoneAgent:
        return self.agent

    async def interrupt(self) -> None:
        """Tell the agent that it is interrupted."""
        self._connected("interrupt").deliver(Interrupted())

    async def send_dtmf(self, digits: str, *, method: DtmfMethod, tone_ms: int = 100, gap_ms: int = 100) -> None:
        """Deliver each digit when its key is pressed; return once the last one is."""
        if method != "event":
            raise UnsupportedCapabilityError(
                adapter=self.name, capability=f"dtmf:{method}", alternative="send keypad events (method: event)"
            )
        for index, digit in enumerate(digits):
            call = self._connected("send digits")
            if index:
                await call.clock.sleep((tone_ms + gap_ms) / 1000)
            call.deliver(Digit(digit, tone_ms / 1000, method))
