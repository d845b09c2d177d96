"""What is wrong with the media of a call, as the worker's statistics tell it four times a second."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Finding", "MediaWatch"]

_NS: Final = 1_000_000_000
_JITTER_JUMP_MS: Final = 40.0
_LATE_SHARE: Final = 0.02
_ENOUGH: Final = 50


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about the media: a stable ``kind``, and what was seen. A ``fault`` breaks a rule of the protocol."""

    kind: str
    detail: str
    fault: bool = False


class MediaWatch:
    """Finds that no media comes, that it stopped, and that it comes in disorder; each once per occasion.

    ``timeout`` is how long, in seconds, the peer may send nothing while the call is not held (0: for ever).
    """

    def __init__(self, timeout: float, *, started_ns: int) -> None:
        self._timeout_ns = round(timeout * _NS)
        self._received = 0
        self._since_ns = started_ns
        self._silent = False
        self._jitter_ms = 0.0
        self._found: set[str] = set()

    @property
    def silent(self) -> bool:
        """Whether the peer has sent nothing for too long."""
        return self._silent

    def take(self, stats: Mapping[str, float], at_ns: int, *, held: bool) -> Iterator[Finding]:
        """Take the statistics of a moment and yield what they show."""
        yield from self._silence(int(stats.get("received", 0)), at_ns, held=held)
        yield from self._disorder(stats)

    def _silence(self, received: int, at_ns: int, *, held: bool) -> Iterator[Finding]:
        if received != self._received or held:
            self._received, self._since_ns, self._silent = received, at_ns, False
            return
        waited_ns = at_ns - self._since_ns
        if self._silent or not self._timeout_ns or waited_ns < self._timeout_ns:
            return
        self._silent = True
        waited = f"{waited_ns / _NS:.1f} s"
        if not received:
            yield Finding("no_rtp", f"agent to user: not one RTP packet in {waited}", fault=True)
        else:
            yield Finding("one_way_audio", f"agent to user: no RTP packet for {waited}, after {received}", fault=True)

    def _disorder(self, stats: Mapping[str, float]) -> Iterator[Finding]:
        received, jitter_ms = stats.get("received", 0), stats.get("jitter_last_ms", 0.0)
        if received >= _ENOUGH and jitter_ms - self._jitter_ms > _JITTER_JUMP_MS:
            detail = f"interarrival jitter rose from {self._jitter_ms:.0f} to {jitter_ms:.0f} ms at once"
            yield Finding("rtp_timestamp_jump", detail)
        self._jitter_ms = jitter_ms
        for kind, name in (("rtp_doubled", "doubled"), ("rtp_reordered", "reordered"), ("rtp_lost", "lost")):
            count = stats.get(name, 0)
            if kind not in self._found and received >= _ENOUGH and count > _LATE_SHARE * received:
                self._found.add(kind)
                yield Finding(kind, f"{count:.0f} of {received:.0f} packets so far")
