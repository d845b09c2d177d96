"""What a scenario is run against, by name: an adapter, its options, and an agent that is served to it."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from voiceharness.agent import hosted
from voiceharness.errors import OptionError
from voiceharness.registry.options import create, load_agent, make_agent, options_of
from voiceharness.registry.plugins import HOSTS, load_adapter, load_host, plugins
from voiceharness.scenario.run import no_virtual_time, run_call, run_to_result

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractAsyncContextManager

    from voiceharness.agent import PhoneAgent
    from voiceharness.scenario.result import CallResult, StepResult
    from voiceharness.scenario.run import SpeechEngines
    from voiceharness.scenario.scenario import Scenario

__all__ = ["DEFAULT_ADAPTER", "Target", "hosting_adapters", "no_host"]

DEFAULT_ADAPTER: Final = "in_process"

_NO_OPTIONS: Final[Mapping[str, object]] = MappingProxyType({})


def hosting_adapters() -> frozenset[str]:
    """Return the names of the adapters on whose transport an agent can be served."""
    return frozenset(plugin.name for plugin in plugins(HOSTS))


def no_host(adapter: str) -> OptionError:
    """Return the error of an agent that is to be served on the transport of an adapter without a host."""
    return OptionError(f"adapter {adapter!r} has no host that could serve an agent; reach it by its options")


@dataclass(frozen=True, slots=True)
class Target:
    """Whom to call, and how. ``adapter`` and each of ``options`` go before what a scenario says of itself.

    ``agent`` is served on the adapter's transport while the call lasts: an agent, a class or function that makes one,
    or ``package.module:name`` of either. What makes agents makes a new one for each call.
    """

    adapter: str | None = None
    options: Mapping[str, object] = field(default_factory=lambda: _NO_OPTIONS)
    agent: PhoneAgent | Callable[[], PhoneAgent] | str | None = None

    def adapter_for(self, scenario: Scenario) -> str:
        """Return the name of the adapter that reaches the agent for a scenario."""
        return self.adapter or scenario.adapter or DEFAULT_ADAPTER

    def options_for(self, scenario: Scenario) -> dict[str, object]:
        """Return the options of that adapter; a scenario's own are meant for the adapter that it names."""
        meant = self.adapter_for(scenario) == (scenario.adapter or DEFAULT_ADAPTER)
        return {**(scenario.options if meant else {}), **self.options}

    def call(
        self,
        scenario: Scenario,
        *,
        virtual: bool | None = None,
        speech: SpeechEngines | None = None,
        on_step: Callable[[StepResult], None] = lambda _step: None,
        keep: Callable[[CallResult], None] = lambda _result: None,
    ) -> CallResult:
        """Run a scenario against the target in an event loop of its own.

        ``virtual``: virtual or real time; None takes virtual time where the adapter declares it. ``keep`` is called
        once with the evidence, also when the run is interrupted.

        Raises:
            ConfigurationError: if the target cannot be made; nothing was dialled then.
        """
        name, options = self.adapter_for(scenario), self.options_for(scenario)
        adapter_class = load_adapter(name)
        if any(option.name == "rate" for option in options_of(adapter_class)):
            options = {"rate": scenario.rate, **options}
        capabilities = adapter_class.capabilities_for(options)
        if virtual and not capabilities.virtual_time:
            raise no_virtual_time(name, adapter_class.capabilities)
        host = self._host(name, options)

        async def call(keep: Callable[[CallResult], None]) -> None:
            async with host as reach:
                adapter = create(name, {**options, **reach})
                await run_call(scenario, adapter, capabilities=capabilities, speech=speech, on_step=on_step, keep=keep)

        return run_to_result(call, virtual=capabilities.virtual_time and virtual is not False, keep=keep)

    def _host(self, adapter: str, options: Mapping[str, object]) -> AbstractAsyncContextManager[Mapping[str, object]]:
        if self.agent is None:
            return nullcontext(_NO_OPTIONS)
        if adapter not in hosting_adapters():
            raise no_host(adapter)
        agent = load_agent(self.agent) if isinstance(self.agent, str) else make_agent(self.agent)
        return hosted(load_host(adapter), agent, options)
