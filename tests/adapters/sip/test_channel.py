"""The worker's end of the socket pair: what is written together, and what is never left behind."""

from __future__ import annotations

import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING

from voiceharness_adapters.sip.channel import Channel
from voiceharness_adapters.sip.wire import Decoder, Frame, Heard, Message, encode_frame, encode_json

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__: list[str] = []

SIZE = 1 << 16


@contextmanager
def owned() -> Iterator[tuple[Channel, socket.socket]]:
    """A channel that is open, and the owner's end of it."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        channel = Channel(theirs)
        channel.open()
        yield channel, ours
        ours.shutdown(socket.SHUT_WR)
        assert channel.closed.wait(10)
        channel.finish()


def read(owner: socket.socket) -> list[Message]:
    """What one write brought."""
    return list(Decoder().feed(owner.recv(SIZE)))


def calls(messages: list[Message]) -> list[int]:
    return [message.call for message in messages if isinstance(message, Heard)]


def test_ticks_that_come_together_are_written_together() -> None:
    with owned() as (channel, owner):
        for call in (2, 4, 6):
            channel.heard(call, 7, 7, 123, b"\1\0", more=call != 6)
        assert calls(read(owner)) == [2, 4, 6]


def test_a_tick_that_waits_for_more_is_sent_when_nothing_more_comes() -> None:
    with owned() as (channel, owner):
        channel.send_waiting()  # nothing waits: nothing is written
        channel.heard(2, 7, 7, 123, b"", more=True)
        channel.send_waiting()
        assert read(owner) == [Heard(2, 7, 7, 123, b"")]


def test_an_event_does_not_overtake_the_ticks_before_it() -> None:
    with owned() as (channel, owner):
        channel.heard(2, 7, 7, 123, b"", more=True)
        channel.tell("state", call=2)
        tick, event = read(owner)
        assert isinstance(tick, Heard)
        assert isinstance(event, dict)
        assert event["event"] == "state"


def test_what_waits_is_written_before_the_end() -> None:
    with owned() as (channel, owner):
        channel.heard(2, 7, 7, 123, b"", more=True)
        channel.finish()
        assert calls(read(owner)) == [2]


def test_frames_go_to_whoever_takes_them_and_commands_wait() -> None:
    with owned() as (channel, owner):
        frames: list[Frame] = []
        channel.on_frame = frames.append
        owner.sendall(encode_frame(2, 9, b"\1\0") + encode_json({"do": "stop", "number": 1}))
        owner.shutdown(socket.SHUT_WR)
        assert channel.closed.wait(10)
        assert frames == [Frame(2, 9, b"\1\0")]
        assert channel.next_command() == {"do": "stop", "number": 1}
        assert channel.next_command() is None


def test_an_owner_that_is_gone_closes_the_channel() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        channel = Channel(theirs)
        ours.close()
        channel.open()
        assert channel.closed.wait(10)
        channel.tell("log", text="nobody reads this")
        channel.finish()
