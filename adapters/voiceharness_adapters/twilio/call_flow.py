"""What the carrier does with an answered call: it follows the agent's TwiML, verb by verb.

The call counts as answered when something can be heard or said: at the first stream, prompt or pause. If its progress
is posted, it is answered before its first stream is opened, for that is when the carrier says so. It is over when
the document is, when a ``<Hangup>`` comes, or when the agent's stream broke.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from itertools import count
from typing import TYPE_CHECKING, Final

import numpy as np

from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.dtmf import generate
from voiceharness.audio.resample import resample
from voiceharness.audio.wav import read_wav
from voiceharness.clock import NS
from voiceharness.errors import (
    AudioError,
    CallRejectedError,
    RemoteProtocolError,
    ScenarioError,
    UnsupportedCapabilityError,
)
from voiceharness.events import RemoteHangup
from voiceharness.protocols.media_streams import twiml
from voiceharness.speech.engines import make_synthesizer
from voiceharness_adapters.twilio.agent_server import joined
from voiceharness_adapters.twilio.carrier_stream import RATE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from voiceharness.speech.synthesis import Synthesizer
    from voiceharness_adapters.twilio.callbacks import CallProgress
    from voiceharness_adapters.twilio.carrier_call import CarrierCall

__all__ = ["CallFlow"]

MAX_DOCUMENTS: Final = 20
"""In a row, each of which lingers less than LINGERS: they lead to each other without end."""

LINGERS: Final = 0.5
TONE_PAUSE: Final = 0.5


@dataclass(frozen=True, slots=True)
class _Document:
    """Where the call goes on, and what is told there."""

    url: str
    fields: Mapping[str, str] = field(default_factory=dict)


class _Then(Enum):
    """What comes after a verb, if it is not another document."""

    NEXT_VERB = auto()
    OVER = auto()


class CallFlow:
    """Follows documents on one call. ``synthesizer`` speaks ``<Say>``; None: the default engine.

    ``progress`` is posted to a status callback; None: there is none.
    """

    def __init__(
        self,
        call: CarrierCall,
        url: str,
        synthesizer: Synthesizer | str | None,
        progress: CallProgress | None = None,
    ) -> None:
        self._call = call
        self._progress = progress
        self._url = url
        self._synthesizer = synthesizer
        self.answered: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def run(self) -> None:
        """Ask the webhook and follow what it answers, to the end of the call."""
        try:
            await self._follow()
            self._hang_up("the agent's document was over")
        except Exception as error:  # supervision point: whatever ends the flow ends the call, with its cause
            if not self.answered.done():
                self.answered.set_exception(error)
                self.answered.exception()  # connect may have been given up
            self._call.inbox.end(error)

    async def _follow(self) -> None:
        """Play one document after the other, until none follows."""
        document: _Document | None = _Document(self._url)
        status, hasty = "ringing", 0
        while document is not None:
            if hasty == MAX_DOCUMENTS:
                raise RemoteProtocolError(
                    f"the agent's documents lead to each other without end; the last is {document.url}"
                )
            verbs = await self._read(document, status)
            began_ns = self._call.clock.now_ns()
            document = await self._play(verbs)
            lingered = (self._call.clock.now_ns() - began_ns) / NS >= LINGERS
            status, hasty = "in-progress", 0 if lingered else hasty + 1

    async def _read(self, document: _Document, status: str) -> tuple[twiml.Verb, ...]:
        found = await self._call.server.document(document.url, status, document.fields)
        if not found.verbs and not self.answered.done():
            raise CallRejectedError(
                f"the webhook {document.url} answered with an empty document: the call has nowhere to go"
            )
        self._url = found.url
        return found.verbs

    async def _play(self, verbs: tuple[twiml.Verb, ...]) -> _Document | None:
        for index, verb in enumerate(verbs):
            then = await self._do(verb, last=index == len(verbs) - 1)
            if isinstance(then, _Document):
                return then
            if then is _Then.OVER:
                return None
        return None

    async def _do(self, verb: twiml.Verb, *, last: bool) -> _Document | _Then:
        """Play one verb, and say what follows it."""
        match verb:
            case twiml.ConnectStream():
                if self._progress is not None:
                    self._answer()
                return await self._connect(verb, last=last)
            case twiml.StartStream(stream):
                await self._call.start_stream(self._absolute(stream))
            case twiml.Say() | twiml.Play() | twiml.Pause():
                await self._prompt(verb)
            case twiml.Gather():
                return await self._gather(verb)
            case twiml.Redirect(url):
                return _Document(joined(self._url, url))
            case twiml.Hangup():
                self._hang_up("the agent's document hung up")
                return _Then.OVER
            case twiml.Reject(reason):
                raise CallRejectedError(f"the agent rejected the call: {reason}", reason=reason)
        return _Then.NEXT_VERB

    def _answer(self) -> None:
        if not self.answered.done():
            self.answered.set_result(None)
            if self._progress is not None:
                self._progress.answered()

    def _hang_up(self, reason: str) -> None:
        if not self.answered.done():
            raise CallRejectedError(f"{reason} before anything could be heard")
        if not self._call.inbox.ended:
            self._call.inbox.put(RemoteHangup(reason, at_ns=self._call.clock.now_ns()))
            self._call.inbox.end()

    async def _connect(self, verb: twiml.ConnectStream, *, last: bool) -> _Document | _Then:
        await self._call.connect_stream(self._absolute(verb.stream))
        opened = self._call.stream
        started_ns = opened.started_ns if opened is not None else self._call.clock.now_ns()
        self._answer()
        closed = await self._call.stream_over()
        if closed.clean and verb.action:
            return _Document(joined(self._url, verb.action))
        if last or not closed.clean:
            self._call.hung_up(closed, started_ns)
            return _Then.OVER
        return _Then.NEXT_VERB

    def _absolute(self, stream: twiml.Stream) -> twiml.Stream:
        """Return a stream whose status callback, if any, is a whole URL."""
        callback = stream.status_callback
        return replace(stream, status_callback=joined(self._url, callback)) if callback else stream

    # Prompts

    async def _prompt(self, verb: twiml.Say | twiml.Play | twiml.Pause) -> None:
        """Let the user hear a prompt, and wait until it has been played."""
        if isinstance(verb, twiml.Pause):
            self._answer()
            await self._call.clock.sleep(verb.length)
            return
        audio = await self._audio(verb)
        self._answer()
        if audio is None:
            return
        for _ in range(verb.loop) if verb.loop else count():
            self._call.play(audio)
            await self._call.clock.sleep(audio.duration)

    async def _audio(self, verb: twiml.Say | twiml.Play) -> AudioChunk | None:
        """Return what is heard of a prompt; None: nothing."""
        if isinstance(verb, twiml.Say):
            return await self._spoken(verb.text)
        if verb.digits:
            return _tones(verb.digits)
        return await self._recording(joined(self._url, verb.url))

    async def _spoken(self, text: str) -> AudioChunk | None:
        engine = make_synthesizer(self._synthesizer, rate=RATE)
        try:
            speech = await asyncio.to_thread(engine.synthesize, text)
        except ScenarioError:  # no word in it: a carrier says nothing, and goes on
            return None
        return replace(speech.audio, position=None, item="TwiML <Say>", at_ns=None)

    async def _recording(self, url: str) -> AudioChunk | None:
        """Get a file.

        Raises:
            UnsupportedCapabilityError: if it is of a kind that is not played here.
            RemoteProtocolError: if it is not what it says it is.
        """
        answer = await self._call.server.file(url)
        try:
            recording = read_wav(answer.body)
        except AudioError as error:
            if answer.media_type.startswith("audio/") and "wav" not in answer.media_type:
                capability = f"TwiML <Play> of {answer.media_type}"
                raise UnsupportedCapabilityError(
                    adapter="twilio", capability=capability, alternative="serve a WAV file"
                ) from error
            raise RemoteProtocolError(f"the file {url} cannot be played: {error}") from error
        samples = resample(recording.samples, recording.rate, RATE)
        return AudioChunk.from_samples(samples, RATE, item="TwiML <Play>") if len(samples) else None

    async def _gather(self, verb: twiml.Gather) -> _Document | _Then:
        """Collect keys; with any, go on at the action; without, go on in this document."""
        keys: asyncio.Queue[str] = asyncio.Queue()
        self._call.digits = keys
        prompts = asyncio.create_task(self._prompts(verb.prompts), name="TwiML <Gather> prompts")
        self._answer()
        try:
            digits = await self._keys(verb, keys, prompts)
        finally:
            self._call.digits = None
            prompts.cancel()
        return _Document(joined(self._url, verb.action), {"Digits": digits}) if digits else _Then.NEXT_VERB

    async def _prompts(self, prompts: tuple[twiml.Say | twiml.Play | twiml.Pause, ...]) -> None:
        for prompt in prompts:
            await self._prompt(prompt)

    async def _keys(self, verb: twiml.Gather, keys: asyncio.Queue[str], prompts: asyncio.Task[None]) -> str:
        """Return the keys that were pressed until the last one was due.

        The first may wait for the prompts' end, and stops them.
        """
        digits = await self._first_key(verb, keys, prompts)
        if digits == verb.finish_on_key:
            return ""
        while digits and (not verb.digits or len(digits) < verb.digits):
            key = await _within(verb.timeout, keys)
            if key is None or key == verb.finish_on_key:
                break
            digits += key
        return digits

    async def _first_key(self, verb: twiml.Gather, keys: asyncio.Queue[str], prompts: asyncio.Task[None]) -> str:
        first = asyncio.create_task(keys.get(), name="TwiML <Gather> first key")
        try:
            await asyncio.wait([first, prompts], return_when=asyncio.FIRST_COMPLETED)
            if prompts.done():
                prompts.result()  # what broke one of them breaks the call
            if not first.done():
                await asyncio.wait([first], timeout=verb.timeout)
            elif prompts.cancel():
                self._call.stop_playing()
            return first.result() if first.done() else ""
        finally:
            first.cancel()


async def _within(timeout: float, keys: asyncio.Queue[str]) -> str | None:
    """Return the next key, or None if none is pressed in time."""
    try:
        async with asyncio.timeout(timeout):
            return await keys.get()
    except TimeoutError:
        return None


def _tones(digits: str) -> AudioChunk:
    parts = [np.zeros(round(TONE_PAUSE * RATE), np.int16) if key in "wW" else generate(key, RATE) for key in digits]
    return AudioChunk.from_samples(np.concatenate(parts), RATE, item="TwiML <Play>")
