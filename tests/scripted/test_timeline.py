"""The timeline of a transport: what went over it, in order, with times."""

from __future__ import annotations

from tests.scripted.running import virtually
from voiceharness.clock import LoopClock
from voiceharness.scripted.inbound import TurnDoneEvent
from voiceharness.scripted.transport import ScriptedRealtimeTransport

__all__: list[str] = []


@virtually
async def test_the_timeline_tells_what_went_over_the_transport() -> None:
    transport = ScriptedRealtimeTransport()
    await transport.connect()
    for _ in range(3):
        transport.send_audio(b"\x00" * 320)
        await LoopClock().sleep(0.02)
    transport.emit(TurnDoneEvent())
    transport.interrupt()
    assert str(transport.timeline).splitlines() == [
        "     0.000 -> connect",
        "     0.000 <- connection_change",
        "     0.000 <- connection_change",
        "     0.000 -> send_audio, 960 bytes in 3, until 0.040",
        "     0.060 <- turn_done",
        "     0.060 -> interrupt",
    ]


def test_an_empty_timeline_says_so(transport: ScriptedRealtimeTransport) -> None:
    assert str(transport.timeline) == "nothing was sent or received"
    assert transport.timeline.latency("interrupt", "audio_interrupted") is None
    transport.interrupt()
    assert str(transport.timeline) == "         - -> interrupt"
    assert transport.timeline.latency("interrupt", "audio_interrupted") is None
