"""The provider's rules, without a socket."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from voiceharness.scripted.wire.provider import SHORTEST_COMMIT_MS, Event, ProviderSession, Refusal

__all__: list[str] = []

ITEM = {"id": "i1", "type": "message", "role": "assistant"}


def audio(milliseconds: float, bytes_per_ms: int = 48) -> str:
    return base64.b64encode(bytes(round(milliseconds * bytes_per_ms))).decode()


def speaking(milliseconds: float = 0) -> ProviderSession:
    """A session in whose response ``r1`` the item ``i1`` was announced, with this much audio."""
    session = ProviderSession()
    session.note({"type": "response.created", "response": {"id": "r1"}})
    session.note({"type": "response.output_item.added", "item": ITEM})
    if milliseconds:
        session.note({"type": "response.output_audio.delta", "item_id": "i1", "delta": audio(milliseconds)})
    return session


def refusal(answer: Refusal | list[Event]) -> Refusal:
    assert isinstance(answer, Refusal)
    return answer


def types(answer: Refusal | list[Event]) -> list[Any]:
    assert isinstance(answer, list)
    return [event["type"] for event in answer]


def truncate(session: ProviderSession, end_ms: int, item_id: str = "i1") -> Refusal | list[Event]:
    event = {"type": "conversation.item.truncate", "event_id": "mine", "item_id": item_id, "audio_end_ms": end_ms}
    return session.receive(event)


def test_a_truncation_beyond_the_audio_sent_is_refused_with_both_figures() -> None:
    """Case A15."""
    session = speaking(2000)
    refused = refusal(truncate(session, 4700))
    assert (refused.item_id, refused.sent_ms, refused.maximum_ms) == ("i1", 4700, 2000)
    assert refused.as_event()["error"]["event_id"] == "mine"
    assert types(truncate(session, 2000)) == ["conversation.item.truncated"]


@pytest.mark.parametrize("received", [0, 500])
def test_a_truncation_with_nothing_played_is_refused(received: float) -> None:
    """Case A17: the client must cancel, or delete the item."""
    session = speaking(received)
    assert refusal(truncate(session, 0)).code == "unsupported_content_type"
    assert session.receive({"type": "response.cancel"}) == []
    assert types(session.receive({"type": "conversation.item.delete", "item_id": "i1"})) == [
        "conversation.item.deleted"
    ]


def test_a_position_between_two_milliseconds_may_be_rounded_up() -> None:
    assert types(truncate(speaking(1000.5), 1001)) == ["conversation.item.truncated"]


@pytest.mark.parametrize("kind", ["truncate", "delete", "retrieve"])
def test_an_unknown_item_is_refused(kind: str) -> None:
    refused = refusal(ProviderSession().receive({"type": f"conversation.item.{kind}", "item_id": "nobody"}))
    assert (refused.code, refused.item_id) == (f"item_{kind}_invalid_item_id", "nobody")


def test_a_deleted_item_is_unknown() -> None:
    session = speaking(500)
    session.note({"type": "conversation.item.deleted", "item_id": "i1"})
    assert refusal(truncate(session, 100)).code == "item_truncate_invalid_item_id"


def test_one_response_at_a_time() -> None:
    """Case A31."""
    session = ProviderSession()
    request = {"type": "response.create", "event_id": "mine"}
    assert session.receive(request) == []
    assert refusal(session.receive(request)).event_id == "mine"
    session.note({"type": "response.created", "response": {"id": "r1"}})
    assert "r1" in refusal(session.receive(request)).message
    session.note({"type": "response.done"})
    assert session.receive(request) == []


def test_a_cancellation_needs_a_response() -> None:
    session = ProviderSession()
    assert refusal(session.receive({"type": "response.cancel"})).code == "response_cancel_not_active"
    session.receive({"type": "response.create"})
    assert session.receive({"type": "response.cancel"}) == []
    assert session.receive({"type": "response.create"}) == []


@pytest.mark.parametrize(
    ("milliseconds", "accepted"), [(0, False), (60, False), (99.9, False), (100, True), (120, True)]
)
def test_a_commit_needs_a_hundred_milliseconds(milliseconds: float, accepted: bool) -> None:
    """Case A66."""
    session = ProviderSession()
    session.receive({"type": "input_audio_buffer.append", "audio": audio(milliseconds)})
    answer = session.receive({"type": "input_audio_buffer.commit"})
    if accepted:
        assert types(answer) == ["input_audio_buffer.committed"]
        assert isinstance(session.receive({"type": "input_audio_buffer.commit"}), Refusal)
    else:
        refused = refusal(answer)
        assert refused.code == "input_audio_buffer_commit_empty"
        assert refused.sent_ms == pytest.approx(milliseconds, abs=0.1)
        assert refused.maximum_ms == SHORTEST_COMMIT_MS


def test_audio_is_measured_in_the_formats_of_the_session() -> None:
    session = ProviderSession()
    telephone = {"format": {"type": "audio/pcmu"}}
    session.receive({"type": "session.update", "session": {"audio": {"input": telephone, "output": telephone}}})
    session.receive({"type": "input_audio_buffer.append", "audio": audio(100, 8)})
    assert session.user_audio_ms == 100
    session.note({"type": "response.output_audio.delta", "item_id": "i1", "delta": audio(250, 8)})
    assert (session.audio_ms("i1"), session.audio_ms("nobody")) == (250, 0)
    session.receive({"type": "input_audio_buffer.clear"})
    assert session.user_audio_ms == 0


def test_audio_that_is_not_base64_is_refused() -> None:
    refused = refusal(ProviderSession().receive({"type": "input_audio_buffer.append", "audio": "!"}))
    assert refused.code == "invalid_value"


def test_an_item_of_the_client_is_added_with_an_id() -> None:
    session = ProviderSession()
    answer = session.receive({"type": "conversation.item.create", "item": {"type": "message", "role": "user"}})
    assert isinstance(answer, list)
    assert answer[0]["item"]["id"] == "client-item-1"
    session.note(answer[0])
    assert isinstance(truncate(session, 100, "client-item-1"), Refusal)
    assert isinstance(session.receive({"type": "conversation.item.create"}), Refusal)


def test_events_without_a_rule_and_malformed_ones_change_nothing() -> None:
    session = ProviderSession()
    assert session.receive({"type": "output_audio_buffer.clear"}) == []
    for malformed in ({"type": "response.created"}, {"type": "response.output_audio.delta"}, {}):
        session.note(malformed)
    assert session.active_response is None
