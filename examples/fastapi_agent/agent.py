"""A voice agent on a Twilio Media Stream: says back what it heard, and stops when it is talked over."""

import base64

from fastapi import FastAPI, Request, Response, WebSocket

app = FastAPI()


@app.post("/voice")
async def voice(request: Request) -> Response:
    scheme = "wss" if request.url.scheme == "https" else "ws"
    stream = f'<Stream url="{scheme}://{request.url.netloc}/media"/>'
    return Response(f"<Response><Connect>{stream}</Connect></Response>", media_type="text/xml")


@app.websocket("/media")
async def media(socket: WebSocket) -> None:
    await socket.accept()
    heard, quiet = b"", 0
    async for message in socket.iter_json():
        if message["event"] != "media":
            continue
        frame = base64.b64decode(message["media"]["payload"])
        stream = {"streamSid": message["streamSid"]}
        if frame.strip(b"\xff"):
            if not heard:
                await socket.send_json({"event": "clear", **stream})
            heard, quiet = heard + frame, 0
        elif heard and (quiet := quiet + 1) == 25:  # half a second of silence
            payload = base64.b64encode(heard).decode()
            await socket.send_json({"event": "media", "media": {"payload": payload}, **stream})
            heard = b""
