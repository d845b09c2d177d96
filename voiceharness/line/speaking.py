"""Whether the agent is speaking, as it is known while the call goes on: what timing-based barge-in waits for."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from voiceharness.line.bell import NOTHING

if TYPE_CHECKING:
    from voiceharness.line.line import Line

__all__ = ["watch_speech"]


async def watch_speech(line: Line) -> None:
    """Set ``agent_speaking`` while the agent is heard, and note when that changes, to the end of the call."""
    position, pause, downlink = 0, line.settings.samples(line.settings.pause), line.downlink
    while (onset := await line.until(partial(downlink.onset_after, position))) is not None:
        line.agent_speaking.set()
        line.timeline.note(onset, "agent_onset")
        await line.until(partial(_silence_over, line, onset, pause), on=NOTHING)
        offset = min((downlink.silence_after(onset, pause) or (line.now, 0))[0], line.now)
        line.agent_speaking.clear()
        line.timeline.note(offset, "agent_offset")
        position = max(offset, onset + 1)


def _silence_over(line: Line, onset: int, pause: int) -> int:
    """Return where the agent stops to count as speaking: at a flush, or when a pause has lasted."""
    if line.downlink.flushed_at > onset:
        return line.downlink.flushed_at
    silence = line.downlink.silence_after(onset, pause)
    return onset if silence is None else silence[1]
