"""A SIP account that outlives calls: its address, its registration, and as many workers as its calls need.

The first worker listens and registers; calls from outside arrive there, as many at once as it can carry. Calls that are
dialled go to the worker with the most room, and a new worker is started when none has any. When the first one dies, who
waits for a call is told; the next one who waits, or dials, has a new one at the same port, registered as before.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections import deque
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from voiceharness.adapter import Endpoint, InboundCall
from voiceharness.errors import CallDroppedError, CallRejectedError, ConnectError, OptionError
from voiceharness_adapters.sip.call import SipCall
from voiceharness_adapters.sip.certificates import check_certificates
from voiceharness_adapters.sip.nonce import NONCE_HEADER
from voiceharness_adapters.sip.settings import SipSettings
from voiceharness_adapters.sip.worker import SipWorker

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence

    from voiceharness_adapters.sip.worker import Event

__all__ = ["SipEndpoint", "SipMessage"]

REGISTRATION_TIMEOUT: Final = 10.0
_KEPT_MESSAGES: Final = 2000
_USER: Final = re.compile(r"sips?:(?:([^@;>]+)@)?")
_CALL_ID: Final = re.compile(r"(?im)^(?:Call-ID|i)\s*:\s*(\S+)")
_ANSWER: Final = re.compile(r"SIP/2\.0 ([1-6]\d\d) ?([^\n]*)")
_INVITE: Final = re.compile(r"(?im)^CSeq\s*:\s*(\d+)\s+INVITE")
_IN_DIALOG: Final = re.compile(r"(?im)^(?:To|t)\s*:[^\r\n]*;\s*tag\s*=")

T = TypeVar("T")

logger = logging.getLogger(__name__)


class SipMessage(NamedTuple):
    """A SIP message as it was on the wire, without credentials: when, which way, with whom."""

    at_ns: int
    way: str
    peer: str
    text: str

    @property
    def call_id(self) -> str:
        """The Call-ID it carries."""
        found = _CALL_ID.search(self.text)
        return found[1] if found else ""


class SipEndpoint(Endpoint):
    """A SIP user agent for many calls, in both directions. ``workers`` bounds how many processes it may start.

    ``version`` is the SIP library and its version, known once the endpoint was opened.
    """

    def __init__(self, settings: SipSettings | None = None, *, workers: int = 32) -> None:
        super().__init__()
        if workers < 1:
            raise OptionError(f"sip: an endpoint needs at least one worker, not {workers}")
        self.settings = settings or SipSettings()
        self.max_workers = workers
        self.version = ""
        self.messages: deque[SipMessage] = deque(maxlen=_KEPT_MESSAGES)
        self.log: deque[str] = deque(maxlen=_KEPT_MESSAGES)
        self._workers: list[SipWorker] = []
        self._listener: SipWorker | None = None
        self._growing = asyncio.Lock()
        self._news = asyncio.Event()
        self._registration: asyncio.Future[Event] | None = None
        self._unregistered = ""
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def address(self) -> str:
        """Where the endpoint is reached, as host:port."""
        return self._listener.address if self._listener else ""

    @property
    def uri(self) -> str:
        """The SIP address of the endpoint itself, whatever it is registered as."""
        suffix = "" if self.settings.transport == "udp" else f";transport={self.settings.transport}"
        return f"sip:{self.settings.user}@{self.address}{suffix}"

    @property
    def capacity(self) -> int:
        """How many calls a worker carries at once."""
        return self._workers[0].capacity if self._workers else 0

    @property
    def pids(self) -> tuple[int, ...]:
        """The process numbers of the workers that run."""
        return tuple(worker.pid for worker in self._workers if worker.pid is not None)

    async def open(self) -> None:
        """Start the first worker; register, if there is a registrar.

        Raises:
            OptionError: a certificate, or a key, cannot be used.
            ConnectError: the worker cannot be started, or the registrar does not answer.
            CallRejectedError: the registrar refuses, with its status.
        """
        if self._workers:
            return
        check_certificates(self.settings)
        if self.settings.transport == "tls" and self.settings.backend == "pjsua2":
            logger.warning("sip: pjsua2 brings an OpenSSL that is no longer maintained (TLS 1.2 at most)")
        try:
            await self._listen(self.settings)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Unregister and stop all workers."""
        workers, listener, self._listener = self._workers, self._listener, None
        if listener is not None and self.settings.registrar and listener.alive:
            try:
                await self._register(listener, active=False)
            except (ConnectError, CallRejectedError) as error:
                logger.warning("the endpoint could not unregister: %s", error)
        await asyncio.gather(*(worker.close() for worker in workers))
        self._workers = []
        for task in self._tasks:
            task.cancel()

    async def _listen(self, settings: SipSettings) -> None:
        """Start the worker that takes calls, and register."""
        self._listener = worker = await self._add_worker(settings)
        if settings.registrar:
            await self._register(worker, active=True)

    async def _add_worker(self, settings: SipSettings) -> SipWorker:
        worker = SipWorker(settings)
        worker.on_event = lambda event: self._take(worker, event)
        worker.on_death = lambda reason: self._lose(worker, reason)
        await worker.start()
        self.version = worker.version
        self._workers.append(worker)
        return worker

    async def _register(self, worker: SipWorker, *, active: bool) -> None:
        self._registration = asyncio.get_running_loop().create_future()
        await worker.ask("register", active=active)
        try:
            async with asyncio.timeout(REGISTRATION_TIMEOUT):
                told = await self._registration
        except TimeoutError as error:
            raise ConnectError(
                f"sip: the registrar {self.settings.registrar} did not answer in {REGISTRATION_TIMEOUT:g} s"
            ) from error
        if told["code"] // 100 != 2:
            raise CallRejectedError(
                f"sip: the registrar {self.settings.registrar} refused: {told['code']} {told['reason']}",
                code=told["code"],
                reason=told["reason"],
            )

    # Workers that die

    def _lose(self, worker: SipWorker, reason: str) -> None:
        """Tell those who wait for a call, or for the registrar, that nobody listens any more."""
        if worker is not self._listener:
            return
        logger.warning("sip: no calls can be taken: %s", reason)
        if self._registration is not None and not self._registration.done():
            self._registration.set_exception(ConnectError(f"sip: cannot register: {reason}"))
        for claim in self._claims:
            if not claim.future.done():
                claim.future.set_exception(CallDroppedError(f"sip: no calls can be taken: {reason}"))

    async def _replace_dead(self) -> None:
        """Put away workers that died; listen again where the one did that listened."""
        dead = [worker for worker in self._workers if not worker.alive]
        self._workers = [worker for worker in self._workers if worker.alive]
        await asyncio.gather(*(worker.close() for worker in dead))
        lost = self._listener
        if lost is None or lost.alive:
            return
        try:
            await self._listen(replace(self.settings, port=lost.port))
        except BaseException:
            if self._listener is not None:
                await self._listener.close()
            raise

    # Calls out

    async def new_call(self) -> SipCall:
        """Make a call to be dialled, on a worker with room for it.

        Raises:
            ConnectError: if no worker has room, or one that died cannot be replaced.
            CallRejectedError: the registrar refuses the one that takes its place.
        """
        async with self._growing:
            await self._replace_dead()
            return SipCall(await self._worker_with_room())

    async def dial(self, call: SipCall, target: str, headers: Mapping[str, str] | None = None) -> None:
        """Dial a SIP address.

        Raises:
            ConnectError: if the address cannot be used.
        """
        try:
            await call.dial(self._full(target), headers)
        except ConnectError:
            call.forget()
            raise

    async def _worker_with_room(self) -> SipWorker:
        best = min(self._workers, key=lambda worker: len(worker.calls) / max(1, worker.capacity), default=None)
        if best is not None and len(best.calls) < best.capacity:
            return best
        if len(self._workers) >= self.max_workers:
            raise ConnectError(f"sip: all {len(self._workers)} workers of the endpoint are busy")
        return await self._add_worker(replace(self.settings, port=0))

    def _full(self, target: str) -> str:
        """Return a target as a SIP address with the endpoint's transport."""
        uri = target if target.startswith(("sip:", "sips:")) else f"sip:{target}"
        if self.settings.transport != "udp" and "transport=" not in uri:
            uri = f"{uri};transport={self.settings.transport}"
        return uri

    # Calls in

    async def claim(self, *, timeout: float, nonce: str | None = None, identity: str | None = None) -> InboundCall:
        """Wait for the one inbound call that is meant for the asker.

        Raises:
            CallRejectedError: if it does not come within ``timeout`` seconds, or the endpoint is closed.
            CallDroppedError: if the worker that takes calls dies.
            ConnectError: if one that died cannot be replaced; or none comes and the registration was lost.
        """
        if self._listener is not None and not self._listener.alive:
            async with self._growing:
                await self._replace_dead()
        try:
            return await super().claim(timeout=timeout, nonce=nonce, identity=identity)
        except CallRejectedError as error:
            if not self._unregistered:
                raise
            raise ConnectError(f"sip: {error}: {self._unregistered}") from error

    def _take(self, worker: SipWorker, event: Event) -> None:
        match event["event"]:
            case "message":
                message = SipMessage(event["at_ns"], event["way"], event["peer"], event["text"])
                self.messages.append(message)
                self._news.set()
                self._news = asyncio.Event()
            case "log":
                self.log.append(event["text"])
            case "registration":
                self._take_registration(event)
            case "incoming":
                self._offer(SipCall(worker, event["call"]), event)

    def _take_registration(self, event: Event) -> None:
        """Tell who asked how the registration went; a refresh is asked for by nobody."""
        if self._registration is not None and not self._registration.done():
            self._registration.set_result(event)
            return
        self._unregistered = ""
        if event["code"] // 100 != 2:
            registrar, status = self.settings.registrar, f"{event['code']} {event['reason']}"
            self._unregistered = f"the registration at {registrar} was lost: {status}"
            logger.warning("sip: %s", self._unregistered)

    def _offer(self, call: SipCall, event: Event) -> None:
        """Hand a call to who waits for it, and let it ring; nobody: decline it."""
        found = _USER.search(event["dialled"])
        nonce = event["headers"].get(NONCE_HEADER.lower(), "")
        taken = self.offer(InboundCall(call, identity=(found[1] or "") if found else "", nonce=nonce))
        self._spawn(_ring(call) if taken else _decline(call))

    def decline(self, call: InboundCall) -> None:
        """Refuse a call whose taker is gone."""
        self._spawn(_decline(call.handle))

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def trace(self, call: SipCall) -> list[SipMessage]:
        """Return the SIP messages of a call, in order."""
        return [message for message in self.messages if message.call_id in call.sip_ids]

    async def seen(self, call: SipCall, find: Callable[[Sequence[SipMessage]], T | None]) -> T:
        """Return what is found in the messages of a call, as soon as they show it.

        Raises:
            ConnectError: the call ends first.
        """
        over = asyncio.ensure_future(call.over())
        try:
            while (found := find(self.trace(call))) is None:
                if over.done():
                    raise ConnectError("sip: the call ended before the peer answered")
                news = asyncio.ensure_future(self._news.wait())
                await asyncio.wait({news, over}, return_when="FIRST_COMPLETED")
                news.cancel()
            return found
        finally:
            over.cancel()

    def final_answer(self, call: SipCall) -> tuple[int, str] | None:
        """Return the status and reason with which the peer answered the INVITE that began the call.

        What it says to later offers does not count, nor does whom it refers the call to. None: it never answered, or it
        was the one that dialled.
        """
        finals = [(code, reason) for code, reason in self._answers(call) if code >= 200]
        return finals[-1] if finals else None

    def provisional_answers(self, call: SipCall) -> tuple[int, ...]:
        """Return the statuses that came before the final one, each once, but for 100, which is the next hop's."""
        return tuple(dict.fromkeys(code for code, _ in self._answers(call) if 100 < code < 200))

    def _answers(self, call: SipCall) -> list[tuple[int, str]]:
        """Return the peer's answers to the INVITE that began the call, and to the one that met its challenge."""
        asked: set[str] = set()
        given: list[tuple[int, str]] = []
        for message in self.trace(call):
            invite, answer = _INVITE.search(message.text), _ANSWER.match(message.text)
            if invite is None or message.call_id != call.sip_ids[0]:
                continue
            if message.way == "sent" and answer is None and not _IN_DIALOG.search(message.text):
                asked.add(invite[1])
            elif message.way == "received" and answer is not None and invite[1] in asked:
                given.append((int(answer[1]), answer[2].strip()))
        return given


async def _ring(call: SipCall) -> None:
    with suppress(ConnectError):  # it may have been answered, or given up, in the meantime
        await call.answer(180)


async def _decline(call: SipCall) -> None:
    logger.warning("sip: declined a call that nobody waited for")
    await call.hang_up(480)
