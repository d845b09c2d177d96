"""JSON, losslessly, in any encoding."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import pytest

from voiceharness.report.serialization import from_json, json_bytes, json_text, plain


@dataclass(frozen=True)
class Pair:
    left: int
    right: tuple[str, ...]


def test_any_text_is_read_back_as_it_was() -> None:
    """Case B47."""
    texts = ["café €5 — ¿qué? 你好 😀 مرحبا", "lone \ud83d surrogate", "NUL \x00 and \x1b"]
    assert from_json(json_bytes(texts)) == texts


def test_files_hold_plain_utf_8() -> None:
    """Case B47."""
    text = "café €5 — ¿qué? 你好 😀 مرحبا"
    assert text.encode() in json_bytes({"text": text})


def test_text_for_a_stream_is_ascii() -> None:
    assert json_text(["é😀\ud800"]).isascii()
    assert json.loads(json_text(["é😀\ud800"])) == ["é😀\ud800"]


def test_what_is_nested_deep_stays_on_one_line() -> None:
    content = json_bytes({"a": [{"b": [1, 2]}], "c": {}, "d": "e"}, depth=2).decode()
    assert content.splitlines() == ["{", ' "a": [', '  {"b": [1, 2]}', " ],", ' "c": {},', ' "d": "e"', "}"]


def test_figures_are_read_back_exactly() -> None:
    figures = [0.1 + 0.2, 1 / 3, -0.0, 5e-324]
    assert from_json(json_bytes(figures)) == figures


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        json_bytes([math.nan])


def test_values_keep_their_names() -> None:
    assert plain({"pair": Pair(1, ("a",)), "set": frozenset({2, 1})}) == {
        "pair": {"left": 1, "right": ["a"]},
        "set": [1, 2],
    }


def test_what_has_no_json_form_is_named() -> None:
    with pytest.raises(TypeError, match="no JSON form for <object"):
        plain(object())


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a": -Infinity}', "[1e400]", "[-1e400]"])
def test_a_number_that_json_cannot_write_is_not_read(text: str) -> None:
    with pytest.raises(ValueError, match="is no number of JSON"):
        from_json(text.encode())
