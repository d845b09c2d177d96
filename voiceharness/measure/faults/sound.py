"""Faults of the sound itself: decoded by the wrong rule, played at the wrong rate, noise for speech or for silence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from voiceharness.audio.dtmf import detect
from voiceharness.audio.edges import Span
from voiceharness.measure.finding import Finding, finding, moment
from voiceharness.measure.pitch import voice_pitch
from voiceharness.measure.playout import Playout
from voiceharness.measure.predictability import prediction_gains, repaired_gains
from voiceharness.measure.spans import total

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from voiceharness.line.record import CallRecord
    from voiceharness.measure.finding import FindingKind
    from voiceharness.measure.metrics import Metrics
    from voiceharness.measure.predictability import Miscoding

__all__ = ["DETECTORS", "wrong_sound"]

BETTER_DB: Final = 1.5
"""Gain of predictability by which undoing a wrong decoding proves it; right sound loses by it."""

NOISE_DB: Final = (-20.0, 0.3)
"""Sound at least this loud, and at most this predictable, is noise."""

G711_HZ: Final = 8000
"""The only rate of mu-law and A-law; at others, what would undo them proves nothing."""

VOICE_HZ: Final = (78.0, 340.0)
"""Median pitch of voices; beyond it a voice is played at the wrong rate."""

_BLOCK: Final = 0.5
_BLOCKS: Final = 3
_AUDIBLE_DB: Final = -45.0
_TYPICAL_HZ: Final = 200.0
_FACTORS: Final = (1 / 3, 1 / 2, 2.0, 3.0)
_HOLES: Final = 0.01
_LEAST_VOICE: Final = 1.0
_STUCK: Final = 0.02
_STUCK_AT: Final = 2000

_WRONG: Final[dict[Miscoding, tuple[FindingKind, str]]] = {
    "mulaw_as_alaw": ("wrong_law", "mu-law was decoded as A-law"),
    "alaw_as_mulaw": ("wrong_law", "A-law was decoded as mu-law"),
    "swapped_bytes": ("swapped_bytes", "16-bit samples were read with their bytes swapped"),
    "pcm16_as_mulaw": ("wrong_encoding", "16-bit samples were decoded as if they were mu-law codes"),
}


def wrong_sound(record: CallRecord, metrics: Metrics) -> Iterator[Finding]:
    """What is wrong with the sound; a wrong decoding explains everything else that is."""
    blocks = _Blocks.of(record, metrics)
    found = _miscoded(record, blocks)
    if found is not None:
        yield found
        return
    yield from _noise_instead_of_speech(record, blocks)
    yield from _wrong_rate(record, metrics)
    yield from _silence_as_noise(record)


def _miscoded(record: CallRecord, blocks: _Blocks) -> Finding | None:
    """Sound that becomes predictable once a wrong decoding is undone."""
    repaired = repaired_gains(blocks.sound, blocks.size, g711=record.rate == G711_HZ)
    proofs = ((name, gains - blocks.gains) for name, gains in repaired.items())
    miscoding, gain = max(proofs, key=lambda proof: float(proof[1][proof[1] > BETTER_DB].sum()))
    where = blocks.where(gain > BETTER_DB)
    if where is None:
        return None
    kind, what = _WRONG[miscoding]
    better = float(np.median(gain[gain > BETTER_DB]))
    why = f"undoing that makes the sound {better:.1f} dB more predictable"
    return finding(kind, where, better, "dB", f"{_between(record, where)} {what}: {why}")


def _noise_instead_of_speech(record: CallRecord, blocks: _Blocks) -> Iterator[Finding]:
    """Loud sound that nothing makes predictable."""
    noisy = (blocks.levels > NOISE_DB[0]) & (blocks.gains < NOISE_DB[1])
    where = blocks.where(noisy)
    if where is not None:
        level = float(np.median(blocks.levels[noisy]))
        text = f"{_between(record, where)} the agent's sound is nothing but noise at {level:.0f} dB"
        yield finding("noise_instead_of_speech", where, level, "dB", text)


@dataclass(frozen=True, slots=True, eq=False)
class _Blocks:
    """The audible sound of the agent, in blocks of half a second that lie within its turns."""

    size: int
    sound: NDArray[np.int16]
    starts: NDArray[np.intp]
    levels: NDArray[np.float64]
    gains: NDArray[np.float64]

    @classmethod
    def of(cls, record: CallRecord, metrics: Metrics) -> _Blocks:
        size = 2 * round(_BLOCK * record.rate / 2)
        turns = [
            np.arange(turn.onset, max(turn.onset + 1, turn.offset - size // 2), size) for turn in metrics.agent_turns
        ]
        starts = np.concatenate(turns) if turns else np.zeros(0, np.intp)
        blocks = np.pad(record.agent, (0, size))[starts[:, None] + np.arange(size)]
        powers = np.einsum("ij,ij->i", blocks, blocks, dtype=np.float64) / size / 32768.0**2
        audible = powers > 10 ** (_AUDIBLE_DB / 10)
        sound = blocks[audible].reshape(-1)
        levels = 10 * np.log10(powers[audible])
        return cls(size, sound, starts[audible], levels, prediction_gains(sound, size))

    def where(self, votes: NDArray[np.bool_]) -> Span | None:
        """From the first to the last block that votes yes, if most between them do and they are enough."""
        chosen = np.flatnonzero(votes)
        if len(chosen) < max(1, min(_BLOCKS, len(votes))) or 2 * len(chosen) <= chosen[-1] - chosen[0] + 1:
            return None
        return Span(int(self.starts[chosen[0]]), int(self.starts[chosen[-1]]) + self.size)


def _between(record: CallRecord, where: Span) -> str:
    return f"from {moment(record, where.onset)} to {moment(record, where.offset)}"


def _wrong_rate(record: CallRecord, metrics: Metrics) -> Iterator[Finding]:
    """A voice far too low or too high: its audio was made at another rate than it is played at."""
    playout = Playout(record.arrivals)
    whole = (turn.span for turn in metrics.agent_turns if not _full_of_holes(playout, turn.span))
    pitches = [(span, _strange_pitch(record, span)) for span in whole]
    strange = [(span, pitch) for span, pitch in pitches if pitch is not None]
    if not strange:
        return
    where = Span(strange[0][0].onset, strange[-1][0].offset)
    pitch = float(np.median([pitch for _, pitch in strange]))
    factor = min(_FACTORS, key=lambda each: abs(np.log(pitch / each / _TYPICAL_HZ)))
    yield finding(
        "wrong_rate",
        where,
        factor,
        "x",
        f"{_between(record, where)} the agent's voice has a pitch of {pitch:.0f} Hz: it is played about {factor:.3g} "
        f"times as fast as it was made",
    )


def _full_of_holes(playout: Playout, turn: Span) -> bool:
    """Whether so much was missing that the holes may be heard as a pitch of their own."""
    return total(playout.holes(turn.onset + 1, turn.offset)) > _HOLES * len(turn)


def _strange_pitch(record: CallRecord, turn: Span) -> float | None:
    """The pitch of a turn, if no voice has it; keypad tones are no voice."""
    sound = record.agent[turn.onset : turn.offset]
    if len(sound) < _LEAST_VOICE * record.rate:
        return None
    pitch = voice_pitch(sound, record.rate)
    if pitch is None or VOICE_HZ[0] <= pitch <= VOICE_HZ[1] or detect(sound, record.rate):
        return None
    return pitch


def _silence_as_noise(record: CallRecord) -> Iterator[Finding]:
    """Silence that was filled with the wrong byte: the line stands at a constant level far from zero."""
    steps = np.flatnonzero(np.diff(record.agent)) + 1
    edges = np.concatenate(([0], steps, [len(record.agent)]))
    constant = np.flatnonzero((np.diff(edges) >= _STUCK * record.rate) & (np.diff(edges) > 0))
    runs = [Span(int(edges[i]), int(edges[i + 1])) for i in constant if abs(int(record.agent[edges[i]])) >= _STUCK_AT]
    if runs:
        value = int(record.agent[runs[0].onset])
        length = sum(map(len, runs)) / record.rate
        yield finding(
            "silence_as_noise",
            Span(runs[0].onset, runs[-1].offset),
            length,
            "s",
            f"for {length:.2f} s, from {moment(record, runs[0].onset)} on, the line stands at the constant value "
            f"{value}: silence was filled with a byte that means something else",
        )


DETECTORS: Final = (wrong_sound,)
