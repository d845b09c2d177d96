"""A call's sound for a page: Ogg Vorbis, small and exact in time (the extra ``report``), else the recording beside it.

Vorbis and not MP3: a player knows from the file where the sound begins and ends, to the sample.
"""

from __future__ import annotations

import io
from base64 import b64encode
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

import numpy as np

from voiceharness.audio.resample import resample
from voiceharness.report.artefacts import RECORDING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from voiceharness.line.record import CallRecord

__all__ = ["Sound", "page_sound"]

_HIGHEST_RATE: Final = 16_000
_COMPRESSION: Final = 0.8
"""Of 0 (largest) to 1: clearly good enough to judge a call by ear."""

_BLOCK: Final = 1 << 16  # libsndfile's Vorbis writer overflows the stack on long writes


@dataclass(frozen=True, slots=True)
class Sound:
    """What the player of a page plays: ``source`` is a URL, and the sound is ``embedded`` in the page or beside it."""

    source: str
    embedded: bool


def page_sound(record: CallRecord) -> Sound:
    """Compress a call's two tracks, user left, agent right; without the extra ``report``, refer to its recording."""
    if len(record.user) == 0 or find_spec("soundfile") is None:
        return Sound(RECORDING, embedded=False)
    return Sound(f"data:audio/ogg;base64,{b64encode(_vorbis(record)).decode()}", embedded=True)


def _vorbis(record: CallRecord) -> bytes:
    import soundfile

    rate = min(record.rate, _HIGHEST_RATE)
    samples = np.column_stack([_at_rate(track, record.rate, rate) for track in (record.user, record.agent)])
    file = io.BytesIO()
    form = {"format": "OGG", "subtype": "VORBIS", "compression_level": _COMPRESSION}
    with soundfile.SoundFile(file, "w", samplerate=rate, channels=2, **form) as writer:
        for start in range(0, len(samples), _BLOCK):
            writer.write(samples[start : start + _BLOCK])
    return file.getvalue()


def _at_rate(track: NDArray[np.int16], rate: int, wanted: int) -> NDArray[np.int16]:
    return track if rate == wanted else resample(track, rate, wanted)
