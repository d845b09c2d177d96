"""The vendors' vocabularies. A new vendor is a new table here, and nothing else.

Twilio: its pages on Media Streams messages. Telnyx: its WebSocket specification; identifiers in snake case, the
stream's own only in what the carrier sends, no order of media guaranteed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from voiceharness.errors import OptionError
from voiceharness.protocols.media_streams.vocabulary import Dialect, Slot

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["DIALECTS", "TELNYX", "TWILIO", "dialect_named"]

SEQUENCE: Final = Slot("sequence", "count")
STREAM: Final = Slot("stream")
CALL: Final = Slot("call")
ACCOUNT: Final = Slot("account")
TRACK: Final = Slot("track")
TRACKS: Final = Slot("tracks", "texts")
PARAMETERS: Final = Slot("parameters", "object")
RATE: Final = Slot("rate", "number")
CHANNELS: Final = Slot("channels", "number")
CHUNK: Final = Slot("chunk", "count")
TIMESTAMP: Final = Slot("timestamp", "count")
PAYLOAD: Final = Slot("payload", "base64")
DIGIT: Final = Slot("digit")
NAME: Final = Slot("name")

TWILIO: Final = Dialect(
    name="twilio",
    from_carrier={
        "connected": {"event": "connected", "protocol": "Call", "version": "1.0.0"},
        "start": {
            "event": "start",
            "sequenceNumber": SEQUENCE,
            "start": {
                "accountSid": ACCOUNT,
                "streamSid": STREAM,
                "callSid": CALL,
                "tracks": TRACKS,
                "mediaFormat": {"encoding": "audio/x-mulaw", "sampleRate": RATE, "channels": CHANNELS},
                "customParameters": PARAMETERS,
            },
            "streamSid": STREAM,
        },
        "media": {
            "event": "media",
            "sequenceNumber": SEQUENCE,
            "media": {"track": TRACK, "chunk": CHUNK, "timestamp": TIMESTAMP, "payload": PAYLOAD},
            "streamSid": STREAM,
        },
        "dtmf": {
            "event": "dtmf",
            "streamSid": STREAM,
            "sequenceNumber": SEQUENCE,
            "dtmf": {"track": "inbound_track", "digit": DIGIT},
        },
        "mark": {"event": "mark", "sequenceNumber": SEQUENCE, "streamSid": STREAM, "mark": {"name": NAME}},
        "clear": {"event": "clear", "streamSid": STREAM},
        "stop": {
            "event": "stop",
            "sequenceNumber": SEQUENCE,
            "streamSid": STREAM,
            "stop": {"accountSid": ACCOUNT, "callSid": CALL},
        },
    },
    from_agent={
        "media": {"event": "media", "streamSid": STREAM, "media": {"payload": PAYLOAD}},
        "mark": {"event": "mark", "streamSid": STREAM, "mark": {"name": NAME}},
        "clear": {"event": "clear", "streamSid": STREAM},
    },
)

TELNYX: Final = Dialect(
    name="telnyx",
    ordered=False,
    from_carrier={
        "connected": {"event": "connected", "version": "1.0.0"},
        "start": {
            "event": "start",
            "sequence_number": SEQUENCE,
            "start": {
                "user_id": ACCOUNT,
                "call_control_id": CALL,
                "custom_parameters": PARAMETERS,
                "media_format": {"encoding": "PCMU", "sample_rate": RATE, "channels": CHANNELS},
            },
            "stream_id": STREAM,
        },
        "media": {
            "event": "media",
            "sequence_number": SEQUENCE,
            "media": {"track": TRACK, "chunk": CHUNK, "timestamp": TIMESTAMP, "payload": PAYLOAD},
            "stream_id": STREAM,
        },
        "dtmf": {"event": "dtmf", "stream_id": STREAM, "sequence_number": SEQUENCE, "dtmf": {"digit": DIGIT}},
        "mark": {"event": "mark", "sequence_number": SEQUENCE, "stream_id": STREAM, "mark": {"name": NAME}},
        "clear": {"event": "clear", "stream_id": STREAM},
        "stop": {
            "event": "stop",
            "sequence_number": SEQUENCE,
            "stop": {"user_id": ACCOUNT, "call_control_id": CALL},
            "stream_id": STREAM,
        },
    },
    from_agent={
        "media": {"event": "media", "media": {"payload": PAYLOAD}},
        "mark": {"event": "mark", "mark": {"name": NAME}},
        "clear": {"event": "clear"},
    },
)

DIALECTS: Final[Mapping[str, Dialect]] = {dialect.name: dialect for dialect in (TWILIO, TELNYX)}


def dialect_named(name: str) -> Dialect:
    """Return a dialect by its name.

    Raises:
        OptionError: if there is none.
    """
    if name not in DIALECTS:
        raise OptionError(f"no media-stream dialect {name!r}; there are {', '.join(DIALECTS)}")
    return DIALECTS[name]
