"""``voiceharness adapters check``: an adapter against the rules of the contract."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from voiceharness.cli.output import Progress, tell, tell_json
from voiceharness.clock import run_real, run_virtual
from voiceharness.errors import ConformanceError, OptionError
from voiceharness.registry import DIALLERS, HOSTS, create, load_adapter, load_host, plugins
from voiceharness.registry.settings import parse_settings
from voiceharness.testing import RULES, check_adapter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from voiceharness.adapter import VoiceAgentAdapter

__all__ = ["check_installed"]

BROKEN_RULE = 1


def check_installed(
    *, name: str, settings: Sequence[str], calls: int, patience: float, virtual: bool | None, as_json: bool
) -> int:
    """Check an installed adapter, each rule by calls of its own, and return 1 if one is broken."""
    adapter, options = load_adapter(name), parse_settings(settings, name)
    if name not in {plugin.name for plugin in plugins(HOSTS)}:
        raise OptionError(f"adapter {name!r} has no host that could serve the kit's agents; check it in Python")
    is_virtual = adapter.capabilities_for(options).virtual_time if virtual is None else virtual
    dialler = load_host(name, group=DIALLERS) if name in {plugin.name for plugin in plugins(DIALLERS)} else None

    def make(**target: Any) -> VoiceAgentAdapter:  # Any: what the host yields
        _refuse_unused(name, options, target)
        return create(name, {**options, **target})

    progress = Progress(len(RULES))
    broken: dict[str, str] = {}
    exempt: dict[str, str] = {}
    for rule in RULES:
        progress.call(rule)
        check = partial(check_adapter, make, load_host(name), dialler=dialler, patience=patience, calls=calls)
        try:
            exempt |= (run_virtual if is_virtual else run_real)(check(rules=[rule]))
        except ConformanceError as error:
            broken[rule] = error.detail
    progress.clear()
    outcomes = [_outcome(rule, broken, exempt) for rule in RULES]
    if as_json:
        clock = "virtual" if is_virtual else "real"
        tell_json({"format": "voiceharness-check/1", "adapter": name, "clock": clock, "rules": outcomes})
    else:
        for outcome in outcomes:
            tell(": ".join(filter(None, (f"  {outcome['outcome']:<15} {outcome['rule']}", outcome["detail"]))))
        kept = len(RULES) - len(broken) - len(exempt)
        tell(f"{name}: {kept} rules kept, {len(broken)} broken, {len(exempt)} do not apply")
    return BROKEN_RULE if broken else 0


def _refuse_unused(name: str, options: Mapping[str, object], target: Mapping[str, object]) -> None:
    """Refuse options that say whom to call: the check calls agents of its own."""
    if unused := [option for option in options if option in target]:
        raise OptionError(
            f"the check of adapter {name!r} serves agents of its own, and gives {', '.join(target)} itself; leave out "
            f"{', '.join(unused)}"
        )


def _outcome(rule: str, broken: Mapping[str, str], exempt: Mapping[str, str]) -> dict[str, str]:
    if rule in broken:
        return {"rule": rule, "outcome": "BROKEN", "detail": broken[rule]}
    if rule in exempt:
        return {"rule": rule, "outcome": "does not apply", "detail": exempt[rule]}
    return {"rule": rule, "outcome": "kept", "detail": ""}
