"""When the user starts to talk over the agent: after some heard speech, some heard words, or by seeded chance.

A trigger is judged on what was *heard*. A word counts when its audio has been heard, whoever supplied its text.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from voiceharness.errors import ScenarioError
from voiceharness.scenario.fields import Count, Probability, Seconds, Text, check_fields
from voiceharness.speech.text import normalize

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "AfterSeconds",
    "AfterText",
    "AfterWords",
    "AtRandom",
    "AtTime",
    "Trigger",
    "WordTrigger",
    "at_random",
    "at_time",
    "said",
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

    def __str__(self) -> str:
        return f"{self.seconds:g} s of the agent's speech"


@dataclass(frozen=True, slots=True)
class AfterWords:
    """At the end of the agent's ``words``-th heard word of its turn."""

    words: Count

    kind: ClassVar[str] = "words"

    def __post_init__(self) -> None:
        check_fields(self, "trigger")
        if self.words < 1:
            raise ScenarioError("a trigger waits for at least 1 word")

    def __str__(self) -> str:
        return f"{self.words} {'word' if self.words == 1 else 'words'} of the agent"

    def enough(self, heard: Sequence[str]) -> int | None:
        """Tell how many of the words heard so far are enough; None: not yet."""
        return self.words if len(heard) >= self.words else None


@dataclass(frozen=True, slots=True)
class AfterText:
    """At the end of these words, one after another in the agent's turn.

    Case, punctuation and how numbers are written do not matter.
    """

    said: Text

    kind: ClassVar[str] = "said"

    def __post_init__(self) -> None:
        check_fields(self, "trigger")
        if not normalize(self.said):
            raise ScenarioError(f"a trigger waits for words, and {self.said!r} has none")

    def __str__(self) -> str:
        return f"the words {self.said!r} of the agent"

    def enough(self, heard: Sequence[str]) -> int | None:
        """Tell with how many of the words heard so far these have been said; None: not yet."""
        ends = range(1, len(heard) + 1)
        return next((count for count in ends if _ends_with(normalize(" ".join(heard[:count])), self.said)), None)


def _ends_with(words: tuple[str, ...], said: str) -> bool:
    wanted = normalize(said)
    return words[-len(wanted) :] == wanted


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


WordTrigger: TypeAlias = AfterWords | AfterText
"""A trigger that waits for words, and so needs somebody who supplies them."""

Trigger: TypeAlias = AfterSeconds | AfterWords | AfterText | AtRandom | AtTime


def seconds(amount: float) -> AfterSeconds:
    """Trigger after some seconds of heard agent speech."""
    return AfterSeconds(amount)


def words(count: int) -> AfterWords:
    """Trigger at the end of the agent's n-th heard word."""
    return AfterWords(count)


def said(text: str) -> AfterText:
    """Trigger at the end of these words of the agent."""
    return AfterText(text)


def at_random(earliest: float = 0.3, latest: float = 2.0, *, probability: float = 1.0) -> AtRandom:
    """Trigger at a seeded random point of the agent's turn."""
    return AtRandom(earliest, latest, probability)


def at_time(time: float) -> AtTime:
    """Trigger at a time of the call, in seconds after the answer."""
    return AtTime(time)
