"""An agent for a process of its own."""

from __future__ import annotations

from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.signals import speech_like
from voiceharness.doubles import TurnTakingAgent

__all__ = ["agent", "clip"]


def clip(seconds: float, seed: int) -> AudioChunk:
    """Make sound that stands for speech."""
    return AudioChunk.from_samples(speech_like(seconds, seed=seed))


def agent() -> TurnTakingAgent:
    """Make an agent that greets, answers half a second after a turn, and stops 0.2 s into an interruption."""
    return TurnTakingAgent([clip(1.5, 5)], greeting=clip(0.5, 6), pause=0.3, thinking=0.2, stops_after=0.2)
