"""Plays the steps of a scenario on a line, one after another.

Theory of operation. The player keeps where it stands. ``cursor`` is the exact sample at which the last step ended, not
the time at which its task woke up, so a late event loop moves no user audio. ``answer`` is what is taken as the agent's
next turn: one that begins at or after the user's offset after the user spoke (or an early answer), at or after the end
of the turn after one was heard. The uplink goes on by itself meanwhile; a step only places sound and waits for
positions.

When the call has ended, the steps that are left are skipped, and what they expected counts as not met.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from voiceharness.line.bell import NOTHING
from voiceharness.line.turn import Answer, turn_over
from voiceharness.scenario.barge_in import barge_in
from voiceharness.scenario.checks import Ended
from voiceharness.scenario.expectations import CheckResult, judge, judge_text, quoted_words
from voiceharness.scenario.result import StepResult
from voiceharness.scenario.steps import Check, Hangup, Hear, Interrupt, Press, Say, Silence, Wait
from voiceharness.scenario.steps import Line as LineStep
from voiceharness.scenario.triggers import WordTrigger

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from voiceharness.capabilities import AdapterCapabilities, DtmfMethod
    from voiceharness.line.line import Line
    from voiceharness.line.turn import HeardTurn
    from voiceharness.line.word_source import WordSource
    from voiceharness.scenario.expectations import Evidence
    from voiceharness.scenario.preparation import Clip
    from voiceharness.scenario.result import StepOutcome
    from voiceharness.scenario.scenario import Scenario
    from voiceharness.scenario.steps import AnyStep

__all__ = ["Player"]


class Player:
    """Plays one scenario on one line. ``steps`` and ``checks`` hold what became of it so far."""

    def __init__(
        self,
        scenario: Scenario,
        line: Line,
        *,
        clips: Mapping[int, Clip],
        words: WordSource,
        capabilities: AdapterCapabilities,
        evidence: Callable[[], Awaitable[Evidence]],
        on_step: Callable[[StepResult], None] = lambda _step: None,
    ) -> None:
        self.scenario = scenario
        self.line = line
        self.clips = clips
        self.words = words
        self.capabilities = capabilities
        self.cursor = 0
        self.answer = Answer(0, 0)
        self.steps: list[StepResult] = []
        self.checks: list[CheckResult] = []
        self._evidence = evidence
        self._on_step = on_step
        self._end_told_in: int | None = None  # the step whose expectation tells how the call ended
        self.current = 0
        self._cut_told = False

    @property
    def since(self) -> int:
        """Where the agent's next turn must begin to be taken as the answer, unless it is an early one."""
        return self.answer.since

    @since.setter
    def since(self, position: int) -> None:
        self.answer = Answer(position, position)

    async def play(self) -> None:
        """Play all steps; whatever the call does, this returns."""
        for index, step in enumerate(self.scenario.steps):
            self.current = index
            await self._play_one(step)

    async def _play_one(self, step: AnyStep) -> None:
        start, failures = self.cursor, len(self.checks)
        self.line.timeline.note(start, "step_started", step=self.current, name=step.label)
        skipped = self.line.ended is not None and not isinstance(step, Check | Hangup)
        if skipped:
            self._fail_unheard(step)
        else:
            await self._perform(step)
        cut = not skipped and isinstance(step, Say | Interrupt | Press) and self.cursor > self._call_end(self.cursor)
        end = self.cursor = max(start, self._call_end(self.cursor))
        self._tell_if_cut_by_limit(step, told=any(not check.passed for check in self.checks[failures:]))
        failed = any(not check.passed for check in self.checks[failures:])
        outcome: StepOutcome = "skipped" if skipped else "failed" if failed else "cut" if cut else "done"
        detail = "call ended" if skipped or cut else ""
        self.line.timeline.note(end, "step_ended", step=self.current, name=step.label, outcome=outcome)
        self.steps.append(StepResult(self.current, step.label, outcome, start, end, detail))
        self._on_step(self.steps[-1])

    def _tell_if_cut_by_limit(self, step: AnyStep, *, told: bool) -> None:
        """Fail the first step that the call's maximum left no time for: what was not played has shown nothing.

        ``told``: an expectation of the step has failed already, and says so. A check has its own verdict.
        """
        ended, scenario = self.line.ended, self.scenario
        if ended is None or ended.by != "limit" or self._cut_told or isinstance(step, Check | Hangup):
            return
        self._cut_told = True
        if told or scenario.ends_by_limit:
            return
        left = len(scenario.steps) - self.current - 1
        limit = f"{scenario.max_duration:g} s"
        self.expect(
            "cut_by_limit",
            False,
            wanted=f"all steps within the call's maximum of {limit}",
            measured=f"it ended in step {self.current + 1} of {len(scenario.steps)}",
            explanation=(
                f"the call's maximum of {limit} (max_duration) was over in {step.label!r}"
                f"{f', with {left} more to play' if left else ''}: make the step shorter, or the maximum longer"
            ),
        )

    async def _perform(self, step: AnyStep) -> None:
        match step:
            case Hear(absent=True):
                await self._hear_nothing(step)
            case Hear():
                await self._hear(step)
            case Say():
                await self.say(self.clips[self.current], step, at=self.cursor + self._samples(step.gap))
            case Interrupt():
                await barge_in(self, step, self.current)
            case Press():
                await self.press(step)
            case Wait():
                await self._pass_time(step.seconds)
            case Silence():
                await self._pass_time(step.seconds)
                self.since = self.cursor
            case LineStep():
                await self.line.adapter.control(step.action, target=step.target)
                self.cursor = self.line.now
            case Hangup():
                self.line.hang_up("user", "the scenario hung up")
            case Check():
                await self._check(step)

    # What the user does

    async def say(self, clip: Clip, step: Say | Interrupt, *, at: int, from_onset: bool = False) -> None:
        """Speak a clip at a position, and wait for its end."""
        utterance = self.line.say(clip.samples, at=at, from_onset=from_onset)
        self.line.note_utterance(utterance, source=step.kind, step=self.current, text=clip.text, intent=step.intent)
        await self.line.said(utterance)
        self.cursor = utterance.offset
        self.answer = Answer(utterance.offset, utterance.onset)

    async def press(self, step: Press) -> None:
        """Press digits, by the best method the adapter has if none was asked for."""
        method = self.method(step)
        self.since = await self.line.press(step.digits, method, tone_ms=step.tone_ms, gap_ms=step.gap_ms)
        self.cursor = self.line.now

    def method(self, step: Press) -> DtmfMethod:
        """Choose how digits are sent: a signalled method before tones in the sound."""
        if step.method != "auto":
            return step.method
        declared = self.capabilities.dtmf
        order: tuple[DtmfMethod, ...] = ("rfc4733", "event", "info", "inband")
        return next(method for method in order if method in declared)

    async def _pass_time(self, seconds: float) -> None:
        end = self.cursor + self._samples(seconds)
        await self.line.until_position(end)
        self.cursor = min(end, self._call_end(end))

    # What is expected of the agent

    async def _hear(self, step: Hear) -> None:
        if step.up_to is not None:
            await self._hear_part(step)
            return
        turn = await self.line.hear(self.answer, within=step.within, tail=step.tail_silence, cap=step.max_duration)
        self.cursor = self._call_end(self.line.now) if turn.outcome != "heard" else self._tail_end(turn, step)
        if turn.has_speech:
            self.since = turn.offset
        text = await self.words.text(self.line, turn.onset, turn.offset) if step.text is not None else ""
        self._judge_turn(step, turn, text)

    def _tail_end(self, turn: HeardTurn, step: Hear) -> int:
        tail = self.line.adapter.tail_silence if step.tail_silence is None else step.tail_silence
        return turn.offset + self._samples(tail)

    async def _hear_part(self, step: Hear) -> None:
        onset = await self.turn_onset(step.within)
        if onset is None:
            self._no_answer(step)
            return
        at = await self._part_heard(step, onset)
        self.cursor = self.line.now if at is None else at
        passed = at is not None
        measured = "" if passed or not isinstance(step.up_to, WordTrigger) else await self.heard_words(onset)
        explanation = f"the turn ended, or the call did, before {step.up_to} had been heard"
        if passed:
            explanation = f"heard {step.up_to}"
        elif measured:
            explanation += f": {measured}"
        self.expect("hear", passed, wanted=str(step.up_to), measured=measured, explanation=explanation)
        if step.text is not None:
            heard = await self.words.text(self.line, onset, self.cursor)
            self.checks.append(judge_text(step.text, heard, step=self.current, at=onset, by=self.words.name))

    async def _part_heard(self, step: Hear, onset: int) -> int | None:
        """Wait until as much was heard of a turn as the step asks for; None if the turn, or the wait, ends before."""
        deadline = onset + self._samples(step.max_duration or self.line.adapter.max_turn_duration)
        if isinstance(step.up_to, WordTrigger):
            return await self.words.until_said(self.line, onset, step.up_to.enough, deadline)
        assert step.up_to is not None  # the caller looked
        enough = onset + self._samples(step.up_to.seconds)
        tail = step.tail_silence or self.line.adapter.tail_silence
        over = await turn_over(self.line, onset, tail=self._samples(tail), deadline=min(enough, deadline))
        return enough if over is None and enough <= min(self.line.now, deadline) else None

    async def heard_words(self, onset: int) -> str:
        """Say which words were heard since a position, and who supplied them."""
        text = await self.words.text(self.line, onset, self._call_end(self.line.now))
        return quoted_words(text, self.words.name)

    async def turn_onset(self, within: float | None) -> int | None:
        """Wait for the onset of the agent's turn: one that is being heard, or the next."""
        patience = self.line.adapter.response_timeout if within is None else within
        deadline = self.line.now + self._samples(patience)
        await self.line.until(lambda: self.answer.certain(self.line), deadline=deadline)
        return self.answer.onset(self.line)

    async def _hear_nothing(self, step: Hear) -> None:
        assert step.within is not None  # the step's own rule
        deadline = self.cursor + self._samples(step.within)
        onset = await self.line.until(lambda: self.line.downlink.onset_after(self.since), deadline=deadline)
        self.cursor = self.line.now if onset is None else onset
        measured = "silence" if onset is None else f"speech at {onset / self.line.settings.rate:.2f} s"
        self.expect(
            "hear_absent",
            onset is None,
            wanted=f"no speech for {step.within:g} s",
            measured=measured,
            explanation=f"wanted the agent to be silent for {step.within:g} s; heard {measured}",
        )

    def _judge_turn(self, step: Hear, turn: HeardTurn, text: str) -> None:
        if turn.outcome in ("no_answer", "call_ended") and not turn.has_speech:
            self._no_answer(step)
            return
        if turn.outcome == "turn_too_long":
            seconds = (self.line.now - turn.onset) / self.line.settings.rate
            self.expect(
                "turn_too_long",
                False,
                wanted=f"a turn of at most {step.max_duration or self.line.adapter.max_turn_duration:g} s",
                measured=f"{seconds:.2f} s and still speaking",
                explanation=f"the agent was still speaking after {seconds:.2f} s",
            )
        if step.text is not None:
            self.checks.append(judge_text(step.text, text, step=self.current, at=turn.onset, by=self.words.name))

    def _no_answer(self, step: Hear | Interrupt) -> None:
        line = self.line
        state = "the line was silent" if line.ended is None else f"the call was ended by the {line.ended.by}"
        if self._end_told_in is not None:
            found = f"the call had ended before {step.label!r}, see step {self._end_told_in + 1}"
        else:
            found = f"{self._how_unheard(step)}; {self._last_signs()}"
        if line.ended is not None and self._end_told_in is None:
            self._end_told_in = self.current
        self.expect(
            "no_answer",
            False,
            wanted="speech of the agent",
            measured=state,
            explanation=f"{line.adapter.name}: {found}",
        )

    def _how_unheard(self, step: Hear | Interrupt) -> str:
        ended = self.line.ended
        if ended is None:
            waited = (self.line.now - self.since) / self.line.settings.rate
            return f"no speech of the agent for {waited:.2f} s in {step.label!r}"
        # An error is the call's own, and is told there in full.
        reason = f"{type(ended.error).__name__}, see above" if ended.error else ended.reason or "no reason is known"
        return f"the call was ended by the {ended.by} before the agent spoke in {step.label!r}: {reason}"

    def _last_signs(self) -> str:
        uplink, downlink = self.line.uplink, self.line.downlink
        return (
            f"user frames sent: {uplink.sent // uplink.frame}, agent chunks received: {len(downlink.items)}, "
            f"last event: {self.line.timeline.last_kind()}"
        )

    def _fail_unheard(self, step: AnyStep) -> None:
        if isinstance(step, Hear) and not step.absent:
            self._no_answer(step)

    async def _check(self, step: Check) -> None:
        expectation = step.expectation
        if isinstance(expectation, Ended) and self.line.ended is None and expectation.by != "user":
            limit = expectation.within
            end = None if limit is None else self._samples(limit)
            await self.line.until(lambda: None, deadline=end, on=NOTHING)
            self.cursor = self.line.now
        self.checks.append(judge(expectation, await self._evidence(), step=self.current, at=self.cursor))

    def expect(self, kind: str, passed: bool, *, wanted: str, measured: str, explanation: str) -> None:
        """Note an expectation that a step itself carries, met or not."""
        self.checks.append(
            CheckResult(
                kind=kind,
                passed=passed,
                wanted=wanted,
                measured=measured,
                explanation=explanation,
                step=self.current,
                at=self.cursor,
            )
        )

    def _samples(self, seconds: float) -> int:
        return self.line.settings.samples(seconds)

    def _call_end(self, position: int) -> int:
        return position if self.line.ended is None else min(position, self.line.ended.at)
