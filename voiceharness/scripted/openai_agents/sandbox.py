"""A scripted sandbox for the SDK's sandbox agents: a session whose methods play a script.

Pass it as ``RunConfig(sandbox=SandboxRunConfig(session=session))``. Model-facing methods that no step names are
absent, so that the SDK offers no tool for them; the two of a terminal appear together, for they are one capability.
Starting and stopping do nothing unless a step says what.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, Final

from agents.sandbox.manifest import Manifest
from agents.sandbox.session.base_sandbox_session import BaseSandboxSession
from agents.sandbox.session.sandbox_session_state import SandboxSessionState
from agents.sandbox.snapshot import NoopSnapshot
from agents.sandbox.types import ExecResult

from voiceharness.scripted.errors import ScriptValueError
from voiceharness.scripted.session import SessionScript, public_methods, scripted_method
from voiceharness.scripted.snapshot import SnapshotPolicy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from voiceharness.scripted.session import SessionCall, SessionStep

__all__ = ["ScriptedSandboxSession", "scripted_sandbox_session"]

TERMINAL: Final = frozenset({"pty_exec_start", "pty_write_stdin"})
MODEL_FACING: Final = TERMINAL | {
    "apply_patch",
    "exec",
    "ls",
    "mkdir",
    "mv",
    "read",
    "rm",
    "same_file",
    "write",
}
LIFECYCLE: Final = frozenset({"start", "stop", "shutdown", "running"})
SNAPSHOTS: Final = SnapshotPolicy().register_snapshot_type(Manifest, ExecResult, io.BytesIO, io.StringIO)


async def _absent(_self: object, *_args: object, **_options: object) -> Any:
    """Stand in for what the base class demands and no script has."""
    raise ScriptValueError("the scripted sandbox has no workspace; a step can only answer model-facing methods")


class ScriptedSandboxSession(BaseSandboxSession):
    """A sandbox session that plays a script; made by ``scripted_sandbox_session``."""

    def __init__(self, script: SessionScript, manifest: Manifest | None = None) -> None:
        self.state = SandboxSessionState(
            type="scripted",
            snapshot=NoopSnapshot(id="scripted"),
            manifest=Manifest() if manifest is None else SNAPSHOTS.copy(manifest),
        )
        self._script = script
        self._started = False
        functions = public_methods(BaseSandboxSession)
        installed = script.methods | TERMINAL if script.methods & TERMINAL else script.methods
        for name in installed:
            setattr(self, name, scripted_method(script, functions[name]))

    def __getattribute__(self, name: str) -> Any:
        if name in MODEL_FACING and name not in object.__getattribute__(self, "__dict__"):
            raise AttributeError(f"no step of the scripted sandbox names {name}")
        return super().__getattribute__(name)

    @property
    def calls(self) -> tuple[SessionCall, ...]:
        """Snapshots of all calls."""
        return self._script.calls

    @property
    def remaining_steps(self) -> int:
        """How many steps no call took yet."""
        return self._script.remaining_steps

    def assert_complete(self) -> None:
        """Check that every step was used.

        Raises:
            UnconsumedSandboxStepsError: if steps are left.
        """
        self._script.assert_complete()

    async def start(self) -> None:
        """Start: nothing to do."""
        self._started = True

    async def stop(self) -> None:
        """Stop: nothing to do."""
        self._started = False

    async def shutdown(self) -> None:
        """Shut down: nothing to do."""
        self._started = False

    async def running(self) -> bool:
        """Say whether it was started."""
        return self._started

    def supports_pty(self) -> bool:
        """Say whether the script has a terminal."""
        return bool(self._script.methods & TERMINAL)

    _exec_internal = read = write = persist_workspace = hydrate_workspace = _absent


def scripted_sandbox_session(
    steps: Iterable[SessionStep], *, manifest: Manifest | None = None
) -> ScriptedSandboxSession:
    """Make a sandbox session that plays the steps; they are made by ``on_call`` of ``voiceharness.scripted.session``.

    Raises:
        InvalidScriptedSandboxStepError: if a step cannot be used.
    """
    return ScriptedSandboxSession(SessionScript(steps, methods=MODEL_FACING | LIFECYCLE, snapshots=SNAPSHOTS), manifest)
