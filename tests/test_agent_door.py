"""What an agent may send through its door; the rest of the door is in ``test_agent``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.test_agent import in_call
from voiceharness.audio.chunk import AudioChunk
from voiceharness.errors import AudioError, LocalProtocolError
from voiceharness.events import CallEnded, Word, Words

if TYPE_CHECKING:
    from voiceharness.agent import AgentCall

__all__: list[str] = []

TONE = np.zeros(160, np.int16)


@pytest.mark.parametrize(
    ("audio", "why"),
    [
        (AudioChunk(b"\0\0\0"), "3 bytes"),
        (AudioChunk(b"\0\0", 0), "0 Hz"),
        (AudioChunk(TONE), "the type ndarray as pcm.*from_samples"),  # type: ignore[arg-type] # an agent's mistake
        (AudioChunk(TONE.astype(np.float32)), "the type ndarray as pcm"),  # type: ignore[arg-type] # an agent's mistake
        (AudioChunk("abcd"), "the type str as pcm"),  # type: ignore[arg-type] # an agent's mistake
        (AudioChunk(None), r"nothing \(None\) as pcm"),  # type: ignore[arg-type] # an agent's mistake
        (AudioChunk(b"\0\0", 8000.5), "8000.5 Hz; a rate is a whole number"),  # type: ignore[arg-type] # the same
        (AudioChunk(b"\0\0", "8000"), "'8000' Hz; a rate is a whole number"),  # type: ignore[arg-type] # the same
        (AudioChunk(memoryview(b"\0\0\0")), "3 bytes"),  # type: ignore[arg-type] # the same
    ],
)
def test_audio_that_is_none_is_refused_at_the_door(audio: AudioChunk, why: str) -> None:
    async def body(call: AgentCall) -> None:
        with pytest.raises(AudioError, match=why):
            call.send(audio)

    assert in_call(body) == []


@pytest.mark.parametrize(
    ("item", "why"),
    [
        (b"\0\0", "the type bytes; it can send an AudioChunk"),
        (TONE, "the type ndarray; it can send an AudioChunk"),
        (None, r"nothing \(None\); it can send an AudioChunk"),
        (CallEnded(), "the type CallEnded"),
        (Words("a", ("hello",)), "the type str as a word"),  # type: ignore[arg-type] # an agent's mistake
        (Words("a", (Word("hello", 0.0, float("nan")),)), "a start and an end in seconds"),
        (Words("a", (Word("hello", "0", 1.0),)), "a start and an end in seconds"),  # type: ignore[arg-type] # the same
        (Words("a", (Word(3, 0.0, 1.0),)), "a word has a text"),  # type: ignore[arg-type] # the same
    ],
)
def test_what_no_agent_can_send_is_refused_at_the_door(item: Any, why: str) -> None:
    async def body(call: AgentCall) -> None:
        with pytest.raises(LocalProtocolError, match=why):
            call.send(item)

    assert in_call(body) == []


def test_a_buffer_that_is_filled_anew_does_not_change_what_was_sent() -> None:
    buffer = bytearray(b"\1\0\2\0")

    async def body(call: AgentCall) -> None:
        call.send(AudioChunk(buffer))  # type: ignore[arg-type] # what an agent reads into
        call.send(AudioChunk(memoryview(TONE)))  # type: ignore[arg-type] # whose length is in samples
        buffer[:] = bytes(4)

    assert in_call(body) == [AudioChunk(b"\1\0\2\0"), AudioChunk(TONE.tobytes())]


def test_a_rate_may_be_a_number_of_numpy() -> None:
    async def body(call: AgentCall) -> None:
        call.send(AudioChunk(TONE.tobytes(), np.int64(8000)))  # type: ignore[arg-type] # it behaves as one

    assert in_call(body) == [AudioChunk(TONE.tobytes())]
