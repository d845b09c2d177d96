"""The far end of ``bench_twilio.py``, as cheap as one can be made: echoes every frame, or answers after a delay.

    python tools/bench_twilio_agent.py PORT

The delay in ms and the size of the answer's messages in bytes come in the path: ``/echo`` or ``/answer/DELAY/SIZE``.
Sound is what is not 0xFF; the answer (1 s of tone) is sent ``DELAY`` after the first quiet frame has arrived.
"""

from __future__ import annotations

import asyncio
import base64
import gc
import json
import sys

import picows
import uvloop

from voiceharness.audio import g711, signals

TONE = g711.encode(signals.tone(440, 6.0).tobytes())


class Agent(picows.WSListener):
    """One call."""

    def __init__(self, path: str) -> None:
        self.answer = [int(part) for part in path.strip("/").split("/")[1:]]
        self.head = b""
        self.loud = False

    def on_ws_frame(self, transport: picows.WSTransport, frame: picows.WSFrame) -> None:
        """Take a frame."""
        if frame.msg_type == picows.WSMsgType.CLOSE:
            transport.send_close(picows.WSCloseCode.OK)
            transport.disconnect()
        elif frame.msg_type == picows.WSMsgType.TEXT:
            self.take(transport, frame.get_payload_as_bytes())

    def take(self, transport: picows.WSTransport, message: bytes) -> None:
        """Echo, or note whether the user speaks."""
        found = message.find(b'"payload":"')
        if found < 0:
            if b'"start"' in message[:20]:
                stream = json.loads(message)["streamSid"].encode()
                self.head = b'{"event":"media","streamSid":"' + stream + b'","media":{"payload":"'
            return
        payload = message[found + 11 : message.index(b'"', found + 11)]
        if not self.answer:
            transport.send(picows.WSMsgType.TEXT, self.head + payload + b'"}}')
        elif not payload.startswith(b"////////"):
            self.loud = True
        elif self.loud:
            self.loud = False
            asyncio.get_running_loop().call_later(self.answer[0] / 1000, self.speak, transport, self.answer[1])

    def speak(self, transport: picows.WSTransport, size: int) -> None:
        """Answer in messages of a size."""
        for start in range(0, max(size, 8000), size):
            payload = base64.b64encode(TONE[start : start + size])
            transport.send(picows.WSMsgType.TEXT, self.head + payload + b'"}}')


async def main() -> None:
    """Serve for ever, without a pause for garbage: what is measured is the other end."""
    gc.disable()
    server = await picows.ws_create_server(lambda request: Agent(request.path.decode()), "127.0.0.1", int(sys.argv[1]))
    print("ready", flush=True)
    await server.serve_forever()


uvloop.run(main())
