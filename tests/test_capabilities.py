"""What an adapter declares, and what a scenario needs of it."""

from __future__ import annotations

from typing import Any

import pytest

from voiceharness.capabilities import AdapterCapabilities, Requirement
from voiceharness.errors import OptionError

__all__: list[str] = []

FULL = AdapterCapabilities(
    interruption=True,
    dtmf=frozenset({"event", "inband"}),
    streaming_transcripts=True,
    call_control=frozenset({"hold", "resume"}),
    directions=frozenset({"dial"}),
    rates=frozenset({8000}),
    virtual_time=True,
)


@pytest.mark.parametrize(
    "requirement",
    [
        Requirement("interruption"),
        Requirement("streaming_transcripts"),
        Requirement("virtual_time"),
        Requirement("dtmf"),
        Requirement("dtmf", "event"),
        Requirement("call_control", "hold"),
        Requirement("direction", "dial"),
    ],
    ids=str,
)
def test_what_is_declared_is_supported_and_by_default_nothing_is(requirement: Requirement) -> None:
    assert FULL.supports(requirement)
    assert not AdapterCapabilities().supports(requirement)


def test_that_the_end_is_told_is_granted_unless_it_is_denied() -> None:
    assert AdapterCapabilities().supports(Requirement("tells_the_end"))
    assert not AdapterCapabilities(tells_the_end=False).supports(Requirement("tells_the_end"))


@pytest.mark.parametrize(
    "requirement",
    [Requirement("dtmf", "rfc4733"), Requirement("call_control", "transfer"), Requirement("direction", "be_dialled")],
    ids=str,
)
def test_one_value_of_a_capability_is_not_another(requirement: Requirement) -> None:
    assert not FULL.supports(requirement)


def test_what_is_missing_is_listed_in_the_order_of_need() -> None:
    needs = [Requirement("dtmf", "info"), Requirement("interruption"), Requirement("direction", "be_dialled")]
    assert [str(need) for need in FULL.missing(needs)] == ["dtmf:info", "direction:be_dialled"]


def test_a_capability_that_does_not_exist_is_an_error_not_a_no() -> None:
    with pytest.raises(OptionError, match="there is no capability 'telepathy'"):
        FULL.supports(Requirement("telepathy"))


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("dtmf", {"pulse"}, "no DTMF method 'pulse'; there are event, rfc4733, info, inband"),
        ("call_control", {"park"}, "no call action 'park'; there are hold, resume, transfer, reject, cancel"),
        ("directions", {"up"}, "no direction 'up'; there are dial, be_dialled"),
    ],
)
def test_declaring_what_does_not_exist_is_refused(field: str, value: Any, message: str) -> None:
    options: dict[str, Any] = {field: frozenset(value)}
    with pytest.raises(OptionError) as caught:
        AdapterCapabilities(**options)
    assert str(caught.value) == message
