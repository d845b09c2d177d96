"""An agent that follows a timetable and reacts to nothing: the exact input of a test about what is heard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voiceharness.audio.chunk import AudioChunk
from voiceharness.clock import NS
from voiceharness.doubles.plain import DoubleAgent
from voiceharness.events import RemoteHangup

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from voiceharness.agent import AgentCall, AgentItem

__all__ = ["Cue", "ScriptedPhoneAgent", "paced"]

Cue = tuple[float, "AgentItem"]
"""When, in seconds after the answer, the agent sends what: audio, or any event. ``RemoteHangup`` hangs up."""


class ScriptedPhoneAgent(DoubleAgent):
    """Sends each item at its time. Items of one time go out in the order given; then it stays silent on the line."""

    def __init__(self, cues: Iterable[Cue]) -> None:
        super().__init__()
        self.cues = tuple(sorted(cues, key=lambda cue: cue[0]))

    async def act(self, call: AgentCall) -> None:
        """Follow the timetable."""
        start_ns = call.clock.now_ns()
        for at, item in self.cues:
            await call.clock.sleep_until_ns(start_ns + round(at * NS))
            if isinstance(item, RemoteHangup):
                call.hang_up(item.reason, code=item.code)
            else:
                call.send(item)


def paced(chunk: AudioChunk, start: float, *, frame: float = 0.02) -> Iterator[Cue]:
    """Cut audio into frames that are sent one at a time, each when the one before it has been played."""
    size = 2 * round(frame * chunk.rate)
    for index in range(-(-len(chunk.pcm) // size)):
        pcm = chunk.pcm[index * size : (index + 1) * size]
        yield start + index * frame, AudioChunk(pcm, chunk.rate, item=chunk.item)
