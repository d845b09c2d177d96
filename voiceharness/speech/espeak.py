"""The espeak-ng synthesizer (extra ``espeak``): formant speech with exact word times, in more languages than English.

Not a default anywhere. The library is GPL-3.0, so it only ever runs in a process of its own, one per utterance
(:mod:`~voiceharness.speech.espeak_process`), which is also what makes it deterministic. Recognisers understand it
badly: good for timing tests, poor for agents that listen.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from voiceharness.audio.resample import resample
from voiceharness.errors import OptionError, ScenarioError, SpeechError
from voiceharness.events import Word
from voiceharness.speech.digits import spell_digits
from voiceharness.speech.extras import require_package
from voiceharness.speech.placing import cut_silence
from voiceharness.speech.words import is_word, map_words, spread_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voiceharness.speech.synthesis import Speech

__all__ = ["EspeakSynthesizer"]

_DEFAULT_VOICE = "en-us"
_WORDS_PER_MINUTE = 175
_TIMEOUT = 60.0
_TOKEN = re.compile(r"\S+")


class EspeakSynthesizer:
    """Speak with espeak-ng; ``voice`` is one of its names, with a variant if wanted: "en-us", "de", "en-us+f3"."""

    name = "espeak"

    def __init__(self, rate: int = 8000) -> None:
        """Raise MissingExtraError when espeakng-loader is not installed."""
        require_package("espeakng_loader", extra="espeak", what="the espeak synthesizer")
        self.rate = rate

    @cached_property
    def version(self) -> str:
        """The versions that decide the samples."""
        return " ".join(f"{package} {version(package)}" for package in ("espeakng-loader", "numpy"))

    def synthesize(self, text: str, *, voice: str | None = None, speed: float = 1.0) -> Speech:
        """Speak ``text`` at ``speed`` 0.5 to 2.0 of 175 words a minute.

        Raises:
            ScenarioError: nothing in the text can be spoken.
            OptionError: an unknown voice, or a speed out of range.
            SpeechError: the process failed.
        """
        if not 0.5 <= speed <= 2.0:
            raise OptionError(f"speed {speed} is out of range: the espeak synthesizer speaks at 0.5 to 2.0")
        if not is_word(text):
            raise ScenarioError(f"there is nothing to speak in {text!r}; to stay silent, use a silence step")
        spoken = spell_digits(text)
        events, rate, samples = _run(spoken, voice or _DEFAULT_VOICE, round(_WORDS_PER_MINUTE * speed))
        words = map_words(text.split(), _timed(spoken, events, rate, len(samples)))
        speech = cut_silence(resample(samples, rate, self.rate), words, self.rate)
        if speech is None:
            raise ScenarioError(
                f"the espeak synthesizer has no sound for {text!r} in voice {voice or _DEFAULT_VOICE!r}"
            )
        return speech


def _run(text: str, voice: str, words_per_minute: int) -> tuple[list[tuple[int, int]], int, NDArray[np.int16]]:
    """Speak in a fresh process; return (text position, sample) of each word event, the rate, the samples."""
    request = json.dumps({"text": text, "voice": voice, "words_per_minute": words_per_minute})
    script = Path(__file__).with_name("espeak_process.py")
    try:
        done = subprocess.run(
            [sys.executable, "-I", str(script)],
            input=request.encode(),
            capture_output=True,
            timeout=_TIMEOUT,
            check=True,
        )
    except subprocess.CalledProcessError as error:
        reason = error.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        if "unknown voice" in reason:
            raise OptionError(f"the espeak synthesizer has no voice {voice!r}") from error
        raise SpeechError(f"the espeak process failed on {text!r}: {reason or error}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SpeechError(f"the espeak process failed on {text!r}: {error}") from error
    header, _, pcm = done.stdout.partition(b"\n")
    fields = json.loads(header)
    return fields["words"], fields["rate"], np.frombuffer(pcm, "<i2")


def _timed(text: str, events: list[tuple[int, int]], rate: int, length: int) -> list[Word]:
    """Time the words of the text. Events name a position in it; one word may have several, or share its neighbour's."""
    tokens = [match for match in _TOKEN.finditer(text) if is_word(match[0])]
    starts: dict[int, float] = {}
    for position, sample in events:  # positions count characters from 1
        index = max((i for i, token in enumerate(tokens) if token.start() < position), default=0)
        starts.setdefault(index, sample / rate)
    words: list[Word] = []
    heads = sorted(starts.items())
    for (index, start), (following, end) in zip(heads, [*heads[1:], (len(tokens), length / rate)], strict=True):
        names = [token[0] for token in tokens[index:following]]
        exact = len(names) == 1
        words += [Word(names[0], start, end)] if exact else spread_words(names, start, end)
    return words
