"""What happened in a call, as moments and stretches that a page can show on its time line and in a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from voiceharness.report.agent_words import words_text
from voiceharness.report.event_data import event_data

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from voiceharness.line.record import CallRecord, TimelineEvent, Value
    from voiceharness.report.document import CallDocument

__all__ = ["Moment", "Row", "find_moments", "whole_call_impairments"]

Row = Literal["events", "line", "user", "latencies", "agent", "words", "findings", "steps"]
"""The rows of the time line; the words of the agent have one of their own, for a closer look."""

Tone = Literal["", "good", "warning", "bad", "quiet", "heard"]

Figures: TypeAlias = Mapping[str, Any]  # Any: a JSON object of a document


@dataclass(frozen=True, slots=True)
class Moment:
    """Something to look at and to hear: samples ``at`` to ``end`` (None: it has no length).

    ``label`` is short, ``detail`` says it in full.
    """

    row: Row
    kind: str
    at: int
    end: int | None
    label: str
    detail: str = ""
    tone: Tone = ""


def find_moments(call: CallDocument, record: CallRecord) -> list[Moment]:
    """Collect the moments of a call in time order; those of one time stand in the order of the rows."""
    metrics: Figures = call["metrics"] or {}
    moments = [
        *_events(record),
        *_impairments(record),
        *_barge_ins(metrics),
        *_user(metrics),
        *_latencies(metrics),
        *_agent(call, metrics),
        *_words(record),
        *_findings(call),
        *_steps(call),
    ]
    return sorted(moments, key=lambda moment: moment.at)


def _events(record: CallRecord) -> Iterator[Moment]:
    flush: TimelineEvent | None = None
    for event in record.events:
        if event.kind == "flush":
            # An agent that flushes every frame flushes once, as far as a reader is concerned.
            before, flush = flush, event
            if before is not None and event.at - before.at <= _SAME_FLUSH * record.rate:
                continue
        if event.kind in _TOLD:
            label, tone = _TOLD[event.kind](event.data, record.rate)
            yield Moment("events", event.kind, event.at, None, label, _data_text(event), tone)


_SAME_FLUSH: Final = 0.1


def _data_text(event: TimelineEvent) -> str:
    return f"{event.kind}: {', '.join(event_data(event))}".removesuffix(": ")


Telling: TypeAlias = "Callable[[Mapping[str, Value], int], tuple[str, Tone]]"


def _flush(data: Mapping[str, Value], rate: int) -> tuple[str, Tone]:
    cut = data.get("cut")
    return (f"flush {cut / rate:.2f} s" if isinstance(cut, int | float) and cut else "flush"), ""


def _mark(data: Mapping[str, Value], _rate: int) -> tuple[str, Tone]:
    return f"mark {data.get('name', '')}{' flushed' if data.get('flushed') else ''}", "quiet"


def _digit(by: str) -> Telling:
    return lambda data, _rate: (f"{by} {data.get('digit', '')}", "")


def _hangup(data: Mapping[str, Value], _rate: int) -> tuple[str, Tone]:
    return f"hang-up by {data.get('by', '?')}", ""


def _as(label: str, tone: Tone) -> Telling:
    return lambda _data, _rate: (label, tone)


_TOLD: Final[Mapping[str, Telling]] = {
    "interrupt_signal": _as("interrupt signal", ""),
    "flush": _flush,
    "mark_played": _mark,
    "digit_sent": _digit("key"),
    "digit_received": _digit("agent key"),
    "truncation_claimed": _as("truncation", "quiet"),
    "protocol_fault": _as("protocol fault", "bad"),
    "stall": _as("stall", "bad"),
    "fault": _as("fault", "bad"),
    "hangup": _hangup,
}


_SAME_TROUBLE: Final = 0.2
"""Seconds within which impairments of one kind are one stretch: a bad line has one every few frames."""


def _impairments(record: CallRecord) -> Iterator[Moment]:
    """Join what the harness did to single frames into stretches; what it did to the whole call is the environment."""
    latest: dict[tuple[str, str], Moment] = {}
    for event in record.of_kind("impaired"):
        if event.data.get("frame") is None:
            continue
        kind, direction = str(event.data.get("kind")), str(event.data.get("direction"))
        before = latest.get((kind, direction))
        if before is not None and event.at - (before.end or before.at) <= _SAME_TROUBLE * record.rate:
            latest[kind, direction] = replace(before, end=event.at + _frame(record))
            continue
        if before is not None:
            yield before
        detail = f"{kind} {direction}: {event.data.get('detail', '')}"
        latest[kind, direction] = Moment("line", kind, event.at, event.at + _frame(record), kind, detail, "warning")
    yield from latest.values()


def whole_call_impairments(record: CallRecord) -> list[str]:
    """Name what the harness did to the line from the answer to the end."""
    done = (event.data for event in record.of_kind("impaired") if event.data.get("frame") is None)
    return [f"{data.get('direction')}: {data.get('detail')}" for data in done]


def _frame(record: CallRecord) -> int:
    return record.rate // 50


def _barge_ins(metrics: Figures) -> Iterator[Moment]:
    for each in metrics.get("barge_ins", ()):
        label = "barge-in" if each["intent"] == "turn" else str(each["intent"])
        detail = f"{label} while the agent is {each['phase']}, by {each['via']}"
        if each["stop_latency"] is not None:
            detail += f"; stop_latency {each['stop_latency']:.3f} s"
        if each["heeded"] is False:
            detail += "; not heeded"
        tone: Tone = "bad" if each["heeded"] is False and each["intent"] == "turn" else "warning"
        yield Moment("events", "barge_in", each["onset"], None, label, detail, tone)


def _user(metrics: Figures) -> Iterator[Moment]:
    for each in metrics.get("utterances", ()):
        said = each["text"] or each["source"]
        yield Moment("user", "utterance", each["onset"], each["offset"], said, f"user: {said}")


_WHOSE_WORDS: Final[Mapping[str, tuple[str, Tone]]] = {
    "agent": ("agent", ""),
    "transcriber": ("agent, as the harness's transcriber heard it", "heard"),
}


def _agent(call: CallDocument, metrics: Figures) -> Iterator[Moment]:
    # A call that was saved by an earlier version tells of no words.
    known = {words["turn"]: words for words in call.get("agent_words", ())}
    for index, turn in enumerate(metrics.get("agent_turns", ())):
        words = known.get(index)
        label = f"agent turn {index + 1}" if words is None else words_text(words)
        whose, tone = _WHOSE_WORDS["agent" if words is None else words["by"]]
        detail = f"{whose}: {label if words is None else words['text']}"
        yield Moment("agent", "agent_turn", turn["onset"], turn["offset"], label, detail, tone)


def _start(word: TimelineEvent) -> int:
    start = word.data.get("start")
    return start if isinstance(start, int) else word.at


def _end(word: TimelineEvent) -> int:
    end = word.data.get("end")
    return end if isinstance(end, int) else word.at


def _words(record: CallRecord) -> Iterator[Moment]:
    for word in record.of_kind("word_heard"):
        estimated = ", time estimated" if word.data.get("estimated") else ""
        said = str(word.data.get("text", ""))
        detail = f"{said} (by {word.data.get('source', '?')}{estimated})"
        yield Moment("words", "word_heard", _start(word), _end(word), said, detail)


def _latencies(metrics: Figures) -> Iterator[Moment]:
    turns: Sequence[Figures] = metrics.get("user_turns", ())
    answers: Sequence[Figures] = metrics.get("agent_turns", ())
    for number, exchange in enumerate(metrics.get("exchanges", ())):
        if exchange["latency"] is not None:
            start, end = turns[exchange["turn"]]["offset"], answers[exchange["answer"]]["onset"]
            detail = f"response_latency of user turn {number + 1}: {exchange['latency']:.3f} s"
            yield Moment("latencies", "response_latency", start, end, f"{exchange['latency']:.2f} s", detail)
    for each in metrics.get("barge_ins", ()):
        if each["stop_latency"] is not None and each["intent"] == "turn":
            end = each["onset"] + round(each["stop_latency"] * metrics["rate"])
            detail = f"stop_latency: {each['stop_latency']:.3f} s"
            label = f"stop {each['stop_latency']:.2f} s"
            yield Moment("latencies", "stop_latency", each["onset"], end, label, detail, "warning")


def _findings(call: CallDocument) -> Iterator[Moment]:
    for each in call["findings"]:
        tone: Tone = "bad" if each["severity"] == "fault" else "warning"
        yield Moment("findings", each["kind"], each["start"], each["end"], each["kind"], each["explanation"], tone)


_STEP_TONES: Final[Mapping[str, Tone]] = {"done": "good", "failed": "bad", "cut": "quiet", "skipped": "quiet"}


def _steps(call: CallDocument) -> Iterator[Moment]:
    for each in call["steps"]:
        label = f"{each['index'] + 1}. {each['label']}"
        detail = f"step {label}: {each['outcome']}{', ' if each['detail'] else ''}{each['detail']}"
        yield Moment("steps", "step", each["start"], each["end"], label, detail, _STEP_TONES[each["outcome"]])
