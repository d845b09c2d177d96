"""When the user starts to talk over the agent: after some heard speech, after some heard words, or by seeded chance.

A trigger is judged on what was *heard*. A word counts when its audio has been heard, whoever supplied its text.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from voiceharness.errors import ScenarioError
from voiceharness.scenario.fields import Count, Probability, Seconds, check_fields

__all__ = [
    "AfterSeconds",
    "AfterWords",
    "AtRandom",
    "AtTime",
    "Trigger",
    "at_random",
    "at_time",
    "seconds",
    "words",
]


@dataclass(frozen=True, slots=True)
class AfterSeconds:
    """After ``seconds`` of the agent's turn, counted from its heard onset."""

    seconds: Seconds

    kind: ClassVar[str] = "seconds"

    def __post_init__(self) -> None:
        check_fields(self, "trigger")


@dataclass(frozen=True, slots=True)
class AfterWords:
    """At the end of the agent's ``words``-th heard word of its turn."""

    words: Count

    kind: ClassVar[str] = "words"

    def __post_init__(self) -> None:
        check_fields(self, "trigger")
        if self.words < 1:
            raise ScenarioError("a trigger waits for at least 1 word")


@dataclass(frozen=True, slots=True)
class AtRandom:
    """At a seeded random point between ``earliest`` and ``latest`` seconds of the agent's turn.

    With ``probability`` below 1 some turns are left alone: they are then heard to their end.
    """

    earliest: Seconds = 0.3
    latest: Seconds = 2.0
    probability: Probability = 1.0

    kind: ClassVar[str] = "random"

    def __post_init__(self) -> None:
        check_fields(self, "random trigger")
        if self.latest < self.earliest:
            raise ScenarioError(
                f"random trigger: latest ({self.latest:g} s) comes before earliest ({self.earliest:g} s)"
            )

    def draw(self, seed: int, step: int) -> AfterSeconds | None:
        """Choose the point for one step of a scenario, or None to leave this turn alone.

        The choice depends on the seed and the step's index alone: never on the order in which scenarios run, nor on
        what other steps drew.
        """
        # A string seed is hashed with SHA-512, so neighbouring seeds have nothing in common.
        chance = random.Random(f"voiceharness interrupt {seed} {step}")
        strikes = chance.random() < self.probability
        point = self.earliest + (self.latest - self.earliest) * chance.random()
        return AfterSeconds(point) if strikes else None


@dataclass(frozen=True, slots=True)
class AtTime:
    """At a time of the call, in seconds after the answer, whatever the agent does then.

    If the agent is not heard speaking at that time, the result says so: the user spoke, and nobody was interrupted.
    """

    time: Seconds

    kind: ClassVar[str] = "time"

    def __post_init__(self) -> None:
        check_fields(self, "trigger")


Trigger: TypeAlias = AfterSeconds | AfterWords | AtRandom | AtTime


def seconds(amount: float) -> AfterSeconds:
    """Trigger after some seconds of heard agent speech."""
    return AfterSeconds(amount)


def words(count: int) -> AfterWords:
    """Trigger at the end of the agent's n-th heard word."""
    return AfterWords(count)


def at_random(earliest: float = 0.3, latest: float = 2.0, *, probability: float = 1.0) -> AtRandom:
    """Trigger at a seeded random point of the agent's turn."""
    return AtRandom(earliest, latest, probability)


def at_time(time: float) -> AtTime:
    """Trigger at a time of the call, in seconds after the answer."""
    return AtTime(time)
