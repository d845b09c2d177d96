"""The child process of a :class:`~voiceharness_adapters.sip.worker.SipWorker`: one SIP endpoint.

Run as ``python -m voiceharness_adapters.sip.worker_process FD BACKEND`` with one end of a socket pair as ``FD``. It
ends when the other end closes. Whatever a library prints goes to standard error, and where it was when it crashed.
"""

from __future__ import annotations

import faulthandler
import os
import socket
import sys
from importlib import import_module

from voiceharness_adapters.sip.channel import Channel

__all__ = ["main"]


def main() -> None:
    """Serve the owner at the other end of the socket with the backend it asks for."""
    os.dup2(2, 1)
    faulthandler.enable()
    link = socket.socket(fileno=int(sys.argv[1]))
    backend = import_module(f"voiceharness_adapters.sip.{sys.argv[2]}_worker.backend")
    backend.run(Channel(link))


if __name__ == "__main__":
    main()
