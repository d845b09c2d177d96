"""Places in scenario files."""

from __future__ import annotations

from voiceharness.scenario.place import Place

__all__: list[str] = []


def test_an_error_points_to_its_place() -> None:
    place = Place("calls/book.yaml", 3, 7)
    error = place.error("no such step")
    assert (error.file, error.line, error.column) == ("calls/book.yaml", 3, 7)
    assert str(error) == f"{place}: no such step" == "calls/book.yaml:3:7: no such step"
