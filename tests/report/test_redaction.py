"""What is kept out of files."""

from __future__ import annotations

import pytest

from voiceharness.report.redaction import Redactor, Secret, secrets_in


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("call +15550101234 now", "call …34 now"),
        ("+1 (555) 010-1234.", "…34."),
        ("+1.555.010.1234", "…34"),
        ("sip:15550101234@127.0.0.1", "sip:…34@127.0.0.1"),
        ("tel:555-010-1234", "tel:…34"),
    ],
)
def test_of_a_phone_number_only_the_last_digits_are_written(text: str, written: str) -> None:
    assert Redactor().text(text) == written


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer abcdefgh12345678",
        "wss://127.0.0.1/media?token=abcdefgh12345678&x=1",
        "https://someone:abcdefgh12345678@127.0.0.1/",
        "sk-abcdefgh12345678",
        "account AC0123456789abcdef0123456789abcdef",
    ],
)
def test_credentials_are_not_written(text: str) -> None:
    written = Redactor().text(text)
    assert "[secret]" in written
    assert "abcdef" not in written


@pytest.mark.parametrize(
    "text", ["drift +200.25 ppm", "12345678 samples", "digits 4111111111111111", "+49 s", "café 你好 at 0.501 s"]
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert Redactor().text(text) == text


def test_given_secrets_are_removed_wherever_they_stand_the_longest_first() -> None:
    redactor = Redactor.of(["hunter2", "hunter2-long", "123"])
    assert redactor.plain({"a": ["say hunter2-long 123", 5, None]}) == {"a": ["say [secret] 123", 5, None]}


def test_memory_addresses_are_not_written_because_they_differ_from_run_to_run() -> None:
    assert Redactor().text("<Future at 0x7f00deadbeef>") == "<Future at 0x…>"


def test_options_whose_names_say_so_hold_secrets() -> None:
    options = {"auth_token": "t", "to": "+15550101234", "from_number": "n", "stop": "x", "rate": 8000, "api_key": "k"}
    assert secrets_in(options) == ("t", "+15550101234", "n", "k")


def test_a_secret_is_one_whatever_its_option_is_called_and_wherever_it_stands() -> None:
    options = {"url": Secret("wss://127.0.0.1/abcdef", ["abcdef"]), "more": [{"a": Secret("ghijkl", ["ghijkl"])}]}
    assert secrets_in({**options, "token": "mnopqr", "rate": 8000}) == ("mnopqr", "abcdef", "ghijkl")


def test_a_secret_is_a_text_that_does_not_show_itself_in_errors() -> None:
    secret = Secret("abcdef", ["abcdef"])
    assert secret == "abcdef"
    assert f"{secret!r}" == "'[secret]'"


def test_files_lose_secrets_if_they_are_text_and_stay_as_they_are_if_not() -> None:
    redactor = Redactor.of(["abcdef"])
    assert redactor.content("§ abcdef\r\n".encode()) == "§ [secret]\r\n".encode()
    assert redactor.content(b"\xff abcdef") == b"\xff abcdef"
