"""Check an adapter against the contract: the suite that ours pass, for the adapters of others too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voiceharness.errors import ConformanceError, VoiceHarnessError
from voiceharness.testing.bench import Bench
from voiceharness.testing.rules import RULES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from voiceharness.adapter import VoiceAgentAdapter
    from voiceharness.agent import Host
    from voiceharness.testing.rules import Rule

__all__ = ["check_adapter"]


async def check_adapter(
    make: Callable[..., VoiceAgentAdapter], host: Host, *, patience: float = 5.0, rules: Iterable[str] = RULES
) -> None:
    """Check an adapter by many short calls to an agent of the kit; run it in virtual or in real time.

    ``host`` serves the agent, and ``make`` gets what it yields as keyword arguments and returns a new adapter. No step
    may take longer than ``patience`` seconds. ``rules`` chooses among :data:`RULES`.

    Raises:
        ConformanceError: (an ``AssertionError``) names the rule that is broken, and what was seen.
    """
    bench = Bench(make, host, patience)
    for words in rules:
        await _check(bench, words, RULES[words])


async def _check(bench: Bench, words: str, rule: Rule) -> None:
    try:
        await rule(bench)
    except ConformanceError as error:
        raise ConformanceError(adapter=error.adapter, rule=words, detail=error.detail) from error.__cause__
    except VoiceHarnessError as error:
        name = getattr(bench.make, "name", "?")
        detail = f"it raised {type(error).__name__}: {error}"
        raise ConformanceError(adapter=name, rule=words, detail=detail) from error
