"""Packets that came later than they were due, seen from how much sound has come by when.

Theory of operation. Sound that comes in its time keeps one distance from the clock. A packet is late when its sound
comes more than a packet after that distance, the least of the packets before it, and when what comes after it catches
up: sound that was held up on its way is behind for a while. A sender that pauses, or sends too slowly, never catches
up, and what is lost never comes; so neither is late.

One look sees what came since the look before. Only what cannot have come in time counts as late, however far apart the
looks are. Looks that were themselves held up say nothing of when packets came, so the watch begins anew.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final

__all__ = ["Late", "LateWatch"]

STALLED_NS: Final = 60_000_000
"""Looks that are further apart were held up."""

MEMORY: Final = 50
"""Looks that saw sound come: whoever is behind for more of them does not catch up any more."""

JUMP_NS: Final = 1_000_000_000
"""More sound than time by this is a jump of its timestamps."""

USUAL_PACKET_NS: Final = 20_000_000


@dataclass(frozen=True, slots=True)
class Late:
    """Packets that came late, the latest of them by ``most_ns``; the first was due at ``due_ns``."""

    packets: int
    most_ns: int
    due_ns: int

    def joined(self, packets: int, most_ns: int) -> Late:
        """Return this and further packets."""
        return Late(self.packets + packets, max(self.most_ns, most_ns), self.due_ns)


class LateWatch:
    """Fed with looks: packets and sound that came so far, and the time, in nanoseconds.

    ``tolerance_ns`` is by how much sound may be late; by default by one packet, as long as the shortest one is.
    """

    def __init__(self, *, tolerance_ns: int | None = None) -> None:
        self._tolerance_ns = tolerance_ns
        self._packet_ns: int | None = None
        self._look_ns: int | None = None
        self._news_ns = 0
        self._packets = 0
        self._sound_ns = 0
        self._distances: deque[int] = deque(maxlen=MEMORY)
        self._late: Late | None = None
        self._due_ns = 0
        self._behind = 0

    def take(self, packets: int, sound_ns: int, at_ns: int) -> Late | None:
        """Take a look; return the packets that came late, once what came has caught up."""
        looked_ns, self._look_ns = self._look_ns, at_ns
        if looked_ns is None or at_ns - looked_ns > STALLED_NS:
            self._begin(packets, sound_ns, at_ns)
            return None
        length_ns, came = sound_ns - self._sound_ns, max(1, packets - self._packets)
        self._packets = packets
        if -JUMP_NS < length_ns <= 0:
            return None  # one that others overtook; or those of a key, which have the time of its begin
        is_jump = length_ns < 0 or length_ns > at_ns - self._news_ns + JUMP_NS
        self._sound_ns, self._news_ns = sound_ns, at_ns
        if is_jump:
            self._forget()
            return None
        if came == 1:
            self._packet_ns = min(self._packet_ns or length_ns, length_ns)
        elif came * (self._packet_ns or USUAL_PACKET_NS) > length_ns:
            return None  # more packets than sound: the latest of them may not be the one that was seen
        caught_up = self._judge(came, length_ns, looked_ns, at_ns) if self._distances else None
        self._distances.append(at_ns - sound_ns)
        return caught_up

    def take_nothing(self, at_ns: int) -> None:
        """Take a look that saw nothing new."""
        if self._look_ns is not None and at_ns - self._look_ns <= STALLED_NS:
            self._look_ns = at_ns

    def _begin(self, packets: int, sound_ns: int, at_ns: int) -> None:
        self._packets, self._sound_ns, self._news_ns = packets, sound_ns, at_ns
        self._forget()

    def _forget(self) -> None:
        """Forget when sound is due."""
        self._distances.clear()
        self._late = None

    def _judge(self, came: int, length_ns: int, looked_ns: int, at_ns: int) -> Late | None:
        """Count what came late; say so when the latest packet is in its time again."""
        packet_ns = self._packet_ns or USUAL_PACKET_NS
        tolerance_ns = packet_ns if self._tolerance_ns is None else self._tolerance_ns
        if self._late is None:
            self._due_ns, self._behind = min(self._distances), 0
        self._behind += 1
        for place in reversed(range(min(came, -(-length_ns // packet_ns)))):
            due_ns = self._due_ns + self._sound_ns - place * packet_ns
            if looked_ns - due_ns > tolerance_ns:
                late = self._late or Late(0, 0, due_ns)
                self._late = late.joined(1, at_ns - due_ns)
        if self._late is None:
            return None
        if looked_ns - self._due_ns - self._sound_ns <= tolerance_ns // 2:
            late, self._late = self._late, None
            return late
        if self._behind >= MEMORY:
            self._forget()
        return None
