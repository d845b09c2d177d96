"""What the SIP worker and its owner say to each other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from voiceharness_adapters.sip.wire import (
    NOTHING_SENT,
    Decoder,
    Frame,
    Heard,
    Message,
    encode_frame,
    encode_heard,
    encode_json,
)

__all__: list[str] = []

NUMBERS = st.integers(0, 2**32 - 1)
TICKS = st.builds(
    Heard, NUMBERS, NUMBERS, st.integers(NOTHING_SENT, 2**31 - 1), st.integers(0, 2**62), st.binary(max_size=640)
)
FRAMES = st.builds(Frame, NUMBERS, NUMBERS, st.binary(max_size=640))
EVENTS = st.dictionaries(
    st.text(max_size=5), st.none() | st.integers(-(2**53), 2**53) | st.text(max_size=9), max_size=4
)


def encoded(message: Message) -> bytes:
    match message:
        case Heard(call, tick, sent, at_ns, pcm):
            return encode_heard(call, tick, sent, at_ns, pcm)
        case Frame(call, tick, pcm):
            return encode_frame(call, tick, pcm)
    return encode_json(message)


@given(st.lists(TICKS | FRAMES | EVENTS, max_size=8), st.integers(1, 50))
def test_messages_survive_however_their_bytes_are_cut(messages: list[Message], size: int) -> None:
    decoder, data = Decoder(), b"".join(map(encoded, messages))
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    assert [message for piece in pieces for message in decoder.feed(piece)] == messages
