"""A double of two methods and a stream of frames, made of nothing but the kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from voiceharness.scripted.kernel import (
    CallLog,
    CallScript,
    RecordedCall,
)

__all__ = ["PhoneCall", "call", "phone"]

METHODS = ("dial", "hang_up", "frame")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PhoneCall(RecordedCall):
    method: str
    args: Any = None


def phone(**options: Any) -> CallScript[PhoneCall]:
    return CallScript(CallLog[PhoneCall](), methods=METHODS, **options)


def call(script: CallScript[PhoneCall], method: str, args: Any = None) -> None:
    for reply in script.record(lambda **payload: PhoneCall(method=method, **payload), method=method, args=args):
        reply()
