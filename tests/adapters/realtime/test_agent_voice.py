"""What a realtime agent does, as items of a call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voiceharness.agent import AgentCall
from voiceharness.audio.chunk import AudioChunk
from voiceharness.clock import LoopClock, run_virtual
from voiceharness.errors import CallDroppedError, LocalProtocolError
from voiceharness.events import (
    EndOfStream,
    HistoryClaimed,
    ProtocolFault,
    RemoteHangup,
    TruncationClaimed,
    TurnDone,
    Word,
    Words,
)
from voiceharness.scripted.sounds import PCM_8K, PCM_24K
from voiceharness_adapters.realtime.agent_voice import AgentVoice

if TYPE_CHECKING:
    from collections.abc import Callable

    from voiceharness.agent import AgentItem
    from voiceharness.scripted.sounds import WireFormat

__all__: list[str] = []


def said(speak: Callable[[AgentVoice], object], wire: WireFormat = PCM_8K) -> list[AgentItem]:
    """What is on the call once somebody has spoken."""

    async def main() -> list[AgentItem]:
        call = AgentCall(LoopClock())
        speak(AgentVoice(call, wire))
        items: list[AgentItem] = []
        while (item := call.take_sent()) is not None:
            items.append(item)
        return items

    return run_virtual(main())


def names(items: list[AgentItem]) -> list[str | None]:
    return [item.item for item in items if isinstance(item, AudioChunk)]


def test_what_has_no_item_is_named_after_its_response_or_its_turn() -> None:
    def speak(voice: AgentVoice) -> None:
        voice.audio(bytes(320), item="item", response="response")
        voice.audio(bytes(320), item=None, response="response")
        voice.audio(bytes(320), item=None)
        voice.turn_done()
        voice.audio(bytes(320), item=None)

    items = said(speak)
    assert names(items) == ["item", "response", "turn 1", "turn 2"]
    assert TurnDone("turn 1") in items


def test_a_turn_without_sound_is_done_without_an_item() -> None:
    def speak(voice: AgentVoice) -> None:
        voice.audio(bytes(320), item="spoken")
        voice.turn_done()
        voice.turn_done()

    assert [item for item in said(speak) if isinstance(item, TurnDone)] == [TurnDone("spoken"), TurnDone(None)]


def test_samples_that_were_torn_apart_are_put_together_again() -> None:
    pcm = PCM_8K.tone(440, 0.1)

    def speak(voice: AgentVoice) -> None:
        for start in range(0, len(pcm), 333):
            voice.audio(pcm[start : start + 333], item="a")

    assert b"".join(item.pcm for item in said(speak) if isinstance(item, AudioChunk)) == pcm


def test_words_have_their_times_or_are_left_to_be_spread() -> None:
    def speak(voice: AgentVoice) -> None:
        voice.words("one ", item="a", start=0.5, end=0.75)
        voice.words("two three", item="a", start=1.0, end=1.8)
        voice.words("four", item="a")

    estimated = (Word("two", 1.0, 1.3, True), Word("three", 1.3, 1.8, True))
    assert said(speak) == [Words("a", (Word("one", 0.5, 0.75),)), Words("a", estimated), Words("a", text="four")]


def test_a_text_without_times_is_cut_in_proportion_when_its_item_is_truncated() -> None:
    def speak(voice: AgentVoice) -> None:
        voice.audio(PCM_24K.silence(1.0), item="a")
        voice.history("a", "abcd efgh ijkl mnop")
        voice.truncated("a", 0.5)

    claims = [item for item in said(speak, PCM_24K) if isinstance(item, HistoryClaimed | TruncationClaimed)]
    assert claims == [
        HistoryClaimed("a", "abcd efgh ijkl mnop"),
        TruncationClaimed("a", 0.5),
        HistoryClaimed("a", "abcd efgh"),
    ]


def test_a_truncated_item_whose_text_nobody_claimed_claims_none() -> None:
    assert said(lambda voice: voice.truncated("a", 0.5)) == [TruncationClaimed("a", 0.5)]


def test_the_same_claim_is_made_once() -> None:
    def speak(voice: AgentVoice) -> None:
        voice.history("a", "text")
        voice.history("a", "text")

    assert said(speak) == [HistoryClaimed("a", "text")]


def test_faults_and_hang_ups_are_passed_on() -> None:
    def speak(voice: AgentVoice) -> None:
        voice.fault("kind", "detail")
        voice.hang_up("bye")
        voice.hang_up("again")

    assert said(speak) == [ProtocolFault("kind", "detail"), RemoteHangup("bye"), EndOfStream()]


def test_a_failure_takes_the_place_of_the_end_and_the_first_one_counts() -> None:
    error = OSError("reset")

    def speak(voice: AgentVoice) -> None:
        voice.hang_up("disconnected")
        voice.drop(error)
        voice.drop(ValueError("later"))
        assert voice.ending(TurnDone()) is None
        failure = voice.ending(RemoteHangup())
        assert isinstance(failure, CallDroppedError)
        assert failure.__cause__ is error
        assert "OSError: reset" in str(failure)

    said(speak)


def test_an_error_of_ours_stays_what_it_is() -> None:
    error = LocalProtocolError("ours")

    def speak(voice: AgentVoice) -> None:
        voice.drop(error)
        assert voice.ending(EndOfStream()) is error

    said(speak)
