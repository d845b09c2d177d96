"""The embedded transcriber: moonshine-voice with the tiny English model of its wheel (extra ``asr``).

How it is used decides how well it works. Its own voice detector prepends invented words ("You") to short utterances, so
it is off; the sound's edges are found here, and half a second of silence is put around them. Silence is never given to
the model, which would hear words in it. Beyond some 30 s the model repeats itself, so long audio is cut at its quietest
places. The model gives no word times: words are spread over the sound and marked estimated.
"""

from __future__ import annotations

from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from voiceharness.audio.edges import speech_edges
from voiceharness.audio.resample import resample
from voiceharness.errors import SpeechError
from voiceharness.speech.extras import require_package
from voiceharness.speech.pieces import quiet_pieces
from voiceharness.speech.transcription import Transcript
from voiceharness.speech.words import spread_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voiceharness.audio.chunk import AudioChunk
    from voiceharness.events import Word

__all__ = ["MoonshineTranscriber"]

_RATE = 16_000
_PADDING = _RATE // 2


class MoonshineTranscriber:
    """Understand English. The model is loaded at the first use (about 0.3 s) and kept until ``close``."""

    name = "moonshine"

    def __init__(self) -> None:
        """Raise MissingExtraError when moonshine-voice is not installed."""
        require_package("moonshine_voice", extra="asr", what="the moonshine transcriber")
        self._engine: Any = None  # Any: the library is loaded late and has no usable type hints

    @cached_property
    def version(self) -> str:
        """The versions that decide the text."""
        return f"moonshine-voice {version('moonshine-voice')} tiny-en numpy {version('numpy')}"

    def transcribe(self, audio: AudioChunk) -> Transcript:
        """Return what is said; empty where no sound reaches -60 dB. Costs some 25 ms per second of speech.

        Raises:
            SpeechError: the library failed or cannot be loaded.
        """
        texts: list[str] = []
        words: list[Word] = []
        for first, last in quiet_pieces(audio.samples, audio.rate):
            piece = audio.samples[first:last]
            edges = speech_edges(piece, audio.rate)
            if edges is None:
                continue
            text = self._understand(piece[edges.onset : edges.offset], audio.rate)
            texts.append(text)
            words += spread_words(text.split(), (first + edges.onset) / audio.rate, (first + edges.offset) / audio.rate)
        return Transcript(" ".join(text for text in texts if text), tuple(words))

    def close(self) -> None:
        """Free the model; idempotent."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def _understand(self, samples: NDArray[np.int16], rate: int) -> str:
        from moonshine_voice.errors import MoonshineError

        padded = np.pad(resample(samples, rate, _RATE), _PADDING) / 32768.0
        try:
            if self._engine is None:
                self._engine = _load()
            lines = self._engine.transcribe_without_streaming(padded.tolist(), _RATE).lines
        except (MoonshineError, OSError) as error:
            raise SpeechError(f"{self.version} failed on {len(samples) / rate:.2f} s of audio: {error}") from error
        return " ".join(line.text.strip() for line in lines)


def _load() -> Any:  # Any: as above
    from moonshine_voice.moonshine_api import ModelArch
    from moonshine_voice.transcriber import Transcriber
    from moonshine_voice.utils import get_model_path

    options = {"vad_threshold": "0.0", "return_audio_data": "false"}
    return Transcriber(get_model_path("tiny-en"), ModelArch.TINY, options=options)
