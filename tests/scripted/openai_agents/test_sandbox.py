"""The scripted sandbox behind the SDK's sandbox agents."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("agents")

from agents import RunConfig, Runner
from agents.sandbox import SandboxAgent, SandboxRunConfig
from agents.sandbox.capabilities import Shell
from agents.sandbox.manifest import Manifest
from agents.sandbox.session.base_sandbox_session import BaseSandboxSession
from agents.sandbox.types import ExecResult

from voiceharness.scripted.errors import (
    InvalidScriptedSandboxStepError,
    UnconsumedSandboxStepsError,
    UnexpectedSandboxCallError,
)
from voiceharness.scripted.openai_agents.model import ScriptedAgentsModel
from voiceharness.scripted.openai_agents.output import assistant_message, function_call
from voiceharness.scripted.openai_agents.sandbox import scripted_sandbox_session
from voiceharness.scripted.session import on_call

if TYPE_CHECKING:
    from voiceharness.scripted.session import SessionCall

__all__: list[str] = []


def output(text: bytes) -> ExecResult:
    return ExecResult(stdout=text, stderr=b"", exit_code=0)


def test_only_the_scripted_methods_exist() -> None:
    """Item 78."""
    session = scripted_sandbox_session([on_call(BaseSandboxSession.exec).returns(output(b"7"))])
    assert isinstance(session, BaseSandboxSession)
    assert session.state.manifest == Manifest()
    assert hasattr(session, "exec")
    assert not any(hasattr(session, name) for name in ("read", "write", "ls", "pty_exec_start"))
    assert not session.supports_pty()
    result = asyncio.run(session.exec("wc", "-l", timeout=5))
    assert (result.stdout, session.calls[0].args, session.calls[0].kwargs) == (b"7", ("wc", "-l"), {"timeout": 5})
    session.assert_complete()


def test_the_two_terminal_methods_appear_together() -> None:
    session = scripted_sandbox_session([on_call("pty_exec_start").returns(None)])
    assert session.supports_pty()
    assert hasattr(session, "pty_write_stdin")
    with pytest.raises(UnexpectedSandboxCallError):
        asyncio.run(session.pty_write_stdin(session_id=1, chars="x"))


def test_a_real_sandbox_agent_uses_the_shell() -> None:
    """Item 79."""
    session = scripted_sandbox_session([on_call(BaseSandboxSession.exec).returns(output(b"7 orders.txt"))])
    model = ScriptedAgentsModel(
        [
            [function_call("exec_command", {"cmd": "wc -l orders.txt"}, call_id="c1")],
            [assistant_message("There are 7.")],
        ]
    )
    agent = SandboxAgent[None](name="clerk", instructions="Count.", model=model, capabilities=[Shell()])
    config = RunConfig(tracing_disabled=True, sandbox=SandboxRunConfig(session=session))
    result = asyncio.run(Runner.run(agent, "how many orders?", run_config=config))
    assert result.final_output == "There are 7."
    assert "7 orders.txt" in model.calls[1].request.input[-1]["output"]
    assert any("wc -l orders.txt" in str(part) for part in session.calls[0].args)
    model.assert_complete()
    session.assert_complete()


def test_a_hook_of_the_sdk_runs_before_a_scripted_stop() -> None:
    """Item 81."""
    order: list[str] = []

    def stopped(_call: SessionCall) -> None:
        order.append("stop")

    session = scripted_sandbox_session([on_call(BaseSandboxSession.stop).responds(stopped)])

    async def hook() -> None:
        order.append("hook")

    session.register_pre_stop_hook(hook)

    async def play() -> None:
        async with session:
            assert await session.running()

    asyncio.run(play())
    assert order == ["hook", "stop"]
    session.assert_complete()


def test_a_manifest_and_a_stream_are_copied() -> None:
    """Items 83 and 85."""
    manifest = Manifest()
    session = scripted_sandbox_session([on_call("write").returns(None)], manifest=manifest)
    assert session.state.manifest is not manifest
    data = io.BytesIO(b"hello")
    asyncio.run(session.write(Path("a.txt"), data))
    data.write(b"jumbo")
    session.calls[0].args[1].write(b"spoil")
    assert session.calls[0].args[1].getvalue() == b"hello"


def test_a_result_is_copied_when_queued() -> None:
    """Item 86."""
    result = output(b"before")
    session = scripted_sandbox_session([on_call("exec").returns(result)])
    result.stdout = b"after"
    assert asyncio.run(session.exec("x")).stdout == b"before"


@pytest.mark.parametrize("method", ["extract", "persist_workspace", "sing"])
def test_what_is_not_model_facing_cannot_be_scripted(method: str) -> None:
    """Item 91."""
    with pytest.raises(InvalidScriptedSandboxStepError) as caught:
        scripted_sandbox_session([on_call(method).returns(None)])
    assert (caught.value.reason, caught.value.method) == ("unknown_method", method)


def test_steps_left_over_are_named_in_order() -> None:
    """Item 90."""
    steps: list[Any] = [on_call("exec").returns(None), on_call("read").returns(None)]
    with pytest.raises(UnconsumedSandboxStepsError) as caught:
        scripted_sandbox_session(steps).assert_complete()
    assert caught.value.pending_methods == ("exec", "read")
