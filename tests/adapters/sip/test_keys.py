"""Keypad digits over SIP, by each method, in both directions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.adapters.sip.calling import on_line, stream
from tests.adapters.sip.peer import peer
from voiceharness.audio import g711
from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.dtmf import detect, generate
from voiceharness.clock import NS, LoopClock, run_real
from voiceharness.doubles import ProbeAgent
from voiceharness.errors import UnsupportedCapabilityError
from voiceharness.events import Digit
from voiceharness.protocols.rtp import EventReceiver, KeypadEvent, RtpPacket, event_packets
from voiceharness_adapters.sip import Sip, host

if TYPE_CHECKING:
    from tests.adapters.sip.peer import SipPeer
    from voiceharness.line.record import CallRecord

__all__: list[str] = []

pytestmark = pytest.mark.realtime


def received(record: CallRecord) -> list[tuple[object, object]]:
    """The digits the agent pressed, with their methods."""
    return [(event.data["digit"], event.data["method"]) for event in record.of_kind("digit_received")]


@pytest.mark.parametrize("method", ["rfc4733", "info"])
def test_every_key_reaches_the_agent_with_its_length(method: str) -> None:
    async def main() -> None:
        agent = ProbeAgent()
        async with host(agent) as target:
            async with on_line(Sip(str(target["target"]))) as line:
                await line.press("0123456789*#ABCD", method, tone_ms=100, gap_ms=60)  # type: ignore[arg-type]  # a method
            digits = [logged.item for logged in agent.log.items if isinstance(logged.item, Digit)]
        assert "".join(digit.digit for digit in digits) == "0123456789*#ABCD"
        assert {digit.method for digit in digits} == {method}
        assert {digit.duration for digit in digits} == {0.1}

    run_real(main())


def test_a_key_leaves_as_receivers_expect_it() -> None:
    """Case A69."""
    packets: list[RtpPacket] = []

    async def main() -> None:
        async with peer(heard=lambda packet, _at_ns: packets.append(packet)) as agent:
            async with on_line(Sip(agent.uri)) as line:
                await line.until_position(2400)
                await line.press("5", "rfc4733", tone_ms=250, gap_ms=150)
            assert {packet.payload_type for packet in packets} == {0, agent.events}

    run_real(main())
    events = [(packet, KeypadEvent.decode(packet.payload)) for packet in packets if packet.payload_type]
    assert [packet.marker for packet, _ in events] == [True] + [False] * (len(events) - 1)
    assert len({packet.timestamp for packet, _ in events}) == 1
    assert [event.duration for _, event in events if event.end] == [2000, 2000, 2000]
    rising = [event.duration for _, event in events if not event.end]
    assert rising == sorted(rising)
    receiver = EventReceiver()
    keys = [key for packet, _ in events if (key := receiver.push(packet))]
    assert [(key.key, key.duration) for key in keys] == [("5", 2000)]
    voice = [packet for packet in packets if packet.payload_type == 0]
    starts = {(packet.timestamp - voice[0].timestamp) % 160 for packet in voice}
    assert starts == {0}


@pytest.mark.parametrize("marker", [True, False])
def test_a_key_of_the_agent_is_one_event_with_or_without_a_marker(marker: bool) -> None:
    """Case A67."""

    async def pressing(agent: SipPeer) -> None:
        clock = LoopClock()
        start = clock.now_ns()
        for index in range(25):
            await clock.sleep_until_ns(start + index * NS // 50)
            agent.send(RtpPacket(0, index, 160 * index, 5, g711.silence("mulaw", 160)))
        event = event_packets("5", payload_type=agent.events, sequence=25, timestamp=4000, ssrc=5, duration=960)
        for index, packet in enumerate(event, 25):
            await clock.sleep_until_ns(start + index * NS // 50)
            sent = packet if marker else replace(packet, marker=False)
            agent.send(sent)

    async def main() -> CallRecord:
        async with peer(media=pressing) as agent:
            async with on_line(Sip(agent.uri)) as line:
                await line.until_position(9600)
            return line.record()

    record = run_real(main())
    assert received(record) == [("5", "rfc4733")]
    event = next(record.of_kind("digit_received"))
    assert event.data["duration"] == 0.12
    assert event.at / 8000 == pytest.approx(0.5, abs=0.06)


def test_an_info_of_the_agent_is_a_digit() -> None:
    async def main() -> CallRecord:
        async with peer(media=stream(packets=20)) as agent:
            async with on_line(Sip(agent.uri)) as line:
                await line.until_position(3200)
                agent.info("Signal=7\r\nDuration=160\r\n")
                await line.until_position(6400)
            return line.record()

    record = run_real(main())
    assert received(record) == [("7", "info")]
    assert next(record.of_kind("digit_received")).data["duration"] == 0.16


def test_tones_in_the_sound_are_digits_in_both_directions() -> None:
    async def main() -> None:
        tones = AudioChunk.from_samples(generate("4711", tone_ms=100, gap_ms=100))
        agent = ProbeAgent([(0.3, tones)])
        async with host(agent) as target:
            async with on_line(Sip(str(target["target"]))) as line:
                await line.press("159#", "inband", tone_ms=100, gap_ms=100)
                await line.until_position(12000)
            assert "".join(digit.key for digit in detect(agent.log.audio.samples)) == "159#"
        assert received(line.record()) == [(key, "inband") for key in "4711"]

    run_real(main())


def test_a_digit_told_twice_by_the_agent_is_one() -> None:
    """Some agents send the tone in the sound along with the event."""
    tone = generate("8", tone_ms=160)

    async def both(agent: SipPeer) -> None:
        clock = LoopClock()
        start = clock.now_ns()
        event = list(event_packets("8", payload_type=agent.events, sequence=100, timestamp=4000, ssrc=5, duration=1280))
        for index in range(60):
            await clock.sleep_until_ns(start + index * NS // 50)
            pcm = tone[160 * (index - 25) : 160 * (index - 24)].tobytes() if 25 <= index < 33 else b""
            agent.send(RtpPacket(0, 2 * index, 160 * index, 5, g711.encode(pcm.ljust(320, b"\0"))))
            if 25 <= index < 25 + len(event):
                packet = event[index - 25]
                agent.send(replace(packet, sequence=2 * index + 1))

    async def main() -> CallRecord:
        async with peer(media=both) as agent:
            async with on_line(Sip(agent.uri)) as line:
                await line.until_position(11200)
            return line.record()

    assert [digit for digit, _ in received(run_real(main()))] == ["8"]


def test_a_method_that_sip_does_not_have_is_refused() -> None:
    async def main() -> None:
        async with peer() as agent:
            adapter = Sip(agent.uri)
            async with on_line(adapter):
                with pytest.raises(UnsupportedCapabilityError, match="dtmf:event"):
                    await adapter.send_dtmf("1", method="event")

    run_real(main())
