"""Cases from the field about a telephone line: echo, short words, the sender's clock, media that comes late."""

from __future__ import annotations

import asyncio
import os
import signal
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.adapters.sip.calling import level, mulaw_noise, on_line, sent_at, stream
from tests.adapters.sip.peer import SDP, Reply, peer
from voiceharness import AudioChunk, Hangup, LineProfile, NoFault, Say, Scenario, Wait, run_call
from voiceharness.audio import g711
from voiceharness.audio.signals import speech_like, tone
from voiceharness.clock import NS, LoopClock, run_real
from voiceharness.doubles import ProbeAgent
from voiceharness.doubles.plain import DoubleAgent
from voiceharness.doubles.turn_taking import Endpointer
from voiceharness.protocols.rtp import StreamWatch
from voiceharness_adapters.sip import Sip, SipEndpoint, host
from voiceharness_adapters.sip.hosting import serve_calls

if TYPE_CHECKING:
    from collections.abc import Callable

    from voiceharness import CallResult
    from voiceharness.agent import AgentCall
    from voiceharness.events import UserItem
    from voiceharness.line.record import CallRecord
    from voiceharness.protocols.rtp import RtpPacket

__all__: list[str] = []

pytestmark = pytest.mark.realtime

SPEECH = 2.0
"""Seconds that the agent speaks: a third of what case A25 says."""


def test_an_agent_that_stops_at_its_own_echo_is_cut_short_and_one_that_is_deaf_to_it_is_not() -> None:
    """Case A25: the user never speaks, and the agent's sound comes back at each gain."""

    async def main() -> None:
        clip = AudioChunk.from_samples(tone(440, SPEECH))
        right, faulty = ProbeAgent([(0.2, clip)]), ProbeAgent([(0.2, clip)], yields_after=0.1)
        scenario = Scenario("echo", steps=[Wait(2.6), Hangup()])
        async with (
            SipEndpoint() as deaf,
            serve_calls(right, deaf),
            SipEndpoint() as jumpy,
            serve_calls(faulty, jumpy),
            SipEndpoint() as ours,
        ):

            async def call(uri: str, echo: float | None) -> CallResult:
                return await run_call(replace(scenario, line=LineProfile(echo=echo)), Sip(uri, endpoint=ours))

            gains = (None, -25.0, -10.0)
            results = await asyncio.gather(*(call(deaf.uri, echo) for echo in gains), call(jumpy.uri, -10.0))
        for result in results[:3]:
            assert spoke_for(result) == pytest.approx(SPEECH, abs=0.04)
            assert result.findings == ()
        assert spoke_for(results[3]) < 1.0
        echoes = {round(level_db(log.audio.samples, 0.9, 1.9), 1) for log in right.logs if log.audio.samples.any()}
        original = level_db(tone(440, 1.0), 0.0, 1.0)
        assert sorted(echoes) == [pytest.approx(original - 25.0, abs=0.5), pytest.approx(original - 10.0, abs=0.5)]

    run_real(main())


def level_db(samples: np.ndarray[tuple[int], np.dtype[np.int16]], start: float, end: float) -> float:
    return float(20 * np.log10(level(samples, start, end) / 32768))


def spoke_for(result: CallResult) -> float:
    """Seconds from the agent's first to its last sound."""
    assert result.record is not None
    loud = np.flatnonzero(np.abs(result.record.agent.astype(int)) > 1000)
    return float(loud[-1] - loud[0]) / 8000


def test_the_echo_leaves_after_its_delay() -> None:
    """Case A25: 150 ms, within a frame; timestamps of what was sent tell, counted from a click of the user."""
    loud: list[int] = []

    def heard(packet: RtpPacket, _at_ns: int) -> None:
        samples = np.abs(np.frombuffer(g711.decode(packet.payload), "<i2").astype(int))
        loud.extend(packet.timestamp + int(index) for index in np.flatnonzero(samples > 500))

    async def main() -> CallResult:
        silent = g711.encode(bytes(320))
        sound = stream(lambda packet: (packet if packet.sequence > 40 else replace(packet, payload=silent),))
        async with peer(media=sound, heard=heard) as agent:
            click = Say(audio=AudioChunk.from_samples(tone(700, 0.1)))
            line = LineProfile(echo=-10.0)
            scenario = Scenario("echo", steps=[Wait(0.1), click, Wait(1.2), Hangup()], line=line)
            return await run_call(scenario, Sip(agent.uri))

    result = run_real(main())
    assert result.record is not None
    assert result.metrics is not None
    spoken = int(np.flatnonzero(np.abs(result.record.agent.astype(int)) > 1600)[0])
    echoed = loud[int(np.argmax(np.diff(loud))) + 1] - loud[0] + result.metrics.utterances[0].onset
    assert (echoed - spoken) / 8000 == pytest.approx(0.15, abs=0.02)


WORDS = (0.06, 0.12, 0.25, 0.4)


class AnswersWords(DoubleAgent):
    """Answers each word of the user that is long enough for it."""

    def __init__(self, shortest: float) -> None:
        super().__init__()
        self.shortest = shortest

    def reaction(self, call: AgentCall) -> Callable[[UserItem], None]:
        """Answer a word 0.2 s after its end."""
        endpointer, answer = Endpointer(call.rate, pause=0.2), AudioChunk.from_samples(tone(600, 0.2))

        def take(item: UserItem) -> None:
            for word in endpointer.feed(item) if isinstance(item, AudioChunk) else ():
                if word.offset is not None and word.offset - word.onset >= self.shortest * call.rate:
                    call.send(answer)

        return take


def test_short_words_reach_the_agent_whole_and_their_answers_are_known() -> None:
    """Case A66; also with an agent that takes no word under 100 ms."""
    words = [AudioChunk(g711.decode(g711.encode(speech_like(length, seed=4).tobytes()))) for length in WORDS]
    steps = [step for word in words for step in (Say(audio=word), Wait(0.8))]
    scenario = Scenario("short words", steps=[*steps, Hangup()])

    async def unanswered(agent: AnswersWords) -> list[float]:
        async with host(agent) as target:
            result = await run_call(scenario, Sip(str(target["target"])))
        assert [length for length, word in zip(WORDS, words, strict=True) if word.pcm not in agent.log.audio.pcm] == []
        assert result.metrics is not None
        latencies = result.metrics.latencies
        return [length for length, latency in zip(WORDS, latencies, strict=True) if latency is None]

    async def main() -> None:
        of_all, of_longer = await asyncio.gather(unanswered(AnswersWords(0.0)), unanswered(AnswersWords(0.1)))
        assert of_all == []
        assert of_longer == [0.06]

    run_real(main())


def test_the_senders_clock_is_tied_to_time() -> None:
    """Case A48 (b): what the harness sends keeps to absolute deadlines, and carries its time."""
    watch = StreamWatch()

    def watching(packet: RtpPacket, at_ns: int) -> None:
        watch.push(packet, at_ns)

    async def main() -> None:
        async with peer(media=stream(), heard=watching) as agent, on_line(Sip(agent.uri)) as line:
            line.say(tone(700, 2.5), at=800)
            await line.until_position(24000)
        assert abs(watch.skew) <= 0.02
        assert (watch.lost, watch.reordered) == (0, 0)

    run_real(main())


LATE = {"naive": 0.003, "absolute": 0.0}
"""Seconds by which each frame of an agent is later than the one before: three times what case A48 says."""


@pytest.mark.parametrize("sender", LATE)
def test_an_agent_whose_packets_fall_behind_their_timestamps_fails_where_a_limit_says_so(sender: str) -> None:
    """Case A48 (a) and (b), on a call of three seconds: 120 frames."""
    late = LATE[sender]

    async def main() -> CallResult:
        async with peer(media=sent_at(lambda index: index * (0.02 + late))) as agent:
            scenario = Scenario("skew", steps=[Wait(2.9), Hangup()], limits=[NoFault(["rtp_clock_skew"])])
            return await run_call(scenario, Sip(agent.uri))

    result = run_real(main())
    frames = 2.9 / (0.02 + late)
    assert float(str(result.facts["rtp_skew_ms"])) == pytest.approx(1000 * late * frames, abs=60 if late else 20)
    assert result.outcome == ("failed" if late else "passed")
    skewed = [found for found in result.findings if found.kind == "rtp_clock_skew"]
    assert [found.severity for found in skewed] == ["warning"] * bool(late)


STALL = 1.2


def test_a_sender_that_was_stopped_sends_no_burst_but_timestamps_that_keep_time_and_is_not_trusted() -> None:
    """Case A48: after a stall of the worker the frames of that time are left out, not sent all at once."""
    arrivals: list[int] = []
    packets: list[RtpPacket] = []

    def heard(packet: RtpPacket, at_ns: int) -> None:
        packets.append(packet)
        arrivals.append(at_ns)

    async def main() -> None:
        async with peer(media=stream(), heard=heard) as agent:
            adapter = Sip(agent.uri)
            async with on_line(adapter) as line:
                line.say(tone(700, 3.0), at=800)
                await line.until_position(4000)
                os.kill(adapter.endpoint.pids[0], signal.SIGSTOP)
                await LoopClock().sleep(STALL)
                os.kill(adapter.endpoint.pids[0], signal.SIGCONT)
                await line.until_position(12000)
            assert any("media clock lost" in reason for reason in adapter.trust_reasons())

    run_real(main())
    gaps = np.diff(arrivals)
    after = int(np.argmax(gaps)) + 1
    assert gaps[after - 1] > 0.9 * STALL * NS
    burst = sum(at - arrivals[after] < NS // 10 for at in arrivals[after:])
    assert burst < 15
    before, first = packets[after - 1], packets[after]
    skipped = (first.timestamp - before.timestamp) / 8000
    assert first.sequence - before.sequence == 1
    assert skipped == pytest.approx(gaps[after - 1] / NS, abs=0.05)
    steps = {packets[index + 1].timestamp - packets[index].timestamp for index in range(after, len(packets) - 1)}
    assert steps == {160}


def test_the_users_first_word_is_whole_though_media_came_late() -> None:
    """Case B43: the media is not up at the answer, but 0.8 s after."""
    heard = bytearray()
    word = mulaw_noise(0.5)

    async def talk(adapter: Sip) -> None:
        async with on_line(adapter) as line:
            said = line.say(word, at=800)
            await line.until_position(said.end + 1600)

    async def main() -> None:
        inactive = (Reply(200, "OK", SDP + "a=inactive\n"),)
        async with peer(replies=inactive, media=stream(), heard=lambda got, _at: heard.extend(got.payload)) as agent:
            talking = asyncio.create_task(talk(Sip(agent.uri)))
            await agent.acked.wait()
            await LoopClock().sleep(0.8)
            agent.reinvite(SDP + "a=sendrecv\n")
            await talking

    run_real(main())
    assert g711.encode(word.tobytes()) in heard


CLICKS = (30, 255)
"""Packets of the agent that hold a click."""


def test_gaps_in_the_agents_stream_do_not_add_up() -> None:
    """Case B49, five seconds of it: a packet in 21 is missing, and the line runs at another rate than the codec."""
    sent: list[int] = []

    def heard(packet: RtpPacket, _at_ns: int) -> None:
        if np.abs(np.frombuffer(g711.decode(packet.payload), "<i2").astype(int)).max() > 4000:
            sent.append(packet.timestamp)

    def clicking(packet: RtpPacket) -> tuple[RtpPacket, ...]:
        if packet.sequence % 21 == 20:
            return ()
        return (packet if packet.sequence in CLICKS else replace(packet, payload=g711.encode(bytes(320))),)

    async def main() -> CallRecord:
        async with peer(media=stream(clicking), heard=heard) as agent:
            async with on_line(Sip(agent.uri, rate=16000, codecs="PCMU")) as line:
                for at in (8000, 80000):
                    line.say(tone(700, 0.01, 16000), at=at)
                await line.until_position(90000)
            return line.record()

    track = np.abs(run_real(main()).agent.astype(int))
    loud = np.flatnonzero(track > 4000)
    heard_apart = (loud[np.argmax(np.diff(loud)) + 1] - loud[0]) / 16000
    assert heard_apart == pytest.approx((CLICKS[1] - CLICKS[0]) / 50, abs=0.02)
    assert (sent[-1] - sent[0]) / 8000 == pytest.approx(72000 / 16000, abs=0.02)
