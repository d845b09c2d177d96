"""What the tests of the scripted doubles share."""

from __future__ import annotations

import pytest

from voiceharness.scripted.transport import ScriptedRealtimeTransport

__all__: list[str] = []


@pytest.fixture
def transport() -> ScriptedRealtimeTransport:
    return ScriptedRealtimeTransport()
