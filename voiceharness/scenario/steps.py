"""The steps of a scenario: frozen data, the same in Python and in YAML.

A step says what the *user* does, or what is expected of the agent. Audio flows on both sides all the time, whatever
step is being played. Durations are seconds. Exactly the fields named here can be written in YAML, under these names.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias

from voiceharness.audio.chunk import AudioChunk  # noqa: TC001 (read at run time to describe the fields)
from voiceharness.capabilities import CallAction, DtmfMethod, Requirement
from voiceharness.errors import ScenarioError
from voiceharness.measure.utterances import Intent  # noqa: TC001 (read at run time to describe the fields)
from voiceharness.scenario.checks import Expectation, judges_words, needs_the_end, require_words
from voiceharness.scenario.fields import (
    CHECKED,
    Digits,
    FileName,
    Milliseconds,
    PositiveNumber,
    PositiveSeconds,
    Seconds,
    Text,
    check_fields,
    fields_of,
    require_one,
)
from voiceharness.scenario.place import Place  # noqa: TC001 (read at run time to describe the fields)
from voiceharness.scenario.triggers import AfterSeconds, AfterText, AfterWords, AtTime, Trigger, WordTrigger

__all__ = [
    "TELLS_THE_END",
    "AnyStep",
    "Check",
    "Hangup",
    "Hear",
    "Interrupt",
    "Line",
    "Method",
    "Press",
    "Say",
    "Silence",
    "Step",
    "Via",
    "Wait",
]

Via: TypeAlias = Literal["auto", "speech", "signal", "both"]
Method: TypeAlias = Literal["auto"] | DtmfMethod

TELLS_THE_END = Requirement("tells_the_end")

_LABEL_LENGTH = 40


@dataclass(frozen=True, slots=True)
class Step:
    """One step. ``place`` is where it stands in its scenario file, if it came from one; it is no part of equality."""

    kind: ClassVar[str] = ""

    place: Place | None = field(default=None, compare=False, repr=False, kw_only=True, metadata={CHECKED: False})

    def __post_init__(self) -> None:
        check_fields(self, self.kind)
        self._check_rules()

    def _check_rules(self) -> None:
        """Raise ScenarioError where the fields contradict each other."""

    def requirements(self) -> tuple[Requirement, ...]:
        """Return what this step needs of its adapter, beyond carrying sound."""
        return ()

    @property
    def needs_words(self) -> bool:
        """Whether the agent's words are needed: of the transport, or of the line's transcriber."""
        return False

    @property
    def label(self) -> str:
        """The step in a few words, for reports: ``say "I'd like to book"``."""
        for name, described in fields_of(type(self)).items():
            value = getattr(self, name)
            if value == described.default:
                continue
            if isinstance(value, str):
                short = value if len(value) <= _LABEL_LENGTH else f"{value[: _LABEL_LENGTH - 1]}…"
                return f'{self.kind} "{short}"'
            if isinstance(value, int | float) and not isinstance(value, bool):
                return f"{self.kind} {name} {value:g}"
        return self.kind


@dataclass(frozen=True, slots=True)
class Hear(Step):
    """Listen for a turn of the agent, and expect it.

    It is one that begins after the user has ended, or in the last half second of the user's words if it then goes on
    for a second after them. A turn that the transport calls complete without a sound (a tool call alone) is one too:
    it ends the wait at once, and only ``text`` fails.

    ``text``: words that the turn, or what is heard of it, must contain in this order, ignoring case and punctuation.
    ``within``: the agent must be heard this soon after the step began (default: the adapter's ``response_timeout``).
    ``absent``: the agent must *not* be heard for ``within`` seconds. ``up_to``: go on once this much of the turn was
    heard, leaving the agent speaking. ``tail_silence`` and ``max_duration`` replace the adapter's own for this turn.
    """

    text: Text | None = None
    within: Seconds | None = None
    absent: bool = False
    up_to: AfterSeconds | AfterWords | AfterText | None = None
    tail_silence: PositiveSeconds | None = None
    max_duration: PositiveSeconds | None = None

    kind: ClassVar[str] = "hear"

    def _check_rules(self) -> None:
        require_words(self.text, self.kind)
        if not self.absent:
            return
        if self.within is None:
            raise ScenarioError("hear: absent needs within: for how long the agent is to stay silent")
        if any(value is not None for value in (self.text, self.up_to, self.tail_silence, self.max_duration)):
            raise ScenarioError("hear: absent expects no speech at all; only within has a place beside it")

    @property
    def needs_words(self) -> bool:
        """Whether text is expected, or the step ends after some words."""
        return self.text is not None or isinstance(self.up_to, WordTrigger)


@dataclass(frozen=True, slots=True)
class Say(Step):
    """Speak: ``text`` (synthesised before dialling), a sound ``file`` or ready ``audio``; exactly one of them.

    ``gap``: silence before the first sample, after the previous step. ``speed`` 2.0 is twice as fast; ``voice``
    (default: the scenario's) and ``speed`` are for text. In a scenario file, ``file`` is relative to that file; in
    Python, to the working directory. ``intent``: what the user means by it, a ``turn``, a ``backchannel`` ("mm-hmm")
    or a ``noise`` (a cough); the last two leave the agent the floor. None: judged by the text. The step ends at the
    user's offset.
    """

    text: Text | None = None
    file: FileName | None = None
    audio: AudioChunk | None = None
    voice: Text | None = None
    speed: PositiveNumber = 1.0
    gap: Seconds = 0.0
    intent: Intent | None = None

    kind: ClassVar[str] = "say"

    def _check_rules(self) -> None:
        require_one(self, self.kind, "text", "file", "audio")
        _voice_is_for_text(self, self.text, self.voice, self.speed)


@dataclass(frozen=True, slots=True)
class Press(Step):
    """Press keypad digits. ``method`` ``auto`` lets the engine take the best that the adapter declares.

    ``tone_ms`` is the length of each digit, ``gap_ms`` the pause between two. The step ends after the last digit.
    """

    digits: Digits
    method: Method = "auto"
    tone_ms: Milliseconds = 100
    gap_ms: Milliseconds = 100

    kind: ClassVar[str] = "press"

    def requirements(self) -> tuple[Requirement, ...]:
        """Return the DTMF method that is asked for, or any of them."""
        return (_dtmf(self.method),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupt(Step):
    """Talk over the agent: wait for its turn, and ``after`` some of it speak, play a file, or press digits.

    ``within``: the agent must be heard this soon (default: the adapter's ``response_timeout``). ``via``: ``auto``
    speaks, and adds the transport's own signal only where the harness does the turn detection; ``speech`` only speaks;
    ``signal`` sends the signal, and speaks where the adapter has none; ``both`` sends it and speaks, and refuses an
    adapter that has none. Digits interrupt by themselves, and go with ``auto`` alone. ``intent`` is that of ``say``: a
    cough and an "mm-hmm" must not stop the agent. The step ends at the user's offset; the agent's next answer is for
    the next ``hear``.
    """

    text: Text | None = field(default=None, kw_only=False)
    after: Trigger
    file: FileName | None = None
    audio: AudioChunk | None = None
    digits: Digits | None = None
    via: Via = "auto"
    method: Method = "auto"
    voice: Text | None = None
    speed: PositiveNumber = 1.0
    within: Seconds | None = None
    intent: Intent | None = None

    kind: ClassVar[str] = "interrupt"

    def _check_rules(self) -> None:
        require_one(self, self.kind, "text", "file", "audio", "digits")
        _voice_is_for_text(self, self.text, self.voice, self.speed)
        if self.digits is not None and self.via != "auto":
            raise ScenarioError("interrupt: digits interrupt by themselves; leave via out, or say something")
        if isinstance(self.after, AtTime) and self.within is not None:
            raise ScenarioError("interrupt: within is for waiting for the agent; a time of the call waits for nobody")
        if self.digits is None and self.method != "auto":
            raise ScenarioError("interrupt: method is for digits")

    @property
    def content(self) -> Say | Press:
        """What the user does at that point, as a step of its own."""
        if self.digits is not None:
            return Press(self.digits, self.method, place=self.place)
        return Say(self.text, self.file, self.audio, self.voice, self.speed, intent=self.intent, place=self.place)

    def requirements(self) -> tuple[Requirement, ...]:
        """Return what the content needs, and the signal if it was demanded."""
        signal = (Requirement("interruption"),) if self.via == "both" else ()
        return signal + self.content.requirements()

    @property
    def needs_words(self) -> bool:
        """Whether the trigger waits for words."""
        return isinstance(self.after, WordTrigger)


@dataclass(frozen=True, slots=True)
class Wait(Step):
    """Let time pass. What the agent says meanwhile is left for the next ``hear``."""

    seconds: Seconds

    kind: ClassVar[str] = "wait"


@dataclass(frozen=True, slots=True)
class Silence(Step):
    """Say nothing for a while and listen, as a user does who has gone quiet.

    Nothing is expected: what the agent says meanwhile ("are you still there?") belongs to this step, and the next
    ``hear`` waits for a new turn. To expect that the agent keeps silent, use ``hear`` with ``absent``.
    """

    seconds: Seconds

    kind: ClassVar[str] = "silence"


@dataclass(frozen=True, slots=True)
class Line(Step):
    """Do something to the call: hold, resume, transfer (to ``target``), reject or cancel it.

    ``reject`` refuses a call that the agent places, ``cancel`` gives up one that is not answered yet; both come first
    in a scenario.
    """

    action: CallAction
    target: Text | None = None

    kind: ClassVar[str] = "line"

    def _check_rules(self) -> None:
        if (self.action == "transfer") != (self.target is not None):
            raise ScenarioError("line: transfer, and only transfer, takes a target")

    def requirements(self) -> tuple[Requirement, ...]:
        """Return the call control that is asked for."""
        return (Requirement("call_control", self.action),)


@dataclass(frozen=True, slots=True)
class Hangup(Step):
    """Hang up. Nothing but checks can follow."""

    kind: ClassVar[str] = "hangup"


@dataclass(frozen=True, slots=True)
class Check(Step):
    """Judge the call up to here by one expectation."""

    expectation: Expectation

    kind: ClassVar[str] = "check"

    def requirements(self) -> tuple[Requirement, ...]:
        """Return that the end of the call is told, if the agent's hang-up is expected."""
        return (TELLS_THE_END,) if needs_the_end(self.expectation) else ()

    @property
    def needs_words(self) -> bool:
        """Whether the agent's words are judged."""
        return judges_words(self.expectation)

    @property
    def label(self) -> str:
        """The step in a few words, for reports."""
        return f"{self.kind} {self.expectation.kind}"


AnyStep: TypeAlias = Hear | Say | Interrupt | Press | Wait | Silence | Line | Hangup | Check


def _dtmf(method: Method) -> Requirement:
    return Requirement("dtmf", "" if method == "auto" else method)


def _voice_is_for_text(step: Step, text: str | None, voice: str | None, speed: float) -> None:
    if text is None and (voice is not None or speed != 1.0):
        raise ScenarioError(f"{step.kind}: voice and speed are for text")
