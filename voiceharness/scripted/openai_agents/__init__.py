"""The scripted doubles behind the interfaces of the OpenAI Agents SDK, so that its real session and runner run on them.

Needs the extra ``agents``. Nothing else in voiceharness imports this package or the SDK.

``realtime``    ``ScriptedAgentsRealtimeModel``: the scripted transport as the model of a ``RealtimeSession``
``recorder``    ``SessionRecorder``: what a session reported, and waiting for it
``model``       ``ScriptedAgentsModel``: the scripted model for ``Runner.run`` and ``run_streamed``
``sandbox``     ``scripted_sandbox_session``: a session for sandbox agents
"""

from __future__ import annotations

from importlib.util import find_spec

from voiceharness.errors import MissingExtraError

__all__: list[str] = []

if find_spec("agents") is None:
    raise MissingExtraError("the package openai-agents is not installed", extra="agents")
