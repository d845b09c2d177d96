"""Scenarios chosen by tag and name."""

from __future__ import annotations

from pathlib import Path

import pytest

from voiceharness.errors import OptionError, ScenarioError
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Hear
from voiceharness.suite.finding import Case
from voiceharness.suite.selection import EVERYTHING, Selection, select

__all__: list[str] = []


def case(name: str, *tags: str) -> Case:
    return Case(Scenario(name, [Hear()], tags=tags), Path("calls.yaml"))


CASES = [case("greets"), case("books a table", "smoke", "slow"), case("books a room", "smoke"), case("hangs up", "odd")]


@pytest.mark.parametrize(
    ("selection", "names"),
    [
        (EVERYTHING, ["greets", "books a table", "books a room", "hangs up"]),
        (Selection(tags=["smoke"]), ["books a table", "books a room"]),
        (Selection(tags=["slow", "odd"]), ["books a table", "hangs up"]),
        (Selection(without_tags=["slow", "odd"]), ["greets", "books a room"]),
        (Selection(tags=["smoke"], without_tags=["slow"]), ["books a room"]),
        (Selection(names=["greets", "* a table"]), ["greets", "books a table"]),
        (Selection(tags=["smoke"], names=["* room"]), ["books a room"]),
    ],
)
def test_tags_and_names_choose(selection: Selection, names: list[str]) -> None:
    assert [each.scenario.name for each in select(CASES, selection)] == names


def test_every_selection_narrows_what_the_others_leave() -> None:
    found = select(CASES, Selection(tags=["smoke"]), Selection(without_tags=["slow"]))
    assert [each.scenario.name for each in found] == ["books a room"]


def test_a_selection_of_nothing_is_an_error_that_tells_the_tags() -> None:
    with pytest.raises(OptionError, match=r"none of 4 scenarios .*; tags are odd, slow, smoke"):
        select(CASES, Selection(tags=["smoek"]))


def test_a_name_that_nothing_has_is_an_error_that_tells_the_names() -> None:
    with pytest.raises(OptionError) as raised:
        select(CASES, Selection(names=["nope*"]))
    assert str(raised.value) == (
        "none of 4 scenarios has the names that are asked for; names are books a room, books a table, greets, hangs up"
    )
    with pytest.raises(OptionError, match=r"has the tags and names .*; tags are odd, slow, smoke; names are books"):
        select(CASES, Selection(tags=["odd"]), Selection(names=["greets"]))


def test_of_many_names_the_first_are_told() -> None:
    with pytest.raises(OptionError, match=r"names are n00, n01, .*, n19 and 5 more$"):
        select([case(f"n{number:02d}") for number in range(25)], Selection(names=["x"]))


def test_nothing_to_choose_from_is_no_error() -> None:
    assert select([], Selection(tags=["smoke"])) == []


def test_a_tag_is_a_text() -> None:
    with pytest.raises(ScenarioError, match="select: tags takes text"):
        Selection(tags=[""])
