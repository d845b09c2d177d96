"""A content-addressed cache of synthesized speech: the same text is spoken once.

An entry's name is the hash of everything that decides its samples: engine, versions, rate, voice, speed, text. So
nothing is ever out of date, and a folder can be shared by any number of processes: an entry is written beside its place
and moved there in one step. An entry that does not match its own digest is made again.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from voiceharness.audio.chunk import AudioChunk
from voiceharness.events import Word
from voiceharness.speech.synthesis import Speech

if TYPE_CHECKING:
    from voiceharness.speech.synthesis import Synthesizer

__all__ = ["CachedSynthesizer", "SpeechCache"]

_FORMAT = 1
_log = logging.getLogger(__name__)


class SpeechCache:
    """Entries in memory and, with a ``folder``, on disk. Entries in memory live as long as this object."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self._entries: dict[str, Speech] = {}

    def get(self, key: str) -> Speech | None:
        """Return the entry, or None when there is none or it is damaged."""
        if key not in self._entries and (speech := self._read(key)) is not None:
            self._entries[key] = speech
        return self._entries.get(key)

    def put(self, key: str, speech: Speech) -> None:
        """Keep an entry. A folder that cannot be written costs time later, not the run: it is logged."""
        self._entries[key] = speech
        if self.folder is None:
            return
        try:
            _write_atomically(self._path(self.folder, key), _encode(speech))
        except OSError as error:
            _log.warning("speech cache %s cannot be written (%s); speech will be made again", self.folder, error)

    def _read(self, key: str) -> Speech | None:
        if self.folder is None:
            return None
        path = self._path(self.folder, key)
        try:
            return _decode(path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            _log.warning("speech cache entry %s is damaged (%s); making it again", path, error)
            return None

    @staticmethod
    def _path(folder: Path, key: str) -> Path:
        return folder / key[:2] / f"{key}.speech"


class CachedSynthesizer:
    """A synthesizer that asks a cache before the engine behind it."""

    def __init__(self, engine: Synthesizer, cache: SpeechCache) -> None:
        self._engine = engine
        self._cache = cache

    @property
    def name(self) -> str:
        """The engine's name."""
        return self._engine.name

    @property
    def version(self) -> str:
        """The engine's version."""
        return self._engine.version

    @property
    def rate(self) -> int:
        """The engine's rate in Hz."""
        return self._engine.rate

    def synthesize(self, text: str, *, voice: str | None = None, speed: float = 1.0) -> Speech:
        """Return cached speech, or speak and keep it; errors are the engine's, and are not kept."""
        key = self._key(text, voice, speed)
        if (speech := self._cache.get(key)) is None:
            speech = self._engine.synthesize(text, voice=voice, speed=speed)
            self._cache.put(key, speech)
        return speech

    def _key(self, text: str, voice: str | None, speed: float) -> str:
        parts = [_FORMAT, self.name, self.version, self.rate, voice, float(speed), text]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _encode(speech: Speech) -> bytes:
    """One line of JSON, then the samples."""
    header = {
        "rate": speech.audio.rate,
        "estimated": speech.estimated,
        "words": [[word.text, word.start, word.end, word.estimated] for word in speech.words],
    }
    body = json.dumps(header).encode() + b"\n" + speech.audio.pcm
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def _decode(data: bytes) -> Speech:
    """Return the speech; raises ValueError, KeyError or TypeError when it is not an entry."""
    digest, _, body = data.partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise ValueError("its digest does not match")
    line, _, pcm = body.partition(b"\n")
    header = json.loads(line)
    words = tuple(Word(*word) for word in header["words"])
    return Speech(AudioChunk(pcm, header["rate"]), words, header["estimated"])


def _write_atomically(path: Path, data: bytes) -> None:
    """Write beside the place and move there, so that nobody ever reads half an entry."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.stem[:8]}-", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
