"""Variables of the environment in options."""

from __future__ import annotations

import pickle

import pytest

from voiceharness.errors import OptionError
from voiceharness.report.redaction import Secret, secrets_in
from voiceharness.suite.variables import check_variables, expand_options

__all__: list[str] = []

ENVIRONMENT = {"TOKEN": "very-secret", "RATE": "16000", "EMPTY": ""}


def test_a_variable_becomes_its_value_and_that_is_a_secret() -> None:
    options = expand_options({"agent": "wss://127.0.0.1/?t=${TOKEN}", "rate": 8000}, ENVIRONMENT, "in_process")
    assert options == {"agent": "wss://127.0.0.1/?t=very-secret", "rate": 8000}
    assert secrets_in(options) == ("very-secret",)
    assert "very-secret" not in repr(options)


def test_a_variable_alone_is_read_as_the_type_that_the_adapter_declares() -> None:
    options = expand_options({"rate": "${RATE}", "goodbye": "${RATE}"}, ENVIRONMENT, "in_process")
    assert options == {"rate": 16000, "goodbye": 16000.0}
    assert isinstance(options["rate"], int)


def test_variables_are_found_in_lists_and_mappings() -> None:
    options = expand_options({"headers": [{"auth": "${TOKEN}"}]}, ENVIRONMENT, "in_process")
    assert options == {"headers": [{"auth": "very-secret"}]}
    assert secrets_in(options) == ("very-secret",)


def test_two_dollars_are_a_plain_one() -> None:
    assert expand_options({"a": "$${TOKEN}", "b": "$5"}, ENVIRONMENT, "in_process") == {"a": "${TOKEN}", "b": "$5"}


def test_a_variable_that_is_not_set_is_an_error() -> None:
    with pytest.raises(OptionError, match="the variable NOWHERE is not set"):
        expand_options({"a": "${NOWHERE}"}, ENVIRONMENT, "in_process")


@pytest.mark.parametrize("text", ["${NO SUCH}", "${}", "x ${1A} y", "${", "${TOKEN", "${TOKEN:-none}"])
def test_what_is_not_written_as_a_variable_is_refused_by_name(text: str) -> None:
    for expand in (check_variables, lambda options: expand_options(options, ENVIRONMENT, "in_process")):
        with pytest.raises(OptionError, match=r"'\${.*' is no variable: .*; a plain \${ is written \$\${"):
            expand({"a": [text]})


def test_variables_that_are_written_well_need_not_be_set_to_be_checked() -> None:
    check_variables({"a": "${NOWHERE} $${ $5 $", "b": {"c": ["${NOWHERE}"]}, "d": 1})


def test_a_secret_stays_one_in_another_process() -> None:
    secret = pickle.loads(pickle.dumps(Secret("a very-secret text", ["very-secret"])))
    assert secret == "a very-secret text"
    assert secret.parts == ("very-secret",)
