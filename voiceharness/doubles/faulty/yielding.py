"""Talks that give way wrongly: not at all, too late, to the wrong sound, or not quite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from voiceharness.doubles.faulty.attendant import PAUSE, Item, Style, Talk
from voiceharness.doubles.turn_taking import Endpointer

if TYPE_CHECKING:
    from voiceharness.agent import AgentCall
    from voiceharness.audio.chunk import AudioChunk

__all__ = [
    "BurstsAfterStop",
    "CutsItself",
    "FlushesLate",
    "GoesOnAfterFlush",
    "IgnoresTheUser",
    "LosesFirstWords",
    "NeverFlushes",
    "StopsForGood",
    "TalksOverUser",
    "YieldsToListener",
]

_LATER: Final = 1.3
_SOON: Final = 0.02
_BEGUN: Final = 0.6
_ECHO_DB: Final = -50.0
_TOO_LONG: Final = 2.0


class NeverFlushes(Talk):
    """Stops to make its answer when the user speaks, but what was sent goes on being heard."""

    def interrupted(self) -> None:
        """Leave the queue as it is; the answer to the interruption comes after it."""


class FlushesLate(Talk):
    """Stops more than a second after it should."""

    _noticed = False

    def interrupted(self) -> None:
        """Stop later; what was noticed once is not noticed again."""
        if not self._noticed:
            self._noticed = True
            self.after(_LATER, "stop", self.stop)

    def stop(self) -> None:
        """Stop, and be ready to be interrupted again."""
        super().stop()
        self._noticed = False


class IgnoresTheUser(Talk):
    """Does not listen while it talks."""

    def listen(self, chunk: AudioChunk) -> None:
        """Listen when it is silent."""
        if not self.is_talking:
            super().listen(chunk)


class _SendsAfterStop(Talk):
    """Sends some of the old item after its flush."""

    seconds = 0.0

    def stop(self) -> None:
        """Stop, and go on a little."""
        item = self.item if self.is_talking else None
        heard = 0 if item is None else (self.clock.now_ns() - item.start_ns) * self.rate // 10**9
        super().stop()
        if item is not None:
            rest = item.sentence.samples[heard : heard + round(self.seconds * self.rate)]
            self.after(_SOON, "rest", lambda: self.send_samples(rest, item))


class GoesOnAfterFlush(_SendsAfterStop):
    """Sends half a second of the old answer after the flush."""

    seconds = 0.5


class BurstsAfterStop(_SendsAfterStop):
    """Sends a fraction of a syllable of the old answer after the flush."""

    seconds = 0.08


class LosesFirstWords(Talk):
    """Flushes when an answer has just begun, and sends the rest of it."""

    def send(self, item: Item) -> None:
        """Send the beginning, flush it, and go on as if it had been heard."""
        samples = item.sentence.samples
        begun = round(_BEGUN * self.rate)
        self.send_samples(samples[:begun], item)
        self.after(_SOON, "flush", self.call.flush)
        self.after(2 * _SOON, "rest", lambda: self.send_samples(samples[begun:], item))


class YieldsToListener(Talk):
    """Takes an "mm-hmm" for an interruption, and says something else after it."""

    stops_after = 0.12
    shortest_turn = 0.1
    thinking = 2.2


class StopsForGood(Talk):
    """Stops for a cough, and waits for a turn that never comes."""

    stops_after = 0.12

    def wait_for_user(self) -> None:
        """Wait for ever."""


class CutsItself(Talk):
    """Hears its own echo, takes it for the user, and stops."""

    def __init__(self, call: AgentCall, style: Style, seed: int) -> None:
        super().__init__(call, style, seed)
        self._sharp_ear = Endpointer(call.rate, pause=PAUSE, level_db=_ECHO_DB)

    def listen(self, chunk: AudioChunk) -> None:
        """Listen more closely than is good."""
        super().listen(chunk)
        self._sharp_ear.feed(chunk)
        if self.is_talking and self._sharp_ear.speaking_for >= self.stops_after:
            self.interrupted()


class TalksOverUser(Talk):
    """Begins to answer a user who speaks for long before the user is done."""

    _answered = False

    def listen(self, chunk: AudioChunk) -> None:
        """Answer in mid-utterance, and then not again."""
        for speech in self.ear.feed(chunk):
            if speech.offset is None:
                self.user_began()
                self._answered = False
            elif not self._answered:
                self.user_finished(speech)
        if not self.is_talking and not self._answered and self.ear.speaking_for >= _TOO_LONG:
            self._answered = True
            self.say(self.next_sentence())
