"""Agents whose media is broken: each kind ends with its own finding, and never in a hang."""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.adapters.sip.calling import heard_from, level, on_line, sent_as, sent_at, stream, tone_packet
from tests.adapters.sip.peer import peer
from voiceharness.clock import NS, LoopClock, run_real
from voiceharness.errors import CallDroppedError
from voiceharness.measure import find_faults, measure
from voiceharness.measure.finding import MEDIA_KINDS
from voiceharness.protocols.rtp import RtpPacket
from voiceharness_adapters.sip import Sip

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.adapters.sip.peer import Media, SipPeer
    from voiceharness.line.line import Line
    from voiceharness.measure import Finding as Found

__all__: list[str] = []

pytestmark = pytest.mark.realtime

BREAK = 75
"""Packets that are as they should be before the fault begins: 1.5 s."""


def heard(
    media: Media | None,
    *,
    seconds: float = 3.0,
    media_timeout: float = 5.0,
    attempts: int = 3,
    backend: str = "auto",
) -> tuple[Line, Sip]:
    """Call an agent with this media, and return what is left of the call.

    On a busy machine this agent is late itself, and that is found: then it is called again.
    """
    for _ in range(attempts):
        line, adapter = _heard(media, seconds, media_timeout, backend)
        if "rtp_late" not in [each.kind for each in adapter.findings]:
            break
    return line, adapter


def _heard(media: Media | None, seconds: float, media_timeout: float, backend: str) -> tuple[Line, Sip]:
    async def main() -> tuple[Line, Sip]:
        async with peer(media=media) as agent:
            adapter = Sip(agent.uri, media_timeout=media_timeout, backend=backend)
            async with on_line(adapter) as line:
                await line.until_position(round(8000 * seconds))
            return line, adapter

    return run_real(main())


def spoilt_from_break(spoil: Callable[[RtpPacket], Iterable[RtpPacket]]) -> Media:
    return stream(lambda packet: spoil(packet) if packet.sequence >= BREAK else (packet,))


def found_in(line: Line) -> list[Found]:
    """Findings of the call about the agent's packets."""
    record = line.record()
    return [each for each in find_faults(record, measure(record)) if each.kind in MEDIA_KINDS]


def purity(line: Line, start: float, end: float) -> float:
    """Share of the tone in the usual fifth of a second; where the buffer ran dry, the tone goes on in another phase."""
    begins = [start + 0.2 * index for index in range(round((end - start) / 0.2))]
    return statistics.median(heard_from(line.record(), 440, begin, begin + 0.2) for begin in begins)


def faults(line: Line) -> list[object]:
    return [event.data["kind"] for event in line.record().of_kind("protocol_fault")]


@pytest.mark.parametrize(
    ("spoil", "finding"),
    [
        (lambda packet: (replace(packet, timestamp=packet.timestamp - 13_440),), "rtp_timestamp_jump"),
        (lambda packet: (replace(packet, ssrc=99),), "rtp_source_changed"),
        (lambda packet: (replace(packet, ssrc=99, sequence=packet.sequence + 9000),), "rtp_source_changed"),
        (lambda packet: (replace(packet, ssrc=99, timestamp=packet.timestamp + 555_555),), "rtp_source_changed"),
        (lambda packet: (replace(packet, sequence=packet.sequence + 5000),), "rtp_sequence_jump"),
    ],
    ids=["timestamp back", "another source", "its own numbers", "its own timestamps", "sequence jump"],
)
def test_a_break_in_the_stream_is_found_and_survived(
    spoil: Callable[[RtpPacket], Iterable[RtpPacket]], finding: str
) -> None:
    """Case A50."""
    line, adapter = heard(spoilt_from_break(spoil))
    assert [each.kind for each in adapter.findings].count(finding) == 1
    assert level(line.record().agent, 1.9, 2.8) > 4000
    assert faults(line) == []
    (found,) = found_in(line)
    assert found.kind == finding
    assert found.severity == "warning"
    assert found.start / 8000 == pytest.approx(BREAK / 50, abs=0.4)


def test_a_change_of_the_source_names_both() -> None:
    """Case A50 (b)."""
    line, _adapter = heard(spoilt_from_break(lambda packet: (replace(packet, ssrc=0xDEADBEEF),)))
    (found,) = found_in(line)
    assert found.explanation == "packets come from another source: SSRC 0xdeadbeef, before 0x00000005"
    assert found.start / 8000 == pytest.approx(BREAK / 50, abs=0.1)


def test_an_unbroken_stream_has_no_finding() -> None:
    line, adapter = heard(stream())
    assert adapter.findings == ()
    assert faults(line) == []


def test_another_payload_type_than_negotiated_is_a_fault_and_is_not_decoded() -> None:
    """Case A38 (b)."""
    line, _adapter = heard(spoilt_from_break(lambda packet: (replace(packet, payload_type=9),)))
    assert faults(line) == ["rtp_payload_type"]
    detail = next(line.record().of_kind("protocol_fault")).data["detail"]
    assert detail == "received payload type 9, negotiated 0"
    assert level(line.record().agent, 0.5, 1.2) > 1000
    assert level(line.record().agent, 2.0, 2.8) == 0


def test_doubled_packets_are_found_and_heard_once() -> None:
    line, adapter = heard(stream(lambda packet: (packet, packet)))
    assert "rtp_doubled" in [each.kind for each in adapter.findings]
    assert [each.kind for each in found_in(line)] == ["rtp_doubled"]
    assert purity(line, 1.0, 2.6) > 0.99


def test_packets_out_of_order_are_found() -> None:
    def swap(packet: RtpPacket) -> tuple[RtpPacket, ...]:
        if packet.sequence % 10 == 8:
            return ()
        return (packet, held[packet.sequence - 1]) if packet.sequence % 10 == 9 else (packet,)

    held: dict[int, RtpPacket] = {}

    def remember(packet: RtpPacket) -> tuple[RtpPacket, ...]:
        held[packet.sequence] = packet
        return swap(packet)

    line, adapter = heard(stream(remember))
    assert "rtp_reordered" in [each.kind for each in adapter.findings]
    assert [each.kind for each in found_in(line)] == ["rtp_reordered"]


def test_packets_that_others_overtake_are_found() -> None:
    line, _adapter = heard(sent_at(lambda index: index / 50 + (0.08 if index % 10 == 5 else 0.0)))
    assert "rtp_reordered" in [each.kind for each in found_in(line)]
    assert level(line.record().agent, 1.0, 2.5) > 4000


def test_packets_that_are_held_up_together_are_found_and_the_rest_is_heard() -> None:
    """Half a second of sound comes at once, as late as that, and leaves the buffer dry."""
    line, adapter = heard(sent_at(lambda index: 2.0 if 75 <= index < 100 else index / 50), attempts=1)
    (found,) = found_in(line)
    assert found.kind == "rtp_late"
    assert found.figure == pytest.approx(24, abs=1)
    assert found.start / 8000 == pytest.approx(1.5, abs=0.1)
    assert found.end / 8000 == pytest.approx(2.0, abs=0.1)
    assert "came later than they were due, the latest by" in found.explanation
    assert adapter.quality.ran_dry > 10
    assert level(line.record().agent, 1.65, 1.9) < level(line.record().agent, 0.5, 1.4) / 4
    assert level(line.record().agent, 2.1, 2.4) > 4000
    assert faults(line) == []


def test_with_baresip_packets_that_are_held_up_are_counted_at_the_end_of_the_call() -> None:
    media = sent_at(lambda index: 2.0 if 75 <= index < 100 else index / 50)
    _line, adapter = heard(media, attempts=1, backend="baresip")
    late = [each for each in adapter.findings if each.kind == "rtp_late"]
    assert late[-1].figure >= 24
    assert adapter.quality.discarded == late[-1].figure


def test_packets_that_come_late_again_and_again_are_found_as_one() -> None:
    def due(index: int) -> float:
        return index / 50 + max(0.06 - 0.02 * (index % 10), 0.0)  # four of ten, and none overtakes another

    line, _adapter = heard(sent_at(due), attempts=1)
    (found,) = [found for found in found_in(line) if found.kind == "rtp_late"]
    assert found.figure > 15
    assert found.end - found.start > 12000


def test_a_sender_that_pauses_is_not_late() -> None:
    """It suppresses silence: its timestamps go on with the time, its numbers do not."""

    def paused(index: int) -> tuple[float, RtpPacket]:
        pause = 75 if index >= 50 else 0
        return (index + pause) / 50, replace(tone_packet(index), timestamp=160 * (index + pause))

    line, adapter = heard(sent_as(paused))
    assert found_in(line) == []
    assert adapter.quality.skew_ms == pytest.approx(0, abs=20)


def test_lost_packets_are_found_and_take_no_time_away() -> None:
    line, adapter = heard(stream(lambda packet: () if packet.sequence % 10 == 5 else (packet,)))
    assert "rtp_lost" in [each.kind for each in adapter.findings]
    (found,) = found_in(line)
    assert found.kind == "rtp_lost"
    assert found.start / 8000 == pytest.approx(0.1, abs=0.4)
    assert found.end > 16000
    assert found.figure == pytest.approx(adapter.quality.lost, rel=0.25)
    assert len(line.record().agent) == pytest.approx(24000, abs=800)
    assert level(line.record().agent, 1.0, 2.5) > 4000


def test_packets_of_30_ms_are_heard_whole() -> None:
    line, adapter = heard(stream(samples=240))
    assert purity(line, 0.5, 2.5) > 0.99
    assert faults(line) == []
    assert [each.kind for each in adapter.findings] == []


def test_media_from_another_port_is_followed_and_found() -> None:
    async def moving(agent: SipPeer) -> None:
        other = await agent.another_port()
        clock = LoopClock()
        start = clock.now_ns()
        for index in range(150):
            await clock.sleep_until_ns(start + index * NS // 50)
            packet = RtpPacket(0, index, 160 * index, 5, b"\x20" * 80 + b"\xa0" * 80)
            agent.send(packet, via=other if index >= BREAK else None)

    line, adapter = heard(moving)
    assert "rtp_address_changed" in [each.kind for each in adapter.findings]
    assert "rtp_address_changed" in [each.kind for each in found_in(line)]
    assert level(line.record().agent, 2.2, 2.8) > 1000


def test_an_agent_that_never_sends_media_is_found() -> None:
    line, _adapter = heard(None, seconds=1.6, media_timeout=0.8)
    assert faults(line) == ["no_rtp"]


def test_media_that_stops_is_one_way_audio_and_names_the_direction() -> None:
    line, _adapter = heard(stream(packets=BREAK), seconds=3.0, media_timeout=0.8)
    assert faults(line) == ["one_way_audio"]
    assert "agent to user" in str(next(line.record().of_kind("protocol_fault")).data["detail"])


def test_an_agent_that_dies_without_bye_drops_the_call() -> None:
    async def main() -> None:
        async with peer(media=stream()) as agent:
            adapter = Sip(agent.uri, media_timeout=0.6)
            async with on_line(adapter) as line:
                await line.until_position(8000)
                agent.die()
                await line.until(lambda: None)
            assert line.ended is not None
            assert line.ended.by == "transport"
            assert isinstance(line.ended.error, CallDroppedError)
            assert "vanished without BYE" in str(line.ended.error)
            assert level(line.record().agent, 0.3, 0.9) > 1000

    run_real(main())


def test_a_silent_agent_that_answers_options_is_alive() -> None:
    async def main() -> None:
        async with peer() as agent:
            adapter = Sip(agent.uri, media_timeout=0.4)
            async with on_line(adapter) as line:
                await line.until_position(16000)
            assert line.ended is not None
            assert line.ended.by == "user"
            assert "OPTIONS" in agent.methods()

    run_real(main())
