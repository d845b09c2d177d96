"""Options are the typed parameters of an adapter, checked before anything is made of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pytest

from voiceharness.adapter import Option, VoiceAgentAdapter
from voiceharness.doubles import EchoAgent, SilentAgent
from voiceharness.errors import OptionError, UnknownAdapterError
from voiceharness.registry import (
    REQUIRED,
    AdapterOption,
    create,
    load_adapter,
    load_agent,
    named_objects,
    options_of,
    plugins,
)
from voiceharness.registry import options as options_module
from voiceharness_adapters.in_process import InProcess, InProcessTurns

if TYPE_CHECKING:
    from voiceharness.adapter import Received
    from voiceharness.audio.chunk import AudioChunk

__all__: list[str] = []

HERE = "tests.registry.test_options"


class Choosy(VoiceAgentAdapter):
    """An adapter with an option of each kind."""

    def __init__(
        self,
        number: Annotated[str, Option("whom to call")],
        *,
        mode: Literal["one", "two"] = "one",
        wait: Annotated[float, Option("how long to wait", "s")] = 1.0,
        tries: int | None = None,
        strict: bool = False,
        folder: Path = Path(),
        anything: Any = None,
        **more: dict[str, str],
    ) -> None:
        self.options = {"number": number, "mode": mode, "wait": wait, "tries": tries, "strict": strict}
        self.folder, self.anything, self.more = folder, anything, more

    async def connect(self) -> None:
        """Do nothing."""

    async def disconnect(self) -> None:
        """Do nothing."""

    async def send_audio(self, chunk: AudioChunk) -> None:
        """Do nothing."""

    async def receive_audio(self, timeout: float | None = None) -> Received | None:
        """Receive nothing."""
        return None


@pytest.fixture
def choosy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make ``choosy`` a name that can be created."""
    monkeypatch.setattr(options_module, "load_adapter", lambda _name: Choosy)


class Application:
    """An ASGI application, as frameworks make them."""

    async def __call__(self, scope: object, receive: object, send: object) -> None:
        """Answer a request."""


AN_AGENT = SilentAgent()
NOT_AN_AGENT = object()
APPLICATION = Application()


def make_agent() -> EchoAgent:
    """What a user may name instead of an agent."""
    return EchoAgent(delay=1.0)


def answer(_utterance: AudioChunk) -> str:
    """What a user may name for an answering function."""
    return "yes"


def test_the_options_of_an_adapter_are_its_parameters() -> None:
    listed = {option.name: option for option in options_of(Choosy)}
    assert listed["number"] == AdapterOption("number", str, REQUIRED, "whom to call", "")
    assert listed["wait"] == AdapterOption("wait", float, 1.0, "how long to wait", "s")
    assert listed["mode"].type == Literal["one", "two"]
    assert "more" not in listed


def test_an_adapter_without_init_has_no_options() -> None:
    bare = type("Bare", (Choosy,), {"__init__": VoiceAgentAdapter.__init__})
    assert options_of(bare) == ()


@pytest.mark.usefixtures("choosy")
def test_options_are_taken_as_they_are(tmp_path: Path) -> None:
    options = {"number": "+15550100001", "mode": "two", "wait": 2, "tries": 3, "strict": True}
    adapter = create("choosy", {**options, "folder": str(tmp_path), "anything": [1]})
    assert isinstance(adapter, Choosy)
    assert adapter.options == options
    assert (adapter.folder, adapter.anything) == (tmp_path, [1])


@pytest.mark.usefixtures("choosy")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "adapter 'choosy' needs the option 'number': whom to call"),
        ({"number": 5}, "adapter 'choosy': option 'number' must be str, not 5"),
        ({"number": "1", "mode": "three"}, "option 'mode' must be 'one' or 'two', not 'three'"),
        ({"number": "1", "wait": "long"}, "option 'wait' must be float, not 'long'"),
        ({"number": "1", "wait": True}, "option 'wait' must be float, not True"),
        ({"number": "1", "tries": 1.5}, "option 'tries' must be int or nothing, not 1.5"),
        ({"number": "1", "strict": 1}, "option 'strict' must be bool, not 1"),
        ({"number": "1", "colour": "red"}, "adapter 'choosy' has no option 'colour'; it has: number, mode, wait"),
    ],
)
def test_a_wrong_option_is_named_with_what_it_must_be(options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        create("choosy", options)
    assert message in str(caught.value)


def test_an_unknown_adapter_is_told_before_its_options() -> None:
    with pytest.raises(UnknownAdapterError):
        create("telex", {"colour": "red"})


# Things that are named


@pytest.mark.parametrize("name", ["AN_AGENT", "make_agent", "SilentAgent"])
def test_an_agent_may_be_named_itself_or_by_what_makes_it(name: str) -> None:
    assert isinstance(load_agent(f"{HERE}:{name}"), SilentAgent | EchoAgent)
    adapter = create("in_process", {"agent": f"{HERE}:{name}", "rate": 16000})
    assert isinstance(adapter, InProcess)
    assert adapter.rate == 16000


def test_an_agent_itself_is_an_option_too() -> None:
    adapter = create("in_process", {"agent": AN_AGENT})
    assert isinstance(adapter, InProcess)
    assert adapter.agent is AN_AGENT


def test_a_function_is_named_and_not_called() -> None:
    assert isinstance(create("in_process_turns", {"answer": f"{HERE}:answer"}), InProcessTurns)


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("no_such_module_anywhere:agent", "ModuleNotFoundError"),
        (f"{HERE}:no_such_agent", "AttributeError"),
        (HERE, "cannot be loaded"),
        (f"{HERE}:NOT_AN_AGENT", "must be PhoneAgent, but is object"),
        (f"{HERE}:APPLICATION", f"looks like an ASGI application.* --adapter twilio .* --set app={HERE}:APPLICATION"),
        ("json:loads", "TypeError"),
    ],
)
def test_an_agent_that_cannot_be_loaded_says_why(spec: str, why: str) -> None:
    with pytest.raises(OptionError, match=why) as caught:
        load_agent(spec)
    assert spec in str(caught.value)


@pytest.mark.usefixtures("choosy")
def test_an_option_names_an_object_where_its_type_takes_no_text() -> None:
    given = {
        "tries": f"{HERE}:TRIES",
        "number": "tel:1",
        "anything": "a:b",
        "wait": 2.0,
        "mode": "one",
        "unknown": "a:b",
    }
    assert named_objects("choosy", given) == {"tries": f"{HERE}:TRIES"}


def test_an_option_that_names_nothing_is_a_wrong_value() -> None:
    with pytest.raises(OptionError, match="option 'agent' must be PhoneAgent, not 'my agent'"):
        create("in_process", {"agent": "my agent"})


@pytest.mark.parametrize("name", [plugin.name for plugin in plugins() if plugin.source.startswith("voiceharness ")])
def test_the_types_of_the_options_of_every_adapter_of_ours_can_be_read(name: str) -> None:
    assert all(option.type is not None for option in options_of(load_adapter(name)))
