"""Probes of keypad digits, in each method and each direction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from voiceharness.audio import dtmf
from voiceharness.audio.chunk import AudioChunk
from voiceharness.doubles.probe_agent import ProbeAgent
from voiceharness.events import Digit
from voiceharness.matrix.cell import Proof
from voiceharness.matrix.sound import spoken
from voiceharness.scenario.steps import Press, Wait

if TYPE_CHECKING:
    from voiceharness.capabilities import DtmfMethod
    from voiceharness.matrix.stand import ProbeCall, Stand

__all__ = ["digits_from_agent", "digits_to_agent"]

EVERY: Final = "0123456789*#"
FAST: Final = "111"
FAST_MS: Final = 50
DURING: Final = "159#"
TONE: Final = 0.1
PRESSED_MS: Final = 200
"""Long enough for every transport: some cannot press a key as short as a person can."""

LENGTH_WITHIN: Final = 0.04
"""Two packets."""


def digits_to_agent(stand: Stand, method: DtmfMethod) -> Proof:
    """Press every key, one key fast three times, and some keys while the agent speaks."""
    keys = (
        Wait(0.5),
        Press(EVERY, method, tone_ms=PRESSED_MS),
        Wait(0.2),
        Press(FAST, method, tone_ms=FAST_MS, gap_ms=FAST_MS),
    )
    got, lengths = _arrived(stand.call(*keys, Wait(1.0), agent=ProbeAgent(echoes_keys=True)), method)
    if not got and method not in stand.here.dtmf:
        return Proof.nothing(f"no digit arrived where {EVERY + FAST} was pressed")
    rest = Wait(3.0 if stand.subject.answers_only else 1.5)  # a function gets them when it has answered
    talking = stand.call(Wait(0.6), Press(DURING, method), rest, agent=ProbeAgent([(0.2, spoken(2.5))]))
    during, _ = _arrived(talking, method)
    error = max((abs(length - PRESSED_MS / 1000) for length in lengths[: len(EVERY)]), default=0.0)
    wanted = EVERY + FAST
    figures = {"digits": float(len(got)), "digits during speech": float(len(during))}
    if lengths:
        figures["length error, ms"] = round(error * 1000, 1)
    return Proof(
        got == wanted and during == DURING and error <= LENGTH_WITHIN,
        f"{got or 'none'} arrived where {wanted} was pressed, {during or 'none'} where {DURING} was, while the agent "
        f"spoke; {f'lengths within {error * 1000:.0f} ms' if lengths else 'the transport tells no lengths'}",
        figures,
        sign=bool(got),
    )


def digits_from_agent(stand: Stand, method: DtmfMethod) -> Proof:
    """The agent presses keys; the line tells of each, once and in order."""
    if method == "inband":
        tones = AudioChunk.from_samples(dtmf.generate(DURING), 8000)
        record = stand.call(Wait(2.5), agent=ProbeAgent([(0.4, tones)])).record
        got = "".join(found.key for found in dtmf.detect(record.agent, record.rate))
    else:
        presses = [(0.4 * (index + 1), Digit(digit, TONE, method)) for index, digit in enumerate(DURING)]
        record = stand.call(Wait(2.5), agent=ProbeAgent(presses)).record
        events = [event.data for event in record.of_kind("digit_received") if event.data["method"] == method]
        got = "".join(str(data["digit"]) for data in events)
    if not got:
        return Proof.nothing("no digit of the agent arrived")
    return Proof(got == DURING, f"{got} arrived where the agent sent {DURING}", {"digits": len(got)})


def _arrived(call: ProbeCall, method: DtmfMethod) -> tuple[str, list[float]]:
    """Return the digits that reached the agent by a method, and the lengths in seconds of those that tell."""
    if method == "inband":
        found = dtmf.detect(call.log.audio.samples, call.log.rate)
        return "".join(each.key for each in found), [each.duration_samples / call.log.rate for each in found]
    digits = [each.item for each in call.log.items if isinstance(each.item, Digit) and each.item.method == method]
    return "".join(each.digit for each in digits), [each.duration for each in digits if each.duration]
