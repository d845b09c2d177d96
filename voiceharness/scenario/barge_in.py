"""Talking over the agent: when, by what means, and whether anybody was interrupted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from voiceharness.scenario.steps import Interrupt, Press
from voiceharness.scenario.triggers import AfterSeconds, AtRandom, AtTime, WordTrigger

if TYPE_CHECKING:
    from voiceharness.scenario.player import Player

__all__ = ["barge_in"]

Phase = Literal["speaking", "silent"]


async def barge_in(player: Player, step: Interrupt, index: int) -> None:
    """Wait for the point that the step asks for, then speak, signal or press; the result says what really happened."""
    trigger = step.after
    if isinstance(trigger, AtRandom):
        drawn = trigger.draw(player.scenario.seed, index)
        if drawn is None:
            await _leave_alone(player, step)
            return
        trigger = drawn
    asked = await _point(player, step, trigger)
    if asked is None:
        return
    point = max(asked, player.cursor)  # what was asked for may have passed before this step
    phase = _phase(player, point)
    via, signalled = await _act(player, step, point)
    player.line.timeline.note(
        point,
        "barge_in",
        asked=asked,
        via=via,
        signalled=signalled,
        word_source=player.words.name if isinstance(trigger, WordTrigger) else None,
        step=index,
        phase=phase,
    )
    if phase == "silent" and not isinstance(trigger, AtTime):
        player.expect(
            "barge_in_missed",
            False,
            wanted=f"the agent speaking at {point / player.line.settings.rate:.2f} s",
            measured="the agent was silent",
            explanation="the agent's turn was over before the point of the interruption, so nobody was interrupted",
        )


async def _leave_alone(player: Player, step: Interrupt) -> None:
    """Hear a turn to its end: chance chose not to interrupt it."""
    turn = await player.line.hear(player.answer, within=step.within)
    if not turn.has_speech:
        _never_spoke(player)
    player.cursor = player.line.now
    player.since = max(player.since, turn.offset)


async def _point(player: Player, step: Interrupt, trigger: AfterSeconds | WordTrigger | AtTime) -> int | None:
    """Wait for the position of the barge-in; None (and a failed expectation) if it never comes."""
    line = player.line
    if isinstance(trigger, AtTime):
        position = max(player.cursor, line.settings.samples(trigger.time))
        return position if await line.until_sendable(position) else None
    onset = await player.turn_onset(step.within)
    if onset is None:
        _never_spoke(player)
        return None
    if isinstance(trigger, AfterSeconds):
        position = onset + line.settings.samples(trigger.seconds)
        return position if await line.until_sendable(position) else None
    deadline = onset + line.settings.samples(line.adapter.max_turn_duration)
    said = await player.words.until_said(line, onset, trigger.enough, deadline)
    if said is None:
        player.cursor = line.now
        heard = await player.heard_words(onset)
        player.expect(
            "barge_in_missed",
            False,
            wanted=str(trigger),
            measured=heard,
            explanation=f"the agent's turn (or the call) ended before {trigger} had been heard: {heard}",
        )
    return said


def _never_spoke(player: Player) -> None:
    went_on = player.line.downlink.onset_after(player.since) is not None
    player.cursor = player.line.now
    player.expect(
        "no_answer",
        False,
        wanted="speech of the agent to interrupt",
        measured="speech that had begun before" if went_on else "none",
        explanation=(
            "the agent went on with what it had been saying and began no turn that could be interrupted"
            if went_on
            else "the agent did not speak, so there was nothing to interrupt"
        ),
    )


def _phase(player: Player, point: int) -> Phase:
    """Say whether the agent is being heard around a position, pauses between its words included."""
    pause = player.line.settings.samples(player.line.settings.pause)
    spans = player.line.downlink.segments()
    return "speaking" if any(span.onset <= point < span.offset + pause for span in spans) else "silent"


async def _act(player: Player, step: Interrupt, point: int) -> tuple[str, bool]:
    """Interrupt at a position; return the means that were used, and whether the transport's signal was among them."""
    line = player.line
    content = step.content
    if isinstance(content, Press):
        await player.press(content)
        return "digits", False
    declared = player.capabilities.interruption
    signals = {
        "auto": declared and line.adapter.harness_detects_turns,
        "speech": False,
        "signal": declared,
        "both": True,
    }[step.via]
    speaks = step.via != "signal" or not declared
    if signals:
        await line.interrupt()
    if speaks:
        clip = player.clips[player.current]
        await player.say(clip, step, at=point, from_onset=True)
    else:
        player.cursor = player.since = point
    return ("both" if signals and speaks else "signal" if signals else "speech"), signals
