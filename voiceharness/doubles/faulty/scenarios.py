"""What a user does that brings a fault to light: scenarios of the same few moves, drawn by a seed."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Final, TypeAlias

from voiceharness.audio import signals
from voiceharness.audio.chunk import AudioChunk
from voiceharness.doubles.faulty.sounds import cough, murmur, question
from voiceharness.scenario.checks import Ended
from voiceharness.scenario.line_profile import CLEAN_LINE, LineProfile
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Check, Hangup, Hear, Interrupt, Press, Say, Silence
from voiceharness.scenario.triggers import AfterSeconds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from voiceharness.scenario.steps import AnyStep

    Move: TypeAlias = "Callable[[random.Random, int], list[AnyStep]]"

__all__ = [
    "ScenarioMaker",
    "adds_something",
    "asks",
    "asks_patiently",
    "clean_scenario",
    "coughs",
    "farewell",
    "hears_its_echo",
    "interrupts",
    "keys",
    "listens",
    "tones",
]

ScenarioMaker: TypeAlias = "Callable[[int, int], Scenario]"
"""Makes a scenario of a seed and a line rate."""

ECHO_DB: Final = -10.0
TONES_HZ: Final = (500.0, 700.0, 900.0, 1100.0)
_REST: Final = 4.7
"""Seconds in which the rest of an answer is heard; less than the attendant waits for a silent user."""

_GOODBYE: Final = (Hear(within=8.0), Check(Ended(by="agent", within=110.0)))


def _ask(draw: random.Random, rate: int) -> list[AnyStep]:
    return [_say(draw, question(draw, rate)), Hear()]


def _ask_patiently(draw: random.Random, rate: int) -> list[AnyStep]:
    return [_say(draw, question(draw, rate)), Hear(tail_silence=1.5)]


def _ask_long(draw: random.Random, rate: int) -> list[AnyStep]:
    return [_say(draw, question(draw, rate, (3.0, 3.5))), Hear()]


def _interrupt(draw: random.Random, rate: int) -> list[AnyStep]:
    spoken = question(draw, rate, (1.2, 1.8))
    return [_say(draw, question(draw, rate)), Interrupt(audio=spoken, after=_into(draw)), Hear()]


def _listen(draw: random.Random, rate: int) -> list[AnyStep]:
    sound = murmur(draw, rate)
    heard = Interrupt(audio=sound, after=_into(draw), intent="backchannel")
    return [_say(draw, question(draw, rate)), heard, Silence(_REST)]


def _cough(draw: random.Random, rate: int) -> list[AnyStep]:
    heard = Interrupt(audio=cough(draw, rate), after=_into(draw), intent="noise")
    return [_say(draw, question(draw, rate)), heard, Silence(_REST), _say(draw, question(draw, rate)), Hear()]


def _press(draw: random.Random, rate: int) -> list[AnyStep]:
    digits = "".join(draw.sample("0123456789", 5))
    return [Press(digits), Hear(), Silence(3.0)]


def _say(draw: random.Random, audio: AudioChunk) -> Say:
    return Say(audio=audio, gap=draw.uniform(0.2, 0.8), intent="turn")


def _into(draw: random.Random) -> AfterSeconds:
    return AfterSeconds(draw.uniform(0.9, 1.6))


def _made(
    name: str,
    moves: Sequence[Move],
    seed: int,
    rate: int,
    *,
    end: Sequence[AnyStep] = (),
    line: LineProfile = CLEAN_LINE,
) -> Scenario:
    draw = random.Random(f"{name} {seed}")
    steps: list[AnyStep] = [Hear()]
    for move in moves:
        steps += move(draw, rate)
    return Scenario(name, [*steps, *end], seed=seed, rate=rate, line=line)


def asks(seed: int, rate: int) -> Scenario:
    """Ask five questions, one after the other."""
    return _made("asks", [_ask] * 5, seed, rate)


def asks_patiently(seed: int, rate: int) -> Scenario:
    """Ask two questions, and wait after each answer whether that was all of it."""
    return _made("asks patiently", [_ask_patiently] * 2, seed, rate)


def adds_something(seed: int, rate: int) -> Scenario:
    """Speak for a long time, twice."""
    return _made("adds something", [_ask, _ask_long, _ask_long], seed, rate)


def interrupts(seed: int, rate: int) -> Scenario:
    """Interrupt two answers."""
    return _made("interrupts", [_interrupt, _interrupt], seed, rate)


def listens(seed: int, rate: int) -> Scenario:
    """Say "mm-hmm" while the agent speaks."""
    return _made("listens", [_listen, _ask], seed, rate)


def coughs(seed: int, rate: int) -> Scenario:
    """Cough while the agent speaks."""
    return _made("coughs", [_cough, _ask], seed, rate)


def keys(seed: int, rate: int) -> Scenario:
    """Press a number."""
    return _made("keys", [_ask, _press], seed, rate)


def tones(seed: int, rate: int) -> Scenario:
    """Say tones, each of which tells its answer from the others."""
    draw = random.Random(seed)
    said = [AudioChunk.from_samples(signals.tone(hz, 1.0, rate, level_db=-12), rate) for hz in TONES_HZ]
    steps = [step for tone in said for step in (Say(audio=tone, gap=draw.uniform(0.2, 0.8), intent="turn"), Hear())]
    return Scenario("tones", [Hear(), *steps, Hangup()], seed=seed, rate=rate)


def farewell(seed: int, rate: int) -> Scenario:
    """Ask something, then say nothing more: the agent says goodbye and hangs up."""
    return _made("farewell", [_ask], seed, rate, end=_GOODBYE)


def hears_its_echo(seed: int, rate: int) -> Scenario:
    """Ask on a line that sends the agent's own sound back to it."""
    return _made("hears its echo", [_ask] * 2, seed, rate, line=LineProfile(echo=ECHO_DB))


def clean_scenario(seed: int, rate: int = 8000, *, line: LineProfile = CLEAN_LINE) -> Scenario:
    """Do five things of all that users do; the call is ended by the user or, after a silence, by the agent."""
    draw = random.Random(seed)
    moves = draw.choices([_ask, _ask_long, _interrupt, _listen, _cough, _press], k=5)
    end: Sequence[AnyStep] = _GOODBYE if draw.random() < 0.3 else (Hangup(),)
    return _made("a clean call", moves, seed, rate, end=end, line=line)
