"""Import every module of the packages named on the command line and print, as JSON, what importing did.

Run as a program of its own: an interpreter cannot take back what an import has done to it.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["main"]

FORBIDDEN_EVENTS = ("socket.", "subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork", "ctypes.dlopen")
# To import one is to ask for the library it plugs into; the SIP workers are imported by their own process alone.
PLUGINS = (
    "voiceharness.scripted.openai_agents",
    "voiceharness_adapters.sip.pjsua2_worker",
    "voiceharness_adapters.sip.baresip_worker",
)
ENGINES = {"agents", "espeakng_loader", "hibari", "moonshine_voice", "onnxruntime", "openai", "sounddevice"}


def main(packages: list[str]) -> None:
    """Print a list of findings, ``[module, what it did]``; an empty list is good."""
    # What the required libraries do when they are imported is their own affair.
    for library in ("numpy", "scipy.signal", "webrtcvad", "yaml", "click", "asyncio"):
        importlib.import_module(library)
    findings: list[tuple[str, str]] = []
    importing = [""]

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        if writes or event.startswith(FORBIDDEN_EVENTS):
            findings.append((importing[0], f"{event} {arguments!r}"))

    sys.addaudithook(watch)
    for name in module_names(packages):
        if name.startswith(PLUGINS):
            continue
        importing[0] = name
        importlib.import_module(name)
        loaded = sorted(ENGINES & set(sys.modules))
        if loaded or threading.active_count() > 1:
            findings.append((name, f"engines {loaded}, {threading.active_count()} threads"))
            break
    print(json.dumps(findings))  # noqa: T201  the program's answer


def module_names(packages: list[str]) -> Iterator[str]:
    """Yield the packages and all modules below them; programs (``__main__``) are run, not imported."""
    for package in packages:
        yield package
        found = pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}.")
        yield from (module.name for module in found if not module.name.endswith("__main__"))


if __name__ == "__main__":
    main(sys.argv[1:])
