"""Attack an agent as a stranger would who knows its address, and say what it refuses.

Theory of operation. First a proper call (the *control*): an agent that refuses that one cannot be audited. Then one
attack after another, each on connections of its own, each wrong in exactly one point. An agent *refuses* an attack
when it answers the webhook with 4xx, rejects the upgrade, or closes the stream; it *tolerates* one that it serves as if
nothing were wrong, and *breaks* on one that its code does not survive. Who has the account's token can sign, so signed
attacks need it; without it they are left out.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import urlencode, urlsplit, urlunsplit

from voiceharness.errors import AgentCrashedError, CallError, CallRejectedError, RemoteProtocolError
from voiceharness.protocols.media_streams.hostile import hostile_inputs
from voiceharness.protocols.media_streams.machine import CarrierEnd
from voiceharness.protocols.media_streams.messages import StreamDescription
from voiceharness.protocols.media_streams.twiml import ConnectStream, Stream, parse_twiml
from voiceharness_adapters.twilio.doors import make_door
from voiceharness_adapters.twilio.identity import FORM_TYPE, STREAM_AGENT, WEBHOOK_AGENT, CallIdentity

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from voiceharness_adapters.twilio.door import Closed, Door

__all__ = ["AuditReport", "Finding", "Verdict", "audit"]

Verdict = Literal["refused", "tolerated", "broke", "left_out"]

FRAME: Final = b"\xff" * 160
OVERSIZE: Final = 2 << 20
STRANGER: Final = "stranger's token"


@dataclass(frozen=True, slots=True)
class Finding:
    """One attack and what became of it. ``wanted`` is what a careful agent does."""

    attack: str
    verdict: Verdict
    detail: str
    wanted: Verdict = "refused"

    @property
    def passed(self) -> bool:
        """Whether the agent did as a careful one does; one that was left out says nothing against it."""
        return self.verdict in (self.wanted, "left_out") or (self.wanted == "tolerated" and self.verdict == "refused")


@dataclass(frozen=True, slots=True)
class AuditReport:
    """All findings, in the order of the attacks."""

    url: str
    findings: tuple[Finding, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing was found against the agent."""
        return all(finding.passed for finding in self.findings)

    def __str__(self) -> str:
        lines = [f"{finding.verdict:10} {finding.attack}: {finding.detail}" for finding in self.findings]
        wrong = sum(not finding.passed for finding in self.findings)
        return "\n".join([*lines, f"{len(self.findings)} attacks, {wrong} of them not met as they should be"])


async def audit(
    url: str, *, app: Callable[..., object] | None = None, token: str | None = None, patience: float = 1.0
) -> AuditReport:
    """Audit the agent behind a voice webhook or a stream.

    ``app`` answers the URL in this process, as in the adapter. ``patience``: seconds to wait for the agent's reaction.

    Raises:
        CallError: if the agent cannot be reached, or refuses the proper call.
        RemoteProtocolError: if its webhook's answer is not TwiML.
    """
    auditor = _Auditor(url, app, token, patience)
    await auditor.control()
    return AuditReport(url, tuple([finding async for finding in auditor.findings()]))


class _Auditor:
    def __init__(self, url: str, app: Callable[..., object] | None, token: str | None, patience: float) -> None:
        self._url = url
        self._app = app
        self._identity = CallIdentity("+15550100001", "+15550100002", token)
        self._patience = patience
        self._stream: Stream | None = None if urlsplit(url).scheme in ("http", "https") else Stream(url)
        self._has_webhook = self._stream is None

    async def control(self) -> None:
        """Make one proper call, and learn where the stream is."""
        if self._has_webhook:
            status, body = await self._post(self._identity)
            if status >= 400:
                raise CallRejectedError(f"{self._url} refuses a proper call with HTTP {status}", code=status)
            streams = [verb.stream for verb in parse_twiml(body) if isinstance(verb, ConnectStream)]
            if not streams:
                raise RemoteProtocolError(f"{self._url} answers a proper call without <Connect><Stream>")
            self._stream = streams[0]
        async with _Line(self, self._identity) as line:
            line.open()
            line.send(line.end.media(FRAME, 0))

    async def findings(self) -> AsyncIterator[Finding]:
        """Attack."""
        for attack in (self._webhook_attacks(), self._stream_attacks(), self._protocol_attacks()):
            async for finding in attack:
                yield finding
        yield await self._hostile()

    # The webhook

    async def _webhook_attacks(self) -> AsyncIterator[Finding]:
        if not self._has_webhook:
            return
        unsigned, stranger = replace(self._identity, token=None), replace(self._identity, token=STRANGER)
        yield await self._judge_post("webhook without a signature", unsigned)
        yield await self._judge_post("webhook signed by a stranger", stranger)
        if self._identity.token is None:
            for attack in (
                "webhook signed for another scheme",
                "webhook signed for another port",
                "webhook with a replayed signature on another body",
            ):
                yield Finding(attack, "left_out", "needs the account's token")
            return
        yield await self._judge_post(
            "webhook signed for another scheme", self._identity, signed_url=_other_scheme(self._url)
        )
        yield await self._judge_post(
            "webhook signed for another port", self._identity, signed_url=_other_port(self._url)
        )
        yield await self._judge_post("webhook with a replayed signature on another body", self._identity, changed=True)

    async def _judge_post(
        self, attack: str, identity: CallIdentity, *, signed_url: str | None = None, changed: bool = False
    ) -> Finding:
        try:
            status, _ = await self._post(identity, signed_url=signed_url, changed=changed)
        except AgentCrashedError as error:
            return Finding(attack, "broke", str(error))
        except CallError as error:
            return Finding(attack, "refused", str(error))
        verdict: Verdict = "refused" if 400 <= status < 500 else "broke" if status >= 500 else "tolerated"
        return Finding(attack, verdict, f"HTTP {status}")

    async def _post(
        self, identity: CallIdentity, *, signed_url: str | None = None, changed: bool = False
    ) -> tuple[int, bytes]:
        form = identity.form("ringing")
        headers = [WEBHOOK_AGENT, FORM_TYPE, *identity.signature(signed_url or self._url, form)]
        sent = {**form, "From": "+15550100666"} if changed else form
        door = make_door(self._url, self._app)
        try:
            answer = await door.request("POST", self._url, headers, urlencode(sent).encode("ascii"))
        finally:
            await door.close()
        return answer.status, answer.body

    # The stream

    async def _stream_attacks(self) -> AsyncIterator[Finding]:
        yield await self._try("stream without a signature", replace(self._identity, token=None))
        yield await self._try("stream signed by a stranger", replace(self._identity, token=STRANGER))
        if self._identity.token is not None:
            yield await self._try(
                "stream signed for another URL", self._identity, signed_url=_other_port(self.stream.url)
            )
        forged = replace(self._identity, call="CA" + "f" * 32)
        yield await self._try("stream of a call that was never announced", forged)

    async def _try(self, attack: str, identity: CallIdentity, *, signed_url: str | None = None) -> Finding:
        def act(line: _Line) -> None:
            line.open()
            for frame in range(10):
                line.send(line.end.media(FRAME, 20 * frame))

        return await self._judge_stream(attack, act, identity, signed_url=signed_url)

    async def _protocol_attacks(self) -> AsyncIterator[Finding]:
        def second_start(line: _Line) -> None:
            line.open()
            line.send(line.fresh_start())

        def media_first(line: _Line) -> None:
            line.send(line.end.connected())
            spare = line.spare()
            spare.connected()
            spare.start()
            line.send(spare.media(FRAME, 0))

        def oversized(line: _Line) -> None:
            line.open()
            line.send(line.end.media(b"\xff" * OVERSIZE, 0))

        yield await self._judge_stream("a second start", second_start, self._identity)
        yield await self._judge_stream("media before the start", media_first, self._identity)
        yield await self._judge_stream(f"a message of {OVERSIZE >> 20} MiB and more", oversized, self._identity)

    async def _hostile(self) -> Finding:
        broken = []
        attacks = hostile_inputs("carrier", "MZ" + "a" * 32)
        for attack in attacks:

            def act(line: _Line, messages: Sequence[str | bytes] = attack.messages) -> None:
                line.open("MZ" + "a" * 32)
                for message in messages:
                    line.send(message)

            finding = await self._judge_stream(attack.name, act, self._identity)
            if finding.verdict == "broke":
                broken.append(attack.name)
        what = f"{len(attacks)} malformed messages and floods"
        if broken:
            return Finding(what, "broke", f"on {len(broken)} of them: {', '.join(broken)}", wanted="tolerated")
        return Finding(what, "tolerated", "the agent survives all of them", wanted="tolerated")

    async def _judge_stream(
        self, attack: str, act: Callable[[_Line], None], identity: CallIdentity, *, signed_url: str | None = None
    ) -> Finding:
        try:
            async with _Line(self, identity, signed_url) as line:
                act(line)
                closed = await line.reaction(self._patience)
        except CallRejectedError as error:
            return Finding(attack, "refused", str(error))
        except CallError as error:
            return Finding(attack, "broke", str(error))
        if closed is None:
            return Finding(attack, "tolerated", "the stream stays open")
        broke = closed.error is not None or closed.code in (1006, 1011)
        return Finding(attack, "broke" if broke else "refused", str(closed.error or closed))

    @property
    def stream(self) -> Stream:
        """Where the stream is; the control has found it."""
        assert self._stream is not None
        return self._stream

    def door(self) -> Door:
        """Return a way to the agent for one attack."""
        return make_door(self._url, self._app)


class _Line:
    """One websocket of an attack, and how it ended."""

    def __init__(self, auditor: _Auditor, identity: CallIdentity, signed_url: str | None = None) -> None:
        self._auditor = auditor
        self._identity = identity
        self._signed_url = signed_url or auditor.stream.url
        self._door = auditor.door()
        self._closed: asyncio.Future[Closed] = asyncio.get_running_loop().create_future()
        self.end = self.spare()

    def spare(self, stream: str = "MZ" + "b" * 32) -> CarrierEnd:
        """Return another carrier's end for the same call."""
        parameters = self._auditor.stream.parameters
        return CarrierEnd(StreamDescription(stream, self._identity.call, self._identity.account, parameters=parameters))

    def fresh_start(self) -> str:
        """Return a start as if it were the first."""
        spare = self.spare()
        spare.connected()
        return spare.start()

    async def __aenter__(self) -> _Line:
        headers = [STREAM_AGENT, *self._identity.signature(self._signed_url)]
        try:
            self._socket = await self._door.open_stream(self._auditor.stream.url, headers, self)
        except BaseException:
            await self._door.close()
            raise
        return self

    async def __aexit__(self, *_exc_info: object) -> None:
        self._socket.close()
        await self._socket.wait_closed(1.0)
        await self._door.close()

    def open(self, stream: str | None = None) -> None:
        """Begin the stream as a carrier does."""
        if stream is not None:
            self.end = self.spare(stream)
        self.send(self.end.connected())
        self.send(self.end.start())

    def send(self, message: str | bytes) -> None:
        """Send anything."""
        self._socket.send(message)

    async def reaction(self, patience: float) -> Closed | None:
        """Wait whether the agent closes."""
        await asyncio.wait([self._closed], timeout=patience)
        return self._closed.result() if self._closed.done() else None

    def stream_message(self, _data: str | bytes, _at_ns: int) -> None:
        """Take no interest in what the agent says."""

    def stream_closed(self, closed: Closed) -> None:
        """Note how it ended."""
        if not self._closed.done():
            self._closed.set_result(closed)


def _other_scheme(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(scheme="http" if parts.scheme == "https" else "https"))


def _other_port(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=f"{parts.hostname}:4443"))
