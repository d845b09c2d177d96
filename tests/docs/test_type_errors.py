"""What the page says of types: a wrong field of a call, an event or an option is an error of the type checker."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

__all__: list[str] = []

ROOT = Path(__file__).parents[2]

MISTAKES = {
    "transport.expect_call(MuteCall, lambda call: call.audio)": "attr-defined",
    "transport.expect_call('send_audio', lambda call: call.muted)": "call-overload",
    "transport.calls_of(SendAudioCall)[0].message": "attr-defined",
    "AudioEvent(audio=b'')": "call-arg",
    "AudioEvent(data='text')": "arg-type",
    "transport.on(AudioEvent, lambda event: event.delta)": "attr-defined",
    "transport.fail_next_call('speak', OSError())": "arg-type",
    "transport.when('speak').fail(OSError())": "call-overload",
    "ScriptedRealtimeTransport(ambient={'speak'})": "arg-type",
    "transport.interrupt(response='r')": "call-arg",
    "TransportVoiceAdapter(transport, turn_detection='client')": "arg-type",
    "TransportVoiceAdapter(object())": "arg-type",
}
RIGHT = (
    "transport.expect_call(MuteCall, lambda call: call.muted)",
    "transport.on(AudioEvent, lambda event: event.data)",
    "TransportVoiceAdapter(transport, turn_detection='harness')",
)
HEAD = """\
from voiceharness.scripted.calls import MuteCall, SendAudioCall
from voiceharness.scripted.inbound import AudioEvent
from voiceharness.scripted.transport import ScriptedRealtimeTransport
from voiceharness_adapters.realtime import TransportVoiceAdapter

transport = ScriptedRealtimeTransport()
"""


@pytest.mark.checkout
def test_each_mistake_is_found_and_nothing_else_is(tmp_path: Path) -> None:
    snippet = tmp_path / "snippet.py"
    lines = [*HEAD.splitlines(), *MISTAKES, *RIGHT]
    snippet.write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), "--no-pretty"]
    checked = subprocess.run(
        [*command, str(snippet)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=os.environ | {"MYPYPATH": str(tmp_path)},
    )
    found = re.findall(r"snippet\.py:(\d+): error: .*\[([\w-]+)\]", checked.stdout)
    assert {lines[int(number) - 1]: code for number, code in found} == MISTAKES, checked.stdout + checked.stderr
