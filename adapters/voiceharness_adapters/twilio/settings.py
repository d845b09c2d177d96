"""How the carrier behaves on a call, and what it notes of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from voiceharness.errors import OptionError
from voiceharness.protocols.media_streams.dialects import TWILIO
from voiceharness.protocols.media_streams.machine import MAX_MESSAGE

if TYPE_CHECKING:
    from voiceharness.protocols.media_streams.vocabulary import Dialect

__all__ = ["CarrierLog", "CarrierSettings", "Inbound", "LostAs", "Marks"]

Marks = Literal["playout", "immediate", "lost"]
"""When marks are answered: when playout reaches them, as they come (a fault), or never (a fault)."""

Inbound = Literal["continuous", "gaps"]
"""Whether the user's silence is sent, or left out with a jump of the timestamps."""

LostAs = Literal["gap", "silence"]
"""What frames that never reached the carrier leave: a jump of the timestamps, or silence in their place."""


@dataclass(frozen=True, slots=True)
class CarrierSettings:
    """The carrier's switches.

    ``goodbye``: seconds that the agent may go on after ``stop`` before the carrier closes; what it sends is counted.
    """

    dialect: Dialect = TWILIO
    marks: Marks = "playout"
    inbound: Inbound = "continuous"
    lost_as: LostAs = "gap"
    goodbye: float = 0.0
    max_message: int = MAX_MESSAGE

    def __post_init__(self) -> None:
        if self.goodbye < 0:
            raise OptionError(f"goodbye is a duration in seconds, not {self.goodbye}")


@dataclass(slots=True, eq=False)
class CarrierLog:
    """What the carrier saw on a call. Counts are of messages; ``lost_ms`` are the stream times of missing frames.

    ``after_stop`` counts what the agent sent when the stream was over. ``still_running``: the agent's code had not
    ended when the call's ``goodbye`` was over, and was cancelled (known only for an agent in this process).
    ``callbacks``: which call status was posted to the status callback, and the HTTP status of its answer (None: none).
    """

    sent: Counter[str] = field(default_factory=Counter)
    received: Counter[str] = field(default_factory=Counter)
    violations: Counter[str] = field(default_factory=Counter)
    lost_ms: list[int] = field(default_factory=list)
    callbacks: list[tuple[str, int | None]] = field(default_factory=list)
    after_stop: int = 0
    still_running: bool = False
