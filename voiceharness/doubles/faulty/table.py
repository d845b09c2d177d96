"""Which talk has which fault, and the scenario that brings it to light."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from voiceharness.doubles.faulty import answering, ending, remembering, scenarios, sending, yielding
from voiceharness.doubles.faulty.attendant import Attendant, Style, Talk
from voiceharness.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voiceharness.doubles.faulty.scenarios import ScenarioMaker
    from voiceharness.measure.finding import FindingKind
    from voiceharness.scenario.scenario import Scenario

__all__ = ["FAULTS", "Fault", "faulty_agent", "healthy_agent", "scenario_for"]

_BURST: Final = Style()
_PACED: Final = Style(paced=True)
_CLAIMS: Final = Style(words=True, claims=True)
_KEYS: Final = Style(keys=True)


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault that can be planted: the talk that has it, how it sends, and what brings it to light.

    ``rate``: the line rate in hertz of its scenario.
    """

    talk: type[Talk]
    make_scenario: ScenarioMaker
    style: Style = _BURST
    rate: int = 8000

    @property
    def summary(self) -> str:
        """What the agent does wrong, in one sentence."""
        return (self.talk.__doc__ or "").partition("\n")[0]

    def agent(self, seed: int = 0) -> Attendant:
        """Return an agent that has the fault."""
        return Attendant(self.talk, style=self.style, seed=seed)

    def healthy_twin(self, seed: int = 0) -> Attendant:
        """Return the same agent without the fault."""
        return Attendant(style=self.style, seed=seed)

    def scenario(self, seed: int = 0) -> Scenario:
        """Return a scenario that brings it to light."""
        return self.make_scenario(seed, self.rate)


FAULTS: Final[Mapping[FindingKind, Fault]] = MappingProxyType(
    {
        "no_flush_on_barge_in": Fault(yielding.NeverFlushes, scenarios.interrupts),
        "late_flush": Fault(yielding.FlushesLate, scenarios.interrupts),
        "audio_after_flush": Fault(yielding.GoesOnAfterFlush, scenarios.interrupts),
        "residual_burst": Fault(yielding.BurstsAfterStop, scenarios.interrupts),
        "lost_first_words": Fault(yielding.LosesFirstWords, scenarios.asks),
        "barge_in_ignored": Fault(yielding.IgnoresTheUser, scenarios.interrupts, _PACED),
        "stopped_not_resumed": Fault(yielding.StopsForGood, scenarios.coughs),
        "false_yield": Fault(yielding.YieldsToListener, scenarios.listens),
        "self_interruption": Fault(yielding.CutsItself, scenarios.hears_its_echo),
        "talking_over_user": Fault(yielding.TalksOverUser, scenarios.adds_something),
        "dead_air": Fault(answering.KeepsSilent, scenarios.asks),
        "growing_latency": Fault(answering.AnswersLater, scenarios.asks),
        "double_answer": Fault(answering.AnswersTwice, scenarios.asks_patiently),
        "repeated_prompt": Fault(answering.RepeatsPrompt, scenarios.asks),
        "stale_answer": Fault(answering.LagsBehind, scenarios.tones),
        "claimed_speaking_but_silent": Fault(answering.ClaimsToSpeak, scenarios.asks, _CLAIMS),
        "farewell_cut": Fault(ending.CutsItsFarewell, scenarios.farewell),
        "hangup_too_early": Fault(ending.HangsUpInMidWord, scenarios.asks),
        "hangup_too_late": Fault(ending.HangsUpLate, scenarios.farewell),
        "hangup_undetected": Fault(ending.SendsAfterTheEnd, scenarios.asks),
        "wrong_law": Fault(sending.OtherLaw, scenarios.asks),
        "wrong_encoding": Fault(sending.OtherEncoding, scenarios.asks),
        "swapped_bytes": Fault(sending.SwapsBytes, scenarios.asks),
        "noise_instead_of_speech": Fault(sending.SendsNoise, scenarios.asks),
        "silence_as_noise": Fault(sending.FillsWithZeros, scenarios.asks),
        "wrong_rate": Fault(sending.OtherRate, scenarios.asks),
        "aliasing": Fault(sending.StretchesWithoutFilter, scenarios.asks, rate=16000),
        "clicks_at_seams": Fault(sending.ClicksAtSeams, scenarios.asks, _PACED),
        "media_gap": Fault(sending.LeavesGaps, scenarios.asks, _PACED),
        "pacing_drift": Fault(sending.DriftsBehind, scenarios.asks, _PACED),
        "backlog": Fault(sending.NeverCatchesUp, scenarios.asks),
        "dtmf_lost": Fault(remembering.LosesKeys, scenarios.keys, _KEYS),
        "dtmf_doubled": Fault(remembering.DoublesKeys, scenarios.keys, _KEYS),
        "dtmf_false": Fault(remembering.HearsKeysInSpeech, scenarios.keys, _KEYS),
        "dtmf_late": Fault(remembering.ReadsKeysLate, scenarios.keys, _KEYS),
        "history_missing_words": Fault(remembering.ForgetsWords, scenarios.interrupts, _CLAIMS),
        "history_unheard_words": Fault(remembering.RemembersUnheardWords, scenarios.interrupts, _CLAIMS),
        "wrong_truncation": Fault(remembering.TruncatesElsewhere, scenarios.interrupts, _CLAIMS),
    }
)
"""Every fault that the harness looks for, by the kind of its finding."""


def faulty_agent(kind: FindingKind, seed: int = 0) -> Attendant:
    """Return an agent with one planted fault; the seed decides what it says.

    Raises:
        OptionError: if no fault of this kind can be planted.
    """
    return _fault(kind).agent(seed)


def scenario_for(kind: FindingKind, seed: int = 0) -> Scenario:
    """Return a scenario that brings a fault to light; the agent's adapter needs its ``rate``.

    Raises:
        OptionError: if no fault of this kind can be planted.
    """
    return _fault(kind).scenario(seed)


def healthy_agent(seed: int = 0, *, keys: bool = True) -> Attendant:
    """Return an agent that does everything right; the seed decides what it says, and how it sends.

    ``keys``: it sends back the digits that it got; leave that out where a transport carries no digits from the agent.
    """
    rate = (None, None, 16000, 24000)[seed // 8 % 4]
    paced, words, claims = (bool(seed & bit) for bit in (1, 2, 4))
    return Attendant(style=Style(paced=paced, words=words, claims=claims, keys=keys, rate=rate), seed=seed)


def _fault(kind: FindingKind) -> Fault:
    if kind not in FAULTS:
        raise OptionError(f"no fault {kind!r} can be planted; there are {', '.join(FAULTS)}")
    return FAULTS[kind]
