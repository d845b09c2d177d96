"""Talks that end wrongly: too early, too late, or without noticing that they have ended."""

from __future__ import annotations

from typing import Final

from voiceharness.audio.chunk import AudioChunk
from voiceharness.doubles.faulty.attendant import FRAME, Talk

__all__ = ["CutsItsFarewell", "HangsUpInMidWord", "HangsUpLate", "SendsAfterTheEnd"]

_EARLY: Final = 0.8
_LATE: Final = 12.0
_AT_ONCE: Final = 0.2
_FRAMES: Final = 40


class CutsItsFarewell(Talk):
    """Hangs up when its farewell has been sent, not when it has been heard."""

    def hang_up_after_last_word(self, margin: float) -> None:
        """Hang up at once."""
        super().hang_up_after_last_word(_AT_ONCE - self.left)


class HangsUpInMidWord(Talk):
    """Hangs up while the user speaks, in the second turn."""

    def listen(self, chunk: AudioChunk) -> None:
        """Hang up instead of listening."""
        super().listen(chunk)
        if self.turns and self.ear.speaking_for >= _EARLY and not self.is_talking:
            self.call.hang_up("the agent thought that the call was over")


class HangsUpLate(Talk):
    """Stays on the line long after its farewell."""

    def hang_up_after_last_word(self, margin: float) -> None:
        """Hang up late."""
        super().hang_up_after_last_word(_LATE)


class SendsAfterTheEnd(Talk):
    """Does not notice that the user has hung up, and sends on."""

    async def after_the_end(self) -> None:
        """Send on for a while."""
        frame = AudioChunk(bytes(2 * round(FRAME * self.call.rate)), self.call.rate)
        for _ in range(_FRAMES):
            self.call.send(frame)
            await self.clock.sleep(FRAME)
