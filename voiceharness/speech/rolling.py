"""Understand speech while it goes on, with an engine that takes whole pieces.

Theory of operation. The utterance's audio grows in a window. Each ``INTERVAL`` of new audio the whole window is
transcribed again. A word is *stable* once two guesses in a row agree on it and on all words before it; it is then never
revised, and keeps the times of the guess that confirmed it. The window is cut at a pause that comes after ``EARLIEST``
seconds, and at its quietest place when it reaches :data:`~.pieces.LONGEST`: the words before the cut become stable, the
rest starts a new window. ``finish`` transcribes what is left and makes every word stable. Where an utterance begins and
ends is the caller's business: the line's ear decides.

Everything counts in samples fed, nothing in arrival times, so the updates are the same in virtual and in real time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from voiceharness.audio.chunk import AudioChunk
from voiceharness.errors import SpeechError
from voiceharness.speech.pieces import LONGEST, last_pause, quietest
from voiceharness.speech.text import normalize
from voiceharness.speech.transcription import TranscriptUpdate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voiceharness.events import Word
    from voiceharness.speech.transcription import Transcriber, Transcript

__all__ = ["EARLIEST", "INTERVAL", "RollingTranscription"]

INTERVAL = 0.4
"""Seconds of new audio between two guesses."""

EARLIEST = 2.0
"""Seconds of audio before a pause that may end a window."""


class RollingTranscription:
    """Feed the audio of an utterance, get updates; one object serves one utterance after another."""

    def __init__(self, transcriber: Transcriber, interval: float = INTERVAL) -> None:
        self._transcriber = transcriber
        self._interval = interval
        self._reset()

    def _reset(self) -> None:
        self._rate: int | None = None
        self._position = 0  # of the utterance's first sample, on its track
        self._start = 0  # of the window, in samples of the utterance
        self._window = np.zeros(0, np.int16)
        self._judged = 0  # samples of the window that the last guess knew
        self._settled: list[Word] = []  # stable words of windows that were cut off
        self._stable: list[Word] = []  # stable words of this window
        self._last_guess: Sequence[Word] = ()

    def feed(self, chunk: AudioChunk) -> TranscriptUpdate | None:
        """Take the next audio; return an update when enough has come for a new guess.

        Raises:
            SpeechError: the engine failed, or the rate changed inside an utterance.
        """
        if self._rate is None:
            self._rate, self._position = chunk.rate, chunk.position or 0
        if chunk.rate != self._rate:
            raise SpeechError(f"audio at {chunk.rate} Hz was fed into an utterance at {self._rate} Hz")
        self._window = np.concatenate([self._window, chunk.samples])
        if len(self._window) - self._judged < self._interval * self._rate:
            return None
        if (cut := self._place_to_cut(self._rate)) is not None:
            self._cut_window(cut)
        guess = self._guess()
        self._agree(guess.words)
        return self._update(guess, final=False)

    def finish(self) -> TranscriptUpdate:
        """End the utterance and return all that was said in it; the next chunk starts another."""
        guess = self._guess()
        self._stable = self._confirmed(guess.words, len(guess.words))
        update = self._update(guess, final=True)
        self._reset()
        return update

    def _place_to_cut(self, rate: int) -> int | None:
        if len(self._window) < LONGEST * rate:
            return last_pause(self._window, rate, EARLIEST)
        half = len(self._window) // 2
        return half + quietest(self._window[half:], rate)

    def _cut_window(self, cut: int) -> None:
        rest, self._window = self._window[cut:], self._window[:cut]
        self._stable = self._confirmed(words := self._guess().words, len(words))
        self._settled += self._stable
        self._start += cut
        self._window, self._stable, self._last_guess = rest, [], ()

    def _guess(self) -> Transcript:
        """Transcribe the window; words are timed from the start of the utterance."""
        self._judged = len(self._window)
        guess = self._transcriber.transcribe(AudioChunk.from_samples(self._window, self._rate or 8000))
        shift = self._start / (self._rate or 8000)
        return replace(guess, words=tuple(replace(w, start=w.start + shift, end=w.end + shift) for w in guess.words))

    def _agree(self, words: Sequence[Word]) -> None:
        """Make the words stable on which this guess and the last agree, from the first on."""
        agreed = 0
        for old, new in zip(self._last_guess, words, strict=False):
            if normalize(old.text) != normalize(new.text):
                break
            agreed += 1
        self._stable = self._confirmed(words, agreed)
        self._last_guess = words

    def _confirmed(self, words: Sequence[Word], count: int) -> list[Word]:
        """Return the stable words of this window, with those of ``words`` up to ``count`` added; times only grow."""
        known = len(self._stable)
        floor = self._stable[-1].end if self._stable else 0.0
        added = [replace(w, start=max(w.start, floor), end=max(w.end, floor)) for w in words[known:count]]
        return self._stable + added

    def _update(self, guess: Transcript, *, final: bool) -> TranscriptUpdate:
        rate = self._rate or 8000
        stable = (*self._settled, *self._stable)
        revisable = guess.words[len(self._stable) :]
        text = " ".join(word.text for word in (*stable, *revisable))
        heard = (self._start + len(self._window)) / rate
        return TranscriptUpdate(self._position, text, stable, heard, final)
