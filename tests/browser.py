"""A real browser for tests: Debian's Chromium without a window, driven over the DevTools protocol's pipe.

Nothing is waited for by the clock: a page's own promises tell when something has happened.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any, Final, Self

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["CHROMIUM", "Browser", "Page"]

CHROMIUM: Final = shutil.which("chromium")

_FLAGS: Final = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--autoplay-policy=no-user-gesture-required",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--remote-debugging-pipe",
)
_LOCAL: Final = ("file:", "data:", "blob:")


class Browser:
    """One browser process; ``profile`` is an empty folder for it. A context manager."""

    def __init__(self, profile: Path) -> None:
        from_us, self._commands = os.pipe()
        self._answers, to_us = os.pipe()
        # The protocol's pipes are file descriptors 3 and 4 of the browser.
        script = f'exec "$@" 3<&{from_us} 4>&{to_us}'
        command = ["bash", "-c", script, "chromium", CHROMIUM or "chromium", *_FLAGS, f"--user-data-dir={profile}"]
        self._process = subprocess.Popen(
            command, pass_fds=(from_us, to_us), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(from_us)
        os.close(to_us)
        self._numbers = count(1)
        self._received = b""
        self._pages: dict[str, Page] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.send("Browser.close")
        self._process.wait()
        os.close(self._commands)
        os.close(self._answers)

    def open(self, file: Path, *, width: int = 1280, height: int = 900, scheme: str = "light") -> Page:
        """Open a file in a page of its own, and wait until it is loaded."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self._pages[session] = Page(self, session, target)
        for domain in ("Page", "Runtime", "Network", "Log"):
            page.send(f"{domain}.enable")
        page.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        page.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        page.send("Page.navigate", url=file.as_uri())
        self.wait_for(page)
        return page

    def wait_for(self, page: Page) -> None:
        """Wait until a page is loaded."""
        while not page.loaded:
            self._take()

    def send(self, method: str, *, session: str | None = None, **parameters: object) -> dict[str, Any]:
        """Send a command and return its result; events that come first go to their pages."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._take()
            if answer.get("id") == number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                result: dict[str, Any] = answer["result"]
                return result

    def _take(self) -> dict[str, Any]:
        while b"\0" not in self._received:
            data = os.read(self._answers, 1 << 20)
            assert data, "the browser has gone"
            self._received += data
        text, _, self._received = self._received.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        page = self._pages.get(message.get("sessionId", ""))
        if page is not None and "method" in message:
            page.note(message["method"], message["params"])
        return message


@dataclass(slots=True)
class Page:
    """A page in the browser. ``complaints`` are its exceptions and whatever it wrote to its console as an error."""

    browser: Browser
    session: str
    target: str
    loaded: bool = False
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    @property
    def external_requests(self) -> list[str]:
        """What the page asked of the network."""
        return [url for url in self.requests if not url.startswith(_LOCAL)]

    def send(self, method: str, **parameters: object) -> dict[str, Any]:
        """Send a command to this page."""
        return self.browser.send(method, session=self.session, **parameters)

    def note(self, method: str, event: dict[str, Any]) -> None:
        """Take an event of the page."""
        match method:
            case "Page.loadEventFired":
                self.loaded = True
            case "Network.requestWillBeSent":
                self.requests.append(event["request"]["url"])
            case "Runtime.exceptionThrown":
                self.complaints.append(json.dumps(event["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if event["type"] in ("error", "warning", "assert"):
                self.complaints.append(json.dumps(event["args"]))
            case "Log.entryAdded" if event["entry"]["level"] in ("error", "warning"):
                self.complaints.append(event["entry"]["text"])

    def run(self, script: str) -> Any:  # Any: whatever the script returns
        """Evaluate JavaScript as the body of an async function and return what it returns."""
        result = self.send(
            "Runtime.evaluate",
            expression=f"(async () => {{ {script} }})()",
            awaitPromise=True,
            returnByValue=True,
            userGesture=True,
        )
        assert "exceptionDetails" not in result, json.dumps(result["exceptionDetails"])
        return result["result"].get("value")

    def press(self, *keys: str) -> None:
        """Press keys, one after the other, by their DOM names; ``Shift+`` goes before a name."""
        for name in keys:
            key = name.removeprefix("Shift+")
            modifiers = 8 if key != name else 0
            text = {"Space": " ", "Enter": "\r"}.get(key, key if len(key) == 1 else "")
            described = {"key": " " if key == "Space" else key, "code": key, "modifiers": modifiers, "text": text}
            code = {"Backspace": 8, "Tab": 9, "Enter": 13, "Space": 32}.get(key, 0)
            down = "keyDown" if text else "rawKeyDown"
            self.send("Input.dispatchKeyEvent", type=down, windowsVirtualKeyCode=code, **described)
            self.send("Input.dispatchKeyEvent", type="keyUp", windowsVirtualKeyCode=code, **{**described, "text": ""})

    def click(self, selector: str) -> None:
        """Click the middle of an element with the mouse, scrolled into view first."""
        at = self.run(
            f"const element = document.querySelector({json.dumps(selector)});"
            "element.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'});"
            "const box = element.getBoundingClientRect();"
            "return [box.x + box.width / 2, box.y + box.height / 2];"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=at[0], y=at[1], button="left", clickCount=1)

    def close(self) -> None:
        """Close the page."""
        self.browser.send("Target.closeTarget", targetId=self.target)

    def follow(self, selector: str) -> None:
        """Click a link and wait until its page is loaded."""
        self.loaded = False
        self.click(selector)
        self.browser.wait_for(self)

    def screenshot(self, file: Path, *, whole: bool = True) -> None:
        """Save a picture of the page, or of what is in view."""
        data = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        file.write_bytes(base64.b64decode(data))
