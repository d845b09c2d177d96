"""What terminals and XML parsers are given."""

from __future__ import annotations

import pytest

from voiceharness.report.printable import fitted, printable


def test_what_terminals_and_xml_cannot_take_is_replaced_one_for_one() -> None:
    """Case B47."""
    assert printable("a\x00b\x1b[31m\x7f\x9b\ud800\ufffe\r") == "a\ufffdb\ufffd[31m\ufffd\ufffd\ufffd\ufffd\ufffd"


def test_text_in_any_script_is_left_alone() -> None:
    """Case B47."""
    text = "café €5 — ¿qué?\t你好\n😀 مرحبا"
    assert printable(text) == text


@pytest.mark.parametrize(("text", "line"), [("short", "short"), ("0123456789", "0123456…"), ("a\nb", "a b")])
def test_a_line_is_cut_where_the_terminal_ends(text: str, line: str) -> None:
    assert fitted(text, 8) == line


def test_wide_characters_count_twice() -> None:
    assert fitted("你好你好你好", 7) == "你好你…"
