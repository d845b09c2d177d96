"""The error of a call that did not come up, by how it ended and what the peer's final answer was."""

from __future__ import annotations

import pytest

from voiceharness.errors import CallRejectedError, ConnectError, RemoteProtocolError, VoiceHarnessError
from voiceharness_adapters.sip.call import CallEnd
from voiceharness_adapters.sip.outcome import why_not_up

__all__: list[str] = []

AGENT = "sip:agent@127.0.0.1"


@pytest.mark.parametrize(
    ("end", "target", "final", "kind", "words"),
    [
        ((487, "Cancelled", True), AGENT, None, CallRejectedError, "the call was given up: 487 Cancelled"),
        ((487, "Cancelled", False), "", None, CallRejectedError, "the agent gave its call up: 487 Cancelled"),
        ((500, "", False), "", None, ConnectError, "the agent's call ended before its media was up: 500"),
        ((408, "Timeout", False), AGENT, None, ConnectError, f"{AGENT} could not be reached: 408 Timeout"),
        ((408, "", False), "sip:agent:p4ss@127.0.0.1", None, ConnectError, "sip:agent: [secret]@127.0.0.1 could not"),
        ((486, "Busy Here", False), AGENT, (486, "Busy Here"), CallRejectedError, "the agent refused the call: 486"),
        ((302, "Moved", False), AGENT, (302, "Moved"), CallRejectedError, "the agent redirects the call"),
        ((488, "No", False), AGENT, (200, "OK"), RemoteProtocolError, "a session that cannot be used: 488 No"),
    ],
    ids=["ours", "given up", "broken off", "timeout", "a password", "busy", "moved", "unusable"],
)
def test_the_error_says_whose_doing_it_was(
    end: tuple[int, str, bool], target: str, final: tuple[int, str] | None, kind: type[VoiceHarnessError], words: str
) -> None:
    code, reason, ours = end
    error = why_not_up(CallEnd(code, reason, ours, at_ns=0), target=target, final=final)
    assert type(error) is kind
    assert words in str(error)
