"""Attack an agent as a stranger would who knows its address, and say what it refuses.

Theory of operation. First a proper call (the *control*): an agent that refuses that one cannot be audited. Then one
attack after another, each on connections of its own, each wrong in exactly one point. An agent *refuses* an attack
when it answers the webhook with 4xx, rejects the upgrade, or closes the stream; it *tolerates* one that it serves as if
nothing were wrong, and *breaks* on one that its code does not survive. Who has the account's token can sign, so signed
attacks need it; without it they are left out.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode, urlsplit, urlunsplit

from voiceharness.audit import Audit, AuditReport, Finding
from voiceharness.errors import AgentCrashedError, CallError, CallRejectedError, OptionError, RemoteProtocolError
from voiceharness.protocols.media_streams.hostile import hostile_inputs
from voiceharness.protocols.media_streams.machine import CarrierEnd
from voiceharness.protocols.media_streams.messages import StreamDescription
from voiceharness.protocols.media_streams.twiml import ConnectStream, Stream
from voiceharness_adapters.twilio.agent_server import AgentServer
from voiceharness_adapters.twilio.doors import make_door
from voiceharness_adapters.twilio.identity import FORM_TYPE, STREAM_AGENT, WEBHOOK_AGENT, CallIdentity
from voiceharness_adapters.twilio.urls import WEBHOOK_SCHEMES, why_no_url

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from voiceharness.audit import Verdict
    from voiceharness_adapters.twilio.agent_server import Document
    from voiceharness_adapters.twilio.door import Closed, Door

__all__ = ["AUDIT", "CHECKS", "audit"]

FRAME: Final = b"\xff" * 160
OVERSIZE: Final = 2 << 20
STRANGER: Final = "stranger's token"


CHECKS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "unsigned_request": "webhook without a signature",
        "strangers_request": "webhook signed by a stranger",
        "other_scheme": "webhook signed for another scheme",
        "other_port": "webhook signed for another port",
        "replayed_request": "webhook with a replayed signature on another body",
        "unsigned_stream": "stream without a signature",
        "strangers_stream": "stream signed by a stranger",
        "other_stream": "stream signed for another URL",
        "forged_call": "stream of a call that was never announced",
        "second_start": "a second start",
        "media_before_start": "media before the start",
        "oversized_message": f"a message of {OVERSIZE >> 20} MiB and more",
        "malformed_messages": "malformed messages and floods",
    }
)
"""The attacks by their names, in their order."""

OF_WEBHOOKS: Final = frozenset(
    {"unsigned_request", "strangers_request", "other_scheme", "other_port", "replayed_request"}
)
NEED_THE_TOKEN: Final = frozenset({"other_scheme", "other_port", "replayed_request", "other_stream"})


async def audit(
    url: str,
    *,
    app: Callable[..., object] | None = None,
    token: str | None = None,
    patience: float = 1.0,
    only: frozenset[str] | None = None,
) -> AuditReport:
    """Audit the agent behind a voice webhook or a stream.

    ``app`` answers the URL in this process, as in the adapter. ``patience``: seconds to wait for the agent's reaction.
    ``only``: the names of the attacks to make (None: all).

    Raises:
        OptionError: if nobody can be reached at such a URL.
        CallError: if the agent cannot be reached, or refuses the proper call.
        RemoteProtocolError: if its webhook's answer is not TwiML.
    """
    if wrong := why_no_url(url):
        raise OptionError(f"the URL to audit {wrong}")
    auditor = _Auditor(url, app, token, patience)
    await auditor.control()
    chosen = [check for check in CHECKS if only is None or check in only]
    findings = [await auditor.finding(check) for check in chosen if auditor.has(check)]
    return AuditReport(url, tuple(findings))


AUDIT: Final = Audit(CHECKS, audit)


class _Auditor:
    def __init__(self, url: str, app: Callable[..., object] | None, token: str | None, patience: float) -> None:
        self._url = url
        self._app = app
        self._identity = CallIdentity("+15550100001", "+15550100002", token)
        self._patience = patience
        self._stream: Stream | None = None if urlsplit(url).scheme in WEBHOOK_SCHEMES else Stream(url)
        self._has_webhook = self._stream is None

    async def control(self) -> None:
        """Make one proper call, and learn where the stream is."""
        if self._has_webhook:
            document = await self._document()
            self._url = document.url  # where the attacks go: a redirect that answers them refuses nothing
            streams = [verb.stream for verb in document.verbs if isinstance(verb, ConnectStream)]
            if not streams:
                raise RemoteProtocolError(f"{self._url} answers a proper call without <Connect><Stream>")
            self._stream = streams[0]
        async with _Line(self, self._identity) as line:
            line.open()
            line.send(line.end.media(FRAME, 0))

    def has(self, check: str) -> bool:
        """Say whether the agent's address has what a check attacks."""
        return self._has_webhook or check not in OF_WEBHOOKS

    async def finding(self, check: str) -> Finding:
        """Make one attack."""
        if check in NEED_THE_TOKEN and self._identity.token is None:
            return Finding(check, CHECKS[check], "left_out", "needs the account's token")
        return await self._attacks()[check](check)

    def _attacks(self) -> Mapping[str, Callable[[str], Awaitable[Finding]]]:
        proper = self._identity
        unsigned, stranger = replace(proper, token=None), replace(proper, token=STRANGER)
        scheme, port = _other_scheme(self._url), _other_port(self._url)
        return {
            "unsigned_request": lambda check: self._judge_post(check, unsigned),
            "strangers_request": lambda check: self._judge_post(check, stranger),
            "other_scheme": lambda check: self._judge_post(check, proper, signed_url=scheme),
            "other_port": lambda check: self._judge_post(check, proper, signed_url=port),
            "replayed_request": lambda check: self._judge_post(check, proper, changed=True),
            "unsigned_stream": lambda check: self._try(check, unsigned),
            "strangers_stream": lambda check: self._try(check, stranger),
            "other_stream": lambda check: self._try(check, proper, signed_url=_other_port(self.stream.url)),
            "forged_call": self._forge,
            "second_start": lambda check: self._judge_stream(check, _second_start, proper),
            "media_before_start": lambda check: self._judge_stream(check, _media_first, proper),
            "oversized_message": lambda check: self._judge_stream(check, _oversized, proper),
            "malformed_messages": self._hostile,
        }

    # The webhook

    async def _judge_post(
        self, check: str, identity: CallIdentity, *, signed_url: str | None = None, changed: bool = False
    ) -> Finding:
        attack = CHECKS[check]
        try:
            status = await self._post(identity, signed_url=signed_url, changed=changed)
        except AgentCrashedError as error:
            return Finding(check, attack, "broke", str(error))
        except CallError as error:
            return Finding(check, attack, "refused", str(error))
        verdict: Verdict = "refused" if 400 <= status < 500 else "broke" if status >= 500 else "tolerated"
        return Finding(check, attack, verdict, f"HTTP {status}")

    async def _document(self) -> Document:
        door = make_door(self._url, self._app)
        try:
            return await AgentServer(door, self._identity).document(self._url, "ringing")
        except CallRejectedError as error:
            raise CallRejectedError(f"a proper call is refused: {error}", code=error.code) from error
        finally:
            await door.close()

    async def _post(self, identity: CallIdentity, *, signed_url: str | None = None, changed: bool = False) -> int:
        form = identity.form("ringing")
        headers = [WEBHOOK_AGENT, FORM_TYPE, *identity.signature(signed_url or self._url, form)]
        sent = {**form, "From": "+15550100666"} if changed else form
        door = make_door(self._url, self._app)
        try:
            answer = await door.request("POST", self._url, headers, urlencode(sent).encode("ascii"))
        finally:
            await door.close()
        return answer.status

    # The stream

    async def _forge(self, check: str) -> Finding:
        if not self._has_webhook:
            return Finding(check, CHECKS[check], "left_out", "a stream alone has no webhook that announces its calls")
        return await self._try(check, replace(self._identity, call="CA" + "f" * 32))

    async def _try(self, check: str, identity: CallIdentity, *, signed_url: str | None = None) -> Finding:
        def act(line: _Line) -> None:
            line.open()
            for frame in range(10):
                line.send(line.end.media(FRAME, 20 * frame))

        return await self._judge_stream(check, act, identity, signed_url=signed_url)

    async def _hostile(self, check: str) -> Finding:
        broken = []
        attacks = hostile_inputs("carrier", "MZ" + "a" * 32)
        for attack in attacks:

            def act(line: _Line, messages: Sequence[str | bytes] = attack.messages) -> None:
                line.open("MZ" + "a" * 32)
                for message in messages:
                    line.send(message)

            finding = await self._judge_stream(check, act, self._identity)
            if finding.verdict == "broke":
                broken.append(attack.name)
        what = f"{len(attacks)} {CHECKS[check]}"
        if broken:
            return Finding(check, what, "broke", f"on {len(broken)} of them: {', '.join(broken)}", wanted="tolerated")
        return Finding(check, what, "tolerated", "the agent survives all of them", wanted="tolerated")

    async def _judge_stream(
        self, check: str, act: Callable[[_Line], None], identity: CallIdentity, *, signed_url: str | None = None
    ) -> Finding:
        attack = CHECKS[check]
        try:
            async with _Line(self, identity, signed_url) as line:
                act(line)
                closed = await line.reaction(self._patience)
        except CallRejectedError as error:
            return Finding(check, attack, "refused", str(error))
        except CallError as error:
            return Finding(check, attack, "broke", str(error))
        if closed is None:
            return Finding(check, attack, "tolerated", "the stream stays open")
        broke = closed.error is not None or closed.code in (1006, 1011)
        return Finding(check, attack, "broke" if broke else "refused", str(closed.error or closed))

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


def _second_start(line: _Line) -> None:
    line.open()
    line.send(line.fresh_start())


def _media_first(line: _Line) -> None:
    line.send(line.end.connected())
    spare = line.spare()
    spare.connected()
    spare.start()
    line.send(spare.media(FRAME, 0))


def _oversized(line: _Line) -> None:
    line.open()
    line.send(line.end.media(b"\xff" * OVERSIZE, 0))


def _other_scheme(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(scheme="http" if parts.scheme == "https" else "https"))


def _other_port(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=f"{parts.hostname}:4443"))
