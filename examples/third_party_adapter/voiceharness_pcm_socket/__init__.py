"""Calls to agents that take and send PCM on a TCP socket."""

from voiceharness_pcm_socket.adapter import PcmSocket
from voiceharness_pcm_socket.host import host

__all__ = ["PcmSocket", "host"]
