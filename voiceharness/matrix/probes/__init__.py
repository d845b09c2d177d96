"""All probes, in the order of the matrix."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, get_args

from voiceharness.capabilities import DtmfMethod
from voiceharness.matrix.probe import Probe
from voiceharness.matrix.probes import calls, control, keys, media, turns, words
from voiceharness.scenario.scenario import RATES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from voiceharness.capabilities import AdapterCapabilities, CallAction
    from voiceharness.matrix.cell import Proof
    from voiceharness.matrix.stand import Stand

__all__ = ["PROBES"]

CONTROLS: Final[Mapping[CallAction, tuple[str, Callable[[Stand], Proof]]]] = {
    "hold": ("the call is put on hold", control.hold),
    "resume": ("the call is taken up again", control.resume),
    "transfer": ("the agent is transferred to another", control.transfer),
    "reject": ("a call of the agent is refused while it rings", control.reject),
    "cancel": ("a call to the agent is given up while it rings", control.cancel),
}


def _probes() -> Iterator[Probe]:
    yield Probe(
        "direction:dial", "the harness dials the agent", calls.dial,
        _has("directions", "dial"), needs_probe_agent=False,
    )  # fmt: skip
    yield Probe(
        "direction:be_dialled", "the agent dials the harness", calls.be_dialled,
        _has("directions", "be_dialled"),
    )  # fmt: skip
    yield from _turns()
    for method in get_args(DtmfMethod):
        yield Probe(
            f"dtmf:{method}", f"keypad digits to the agent by {method}", partial(keys.digits_to_agent, method=method),
            _has("dtmf", method),
        )  # fmt: skip
    for method in get_args(DtmfMethod):
        yield Probe(
            f"dtmf_from_agent:{method}", f"keypad digits from the agent by {method}",
            partial(keys.digits_from_agent, method=method),
        )  # fmt: skip
    yield from _media()
    yield from _call()


def _has(field: str, value: object) -> Callable[[AdapterCapabilities], bool]:
    return lambda declares: value in getattr(declares, field)


def _turns() -> Iterator[Probe]:
    yield Probe(
        "interruption", "the transport's own interrupt signal stops the agent", turns.interruption,
        lambda declares: declares.interruption, needs_probe_agent=False,
    )  # fmt: skip
    yield Probe(
        "barge_in:seconds", "talking over the agent after some of its speech", turns.barge_in_by_time, required=True
    )
    yield Probe(
        "barge_in:words", "talking over the agent after some of its words", turns.barge_in_by_words, required=True
    )
    yield Probe(
        "streaming_transcripts", "the transport delivers the agent's words", words.streaming_transcripts,
        lambda declares: declares.streaming_transcripts, needs_probe_agent=False,
    )  # fmt: skip
    yield Probe(
        "agent_speaks_first", "the agent speaks at the answer", turns.speaks_first, required=True, of_functions=False
    )
    yield Probe("long_turn", "a turn of 90 s", turns.long_turn, required=True)
    yield Probe("silence", "5 s in which nobody speaks", turns.silence, required=True)


def _media() -> Iterator[Probe]:
    for rate in RATES:
        yield Probe(
            f"rate:{rate}", f"a line at {rate} Hz, by tones from both sides", partial(media.line_rate, rate=rate),
            _has("rates", rate),
        )  # fmt: skip
    yield Probe("one_way_delay", "the delay of the line, by an echo", media.one_way_delay, required=True)
    yield Probe("flush", "the agent drops what it has sent", media.flush)
    yield Probe("marks", "the agent is told when playout reaches a mark", media.marks)


def _call() -> Iterator[Probe]:
    yield Probe("hangup:user", "the user hangs up", calls.hangup_by_user, required=True, of_functions=False)
    yield Probe("hangup:agent", "the agent hangs up", calls.hangup_by_agent)
    yield Probe("reconnect", "several calls to one agent", calls.reconnect, required=True)
    yield Probe(
        "virtual_time", "two calls in virtual time are the same", calls.virtual_time,
        lambda declares: declares.virtual_time, needs_probe_agent=False,
    )  # fmt: skip
    for action, (about, look) in CONTROLS.items():
        yield Probe(f"call_control:{action}", about, look, _has("call_control", action))


PROBES: Final = tuple(_probes())
"""Every probe, in the order of the matrix."""
