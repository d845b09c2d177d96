"""Whether the agent is speaking, as it is known while the call goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.line.agents import on_line, tone
from voiceharness.doubles import ScriptedPhoneAgent
from voiceharness.events import Flush

if TYPE_CHECKING:
    from voiceharness.line.line import Line

__all__: list[str] = []


def test_agent_speaking_follows_heard_sound() -> None:
    async def body(line: Line) -> list[tuple[int, bool]]:
        seen = []
        for second in (0.4, 0.6, 1.9, 2.2, 2.6):
            await line.until_position(line.settings.samples(second))
            seen.append((round(second * 1000), line.agent_speaking.is_set()))
        return seen

    agent = ScriptedPhoneAgent([(0.5, tone(440, 5.0)), (2.0, Flush())])
    assert on_line(agent, body) == [(400, False), (600, True), (1900, True), (2200, False), (2600, False)]


def test_a_pause_within_speech_is_bridged_and_both_edges_are_noted_where_they_were_heard() -> None:
    async def body(line: Line) -> list[tuple[str, int]]:
        await line.until_position(line.settings.samples(4.0))
        changes = line.record().of_kind("agent_onset", "agent_offset")
        return [(event.kind, round(event.at / 8)) for event in changes]

    agent = ScriptedPhoneAgent([(0.5, tone(440, 1.0)), (1.6, tone(440, 0.4)), (3.0, tone(440, 0.5))])
    assert on_line(agent, body) == [
        ("agent_onset", 500),
        ("agent_offset", 2000),
        ("agent_onset", 3000),
        ("agent_offset", 3500),
    ]
