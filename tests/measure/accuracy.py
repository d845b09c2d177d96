"""Seeded events whose true latencies are known, and the errors with which they are measured.

Truth is the clean source, placed at a known position: its edges are the first and last 5 ms above its peak less 35 dB.
What is measured went through mu-law and the line's playout. Errors are absolute, in seconds, one per event.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from tests.measure.calls import Call, speechlike, spoken, tone
from voiceharness.audio.edges import speech_edges
from voiceharness.measure import measure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Source = Callable[[random.Random], "NDArray[np.int16]"]

__all__ = ["SOURCES", "p95", "response_errors", "stop_errors"]

RATE = 8000
TURNS = 4
AGENT_SPEECH = ("agent_greeting", "agent_menu", "agent_offer", "agent_confirm", "agent_goodbye")
USER_SPEECH = ("user_hello", "user_question", "user_tuesday", "user_thanks", "user_book", "user_wait", "user_stop")


def _tones(draw: random.Random) -> NDArray[np.int16]:
    return tone(draw.uniform(200, 3000), draw.uniform(0.8, 2.5), draw.uniform(-15, -3))


def _speechlike(draw: random.Random) -> NDArray[np.int16]:
    return speechlike(draw.uniform(0.8, 2.5), draw.uniform(-25, -15), draw.randrange(1000))


def _spoken(draw: random.Random) -> NDArray[np.int16]:
    return spoken(draw.choice(AGENT_SPEECH))


SOURCES: dict[str, Source] = {"tones": _tones, "speech-like noise": _speechlike, "recorded speech": _spoken}


def response_errors(source: Source, events: int, seed: int = 1) -> list[float]:
    """Errors of the response latency: user and agent take turns, at random distances."""
    draw = random.Random(seed)
    errors: list[float] = []
    while len(errors) < events:
        call, at, truth = Call(60), 0.5, []
        for _ in range(TURNS):
            asked, answer, latency = spoken(draw.choice(USER_SPEECH)), source(draw), draw.uniform(0.05, 2.5)
            call.user(at, asked)
            start = round((at + _length(asked) + latency) * RATE)
            call.agent(start / RATE, answer)
            onset = start + _edges(answer)[0]
            truth.append((onset - round(at * RATE)) / RATE - _length(asked))
            at = (start + len(answer)) / RATE + draw.uniform(1, 2)
        measured = measure(call.record()).latencies
        assert len(measured) == TURNS
        errors += [abs(_known(found) - right) for found, right in zip(measured, truth, strict=True)]
    return errors[:events]


def stop_errors(source: Source, events: int, seed: int = 2) -> list[float]:
    """Errors of the stop latency: the user interrupts at a random place, the agent flushes some time later."""
    draw = random.Random(seed)
    errors: list[float] = []
    while len(errors) < events:
        sound = source(draw)
        onset, offset = _edges(sound)
        barge_in = draw.randint(onset + 800, offset - 4000) if offset - onset > 5000 else onset + 400
        flush = min(barge_in + draw.randint(800, 4800), len(sound) - 400)
        call = Call(15).agent(1, sound).barge_in(1 + barge_in / RATE, spoken("user_wait")).flush(1 + flush / RATE)
        metrics = measure(call.record())
        (found,) = metrics.barge_ins
        if found.phase == "speaking":  # else it fell into a pause long enough to be a silence of the agent
            errors.append(abs(_known(found.stop_latency) - (_edges(sound[:flush])[1] - barge_in) / RATE))
    return errors


def p95(errors: Sequence[float]) -> float:
    """The error that 95 % of the events stay within, in milliseconds."""
    return 1000 * sorted(errors)[int(0.95 * len(errors))]


def _edges(sound: NDArray[np.int16]) -> tuple[int, int]:
    edges = speech_edges(sound, RATE)
    assert edges is not None
    return edges.onset, edges.offset


def _length(sound: NDArray[np.int16]) -> float:
    onset, offset = _edges(sound)
    return (offset - onset) / RATE


def _known(figure: float | None) -> float:
    assert figure is not None
    return figure
