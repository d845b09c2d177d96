"""The rules of the adapter contract that can be seen from outside, each as a few small calls.

A rule raises what the bench's guard found, or a ``broken`` of its own. Its words complete "the rule that ...".
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from voiceharness.testing.bench import Bench
from voiceharness.testing.rules.abilities import can_do_what_it_declares, declares_itself
from voiceharness.testing.rules.leftovers import can_be_cancelled, leaves_nothing_behind
from voiceharness.testing.rules.life import (
    disconnects_at_any_time,
    has_one_call,
    refuses_unless_connected,
    survives_a_crash_of_the_agent,
    takes_a_call_of_the_agent,
    tells_the_end,
    wakes_who_waits,
)
from voiceharness.testing.rules.media import (
    carries_the_agent,
    carries_the_user,
    loses_nothing_when_cancelled,
    says_when_nothing_came,
)
from voiceharness.testing.rules.pacing import asks_for_frames_at_1x, loses_only_what_is_skipped, takes_a_burst

__all__ = ["OF_AGENTS_THAT_ACT", "RULES", "Rule"]

Rule: TypeAlias = Callable[[Bench], Awaitable[str | None]]
"""Checks one rule; returns why it does not apply to an adapter, if so."""

RULES: Final[dict[str, Rule]] = {
    "it declares a name, a rate, a direction and its clock": declares_itself,
    "nothing can be sent or received but between connect() and disconnect()": refuses_unless_connected,
    "one adapter object has one call": has_one_call,
    "disconnect() may come at any time, and more than once": disconnects_at_any_time,
    "the user's audio reaches the agent whole and in order": carries_the_user,
    "what the agent sends is received whole and in order": carries_the_agent,
    "send_audio() takes what it is given, and never paces": takes_a_burst,
    "audio that is lost on purpose takes nothing else with it": loses_only_what_is_skipped,
    "a transport that keeps time asks for each frame once, at 1x": asks_for_frames_at_1x,
    "receive_audio() returns None when nothing came in time": says_when_nothing_came,
    "the end of the call is told, after all that came before it": tells_the_end,
    "a failure of the agent ends the wait for it": survives_a_crash_of_the_agent,
    "disconnect() wakes whoever waits": wakes_who_waits,
    "every call can be cancelled at every await": can_be_cancelled,
    "a cancelled receive_audio() loses nothing": loses_nothing_when_cancelled,
    "what is declared can be done, and nothing else": can_do_what_it_declares,
    "a call that the agent places is a call like any other": takes_a_call_of_the_agent,
    "nothing is left behind": leaves_nothing_behind,
}
"""The rules by their words, in the order in which they are checked."""

OF_AGENTS_THAT_ACT: Final = frozenset(
    {
        "the user's audio reaches the agent whole and in order",
        "what the agent sends is received whole and in order",
        "audio that is lost on purpose takes nothing else with it",
        "the end of the call is told, after all that came before it",
        "a failure of the agent ends the wait for it",
        "a cancelled receive_audio() loses nothing",
        "what is declared can be done, and nothing else",
    }
)
"""Rules that need an agent which hears and speaks by itself; one that only answers (``answers_only``) has none."""
