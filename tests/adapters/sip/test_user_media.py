"""Which frames a call's user side gives to its worker, and which of them count as not sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from voiceharness.audio.chunk import AudioChunk
from voiceharness.clock import run_virtual
from voiceharness.inbox import Inbox
from voiceharness_adapters.sip.call import SipCall
from voiceharness_adapters.sip.media import UserMedia
from voiceharness_adapters.sip.settings import SipSettings
from voiceharness_adapters.sip.watch import MediaWatch
from voiceharness_adapters.sip.wire import NOTHING_SENT, Heard
from voiceharness_adapters.sip.worker import SipWorker

if TYPE_CHECKING:
    from voiceharness.adapter import TurnTaker

__all__: list[str] = []

LEAD = 5
TICK_NS = 20_000_000


class Worker(SipWorker):
    """Remembers for which ticks it was given frames."""

    def __init__(self) -> None:
        super().__init__(SipSettings())
        self.given: list[int] = []

    def send_frame(self, call: int, tick: int, pcm: bytes) -> None:
        self.given.append(tick)


class Line:
    """Has silence to say."""

    def user_frame(self, position: int, samples: int, due_ns: int | None = None) -> AudioChunk:
        return AudioChunk(bytes(2 * samples), 8000, position)


def tick(number: int, *, sent: bool = True) -> Heard:
    return Heard(2, number, number if sent else NOTHING_SENT, number * TICK_NS, b"")


def media_of(worker: Worker) -> UserMedia:
    return UserMedia(
        SipCall(worker),
        Inbox(),
        rate=8000,
        lead=LEAD,
        usual_wait=0.04,
        concealment=0.0,
        watch=MediaWatch(0, started_ns=0),
        answered=tick(3),
    )


@pytest.mark.parametrize("waited", [0, 4])
def test_the_first_frame_has_as_much_time_as_every_other(waited: int) -> None:
    async def main() -> None:
        worker = Worker()
        media = media_of(worker)
        for number in range(4, 4 + waited):
            media.heard(tick(number, sent=False))
        last = 3 + waited
        media.attach(cast("TurnTaker", Line()))
        assert worker.given == [last + LEAD]
        for number in range(last + 1, last + 4):
            media.heard(tick(number, sent=False))
        assert worker.given == list(range(last + LEAD, last + LEAD + 4))
        assert media.unsent == 0

    run_virtual(main())


@pytest.mark.parametrize(("follows", "unsent"), [(True, 1), (False, 0)])
def test_a_frame_that_came_too_late_counts_unless_the_call_ended_in_its_tick(*, follows: bool, unsent: int) -> None:
    async def main() -> None:
        media = media_of(Worker())
        media.attach(cast("TurnTaker", Line()))
        for number in range(4, 20):
            media.heard(tick(number, sent=number >= 3 + LEAD))
        media.heard(tick(20, sent=False))
        if follows:
            media.heard(tick(21))
        assert media.unsent == unsent

    run_virtual(main())
