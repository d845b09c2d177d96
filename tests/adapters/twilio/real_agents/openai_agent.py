"""An openai-agents realtime agent on a Twilio stream: a plain bridge between the stream and the SDK's session.

The session, its websocket model and its playback tracker are the SDK's own; the provider's address is the first
argument. Run by the Python of an environment that has the SDK; prints the port it listens on.
"""

import asyncio
import base64
import socket
import sys
from typing import Any

import uvicorn
from agents.realtime import RealtimeAgent, RealtimePlaybackTracker, RealtimeRunner
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket

PROVIDER = sys.argv[1]
FORMATS = {"input_audio_format": "g711_ulaw", "output_audio_format": "g711_ulaw"}


async def media(websocket: WebSocket) -> None:
    await websocket.accept()
    tracker = RealtimePlaybackTracker()
    runner = RealtimeRunner(RealtimeAgent(name="desk", instructions="Help."), config={"tracing_disabled": True})
    config: Any = {
        "api_key": "not-a-key",
        "url": f"{PROVIDER}?model=gpt-realtime",
        "playback_tracker": tracker,
        "initial_model_settings": FORMATS,
    }
    session = await runner.run(model_config=config)
    marks: dict[str, tuple[str, int, bytes]] = {}
    stream: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def to_the_user() -> None:
        sid = await stream
        async for event in session:
            if event.type == "audio":
                name = str(len(marks))
                marks[name] = (event.audio.item_id, event.audio.content_index, event.audio.data)
                payload = base64.b64encode(event.audio.data).decode()
                await websocket.send_json({"event": "media", "streamSid": sid, "media": {"payload": payload}})
                await websocket.send_json({"event": "mark", "streamSid": sid, "mark": {"name": name}})
            elif event.type == "audio_interrupted":
                await websocket.send_json({"event": "clear", "streamSid": sid})

    async with session:
        sending = asyncio.create_task(to_the_user())
        async for message in websocket.iter_json():
            if message["event"] == "start":
                stream.set_result(message["start"]["streamSid"])
            elif message["event"] == "media":
                await session.send_audio(base64.b64decode(message["media"]["payload"]))
            elif message["event"] == "mark":
                item, index, audio = marks[message["mark"]["name"]]
                tracker.on_play_bytes(item, index, audio)
            elif message["event"] == "stop":
                break
        sending.cancel()


async def main() -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    sys.stdout.write(f"{listening.getsockname()[1]}\n")
    sys.stdout.flush()
    app = Starlette(routes=[WebSocketRoute("/media", media)])
    await uvicorn.Server(uvicorn.Config(app, log_level="warning")).serve([listening])


asyncio.run(main())
