"""A pipecat agent on a Twilio stream: says back what it heard, and stops when it is talked over.

Its serializer, its websocket transport and its interruptions are pipecat's own; only the answer is ours. Run by the
Python of an environment that has pipecat; prints the port it listens on.
"""

import asyncio
import socket
import sys

import numpy as np
import uvicorn
from fastapi import FastAPI, WebSocket
from loguru import logger
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    Frame,
    InputAudioRawFrame,
    TTSAudioRawFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.serializers.twilio import TwilioFrameSerializer
from pipecat.transports.websocket.fastapi import FastAPIWebsocketParams, FastAPIWebsocketTransport
from pipecat.workers.runner import WorkerRunner

logger.disable("pipecat")

LOUD = 300
PAUSE = 0.4

app = FastAPI()


class SayBack(FrameProcessor):  # type: ignore[misc] # pipecat lives in another environment
    """Keeps what the user says, and says it once the user has paused."""

    def __init__(self) -> None:
        super().__init__()
        self.heard = bytearray()
        self.quiet = 0.0
        self.speaking = False

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, BotStartedSpeakingFrame | BotStoppedSpeakingFrame):
            self.speaking = isinstance(frame, BotStartedSpeakingFrame)
        if isinstance(frame, InputAudioRawFrame):
            await self.hear(frame)
        else:
            await self.push_frame(frame, direction)

    async def hear(self, frame: InputAudioRawFrame) -> None:
        samples = np.frombuffer(frame.audio, np.int16).astype(float)
        if np.sqrt(np.mean(np.square(samples))) > LOUD:
            if not self.heard and self.speaking:
                await self.broadcast_interruption()
            self.heard += frame.audio
            self.quiet = 0.0
        elif self.heard:
            self.quiet += len(samples) / frame.sample_rate
            if self.quiet >= PAUSE:
                audio, self.heard = bytes(self.heard), bytearray()
                await self.push_frame(TTSAudioRawFrame(audio, frame.sample_rate, 1))


@app.websocket("/media")
async def media(websocket: WebSocket) -> None:
    await websocket.accept()
    messages = websocket.iter_json()
    await anext(messages)
    start = (await anext(messages))["start"]
    serializer = TwilioFrameSerializer(start["streamSid"], params=TwilioFrameSerializer.InputParams(auto_hang_up=False))
    transport = FastAPIWebsocketTransport(
        websocket,
        FastAPIWebsocketParams(audio_in_enabled=True, audio_out_enabled=True, serializer=serializer),
    )
    worker = PipelineWorker(
        Pipeline([transport.input(), SayBack(), transport.output()]),
        params=PipelineParams(audio_in_sample_rate=8000, audio_out_sample_rate=8000),
    )

    @transport.event_handler("on_client_disconnected")  # type: ignore[untyped-decorator] # as above
    async def gone(_transport: object, _client: object) -> None:
        await worker.cancel()

    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    await runner.run()


async def main() -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    sys.stdout.write(f"{listening.getsockname()[1]}\n")
    sys.stdout.flush()
    await uvicorn.Server(uvicorn.Config(app, log_level="warning")).serve([listening])


asyncio.run(main())
