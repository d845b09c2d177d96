"""What a scenario can expect of a call as a whole, as data.

The same values serve as a ``check`` step, which judges the call up to where it stands, and as the ``limits`` of a
scenario, which judge all of it. For latencies, ``at_most`` is about the latest one in a check step and about every one
in a limit; a percentile is always about all of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence  # noqa: TC003 (read at run time to describe the fields)
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from voiceharness.errors import ScenarioError
from voiceharness.events import Party  # noqa: TC001 (read at run time to describe the fields)
from voiceharness.measure.finding import FindingKind  # noqa: TC001 (read at run time to describe the fields)
from voiceharness.measure.heard_tones import LOWEST_HZ, SHORTEST_TONE
from voiceharness.scenario.fields import (
    Count,
    Digits,
    Hertz,
    PositiveSeconds,
    Seconds,
    Text,
    check_fields,
    keep_tuples,
)
from voiceharness.speech.text import normalize

__all__ = [
    "Answered",
    "Dtmf",
    "Ended",
    "EndedBy",
    "Expectation",
    "LongestSilence",
    "NoFault",
    "Overlap",
    "ResponseLatency",
    "StopLatency",
    "Tone",
    "Transcript",
    "judges_words",
    "needs_the_end",
    "require_words",
]

EndedBy: TypeAlias = Literal["agent", "user", "limit"]


@dataclass(frozen=True, slots=True)
class ResponseLatency:
    """The agent answers soon: from the user's offset to the agent's onset, in seconds.

    A turn that the agent never answered has no latency.
    """

    at_most: Seconds | None = None
    p50: Seconds | None = None
    p95: Seconds | None = None

    kind: ClassVar[str] = "response_latency"

    def __post_init__(self) -> None:
        check_fields(self, self.kind)
        _require_any(self, self.kind, "at_most", "p50", "p95")


@dataclass(frozen=True, slots=True)
class StopLatency:
    """The agent stops soon when interrupted: from the barge-in to the last heard audio of that turn, in seconds."""

    at_most: Seconds | None = None
    p50: Seconds | None = None
    p95: Seconds | None = None

    kind: ClassVar[str] = "stop_latency"

    def __post_init__(self) -> None:
        check_fields(self, self.kind)
        _require_any(self, self.kind, "at_most", "p50", "p95")


@dataclass(frozen=True, slots=True)
class Overlap:
    """Both parties talk at once for at most this long in total, in seconds."""

    at_most: Seconds

    kind: ClassVar[str] = "overlap"

    def __post_init__(self) -> None:
        check_fields(self, self.kind)


@dataclass(frozen=True, slots=True)
class LongestSilence:
    """No silence of both parties lasts longer than this, in seconds."""

    at_most: Seconds

    kind: ClassVar[str] = "silence"

    def __post_init__(self) -> None:
        check_fields(self, self.kind)


@dataclass(frozen=True, slots=True)
class Dtmf:
    """These keypad digits, and no others, were received from one party."""

    digits: Digits
    by: Party = "agent"

    kind: ClassVar[str] = "dtmf"

    def __post_init__(self) -> None:
        check_fields(self, self.kind)


@dataclass(frozen=True, slots=True)
class Transcript:
    """The heard words of one party contain, lack or match something, ignoring case and punctuation.

    ``matches`` is a regular expression, searched in the words as they were written, ignoring case.
    """

    contains: Text | None = None
    lacks: Text | None = None
    matches: Text | None = None
    by: Party = "agent"

    kind: ClassVar[str] = "transcript"

    def __post_init__(self) -> None:
        check_fields(self, self.kind)
        _require_any(self, self.kind, "contains", "lacks", "matches")
        for phrase in (self.contains, self.lacks):
            require_words(phrase, self.kind)
        if self.matches is not None:
            try:
                re.compile(self.matches)
            except re.error as error:
                message = f"{self.kind}: {self.matches!r} is no regular expression ({error})"
                raise ScenarioError(message) from error


@dataclass(frozen=True, slots=True)
class Tone:
    """The agent is heard with a tone of this frequency, and of this duration where one is given.

    A tone that was made at one sample rate and treated as if it were at another is heard at another frequency, and for
    another time: the check then names the factor, and the two rates. Tones of 0.1 s and more are found, also two at
    once, and in noise at least 3 dB below them; of several, one as wanted is enough.
    """

    hz: Hertz
    duration: PositiveSeconds | None = None
    hz_tolerance: Hertz = 1.0
    duration_tolerance: PositiveSeconds = 0.02

    kind: ClassVar[str] = "tone"

    def __post_init__(self) -> None:
        check_fields(self, self.kind)
        if self.hz < LOWEST_HZ:
            raise ScenarioError(f"tone: hz takes {LOWEST_HZ:g} Hz or more, not {self.hz:g} Hz")
        if self.duration is not None and self.duration < SHORTEST_TONE:
            raise ScenarioError(f"tone: duration takes {SHORTEST_TONE:g} s or more, not {self.duration:g} s")


@dataclass(frozen=True, slots=True)
class Answered:
    """The call was answered, in time and with this code (a SIP status, for example) where one is given."""

    within: Seconds | None = None
    code: Count | None = None

    kind: ClassVar[str] = "answered"

    def __post_init__(self) -> None:
        check_fields(self, self.kind)


@dataclass(frozen=True, slots=True)
class Ended:
    """The call ended, by whom, and within how many seconds after the answer.

    ``cause`` is the transport's own: its code or its reason.
    """

    by: EndedBy | None = None
    within: Seconds | None = None
    cause: Text | None = None

    kind: ClassVar[str] = "ended"

    def __post_init__(self) -> None:
        check_fields(self, self.kind)


@dataclass(frozen=True, slots=True)
class NoFault:
    """Nothing of these kinds was found in the call; with none named, nothing whose severity is a fault."""

    kinds: Sequence[FindingKind] = ()

    kind: ClassVar[str] = "no_fault"

    def __post_init__(self) -> None:
        keep_tuples(self, self.kind)
        check_fields(self, self.kind)


Expectation: TypeAlias = (
    ResponseLatency | StopLatency | Overlap | LongestSilence | Dtmf | Transcript | Tone | Answered | Ended | NoFault
)


def judges_words(expectation: Expectation) -> bool:
    """Say whether an expectation is about the agent's words."""
    return isinstance(expectation, Transcript) and expectation.by == "agent"


def needs_the_end(expectation: Expectation) -> bool:
    """Say whether an expectation can only be judged where the transport tells that the agent has hung up."""
    return isinstance(expectation, Ended) and expectation.by == "agent"


def require_words(phrase: str | None, what: str) -> None:
    """Check that a phrase to be found, if one is given, has a word in it.

    Raises:
        ScenarioError: if there is nothing to find.
    """
    if phrase is not None and not normalize(phrase):
        raise ScenarioError(f"{what}: there is no word in {phrase!r}")


def _require_any(value: object, what: str, *names: str) -> None:
    if all(getattr(value, name) is None for name in names):
        raise ScenarioError(f"{what} takes at least one of {', '.join(names)}")
