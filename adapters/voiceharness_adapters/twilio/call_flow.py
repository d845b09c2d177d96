"""What the carrier does with an answered call: it follows the agent's TwiML, verb by verb.

The call counts as answered when something can be heard or said: at the first stream, prompt or pause. If its progress
is posted, it is answered before its first stream is opened, for that is when the carrier says so. It is over when
the document is, when a ``<Hangup>`` comes, or when the agent's stream broke.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from voiceharness.audio.chunk import AudioChunk
from voiceharness.audio.dtmf import generate
from voiceharness.audio.resample import resample
from voiceharness.audio.wav import read_wav
from voiceharness.errors import CallRejectedError, RemoteProtocolError
from voiceharness.events import RemoteHangup
from voiceharness.protocols.media_streams import twiml
from voiceharness.speech.engines import make_synthesizer
from voiceharness_adapters.twilio.carrier_call import joined
from voiceharness_adapters.twilio.carrier_stream import RATE

if TYPE_CHECKING:
    from voiceharness.speech.synthesis import Synthesizer
    from voiceharness_adapters.twilio.callbacks import CallProgress
    from voiceharness_adapters.twilio.carrier_call import CarrierCall

__all__ = ["CallFlow"]

MAX_DOCUMENTS: Final = 20
TONE_PAUSE: Final = 0.5


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
        self._documents = 0
        self.answered: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def run(self) -> None:
        """Ask the webhook and follow what it answers, to the end of the call."""
        try:
            await self._follow(self._url, "ringing")
            self._hang_up("the agent's document was over")
        except Exception as error:  # supervision point: whatever ends the flow ends the call, with its cause
            if not self.answered.done():
                self.answered.set_exception(error)
                self.answered.exception()  # connect may have been given up
            self._call.inbox.end(error)

    async def _follow(self, url: str, status: str = "in-progress", **fields: str) -> None:
        self._documents += 1
        if self._documents > MAX_DOCUMENTS:
            raise RemoteProtocolError(f"the agent's documents lead to each other without end; the last is {url}")
        verbs = await self._call.ask(url, status=status, **fields)
        if not verbs and not self.answered.done():
            raise CallRejectedError(f"the webhook {url} answered with an empty document: the call has nowhere to go")
        self._url = url
        for index, verb in enumerate(verbs):
            if await self._do(verb, last=index == len(verbs) - 1):
                return

    async def _do(self, verb: twiml.Verb, *, last: bool) -> bool:
        """Play one verb; True: what follows it in this document is not reached."""
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
                await self._follow(joined(self._url, url))
                return True
            case twiml.Hangup():
                self._hang_up("the agent's document hung up")
                return True
            case twiml.Reject(reason):
                raise CallRejectedError(f"the agent rejected the call: {reason}", reason=reason)
        return False

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

    async def _connect(self, verb: twiml.ConnectStream, *, last: bool) -> bool:
        await self._call.connect_stream(self._absolute(verb.stream))
        opened = self._call.stream
        started_ns = opened.started_ns if opened is not None else self._call.clock.now_ns()
        self._answer()
        closed = await self._call.stream_over()
        if closed.clean and verb.action:
            await self._follow(joined(self._url, verb.action))
            return True
        if last or not closed.clean:
            self._call.hung_up(closed, started_ns)
            return True
        return False

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
        for _ in range(verb.loop):
            self._call.play(audio)
            await self._call.clock.sleep(audio.duration)

    async def _audio(self, verb: twiml.Say | twiml.Play) -> AudioChunk:
        if isinstance(verb, twiml.Say):
            engine = make_synthesizer(self._synthesizer, rate=RATE)
            speech = await asyncio.to_thread(engine.synthesize, verb.text)
            return replace(speech.audio, position=None, item="TwiML <Say>", at_ns=None)
        if verb.digits:
            return _tones(verb.digits)
        recording = read_wav(await self._call.fetch(joined(self._url, verb.url)))
        samples = resample(recording.samples, recording.rate, RATE)
        return AudioChunk.from_samples(samples, RATE, item="TwiML <Play>")

    async def _gather(self, verb: twiml.Gather) -> bool:
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
        if not digits:
            return False
        await self._follow(joined(self._url, verb.action), Digits=digits)
        return True

    async def _prompts(self, prompts: tuple[twiml.Say | twiml.Play | twiml.Pause, ...]) -> None:
        for prompt in prompts:
            await self._prompt(prompt)

    async def _keys(self, verb: twiml.Gather, keys: asyncio.Queue[str], prompts: asyncio.Task[None]) -> str:
        """Return the keys that were pressed until the last one was due; the first may wait for the prompts' end."""
        digits = ""
        while not verb.digits or len(digits) < verb.digits:
            key = asyncio.ensure_future(keys.get())
            if not digits:
                await asyncio.wait([key, prompts], return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait([key], timeout=verb.timeout)
            if not key.done():
                key.cancel()
                break
            if key.result() == verb.finish_on_key:
                break
            digits += key.result()
        return digits


def _tones(digits: str) -> AudioChunk:
    parts = [np.zeros(round(TONE_PAUSE * RATE), np.int16) if key in "wW" else generate(key, RATE) for key in digits]
    return AudioChunk.from_samples(np.concatenate(parts), RATE, item="TwiML <Play>")
