"""Rules about what an adapter declares: that it says enough, and that it is true."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, get_args

import numpy as np

from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.dtmf import detect, generate
from voiceharness.audio.signals import tone
from voiceharness.capabilities import CallAction, DtmfMethod
from voiceharness.clock import LoopClock
from voiceharness.doubles.probe_agent import ProbeAgent
from voiceharness.errors import UnsupportedCapabilityError
from voiceharness.events import Word, Words

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from voiceharness.adapter import Received
    from voiceharness.capabilities import AdapterCapabilities
    from voiceharness.doubles.log import CallLog
    from voiceharness.testing.bench import Bench, BenchCall, GuardedAdapter

__all__ = ["can_do_what_it_declares", "declares_itself"]

DIGITS: Final = "1#4"
AROUND: Final = 0.2
SAYING: Final = (Word("good", 0.0, 0.2), Word("morning", 0.2, 0.4))
SAID: Final = "good morning"


async def declares_itself(bench: Bench) -> None:
    """It has a name, a rate and a direction, and may run on this clock."""
    async with bench.adapter(ProbeAgent()) as guarded:
        adapter, declared = guarded.adapter, guarded.adapter.capabilities
        if not adapter.name:
            raise guarded.broken("it has no name")
        if adapter.rate not in declared.rates:
            raise guarded.broken(f"its rate is {adapter.rate} Hz, which its capabilities do not list")
        if not declared.directions:
            raise guarded.broken("its capabilities list no direction")
        if LoopClock().virtual and not declared.virtual_time:
            raise guarded.broken("it runs in virtual time here, but does not declare virtual_time")
        if not _within(adapter.capabilities_for({}), declared):
            raise guarded.broken("capabilities_for({}) has more than the class declares, which is the upper bound")


async def can_do_what_it_declares(bench: Bench) -> None:
    """Each declared capability shows its effect at the agent; each other one is refused."""
    await _check_interruption(bench)
    for method in get_args(DtmfMethod):
        if method != "inband":  # the line mixes it into the sound
            async with bench.call() as call:
                await _check_digits(call, method)
    await _check_transcripts(bench)
    await _check_tones(bench)
    for action in get_args(CallAction):
        async with bench.call() as call:
            await _check_control(call, action)


async def _check_interruption(bench: Bench) -> None:
    async with bench.call() as call:
        adapter = call.adapter.adapter
        if adapter.own_capabilities.interruption:
            await call.agent_has_answered()
            await call.adapter.bounded("interrupt()", adapter.interrupt())
            await call.agent_has("the interrupt signal", lambda log: bool(log.interruptions))
        else:
            await _expect_unsupported(call.adapter, "interrupt()", adapter.interrupt())


async def _check_digits(call: BenchCall, method: DtmfMethod) -> None:
    adapter = call.adapter.adapter
    what, work = f"send_dtmf(method={method!r})", adapter.send_dtmf(DIGITS, method=method)
    if method not in adapter.own_capabilities.dtmf:
        await _expect_unsupported(call.adapter, what, work)
        return
    await call.agent_has_answered()
    await call.adapter.bounded(what, work)
    await call.agent_has(f"the digits {DIGITS} by {method}", lambda log: len(log.digits) >= len(DIGITS))
    if call.agent.log.digits != DIGITS:
        raise call.adapter.broken(f"the agent got {call.agent.log.digits} where {DIGITS} were sent by {method}")


async def _check_transcripts(bench: Bench) -> None:
    speech = AudioChunk.from_samples(tone(440, 0.4), item="saying")
    async with bench.call([(0.1, speech), (0.1, Words("saying", SAYING))]) as call:
        if not call.adapter.adapter.own_capabilities.streaming_transcripts:
            return
        received = await call.adapter.received_until(lambda items: SAID in _text(items))
        if SAID not in _text(received):
            raise call.adapter.broken(f"streaming_transcripts is declared, but of the words came {_text(received)!r}")


async def _check_tones(bench: Bench) -> None:
    async with bench.call() as call:
        adapter = call.adapter.adapter
        if "inband" not in adapter.own_capabilities.dtmf:
            return
        await call.agent_has_answered()
        quiet = np.zeros(round(AROUND * adapter.rate), np.int16)
        await call.say(np.concatenate((quiet, generate(DIGITS, adapter.rate), quiet)))
        await call.agent_has(f"the tones of {DIGITS}", lambda log: len(_keys(log)) >= len(DIGITS))
        if _keys(call.agent.log) != DIGITS:
            raise call.adapter.broken(f"the agent heard the tones of {_keys(call.agent.log)} where {DIGITS} were sent")


async def _check_control(call: BenchCall, action: CallAction) -> None:
    """See that what is not declared is refused, and that a call can be held and resumed where that is declared.

    The others need somebody else (transfer), or a call that is not answered yet (reject, cancel).
    """
    guarded, declared = call.adapter, call.adapter.adapter.own_capabilities.call_control
    if action not in declared:
        await _expect_unsupported(guarded, f"control({action!r})", guarded.adapter.control(action, target="nobody"))
    elif action == "resume":
        await guarded.bounded("control('hold')", guarded.adapter.control("hold"))
        await guarded.bounded("control('resume')", guarded.adapter.control("resume"))


def _keys(log: CallLog) -> str:
    return "".join(found.key for found in detect(log.audio.samples, log.rate))


async def _expect_unsupported(guarded: GuardedAdapter, what: str, work: Coroutine[Any, Any, object]) -> None:
    try:
        await guarded.bounded(what, work)
    except UnsupportedCapabilityError:
        return
    raise guarded.broken(f"{what} is not declared, but raised no UnsupportedCapabilityError")


def _text(items: list[Received]) -> str:
    words = [item for item in items if isinstance(item, Words)]
    text = " ".join(item.text or " ".join(word.text for word in item.words) for item in words)
    return " ".join(text.split())


def _within(narrow: AdapterCapabilities, wide: AdapterCapabilities) -> bool:
    flags = ("interruption", "streaming_transcripts", "virtual_time")
    sets = ("dtmf", "call_control", "directions", "rates")
    return all(getattr(narrow, name) <= getattr(wide, name) for name in flags + sets)
