"""A stream that has started, for the tests of its two ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voiceharness.protocols.media_streams.dialects import TWILIO
from voiceharness.protocols.media_streams.machine import AgentEnd, CarrierEnd
from voiceharness.protocols.media_streams.messages import StreamDescription

if TYPE_CHECKING:
    from voiceharness.protocols.media_streams.vocabulary import Dialect

__all__ = ["DESCRIPTION", "ends", "started"]

DESCRIPTION = StreamDescription("MZ1", "CA1", "AC1", parameters={"nonce": 'a "b" % \u20ac'})


def started(dialect: Dialect = TWILIO, description: StreamDescription = DESCRIPTION) -> CarrierEnd:
    """A carrier's end that has said what a stream begins with."""
    carrier = CarrierEnd(description, dialect=dialect)
    carrier.connected()
    carrier.start()
    return carrier


def ends(dialect: Dialect = TWILIO) -> tuple[CarrierEnd, AgentEnd]:
    """Both ends of a stream that has started."""
    carrier, agent = CarrierEnd(DESCRIPTION, dialect=dialect), AgentEnd(dialect=dialect)
    agent.receive(carrier.connected())
    agent.receive(carrier.start())
    return carrier, agent
