"""What is probed: an adapter with its options, and the agent behind it."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from inspect import signature
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractAsyncContextManager
    from typing import TypeAlias

    from voiceharness.adapter import VoiceAgentAdapter
    from voiceharness.agent import PhoneAgent
    from voiceharness.capabilities import AdapterCapabilities

    AnyHost: TypeAlias = Callable[..., AbstractAsyncContextManager[Mapping[str, object]]]

__all__ = ["Subject"]

NO_OPTIONS: Final[Mapping[str, object]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Subject:
    """An adapter to probe.

    ``make`` makes it from its options, ``capabilities_for`` narrows what its class ``declares`` to them. ``host``
    serves an agent to it, and ``dialler`` one that calls it; either is given the options that it takes by name, where
    they decide how the adapter is reached. ``agent`` makes the user's own agent (None: the probe
    agent is served); without a host the options alone reach it. ``takes_rate``: its line rate is an option.
    """

    name: str
    make: Callable[[Mapping[str, object]], VoiceAgentAdapter]
    declares: AdapterCapabilities
    capabilities_for: Callable[[Mapping[str, object]], AdapterCapabilities]
    options: Mapping[str, object] = field(default_factory=lambda: NO_OPTIONS)
    host: AnyHost | None = None
    dialler: AnyHost | None = None
    agent: Callable[[], PhoneAgent] | None = None
    takes_rate: bool = False
    source: str = ""

    @property
    def is_ours(self) -> bool:
        """Whether the agent is the probe agent, whose every reaction is known."""
        return self.host is not None and self.agent is None

    def reach(self, probe_agent: PhoneAgent) -> AbstractAsyncContextManager[Mapping[str, object]]:
        """Serve the agent, and yield the options with which the adapter reaches it."""
        if self.host is None:
            return nullcontext(NO_OPTIONS)
        known = signature(self.host).parameters
        given = {name: value for name, value in self.options.items() if name in known}
        return self.host(probe_agent if self.agent is None else self.agent(), **given)
