"""What is probed: an adapter with its options, and the agent behind it."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from voiceharness.agent import hosted
from voiceharness.doubles.probe_agent import ProbeAgent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractAsyncContextManager

    from voiceharness.adapter import VoiceAgentAdapter
    from voiceharness.agent import Host, PhoneAgent
    from voiceharness.capabilities import AdapterCapabilities

__all__ = ["Subject"]

NO_OPTIONS: Final[Mapping[str, object]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Subject:
    """An adapter to probe.

    ``make`` makes it from its options, ``capabilities_for`` narrows what its class ``declares`` to them. ``host``
    serves an agent to it, and ``dialler`` one that calls it; either is given the options that it takes by name, where
    they decide how the adapter is reached. ``agent`` makes the user's own agent (None: the probe agent is served);
    without a host the options alone reach it. ``takes_rate``: its line rate is an option. ``answers_only``: its agent
    is a function, which says nothing before the user has spoken.
    """

    name: str
    make: Callable[[Mapping[str, object]], VoiceAgentAdapter]
    declares: AdapterCapabilities
    capabilities_for: Callable[[Mapping[str, object]], AdapterCapabilities]
    options: Mapping[str, object] = field(default_factory=lambda: NO_OPTIONS)
    host: Host | None = None
    dialler: Host | None = None
    agent: Callable[[], PhoneAgent] | None = None
    takes_rate: bool = False
    answers_only: bool = False
    source: str = ""

    @property
    def is_ours(self) -> bool:
        """Whether the agent is the probe agent, whose every reaction is known."""
        return self.host is not None and self.agent is None

    def reach(
        self, probe_agent: PhoneAgent, *, rate: int | None = None
    ) -> AbstractAsyncContextManager[Mapping[str, object]]:
        """Serve the agent to a line of this rate, and yield the options with which the adapter reaches it."""
        if self.host is None:
            return nullcontext(NO_OPTIONS)
        options = self.options if rate is None else {**self.options, "rate": rate}
        return hosted(self.host, probe_agent if self.agent is None else self.agent(), options)

    async def declares_here(self) -> AdapterCapabilities:
        """Return what the adapter declares for the options with which it is reached."""
        async with self.reach(ProbeAgent()) as target:
            options = {**self.options, **target}
            self.make(options)
            return self.capabilities_for(options)
