"""Files that cannot be written are refused before there is anything to write."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.report.disks import fill_up
from voiceharness.errors import OptionError
from voiceharness.report.writable import refuse_unwritable, write_file

if TYPE_CHECKING:
    from pathlib import Path


def everything(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def test_a_file_that_can_be_written_is_not_there_afterwards_but_its_folder(tmp_path: Path) -> None:
    refuse_unwritable([tmp_path / "junit.xml", tmp_path / "a" / "b" / "junit.xml"])
    assert everything(tmp_path) == ["a", "a/b"]


def test_what_is_in_a_file_and_when_it_was_written_stays(tmp_path: Path) -> None:
    file = tmp_path / "junit.xml"
    file.write_text("<before/>")
    os.utime(file, (1, 1))
    refuse_unwritable([file])
    assert file.read_text() == "<before/>"
    assert file.stat().st_mtime == 1


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("file/junit.xml", "Not a directory"),
        ("file/deep/junit.xml", "Not a directory"),
        ("folder", "Is a directory"),
        (f"new/{'x' * 300}", "File name too long"),
        ("itself", "[Ss]ymbolic|Symlink loop"),
        ("to-nowhere", "No such file or directory"),
        ("nul\0l", "null"),
    ],
)
def test_what_cannot_be_written_is_refused_and_nothing_is_left_of_the_trial(
    name: str, why: str, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "itself").symlink_to(tmp_path / "itself")
    (tmp_path / "to-nowhere").symlink_to(tmp_path / "nowhere" / "junit.xml")
    before = everything(tmp_path)
    with pytest.raises(OptionError, match=f"cannot write .*({why})") as raised:
        refuse_unwritable([tmp_path / "a" / "b" / "good.xml", tmp_path / name])
    assert str(raised.value).endswith("; name a place that can be written. Nothing was begun")
    assert everything(tmp_path) == before


def test_a_folder_that_somebody_else_uses_by_now_is_left_to_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unlink = type(tmp_path).unlink

    def theirs(path: Path, missing_ok: bool = False) -> None:
        unlink(path, missing_ok)
        (path.parent / "theirs").touch()

    monkeypatch.setattr(type(tmp_path), "unlink", theirs)
    with pytest.raises(OptionError):
        refuse_unwritable([tmp_path / "a" / "good.xml", tmp_path])
    assert everything(tmp_path) == ["a", "a/theirs"]


def test_a_link_to_a_file_that_is_not_there_yet_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "later.xml")
    refuse_unwritable([tmp_path / "link"])
    assert everything(tmp_path) == ["link"]


def test_a_pipe_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    refuse_unwritable([tmp_path / "pipe"])
    monkeypatch.setattr(os, "access", lambda _path, mode: mode != os.W_OK)
    with pytest.raises(OptionError, match="pipe: Permission denied"):
        refuse_unwritable([tmp_path / "pipe"])


def test_a_file_is_written_in_a_folder_that_is_made_for_it(tmp_path: Path) -> None:
    write_file(tmp_path / "a" / "junit.xml", b"<one/>")
    assert (tmp_path / "a" / "junit.xml").read_bytes() == b"<one/>"


def test_a_file_that_cannot_be_written_after_all_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill_up(monkeypatch, lambda path: path.name == "junit.xml")
    with pytest.raises(OptionError, match=r"cannot write .*junit\.xml: No space left on device"):
        write_file(tmp_path / "junit.xml", b"<one/>")
