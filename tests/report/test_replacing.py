"""Files that have their old content or their new one."""

from __future__ import annotations

from pathlib import Path

import pytest

from voiceharness.report.replacing import place_beside, replace_file


def test_a_file_is_made_and_replaced(tmp_path: Path) -> None:
    file = tmp_path / "suite.json"
    for content in (b"one", b"two"):
        replace_file(file, content)
        assert file.read_bytes() == content
        assert list(tmp_path.iterdir()) == [file]


def test_it_can_be_read_by_whoever_can_read_a_new_file(tmp_path: Path) -> None:
    replace_file(tmp_path / "suite.json", b"one")
    (tmp_path / "other").touch()
    assert (tmp_path / "suite.json").stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_what_cannot_be_written_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    file = tmp_path / "suite.json"
    file.write_bytes(b"one")

    def half(path: Path, content: bytes) -> None:
        with path.open("wb") as stream:
            stream.write(content[:1])
        raise error

    monkeypatch.setattr(Path, "write_bytes", half)
    with pytest.raises(type(error)):
        replace_file(file, b"two")
    assert file.read_bytes() == b"one"
    assert list(tmp_path.iterdir()) == [file]


def test_a_folder_in_its_place_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "suite.json").mkdir()
    with pytest.raises(OSError, match="directory"):
        replace_file(tmp_path / "suite.json", b"one")
    assert [path.name for path in tmp_path.iterdir()] == ["suite.json"]


def test_the_new_content_is_written_into_the_same_folder_first(tmp_path: Path) -> None:
    (tmp_path / ".suite.json.part").mkdir()
    assert place_beside(tmp_path / "suite.json") == tmp_path / ".suite.json.part"
    with pytest.raises(OSError, match="directory"):
        replace_file(tmp_path / "suite.json", b"one")
