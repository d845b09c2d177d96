"""A telephone network on loopback: the carrier's REST paths, and our own carrier between two numbers.

Who is called is a :class:`PhoneAgent` at its phone. A call that is placed by REST rings at it, asks the caller's
webhook and opens the stream that it names, exactly as the carrier adapter does to an agent. The agent may call, too:
then the number that it calls is asked by its webhook.
"""

from __future__ import annotations

import asyncio
import base64
import json
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl

from voiceharness.clock import LoopClock
from voiceharness.errors import CallError
from voiceharness.protocols.media_streams.twiml import ConnectStream, Play, parse_twiml
from voiceharness_adapters.twilio.carrier_call import CallIdentity, CarrierCall
from voiceharness_adapters.twilio.handset import Handset
from voiceharness_adapters.twilio.settings import CarrierSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voiceharness.agent import PhoneAgent
    from voiceharness.protocols.media_streams.twiml import Verb

__all__ = ["ACCOUNT", "TOKEN", "PlacedCall", "TelephoneNetwork"]

ACCOUNT: Final = "AC" + "0" * 32
TOKEN: Final = "0123456789abcdef0123456789abcdef"
"""The account of this network; it opens nothing anywhere else."""


@dataclass(slots=True, eq=False)
class PlacedCall:
    """A call, as the carrier's records have it."""

    sid: str
    form: Mapping[str, str] = field(default_factory=dict, repr=False)
    status: str = "queued"
    updates: list[dict[str, str]] = field(default_factory=list)
    keys: str = ""
    task: asyncio.Task[None] | None = None
    line: CarrierCall | None = None
    handset: Handset | None = None

    def press(self, digits: str) -> None:
        """Let the agent's phone receive keys, once there is a call."""
        if self.handset is not None:
            for digit in digits:
                self.handset.press(digit)


class TelephoneNetwork:
    """The REST interface, as an ASGI application; ``agent`` answers every number (None: busy).

    ``refuse``: an HTTP status with which every request is answered, if it is not 0.
    """

    def __init__(self, agent: PhoneAgent | None) -> None:
        self.agent = agent
        self.calls: list[PlacedCall] = []
        self.requests: list[tuple[str, str]] = []
        self.refuse = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:  # Any: as ASGI has them
        """Answer one request of the REST interface."""
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

    def _update(self, scope: Any, form: dict[str, str]) -> PlacedCall:  # Any: as ASGI has it
        sid = scope["path"].rpartition("/")[2].removesuffix(".json")
        call = next((call for call in self.calls if call.sid == sid), None)
        if call is None:  # one that came in by another way
            self.calls.append(call := PlacedCall(sid))
        if scope["method"] == "POST":
            call.updates.append(form)
            if form.get("Status") == "completed" and call.task is not None:
                call.task.cancel()
            elif "Twiml" in form and call.line is not None:
                call.task = asyncio.create_task(self._redirect(call, form["Twiml"]))
        return call

    async def _redirect(self, call: PlacedCall, document: str) -> None:
        """Let a call go on with another document: keys are played to the agent's phone, then a stream opens."""
        assert call.line is not None  # the caller looked
        old = call.line.stream
        for verb in parse_twiml(document.encode()):
            if isinstance(verb, Play):
                call.keys += verb.digits
                call.press(verb.digits)
            elif isinstance(verb, ConnectStream):
                if old is not None:
                    await old.close()
                await call.line.connect_stream(verb.stream)

    # Calls to the agent

    async def _run(self, call: PlacedCall) -> None:
        identity = CallIdentity(call.form["From"], call.form["To"], TOKEN, call=call.sid, account=ACCOUNT)
        line = call.line = self._line(identity)
        status_url = call.form["StatusCallback"]
        try:
            if self.agent is None:
                call.status = "busy"
                await line.server.document(status_url, "busy")
                return
            document = await line.server.document(call.form["Url"], "in-progress")
            await self._connect(call, line, document.verbs, self.agent)
        finally:
            await line.hang_up()
            if call.status == "in-progress":
                call.status = "completed"
                with suppress(CallError):  # who has hung up may be gone already, or know nothing of the call any more
                    await line.server.document(status_url, "completed")

    # Calls of the agent

    async def call_number(self, voice_url: str, *, caller: str, number: str) -> None:
        """Let the agent call a number, whose webhook is asked; returns when the call is over.

        Raises:
            CallError: if the number's server cannot be reached, or refuses.
        """
        identity = CallIdentity(caller, number, TOKEN, account=ACCOUNT)
        line = self._line(identity)
        call = PlacedCall(identity.call, identity.form("ringing"), line=line)
        self.calls.append(call)
        call.task = asyncio.create_task(self._call(call, line, voice_url), name="a call of the agent")
        try:
            await asyncio.wait({call.task})
        finally:
            call.task.cancel()
            await asyncio.wait({call.task})

    async def _call(self, call: PlacedCall, line: CarrierCall, voice_url: str) -> None:
        assert self.agent is not None  # nobody else calls
        try:
            document = await line.server.document(voice_url, "ringing")
            await self._connect(call, line, document.verbs, self.agent)
        except CallError as error:
            self.agent.missed(None, str(error))
        finally:
            await line.hang_up()

    async def _connect(self, call: PlacedCall, line: CarrierCall, verbs: tuple[Verb, ...], agent: PhoneAgent) -> None:
        stream = next((verb.stream for verb in verbs if isinstance(verb, ConnectStream)), None)
        if stream is None:
            call.status = "busy"
            agent.missed(None, "the number rejected the call")
            return
        call.status = "in-progress"
        await line.connect_stream(stream)
        call.handset = Handset(agent, line)
        await call.handset.talk()

    def _line(self, identity: CallIdentity) -> CarrierCall:
        from voiceharness_adapters.twilio.network_door import NetworkDoor

        return CarrierCall(NetworkDoor(), identity, CarrierSettings(), LoopClock())


def _record(call: PlacedCall) -> Mapping[str, object]:
    return {"sid": call.sid, "status": call.status, "price": "-0.01400", "price_unit": "USD", "duration": "3"}


async def _json(send: Any, status: int, value: object) -> None:  # Any: as ASGI has it
    body = json.dumps(value).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
