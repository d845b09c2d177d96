"""A scripted agent sends exactly what its timetable says."""

from __future__ import annotations

import asyncio

from voiceharness.agent import AgentCall, AgentItem, serve
from voiceharness.audio.chunk import AudioChunk
from voiceharness.clock import NS, LoopClock, run_virtual
from voiceharness.doubles import ScriptedPhoneAgent, paced
from voiceharness.events import CallEnded, EndOfStream, Flush, Mark, RemoteHangup

__all__: list[str] = []

CLIP = AudioChunk(bytes(range(200)) * 2, item="clip")


def timetable(agent: ScriptedPhoneAgent, *, hang_up_at: float = 10.0) -> list[tuple[float, AgentItem]]:
    """What the agent sent, and when, until the user hung up."""

    async def main() -> list[tuple[float, AgentItem]]:
        call = AgentCall(LoopClock())
        await call.clock.sleep(1.0)  # times count from the answer
        serving = asyncio.create_task(serve(agent, call))
        await call.clock.sleep(hang_up_at)
        call.deliver(CallEnded())
        await serving
        sent: list[tuple[float, AgentItem]] = []
        while (item := call.take_sent()) is not None:
            sent.append((((item.at_ns or 0) - NS) / NS, item))
        return sent

    return run_virtual(main())


def test_each_item_goes_out_at_its_time_and_those_of_one_time_in_their_order() -> None:
    agent = ScriptedPhoneAgent([(1.7, Flush()), (0.0, CLIP), (0.0, Mark("b")), (0.0, Mark("a"))])
    assert timetable(agent) == [
        (0.0, CLIP),
        (0.0, Mark("b")),
        (0.0, Mark("a")),
        (1.7, Flush()),
        (10.0, EndOfStream()),
    ]


def test_a_hang_up_ends_the_call_and_what_stands_after_it_is_not_sent() -> None:
    agent = ScriptedPhoneAgent([(2.0, RemoteHangup("bye", 16)), (3.0, CLIP)])
    assert timetable(agent) == [(2.0, RemoteHangup("bye", 16)), (2.0, EndOfStream())]


def test_the_user_may_hang_up_first() -> None:
    agent = ScriptedPhoneAgent([(0.0, CLIP), (5.0, CLIP)])
    assert timetable(agent, hang_up_at=3.0) == [(0.0, CLIP), (3.0, EndOfStream())]
    assert agent.log.ended_at == 3.0


def test_one_agent_serves_many_calls() -> None:
    agent = ScriptedPhoneAgent([(0.5, CLIP)])
    assert timetable(agent) == timetable(agent)
    assert len(agent.logs) == 2


def test_paced_audio_is_cut_into_frames_of_which_the_last_may_be_short() -> None:
    cues = list(paced(CLIP, 1.0, frame=0.01))
    assert [(round(at, 6), len(item)) for at, item in cues if isinstance(item, AudioChunk)] == [
        (1.0, 80),
        (1.01, 80),
        (1.02, 40),
    ]
    assert b"".join(item.pcm for _, item in cues if isinstance(item, AudioChunk)) == CLIP.pcm
    assert {item.item for _, item in cues if isinstance(item, AudioChunk)} == {"clip"}
