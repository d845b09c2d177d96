"""Both ends of a media stream: what is on the wire, what may follow what, and who is to blame."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.protocols.media_streams.streams import DESCRIPTION, ends, started
from voiceharness.errors import LocalProtocolError
from voiceharness.protocols.media_streams.dialects import DIALECTS, TELNYX, TWILIO
from voiceharness.protocols.media_streams.machine import TRANSITIONS, AgentEnd, CarrierEnd, State
from voiceharness.protocols.media_streams.messages import (
    RULES,
    Clear,
    Connected,
    Dtmf,
    Mark,
    Media,
    Start,
    Stop,
    StreamDescription,
    Violation,
)

if TYPE_CHECKING:
    from voiceharness.protocols.media_streams.vocabulary import Dialect

__all__: list[str] = []

ONE_WAY = StreamDescription("MZ1", "CA1", "AC1", tracks=("inbound", "outbound"), bidirectional=False)
every_dialect = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)


def kind_of(outcome: object) -> str:
    assert isinstance(outcome, Violation)
    return outcome.kind


# On the wire


def test_what_the_carrier_sends_has_the_types_of_the_wire() -> None:
    """Case B52."""
    carrier = CarrierEnd(DESCRIPTION)
    texts = [carrier.connected(), carrier.start()]
    texts += [carrier.media(b"\xff" * 160, 20 * frame) for frame in range(3)]
    texts += [carrier.dtmf("5"), carrier.mark("m"), carrier.stop()]
    connected, start, *media, dtmf, mark, stop = map(json.loads, texts)
    assert connected == {"event": "connected", "protocol": "Call", "version": "1.0.0"}
    assert [message["sequenceNumber"] for message in (start, *media, dtmf, mark, stop)] == list("1234567")
    assert start["start"] == {
        "accountSid": "AC1",
        "streamSid": "MZ1",
        "callSid": "CA1",
        "tracks": ["inbound"],
        "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": 8000, "channels": 1},
        "customParameters": DESCRIPTION.parameters,
    }
    assert media[2]["media"] == {"track": "inbound", "chunk": "3", "timestamp": "40", "payload": "/" * 213 + "w=="}
    assert dtmf["dtmf"] == {"track": "inbound_track", "digit": "5"}
    assert mark["mark"] == {"name": "m"}
    assert stop["stop"] == {"accountSid": "AC1", "callSid": "CA1"}
    assert {message["streamSid"] for message in (start, *media, dtmf, mark, stop)} == {"MZ1"}


def test_another_vendor_is_another_table() -> None:
    carrier = CarrierEnd(DESCRIPTION, dialect=TELNYX)
    connected, start, media = map(json.loads, (carrier.connected(), carrier.start(), carrier.media(b"\xff", 20)))
    assert "protocol" not in connected
    assert (start["stream_id"], start["sequence_number"]) == ("MZ1", "1")
    assert start["start"]["media_format"] == {"encoding": "PCMU", "sample_rate": 8000, "channels": 1}
    assert media["media"] == {"track": "inbound", "chunk": "1", "timestamp": "20", "payload": "/w=="}
    assert carrier.receive('{"event":"media","media":{"payload":"/w=="}}') == Media(b"\xff")
    assert kind_of(carrier.receive('{"event":"clear","streamSid":"MZ1"}')) == "extra_field"


def test_each_track_counts_its_own_chunks() -> None:
    carrier = started(description=ONE_WAY)
    chunks = [
        json.loads(carrier.media(b"", 0, track))["media"]["chunk"] for track in ("inbound", "outbound", "inbound")
    ]
    assert chunks == ["1", "1", "2"]


# One end against the other


@every_dialect
def test_what_one_end_says_the_other_understands(dialect: Dialect) -> None:
    carrier, agent = CarrierEnd(DESCRIPTION, dialect=dialect), AgentEnd(dialect=dialect)
    assert agent.receive(carrier.connected()) == Connected()
    start = agent.receive(carrier.start())
    assert isinstance(start, Start)
    assert (start.stream, start.call, start.account) == ("MZ1", "CA1", "AC1")
    assert (start.parameters, start.rate, start.tracks) == (DESCRIPTION.parameters, 8000, ("inbound",))
    assert agent.receive(carrier.media(b"\1\2", 60)) == Media(b"\1\2", "inbound", 1, 60)
    assert carrier.receive(agent.media(b"\3")) == Media(b"\3")
    name = 'a "quoted" \u20ac 100% \ud800 name\n'
    assert carrier.receive(agent.mark(name)) == Mark(name)
    assert agent.receive(carrier.mark(name)) == Mark(name)
    assert carrier.receive(agent.clear()) == Clear()
    assert agent.receive(carrier.clear()) == Clear()
    assert agent.receive(carrier.dtmf("#")) == Dtmf("#")
    assert agent.receive(carrier.stop()) == Stop()
    assert (carrier.state, agent.state) == (State.OVER, State.OVER)


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("event", ["connected", "start", "media", "dtmf", "mark", "clear", "stop"])
def test_the_table_is_the_law_for_what_the_carrier_sends(state: State, event: str) -> None:
    carrier = CarrierEnd(DESCRIPTION)
    carrier.state = state
    arguments: dict[str, tuple[Any, ...]] = {"media": (b"", 0), "dtmf": ("1",), "mark": ("m",)}
    following = TRANSITIONS.get((state, "carrier", event))
    if following is None:
        with pytest.raises(LocalProtocolError, match=event):
            getattr(carrier, event)(*arguments.get(event, ()))
        following = state
    else:
        getattr(carrier, event)(*arguments.get(event, ()))
    assert carrier.state is following


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("event", ["media", "mark", "clear"])
def test_the_table_is_the_law_for_what_the_agent_sends(state: State, event: str) -> None:
    _, agent = ends()
    text = {"media": agent.media(b""), "mark": agent.mark("m"), "clear": agent.clear()}[event]
    carrier = started()
    carrier.state = state
    outcome = carrier.receive(text)
    assert isinstance(outcome, Violation) == (state is not State.STREAMING)
    if state is not State.STREAMING:
        assert kind_of(outcome) == "out_of_order"


def test_an_agent_cannot_speak_before_the_start() -> None:
    for say in (lambda end: end.media(b""), lambda end: end.mark("m"), AgentEnd.clear):
        with pytest.raises(LocalProtocolError):
            say(AgentEnd())


def test_a_stream_that_only_listens_takes_nothing_back() -> None:
    carrier = started(description=ONE_WAY)
    outcome = carrier.receive('{"event":"media","streamSid":"MZ1","media":{"payload":"/w=="}}')
    assert isinstance(outcome, Violation)
    assert (outcome.kind, outcome.fatal) == ("one_way_stream", True)
    with pytest.raises(LocalProtocolError, match="bidirectional"):
        carrier.dtmf("1")


def test_a_track_that_was_not_announced_cannot_be_sent() -> None:
    with pytest.raises(LocalProtocolError, match="no outbound track"):
        started().media(b"", 0, "outbound")


# What the carrier's end makes of wrong messages


def agents(message: object) -> str:
    return json.dumps(message)


MEDIA = {"event": "media", "streamSid": "MZ1", "media": {"payload": "/w=="}}

WRONG: list[tuple[str, str | bytes]] = [
    ("binary_message", b"\xff" * 160),
    ("message_too_big", " " * (1 << 20) + "{}"),
    ("not_json", ""),
    ("not_json", "media"),
    ("not_json", '{"event":"media"'),
    ("not_json", '{"event":NaN}'),
    ("not_json", "[" * 100_000),
    ("not_json", '{"event":' + "9" * 5000 + "}"),
    ("not_an_object", "[]"),
    ("not_an_object", "null"),
    ("not_an_object", '"media"'),
    ("no_event", "{}"),
    ("no_event", agents({"event": 5})),
    ("no_event", agents({"Event": "clear", "streamSid": "MZ1"})),
    ("unknown_event", agents({"event": "Media"})),
    ("unknown_event", agents({"event": "ping", "streamSid": "MZ1"})),
    ("wrong_direction", agents({"event": "start", "streamSid": "MZ1"})),
    ("wrong_direction", agents({"event": "dtmf", "streamSid": "MZ1", "dtmf": {"digit": "1"}})),
    ("wrong_direction", agents({"event": "stop", "streamSid": "MZ1"})),
    ("missing_field", agents({"event": "clear"})),
    ("missing_field", agents({"event": "media", "streamSid": "MZ1"})),
    ("missing_field", agents({"event": "media", "streamSid": "MZ1", "media": {}})),
    ("missing_field", agents({"event": "media", "media": {"payload": "/w=="}})),
    ("missing_field", agents({"event": "mark", "streamSid": "MZ1", "mark": {}})),
    ("wrong_type", agents({"event": "media", "streamSid": "MZ1", "media": "/w=="})),
    ("wrong_type", agents({"event": "media", "streamSid": "MZ1", "media": None})),
    ("wrong_type", agents({"event": "media", "streamSid": "MZ1", "media": {"payload": [255]}})),
    ("wrong_type", agents({"event": "mark", "streamSid": "MZ1", "mark": {"name": 7}})),
    ("wrong_type", agents({"event": "clear", "streamSid": None})),
    ("wrong_stream", agents({"event": "clear", "streamSid": "MZ2"})),
    ("wrong_stream", agents({"event": "clear", "streamSid": ""})),
    ("wrong_stream", agents(MEDIA | {"streamSid": "CA1"})),
    ("bad_base64", agents(MEDIA | {"media": {"payload": "/w="}})),
    ("bad_base64", agents(MEDIA | {"media": {"payload": "/w==\n"}})),
    ("bad_base64", agents(MEDIA | {"media": {"payload": "_w=="}})),
    ("bad_base64", agents(MEDIA | {"media": {"payload": "\u00ff"}})),
    ("bad_base64", agents(MEDIA | {"media": {"payload": "=/w="}})),
    ("extra_field", agents(MEDIA | {"track": "outbound"})),
    ("extra_field", agents(MEDIA | {"media": {"payload": "/w==", "timestamp": 0}})),
    ("file_header", agents(MEDIA | {"media": {"payload": "UklGRiQAAABXQVZF"}})),
    ("file_header", agents(MEDIA | {"media": {"payload": "SUQzBAA="}})),
]


@pytest.mark.parametrize(("kind", "message"), WRONG, ids=[f"{kind}-{n}" for n, (kind, _) in enumerate(WRONG)])
def test_a_hostile_message_has_its_own_finding(kind: str, message: str | bytes) -> None:
    carrier = started()
    outcome = carrier.receive(message)
    assert isinstance(outcome, Violation)
    assert outcome.kind == kind
    assert outcome.detail
    assert len(str(outcome)) < 300
    assert carrier.receive(agents(MEDIA)) == Media(b"\xff")


@pytest.mark.parametrize("kind", ["extra_field", "file_header"])
def test_what_a_carrier_would_still_play_is_salvaged(kind: str) -> None:
    outcome = started().receive(next(message for found, message in WRONG if found == kind))
    assert isinstance(outcome, Violation)
    assert isinstance(outcome.salvaged, Media)


def test_every_kind_of_violation_is_ruled() -> None:
    assert {kind for kind, _ in WRONG} < set(RULES)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["MZ1", "media", "/w=="]),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["event", "media", "payload", "mark", "name"]), inner)
    ),
    max_leaves=8,
)
MESSAGES = st.fixed_dictionaries(
    {"event": st.sampled_from(["media", "mark", "clear", "start", "stop"])},
    optional={"streamSid": st.sampled_from(["MZ1", "MZ2"]) | JSON, "media": JSON, "mark": JSON, "start": JSON},
)


@given(st.text() | st.binary() | JSON.map(json.dumps) | MESSAGES.map(json.dumps))
def test_whatever_arrives_is_judged_and_nothing_is_raised(message: str | bytes) -> None:
    assert isinstance(started().receive(message), Media | Mark | Clear | Violation)
    assert isinstance(ends()[1].receive(message), Violation | Mark | Media | Clear | Stop)


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": "), (", ", ":"), (" ,", " : ")])
@every_dialect
def test_media_is_the_same_however_it_is_spaced_and_ordered(dialect: Dialect, separators: tuple[str, str]) -> None:
    carrier, agent = ends(dialect)
    for number, payload in enumerate((b"\xff", b"\xff", b"\1\2", b"\xff", b""), 1):
        theirs, ours = json.loads(carrier.media(payload, 20 * number)), json.loads(agent.media(payload))
        swapped = dict(reversed(theirs.items())) if number % 2 else theirs
        assert agent.receive(json.dumps(swapped, separators=separators)) == Media(
            payload, "inbound", number, 20 * number
        )
        assert carrier.receive(json.dumps(ours, separators=separators)) == Media(payload)


def test_what_follows_a_payload_that_is_none_is_read_as_itself() -> None:
    carrier = started()
    heard = [carrier.receive(agents(MEDIA | {"media": {"payload": text}})) for text in ("AQ==", "AQ=", "AQ==", "Ag==")]
    assert heard[0] == heard[2] == Media(b"\1")
    assert kind_of(heard[1]) == "bad_base64"
    assert heard[3] == Media(b"\2")


# What the agent's end makes of a wrong carrier


def test_the_agents_end_does_not_mind_fields_it_does_not_know() -> None:
    carrier, agent = ends()
    message = json.loads(carrier.media(b"\xff", 0))
    assert agent.receive(json.dumps(message | {"new": 1})) == Media(b"\xff", "inbound", 1, 0)


def test_media_before_the_start_and_a_second_start_are_out_of_order() -> None:
    carrier, _ = ends()
    assert kind_of(AgentEnd().receive(carrier.media(b"", 0))) == "out_of_order"
    other, agent = CarrierEnd(DESCRIPTION), AgentEnd()
    agent.receive(other.connected())
    start = other.start()
    assert isinstance(agent.receive(start), Start)
    assert kind_of(agent.receive(start)) == "out_of_order"


def test_numbers_that_should_be_text_are_found() -> None:
    carrier, agent = ends()
    message = json.loads(carrier.media(b"", 0))
    outcome = agent.receive(json.dumps(message | {"sequenceNumber": 2}))
    assert isinstance(outcome, Violation)
    assert outcome.detail == "in media: sequenceNumber is 2, not a whole number as text"


def test_a_gap_in_the_numbers_is_found_and_the_message_kept() -> None:
    carrier, agent = ends()
    carrier.media(b"", 0)
    outcome = agent.receive(carrier.media(b"\1", 20))
    assert outcome == Violation(
        "sequence_gap", "media has sequence number 3 where 2 was due", Media(b"\1", "inbound", 2, 20)
    )
    assert agent.receive(carrier.media(b"\1", 40)) == Media(b"\1", "inbound", 3, 40)


def test_a_vendor_that_does_not_keep_order_is_not_blamed_for_gaps() -> None:
    carrier, agent = ends(TELNYX)
    late = carrier.media(b"\1", 0)
    assert isinstance(agent.receive(carrier.media(b"\2", 20)), Media)
    assert isinstance(agent.receive(late), Media)


def test_another_stream_is_not_ours() -> None:
    _, agent = ends()
    other = started(TWILIO, StreamDescription("MZ9", "CA9", "AC9"))
    assert kind_of(agent.receive(other.media(b"", 0))) == "wrong_stream"
