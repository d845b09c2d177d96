"""Who hears an event, and in which order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from voiceharness.scripted.errors import ScriptTypeError
from voiceharness.scripted.inbound import AudioDoneEvent, AudioEvent, CustomEvent, RawEvent

if TYPE_CHECKING:
    from voiceharness.scripted.transport import ScriptedRealtimeTransport

__all__: list[str] = []

DONE = AudioDoneEvent()


def test_delivery_is_at_once_and_in_order_of_registration(transport: ScriptedRealtimeTransport) -> None:
    heard = list[str]()
    transport.on("audio_done", lambda _: heard.append("first")).on(AudioDoneEvent, lambda _: heard.append("second"))
    assert transport.emit(DONE)
    assert heard == ["first", "second"]


def test_emit_says_whether_anybody_listened(transport: ScriptedRealtimeTransport) -> None:
    """Item 104."""
    assert not transport.emit(DONE)
    transport.on("audio_done", lambda _: None)
    assert transport.emit(DONE)
    assert not transport.emit(AudioEvent(data=b""))


def test_a_listener_registered_twice_hears_twice_and_off_removes_the_newest(
    transport: ScriptedRealtimeTransport,
) -> None:
    """Item 104."""
    heard = list[str]()

    def twice(_: object) -> None:
        heard.append("twice")

    transport.on("audio_done", twice).on("audio_done", lambda _: heard.append("between")).on("audio_done", twice)
    transport.emit(DONE)
    transport.off("audio_done", twice)
    transport.emit(DONE)
    assert heard == ["twice", "between", "twice", "twice", "between"]


def test_removing_an_unknown_listener_does_nothing(transport: ScriptedRealtimeTransport) -> None:
    transport.off("audio_done", lambda _: None).off("never", print)
    assert not transport.emit(DONE)


def test_listeners_are_those_registered_when_the_emission_started(transport: ScriptedRealtimeTransport) -> None:
    heard = list[str]()

    def late(_: object) -> None:
        heard.append("late")

    def removed(_: object) -> None:
        heard.append("removed")

    def change(_: object) -> None:
        transport.off("audio_done", removed).on("audio_done", late)

    transport.on("audio_done", change).on("audio_done", removed)
    transport.emit(DONE)
    assert heard == ["removed"]
    transport.off("audio_done", change).emit(DONE)
    assert heard == ["removed", "late"]


def test_a_once_listener_runs_once_even_if_it_emits_the_same_event(transport: ScriptedRealtimeTransport) -> None:
    """Item 101."""
    heard = list[str]()

    def again(_: object) -> None:
        heard.append("again")
        if len(heard) < 2:
            transport.emit(DONE)

    transport.on("audio_done", again).once("audio_done", lambda _: heard.append("once"))
    transport.emit(DONE)
    assert heard == ["again", "again", "once"]


def test_a_once_listener_can_be_removed_before_it_ran(transport: ScriptedRealtimeTransport) -> None:
    heard = list[object]()
    transport.once("audio_done", heard.append).off("audio_done", heard.append)
    transport.emit(DONE)
    assert heard == []


def test_what_a_listener_raises_leaves_emit_at_once(transport: ScriptedRealtimeTransport) -> None:
    heard = list[object]()

    def refuse(_: object) -> None:
        raise ValueError("no")

    transport.on("audio_done", refuse).on("audio_done", heard.append)
    with pytest.raises(ValueError, match="no"):
        transport.emit(DONE)
    assert heard == []


def test_the_wildcard_is_a_name_like_any_other(transport: ScriptedRealtimeTransport) -> None:
    heard = list[Any]()
    transport.on("*", lambda event: heard.append(event.data))
    transport.emit(DONE)
    transport.emit(RawEvent(data={"type": "session.created"}))
    assert heard == [{"type": "session.created"}]


def test_events_of_any_other_name_can_be_emitted(transport: ScriptedRealtimeTransport) -> None:
    heard = list[Any]()
    transport.on("ringing", heard.append)
    event = CustomEvent(type="ringing", data=1)
    transport.emit(event)
    assert heard == [event]


def test_something_that_names_no_event_is_refused(transport: ScriptedRealtimeTransport) -> None:
    with pytest.raises(ScriptTypeError, match="neither the name of an event"):
        transport.on(int, lambda _: None)
