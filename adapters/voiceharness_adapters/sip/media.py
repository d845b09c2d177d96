"""The media of a call on the user's side: between the worker's ticks and the line.

Each digit of the agent is told once: an RTP event or an INFO as such, a tone in the sound unless it accompanies one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.dtmf import DtmfDetector
from voiceharness.events import Digit, ProtocolFault
from voiceharness_adapters.sip.ticks import Ticks
from voiceharness_adapters.sip.watch import Finding, MediaWatch

if TYPE_CHECKING:
    from voiceharness.adapter import Received, TurnTaker
    from voiceharness_adapters.sip.call import SipCall
    from voiceharness_adapters.sip.inbox import Inbox
    from voiceharness_adapters.sip.wire import Heard
    from voiceharness_adapters.sip.worker import Event

__all__ = ["UserMedia"]

FRAMES_PER_SECOND: Final = 50
_NS: Final = 1_000_000_000
_SAME_DIGIT_NS: Final = 400_000_000
_FAULTS: Final = frozenset({"rtp_payload_type"})


class UserMedia:
    """Sends what the line says and hands it what is heard, from the moment a line is attached.

    ``delay`` is how long, in seconds, the worker holds received sound back; ``lead`` how many ticks ahead the line is
    asked. ``findings`` is what was seen of the media, with the time of each.
    """

    def __init__(
        self, call: SipCall, inbox: Inbox, *, rate: int, lead: int, delay: float, timeout: float, started_ns: int
    ) -> None:
        self.findings: list[tuple[int, Finding]] = []
        self.unsent = 0
        self.ticks: Ticks | None = None
        self._call = call
        self._inbox = inbox
        self._rate = rate
        self._frame = rate // FRAMES_PER_SECOND
        self._lead = lead
        self._delay = round(delay * rate)
        self._line: TurnTaker | None = None
        self._first: Heard | None = None
        self._first_asked = self._last_tick = self._last_ns = 0
        self._detector = DtmfDetector(rate)
        self._signalled: Digit | None = None
        self._watch = MediaWatch(timeout, started_ns=started_ns)
        self._held = False

    @property
    def silent(self) -> bool:
        """Whether the agent's side has sent nothing for too long."""
        return self._watch.silent

    @property
    def lost_time(self) -> float:
        """Seconds by which the ticks fell behind the time: the worker's media clock had to skip some."""
        if self._first is None:
            return 0.0
        counted = (self._last_tick - self._first.tick) / FRAMES_PER_SECOND
        return (self._last_ns - self._first.at_ns) / _NS - counted

    def attach(self, line: TurnTaker) -> None:
        """Begin the call's positions with the first tick after the answer, which has passed by now."""
        self._line = line
        for heard in self._call.backlog:
            ticks = self.ticks or self._begin(heard)
            self._hear(heard, ticks)
        if self.ticks is not None:
            self._ask(line, self._last_tick, self.ticks)
        self._call.on_tick = self.heard

    # From the worker

    def heard(self, heard: Heard) -> None:
        """Take one tick: ask the line for a frame to come, and hand it what was heard."""
        if self._line is None:
            return
        ticks = self.ticks or self._begin(heard)
        self.unsent += heard.sent < 0 and heard.tick >= self._first_asked and not self._held
        self._ask(self._line, heard.tick, ticks)
        self._hear(heard, ticks)

    def _begin(self, first: Heard) -> Ticks:
        self.ticks = Ticks(first.tick, self._frame, self._rate, self._lead, self._delay)
        self._first = first
        return self.ticks

    def _ask(self, line: TurnTaker, tick: int, ticks: Ticks) -> None:
        self._first_asked = self._first_asked or tick + self._lead
        user = line.user_frame(ticks.asked_at(tick), self._frame)
        self._call.send(tick + self._lead, user.pcm)

    def _hear(self, heard: Heard, ticks: Ticks) -> None:
        self._last_tick, self._last_ns = heard.tick, heard.at_ns
        position = ticks.heard_at(heard.tick)
        pcm = heard.pcm or bytes(2 * self._frame)
        if position < 0:  # it was on the wire before the call's first sample
            pcm, position = pcm[-2 * position :], 0
        if not pcm:
            return
        self._inbox.put(AudioChunk(pcm, self._rate, position, at_ns=ticks.line_time(heard.at_ns)))
        for digit in self._detector.push(np.frombuffer(pcm, "<i2")):
            at_ns = ticks.time_of(digit.onset, tick=heard.tick, at_ns=heard.at_ns)
            self._tone(Digit(digit.key, digit.duration_samples / self._rate, "inband", at_ns=at_ns))

    def _tone(self, digit: Digit) -> None:
        """Tell a digit found in the sound, unless the same one has just been signalled."""
        told = self._signalled
        if told is not None and told.digit == digit.digit and abs(_at(told) - _at(digit)) < _SAME_DIGIT_NS:
            return
        self._inbox.put(digit)

    def told(self, event: Event) -> None:
        """Take an event that concerns the media."""
        match event["event"]:
            case "digit":
                at_ns = self.line_time(event["began_ns"])
                self._signalled = Digit(event["digit"], event["ms"] / 1000, event["method"], at_ns=at_ns)
                self._inbox.put(self._signalled)
            case "media":
                self._held = event["status"] not in ("active", "error")
            case "rtp_fault":
                kind = event["kind"]
                self._find(Finding(kind, event["detail"], fault=kind in _FAULTS), event["at_ns"])
            case "rtp":
                for finding in self._watch.take(event["stats"], event["at_ns"], held=self._held):
                    self._find(finding, event["at_ns"])

    def _find(self, finding: Finding, at_ns: int) -> None:
        self.findings.append((at_ns, finding))
        if finding.fault:
            self._inbox.put(ProtocolFault(finding.kind, finding.detail, at_ns=self.line_time(at_ns)))

    def line_time(self, at_ns: int) -> int:
        """Return what the line is told for a time of the worker."""
        return at_ns if self.ticks is None else self.ticks.line_time(at_ns)


def _at(item: Received) -> int:
    return item.at_ns or 0
