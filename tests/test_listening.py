"""Servers that stop while somebody connects."""

from __future__ import annotations

import asyncio
import gc
import socket
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, cast

import pytest

from voiceharness.clock import LoopClock, run_real
from voiceharness.listening import stop_listening

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

__all__: list[str] = []

pytestmark = pytest.mark.realtime

TURNS = range(6)  # from before the loop has seen the connection to after its protocol has


class Dropping(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        cast("asyncio.Transport", transport).abort()


def leaks(main: Callable[[], Coroutine[None, None, None]], run: Callable[..., None] = run_real) -> list[str]:
    """Run to the end and return what was left open."""
    gc.collect()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ResourceWarning)
        run(main())
        gc.collect()
    return [str(warning.message) for warning in caught]


async def _stop_while_a_client_connects(turns: int) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Dropping, "127.0.0.1", 0)
    with socket.create_connection(server.sockets[0].getsockname()) as client:
        for _ in range(turns):
            await LoopClock().sleep(0)
        await stop_listening(server)
        await server.wait_closed()
        client.setblocking(False)
        with suppress(ConnectionError):  # reset is as good as closed
            assert await loop.sock_recv(client, 1) == b""


@pytest.mark.parametrize("turns", TURNS)
def test_who_connects_while_a_server_stops_leaves_no_socket_behind(turns: int) -> None:
    assert leaks(lambda: _stop_while_a_client_connects(turns)) == []


@pytest.mark.parametrize("turns", TURNS)
def test_a_loop_without_readers_of_its_own_stops_as_well(turns: int) -> None:
    uvloop = pytest.importorskip("uvloop")
    assert leaks(lambda: _stop_while_a_client_connects(turns), uvloop.run) == []


def test_who_is_cancelled_while_it_stops_has_closed_the_server() -> None:
    async def main() -> None:
        server = await asyncio.get_running_loop().create_server(Dropping, "127.0.0.1", 0)
        stopping = asyncio.create_task(stop_listening(server))
        await LoopClock().sleep(0)
        stopping.cancel()
        await asyncio.wait([stopping])
        assert stopping.cancelled()
        assert not server.is_serving()

    assert leaks(main) == []
