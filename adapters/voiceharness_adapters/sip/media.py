"""The media of a call on the user's side: between the worker's ticks and the line.

Theory of operation. The call's positions begin with the tick after the answer. Each tick asks the line for the user's
frame ``lead`` ticks ahead, so that it is at the worker in time. What was heard is held back for a few ticks, until it
is known how long the worker itself holds sound back; then everything is given its place on the wire. That is so at the
begin, and where the worker's buffer ran dry. Each digit of the agent is told once: an RTP event or an INFO as such, a
tone in the sound unless it accompanies one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.dtmf import DtmfDetector
from voiceharness.events import Digit, MediaTrouble, ProtocolFault
from voiceharness_adapters.sip.ticks import Ticks
from voiceharness_adapters.sip.watch import Finding
from voiceharness_adapters.sip.wire import NOTHING_SENT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from voiceharness.adapter import TurnTaker
    from voiceharness.inbox import Inbox
    from voiceharness_adapters.sip.call import SipCall
    from voiceharness_adapters.sip.watch import MediaWatch
    from voiceharness_adapters.sip.wire import Heard
    from voiceharness_adapters.sip.worker import Event

__all__ = ["UserMedia"]

FRAMES_PER_SECOND: Final = 50
MEASURED_TICKS: Final = 8
"""Ticks that may pass until it is known how long the worker holds sound back; then the usual time is taken."""

EXAMINED_FRAMES: Final = 5

_NS: Final = 1_000_000_000
_SAME_DIGIT_NS: Final = 400_000_000
_FAULTS: Final = frozenset({"rtp_payload_type"})


class UserMedia:
    """Sends what the line says and hands on what is heard, from the answer to the end.

    ``usual_wait`` and ``concealment`` are how long, in seconds, the worker's jitter buffer and its loss concealment
    hold sound back. ``findings`` is what was seen of the media, with the time of each; ``unsent`` counts the user's
    frames that came too late for their ticks.
    """

    def __init__(
        self,
        call: SipCall,
        inbox: Inbox,
        *,
        rate: int,
        lead: int,
        usual_wait: float,
        concealment: float,
        watch: MediaWatch,
        answered: Heard,
    ) -> None:
        self.findings: list[tuple[int, Finding]] = []
        self.unsent = 0
        self._may_be_unsent = False  # if another tick follows: in the one of the hang-up nothing is sent any more
        self._in_doubt_since: float | None = 0.0
        self.answered = answered
        self._call = call
        self._inbox = inbox
        self._lead = lead
        self._concealment = concealment
        self._line: TurnTaker | None = None
        self._last = answered
        self._asked = self._first = answered.tick + 1
        self._waiting: list[Heard] | None = []
        self._detector = DtmfDetector(rate)
        self._unexamined = bytearray()
        self._examined = self._heard_until = 0
        self._signalled: Digit | None = None
        self._watch = watch
        self._held = False
        frame = rate // FRAMES_PER_SECOND
        self._silence = bytes(2 * frame)
        usual = round((usual_wait + concealment) * rate)
        self.ticks = Ticks(answered.tick + 1, frame, rate, usual, usual)

    @property
    def silent(self) -> bool:
        """Whether the agent's side has sent nothing for too long."""
        return self._watch.silent

    @property
    def holdback(self) -> float:
        """Seconds from a packet's arrival to the tick that hears it."""
        return self.ticks.delay / self.ticks.rate

    @property
    def measured(self) -> bool:
        """Whether that was measured for all that came, but for a quarter of a second of it at the most."""
        return self._in_doubt_since is None or 0 < self._in_doubt_since >= self._received - FRAMES_PER_SECOND // 4

    @property
    def _received(self) -> float:
        return self._call.stats.get("received", 0)

    @property
    def lost_time(self) -> float:
        """Seconds by which the ticks fell behind the time: the worker's media clock had to skip some."""
        counted = (self._last.tick - self.answered.tick) / FRAMES_PER_SECOND
        return (self._last.at_ns - self.answered.at_ns) / _NS - counted

    # The user's side

    def attach(self, line: TurnTaker) -> None:
        """Ask a line for what the user says, from now on; its first frame has as much time as every other."""
        self._line = line
        self._asked = self._first = max(self._asked, self._last.tick + self._lead)
        self._ask()

    def _ask(self) -> None:
        """Ask for the frames up to ``lead`` ticks ahead."""
        if self._line is None:
            return
        ticks, last = self.ticks, self._last
        for tick in range(self._asked, last.tick + self._lead + 1):
            position = ticks.sent_at(tick)
            due_ns = ticks.due_ns(position, tick=last.tick, at_ns=last.at_ns)
            self._call.send(tick, self._line.user_frame(position, ticks.frame, due_ns).pcm)
        self._asked = max(self._asked, last.tick + self._lead + 1)

    # From the worker

    def heard(self, heard: Heard) -> None:
        """Take one tick."""
        self.unsent += self._may_be_unsent
        asked_for = self._line is not None and self._first <= heard.tick < self._asked
        self._may_be_unsent = asked_for and not self._held and heard.sent == NOTHING_SENT
        self._last = heard
        self._ask()
        if self._waiting is None:
            self._hear(heard)
            return
        self._waiting.append(heard)
        if len(self._waiting) >= MEASURED_TICKS:
            self._settle()

    def _unsettle(self) -> None:
        """Keep what comes: nobody knows how long it was held back."""
        self._in_doubt_since = self._received
        if self._waiting is None:
            self._waiting = []

    def _known(self, wait: float | None) -> None:
        """Take it that sound waits for so many seconds in the worker's buffer."""
        if wait is not None:
            self._in_doubt_since = None
            delay = round((wait + self._concealment) * self.ticks.rate)
            self.ticks = replace(self.ticks, delay=delay)
        self._settle()

    def _settle(self) -> None:
        """Hand on what waited, each where it belongs by what is known now."""
        waiting, self._waiting = self._waiting or [], None
        for heard in waiting:
            self._hear(heard)

    def _hear(self, heard: Heard) -> None:
        position, pcm = self.ticks.heard_at(heard.tick), heard.pcm or self._silence
        if position < 0:  # it was on the wire before the call's first sample
            pcm, position = pcm[-2 * position :], 0
        if not pcm:
            return
        self._inbox.put(AudioChunk(pcm, self.ticks.rate, position, at_ns=heard.at_ns))
        self._unexamined += pcm
        self._examined += len(pcm) // 2
        self._heard_until = position + len(pcm) // 2
        if len(self._unexamined) >= EXAMINED_FRAMES * len(self._silence):
            self._examine(heard)

    def _examine(self, heard: Heard) -> None:
        """Look for keypad tones in what has come; several frames at once cost little more than one."""
        samples = np.frombuffer(bytes(self._unexamined), "<i2")
        self._unexamined.clear()
        moved = self._heard_until - self._examined
        for digit in self._detector.push(samples):
            at_ns = self.ticks.due_ns(digit.onset + moved, tick=heard.tick, at_ns=heard.at_ns)
            self._tone(Digit(digit.key, digit.duration_samples / self.ticks.rate, "inband", at_ns=at_ns))

    def _tone(self, digit: Digit) -> None:
        """Tell a digit found in the sound, unless the same one has just been signalled."""
        told = self._signalled
        if told is None or told.digit != digit.digit or abs(_ns(told) - _ns(digit)) > _SAME_DIGIT_NS:
            self._inbox.put(digit)

    def told(self, event: Event) -> None:
        """Take an event that concerns the media."""
        match event["event"]:
            case "digit":
                at_ns = self.ticks.line_time(event["began_ns"])
                self._signalled = Digit(event["digit"], event["ms"] / 1000, event["method"], at_ns=at_ns)
                self._inbox.put(self._signalled)
            case "unsettled":
                self._unsettle()
            case "wait":
                self._known(event["seconds"])
            case "media":
                self._held = event["status"] not in ("active", "error")
            case "rtp_fault":
                kind = event["kind"]
                fault = Finding(kind, event["detail"], fault=kind in _FAULTS)
                self._find_all(self._watch.take_fault(fault, event["at_ns"]), event["at_ns"])
            case "rtp_late":
                late = event["packets"], event["most_ns"], event["due_ns"]
                self._find_all(self._watch.take_late(*late, event["at_ns"]), event["at_ns"])
            case "rtp":
                found = self._watch.take(event["stats"], event["at_ns"], held=self._held)
                self._find_all(found, event["at_ns"])

    def _find_all(self, findings: Iterable[Finding], at_ns: int) -> None:
        for finding in findings:
            self._find(finding, at_ns)

    def _find(self, finding: Finding, at_ns: int) -> None:
        """Tell the line, as a fault of the peer or as mere disorder."""
        self.findings.append((at_ns, finding))
        kind, detail, line_ns = finding.kind, finding.detail, self.ticks.line_time(at_ns)
        if finding.fault:
            self._inbox.put(ProtocolFault(kind, detail, at_ns=line_ns))
        else:
            trouble = MediaTrouble(kind, detail, finding.figure, finding.unit, finding.duration, at_ns=line_ns)
            self._inbox.put(trouble)

    def finish(self, at_ns: int) -> None:
        """Hand on what still waits: the call has ended."""
        if self._waiting is not None:
            self._settle()
        self._find_all(self._watch.finish(self._call.stats, at_ns), at_ns)


def _ns(digit: Digit) -> int:
    return digit.at_ns or 0
