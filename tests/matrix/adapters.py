"""Adapters that declare what is not true, one thing each."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, get_args

from voiceharness.audio.chunk import AudioChunk
from voiceharness.capabilities import AdapterCapabilities, CallAction
from voiceharness.events import Digit, EndOfStream, Flush, RemoteHangup, Words
from voiceharness.matrix import Subject
from voiceharness_adapters.in_process import InProcess, host

if TYPE_CHECKING:
    from voiceharness.adapter import Received
    from voiceharness.capabilities import DtmfMethod

__all__ = [
    "BROKEN",
    "Boastful",
    "Deaf",
    "Humble",
    "Modest",
    "Ornamental",
    "subject_of",
]


def subject_of(adapter: type[InProcess]) -> Subject:
    """An adapter that is reached as the in-process one is."""
    make = partial(_make, adapter)
    return Subject("broken", make, adapter.capabilities, adapter.capabilities_for, host=host, takes_rate=True)


def _make(adapter: type[InProcess], options: object) -> InProcess:
    return adapter(**options)  # type: ignore[arg-type]  # options by name, as a registry has them


class Boastful(InProcess):
    """Its interrupt signal goes nowhere."""

    async def interrupt(self) -> None:
        self._connected("interrupt")


class Modest(InProcess):
    """Sends RTP events, and does not declare them."""

    async def send_dtmf(self, digits: str, *, method: DtmfMethod, tone_ms: int = 100, gap_ms: int = 100) -> None:
        for digit in digits:
            self._connected("send digits").deliver(Digit(digit, tone_ms / 1000, method))


class Humble(InProcess):
    """Declares nothing that it need not."""

    capabilities = AdapterCapabilities(
        interruption=True,
        dtmf=frozenset({"event"}),
        directions=frozenset({"dial"}),
        rates=frozenset({8000}),
        virtual_time=True,
    )


class Deaf(InProcess):
    """Drops what the user says."""

    async def send_audio(self, chunk: AudioChunk) -> None:
        self._connected("send audio")


class Mute(InProcess):
    """Drops what the agent says."""

    async def receive_audio(self, timeout: float | None = None) -> Received | None:
        item = await super().receive_audio(timeout)
        return replace(item, pcm=b"") if isinstance(item, AudioChunk) else item


class Clumsy(InProcess):
    """Swallows a digit."""

    async def send_dtmf(self, digits: str, *, method: DtmfMethod, tone_ms: int = 100, gap_ms: int = 100) -> None:
        await super().send_dtmf(digits.replace("7", ""), method=method, tone_ms=tone_ms, gap_ms=gap_ms)


class Imprecise(InProcess):
    """Sends digits longer than asked."""

    async def send_dtmf(self, digits: str, *, method: DtmfMethod, tone_ms: int = 100, gap_ms: int = 100) -> None:
        await super().send_dtmf(digits, method=method, tone_ms=2 * tone_ms, gap_ms=gap_ms)


class Forgetful(InProcess):
    """Never tells the words."""

    async def receive_audio(self, timeout: float | None = None) -> Received | None:
        item = await super().receive_audio(timeout)
        return replace(item, words=(), text="") if isinstance(item, Words) else item


class Belated(InProcess):
    """Tells the words of an item as if they came half a second later."""

    async def receive_audio(self, timeout: float | None = None) -> Received | None:
        item = await super().receive_audio(timeout)
        if not isinstance(item, Words):
            return item
        return replace(
            item, words=tuple(replace(each, start=each.start + 0.5, end=each.end + 0.5) for each in item.words)
        )


class Unflushing(InProcess):
    """Drops the second half of a flush's effect: it takes it for silence."""

    async def receive_audio(self, timeout: float | None = None) -> Received | None:
        item = await super().receive_audio(timeout)
        return AudioChunk(b"", self.rate, at_ns=item.at_ns) if isinstance(item, Flush) else item


class Fast(InProcess):
    """Plays the agent's sound too fast."""

    async def receive_audio(self, timeout: float | None = None) -> Received | None:
        item = await super().receive_audio(timeout)
        return replace(item, pcm=item.samples[::2].tobytes()) if isinstance(item, AudioChunk) else item


class Quiet(InProcess):
    """Sends the user's sound 12 dB too quiet."""

    async def send_audio(self, chunk: AudioChunk) -> None:
        await super().send_audio(replace(chunk, pcm=(chunk.samples // 4).tobytes()))


class Confused(InProcess):
    """Answers marks at once, without playing up to them."""

    async def receive_audio(self, timeout: float | None = None) -> Received | None:
        item = await super().receive_audio(timeout)
        if item is not None and type(item).__name__ == "Mark":
            super().played(item.name, False)  # type: ignore[union-attr]  # a Mark, by the line above
        return item

    def played(self, mark_or_position: str | int, flushed: bool) -> None:
        """Say nothing when playout is there."""


class Clinging(InProcess):
    """Does not tell that the agent hung up."""

    async def receive_audio(self, timeout: float | None = None) -> Received | None:
        item = await super().receive_audio(timeout)
        if isinstance(item, RemoteHangup | EndOfStream):
            await asyncio.get_running_loop().create_future()
        return item


class Ornamental(InProcess):
    """Declares all call control, and does nothing when it is asked."""

    capabilities = replace(InProcess.capabilities, call_control=frozenset(get_args(CallAction)))

    async def control(self, action: CallAction, *, target: str | None = None) -> None:
        """Do nothing."""


class Addressed(Ornamental):
    """Has an address, too."""

    @property
    def address(self) -> str:
        return "agent"


class Random(InProcess):
    """Is another call each time."""

    calls: list[int] = []  # noqa: RUF012  shared on purpose: it is what makes calls differ

    async def send_audio(self, chunk: AudioChunk) -> None:
        await super().send_audio(chunk)

    async def connect(self) -> None:
        self.calls.append(1)
        await super().connect()

    async def receive_audio(self, timeout: float | None = None) -> Received | None:
        item = await super().receive_audio(timeout)
        if isinstance(item, AudioChunk) and len(self.calls) % 2:
            return replace(item, pcm=(item.samples // 2).tobytes())
        return item


BROKEN = [
    (Mute, "direction:dial", "0.00 s of the agent were heard"),
    (Boastful, "interruption", "the agent stopped 5.000 s after the signal; left alone it spoke for 6.00 s"),
    (Deaf, "barge_in:seconds", "the agent yielded 4.500 s later"),
    (Deaf, "dtmf:inband", "none arrived where 0123456789*#111 was pressed"),
    (Forgetful, "streaming_transcripts", "no word came"),
    (Belated, "streaming_transcripts", "times within 500 ms"),
    (Mute, "agent_speaks_first", "the agent was not heard"),
    (Fast, "long_turn", "heard for 45.00 s of 90 s"),
    (Clumsy, "dtmf:event", "012345689*#111 arrived where 0123456789*#111 was pressed"),
    (Imprecise, "dtmf:event", "lengths within 200 ms"),
    (Fast, "rate:16000", "of the agent's 1000 Hz at -15.0 dB came 2000.0 Hz"),
    (Quiet, "rate:8000", "of the user's 700 Hz 700.0 Hz at -27.1 dB"),
    (Deaf, "one_way_delay", "the user's sound did not come back"),
    (Confused, "marks", "reached: answered -1000 ms from when it was due"),
    (Clinging, "hangup:agent", "the agent hung up after 1 s; the call went on for 3.00 s"),
    (Ornamental, "call_control:hold", "of the agent, which went on speaking, 1.00 s were heard in 1.50 s on hold"),
    (Ornamental, "call_control:resume", "the agent was heard all the time"),
    (Ornamental, "call_control:cancel", "the call was answered before it could be canceled"),
    (Addressed, "call_control:transfer", "the other agent heard 0.00 s of this one"),
    (Random, "virtual_time", "two calls were not the same"),
]
