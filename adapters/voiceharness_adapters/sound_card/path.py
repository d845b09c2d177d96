"""How long the user's own sound takes through the devices, followed by finding the user's words again.

Theory of operation. What was sent is known by its position on the line; what the device captured, by the count of its
samples. Where both hold the same sound, their distance is the *shift* of the path. It is looked for every tenth of a
second in which the user speaks: a fifth of a second of what was sent, by normalised cross-correlation, which neither a
louder voice nor another level misleads. A find counts if it is similar enough and unmistakable: a tone fits in many
places. A shift that moves slowly is drift of one device against the other; a jump that no drift explains is, once a
second find confirms it, a slip: samples that some driver lost or made up without telling.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from scipy.signal import correlate

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Find", "PathFollower", "Slip", "locate"]

WINDOW: Final = 0.2
PERIOD: Final = 0.1
NARROW: Final = 0.03
SHORTEST_PATH: Final = 0.4
LONGEST_PATH: Final = 0.5
MEMORY: Final = 2.0
LEAST_LEVEL: Final = 60.0
LEAST_LIKENESS: Final = 0.5
SLIP: Final = 0.001
MOST_DRIFT: Final = 0.001
DRIFT_SPAN: Final = 10.0
MAIN_LOBE: Final = 0.0015
WORK_RATE: Final = 8000


@dataclass(frozen=True, slots=True)
class Find:
    """The user's sound found again: captured at ``position``, ``shift`` samples late, this alike (0 to 1)."""

    position: int
    shift: float
    likeness: float


@dataclass(frozen=True, slots=True)
class Slip:
    """A jump of the path: by ``seconds`` (positive: later) at a captured position, or shortly before."""

    position: int
    seconds: float


def locate(template: NDArray[np.float64], within: NDArray[np.float64], lobe: int) -> tuple[float, float] | None:
    """Find a sound in a longer one: its start there, in samples and fractions, and the likeness.

    ``lobe``: samples on each side of the best place that belong to the same peak. None: it is not there, or more than
    one place fits.
    """
    norm = float(template @ template)
    if len(within) < len(template) or norm == 0:
        return None
    products = correlate(within, template, "valid", method="fft")  # the event loop waits for it
    sums = np.concatenate(([0.0], np.cumsum(np.square(within))))
    energies = sums[len(template) :] - sums[: -len(template)]
    likeness = products / np.sqrt(norm * np.maximum(energies, norm * 1e-6))
    best = int(np.argmax(likeness))
    peak = float(likeness[best])
    others = np.concatenate((likeness[: max(0, best - lobe)], likeness[best + lobe + 1 :]))
    rival = float(others.max(initial=-1.0))
    if peak < LEAST_LIKENESS or peak - rival < max(0.01, (1 - peak) / 2):
        return None
    return best + _vertex(likeness, best), peak


def _vertex(values: NDArray[np.float64], best: int) -> float:
    """Return where between the samples the parabola through a peak and its neighbours is highest."""
    if not 0 < best < len(values) - 1:
        return 0.0
    before, at, after = (float(value) for value in values[best - 1 : best + 2])
    bend = before - 2 * at + after
    return 0.0 if bend == 0 else (before - after) / (2 * bend)


class _Recent:
    """The last seconds of a track, by position."""

    def __init__(self, samples: int) -> None:
        self._samples = np.zeros(2 * samples)
        self._keep = samples
        self._start = 0
        self.end = 0

    def add(self, samples: NDArray[np.int16]) -> None:
        count = len(samples)
        if self.end - self._start + count > len(self._samples):
            kept = self._samples[self.end - self._start - self._keep : self.end - self._start].copy()
            self._samples[: self._keep] = kept
            self._start = self.end - self._keep
        at = self.end - self._start
        self._samples[at : at + count] = samples
        self.end += count

    def view(self, start: int, end: int) -> NDArray[np.float64] | None:
        """Return a stretch, or None where it is not known (any more)."""
        if start < self._start or end > self.end:
            return None
        return self._samples[start - self._start : end - self._start]


class PathFollower:
    """Follows the path of a call. Positions and shifts are samples at the line rate.

    A shift counts from what was expected when positions were given to what is sent, so it may be negative.
    ``finds`` and ``slips`` are what was found; ``shift`` is the path now, None before the first find.
    """

    def __init__(self, rate: int, *, sent_from: int = 0) -> None:
        """``sent_from`` is the position of the first sample that will be sent."""
        self.rate = rate
        self.finds: list[Find] = []
        self.slips: list[Slip] = []
        self._factor = max(1, rate // WORK_RATE)
        self._sent_from = sent_from
        self._sent = _Recent(round(MEMORY * rate / self._factor))
        self._heard = _Recent(round(MEMORY * rate / self._factor))
        self._rests = {"sent": np.zeros(0, np.int16), "heard": np.zeros(0, np.int16)}
        self._looked_at = 0
        self._doubtful: Find | None = None
        self._jumped = 0.0  # the sum of all slips, to be taken out of the drift

    @property
    def shift(self) -> float | None:
        """How late the user's sound is captured, in samples."""
        return self.finds[-1].shift if self.finds else None

    @property
    def drift_ppm(self) -> float | None:
        """How much faster the input counts than the output; None until ten seconds lie between two finds."""
        finds = [find for find in self.finds if find.likeness >= LEAST_LIKENESS]
        if not finds or finds[-1].position - finds[0].position < DRIFT_SPAN * self.rate:
            return None
        jumps = [sum(slip.seconds for slip in self.slips if slip.position <= find.position) for find in finds]
        shifts = [find.shift - jump * self.rate for find, jump in zip(finds, jumps, strict=True)]
        slope, _ = np.polyfit([find.position for find in finds], shifts, 1)
        return float(slope) * 1e6

    def sent(self, samples: NDArray[np.int16]) -> None:
        """Take what was sent next."""
        self._sent.add(self._thinned("sent", samples))

    def heard(self, samples: NDArray[np.int16]) -> bool:
        """Take what was captured next; True if the shift is known anew."""
        self._heard.add(self._thinned("heard", samples))
        if self._heard.end - self._looked_at < PERIOD * self.rate / self._factor:
            return False
        self._looked_at = self._heard.end
        found = self._look()
        return found is not None and self._accept(found)

    def _thinned(self, track: str, samples: NDArray[np.int16]) -> NDArray[np.int16]:
        """Bring a track to the rate at which is searched, by means of neighbours."""
        if self._factor == 1:
            return samples
        samples = np.concatenate((self._rests[track], samples))
        whole = len(samples) - len(samples) % self._factor
        self._rests[track] = samples[whole:]
        thinned: NDArray[np.int16] = samples[:whole].reshape(-1, self._factor).mean(axis=1).astype(np.int16)
        return thinned

    def _look(self) -> Find | None:
        """Look for what was sent a path ago: near the known or the expected shift first, then anywhere."""
        rate = self.rate / self._factor
        near = (self.shift or 0.0) / self._factor
        found = self._search(round(near - NARROW * rate), round(near + NARROW * rate))
        if found is not None:
            return found
        return self._search(round(-SHORTEST_PATH * rate), round(LONGEST_PATH * rate))

    def _search(self, low: int, high: int) -> Find | None:
        window = round(WINDOW * self.rate / self._factor)
        start = self._heard.end - window - high  # captured with every shift that is looked for
        offset = self._sent_from // self._factor
        template = self._sent.view(start - offset, start - offset + window)
        within = self._heard.view(start + low, start + high + window)
        if template is None or within is None or np.sqrt(np.mean(np.square(template))) < LEAST_LEVEL:
            return None
        place = locate(template, within, round(MAIN_LOBE * self.rate / self._factor))
        if place is None:
            return None
        position = (start + window) * self._factor
        return Find(position, (low + place[0]) * self._factor, place[1])

    def _drift_since(self, last: Find, find: Find) -> float:
        """Return how many samples two clocks may have moved apart between two finds; more than that is a slip."""
        return SLIP * self.rate + MOST_DRIFT * (find.position - last.position)

    def _accept(self, find: Find) -> bool:
        """Take a find; one that is far from the last must be confirmed by the next."""
        if self.shift is None or abs(find.shift - self.shift) < self._drift_since(self.finds[-1], find):
            self._doubtful = None
            self.finds.append(find)
            return True
        if self._doubtful is None or abs(find.shift - self._doubtful.shift) >= self._drift_since(self._doubtful, find):
            self._doubtful = find
            return False
        self.slips.append(Slip(self._doubtful.position, (self._doubtful.shift - self.shift) / self.rate))
        self.finds += (self._doubtful, find)
        self._doubtful = None
        return True
