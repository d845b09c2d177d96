"""Check an adapter against the contract: the suite that ours pass, for the adapters of others too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voiceharness.errors import ConfigurationError, ConformanceError, VoiceHarnessError
from voiceharness.testing.bench import Bench
from voiceharness.testing.rules import OF_AGENTS_THAT_ACT, RULES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from voiceharness.adapter import VoiceAgentAdapter
    from voiceharness.agent import Host
    from voiceharness.testing.rules import Rule

__all__ = ["check_adapter"]


async def check_adapter(
    make: Callable[..., VoiceAgentAdapter],
    host: Host,
    *,
    dialler: Host | None = None,
    patience: float = 5.0,
    calls: int = 20,
    rules: Iterable[str] = RULES,
) -> dict[str, str]:
    """Check an adapter by many short calls to an agent of the kit; run it in virtual or in real time.

    ``host`` serves the agent, and ``make`` gets what it yields as keyword arguments and returns a new adapter. No step
    may take longer than ``patience`` seconds. ``dialler`` serves an agent that calls the adapter, for one that can be
    dialled. ``calls``: after so many of them nothing may be left behind. ``rules`` chooses among :data:`RULES`.

    Returns the rules that do not apply to the adapter, each with the reason.

    Raises:
        ConformanceError: (an ``AssertionError``) names the rule that is broken, and what was seen.
        ConfigurationError: if the adapter cannot be made, or its host cannot serve here.
    """
    bench = Bench(make, host, patience, calls, dialler)
    reasons = {words: await _check(bench, words, RULES[words]) for words in rules}
    return {words: reason for words, reason in reasons.items() if reason is not None}


async def _check(bench: Bench, words: str, rule: Rule) -> str | None:
    try:
        if words in OF_AGENTS_THAT_ACT and await bench.answers_only():
            return "its agent is a function, which does nothing by itself"
        return await rule(bench)
    except ConformanceError as error:
        raise ConformanceError(adapter=error.adapter, rule=words, detail=error.detail) from error.__cause__
    except ConfigurationError:
        raise  # what it was made with, or what is installed, says nothing about the adapter
    except Exception as error:  # supervision point: adapters and hosts of others raise anything at all
        name = getattr(bench.make, "name", "?")
        known = isinstance(error, VoiceHarnessError)
        who, what = ("it", "") if known else ("it, or its host,", ", which is no error of voiceharness's")
        detail = f"{who} raised {type(error).__name__}{what}: {error}"
        raise ConformanceError(adapter=name, rule=words, detail=detail) from error
