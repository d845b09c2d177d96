"""What an adapter class may declare, what an adapter without overrides does, and who gets an inbound call."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import pytest

from voiceharness.adapter import Endpoint, InboundCall, Message, VoiceAgentAdapter
from voiceharness.audio.chunk import AudioChunk
from voiceharness.capabilities import AdapterCapabilities, Timing
from voiceharness.clock import NS, LoopClock, run_virtual
from voiceharness.errors import (
    AdapterDefinitionError,
    CallRejectedError,
    LocalProtocolError,
    PendingTransportError,
    UnsupportedCapabilityError,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from voiceharness.adapter import Received

__all__: list[str] = []

HELLO = AudioChunk(b"\1\0" * 160)
ANSWER = AudioChunk(b"\2\0" * 160)


class Plain(VoiceAgentAdapter):
    """The four methods and nothing else."""

    name = "plain"

    async def connect(self) -> None:
        """Do nothing."""

    async def disconnect(self) -> None:
        """Do nothing."""

    async def send_audio(self, chunk: AudioChunk) -> None:
        """Do nothing."""

    async def receive_audio(self, timeout: float | None = None) -> Received | None:
        """Receive nothing."""
        return None


class FakeLine:
    """A line that notes what it is asked to say."""

    def __init__(self) -> None:
        self.agent_speaking = asyncio.Event()
        self.heard_transcript = "good morning"
        self.said: list[Message] = []

    async def take_turn(self, message: Message) -> AudioChunk:
        self.said.append(message)
        return ANSWER

    @property
    def is_over(self) -> bool:
        return False

    def user_frame(self, position: int, samples: int, due_ns: int | None = None) -> AudioChunk:
        return AudioChunk(bytes(2 * samples), position=position)


# Class creation


def test_an_adapter_that_declares_nothing_supports_nothing() -> None:
    assert Plain.capabilities == AdapterCapabilities()
    assert Plain.capabilities_for({"mode": "any"}) == AdapterCapabilities()
    assert Plain.timing == Timing("line", "queued")
    assert Plain().is_connected


@pytest.mark.parametrize("missing", ["connect", "disconnect", "send_audio", "receive_audio"])
def test_the_four_methods_are_mandatory(missing: str) -> None:
    four = {name: getattr(Plain, name) for name in ("connect", "disconnect", "send_audio", "receive_audio")}
    del four[missing]
    incomplete = type("Incomplete", (VoiceAgentAdapter,), four)
    with pytest.raises(TypeError, match=missing):
        incomplete()


@pytest.mark.parametrize(
    ("declared", "method"),
    [
        (AdapterCapabilities(interruption=True), "interrupt"),
        (AdapterCapabilities(dtmf=frozenset({"event", "inband"})), "send_dtmf"),
        (AdapterCapabilities(call_control=frozenset({"hold"})), "control"),
    ],
)
def test_a_capability_without_its_method_is_refused(declared: AdapterCapabilities, method: str) -> None:
    with pytest.raises(AdapterDefinitionError, match=rf"^Boaster declares .* does not override {method}\(\)$"):
        type("Boaster", (Plain,), {"capabilities": declared, "__qualname__": "Boaster"})


@pytest.mark.parametrize("method", ["interrupt", "send_dtmf", "control"])
def test_a_method_without_its_capability_is_refused(method: str) -> None:
    with pytest.raises(AdapterDefinitionError, match=rf"^Modest overrides {method}\(\) but does not declare"):
        type("Modest", (Plain,), {method: Plain.connect, "__qualname__": "Modest"})


def test_tones_in_the_sound_need_no_method_because_the_line_mixes_them() -> None:
    class Inband(Plain):
        capabilities: ClassVar[AdapterCapabilities] = AdapterCapabilities(dtmf=frozenset({"inband"}))

    assert Inband().capabilities.dtmf == {"inband"}


def test_a_subclass_that_takes_a_capability_back_must_take_its_method_back_too() -> None:
    class Interrupting(Plain):
        capabilities: ClassVar[AdapterCapabilities] = AdapterCapabilities(interruption=True)

        async def interrupt(self) -> None:
            """Do it."""

    with pytest.raises(AdapterDefinitionError, match="overrides interrupt"):
        type("Silenced", (Interrupting,), {"capabilities": AdapterCapabilities()})


# Defaults


@pytest.mark.parametrize(
    ("attempt", "capability", "alternative"),
    [
        (lambda adapter: adapter.interrupt(), "interruption", "talk over the agent instead (via: speech)"),
        (lambda adapter: adapter.send_dtmf("1", method="info"), "dtmf:info", "send the tones in the sound"),
        (lambda adapter: adapter.control("hold"), "call_control:hold", None),
    ],
)
def test_what_is_not_supported_says_so_and_what_would_work(
    attempt: Any, capability: str, alternative: str | None
) -> None:
    with pytest.raises(UnsupportedCapabilityError) as caught:
        run_virtual(attempt(Plain()))
    assert caught.value.adapter == "plain"
    assert caught.value.capability == capability
    assert (alternative or "") in str(caught.value)


def test_the_notices_of_the_line_may_be_ignored() -> None:
    adapter = Plain()
    adapter.user_turn_started()
    adapter.user_turn_ended()
    adapter.played("mark", flushed=False)


# call()


def test_call_says_the_latest_user_message_on_the_attached_line() -> None:
    async def main() -> None:
        adapter, line = Plain(), FakeLine()
        adapter.attach(line)
        first, second = Message("user", HELLO), Message("user", ANSWER)
        assert await adapter.call([first, second, Message("agent", ANSWER)]) is ANSWER
        assert await adapter.call(first) is ANSWER
        assert line.said == [second, first]
        assert adapter.streaming_transcript == "good morning"
        assert adapter.agent_speaking is line.agent_speaking

    run_virtual(main())


def test_call_without_a_line_says_that_the_transport_is_pending() -> None:
    with pytest.raises(PendingTransportError, match=r"adapter 'plain' is not connected: cannot take a turn"):
        run_virtual(Plain().call(Message("user", HELLO)))


def test_call_asks_whether_the_transport_is_connected_before_it_sends() -> None:
    class Offline(Plain):
        @property
        def is_connected(self) -> bool:
            return False

    async def main() -> None:
        adapter, line = Offline(), FakeLine()
        adapter.attach(line)
        with pytest.raises(PendingTransportError):
            await adapter.call(Message("user", HELLO))
        assert line.said == []

    run_virtual(main())


def test_call_needs_something_the_user_says() -> None:
    async def main() -> None:
        adapter = Plain()
        adapter.attach(FakeLine())
        with pytest.raises(LocalProtocolError, match="needs a message of the user"):
            await adapter.call([Message("agent", HELLO)])

    run_virtual(main())


def test_what_the_line_knows_cannot_be_asked_without_one() -> None:
    with pytest.raises(PendingTransportError, match="cannot tell whether the agent speaks"):
        _ = Plain().agent_speaking
    with pytest.raises(PendingTransportError, match="cannot tell what was heard"):
        _ = Plain().streaming_transcript


# Endpoint


class Switchboard(Endpoint):
    """An endpoint whose calls are offered by the test."""

    opened = closed = 0

    def __init__(self) -> None:
        super().__init__()
        self.declined: list[Any] = []

    def decline(self, call: InboundCall) -> None:
        self.declined.append(call.handle)

    async def open(self) -> None:
        self.opened += 1

    async def close(self) -> None:
        self.closed += 1


def handles(results: list[Any]) -> list[Any]:
    return [result.handle if isinstance(result, InboundCall) else None for result in results]


async def deal(endpoint: Switchboard, claims: list[Any], offers: list[InboundCall]) -> tuple[list[Any], list[bool]]:
    """Wait with all claims, offer all calls, and tell who got which and which were taken."""
    tasks = [asyncio.create_task(claim) for claim in claims]
    await LoopClock().sleep(0)
    taken = [endpoint.offer(call) for call in offers]
    return handles(await asyncio.gather(*tasks, return_exceptions=True)), taken


def test_an_inbound_call_goes_to_who_knows_its_nonce_before_anyone_else() -> None:
    async def main() -> None:
        async with Switchboard() as endpoint:
            claims = [
                endpoint.claim(timeout=1),
                endpoint.claim(timeout=1, identity="+15550100001"),
                endpoint.claim(timeout=1, nonce="secret"),
            ]
            call = InboundCall("call", identity="+15550100001", nonce="secret")
            assert await deal(endpoint, claims, [call]) == ([None, None, "call"], [True])

    run_virtual(main())


def test_an_inbound_call_goes_to_the_identity_that_was_dialled_before_the_first_who_waits() -> None:
    async def main() -> None:
        async with Switchboard() as endpoint:
            claims = [endpoint.claim(timeout=1), endpoint.claim(timeout=1, identity="+15550100001")]
            assert await deal(endpoint, claims, [InboundCall("call", "+15550100001")]) == ([None, "call"], [True])

    run_virtual(main())


def test_inbound_calls_without_a_name_go_to_those_who_wait_in_their_order() -> None:
    async def main() -> None:
        async with Switchboard() as endpoint:
            claims = [endpoint.claim(timeout=1) for _ in range(3)]
            calls = [InboundCall(number) for number in range(3)]
            assert await deal(endpoint, claims, calls) == ([0, 1, 2], [True, True, True])
            assert endpoint.unclaimed == 0

    run_virtual(main())


def test_one_inbound_call_wakes_exactly_one_adapter() -> None:
    async def main() -> None:
        async with Switchboard() as endpoint:
            claims = [endpoint.claim(timeout=1) for _ in range(3)]
            assert await deal(endpoint, claims, [InboundCall("call")]) == (["call", None, None], [True])

    run_virtual(main())


def test_an_inbound_call_that_nobody_waits_for_is_declined_and_counted() -> None:
    async def main() -> None:
        async with Switchboard() as endpoint:
            claims = [endpoint.claim(timeout=1, nonce="mine"), endpoint.claim(timeout=1, identity="+15550100001")]
            stranger = InboundCall("call", identity="+15550100002", nonce="other")
            assert await deal(endpoint, claims, [stranger]) == ([None, None], [False])
            assert endpoint.unclaimed == 1

    run_virtual(main())


def test_an_inbound_call_that_does_not_come_is_reported_in_time() -> None:
    async def main() -> float:
        async with Switchboard() as endpoint:
            with pytest.raises(CallRejectedError, match=r"no inbound call came within 2\.5 s"):
                await endpoint.claim(timeout=2.5)
            assert not endpoint.offer(InboundCall("too late"))
        return asyncio.get_running_loop().time()

    assert run_virtual(main()) == 2.5


def test_an_adapter_that_gives_up_is_handed_no_call() -> None:
    async def main() -> None:
        async with Switchboard() as endpoint:
            task = asyncio.create_task(endpoint.claim(timeout=1))
            await LoopClock().sleep(0)
            task.cancel()
            await asyncio.wait([task])
            assert not endpoint.offer(InboundCall("call"))

    run_virtual(main())


def test_a_call_that_comes_in_the_moment_in_which_the_time_is_up_is_taken() -> None:
    async def main() -> Any:
        async with Switchboard() as endpoint:
            claiming = asyncio.create_task(endpoint.claim(timeout=1.0))
            LoopClock().call_at_ns(NS, lambda: endpoint.offer(InboundCall("just in time")))
            return (await claiming).handle

    assert run_virtual(main()) == "just in time"


@pytest.mark.parametrize("another_waits", [True, False])
def test_a_call_whose_taker_gives_up_in_that_moment_goes_to_the_next_or_is_declined(*, another_waits: bool) -> None:
    async def main() -> tuple[list[Any], list[Any]]:
        async with Switchboard() as endpoint:
            first = asyncio.create_task(endpoint.claim(timeout=1.0))
            await LoopClock().sleep(0)
            others = [asyncio.create_task(endpoint.claim(timeout=1.0))] if another_waits else []
            await LoopClock().sleep(0)
            assert endpoint.offer(InboundCall("call"))
            first.cancel()
            await asyncio.wait([first])
            assert first.cancelled()
            return handles(await asyncio.gather(*others)), endpoint.declined

    assert run_virtual(main()) == ((["call"], []) if another_waits else ([], ["call"]))


def test_an_endpoint_says_when_somebody_waits_for_a_call() -> None:
    async def main() -> list[str]:
        happened: list[str] = []
        async with Switchboard() as endpoint:

            async def dial() -> None:
                while True:
                    await endpoint.claimed()
                    happened.append("dialled")
                    endpoint.offer(InboundCall(None))
                    await LoopClock().sleep(0.1)

            dialling = asyncio.create_task(dial())
            for _ in range(2):
                await LoopClock().sleep(1.0)
                happened.append("waits")
                await endpoint.claim(timeout=1.0)
            await LoopClock().sleep(1.0)
            dialling.cancel()
        return happened

    assert run_virtual(main()) == ["waits", "dialled", "waits", "dialled"]


def test_an_endpoint_that_closes_lets_go_of_those_who_wait() -> None:
    async def main() -> None:
        endpoint = Switchboard()
        async with endpoint:
            task = asyncio.create_task(endpoint.claim(timeout=100))
            await LoopClock().sleep(0)
        with pytest.raises(CallRejectedError, match="the endpoint was closed"):
            await task
        assert (endpoint.opened, endpoint.closed) == (1, 1)
        assert asyncio.get_running_loop().time() == 0

    run_virtual(main())


def test_an_inbound_call_does_not_show_who_was_dialled() -> None:
    assert "5550100001" not in repr(InboundCall("handle", identity="+15550100001", nonce="secret"))
    assert "secret" not in repr(InboundCall("handle", nonce="secret"))


def test_an_adapter_knows_what_it_can_do_with_the_options_it_was_made_with() -> None:
    class Optional(Plain):
        capabilities = replace(Plain.capabilities, streaming_transcripts=True)

        def __init__(self, *, words: bool = True) -> None:
            self.words = words

        @classmethod
        def capabilities_for(cls, options: Mapping[str, object]) -> AdapterCapabilities:
            return replace(cls.capabilities, streaming_transcripts=bool(options.get("words", True)))

    assert Optional().own_capabilities.streaming_transcripts
    assert not Optional(words=False).own_capabilities.streaming_transcripts
    assert Optional.capabilities.streaming_transcripts
