"""Settings of a command line as options."""

from __future__ import annotations

import pytest

from voiceharness.errors import OptionError
from voiceharness.registry.settings import parse_settings


def test_a_setting_is_read_by_the_type_of_its_option() -> None:
    assert parse_settings(["rate=16000", "goodbye=2", "synthesizer=none"], "in_process_turns") == {
        "rate": 16000,
        "goodbye": 2.0,
        "synthesizer": None,
    }


def test_text_stays_as_it_was_written() -> None:
    assert parse_settings(["answer=agents:answer", "synthesizer=0123"], "in_process_turns") == {
        "answer": "agents:answer",
        "synthesizer": "0123",
    }


def test_what_does_not_fit_is_left_for_the_adapter_to_refuse() -> None:
    assert parse_settings(["rate=fast", "unknown=a=b"], "in_process") == {"rate": "fast", "unknown": "a=b"}


@pytest.mark.parametrize("setting", ["rate", "=8000", ""])
def test_a_setting_has_a_name_and_a_value(setting: str) -> None:
    with pytest.raises(OptionError, match="a setting is KEY=VALUE"):
        parse_settings([setting], "in_process")
