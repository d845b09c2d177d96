"""A scenario: what a user does on one call and what is expected of the agent, known in full before dialling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence  # noqa: TC003 (read at run time to describe the fields)
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Final, TypeAlias

from voiceharness.capabilities import Direction, Requirement
from voiceharness.errors import ScenarioError
from voiceharness.measure.finding import FindingKind  # noqa: TC001 (read at run time to describe the fields)
from voiceharness.scenario.checks import Ended, Expectation, Tone, judges_words, needs_the_end
from voiceharness.scenario.fields import (
    CHECKED,
    Count,
    Kind,
    PositiveSeconds,
    Text,
    check_fields,
    keep_tuples,
    parse_whole,
)
from voiceharness.scenario.line_profile import CLEAN_LINE, LineProfile
from voiceharness.scenario.place import Place  # noqa: TC001 (read at run time to describe the fields)
from voiceharness.scenario.steps import TELLS_THE_END, AnyStep, Check, Hangup, Line

__all__ = ["RATES", "LineProfile", "Rate", "Scenario"]

RATES: Final = (8000, 16000, 48000)
"""Rates in hertz that a line can run at."""

Rate: TypeAlias = Annotated[
    int, Kind("rate", "8000, 16000 or 48000 (hertz)", lambda value: value in RATES, parse_whole, str)
]

_BEFORE_ANSWER: Final[Mapping[str, Direction]] = {"reject": "be_dialled", "cancel": "dial"}


@dataclass(frozen=True, slots=True)
class Scenario:
    """One call, as data. Steps, tags and limits may be given as any sequence; they are kept as tuples.

    ``direction``: the harness dials the agent, or is dialled by it. ``connect_timeout`` bounds the way to the answer,
    ``max_duration`` the call after it: steps that it cuts off have failed, unless an expectation says that the call may
    end so. ``seed`` decides everything that is left to chance. ``limits`` judge the whole
    call, and so do the faults that are always looked for, except the kinds in ``allow``. ``voice``, ``synthesizer``
    and ``transcriber`` name what speaks and understands for the harness (None: the default). ``adapter`` and
    ``options`` say what to call when nothing else does. ``place`` is where the scenario stands in its file.

    A transcriber is used where a step or a limit needs words that the agent does not send. One that is named tells
    after any other call too what such an agent said, to be shown with its turns.

    Raises:
        ScenarioError: if a field holds something it cannot, or the steps contradict each other.
    """

    name: Text
    steps: Sequence[AnyStep]
    description: Text | None = None
    tags: Sequence[Text] = ()
    direction: Direction = "dial"
    connect_timeout: PositiveSeconds = 30.0
    max_duration: PositiveSeconds = 120.0
    seed: Count = 0
    rate: Rate = 8000
    line: LineProfile = CLEAN_LINE
    limits: Sequence[Expectation] = ()
    allow: Sequence[FindingKind] = ()
    voice: Text | None = None
    synthesizer: Text | None = None
    transcriber: Text | None = None
    adapter: Text | None = None
    options: Mapping[str, object] = field(default_factory=dict, hash=False)
    place: Place | None = field(default=None, compare=False, repr=False, metadata={CHECKED: False})

    kind: ClassVar[str] = "scenario"

    def __post_init__(self) -> None:
        keep_tuples(self, self.kind)
        check_fields(self, self.kind)
        object.__setattr__(self, "options", dict(self.options))  # a copy: the value stays as it was checked
        _check_order(self)
        _check_limits(self)
        _check_tones(self)

    @property
    def requires(self) -> tuple[Requirement, ...]:
        """Everything that the scenario needs of its adapter, each once, in the order of first need."""
        needs = [Requirement("direction", self.direction)]
        for step in self.steps:
            needs += step.requirements()
        needs += [TELLS_THE_END for limit in self.limits if needs_the_end(limit)]
        return tuple(dict.fromkeys(needs))

    @property
    def needs_words(self) -> bool:
        """Whether the agent's words are needed: of a transport with ``streaming_transcripts``, or of a transcriber."""
        return any(step.needs_words for step in self.steps) or any(judges_words(limit) for limit in self.limits)

    @property
    def ends_by_limit(self) -> bool:
        """Whether it is all right that the call goes on until ``max_duration``: an expectation of its end allows it."""
        expected = [step.expectation for step in self.steps if isinstance(step, Check)] + list(self.limits)
        return any(isinstance(each, Ended) and each.by in (None, "limit") for each in expected)


def _check_order(scenario: Scenario) -> None:
    """Refuse steps where they cannot stand: anything but a check once the user has ended the call."""
    if not scenario.steps:
        raise _error(scenario.place, "a scenario needs at least one step")
    over: AnyStep | None = None
    for index, step in enumerate(scenario.steps):
        if over is not None and not isinstance(step, Check):
            raise _error(step.place, f"step {index + 1} ({step.kind}) comes after {over.label}: the call is over")
        if isinstance(step, Line) and step.action in _BEFORE_ANSWER:
            _check_before_answer(scenario, step, index)
            over = step
        elif isinstance(step, Hangup):
            over = step


def _check_before_answer(scenario: Scenario, step: Line, index: int) -> None:
    direction = _BEFORE_ANSWER[step.action]
    if index > 0:
        raise _error(step.place, f"line: {step.action} comes before the answer, so it must be the first step")
    if scenario.direction != direction:
        raise _error(step.place, f"line: {step.action} goes with direction: {direction}, not {scenario.direction}")


def _check_limits(scenario: Scenario) -> None:
    kinds = [limit.kind for limit in scenario.limits]
    for kind in kinds:
        if kinds.count(kind) > 1:
            raise _error(scenario.place, f"limits: {kind} is given twice")


def _check_tones(scenario: Scenario) -> None:
    """Refuse to wait for a tone that no line at this rate can carry."""
    placed = [(step.expectation, step.place) for step in scenario.steps if isinstance(step, Check)]
    for wanted, place in [*placed, *((limit, scenario.place) for limit in scenario.limits)]:
        if isinstance(wanted, Tone) and wanted.hz >= scenario.rate / 2:
            carries = f"a line at {scenario.rate} Hz carries tones below {scenario.rate // 2} Hz"
            raise _error(place, f"tone: {carries}, not {wanted.hz:g} Hz")


def _error(place: Place | None, message: str) -> ScenarioError:
    return place.error(message) if place else ScenarioError(message)
