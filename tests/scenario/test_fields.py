"""What the fields of scenario values may hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence  # noqa: TC003 (read at run time to describe the fields)
from dataclasses import dataclass, field
from typing import Literal

import pytest

from voiceharness.errors import ScenarioError
from voiceharness.scenario.fields import (
    CHECKED,
    Count,
    Digits,
    Hertz,
    Seconds,
    Text,
    check_fields,
    fields_of,
    keep_tuples,
    keeps_place,
    require_one,
)

__all__: list[str] = []


@dataclass(frozen=True)
class Sample:
    """Has a field of each form."""

    name: Text
    within: Seconds | None = None
    flag: bool = False
    colour: Literal["red", "blue"] = "red"
    tags: Sequence[Text] = ()
    extra: Mapping[str, object] = field(default_factory=dict)
    digits: Digits | None = None
    count: Count = 0
    pitch: Hertz = 440.0
    note: object = field(default=None, metadata={CHECKED: False})


def test_the_fields_are_described_from_the_annotations() -> None:
    described = fields_of(Sample)
    kinds = {name: each.kind.name if each.kind else None for name, each in described.items()}
    assert kinds == {
        "name": "text",
        "within": "seconds",
        "flag": "flag",
        "colour": "choice",
        "tags": "text",
        "extra": None,
        "digits": "digits",
        "count": "count",
        "pitch": "hertz",
    }
    assert [name for name, each in described.items() if each.required] == ["name"]
    assert [name for name, each in described.items() if each.many] == ["tags"]
    assert not keeps_place(Sample)


@pytest.mark.parametrize(
    "sample",
    [
        Sample("a", 0, True, "blue", ("x",), {"k": 1}, "0*#D", 3),
        Sample("a", within=None),
    ],
)
def test_what_fits_is_accepted(sample: Sample) -> None:
    check_fields(sample, "sample")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": " "}, "sample: name takes text, not ' '"),
        ({"name": None}, "sample: name takes text, not None"),
        ({"within": "3s"}, "sample: within takes seconds, a number of at least 0, not '3s'"),
        ({"within": True}, "sample: within takes seconds, a number of at least 0, not True"),
        ({"flag": 1}, "sample: flag takes true or false, not 1"),
        ({"colour": "green"}, "sample: colour takes red or blue, not 'green'"),
        ({"tags": ("x", 3)}, "sample: tags takes text, not 3"),
        ({"extra": 3}, "sample: extra takes Mapping, not 3"),
        (
            {"digits": "12a"},
            "sample: digits takes keypad digits as text, such as \"12#\", not '12a'",
        ),
        ({"digits": 12}, 'sample: digits takes keypad digits as text, such as "12#", not 12'),
        ({"pitch": 0}, "sample: pitch takes hertz, a number above 0, not 0"),
        ({"count": -1}, "sample: count takes a whole number of at least 0, not -1"),
    ],
)
def test_what_does_not_fit_is_named(changes: dict[str, object], message: str) -> None:
    values: dict[str, object] = {"name": "a", **changes}
    with pytest.raises(ScenarioError) as caught:
        check_fields(Sample(**values), "sample")  # type: ignore[arg-type] # the point of the test
    assert str(caught.value) == message


def test_sequences_are_kept_as_tuples() -> None:
    sample = Sample("a", tags=["x", "y"])
    keep_tuples(sample, "sample")
    assert sample.tags == ("x", "y")


@pytest.mark.parametrize("tags", ["smoke", 3])
def test_what_is_no_list_is_not_taken_apart(tags: object) -> None:
    with pytest.raises(ScenarioError, match="sample: tags takes a list, not"):
        keep_tuples(Sample("a", tags=tags), "sample")  # type: ignore[arg-type] # the point of the test


def test_exactly_one_of_some_fields_is_required() -> None:
    require_one(Sample("a", within=1), "sample", "within", "digits")
    with pytest.raises(ScenarioError, match="exactly one of within, digits; none is given"):
        require_one(Sample("a"), "sample", "within", "digits")
    with pytest.raises(ScenarioError, match="exactly one of within, digits; within and digits are given"):
        require_one(Sample("a", within=1, digits="1"), "sample", "within", "digits")
