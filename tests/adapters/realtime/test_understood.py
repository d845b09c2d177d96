"""Transcriptions of the user, whatever the order they come in."""

from __future__ import annotations

from typing import Any

import pytest

from voiceharness_adapters.realtime.understood import Understood, UnderstoodTurn

__all__: list[str] = []

PREFIX = "conversation.item.input_audio_transcription"


def understood(*events: dict[str, Any]) -> tuple[UnderstoodTurn, ...]:
    collected = Understood()
    for event in events:
        collected.take(event)
    return collected.turns


def test_parts_make_a_text_and_the_final_one_replaces_them() -> None:
    """Case A21."""
    parts = [{"type": f"{PREFIX}.delta", "item_id": "a", "delta": part} for part in ("hel", "lo")]
    assert understood(*parts) == (UnderstoodTurn("a", "hello"),)
    final = {"type": f"{PREFIX}.completed", "item_id": "a", "transcript": " Hello. "}
    late = {"type": f"{PREFIX}.delta", "item_id": "a", "delta": " late"}
    assert understood(*parts, final, late) == (UnderstoodTurn("a", "Hello.", "final"),)


def test_turns_are_in_the_order_of_their_speech() -> None:
    """Case A21."""
    started = [{"type": "input_audio_buffer.speech_started", "item_id": item} for item in "ab"]
    later = {"type": f"{PREFIX}.completed", "item_id": "b", "transcript": "two"}
    failed = {"type": f"{PREFIX}.failed", "item_id": "a", "error": {}}
    assert understood(*started, later, failed) == (
        UnderstoodTurn("a", "", "failed"),
        UnderstoodTurn("b", "two", "final"),
    )


@pytest.mark.parametrize("event", [{}, {"type": "session.updated"}, {"type": f"{PREFIX}.delta", "delta": "x"}])
def test_other_events_are_passed_over(event: dict[str, Any]) -> None:
    assert understood(event) == ()
