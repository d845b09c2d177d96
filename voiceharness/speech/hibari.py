"""The embedded synthesizer: hibari-tts, a small neural English voice that needs no network (extra ``speech``).

Two things are added to the library. The noise component is seeded, so the same text gives the same samples on one
machine and one set of versions. And the model's own duration of each phoneme is made an output of its graph, which
leaves the audio bit-identical and gives the time of each word: starts lie within -40 to +30 ms of the sound.
Where a model has no such node, words are spread over the audio and marked estimated.

The voice starts and ends with some 0.3 s of silence, which is cut.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from voiceharness.audio.resample import resample
from voiceharness.errors import OptionError, ScenarioError, SpeechError
from voiceharness.events import Word
from voiceharness.speech.digits import spell_digits
from voiceharness.speech.extras import require_package
from voiceharness.speech.placing import cut_silence
from voiceharness.speech.words import is_word, map_words, spread_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from voiceharness.speech.synthesis import Speech

__all__ = ["HibariSynthesizer"]

_RATE = 24_000
_DEFAULT_VOICE = "heart"
_SEED = 0
_DURATIONS = b"/Clip_output_0"  # the graph node that holds one duration per phoneme
_DURATION_UNIT = 0.025
_LEAD = 0.075  # phonemes sound this much before their place in the durations
_LONGEST = 400  # phonemes the model takes at once
_PAUSES = frozenset(' .,;:!?—…"“”()')
_CLAUSE_END = re.compile(r"(?<=[,;:—]) +")


@dataclass(frozen=True, slots=True)
class _Reading:
    """A sentence as the model gets it; ``spans`` are the spoken words, as ranges in ``phonemes``."""

    written: tuple[str, ...]
    phonemes: str
    spans: tuple[tuple[str, int, int], ...]


class HibariSynthesizer:
    """Speak English with the voice that ships inside hibari-tts; other voices only if they are already on this disk.

    A model is loaded at the first use of its voice (about 0.7 s) and kept.
    """

    name = "hibari"

    def __init__(self, rate: int = 8000) -> None:
        """Raise MissingExtraError when hibari-tts is not installed."""
        require_package("hibari", extra="speech", what="the hibari synthesizer")
        self.rate = rate
        self._voices: dict[str, _Voice] = {}

    @cached_property
    def version(self) -> str:
        """The versions that decide the samples."""
        packages = ("hibari-tts", "onnxruntime", "numpy")
        return " ".join(f"{package} {version(package)}" for package in packages)

    def synthesize(self, text: str, *, voice: str | None = None, speed: float = 1.0) -> Speech:
        """Speak ``text`` at ``speed`` 0.5 to 2.0; which digits are read one by one is told in ``speech.digits``.

        Raises:
            ScenarioError: nothing in the text can be spoken, or a word of it cannot.
            OptionError: an unknown voice, one that would need a download, or a speed out of range.
            SpeechError: the library is not the version it is pinned to.
        """
        if not 0.5 <= speed <= 2.0:
            raise OptionError(f"speed {speed} is out of range: the hibari synthesizer speaks at 0.5 to 2.0")
        if not is_word(text):
            raise ScenarioError(f"there is nothing to speak in {text!r}; to stay silent, use a silence step")
        model = self._voice(voice or _DEFAULT_VOICE)
        try:
            samples, words = model.speak(text, speed)
        except AttributeError as error:
            raise SpeechError(f"{self.version} is not the version this needs; reinstall the extra: {error}") from error
        speech = cut_silence(resample(samples, _RATE, self.rate), words, self.rate)
        if speech is None:
            raise SpeechError(f"the hibari synthesizer returned silence for {text!r}")
        return speech

    def _voice(self, name: str) -> _Voice:
        if name not in self._voices:
            self._voices[name] = _Voice(_model_file(name), name)
        return self._voices[name]


class _Voice:
    """One loaded model with the library's text reader in front."""

    def __init__(self, model_file: Path, name: str) -> None:
        from hibari import Hibari

        model = model_file.read_bytes()
        self._has_durations = _DURATIONS in model
        if self._has_durations:
            model += _graph_output(_DURATIONS)
        self._library: Any = Hibari(voice=name, model=model)  # Any: the library has no type hints

    def speak(self, text: str, speed: float) -> tuple[NDArray[np.float32], list[Word]]:
        """Return samples at 24 kHz and the written words, timed from the first sample."""
        random = np.random.default_rng(_SEED)
        parts: list[NDArray[np.float32]] = []
        words: list[Word] = []
        done = 0
        for reading in [self._read(sentence) for sentence in self._library.split_sentences(text)]:
            spoken: list[Word] = []
            for first, last in _pieces(reading.phonemes):
                samples, ends = self._run(reading.phonemes[first:last], speed, random)
                spans = [
                    (word, start - first, end - first) for word, start, end in reading.spans if first <= start < last
                ]
                spoken += _timed(spans, ends, done / _RATE, len(samples) / _RATE)
                parts.append(samples)
                done += len(samples)
            words += map_words(reading.written, spoken)
        return np.concatenate(parts), words

    def _read(self, sentence: str) -> _Reading:
        """Turn a sentence into phonemes, keeping track of which belong to which word."""
        from hibari.g2p.normalize import normalize

        reader = self._library.g2p
        tokens = reader.phonemize_tokens(reader.tokenize(normalize(spell_digits(sentence))))
        phonemes = ""
        spans = []
        text, start = "", 0
        for token in tokens:
            text += token.text
            phonemes += "".join(sign for sign in token.phonemes or "" if sign in self._library.vocab)
            if token.whitespace or token is tokens[-1]:
                if is_word(text):
                    spans.append((text, *_sounding_part(text, phonemes, start)))
                phonemes += token.whitespace
                text, start = "", len(phonemes)
        return _Reading(tuple(sentence.split()), phonemes, tuple(spans))

    def _run(
        self, phonemes: str, speed: float, random: np.random.Generator
    ) -> tuple[NDArray[np.float32], NDArray[np.float64] | None]:
        """Run the model; return samples and when each phoneme ends, in seconds (None: the model does not say)."""
        from hibari import dsp

        inputs = {"ids": np.array([self._library.ids(phonemes)], np.int64), "speed": np.array([speed], np.float32)}
        outputs = self._library.sess.run(None, inputs)
        spectrum = (output[0] for output in outputs[:6])
        samples: NDArray[np.float32] = dsp.synth(*spectrum, random)
        if not self._has_durations:
            return samples, None
        # The first and the last duration are pads; ends[0] is where the first phoneme starts.
        ends = np.cumsum(outputs[6].ravel().astype(np.float64)) * _DURATION_UNIT - _LEAD
        return samples, ends


def _timed(
    spans: Sequence[tuple[str, int, int]], ends: NDArray[np.float64] | None, offset: float, length: float
) -> Iterable[Word]:
    """Time the words of one piece that starts at ``offset`` seconds and is ``length`` long."""
    if ends is None:
        return spread_words([word for word, _, _ in spans], offset, offset + length)
    return [Word(word, offset + float(ends[start]), offset + float(ends[end])) for word, start, end in spans]


def _sounding_part(word: str, phonemes: str, start: int) -> tuple[int, int]:
    """Return the range of a word's phonemes from ``start`` on, without the pauses around them."""
    found = [index for index in range(start, len(phonemes)) if phonemes[index] not in _PAUSES]
    if not found:
        raise ScenarioError(f"the hibari synthesizer cannot read {word!r}: it speaks English only")
    return found[0], found[-1] + 1


def _pieces(phonemes: str) -> Iterator[tuple[int, int]]:
    """Cut a sentence that is too long for the model, after a comma where there is one, else at a space."""
    start = 0
    while len(phonemes) - start > _LONGEST:
        window = phonemes[start : start + _LONGEST]
        clauses = [match.end() for match in _CLAUSE_END.finditer(window)]
        length = clauses[-1] if clauses else window.rfind(" ") + 1 or _LONGEST
        yield start, start + length
        start += length
    yield start, len(phonemes)


def _model_file(voice: str) -> Path:
    """Find a voice's model on this disk; voiceharness never downloads one."""
    from hibari.voices import VOICES, voice_path

    if voice not in VOICES:
        raise OptionError(f"the hibari synthesizer has no voice {voice!r}; it knows {', '.join(VOICES)}")
    try:
        return Path(voice_path(voice, download_missing=False))
    except FileNotFoundError as error:
        raise OptionError(
            f"the hibari voice {voice!r} is not on this machine and would need a download; only {_DEFAULT_VOICE!r} is "
            f"part of the package. To use it, put its model at {error}"
        ) from error


def _graph_output(node: bytes) -> bytes:
    """Return the bytes that, appended to an ONNX model, make a node of its graph an output.

    Protocol Buffers merge a repeated message field: this is ModelProto.graph (7) with one GraphProto.output (12) that
    has only ValueInfoProto.name (1).
    """

    def field(number: int, payload: bytes) -> bytes:
        return bytes([number << 3 | 2, len(payload)]) + payload

    return field(7, field(12, field(1, node)))
