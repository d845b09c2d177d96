"""What an error shows of a capability."""

from __future__ import annotations

from voiceharness.errors import CallDroppedError, DeviceError, VirtualTimeError
from voiceharness.matrix.probe import _proof_of


def test_a_refusal_is_told_without_the_stack_that_names_files_of_this_machine() -> None:
    proof = _proof_of(VirtualTimeError('a socket cannot be followed by virtual time\n  File "/home/someone/agent.py"'))
    assert proof.detail == "refused: a socket cannot be followed by virtual time"


def test_a_device_that_fails_here_says_nothing_about_the_adapter() -> None:
    assert _proof_of(DeviceError("the device is busy")).untestable


def test_a_call_that_breaks_is_a_failure() -> None:
    proof = _proof_of(CallDroppedError("the socket died"))
    assert (proof.shown, proof.untestable, proof.detail) == (False, False, "CallDroppedError: the socket died")
