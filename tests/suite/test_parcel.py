"""Evidence on its way between machines."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING

import pytest

from voiceharness.errors import WorkerError
from voiceharness.suite import parcel
from voiceharness.suite.parcel import packed, unpacked

if TYPE_CHECKING:
    from pathlib import Path

__all__: list[str] = []


def archive(*names: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as out:
        for name in names:
            out.writestr(name, b"what")
    return made.getvalue()


def test_the_files_of_a_folder_come_out_as_they_went_in(tmp_path: Path) -> None:
    files = {"result.json": b"{}\n", "recording.wav": bytes(range(256)) * 1000, "empty": b""}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    assert unpacked(packed(tmp_path)) == files


def test_silence_takes_little_room(tmp_path: Path) -> None:
    (tmp_path / "recording.wav").write_bytes(bytes(1_000_000))
    assert len(packed(tmp_path)) < 10_000


@pytest.mark.parametrize("name", ["../result.json", "/etc/passwd", "a/b", "..", "C:\\a", "a/"])
def test_files_that_lead_out_of_the_folder_are_refused(name: str) -> None:
    with pytest.raises(WorkerError, match="files that lead elsewhere"):
        unpacked(archive("result.json", name))


def test_what_is_no_parcel_is_refused() -> None:
    for damaged in (b"", b"PK", archive("result.json")[:-30]):
        with pytest.raises(WorkerError, match="came back damaged"):
            unpacked(damaged)


def test_a_parcel_whose_content_was_altered_is_refused() -> None:
    whole = archive("result.json")
    with pytest.raises(WorkerError, match="came back damaged"):
        unpacked(whole.replace(b"what", b"that"))


def test_too_much_is_refused_at_both_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "recording.wav").write_bytes(bytes(1000))
    large = packed(tmp_path)
    monkeypatch.setattr(parcel, "LARGEST", 999)
    with pytest.raises(WorkerError, match="left 1000 bytes of evidence; 999 may be brought back"):
        packed(tmp_path)
    with pytest.raises(WorkerError, match="left 1000 bytes of evidence"):
        unpacked(large)
