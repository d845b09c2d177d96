"""The call's sound between device and line: positions, rates, channels.

Theory of operation. The count of captured samples is the call's clock. A block that is put for a tick will be captured
again a path later, so the line is asked for the user's sound at the position that its capture will have; how long the
path is, is first expected and then found (:mod:`~voiceharness_adapters.sound_card.path`). What differs from the
expectation is taken off the agent's positions: both tracks then say when a sound was on the cable, or in the room.

Position 0 is the user's first sample that the line gives; what was captured before it is not part of the call. A new
shift takes effect when the agent is silent, or after a second, so it tears no word.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Final

import numpy as np

from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.dtmf import DtmfDetector
from voiceharness.audio.resample import Resampler
from voiceharness.clock import NS
from voiceharness.events import Digit
from voiceharness_adapters.sound_card.echo import EchoCanceller
from voiceharness_adapters.sound_card.health import SoundingTicks
from voiceharness_adapters.sound_card.path import PathFollower

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from voiceharness.adapter import TurnTaker
    from voiceharness.inbox import Inbox
    from voiceharness_adapters.sound_card.stream import Block, SoundStream

__all__ = ["UserMedia"]

QUIET: Final = 100
LONGEST_WAIT: Final = 1.0
HOLDBACK: Final = 0.02
"""Seconds after which a captured sample has surely been handed over: the line's present lies that far back."""

ROOM: Final = 0.004
"""Seconds by which the echo's filter begins before the path that was found."""

MOVED: Final = 0.001
"""Seconds by which the path must have moved for the echo's filter to begin elsewhere."""


class UserMedia:
    """Plays what the line says and hands it what is heard.

    ``user_channel`` (from 0) is where the user's own sound is captured on a clean channel; None: the agent's channel is
    a microphone that hears the user as well. ``lead`` is how many ticks ahead blocks are put; ``expected`` the path's
    expected length in seconds.
    """

    def __init__(
        self,
        stream: SoundStream,
        inbox: Inbox,
        *,
        rate: int,
        agent_channel: int,
        user_channel: int | None,
        lead: int,
        expected: float,
    ) -> None:
        self._stream = stream
        self._inbox = inbox
        self._rate = rate
        self._agent_channel = agent_channel
        self._user_channel = user_channel
        self._lead = lead
        self._frame = rate * stream.block // stream.rate
        self._cursor = self._first_asked = lead * self._frame + round(expected * rate)
        self._origin = 0
        self._captured = 0
        self._shift = 0
        self._shift_waits = 0
        self._echo_shift = float("inf")
        self._agent_down = Resampler(stream.rate, rate)
        self._user_down = Resampler(stream.rate, rate)
        self._up = Resampler(rate, stream.rate)
        self._to_put = np.zeros(0, np.int16)
        self.sounding = SoundingTicks()
        self._line: TurnTaker | None = None
        self._sent = _Sent(rate, self._first_asked)
        self._detector = DtmfDetector(rate)
        self._detected = 0
        self.path = PathFollower(rate, sent_from=self._first_asked)
        self.echo = EchoCanceller(rate) if user_channel is None else None
        self.on_first: Callable[[], None] = lambda: None
        self.spoken = 0.0
        """Seconds in which the user has said something."""
        self._begun = False

    @property
    def found_delay(self) -> float | None:
        """The path's length in seconds, from a sample's turn to be played to its capture; None: not found."""
        shift = self.path.shift
        if shift is None:
            return None
        return (self._first_asked - self._lead * self._frame + shift) / self._rate

    def call_seconds(self, position: int) -> float:
        """Return the seconds after the answer at a captured position."""
        return (position - self._origin - self._shift) / self._rate

    def attach(self, line: TurnTaker) -> None:
        """Ask the line from now on; what it says first is position 0."""
        self._line = line
        self._origin = self._cursor

    # One tick

    def take(self, block: Block) -> None:
        """Take what a tick captured, and put what a later one plays."""
        now_ns = block.at_ns
        channels = np.frombuffer(block.pcm, np.int16).reshape(-1, self._stream.input_channels)
        agent = self._agent_down.push(np.ascontiguousarray(channels[:, self._agent_channel]))
        heard = agent
        if self._user_channel is not None:
            heard = self._user_down.push(np.ascontiguousarray(channels[:, self._user_channel]))
        start = self._captured
        self._captured += len(agent)
        self._put(block.tick + self._lead, now_ns)
        self.path.heard(heard)
        self._deliver(start, self._without_echo(agent, start), now_ns)

    def _put(self, tick: int, now_ns: int) -> None:
        while len(self._to_put) < self._stream.block:
            is_first = self._cursor == self._first_asked
            ahead = ceil(self._up.lookahead * self._rate) if is_first else 0  # the resampler holds that much back
            frame = self._ask(self._frame + ahead, now_ns)
            self._to_put = np.concatenate((self._to_put, self._up.push(frame)))
        samples = self._to_put[: self._stream.block]
        self.sounding.note(tick, samples)
        self._stream.put(tick, samples.tobytes())
        self._to_put = self._to_put[self._stream.block :]

    def _ask(self, samples: int, now_ns: int) -> NDArray[np.int16]:
        start = self._cursor
        self._cursor += samples
        frame = np.zeros(samples, np.int16)
        if self._line is not None:
            ahead = start - self._captured + max(0, self._shift) + round(HOLDBACK * self._rate)
            frame = self._line.user_frame(start - self._origin, samples, now_ns + ahead * NS // self._rate).samples
        if frame.any():
            self.spoken += samples / self._rate
        self.path.sent(frame)
        self._sent.add(frame)
        return frame

    def _without_echo(self, agent: NDArray[np.int16], start: int) -> NDArray[np.int16]:
        if self.echo is None or self.path.shift is None:
            return agent
        if abs(self.path.shift - self._echo_shift) > MOVED * self._rate:
            self._echo_shift = self.path.shift
        first = start - round(self._echo_shift - ROOM * self._rate)
        return self.echo.cancel(agent, self._sent.view(first, len(agent)))

    def _deliver(self, start: int, agent: NDArray[np.int16], now_ns: int) -> None:
        self._follow(agent)
        position = start - self._origin - self._shift
        if position < 0:  # it was on the cable before the call's first sample
            agent, position = agent[-position:], 0
        if not len(agent):
            return
        at_ns = now_ns + round(HOLDBACK * NS)
        self._inbox.put(AudioChunk(agent.tobytes(), self._rate, position, at_ns=at_ns))
        if self._user_channel is not None or self.path.shift is None:  # else the tones may be the user's own
            self._detect(agent, at_ns)
        if not self._begun:
            self._begun = True
            self.on_first()

    def _detect(self, agent: NDArray[np.int16], at_ns: int) -> None:
        """Tell the keypad tones in what was heard; ``at_ns`` is when the last of it was."""
        self._detected += len(agent)
        for digit in self._detector.push(agent):
            began_ns = at_ns - (self._detected - digit.onset) * NS // self._rate
            self._inbox.put(Digit(digit.key, digit.duration_samples / self._rate, "inband", at_ns=began_ns))

    def _follow(self, agent: NDArray[np.int16]) -> None:
        """Let a new shift take effect, if the agent is silent or it has waited long enough."""
        known = self._shift if self.path.shift is None else round(self.path.shift)
        if known == self._shift:
            self._shift_waits = 0
            return
        self._shift_waits += len(agent)
        quiet = not len(agent) or int(np.abs(agent.astype(np.int32)).max()) < QUIET
        if quiet or self._shift_waits > LONGEST_WAIT * self._rate:
            self._shift, self._shift_waits = known, 0


class _Sent:
    """The last second of what was sent, by position; silence where it is not known."""

    def __init__(self, rate: int, start: int) -> None:
        self._samples = np.zeros(rate, np.int16)
        self._end = start

    def add(self, samples: NDArray[np.int16]) -> None:
        self._samples = np.concatenate((self._samples[len(samples) :], samples))
        self._end += len(samples)

    def view(self, start: int, count: int) -> NDArray[np.int16]:
        """Return a stretch of it."""
        first = start - self._end + len(self._samples)
        stretch = self._samples[max(0, first) : max(0, first + count)]
        return np.concatenate((np.zeros(count - len(stretch), np.int16), stretch))
