"""Judging: what was expected of a call against what was measured on it, as a value that explains itself.

A check step is judged on the call up to where it stands, a limit (``step`` None) on all of it. ``at_most`` of a latency
is about the latest one in a step, and must have one to judge; in a limit it is about every one, and holds when the call
gave no occasion. Answers that never came fail a ``hear`` step, a check step, and a limit on a call without any answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, assert_never

from voiceharness.measure.heard_tones import find_tones
from voiceharness.measure.sample_rates import rate_mix_ups
from voiceharness.measure.spans import gaps, joined
from voiceharness.scenario.checks import (
    Answered,
    Dtmf,
    Ended,
    Expectation,
    LongestSilence,
    NoFault,
    Overlap,
    ResponseLatency,
    StopLatency,
    Tone,
    Transcript,
)
from voiceharness.speech.text import find_phrase, normalize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voiceharness.line.record import CallRecord
    from voiceharness.measure.barge_ins import BargeIn
    from voiceharness.measure.finding import Finding
    from voiceharness.measure.heard_tones import HeardTone
    from voiceharness.measure.metrics import Metrics
    from voiceharness.measure.percentiles import Distribution
    from voiceharness.measure.sample_rates import RateMixUp

__all__ = ["CheckResult", "Evidence", "judge", "judge_text", "quoted_words"]

_TOLD_TONES: Final = 3


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One expectation, met or not.

    ``kind`` is stable; ``wanted`` and ``measured`` are for reading, ``explanation`` is a sentence of both. ``value`` is
    the measured figure in seconds, where it is one. ``step`` is the index, from 0, of the step that asked (None: a
    limit of the scenario), ``at`` the position in samples up to which the call was judged.
    """

    kind: str
    passed: bool
    wanted: str
    measured: str
    explanation: str
    step: int | None
    at: int
    value: float | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of a call when an expectation is judged.

    ``agent_text``: the agent's heard words (None: nobody supplied them), ``words_by``: who did. ``answered_after``:
    seconds from dialling to the answer (None: not answered). ``ended_at``: seconds from the answer to the end (None:
    the call goes on). ``record`` has the sound itself (None: there is none).
    """

    metrics: Metrics
    findings: Sequence[Finding] = ()
    agent_text: str | None = None
    user_text: str = ""
    words_by: str = "agent"
    answered_after: float | None = None
    answered_code: int | None = None
    ended_by: str | None = None
    ended_at: float | None = None
    ended_reason: str = ""
    ended_code: int | None = None
    record: CallRecord | None = None


@dataclass(frozen=True, slots=True)
class _Verdict:
    passed: bool
    wanted: str
    measured: str
    value: float | None = None
    because: str = ""


def judge(expectation: Expectation, evidence: Evidence, *, step: int | None, at: int) -> CheckResult:
    """Judge one expectation by the evidence; ``step`` None judges it as a limit of the whole call."""
    verdict = _verdict(expectation, evidence, limit=step is None)
    return _result(expectation.kind, verdict, step, at)


def judge_text(wanted: str, heard: str, *, step: int | None, at: int, by: str = "agent") -> CheckResult:
    """Judge whether a turn contained some words, in this order; ``by`` names who supplied the words."""
    return _result("hear_text", _contains(wanted, heard, by), step, at)


def _result(kind: str, verdict: _Verdict, step: int | None, at: int) -> CheckResult:
    because = f" ({verdict.because})" if verdict.because else ""
    explanation = f"wanted {verdict.wanted}: {verdict.measured}{because}"
    return CheckResult(kind, verdict.passed, verdict.wanted, verdict.measured, explanation, step, at, verdict.value)


def _verdict(expectation: Expectation, evidence: Evidence, *, limit: bool) -> _Verdict:
    match expectation:
        case ResponseLatency():
            return _response_latency(expectation, evidence.metrics, limit=limit)
        case StopLatency():
            return _stop_latency(expectation, evidence.metrics, limit=limit)
        case Overlap():
            return _at_most("double-talk", evidence.metrics.double_talk, expectation.at_most)
        case LongestSilence():
            return _at_most("silence", _longest_silence(evidence.metrics), expectation.at_most)
        case Dtmf():
            return _dtmf(expectation, evidence.metrics)
        case Transcript():
            return _transcript(expectation, evidence)
        case Tone():
            return _tone(expectation, evidence)
        case Answered():
            return _answered(expectation, evidence)
        case Ended():
            return _ended(expectation, evidence)
        case NoFault():
            return _no_fault(expectation, evidence.findings)
    assert_never(expectation)


# Figures


def _response_latency(expectation: ResponseLatency, metrics: Metrics, *, limit: bool) -> _Verdict:
    latencies = metrics.latencies
    if limit and not latencies:
        return _Verdict(True, _limits(expectation), "the user said nothing to be answered")
    if not latencies:
        return _Verdict(False, _limits(expectation), "the user has said nothing yet")
    known = [latency for latency in latencies if latency is not None]
    latest = latencies[-1] if not limit else max(known, default=None)
    if latest is None and (expectation.at_most is not None or not known):
        what = "no turn of the user was answered" if limit else "the user's latest turn was never answered"
        return _Verdict(False, _limits(expectation), what)
    missing = len(latencies) - len(known)
    because = f"{missing} of {len(latencies)} turns never answered" if limit and missing else ""
    return _latency("answered after", expectation, latest, metrics.response_latency, because)


def _stop_latency(expectation: StopLatency, metrics: Metrics, *, limit: bool) -> _Verdict:
    judged = [each for each in metrics.barge_ins if _asks_for_the_floor(each)]
    if not judged:
        return _Verdict(limit, _limits(expectation), "the agent was never interrupted while it spoke")
    barge_in = max(judged, key=lambda each: each.stop_latency or 0.0) if limit else judged[-1]
    stop = barge_in.stop_latency or 0.0
    because = "" if barge_in.flush is not None else "no flush was sent"
    return _latency("heard on for", expectation, stop, metrics.stop_latency, because)


def _asks_for_the_floor(barge_in: BargeIn) -> bool:
    """Whether a barge-in is one whose stop latency counts: as in the distribution of the metrics."""
    return barge_in.phase == "speaking" and barge_in.intent == "turn" and barge_in.source != "press"


def _latency(
    words: str, expectation: ResponseLatency | StopLatency, value: float | None, all_of_them: Distribution, because: str
) -> _Verdict:
    """Judge the value by ``at_most`` and all by the percentiles; all that is given must hold."""
    passed, measured = True, []
    if expectation.at_most is not None and value is not None:
        passed = value <= expectation.at_most
        measured.append(f"{words} {value:.3f} s")
    for p, wanted in ((50.0, expectation.p50), (95.0, expectation.p95)):
        if wanted is not None:
            percentile = next(each for each in all_of_them.percentiles if each.p == p)
            passed = passed and percentile.value is not None and percentile.value <= wanted
            measured.append(str(percentile))
    return _Verdict(passed, _limits(expectation), ", ".join(measured), value, "" if passed else because)


def _limits(expectation: ResponseLatency | StopLatency) -> str:
    what = "an answer" if isinstance(expectation, ResponseLatency) else "a stop"
    given = {"after at most": expectation.at_most, "p50 at most": expectation.p50, "p95 at most": expectation.p95}
    return f"{what} " + ", ".join(f"{name} {value:g} s" for name, value in given.items() if value is not None)


def _at_most(what: str, value: float, limit: float) -> _Verdict:
    return _Verdict(value <= limit, f"at most {limit:g} s of {what}", f"{value:.3f} s", value)


def _longest_silence(metrics: Metrics) -> float:
    spans = joined([*metrics.segments, *(utterance.span for utterance in metrics.utterances)])
    quiet = gaps(spans, 0, round(metrics.duration * metrics.rate))
    return max((len(span) for span in quiet), default=0) / metrics.rate


# Words and digits


def _dtmf(expectation: Dtmf, metrics: Metrics) -> _Verdict:
    direction = "received" if expectation.by == "agent" else "sent"
    digits = "".join(key.digit for key in metrics.keys if key.direction == direction)
    measured = f"digits {digits}" if digits else "no digits"
    return _Verdict(digits == expectation.digits, f"digits {expectation.digits} by the {expectation.by}", measured)


def _transcript(expectation: Transcript, evidence: Evidence) -> _Verdict:
    text = evidence.agent_text if expectation.by == "agent" else evidence.user_text
    if text is None:
        return _Verdict(False, "words of the agent", "nobody supplied them", because="give the line a transcriber")
    by = evidence.words_by if expectation.by == "agent" else "the scenario"
    verdicts = []
    if expectation.contains is not None:
        verdicts.append(_contains(expectation.contains, text, by))
    if expectation.lacks is not None:
        found = find_phrase(expectation.lacks, text).errors == 0
        verdicts.append(_Verdict(not found, f"no {expectation.lacks!r}", quoted_words(text, by)))
    if expectation.matches is not None:
        found = re.search(expectation.matches, text, re.IGNORECASE) is not None
        verdicts.append(_Verdict(found, f"a match of {expectation.matches!r}", quoted_words(text, by)))
    return next((verdict for verdict in verdicts if not verdict.passed), verdicts[0])


def _contains(wanted: str, text: str, by: str) -> _Verdict:
    match = find_phrase(wanted, text)
    near = " ".join(normalize(text)[match.start : match.end])
    because = f"nearest: {near!r}" if match.errors and match.error_rate <= 0.5 else ""
    return _Verdict(match.errors == 0, repr(wanted), quoted_words(text, by), because=because)


def quoted_words(text: str, by: str) -> str:
    """Say which words were heard, and who supplied them."""
    return f"heard {text!r}, words by {by}" if text else f"heard no words, by {by}"


# Tones


def _tone(expectation: Tone, evidence: Evidence) -> _Verdict:
    record = evidence.record
    tones = () if record is None else find_tones(record.agent, record.rate)
    if not tones:
        talk = evidence.metrics.agent_talk
        what = f"no tone in {talk:.3f} s of the agent's sound" if talk else "the agent was silent"
        return _Verdict(False, _wanted_tone(expectation), what)
    nearest = sorted(tones, key=lambda tone: _distance(expectation, tone))
    best = nearest[0]
    if _is_as_high(expectation, best) and _lasts_as_long(expectation, best):
        return _Verdict(True, _wanted_tone(expectation), f"heard {_told(best)}", best.duration)
    heard = ", ".join(map(_told, nearest[:_TOLD_TONES]))
    more = f" and {len(nearest) - _TOLD_TONES} more" if len(nearest) > _TOLD_TONES else ""
    return _Verdict(False, _wanted_tone(expectation), f"heard {heard}{more}", best.duration, _cause(expectation, best))


def _wanted_tone(expectation: Tone) -> str:
    wanted = f"a tone of {expectation.hz:g} ± {expectation.hz_tolerance:g} Hz"
    if expectation.duration is None:
        return wanted
    return f"{wanted} for {expectation.duration:g} ± {expectation.duration_tolerance:g} s"


def _told(tone: HeardTone) -> str:
    return f"{tone.hz:.1f} Hz for {tone.duration:.3f} s from {tone.onset / tone.rate:.3f} s on"


def _distance(expectation: Tone, tone: HeardTone) -> tuple[bool, bool, float]:
    """Order tones: those as high as wanted, those that a mix-up explains, then by duration, or the longest."""
    longer = -tone.duration if expectation.duration is None else abs(tone.duration - expectation.duration)
    return not _is_as_high(expectation, tone), not _mix_ups(expectation, tone), longer


def _is_as_high(expectation: Tone, tone: HeardTone) -> bool:
    return abs(tone.hz - expectation.hz) <= expectation.hz_tolerance


def _lasts_as_long(expectation: Tone, tone: HeardTone, factor: float = 1.0) -> bool:
    """Whether a tone has the duration that is wanted, if it is played so many times as fast."""
    if expectation.duration is None:
        return True
    wanted = expectation.duration / factor
    slack = expectation.duration_tolerance if factor == 1.0 else max(expectation.duration_tolerance, 0.02 * wanted)
    return abs(tone.duration - wanted) <= slack + 1 / tone.rate  # a sample more, as edges are whole samples


def _mix_ups(expectation: Tone, tone: HeardTone) -> tuple[RateMixUp, ...]:
    """Which mix-ups of sample rates explain a wrong frequency, and the duration with it where that is known."""
    if _is_as_high(expectation, tone):
        return ()
    mix_ups = rate_mix_ups(tone.hz / expectation.hz, tone.rate)
    return tuple(each for each in mix_ups if _lasts_as_long(expectation, tone, each.factor))


def _cause(expectation: Tone, tone: HeardTone) -> str:
    mix_ups = _mix_ups(expectation, tone)
    if not mix_ups:
        return ""
    sure = "" if expectation.duration else " as far as the frequency alone tells"
    played = f"it is played {mix_ups[0].factor:.3g} times as fast as it was made{sure}"
    return f"{played}: {' or '.join(map(str, mix_ups))}"


# The call


def _answered(expectation: Answered, evidence: Evidence) -> _Verdict:
    wanted = ["an answer"]
    passed, measured = evidence.answered_after is not None, ["not answered"]
    if evidence.answered_after is not None:
        measured = [f"answered after {evidence.answered_after:.3f} s"]
    if expectation.within is not None:
        wanted.append(f"within {expectation.within:g} s")
        passed = passed and (evidence.answered_after or 0.0) <= expectation.within
    if expectation.code is not None:
        wanted.append(f"with code {expectation.code}")
        passed = passed and evidence.answered_code == expectation.code
        measured.append("without a code" if evidence.answered_code is None else f"with code {evidence.answered_code}")
    return _Verdict(passed, " ".join(wanted), " ".join(measured), evidence.answered_after)


def _ended(expectation: Ended, evidence: Evidence) -> _Verdict:
    wanted, passed = ["the call ended"], evidence.ended_by is not None
    if expectation.by is not None:
        wanted.append(f"by the {expectation.by}")
        passed = passed and evidence.ended_by == expectation.by
    if expectation.within is not None:
        wanted.append(f"within {expectation.within:g} s")
        passed = passed and evidence.ended_at is not None and evidence.ended_at <= expectation.within
    if expectation.cause is not None:
        wanted.append(f"with cause {expectation.cause!r}")
        passed = passed and _is_cause(expectation.cause, evidence)
    return _Verdict(passed, " ".join(wanted), _how_it_ended(evidence), evidence.ended_at)


def _is_cause(cause: str, evidence: Evidence) -> bool:
    return cause == str(evidence.ended_code) or cause.casefold() in evidence.ended_reason.casefold()


def _how_it_ended(evidence: Evidence) -> str:
    if evidence.ended_by is None:
        return "the call goes on"
    when = "" if evidence.ended_at is None else f" after {evidence.ended_at:.3f} s"
    causes = [str(each) for each in (evidence.ended_code, evidence.ended_reason) if each not in (None, "")]
    return f"ended by the {evidence.ended_by}{when}{' with ' + ' '.join(causes) if causes else ''}"


def _no_fault(expectation: NoFault, findings: Sequence[Finding]) -> _Verdict:
    found = [each for each in findings if _is_meant(each, expectation.kinds)]
    kinds = [each.kind for each in found]
    counted = ", ".join(f"{kind} ({kinds.count(kind)})" for kind in dict.fromkeys(kinds))
    because = found[0].explanation if found else ""
    wanted = f"no {' or '.join(expectation.kinds) or 'fault'}"
    return _Verdict(not found, wanted, f"found {counted or 'none'}", because=because)


def _is_meant(found: Finding, kinds: Sequence[str]) -> bool:
    return found.kind in kinds if kinds else found.severity == "fault"
