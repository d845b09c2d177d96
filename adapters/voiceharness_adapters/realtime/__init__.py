"""Calls to realtime agents: over any realtime transport, or to a session of the OpenAI Agents SDK in this process."""

from voiceharness_adapters.realtime.host import host
from voiceharness_adapters.realtime.session import AgentsSessionAdapter
from voiceharness_adapters.realtime.session_host import session_host
from voiceharness_adapters.realtime.transport import TransportVoiceAdapter
from voiceharness_adapters.realtime.understood import UnderstoodTurn

__all__ = ["AgentsSessionAdapter", "TransportVoiceAdapter", "UnderstoodTurn", "host", "session_host"]
