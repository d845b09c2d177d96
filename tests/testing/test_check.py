"""The kit passes what keeps the contract, and names the rule that a broken adapter breaks."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.testing.broken import BROKEN, Deaf, Dialled, Leaking, Ticking
from voiceharness.clock import run_real, run_virtual
from voiceharness.errors import CallDroppedError, ConformanceError
from voiceharness.testing import RULES, check_adapter
from voiceharness_adapters.in_process import InProcess, host

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from voiceharness.agent import Host, PhoneAgent
    from voiceharness.audio.chunk import AudioChunk

__all__: list[str] = []


def test_the_in_process_adapter_keeps_the_contract_in_virtual_time() -> None:
    """Case B37."""
    run_virtual(check_adapter(InProcess, host))


@pytest.mark.realtime
def test_the_in_process_adapter_keeps_the_contract_in_real_time() -> None:
    run_real(check_adapter(InProcess, host))


def test_it_does_so_at_every_rate() -> None:
    for rate in InProcess.capabilities.rates:
        run_virtual(check_adapter(lambda rate=rate, **target: InProcess(rate=rate, **target), host))


def test_a_broken_rule_is_an_assertion_that_fails() -> None:
    assert issubclass(ConformanceError, AssertionError)


def rules(*fragments: str) -> list[str]:
    """The rules whose words hold one of some fragments."""
    return [words for words in RULES if any(fragment in words for fragment in fragments)]


@pytest.mark.parametrize(("broken", "rule", "detail"), BROKEN)
def test_a_broken_adapter_is_told_which_rule_it_breaks_and_what_was_seen(
    broken: type[InProcess], rule: str, detail: str
) -> None:
    (words,) = rules(rule)
    with pytest.raises(ConformanceError) as caught:
        run_virtual(check_adapter(broken, host, rules=[words]))
    assert f"breaks the rule that {words}: {detail}" in str(caught.value)
    assert (caught.value.rule, caught.value.adapter) == (words, broken.name)


@pytest.mark.realtime
def test_threads_and_sockets_that_are_left_are_counted() -> None:
    try:
        with pytest.raises(ConformanceError, match="after 20 calls there were left: 20 threads, 40 open files"):
            run_real(check_adapter(Leaking, host, rules=rules("left behind")))
    finally:
        Leaking.gate.set()
        for left in Leaking.kept:
            left.close()


def test_an_error_of_ours_in_the_wrong_place_is_a_broken_rule_too() -> None:
    class Dropping(InProcess):
        async def send_audio(self, chunk: AudioChunk) -> None:
            self._connected("send audio")
            raise CallDroppedError("no line")

    with pytest.raises(ConformanceError, match="whole and in order: it raised CallDroppedError: no line") as caught:
        run_virtual(check_adapter(Dropping, host))
    assert isinstance(caught.value.__cause__, CallDroppedError)


@asynccontextmanager
async def broken_host(_agent: PhoneAgent) -> AsyncIterator[Mapping[str, object]]:
    yield {"port": int("no port")}


class Unmakeable(InProcess):
    """Cannot even be made."""

    def __init__(self, **_target: object) -> None:
        raise KeyError("no such thing")


@pytest.mark.parametrize(
    ("make", "serve", "detail"),
    [
        (InProcess, broken_host, "raised ValueError, which is no error of voiceharness's: invalid literal"),
        (Unmakeable, host, "raised KeyError, which is no error of voiceharness's: 'no such thing'"),
    ],
)
def test_an_adapter_that_cannot_be_made_or_served_breaks_every_rule(
    make: type[InProcess], serve: Host, detail: str
) -> None:
    for words in RULES:
        with pytest.raises(ConformanceError) as caught:
            run_virtual(check_adapter(make, serve, rules=[words]))
        assert detail in str(caught.value)
        assert caught.value.rule == words


def test_a_transport_that_keeps_its_own_time_is_asked_for_the_users_audio_by_its_tick() -> None:
    run_virtual(check_adapter(Ticking, host, rules=rules("the user's audio", "asks for each frame")))


def test_a_call_that_the_agent_places_is_checked_where_somebody_can_place_one() -> None:
    inbound = rules("the agent places")
    run_virtual(check_adapter(Dialled, host, dialler=host, rules=inbound))

    class DeafWhenDialled(Dialled, Deaf):
        pass

    exempt = run_virtual(check_adapter(DeafWhenDialled, host, rules=inbound))
    assert list(exempt.values()) == ["no dialler is given, whose agent would call it"]
    with pytest.raises(
        ConformanceError, match=r"a call like any other: the agent did not get the user's audio in full"
    ):
        run_virtual(check_adapter(DeafWhenDialled, host, dialler=host, rules=inbound))


def test_nothing_is_left_after_two_hundred_calls() -> None:
    run_virtual(check_adapter(InProcess, host, calls=200, rules=rules("left behind")))


def test_a_transport_that_cannot_tell_the_end_is_not_asked_to() -> None:
    class Endless(InProcess):
        capabilities = replace(InProcess.capabilities, tells_the_end=False)

    exempt = run_virtual(check_adapter(Endless, host, rules=rules("the end of the call", "a failure of the agent")))
    assert set(exempt.values()) == {"its transport does not tell that the agent has ended"}


def test_a_rule_that_is_not_chosen_is_not_checked() -> None:
    run_virtual(check_adapter(Deaf, host, rules=rules("declares a name", "the end of the call", "has one call")))
