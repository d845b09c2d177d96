"""Evidence in a folder, and back."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.report.calls import answered_call, broken_call, made_up, silent_call
from tests.report.disks import fill_up
from voiceharness.audio.wav import read_tracks
from voiceharness.errors import AudioError, ConnectError, OptionError
from voiceharness.line.record import Arrival, CallRecord, TimelineEvent
from voiceharness.measure.metrics import measure
from voiceharness.report.artefacts import (
    add_facts,
    altered_files,
    load_call,
    load_document,
    place_call,
    save_call,
)
from voiceharness.report.document import call_document

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from voiceharness.scenario.result import CallResult


def saved_record(record: CallRecord, folder: Path) -> CallRecord:
    return load_call(save_call(made_up("passed", record=record), folder))


def without_sound(*events: TimelineEvent) -> CallRecord:
    nothing = np.zeros(0, np.int16)
    return CallRecord(8000, nothing, nothing, events)


def test_every_figure_can_be_derived_again_from_the_saved_call(tmp_path: Path) -> None:
    result = answered_call()
    assert measure(load_call(save_call(result, tmp_path / "call"))) == result.metrics


def test_the_user_is_on_the_left_and_the_agent_on_the_right(tmp_path: Path) -> None:
    record = answered_call().record
    assert record is not None
    user, agent = read_tracks(save_call(answered_call(), tmp_path) / "recording.wav")
    assert np.array_equal(user.samples, record.user)
    assert np.array_equal(agent.samples, record.agent)


def test_the_saved_result_is_the_document(tmp_path: Path) -> None:
    result = silent_call()
    assert load_document(save_call(result, tmp_path)) == call_document(result)


def test_the_same_call_is_saved_as_the_same_bytes(tmp_path: Path) -> None:
    run_again: CallResult = answered_call.__wrapped__()
    folders = [save_call(answered_call(), tmp_path / "1"), save_call(run_again, tmp_path / "2")]
    for name in ("recording.wav", "timeline.json", "result.json"):
        first, second = ((folder / name).read_bytes() for folder in folders)
        assert first == second, name


def test_the_manifest_lists_every_file_and_has_the_only_time_of_day(tmp_path: Path) -> None:
    manifest = json.loads((save_call(silent_call(), tmp_path) / "manifest.json").read_text())
    assert {entry["name"]: entry["bytes"] for entry in manifest["files"]} == {
        name: (tmp_path / name).stat().st_size for name in ("recording.wav", "timeline.json", "result.json")
    }
    assert manifest["saved_at"].endswith("+00:00")
    assert altered_files(tmp_path) == ()


def test_files_that_were_changed_or_removed_are_named(tmp_path: Path) -> None:
    save_call(silent_call(), tmp_path)
    (tmp_path / "recording.wav").write_bytes(b"RIFF")
    (tmp_path / "result.json").unlink()
    assert altered_files(tmp_path) == ("recording.wav", "result.json")


@pytest.mark.parametrize("text", ["café €5 — ¿qué? 你好 😀 مرحبا", "lone \ud83d surrogate", "NUL \x00"])
def test_any_text_is_read_back_as_it_was_heard(text: str, tmp_path: Path) -> None:
    """Case B47."""
    event = TimelineEvent(0, "word_heard", {"text": text, "start": 0, "end": 5, "estimated": True, "item": None})
    assert saved_record(without_sound(event), tmp_path).events == (event,)


def test_what_arrived_is_read_back_row_by_row(tmp_path: Path) -> None:
    arrivals = (Arrival(0, 10, 160, 160, "a"), Arrival(170, 170, 160, 80, None))
    record = replace(without_sound(), arrivals=arrivals)
    assert saved_record(record, tmp_path).arrivals == arrivals


def test_neither_numbers_nor_secrets_are_saved(tmp_path: Path) -> None:
    event = TimelineEvent(0, "protocol_fault", {"kind": "x", "detail": "from +15550101234 with hunter22"})
    result = made_up("failed", record=without_sound(event), error=ConnectError("no tel:15550101234, hunter22"))
    save_call(result, tmp_path, secrets=["hunter22"])
    for file in tmp_path.iterdir():
        content = file.read_bytes()
        assert b"5550101234" not in content, file.name
        assert b"hunter22" not in content, file.name


def test_a_call_that_was_never_answered_leaves_no_recording_of_the_one_before(tmp_path: Path) -> None:
    save_call(silent_call(), tmp_path)
    save_call(broken_call(ConnectError("nobody there")), tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["manifest.json", "result.json"]
    with pytest.raises(OptionError, match=r"no saved call in .*: cannot read timeline\.json"):
        load_call(tmp_path)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OptionError, match=r"cannot save the call in .*file"):
        save_call(silent_call(), tmp_path / "file")


@pytest.mark.parametrize("content", ["{", "[]", '{"format": "something else"}', '"\ud800"'])
def test_a_timeline_that_is_none_is_refused(content: str, tmp_path: Path) -> None:
    save_call(silent_call(), tmp_path)
    (tmp_path / "timeline.json").write_bytes(content.encode("utf-8", "surrogatepass"))
    with pytest.raises(OptionError, match=r"timeline\.json"):
        load_call(tmp_path)


def test_a_timeline_that_lacks_a_column_is_refused(tmp_path: Path) -> None:
    save_call(silent_call(), tmp_path)
    timeline = json.loads((tmp_path / "timeline.json").read_text())
    del timeline["arrivals"]["heard"]
    (tmp_path / "timeline.json").write_text(json.dumps(timeline))
    with pytest.raises(OptionError, match=r"damaged: arrivals\.heard is missing"):
        load_call(tmp_path)


@pytest.mark.parametrize(
    ("name", "value", "wrong"),
    [
        ("rate", 0, "no call has a rate of 0 Hz"),
        ("rate", "8000", "rate cannot be '8000'"),
        ("samples", None, "samples cannot be null"),
        ("events", [{"at": "x", "kind": "hangup", "data": {}}], r"events\[0\].at cannot be 'x'"),
        ("events", [{"at": 3, "kind": "hangup", "data": None}], r"events\[0\].data cannot be null"),
        ("events", [{"at": 3, "kind": "hangup", "data": {}, "mood": 1}], "mood"),
        ("arrivals", [], "arrivals cannot be a list"),
    ],
)
def test_a_timeline_that_was_edited_is_refused_with_the_place(
    tmp_path: Path, name: str, value: object, wrong: str
) -> None:
    save_call(silent_call(), tmp_path)
    timeline = json.loads((tmp_path / "timeline.json").read_text())
    (tmp_path / "timeline.json").write_text(json.dumps({**timeline, name: value}))
    with pytest.raises(OptionError, match=rf"timeline.json is damaged: .*{wrong}"):
        load_call(tmp_path)


@pytest.mark.parametrize("name", ["result.json", "timeline.json", "manifest.json"])
def test_a_file_that_is_nested_beyond_reason_is_refused(tmp_path: Path, name: str) -> None:
    save_call(silent_call(), tmp_path)
    (tmp_path / name).write_text("[" * 100_000)
    readers: dict[str, Callable[[Path], object]] = {
        "result.json": load_document,
        "timeline.json": load_call,
        "manifest.json": altered_files,
    }
    with pytest.raises(OptionError, match="damaged: it is nested too deep"):
        readers[name](tmp_path)


def test_a_recording_of_another_length_than_the_timeline_is_refused(tmp_path: Path) -> None:
    save_call(silent_call(), tmp_path / "short")
    save_call(answered_call(), tmp_path / "long")
    (tmp_path / "long" / "recording.wav").replace(tmp_path / "short" / "recording.wav")
    with pytest.raises(AudioError, match="two tracks of"):
        load_call(tmp_path / "short")


def test_what_was_received_is_kept_beside_what_was_heard(tmp_path: Path) -> None:
    received = np.arange(-400, 400, dtype=np.int16)
    record = replace(without_sound(), received=received)
    assert saved_record(record, tmp_path).received.tolist() == received.tolist()


def test_files_of_the_transport_lie_beside_the_recording_and_are_in_the_manifest(tmp_path: Path) -> None:
    result = replace(answered_call(), artefacts={"trace.txt": b"INVITE", "../outside.txt": b"x"})
    folder = save_call(result, tmp_path / "call")
    assert (folder / "trace.txt").read_bytes() == b"INVITE"
    assert (folder / "outside.txt").exists()
    assert not (tmp_path / "outside.txt").exists()
    assert altered_files(folder) == ()
    (folder / "trace.txt").write_bytes(b"changed")
    assert altered_files(folder) == ("trace.txt",)


def test_files_of_an_earlier_calls_transport_do_not_stay(tmp_path: Path) -> None:
    save_call(replace(answered_call(), artefacts={"trace.txt": b"INVITE"}), tmp_path)
    save_call(answered_call(), tmp_path)
    assert not (tmp_path / "trace.txt").exists()


def test_a_secret_is_kept_out_of_the_transports_own_files(tmp_path: Path) -> None:
    save_call(made_up("passed", artefacts={"sip.txt": b"to very-secret"}), tmp_path, secrets=["very-secret"])
    assert (tmp_path / "sip.txt").read_bytes() == b"to [secret]"
    assert altered_files(tmp_path) == ()


def test_a_call_that_was_saved_elsewhere_takes_the_place_of_an_earlier_one(tmp_path: Path) -> None:
    here, elsewhere = save_call(answered_call(), tmp_path / "here"), save_call(silent_call(), tmp_path / "elsewhere")
    place_call({path.name: path.read_bytes() for path in elsewhere.iterdir()}, here)
    assert {path.name: path.read_bytes() for path in here.iterdir()} == {
        path.name: path.read_bytes() for path in elsewhere.iterdir()
    }
    with pytest.raises(OptionError, match="cannot save the call in"):
        place_call({}, here / "result.json" / "below")


def test_facts_can_be_added_to_a_saved_call(tmp_path: Path) -> None:
    folder = save_call(answered_call(), tmp_path)
    before = load_document(folder)
    assert add_facts(folder, {"lost_workers": 1}) == load_document(folder)
    assert load_document(folder) == {**before, "facts": {**before["facts"], "lost_workers": 1}}
    assert altered_files(folder) == ()


@pytest.mark.parametrize(
    ("full", "left"),
    [
        ("recording.wav", {"result.json", "timeline.json"}),
        ("timeline.json", {"result.json"}),
        ("manifest.json", {"result.json", "timeline.json", "recording.wav", "received.wav"}),
    ],
)
def test_a_full_disk_leaves_whole_files_the_result_first_and_no_manifest(
    full: str, left: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_up(monkeypatch, lambda path: path.name == full)
    with pytest.raises(OptionError, match=r"cannot save the call in .*: No space left on device"):
        save_call(answered_call(), tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == left
    assert load_document(tmp_path) == call_document(answered_call())


def test_a_result_that_cannot_be_written_again_stays_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = (save_call(answered_call(), tmp_path) / "result.json").read_bytes()
    fill_up(monkeypatch, lambda path: "result.json" in path.name)
    with pytest.raises(OptionError, match="No space left on device"):
        add_facts(tmp_path, {"machine": "other"})
    assert (tmp_path / "result.json").read_bytes() == before
    assert altered_files(tmp_path) == ()


def test_a_folder_in_the_place_of_a_recording_is_an_error_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "recording.wav").mkdir()
    with pytest.raises(OptionError, match="cannot save the call in"):
        save_call(answered_call(), tmp_path)
