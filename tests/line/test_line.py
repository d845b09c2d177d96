"""The line as a whole, against agents in the same loop."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pytest

from tests.line.agents import on_line, tone
from voiceharness.adapter import Message
from voiceharness.agent import AgentCall, PhoneAgent
from voiceharness.audio import signals
from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.vad import find_segments
from voiceharness.clock import run_virtual
from voiceharness.doubles import ScriptedPhoneAgent
from voiceharness.doubles.scripted_agent import paced
from voiceharness.errors import AgentCrashedError, CallDroppedError, ConnectError, PendingTransportError
from voiceharness.events import CallEnded, Digit, Flush, Interrupted, Mark, MarkPlayed, RemoteHangup
from voiceharness.line.ending import LineEnd
from voiceharness.line.opening import open_line
from voiceharness.line.settings import LineSettings
from voiceharness.line.turn import Answer
from voiceharness_adapters.in_process import InProcess

if TYPE_CHECKING:
    from voiceharness.adapter import Received
    from voiceharness.line.line import Line
    from voiceharness.line.record import CallRecord

FRAME = 160
T = TypeVar("T")


def heard(record: CallRecord) -> list[tuple[int, int]]:
    """Where the agent was heard, in milliseconds."""
    return [(round(s.onset / 8), round(s.offset / 8)) for s in find_segments(record.agent, record.rate)]


def received(agent: ScriptedPhoneAgent, kind: type[T]) -> list[tuple[float, T]]:
    """What of one kind reached the agent, with the second it came at."""
    return [(entry.at, entry.item) for entry in agent.log.items if isinstance(entry.item, kind)]


def recording(agent: PhoneAgent, seconds: float, settings: LineSettings | None = None) -> CallRecord:
    async def body(line: Line) -> CallRecord:
        await line.until_position(line.settings.samples(seconds))
        line.hang_up()
        return line.record()

    return on_line(agent, body, settings)


def test_a_burst_is_heard_at_its_own_speed_and_a_flush_cuts_it() -> None:
    """Case A01: 5000 ms arrive at once; only with a flush does the user stop hearing them."""
    without = recording(ScriptedPhoneAgent([(0.0, tone(440, 5.0))]), 6.0)
    flushed = recording(ScriptedPhoneAgent([(0.0, tone(440, 5.0)), (1.7, Flush())]), 6.0)
    assert heard(without) == [(0, 5000)]
    assert heard(flushed) == [(0, 1700)]
    assert [(event.at, event.data["cut"]) for event in flushed.of_kind("flush")] == [(13600, 26400)]
    assert sum(piece.samples for piece in without.arrivals) == sum(piece.samples for piece in flushed.arrivals)


def test_the_queue_is_empty_after_each_flush() -> None:
    """Case A09."""
    acts = [
        (second, act) for turn in range(3) for second, act in ((turn * 1.0, tone(440, 20.0)), (turn + 0.1, Flush()))
    ]
    record = recording(ScriptedPhoneAgent([*acts, (4.0, tone(440, 2.0))]), 7.0)
    assert heard(record)[-1] == (4000, 6000)
    assert record.arrivals[-1].heard == 16000


def test_marks_come_back_when_playout_reaches_them() -> None:
    """Case A10: five seconds of audio and five marks are sent at once; the marks come back a second apart."""

    agent = ScriptedPhoneAgent(
        [*((0.0, item) for number in range(1, 6) for item in (tone(440, 1.0), Mark(f"c{number}")))]
    )
    recording(agent, 6.0)
    assert [(second, mark.name) for second, mark in received(agent, MarkPlayed)] == [
        (1.0, "c1"),
        (2.0, "c2"),
        (3.0, "c3"),
        (4.0, "c4"),
        (5.0, "c5"),
    ]


def test_a_flush_answers_the_marks_it_removes_at_once() -> None:
    agent = ScriptedPhoneAgent([(0.0, tone(440, 3.0)), (0.0, Mark("end")), (1.0, Flush())])
    recording(agent, 4.0)
    assert received(agent, MarkPlayed) == [(1.0, MarkPlayed("end", flushed=True))]


def test_an_agent_that_paces_itself_leaves_no_hole_in_a_minute() -> None:
    record = recording(ScriptedPhoneAgent(paced(tone(440, 60.0), 0.0)), 60.0)
    assert heard(record) == [(0, 60000)]
    reference = np.concatenate([tone(440, 60.0).samples])
    np.testing.assert_array_equal(record.agent, reference)


def test_tracks_keep_the_gaps_between_utterances() -> None:
    """Case B13: the user sends nothing; the agent's utterances stay seconds apart, and both tracks are as long."""
    record = recording(ScriptedPhoneAgent([(0.0, tone(440, 0.5)), (7.5, tone(440, 0.5)), (15.0, tone(440, 0.5))]), 16.0)
    assert heard(record) == [(0, 500), (7500, 8000), (15000, 15500)]
    assert len(record.user) == len(record.agent) == 16 * 8000
    assert not record.user.any()


def test_user_frames_leave_without_gap_from_answer_to_hang_up() -> None:
    agent = ScriptedPhoneAgent([])
    recording(agent, 60.01)
    frames = received(agent, AudioChunk)
    assert [frame.position for _, frame in frames] == list(range(0, 60 * 8000, FRAME))
    assert all(second == (frame.position + FRAME) / 8000 for second, frame in frames if frame.position is not None)


def test_one_way_delay_shifts_both_directions() -> None:
    """Case A14's carrier: 300 ms one way; what is sent at 0 is heard from 300 ms on."""
    agent = ScriptedPhoneAgent([(0.0, tone(440, 2.0))])
    record = recording(agent, 3.0, LineSettings(delay=0.3))
    assert heard(record) == [(300, 2300)]
    assert received(agent, AudioChunk)[0][0] == pytest.approx(0.32, abs=1e-9)


def test_the_agents_hang_up_ends_the_call_and_cuts_what_was_not_heard() -> None:
    """Case A56: the goodbye is still in the queue when the agent hangs up."""
    agent = ScriptedPhoneAgent([(0.0, tone(440, 3.0)), (0.2, RemoteHangup("bye", 16))])

    async def body(line: Line) -> tuple[CallRecord, Line]:
        await line.until(lambda: None)
        return line.record(), line

    record, line = on_line(agent, body)
    assert line.ended is not None
    assert (line.ended.by, line.ended.reason, line.ended.code) == ("agent", "bye", 16)
    assert line.is_over
    assert heard(record) == [(0, 200)]
    assert len(record.user) == 1600


def test_an_agent_that_crashes_ends_the_call_with_its_exception_and_keeps_the_evidence() -> None:
    """Case B03: the run ends at once with the original exception as cause."""

    class Crashing(PhoneAgent):
        async def answer(self, call: AgentCall) -> None:
            call.send(tone(440, 1.0))
            await call.clock.sleep(1.5)
            raise ValueError("boom")

    async def body(line: Line) -> tuple[float, CallRecord, Line]:
        await line.until_position(line.settings.samples(30.0))
        return line.now / 8000, line.record(), line

    now, record, line = on_line(Crashing(), body)
    assert now == 1.5
    assert heard(record) == [(0, 1000)]
    assert line.ended is not None
    assert isinstance(line.ended.error, AgentCrashedError)
    assert isinstance(line.ended.error.__cause__, ValueError)
    assert [event.data["error"] for event in record.of_kind("fault")] == ["AgentCrashedError"]


def test_two_calls_of_call_leave_a_gapless_uplink_and_the_answers_as_heard() -> None:
    class Answering(PhoneAgent):
        """Answers each second of sound with a tone, a fifth of a second after it fell silent."""

        def __init__(self) -> None:
            self.frames: list[AudioChunk] = []

        async def answer(self, call: AgentCall) -> None:
            quiet, loud = 0, False
            while not isinstance(item := await call.receive(), CallEnded):
                if not isinstance(item, AudioChunk):
                    continue
                self.frames.append(item)
                quiet = 0 if item.pcm.strip(b"\0") else quiet + 1
                loud = loud or not quiet
                if loud and quiet == 10:
                    loud = False
                    call.send(tone(880, 0.5))

    agent = Answering()

    async def main() -> tuple[list[AudioChunk], CallRecord]:
        adapter = InProcess(agent)
        async with open_line(adapter, LineSettings()) as line:
            answers = [await adapter.call(Message("user", tone(500, 1.0)))]
            await line.clock.sleep(3.0)
            answers.append(await adapter.call([Message("agent"), Message("user", tone(500, 1.0))]))
            return answers, line.record()

    answers, record = run_virtual(main())
    assert [round(answer.duration, 2) for answer in answers] == [0.5, 0.5]
    positions = [frame.position for frame in agent.frames]
    assert positions == list(range(0, len(positions) * FRAME, FRAME))
    assert len(heard(record)) == 2
    assert [event.data["source"] for event in record.of_kind("user_utterance")] == ["say", "say"]


def test_call_without_a_line_or_a_connection_is_a_pending_transport() -> None:
    """Case B05, second run."""

    async def main() -> None:
        with pytest.raises(PendingTransportError, match="not connected"):
            await InProcess(ScriptedPhoneAgent([])).call(Message("user", tone(500, 1.0)))

    run_virtual(main())


def test_an_interrupt_signal_reaches_the_agent_and_removes_no_audio() -> None:
    agent = ScriptedPhoneAgent([(0.0, tone(440, 2.0))])

    async def body(line: Line) -> CallRecord:
        await line.until_position(8000)
        await line.interrupt()
        await line.until_position(24000)
        return line.record()

    record = on_line(agent, body)
    assert received(agent, Interrupted) == [(1.0, Interrupted())]
    assert heard(record) == [(0, 2000)]


def test_a_call_that_is_not_answered_in_time_is_a_connect_error() -> None:
    class Ringing(InProcess):
        async def connect(self) -> None:
            await asyncio.Event().wait()

    async def main() -> None:
        async with open_line(Ringing(ScriptedPhoneAgent([])), LineSettings(), connect_timeout=5.0):
            raise AssertionError("the line must not open")

    with pytest.raises(ConnectError, match="not answered within 5 s"):
        run_virtual(main())


def test_nothing_of_the_line_is_left_behind() -> None:
    async def main() -> set[str]:
        async with open_line(InProcess(ScriptedPhoneAgent([(0.0, tone(440, 1.0))])), LineSettings()) as line:
            await line.until_position(4000)
        return {task.get_name() for task in asyncio.all_tasks()} - {asyncio.current_task().get_name()}  # type: ignore[union-attr] # there is one

    assert run_virtual(main()) == set()


def test_a_frame_counts_as_sent_only_when_its_send_has_returned() -> None:
    """Case B64: the transport dies during the send of frame 40; 39 frames were sent, and the record says so."""

    class Dying(InProcess):
        sends = 0

        async def send_audio(self, chunk: AudioChunk) -> None:
            self.sends += 1
            if self.sends == 40:
                raise CallDroppedError("the socket died")
            await super().send_audio(chunk)

    async def main() -> tuple[Line, CallRecord]:
        async with open_line(Dying(ScriptedPhoneAgent([])), LineSettings()) as line:
            await line.until_position(80000)
            return line, line.record()

    line, record = run_virtual(main())
    assert line.uplink.sent == 39 * FRAME
    assert line.ended is not None
    assert (line.ended.by, line.ended.reason) == ("transport", "the socket died")
    assert record.duration == 0.8


def test_an_answer_after_a_flush_is_noticed_when_it_begins_however_much_had_been_queued() -> None:
    """Case A09: frames that were queued far ahead and flushed do not hide the onset of what follows."""
    pcm = tone(440, 5.0).pcm
    burst = [(0.0, AudioChunk(pcm[at : at + 320])) for at in range(0, len(pcm), 320)]
    agent = ScriptedPhoneAgent([*burst, (1.0, Flush()), *paced(tone(880, 0.5), 3.0)])

    async def body(line: Line) -> int:
        await line.until_position(16000)
        turn = await line.hear(Answer(16000, 16000))
        assert turn.outcome == "heard"
        assert (turn.onset, turn.offset) == pytest.approx((24000, 28000), abs=2)
        return line.now

    assert on_line(agent, body) == pytest.approx(28000 + 0.7 * 8000, abs=2)


class Stamping(InProcess):
    """An adapter whose first audio was stamped before the line asked for it, as behind a socket."""

    early_ns = 0

    async def receive_audio(self, timeout: float | None = None) -> Received | None:
        item = await super().receive_audio(timeout)
        if not isinstance(item, AudioChunk) or item.at_ns is None:
            return item
        return replace(item, at_ns=item.at_ns - self.early_ns)


def test_sound_that_came_before_the_line_was_open_is_heard_at_the_answer() -> None:
    async def main() -> CallRecord:
        adapter = Stamping(ScriptedPhoneAgent([(0.0, tone(440, 0.5))]))
        adapter.early_ns = 1_000_000
        async with open_line(adapter, LineSettings()) as line:
            await line.until_position(8000)
            assert line.ended is None
            return line.record()

    assert heard(run_virtual(main())) == [(0, 500)]


def test_a_late_arrival_moves_no_onset_that_is_seen_during_the_call() -> None:
    """What was taken for silence up to now is listened to again when sound turns out to have begun before."""

    async def main() -> int | None:
        adapter = Stamping(ScriptedPhoneAgent([(1.0, tone(440, 0.5))]))
        adapter.early_ns = 30_000_000
        async with open_line(adapter, LineSettings()) as line:
            await line.until_position(8000 - 1)
            line.downlink.segments()  # listen up to here
            await line.until_position(10000)
            return line.downlink.next_onset(0)

    assert run_virtual(main()) == pytest.approx(8000 - 240, abs=2)


def test_keys_reach_the_agent_at_their_own_times_however_long_the_line() -> None:
    agent = ScriptedPhoneAgent([])

    async def body(line: Line) -> None:
        await line.press("123", "event")
        await line.until_position(8000)

    on_line(agent, body, LineSettings(delay=0.5))
    assert [at for at, _ in received(agent, Digit)] == pytest.approx([0.5, 0.7, 0.9])


def test_a_hang_up_is_noticed_behind_the_sound_that_was_sent_before_it() -> None:
    """With a delay, what the agent said just before it hung up is heard to its end."""

    async def body(line: Line) -> tuple[str, int, int]:
        turn = await line.hear(Answer(0, 0))
        assert line.ended is not None
        return turn.outcome, turn.offset, line.ended.at

    agent = ScriptedPhoneAgent([(0.5, tone(440, 1.5)), (2.0, RemoteHangup("bye"))])
    outcome, offset, ended_at = on_line(agent, body, LineSettings(delay=0.5))
    assert (outcome, ended_at) == ("call_ended", 20000)
    assert offset == pytest.approx(20000, abs=2)


class Deserted(InProcess):
    """A transport that cannot be used any more once the agent has hung up."""

    left = False

    async def receive_audio(self, timeout: float | None = None) -> Received | None:
        item = await super().receive_audio(timeout)
        self.left = self.left or isinstance(item, RemoteHangup)
        return item

    def _connected(self, action: str) -> AgentCall:
        if self.left:
            raise PendingTransportError(self.name, action)
        return super()._connected(action)


def test_what_the_user_does_while_the_news_of_a_hang_up_is_under_way_reaches_nobody() -> None:
    async def main() -> LineEnd | None:
        adapter = Deserted(ScriptedPhoneAgent([(1.0, RemoteHangup("bye"))]))
        async with open_line(adapter, LineSettings(delay=0.3)) as line:
            await line.until_position(5600)
            await line.interrupt()
            await line.press("123456789", "event")
            return line.ended

    assert run_virtual(main()) == LineEnd("agent", 10400, "bye")


def test_audio_of_any_rate_can_be_said_by_call() -> None:
    async def body(line: Line) -> CallRecord:
        clip = AudioChunk.from_samples(signals.tone(440, 1.0, 16000), 16000)
        await line.adapter.call(Message("user", clip))
        return line.record()

    record = on_line(ScriptedPhoneAgent([(2.0, tone(880, 0.5))]), body)
    [said] = record.of_kind("user_utterance")
    assert said.data["offset"] == pytest.approx(8000, abs=80)


def test_marks_come_back_a_way_there_and_back_later_flushed_or_not() -> None:
    agent = ScriptedPhoneAgent([(0.0, tone(440, 1.0)), (0.0, Mark("flushed")), (0.5, Flush()), (0.5, Mark("reached"))])
    record = recording(agent, 3.0, LineSettings(delay=0.3))
    assert [at for at, _ in received(agent, MarkPlayed)] == pytest.approx([1.1, 1.1])
    assert [mark.flushed for _, mark in received(agent, MarkPlayed)] == [True, False]
    assert [(event.at, event.data["name"]) for event in record.of_kind("mark_played")] == [
        (6400, "flushed"),
        (6400, "reached"),
    ]
