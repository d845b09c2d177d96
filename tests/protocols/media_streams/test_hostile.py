"""The list of hostile input: every attack is judged as it says, from either end and in every vocabulary."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.protocols.media_streams.streams import ends, started
from voiceharness.protocols.media_streams.dialects import DIALECTS, TWILIO
from voiceharness.protocols.media_streams.hostile import Hostile, hostile_inputs
from voiceharness.protocols.media_streams.messages import Media, Violation

if TYPE_CHECKING:
    from voiceharness.protocols.media_streams.vocabulary import Dialect

__all__: list[str] = []

AGENTS = hostile_inputs("agent", "MZ1")
BEYOND_ONE_MESSAGE = {"buffer_full"}  # what waits is counted by the carrier's buffer, not by the protocol
LENIENT = {"extra_field", "file_header", "wrong_direction"}  # an agent's end does not mind, or cannot know


def test_there_are_enough_of_them_and_each_has_its_name() -> None:
    assert len(AGENTS) >= 40
    assert len({attack.name for attack in AGENTS}) == len(AGENTS)


@pytest.mark.parametrize("attack", AGENTS, ids=lambda attack: attack.name)
def test_the_carriers_end_judges_each(attack: Hostile) -> None:
    carrier = started()
    outcomes = [carrier.receive(message) for message in attack.messages]
    kinds = [outcome.kind for outcome in outcomes if isinstance(outcome, Violation)]
    assert kinds[:1] == ([attack.kind] if attack.kind not in (None, *BEYOND_ONE_MESSAGE) else [])


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_the_agents_end_survives_all_of_them_from_a_carrier(dialect: Dialect) -> None:
    for attack in hostile_inputs("carrier", "MZ1", dialect=dialect):
        _, agent = ends(dialect)
        kinds = [o.kind for message in attack.messages if isinstance(o := agent.receive(message), Violation)]
        if attack.kind is not None and attack.kind not in LENIENT | BEYOND_ONE_MESSAGE:
            assert attack.kind in kinds, attack.name


def test_what_waits_in_line_is_judged_after_an_attack_as_before() -> None:
    carrier, agent = ends(TWILIO)
    for attack in AGENTS:
        for message in attack.messages:
            carrier.receive(message)
        assert carrier.receive(agent.media(b"\1")) == Media(b"\1"), attack.name
