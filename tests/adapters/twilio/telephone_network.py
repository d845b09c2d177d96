"""A telephone network on loopback: the carrier's REST paths, and our own carrier between two numbers.

Who is called is a :class:`PhoneAgent`. A call that is placed by REST rings at it, asks the caller's webhook and opens
the stream that it names, exactly as the carrier adapter does to an agent.
"""

from __future__ import annotations

import asyncio
import base64
import json
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from voiceharness.agent import AgentCall, serve
from voiceharness.audio.chunk import AudioChunk
from voiceharness.clock import LoopClock, Pacer
from voiceharness.errors import ConnectError
from voiceharness.events import CallEnded, EndOfStream, RemoteHangup
from voiceharness.protocols.media_streams.twiml import ConnectStream, Play, parse_twiml
from voiceharness_adapters.twilio.carrier_call import CallIdentity, CarrierCall
from voiceharness_adapters.twilio.network_door import NetworkDoor
from voiceharness_adapters.twilio.settings import CarrierSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voiceharness.agent import PhoneAgent

__all__ = ["ACCOUNT", "TOKEN", "Network", "PlacedCall"]

ACCOUNT = "AC" + "0" * 32
TOKEN = "0123456789abcdef0123456789abcdef"
FRAME = 160


@dataclass
class PlacedCall:
    """A call, as the carrier's records have it."""

    sid: str
    form: dict[str, str]
    status: str = "queued"
    updates: list[dict[str, str]] = field(default_factory=list)
    keys: str = ""
    task: asyncio.Task[None] | None = None
    line: CarrierCall | None = None


class Network:
    """The REST interface, as an ASGI application; ``agent`` answers every number (None: busy)."""

    def __init__(self, agent: PhoneAgent | None) -> None:
        self.agent = agent
        self.calls: list[PlacedCall] = []
        self.requests: list[tuple[str, str]] = []
        self.refuse = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        form = dict(parse_qsl((await receive())["body"].decode()))
        self.requests.append((scope["method"], scope["path"]))
        authorised = dict(scope["headers"]).get(b"authorization", b"").decode().removeprefix("Basic ")
        if base64.b64decode(authorised).decode() != f"{ACCOUNT}:{TOKEN}":
            await _json(send, 401, {"code": 20003, "message": "Authenticate", "status": 401})
        elif self.refuse:
            await _json(send, self.refuse, {"code": 21211, "message": "no such number", "status": self.refuse})
        else:
            is_new = scope["path"].endswith("/Calls.json")
            call = self._place(form) if is_new else self._update(scope, form)
            await _json(send, 201 if is_new else 200, _record(call))

    def _place(self, form: dict[str, str]) -> PlacedCall:
        call = PlacedCall("CA" + f"{len(self.calls):032x}", form)
        self.calls.append(call)
        call.task = asyncio.create_task(self._run(call), name="the telephone network")
        return call

    def _update(self, scope: Any, form: dict[str, str]) -> PlacedCall:
        sid = scope["path"].rpartition("/")[2].removesuffix(".json")
        call = next((call for call in self.calls if call.sid == sid), None)
        if call is None:  # one that came in: the network on loopback places calls only
            self.calls.append(call := PlacedCall(sid, {}))
        if scope["method"] == "POST":
            call.updates.append(form)
            if form.get("Status") == "completed" and call.task is not None:
                call.task.cancel()
            elif "Twiml" in form and call.line is not None:
                call.task = asyncio.create_task(self._redirect(call, form["Twiml"]))
        return call

    async def _redirect(self, call: PlacedCall, document: str) -> None:
        assert call.line is not None
        old = call.line.stream
        for verb in parse_twiml(document.encode()):
            if isinstance(verb, Play):
                call.keys += verb.digits
            elif isinstance(verb, ConnectStream):
                if old is not None:
                    await old.close()
                await call.line.connect_stream(verb.stream)

    async def _run(self, call: PlacedCall) -> None:
        identity = CallIdentity(call.form["From"], call.form["To"], TOKEN, call=call.sid, account=ACCOUNT)
        line = call.line = CarrierCall(NetworkDoor(), identity, CarrierSettings(), LoopClock())
        status_url = call.form["StatusCallback"]
        try:
            if self.agent is None:
                call.status = "busy"
                await line.ask(status_url, status="busy")
                return
            (verb,) = await line.ask(call.form["Url"], status="in-progress")
            assert isinstance(verb, ConnectStream)
            call.status = "in-progress"
            await line.connect_stream(verb.stream)
            await self._talk(call, line, self.agent)
        finally:
            await line.hang_up()
            if call.status == "in-progress":
                call.status = "completed"
                with suppress(ConnectError):  # who has hung up may be gone already
                    await line.ask(status_url, status="completed")

    async def _talk(self, call: PlacedCall, line: CarrierCall, agent: PhoneAgent) -> None:
        """Carry sound between the agent, at its phone, and the stream of who has called it."""
        clock = LoopClock()
        door = AgentCall(clock)
        serving = asyncio.create_task(serve(agent, door))
        hearing = asyncio.create_task(_hear(line, door))
        pacer, spoken, position = Pacer(clock, start_ns=clock.now_ns(), rate=8000), b"", 0
        try:
            while True:
                await pacer.wait_for(position + FRAME)
                while (item := door.take_sent()) is not None:
                    if isinstance(item, EndOfStream | RemoteHangup):
                        return
                    if isinstance(item, AudioChunk):
                        spoken += item.pcm
                frame, spoken = spoken[: 2 * FRAME].ljust(2 * FRAME, b"\0"), spoken[2 * FRAME :]
                line.send_audio(AudioChunk(frame, 8000, position))
                position += FRAME
        finally:
            door.deliver(CallEnded("the carrier hung up"))
            for task in (hearing, serving):
                task.cancel()
            await asyncio.wait([hearing, serving])


async def _hear(line: CarrierCall, door: AgentCall) -> None:
    while not isinstance(item := await line.inbox.take(None), EndOfStream):
        if isinstance(item, AudioChunk):
            door.deliver(item)


def _record(call: PlacedCall) -> Mapping[str, object]:
    return {"sid": call.sid, "status": call.status, "price": "-0.01400", "price_unit": "USD", "duration": "3"}


async def _json(send: Any, status: int, value: object) -> None:
    body = json.dumps(value).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
