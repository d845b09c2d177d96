"""One tree, drawn as it is; messages that say what happened and what to do."""

from __future__ import annotations

import inspect
import re

import pytest

from voiceharness import errors
from voiceharness.errors import (
    AdapterDefinitionError,
    CallRejectedError,
    MediaTimeoutError,
    MissingExtraError,
    PendingTransportError,
    ScenarioError,
    UnsupportedCapabilityError,
    VoiceHarnessError,
)

__all__: list[str] = []


def drawn_tree() -> dict[str, str]:
    """Each error of the module's docstring with its parent, as drawn."""
    parents: dict[str, str] = {}
    path: list[str] = []
    for line in inspect.getdoc(errors).splitlines():  # type: ignore[union-attr]  # it has one
        found = re.match(r"^([\s│├└─]*)([A-Z]\w+Error)\b", line)
        if found is None or not line.startswith(("    ", "\u2502")):
            continue
        depth = len(found[1].removeprefix("    ")) // 4
        path[depth:] = [found[2]]
        if depth:
            parents[found[2]] = path[depth - 1]
    return parents


def defined_tree() -> dict[str, str]:
    """Each error of the module with its parent in the tree."""
    return {
        name: kind.__bases__[0].__name__
        for name, kind in vars(errors).items()
        if inspect.isclass(kind) and issubclass(kind, VoiceHarnessError) and kind is not VoiceHarnessError
    }


def test_the_tree_is_drawn_as_it_is() -> None:
    assert drawn_tree() == defined_tree()


def test_every_error_is_exported_and_documented() -> None:
    assert sorted(errors.__all__) == sorted(["VoiceHarnessError", *defined_tree()])
    assert [name for name in errors.__all__ if not getattr(errors, name).__doc__] == []


@pytest.mark.parametrize(
    ("name", "exit_code"),
    [
        ("ScenarioError", 2),
        ("UnknownAdapterError", 2),
        ("AudioError", 2),
        ("ConnectError", 3),
        ("AgentCrashedError", 3),
        ("DeviceError", 3),
        ("UnsupportedCapabilityError", 4),
        ("SpeechError", 5),
        ("LocalProtocolError", 5),
        ("StallError", 5),
        ("RemoteProtocolError", 6),
    ],
)
def test_each_kind_of_error_has_its_exit_code(name: str, exit_code: int) -> None:
    """Case B58."""
    assert getattr(errors, name).exit_code == exit_code


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ScenarioError("no step 'shout'", file="a.yaml", line=3, column=5), "a.yaml:3:5: no step 'shout'"),
        (ScenarioError("no step 'shout'", file="a.yaml"), "a.yaml: no step 'shout'"),
        (ScenarioError("no step 'shout'"), "no step 'shout'"),
        (
            MissingExtraError("speech needs hibari-tts", extra="speech"),
            'speech needs hibari-tts; install it with: pip install "voiceharness[speech]"',
        ),
        (
            UnsupportedCapabilityError(adapter="sip", capability="dtmf:event", step="press 1", alternative="use info"),
            "adapter 'sip' does not support dtmf:event (needed by press 1); use info",
        ),
        (UnsupportedCapabilityError(adapter="sip", capability="hold"), "adapter 'sip' does not support hold"),
        (
            PendingTransportError("sip", "send audio"),
            "adapter 'sip' is not connected: cannot send audio; await connect() first",
        ),
        (
            MediaTimeoutError("no agent speech in 10 s", phase="greeting", received="0 frames"),
            "no agent speech in 10 s (phase: greeting; received: 0 frames)",
        ),
    ],
)
def test_a_message_says_what_happened_where_and_what_to_do(error: VoiceHarnessError, text: str) -> None:
    assert str(error) == text


def test_errors_carry_what_a_program_wants_to_know() -> None:
    rejected = CallRejectedError("busy", code=486, reason="Busy Here")
    assert (rejected.code, rejected.reason) == (486, "Busy Here")
    assert MissingExtraError("x", extra="asr").install == 'pip install "voiceharness[asr]"'


def test_errors_can_be_caught_as_what_python_calls_them() -> None:
    assert issubclass(MissingExtraError, ImportError)
    assert issubclass(AdapterDefinitionError, TypeError)
