"""Writing to streams."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import pytest

from voiceharness.cli.output import Progress, takes_unicode, tell, tell_json, tolerate_any_text

if TYPE_CHECKING:
    from collections.abc import Callable


def stream(encoding: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding=encoding)


@pytest.mark.parametrize(("encoding", "takes"), [("utf-8", True), ("ascii", False), ("cp1252", False)])
def test_block_characters_are_for_streams_that_take_them(encoding: str, takes: bool) -> None:
    assert takes_unicode(stream(encoding)) is takes


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "cp1252"])
@pytest.mark.parametrize("write", [tell, tell_json])
def test_any_text_can_be_written_to_any_stream(
    write: Callable[[str], None], encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case B47."""
    output = stream(encoding)
    monkeypatch.setattr(sys, "stdout", output)
    monkeypatch.setattr(sys, "stderr", stream(encoding))
    tolerate_any_text()
    write("café €5 — ¿qué? 你好 😀 مرحبا \ud800")
    assert output.tell() > 20


class Terminal(io.StringIO):
    """Standard error as a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


def test_on_a_terminal_progress_is_one_line_that_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "40")
    progress = Progress(2)
    progress.call("greeting")
    progress.step('say "a text that is far too long for this"')
    progress.clear()
    shown = terminal.getvalue().split("\r\x1b[K")
    assert shown == ["", "[1/2] greeting", '[1/2] greeting: say "a text that is ...', ""]
    assert "\n" not in terminal.getvalue()


def test_elsewhere_it_is_a_line_for_each_call(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(1)
    progress.call("greeting\x1b[2J")
    progress.step("say")
    progress.clear()
    assert capsys.readouterr().err == "[1/1] greeting\ufffd[2J\n"
