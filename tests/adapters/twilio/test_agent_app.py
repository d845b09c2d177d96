"""An agent served as a Twilio agent: what its webhook and its stream do, and whom they refuse."""

from __future__ import annotations

from typing import Any

import pytest

from tests.adapters.twilio.wire_agent import STREAM, VOICE, near, play
from voiceharness.audio import signals
from voiceharness.audio.chunk import AudioChunk
from voiceharness.doubles import ScriptedPhoneAgent, SilentAgent
from voiceharness.errors import AgentCrashedError, CallRejectedError
from voiceharness.events import CallEnded, Digit, Flush, Mark, MarkPlayed, RemoteHangup, Words
from voiceharness.scenario.steps import Hangup, Press, Wait
from voiceharness_adapters.twilio import TwilioAgentApp

__all__: list[str] = []

TOKEN = "0123456789abcdef0123456789abcdef"
TONE = AudioChunk.from_samples(signals.tone(440, 12.0))


def test_what_the_agent_does_reaches_the_user_and_the_answers_come_back() -> None:
    agent = ScriptedPhoneAgent([(0.0, TONE), (0.0, Mark("m")), (0.5, Words("i", text="hi")), (1.0, Flush())])
    played = play(TwilioAgentApp(agent), Wait(2), Press("5"), Hangup())
    assert played.heard == [(0, near(1000))]
    assert played.adapter.log.received == {"media": 3, "mark": 1, "clear": 1}  # five seconds a message at most
    assert [item.item for item in agent.log.items if isinstance(item.item, MarkPlayed)] == [MarkPlayed("m")]
    assert [item.item for item in agent.log.items if isinstance(item.item, Digit)] == [Digit("5")]
    assert isinstance(agent.log.items[-1].item, CallEnded)


def test_the_users_audio_arrives_with_its_positions() -> None:
    agent = SilentAgent()
    play(TwilioAgentApp(agent), Wait(0.5), Hangup())
    positions = [item.item.position for item in agent.log.items if isinstance(item.item, AudioChunk)]
    assert positions == list(range(0, 160 * len(positions), 160))


def test_an_agent_that_hangs_up_closes_the_stream() -> None:
    played = play(TwilioAgentApp(ScriptedPhoneAgent([(0.5, RemoteHangup("bye"))])), Wait(2))
    assert (played.result.ended_by, played.result.ended_code) == ("agent", 1000)


def test_an_agent_that_crashes_is_seen_to() -> None:
    class Crashing(ScriptedPhoneAgent):
        async def act(self, call: Any) -> None:
            raise KeyError("boom")

    played = play(TwilioAgentApp(Crashing([])), Wait(2), url=VOICE)
    assert isinstance(played.result.error, AgentCrashedError)
    assert isinstance(played.result.error.__cause__, KeyError)


@pytest.mark.parametrize("url", [VOICE, STREAM])
def test_a_signed_call_is_taken(url: str) -> None:
    """Case B33: over the webhook as well as the stream."""
    assert play(TwilioAgentApp(SilentAgent(), token=TOKEN), Wait(0.1), Hangup(), url=url, token=TOKEN).result.passed


@pytest.mark.parametrize("url", [VOICE, STREAM])
@pytest.mark.parametrize("token", [None, "f" * 32])
def test_an_unsigned_call_is_refused_before_the_agent_hears_of_it(url: str, token: str | None) -> None:
    """Case B33."""
    agent = SilentAgent()
    played = play(TwilioAgentApp(agent, token=TOKEN), Wait(0.1), url=url, token=token)
    assert isinstance(played.result.error, CallRejectedError)
    assert played.result.error.code == 403
    assert agent.logs == []


def test_behind_a_proxy_the_public_url_decides() -> None:
    """Case B33."""
    app = TwilioAgentApp(SilentAgent(), token=TOKEN, public_url="https://public.example.test/")
    inside = play(app, Wait(0.1), Hangup(), url="wss://public.example.test/media", token=TOKEN)
    outside = play(app, Wait(0.1), Hangup(), url=STREAM, token=TOKEN)
    assert inside.result.passed
    assert isinstance(outside.result.error, CallRejectedError)
