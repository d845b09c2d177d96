"""Recordings: what is kept of a live transport, what is blotted out, and that a replay plays the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.scripted.running import virtually
from voiceharness.clock import LoopClock
from voiceharness.scripted.errors import RealtimeCallMatcherError, ScriptValueError, UnexpectedRealtimeCallError
from voiceharness.scripted.inbound import AudioEvent, ConnectionChangeEvent, CustomEvent, OutputTextDeltaEvent
from voiceharness.scripted.protocol import RealtimeTransport
from voiceharness.scripted.recorder import RecordingTransport
from voiceharness.scripted.recording import Entry, Recording, diff, replay
from voiceharness.scripted.transport import ScriptedRealtimeTransport

if TYPE_CHECKING:
    from pathlib import Path

__all__: list[str] = []

SECRET = "sk-very-secret"


async def conversation(transport: RealtimeTransport) -> None:
    """What the code under test does, with either transport."""
    clock = LoopClock()
    await transport.connect(model="voice-1", api_key=SECRET, url=f"wss://example.test/x?key={SECRET}")
    transport.send_audio(b"\x01\x02")
    transport.send_message("hello", {"headers": {"Authorization": SECRET}})
    await clock.sleep(2.5)
    transport.close()


async def recorded(*, keep_audio: bool = False) -> Recording:
    """Record that conversation with a far side that answers after half a second."""
    live = ScriptedRealtimeTransport()
    clock = LoopClock()

    def answer(_: object) -> None:
        clock.call_at_ns(clock.now_ns() + 500_000_000, lambda: live.emit(AudioEvent(data=b"abcd", item_id="i1")))
        clock.call_at_ns(clock.now_ns() + 600_000_000, lambda: live.emit(OutputTextDeltaEvent(delta="hi")))

    live.when("send_message").run(answer)
    transport = RecordingTransport(live, keep_audio=keep_audio)
    await conversation(transport)
    return transport.recording


@virtually
async def test_a_recording_has_calls_and_events_with_their_times() -> None:
    recording = await recorded()
    assert [(entry.at, entry.direction, entry.name) for entry in recording.entries] == [
        (0.0, "out", "connect"),
        (0.0, "in", "connection_change"),
        (0.0, "in", "connection_change"),
        (0.0, "out", "send_audio"),
        (0.0, "out", "send_message"),
        (0.5, "in", "audio"),
        (0.6, "in", "output_text_delta"),
        (2.5, "out", "close"),
        (2.5, "in", "connection_change"),
    ]


@virtually
async def test_the_live_transport_gets_everything() -> None:
    live = ScriptedRealtimeTransport()
    transport, heard = RecordingTransport(live, events=["ringing"]), list[object]()
    assert isinstance(transport, RealtimeTransport)
    transport.on("ringing", heard.append).once("ringing", heard.append).off("ringing", heard.append)
    await transport.connect(api_key=SECRET)
    transport.mute(True)
    event = CustomEvent(type="ringing", data={"n": 1})
    transport.emit(event)
    transport.close()
    transport.close()
    assert [call.method for call in live.calls] == ["connect", "mute", "close"]
    assert (transport.status, transport.muted, heard) == ("disconnected", True, [event])
    assert [entry.name for entry in transport.recording.entries if entry.direction == "out"] == [
        "connect",
        "mute",
        "close",
    ]
    assert Entry(0.0, "in", "ringing", {"data": {"n": 1}}) in transport.recording.entries


@virtually
async def test_no_secret_is_written_and_audio_only_if_asked_for(tmp_path: Path) -> None:
    (await recorded()).save(tmp_path / "a.jsonl")
    (await recorded(keep_audio=True)).save(tmp_path / "b.jsonl")
    short, long = ((tmp_path / name).read_text(encoding="utf-8") for name in ("a.jsonl", "b.jsonl"))
    assert SECRET not in short + long
    assert "wss://example.test/x" in short
    assert "base64" not in short
    assert "YWJjZA==" in long


@virtually
async def test_a_saved_recording_is_loaded_as_it_was(tmp_path: Path) -> None:
    recording = await recorded(keep_audio=True)
    recording.save(tmp_path / "call.jsonl")
    assert Recording.load(tmp_path / "call.jsonl") == recording


@virtually
async def test_a_replay_plays_the_far_side(tmp_path: Path) -> None:
    recording = await recorded(keep_audio=True)
    transport, heard = ScriptedRealtimeTransport(), list[tuple[float, Any]]()
    start = LoopClock().now_ns()
    for name in ("audio", "output_text_delta"):
        transport.on(name, lambda event: heard.append(((LoopClock().now_ns() - start) / 1e9, event)))
    await transport.run_scenario(
        scenario=replay(recording, transport), exercise=lambda: conversation(transport), timeout=60
    )
    assert heard == [(0.5, AudioEvent(data=b"abcd", item_id="i1")), (0.6, OutputTextDeltaEvent(delta="hi"))]
    transport.assert_complete()
    transport.assert_closed()


@virtually
async def test_audio_that_was_not_kept_is_replayed_as_zeros() -> None:
    recording = await recorded()
    transport, heard = ScriptedRealtimeTransport(), list[bytes]()
    transport.on(AudioEvent, lambda event: heard.append(event.data))
    await transport.run_scenario(
        scenario=replay(recording, transport), exercise=lambda: conversation(transport), timeout=60
    )
    assert heard == [bytes(4)]


@virtually
async def test_a_replay_is_strict_about_payloads_unless_told_otherwise() -> None:
    recording = await recorded()

    async def exercise(transport: ScriptedRealtimeTransport, message: str) -> None:
        await transport.connect(model="voice-1", api_key="other", url="wss://example.test/x")
        transport.send_message(message, {"headers": {"Authorization": "other"}})
        await LoopClock().sleep(1)
        transport.close()

    async def play(message: str, *, strict: bool) -> None:
        transport = ScriptedRealtimeTransport()
        await transport.run_scenario(
            scenario=replay(recording, transport, strict=strict, ambient={"send_audio"}),
            exercise=lambda: exercise(transport, message),
            timeout=60,
        )

    await play("hello", strict=True)
    await play("good evening", strict=False)
    with pytest.raises(RealtimeCallMatcherError):
        await play("good evening", strict=True)
    with pytest.raises(UnexpectedRealtimeCallError):
        await play_without_audio(recording)


async def play_without_audio(recording: Recording) -> None:
    transport = ScriptedRealtimeTransport()

    async def exercise() -> None:
        await transport.connect(model="voice-1", api_key="k", url="wss://example.test/x")
        transport.send_message("hello")

    await transport.run_scenario(scenario=replay(recording, transport), exercise=exercise, timeout=60)


@virtually
async def test_a_replay_loses_the_connection_as_it_was_lost() -> None:
    live = ScriptedRealtimeTransport()
    recorder = RecordingTransport(live)
    await recorder.connect()
    live.disconnect()
    transport = ScriptedRealtimeTransport()

    async def exercise() -> None:
        await transport.connect()
        await LoopClock().sleep(1)

    await transport.run_scenario(scenario=replay(recorder.recording, transport), exercise=exercise)
    transport.assert_closed()


@virtually
async def test_an_unknown_event_is_replayed_under_its_name() -> None:
    recording = Recording((Entry(0.25, "in", "ringing", {"data": [1, {"audio": {"bytes": 2, "sha256": "-"}}]}),))
    transport, heard = ScriptedRealtimeTransport(), list[CustomEvent]()
    transport.on("ringing", heard.append)
    await transport.run_scenario(scenario=replay(recording, transport), exercise=lambda: None)
    assert heard == [CustomEvent(type="ringing", data=[1, {"audio": b"\x00\x00"}])]
    assert LoopClock().now_ns() == 250_000_000


@virtually
async def test_values_json_does_not_know_are_kept_by_their_type() -> None:
    live = ScriptedRealtimeTransport()
    transport = RecordingTransport(live)
    transport.send_event({"tool": object(), "status": ConnectionChangeEvent(status="connected"), "list": (1, [2])})
    assert transport.recording.entries[0].payload == {
        "event": {"tool": {"object": "object"}, "status": {"status": "connected"}, "list": [1, [2]]}
    }


@virtually
async def test_two_recordings_are_compared_without_their_times() -> None:
    before = await recorded()
    assert diff(before, await recorded()) == ""
    changed = Recording((*before.entries[:-2], Entry(9.0, "out", "interrupt", {})))
    assert [line for line in diff(before, changed).splitlines() if line[0] in "+-"][2:] == [
        '-{"out": "close", "payload": {}}',
        '-{"in": "connection_change", "payload": {"status": "disconnected"}}',
        '+{"out": "interrupt", "payload": {}}',
    ]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [("{", ":1: this is no line"), ('{"format": "other"}', "the format is 'other'"), ("[]", ":1: this is no line")],
)
def test_a_file_that_is_no_recording_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "call.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ScriptValueError, match=complaint):
        Recording.load(path)
