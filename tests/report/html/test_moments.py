"""What a page shows on its time line."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.report.calls import answered_call
from tests.report.html.showcase import showcase_call
from voiceharness.line.record import CallRecord, TimelineEvent
from voiceharness.report.document import call_document
from voiceharness.report.html.moments import Moment, find_moments
from voiceharness.scenario.understanding import Understood

if TYPE_CHECKING:
    from voiceharness.line.record import EventKind, Value

__all__: list[str] = []


def shown() -> list[Moment]:
    result = showcase_call()
    assert result.record is not None
    return find_moments(call_document(result), result.record)


def told(kind: EventKind, /, **data: Value) -> list[Moment]:
    """The moments of a call in which only this happened, 1 s after the answer."""
    result = showcase_call()
    assert result.record is not None
    record = CallRecord(8000, result.record.user, result.record.agent, (TimelineEvent(8000, kind, data),))
    return [moment for moment in find_moments(call_document(result), record) if moment.kind == kind]


def test_moments_are_in_time_order() -> None:
    moments = shown()
    assert [moment.at for moment in moments] == sorted(moment.at for moment in moments)


def test_turns_latencies_and_findings_stand_where_the_metrics_put_them() -> None:
    result = showcase_call()
    metrics, moments = result.metrics, shown()
    assert metrics is not None
    assert [(m.at, m.end) for m in moments if m.row == "agent"] == [(t.onset, t.offset) for t in metrics.agent_turns]
    assert [(m.at, m.end) for m in moments if m.row == "user"] == [(u.onset, u.offset) for u in metrics.utterances]
    assert [(m.at, m.end) for m in moments if m.row == "findings"] == [(f.start, f.end) for f in result.findings]
    answered = [exchange for exchange in metrics.exchanges if exchange.latency is not None]
    latencies = [m for m in moments if m.kind == "response_latency"]
    assert [m.detail.split(": ")[1] for m in latencies] == [f"{each.latency:.3f} s" for each in answered]
    assert [(m.end or 0) - m.at for m in latencies] == [round((each.latency or 0) * 8000) for each in answered]


def test_a_turn_of_the_agent_carries_its_words() -> None:
    first = next(moment for moment in shown() if moment.row == "agent")
    assert first.label == "Thank you for calling Lakeside Dental. How"


def test_a_turn_in_the_words_of_the_transcriber_is_marked_as_heard() -> None:
    result = answered_call()
    assert result.metrics is not None
    assert result.record is not None
    first = result.metrics.agent_turns[0]
    heard = replace(result, understood=(Understood(first.onset, first.offset, "we open at nine"),))
    told, untold = (each for each in find_moments(call_document(heard), result.record) if each.row == "agent")
    assert (told.label, told.tone) == ("heard: we open at nine", "heard")
    assert told.detail == "agent, as the harness's transcriber heard it: we open at nine"
    assert (untold.label, untold.detail, untold.tone) == ("agent turn 2", "agent: agent turn 2", "")


def test_a_barge_in_is_shown_with_what_came_of_it() -> None:
    barge_in = next(moment for moment in shown() if moment.kind == "barge_in")
    assert barge_in.at == 21 * 8000
    assert barge_in.detail == "barge-in while the agent is speaking, by speech; stop_latency 1.815 s"


def test_a_flush_tells_how_much_was_never_heard() -> None:
    assert [moment.label for moment in told("flush", cut=12000)] == ["flush 1.50 s"]
    assert [moment.label for moment in told("flush", cut=0)] == ["flush"]


def test_flushes_frame_by_frame_are_one() -> None:
    result = showcase_call()
    assert result.record is not None
    events = tuple(TimelineEvent(at, "flush", {"cut": 160}) for at in (8000, 8160, 8320, 24000))
    record = CallRecord(8000, result.record.user, result.record.agent, events)
    found = [moment.at for moment in find_moments(call_document(result), record) if moment.kind == "flush"]
    assert found == [8000, 24000]


def test_digits_marks_and_the_end_are_labelled_by_what_they_are() -> None:
    assert [moment.label for moment in told("digit_sent", digit="5", method="info")] == ["key 5"]
    assert [moment.label for moment in told("digit_received", digit="#")] == ["agent key #"]
    assert [moment.label for moment in told("mark_played", name="m1", flushed=True)] == ["mark m1 flushed"]
    assert [moment.label for moment in told("hangup", by="agent")] == ["hang-up by agent"]


def test_the_detail_has_everything_that_is_known() -> None:
    (fault,) = told("protocol_fault", kind="bad_mark", detail="a mark without a name")
    assert fault.detail == "protocol_fault: kind bad_mark, detail a mark without a name"
    assert fault.tone == "bad"


def test_a_claim_about_state_is_not_worth_a_mark() -> None:
    assert told("state_claimed", state="speaking") == []


def test_a_word_stands_where_it_was_heard_and_names_its_source() -> None:
    (word,) = told("word_heard", text="hello", start=7000, end=7900, source="agent", estimated=True)
    assert (word.at, word.end, word.detail) == (7000, 7900, "hello (by agent, time estimated)")


def test_steps_are_coloured_by_their_outcome() -> None:
    assert [moment.tone for moment in shown() if moment.row == "steps"][-3:] == ["good", "bad", "quiet"]


def test_trouble_of_one_kind_in_neighbouring_frames_is_one_stretch() -> None:
    result = showcase_call()
    assert result.record is not None
    at = [(8000, "loss"), (8160, "jitter"), (8320, "loss"), (24000, "loss")]
    events = [TimelineEvent(0, "impaired", {"kind": "noise", "direction": "to_agent", "frame": None})]
    events += [TimelineEvent(a, "impaired", {"kind": kind, "direction": "to_agent", "frame": a}) for a, kind in at]
    record = CallRecord(8000, result.record.user, result.record.agent, tuple(events))
    found = [(m.kind, m.at, m.end) for m in find_moments(call_document(result), record) if m.row == "line"]
    assert found == [("loss", 8000, 8480), ("jitter", 8160, 8320), ("loss", 24000, 24160)]
