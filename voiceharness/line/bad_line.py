"""A bad line between user and agent: its two directions, and the sender that applies what happens to packets.

The user's track in the recording stays the clean one: its edges are the truth that latencies are measured against. The
agent's track is what arrived at the user's ear, so a verdict is always on what was heard.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from voiceharness.clock import NS
from voiceharness.impairment.path import Direction
from voiceharness.impairment.source import from_track
from voiceharness.line.record import TimelineEvent

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from voiceharness.audio.chunk import AudioChunk
    from voiceharness.clock import Clock
    from voiceharness.line.settings import LineSettings
    from voiceharness.line.timeline import Timeline
    from voiceharness.line.track import Track

__all__ = ["BadLine", "UserSender", "bad_line", "note_impairments", "unheard_events"]


@dataclass(frozen=True, slots=True)
class BadLine:
    """The two directions of a line with impairments."""

    to_agent: Direction
    to_user: Direction


def bad_line(settings: LineSettings, *, user: Track, agent: Track) -> BadLine:
    """Lay a bad line between two tracks; each hears the other's as an echo, where there is one."""
    from_user, from_agent = from_track(user.view), from_track(agent.view)
    ways, rate, frame, seed = settings.impairments, settings.rate, settings.frame, 2 * settings.seed
    return BadLine(
        Direction(ways.to_agent, from_user, from_agent, rate=rate, frame=frame, seed=seed),
        Direction(ways.to_user, from_agent, from_user, rate=rate, frame=frame, seed=seed + 1),
    )


def note_impairments(timeline: Timeline, settings: LineSettings) -> None:
    """Note what is done to the line for the whole call."""
    ways = settings.impairments
    for direction, way in (("to_agent", ways.to_agent), ("to_user", ways.to_user)):
        for impairment in (*way.sound, *way.packets):
            kind = type(impairment).__name__.lower()
            timeline.note(0, "impaired", kind=kind, direction=direction, frame=None, detail=repr(impairment))


def unheard_events(direction: Direction, end: int, frame: int) -> list[TimelineEvent]:
    """Return which frames, of those up to a position, the user did not hear as they were sent, as timeline events."""
    return [
        TimelineEvent(
            at,
            "impaired",
            {"kind": kind, "direction": "to_user", "frame": at, "samples": frame, "detail": "not heard as it was sent"},
        )
        for at, kind in direction.unheard(end)
    ]


class UserSender:
    """Sends the user's frames over a bad line: changed, lost, or late, but in their order."""

    def __init__(
        self,
        direction: Direction,
        send: Callable[[AudioChunk], Awaitable[None]],
        clock: Clock,
        timeline: Timeline,
        delivered: Callable[[int], None],
    ) -> None:
        """``delivered`` is told up to which position the agent has been given what it will ever get."""
        self._direction = direction
        self._send = send
        self._delivered = delivered
        self._clock = clock
        self._timeline = timeline
        self._late: deque[tuple[int, int, AudioChunk | None]] = deque()
        self._something_late = asyncio.Event()

    async def take(self, frame: AudioChunk) -> None:
        """Take a frame at the moment it leaves the user."""
        assert frame.position is not None  # the uplink places every frame
        start, samples = frame.position, len(frame)
        end, fate = start + samples, self._direction.packets.fate(start // samples)
        changed, delay = None, 0.0
        if fate.lost:
            self._note("loss", start, "the frame was not sent")
        else:
            changed, delay = replace(frame, pcm=self._direction.read(start, end).tobytes()), fate.delay
        if delay or self._late:
            due = self._clock.now_ns() + round(delay * NS)
            self._late.append((max(due, self._late[-1][0] if self._late else due), end, changed))
            self._something_late.set()
        else:
            await self._deliver(changed, end)

    async def _deliver(self, frame: AudioChunk | None, end: int) -> None:
        if frame is not None:
            await self._send(frame)
        self._delivered(end)

    def heard_of(self, frame: AudioChunk) -> AudioChunk:
        """Return what a transport that keeps time itself sends for a stretch: a lost packet is silence.

        The agent's end is taken to have a buffer, as the user's has: a packet that comes too late for it is lost.
        """
        assert frame.position is not None  # the uplink places every frame
        start, end, size = frame.position, frame.position + len(frame), self._direction.frame
        for index in range(-(-start // size), -(-end // size)):
            if kind := self._direction.packets.lost_to_a_buffer(index):
                self._note(kind, index * size, "silence was sent instead")
        return replace(frame, pcm=self._direction.read_with_losses(start, end).tobytes())

    async def send_late(self) -> None:
        """Send what jitter holds back, each when its delay is over; runs until cancelled."""
        while True:
            await self._something_late.wait()
            due, end, frame = self._late[0]
            await self._clock.sleep_until_ns(due)
            await self._deliver(frame, end)
            self._late.popleft()
            if not self._late:
                self._something_late.clear()

    def _note(self, kind: str, at: int, detail: str) -> None:
        samples = self._direction.frame
        self._timeline.note(at, "impaired", kind=kind, direction="to_agent", frame=at, samples=samples, detail=detail)
