"""One call's line: it keeps the uplink going, listens always, and knows what was heard.

Theory of operation. :func:`~voiceharness.line.opening.open_line` connects an adapter and yields a :class:`Line` whose
sample 0 is the answer. Three tasks run until the call ends: *uplink* sends a user frame at each deadline (unless the
transport keeps time and asks for frames itself), *downlink* takes what arrives, *watch*
(:mod:`voiceharness.line.speaking`) sets and clears ``agent_speaking``. Whoever drives the line (the scenario engine,
``call()``) places sound on the user's track and awaits positions; it never touches media.

The call ends once: by the agent, by the user, at a limit, or because the transport failed. Nothing here raises for
that. Waits return None, ``ended`` says by whom and why, and ``record()`` gives the evidence up to that sample.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.dtmf import generate
from voiceharness.audio.resample import resample
from voiceharness.clock import NS, Pacer
from voiceharness.errors import PendingTransportError
from voiceharness.events import EndOfStream, RemoteHangup
from voiceharness.impairment.path import CLEAN
from voiceharness.line.bad_line import BadLine, UserSender, bad_line, note_impairments, unheard_events
from voiceharness.line.bell import AN_ONSET, NOTHING, Bell
from voiceharness.line.downlink import Downlink
from voiceharness.line.ending import EndedBy, LineEnd
from voiceharness.line.heard import HeardAsPlayed, HeardImpaired
from voiceharness.line.playout import LivePlayout, PendingMark, QueuedPlayout
from voiceharness.line.record import CallRecord, TimelineEvent
from voiceharness.line.sample_clock import SampleClock
from voiceharness.line.timeline import Timeline
from voiceharness.line.turn import Answer, HeardTurn, hear_turn
from voiceharness.line.uplink import Uplink, Utterance

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    import numpy as np
    from numpy.typing import NDArray

    from voiceharness.adapter import Message, Received, VoiceAgentAdapter
    from voiceharness.capabilities import DtmfMethod
    from voiceharness.clock import Clock
    from voiceharness.line.bell import News
    from voiceharness.line.heard import HeardTrack
    from voiceharness.line.playout import Playout
    from voiceharness.line.settings import LineSettings

__all__ = ["Line"]


class Line:
    """A running call. Made by :func:`~voiceharness.line.opening.open_line`; it satisfies ``TurnTaker``."""

    def __init__(self, adapter: VoiceAgentAdapter, settings: LineSettings, clock: Clock) -> None:
        self.adapter = adapter
        self.settings = settings
        self.clock = clock
        self.samples = SampleClock(clock.now_ns(), settings.rate)
        self.pacer = Pacer(clock, start_ns=self.samples.start_ns + self._delay_ns, rate=settings.rate)
        self.timeline = Timeline()
        self.bell = Bell(clock)
        self.uplink = Uplink(settings.rate, settings.frame)
        self.agent_speaking = asyncio.Event()
        self.ended: LineEnd | None = None
        self._agent_left = False
        self.bad: BadLine | None = None
        self.sender: UserSender | None = None
        self.downlink = self._make_downlink()

    def _make_downlink(self) -> Downlink:
        settings, capacity = self.settings, 60 * self.settings.rate
        playout: Playout = QueuedPlayout(capacity=capacity, prebuffer=settings.samples(settings.prebuffer))
        if self.adapter.timing.playout == "live":
            playout = LivePlayout(capacity=capacity)
        heard: HeardTrack = HeardAsPlayed(playout.track)
        if settings.impairments != CLEAN:
            self.bad = bad = bad_line(settings, user=self.uplink.track, agent=playout.track)
            heard = HeardImpaired(bad.to_user.read_with_losses, capacity)
            self.sender = UserSender(
                bad.to_agent, self.adapter.send_audio, self.clock, self.timeline, self.uplink.mark_delivered
            )
            note_impairments(self.timeline, settings)
        return Downlink(
            rate=settings.rate,
            playout=playout,
            heard=heard,
            now=lambda: self.now,
            timeline=self.timeline,
            bell=self.bell,
            on_mark=self._answer_mark,
        )

    # Time

    @property
    def _delay_ns(self) -> int:
        return round(self.settings.one_way_delay * NS)

    @property
    def now(self) -> int:
        """The present position: samples since the answer."""
        return max(0, self.samples.position_at(self.clock.now_ns()))

    def seconds_of(self, time_ns: int) -> float:
        """Return the seconds after the answer at a time on the loop's clock."""
        return self.samples.position_at(time_ns) / self.settings.rate

    async def until(
        self,
        probe: Callable[[], int | None],
        *,
        deadline: int | None = None,
        on: Collection[News] = AN_ONSET,
    ) -> int | None:
        """Wait for a position that ``probe`` computes from what is known now, and return it.

        The probe may answer with a position in the future; it is asked again then, when there is the news of ``on``,
        and at every change that may bring a position nearer. None: the deadline came first, or the call ended.
        """
        while True:
            at, now = probe(), self.now if self.ended is None else self.ended.at
            if at is not None and at <= now and (deadline is None or at <= deadline):
                return at
            if self.ended is not None or (deadline is not None and now >= deadline):
                return None
            wake = min((position for position in (at, deadline) if position is not None), default=None)
            await self.bell.sleep(None if wake is None else self.samples.time_of(wake), on)

    async def until_position(self, position: int) -> bool:
        """Wait for a position; False if the call ended before."""
        return await self.until(lambda: position, on=NOTHING) is not None

    async def until_sendable(self, position: int) -> bool:
        """Wait until the user's audio from a position on is about to be sent; False if the call ended before.

        A transport that keeps time takes frames ahead of the present; what is said there must be placed before.
        """
        ahead = self.uplink.sent - self.now
        return await self.until_position(position - ahead - self.uplink.frame if ahead > 0 else position)

    # The user's side

    def say(self, samples: NDArray[np.int16], *, at: int | None = None, from_onset: bool = False) -> Utterance:
        """Put a clip on the user's track, now or at a position, and return where it lies."""
        utterance = self.uplink.place(samples, self.now if at is None else at, from_onset=from_onset)
        self._user_will_be_heard(utterance.start)
        self.uplink.notify(utterance.onset + 1, self.adapter.user_turn_started)
        self.uplink.notify(utterance.offset, self.adapter.user_turn_ended)
        return utterance

    async def said(self, utterance: Utterance) -> bool:
        """Wait until an utterance has been said; False if the call ended before."""
        return await self.until_position(utterance.offset)

    async def press(self, digits: str, method: DtmfMethod, *, tone_ms: int = 100, gap_ms: int = 100) -> int:
        """Press keys one after another, each at its own time; returns when the last is done, or the call has ended.

        The result is the position at which the last key went down.
        """
        period = self.settings.samples((tone_ms + gap_ms) / 1000)
        start = last = self.now
        for index, digit in enumerate(digits):
            at = start + index * period
            if not await self.until_position(at):
                return last
            last = at
            if method == "inband":
                last = at = self._sound_key(digit, at, tone_ms, first=index == 0, last=index == len(digits) - 1)
            elif await self._reaches_agent(at):
                await self.adapter.send_dtmf(digit, method=method, tone_ms=tone_ms, gap_ms=gap_ms)
            self.timeline.note(at, "digit_sent", digit=digit, method=method, duration=tone_ms / 1000)
        await self.until_position(start + len(digits) * period)
        return last

    def _sound_key(self, digit: str, at: int, tone_ms: int, *, first: bool, last: bool) -> int:
        """Put a key's tones on the user's track, and return where: later than asked, if that has been sent already.

        A transport that is told of the user's turns takes all keys as one.
        """
        key = self.uplink.place(generate(digit, self.settings.rate, tone_ms=tone_ms, gap_ms=0), at)
        self._user_will_be_heard(key.start)
        if first:
            self.uplink.notify(key.start + 1, self.adapter.user_turn_started)
        if last:
            self.uplink.notify(key.end, self.adapter.user_turn_ended)
        return key.start

    def _user_will_be_heard(self, position: int) -> None:
        """Forget what was computed ahead of an echo of the user on a bad line, from a position on."""
        if self.bad is not None:
            self.downlink.listen_again_from(position)

    async def interrupt(self) -> None:
        """Send the transport's own interrupt signal; an agent that has hung up meanwhile does not get it."""
        at = self.now
        self.timeline.note(at, "interrupt_signal")
        if await self._reaches_agent(at):
            await self.adapter.interrupt()

    async def _reaches_agent(self, position: int) -> bool:
        """Wait until a signal that was sent at a position is at the agent's end; False if nobody is there then."""
        if self._delay_ns:
            await self.clock.sleep_until_ns(self.samples.time_of(position) + self._delay_ns)
        return not self._nobody_there

    def user_frame(self, position: int, samples: int, due_ns: int | None = None) -> AudioChunk:
        """Return the user's audio for a stretch of the track, to a transport whose own tick asks for it.

        ``due_ns``: when its first sample will be heard, on the loop's clock; None: now.
        """
        self.samples.observe(position, self.clock.now_ns() if due_ns is None else due_ns)
        frame = self.uplink.frame_at(position, samples)
        self.uplink.mark_sent(position + samples)
        self.uplink.mark_delivered(position + samples)
        return frame if self.sender is None else self.sender.heard_of(frame)

    # The agent's side

    async def hear(
        self, answer: Answer, *, within: float | None = None, tail: float | None = None, cap: float | None = None
    ) -> HeardTurn:
        """Wait for the agent's answer, and for its end.

        ``within``: seconds from now for its first sound; ``tail``: seconds of silence that end it; ``cap``: seconds
        after which the wait ends whatever is heard. Defaults are the adapter's.
        """
        adapter = self.adapter
        return await hear_turn(
            self,
            answer=answer,
            within=adapter.response_timeout if within is None else within,
            tail=adapter.tail_silence if tail is None else tail,
            cap=adapter.max_turn_duration if cap is None else cap,
        )

    @property
    def heard_transcript(self) -> str:
        """The agent's words heard so far, as its transport delivered them."""
        now = self.now
        return " ".join(word.text for word in self.downlink.words() if word.end <= now)

    async def take_turn(self, message: Message) -> AudioChunk:
        """Say a message's audio, wait for the agent's answer, and return that as it was heard.

        Raises:
            PendingTransportError: if the call has ended.
        """
        if self.ended is not None or not self.adapter.is_connected:
            raise PendingTransportError(self.adapter.name, "take a turn")
        answer = Answer(self.now, self.now)
        if message.audio is not None and len(message.audio):
            utterance = self.say(resample(message.audio.samples, message.audio.rate, self.settings.rate))
            self.note_utterance(utterance, source="say", step=None, text=message.text)
            await self.said(utterance)
            answer = Answer(utterance.offset, utterance.onset)
        turn = await self.hear(answer)
        heard = self.downlink.heard.view(turn.onset, turn.offset)
        return AudioChunk.from_samples(heard, self.settings.rate, turn.onset)

    def note_utterance(
        self, utterance: Utterance, *, source: str, step: int | None, text: str, intent: str | None = None
    ) -> None:
        """Note in the timeline what the user said, where, and what was meant by it (None: judged by the text)."""
        self.timeline.note(
            utterance.onset,
            "user_utterance",
            onset=utterance.onset,
            offset=utterance.offset,
            start=utterance.start,
            end=utterance.end,
            source=source,
            step=step,
            text=text,
            intent=intent,
        )

    # The end, and the evidence

    def hang_up(self, by: EndedBy = "user", reason: str = "") -> None:
        """End the call from this side, now."""
        self._end(LineEnd(by, self.now, reason))

    @property
    def is_over(self) -> bool:
        """Whether the call has ended: it may be judged already, while its transport still runs."""
        return self.ended is not None

    @property
    def _nobody_there(self) -> bool:
        """Whether there is nobody at the other end: the call has ended, or the news of that is on its way."""
        return self.ended is not None or self._agent_left

    def _agent_hung_up(self, end: LineEnd) -> None:
        """End the call when the agent's hang-up is noticed at this end: behind the sound that was sent before it."""
        self._agent_left = True
        if self._delay_ns:
            self.clock.call_at_ns(self.samples.time_of(end.at), lambda: self._end(end))
        else:
            self._end(end)

    def _end(self, end: LineEnd) -> None:
        if self.ended is not None:
            return
        self.ended = end
        self.downlink.end(end.at)
        self.agent_speaking.clear()
        self.timeline.note(end.at, "hangup", by=end.by, reason=end.reason, code=end.code)
        if end.error is not None:
            self.timeline.note(end.at, "fault", error=type(end.error).__name__, message=str(end.error))
        self.bell.ring()

    def record(self) -> CallRecord:
        """Return the evidence up to now, or up to the end of the call."""
        end = self.now if self.ended is None else self.ended.at
        stalls = [
            TimelineEvent(self.samples.position_at(stall.due_ns), "stall", {"duration": stall.duration})
            for stall in self.pacer.stalls
        ]
        unheard = [] if self.bad is None else unheard_events(self.bad.to_user, end, self.settings.frame)
        return CallRecord(
            self.settings.rate,
            self.uplink.track.copy(end),
            self.downlink.heard.view(0, end).copy(),
            self.timeline.until(end, [*self.downlink.word_events(end), *stalls, *unheard]),
            self.downlink.playout.arrivals(),
            self.downlink.received(),
        )

    # Tasks

    async def run_uplink(self) -> None:
        """Send a frame at each deadline, from the answer to the end of the call."""
        uplink, adapter, wait_for = self.uplink, self.adapter, self.pacer.wait_for
        send = adapter.send_audio if self.sender is None else self.sender.take
        while True:
            end = uplink.sent + uplink.frame
            await wait_for(end)
            if self.ended is not None or self._agent_left:
                return
            if not adapter.is_connected:
                raise PendingTransportError(adapter.name, "send the user's audio")
            await send(uplink.next_frame())
            uplink.mark_sent(end)
            if self.sender is None:  # else it says itself when a frame, late or lost, has been dealt with
                uplink.mark_delivered(end)

    async def run_downlink(self) -> None:
        """Take what arrives until nothing more comes."""
        while not self._nobody_there:
            item = await self.adapter.receive_audio(None)
            if item is not None and not self._take(item):
                return

    def _take(self, item: Received) -> bool:
        at_ns = self.clock.now_ns() if item.at_ns is None else item.at_ns
        at = max(0, self.samples.position_at(at_ns + self._delay_ns))  # what came before the answer is heard at it
        match item:
            case AudioChunk():
                self.downlink.audio(item, at)
            case RemoteHangup(reason=reason, code=code):
                self._agent_hung_up(LineEnd("agent", at, reason, code))
            case EndOfStream():
                self._agent_hung_up(LineEnd("agent", at, "the agent's stream ended"))
                return False
            case _:
                self.downlink.event(item, at)
        return True

    def _answer_mark(self, mark: PendingMark, flushed: bool) -> None:
        due = self.downlink.flushed_at if flushed else mark.due
        self.clock.call_at_ns(self.samples.time_of(due) + self._delay_ns, lambda: self._mark_over(mark, due, flushed))

    def _mark_over(self, mark: PendingMark, due: int, flushed: bool) -> None:
        if self._nobody_there:
            return
        if not flushed and not self.downlink.playout.reach(mark):
            return  # a flush took it first
        self.timeline.note(due, "mark_played", name=mark.name, flushed=flushed)
        self.adapter.played(mark.name, flushed)

    def fail(self, error: BaseException) -> None:
        """End the call because a task of the line failed; nothing can be sent to an agent that has left."""
        if not self._agent_left:
            self._end(LineEnd("transport", self.now, str(error), error=error))
