"""The transcriber beside a call in real time: the engine runs in a process of its own.

An engine holds its thread for up to a few hundred milliseconds, native code and interpreter alike, and a frame is due
every 20 ms; so it gets another process. Theory of operation:

* ``open`` starts the child (:mod:`~voiceharness.speech.worker_process`) and returns when its engine is loaded.
* Requests go to its standard input as :mod:`~voiceharness.speech.wire` frames, answers come back as lines of JSON, in
  order. ``feed`` only writes.
* The child ends when its input does: at ``close``, and also when this process dies without one. It is in a session of
  its own, so an interrupt from the keyboard reaches it only through us.
* When it ends unasked, everything that waits, and every later call, raises SpeechError with its last words.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voiceharness.errors import SpeechError
from voiceharness.speech.wire import Request, decode_transcript, decode_update, encode_request

if TYPE_CHECKING:
    from collections.abc import Callable

    from voiceharness.audio.chunk import AudioChunk
    from voiceharness.speech.transcription import Transcript, TranscriptUpdate

__all__ = ["WorkerTranscriber"]

_LONGEST_LINE = 1 << 24
_LAST_WORDS = 2
_log = logging.getLogger(__name__)


class WorkerTranscriber:
    """Run the engine of a name in a child process; it must be found by name there too.

    ``on_update`` is called on the event loop.
    """

    def __init__(
        self,
        engine: str,
        on_update: Callable[[TranscriptUpdate], None],
        *,
        start_timeout: float = 60.0,
        stop_timeout: float = 5.0,
    ) -> None:
        """Timeouts are in seconds; a child that outlives ``stop_timeout`` is killed."""
        self._engine = engine
        self._on_update = on_update
        self._start_timeout = start_timeout
        self._stop_timeout = stop_timeout
        self._process: asyncio.subprocess.Process | None = None
        self._listener: asyncio.Task[None] | None = None
        self._waiting: dict[int, asyncio.Future[Transcript]] = {}
        self._ready: asyncio.Future[None] | None = None
        self._failure: SpeechError | None = None
        self._requests = 0

    @property
    def pid(self) -> int | None:
        """The child's process number, while it is open."""
        return self._process.pid if self._process else None

    async def open(self) -> None:
        """Start the child and wait until its engine is loaded.

        Raises:
            SpeechError: it did not start, or not in time.
        """
        self._ready = asyncio.get_running_loop().create_future()
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "voiceharness.speech.worker_process", self._engine),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=_LONGEST_LINE,
            env=_environment(),
            start_new_session=True,
        )
        self._listener = asyncio.create_task(self._listen(self._process))
        self._listener.add_done_callback(self._bury)
        try:
            async with asyncio.timeout(self._start_timeout):
                await self._ready
        except TimeoutError as error:
            await self.close()
            raise SpeechError(f"the {self._engine} transcriber was not ready in {self._start_timeout:g} s") from error
        except BaseException:
            await self.close()
            raise

    def feed(self, chunk: AudioChunk) -> None:
        """Send audio of the utterance; never waits.

        Raises:
            SpeechError: the child has ended.
        """
        self._send("feed", chunk)

    async def finish(self) -> Transcript:
        """End the utterance and return its text; the final update comes first.

        Raises:
            SpeechError: the child has ended.
        """
        return await self._ask("finish", None)

    async def transcribe(self, audio: AudioChunk) -> Transcript:
        """Return what is said in a finished piece of audio.

        Raises:
            SpeechError: the child has ended.
        """
        return await self._ask("transcribe", audio)

    async def close(self) -> None:
        """End the child's input, wait for its end, kill it when that takes too long; idempotent."""
        process, self._process = self._process, None
        if process is None or process.stdin is None or self._listener is None:
            return
        self._failure = self._failure or SpeechError(f"the {self._engine} transcriber is closed")
        process.stdin.close()
        try:
            async with asyncio.timeout(self._stop_timeout):
                await process.wait()
        except TimeoutError:
            _log.warning("the %s transcriber did not end in %g s and is killed", self._engine, self._stop_timeout)
        finally:
            if process.returncode is None:
                process.kill()
            await asyncio.gather(self._listener, return_exceptions=True)

    def _send(self, kind: str, audio: AudioChunk | None) -> int:
        if self._failure is not None:
            raise self._failure
        if self._process is None or self._process.stdin is None:
            raise SpeechError(f"the {self._engine} transcriber is not open; await open() first")
        self._requests += 1
        self._process.stdin.write(encode_request(Request(kind, self._requests, audio)))
        return self._requests

    async def _ask(self, kind: str, audio: AudioChunk | None) -> Transcript:
        number = self._send(kind, audio)
        answer: asyncio.Future[Transcript] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            return await answer
        finally:
            self._waiting.pop(number, None)

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        """Take answers until the child ends, then raise with its last words."""
        assert process.stdout is not None
        assert process.stderr is not None
        errors = asyncio.create_task(_last_lines(process.stderr))
        try:
            async for line in process.stdout:
                self._take(json.loads(line))
            code = await process.wait()
            raise SpeechError(f"the {self._engine} transcriber ended with exit code {code}: {await errors}")
        finally:
            errors.cancel()

    def _take(self, answer: dict[str, Any]) -> None:  # Any: what JSON can hold
        match answer["kind"]:
            case "ready":
                if self._ready is not None and not self._ready.done():
                    self._ready.set_result(None)
            case "update":
                self._on_update(decode_update(answer["update"]))
            case "done":
                waiting = self._waiting.get(answer["number"])
                if waiting is not None and not waiting.done():
                    waiting.set_result(decode_transcript(answer["transcript"]))

    def _bury(self, listener: asyncio.Task[None]) -> None:
        """Fail everything that waits; called when the child, or the listening to it, has ended."""
        error = None if listener.cancelled() else listener.exception()
        if self._failure is None:
            self._failure = (
                error if isinstance(error, SpeechError) else SpeechError(f"transcription stopped: {error!r}")
            )
            self._failure.__cause__ = None if error is self._failure else error
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(self._failure)
        if self._ready is not None and not self._ready.done():
            self._ready.set_exception(self._failure)


async def _last_lines(stream: asyncio.StreamReader) -> str:
    """Read all of a stream and return its last lines."""
    lines = deque([line async for line in stream], _LAST_WORDS)
    return b" | ".join(line.strip() for line in lines).decode(errors="replace") or "it said nothing"


def _environment() -> dict[str, str]:
    """The environment of this process, with this very package first on the child's path."""
    package_root = str(Path(__file__).parents[2])
    known = os.environ.get("PYTHONPATH")
    return os.environ | {"PYTHONPATH": os.pathsep.join([package_root, known] if known else [package_root])}
