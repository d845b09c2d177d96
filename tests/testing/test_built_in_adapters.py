"""Every adapter that comes with the package keeps the contract, and what it declares is demonstrated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from voiceharness.clock import run_virtual
from voiceharness.registry import DIALLERS, HOSTS, create, load_adapter, load_host, plugins
from voiceharness.testing import RULES, check_adapter

if TYPE_CHECKING:
    from voiceharness.adapter import VoiceAgentAdapter

__all__: list[str] = []

OURS = [plugin.name for plugin in plugins(HOSTS) if plugin.source.startswith("voiceharness ")]
VIRTUAL = [name for name in OURS if load_adapter(name).capabilities.virtual_time]
LEAKS = next(rule for rule in RULES if "left behind" in rule)


def test_those_that_can_run_in_virtual_time_are_known() -> None:
    assert set(VIRTUAL) == {"in_process", "in_process_turns", "openai_agents", "realtime", "twilio"}


def test_every_adapter_of_ours_has_a_host() -> None:
    assert {plugin.name for plugin in plugins() if plugin.source.startswith("voiceharness ")} == set(OURS)


def test_whoever_can_be_dialled_and_has_a_host_has_a_dialler() -> None:
    dialled = {name for name in OURS if "be_dialled" in load_adapter(name).capabilities.directions}
    assert dialled <= {plugin.name for plugin in plugins(DIALLERS)}


@pytest.mark.parametrize("name", VIRTUAL)
def test_it_keeps_every_rule(name: str) -> None:
    exempt = run_virtual(check_adapter(_maker(name), load_host(name)))
    function = "its agent is a function, which does nothing by itself"
    assert set(exempt.values()) <= {"the line keeps time", "it cannot be dialled", function}
    assert (function in exempt.values()) == load_adapter(name).answers_only


@pytest.mark.parametrize("name", VIRTUAL)
def test_it_leaves_nothing_behind_after_two_hundred_calls(name: str) -> None:
    run_virtual(check_adapter(_maker(name), load_host(name), calls=200, rules=[LEAKS]))


def _maker(name: str) -> Any:  # Any: called with what a host yields
    def make(**target: Any) -> VoiceAgentAdapter:  # Any: as above
        return create(name, target)

    return make
