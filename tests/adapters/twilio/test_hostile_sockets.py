"""What an agent may do to the carrier below the messages: websocket frames that are wrong, and a socket half open."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from websockets.server import ServerProtocol

from tests.adapters.twilio.wire_agent import trusted
from voiceharness.clock import run_real
from voiceharness.errors import CallDroppedError
from voiceharness.scenario.run import run_call
from voiceharness.scenario.scenario import Scenario
from voiceharness.scenario.steps import Hear
from voiceharness_adapters.twilio import Twilio, fast_socket, network_door, ws_connection

if TYPE_CHECKING:
    from voiceharness.scenario.result import CallResult

pytestmark = pytest.mark.realtime

FRAMES = {
    "an unknown opcode": b"\x83\x00",
    "a reserved bit": b"\xc1\x02{}",
    "a masked frame": b"\x81\x82\x01\x02\x03\x04zz",
    "a text that is not UTF-8": b"\x81\x02\xc3\x28",
    "a ping in pieces": b"\x09\x00",
    "a ping that is too long": b"\x89\x7e\x00\x7e" + bytes(126),
    "the rest of no message": b"\x80\x02{}",
    "a message of a terabyte": b"\x81\x7f" + (1 << 40).to_bytes(8, "big"),
    "a close of one byte": b"\x88\x01\x03",
    "bytes of another protocol": b"HTTP/1.1 500 No\r\n\r\n",
}


@pytest.fixture(params=["websockets", "picows"])
def _client(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a test over either websocket client, which asks after half a second whether anybody is there."""
    if request.param == "picows":
        pytest.importorskip("picows")
        monkeypatch.setattr(fast_socket, "PING_EVERY", 0.5)
    else:
        monkeypatch.setattr(network_door, "find_spec", lambda _name: None)
        monkeypatch.setattr(ws_connection, "PING_EVERY", 0.5)


def called(sent: bytes) -> CallResult:
    """Call an agent that accepts the stream, sends some bytes after the first ones it got, and reads on for ever."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        protocol = ServerProtocol()
        while not (events := protocol.events_received()):
            protocol.receive_data(await reader.read(4096))
        protocol.send_response(protocol.accept(events[0]))  # type: ignore[arg-type] # the first event is the request
        writer.write(b"".join(protocol.data_to_send()))
        await reader.read(200)
        writer.write(sent)
        while await reader.read(4096):
            continue
        writer.close()

    async def main() -> CallResult:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            return await run_call(Scenario("hostile", [Hear(within=5)]), Twilio(f"ws://127.0.0.1:{port}/"))

    return trusted(lambda: run_real(main()))


@pytest.mark.usefixtures("_client")
@pytest.mark.parametrize("sent", FRAMES.values(), ids=FRAMES)
def test_a_wrong_frame_breaks_the_stream_and_is_the_agents(sent: bytes) -> None:
    result = called(sent)
    assert isinstance(result.error, CallDroppedError), result.explain()
    assert "the agent's" in str(result.error)
    assert result.outcome == "not_called"
    assert result.ended_by == "transport"


@pytest.mark.usefixtures("_client")
def test_a_socket_that_is_half_open_is_found_out() -> None:
    """It takes what it gets, and answers no ping."""
    result = called(b"")
    assert isinstance(result.error, CallDroppedError), result.explain()
    assert "ping" in str(result.error)
    assert result.metrics is not None
    assert result.metrics.duration < 3
