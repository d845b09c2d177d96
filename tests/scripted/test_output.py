"""The output a scripted model is made to give."""

from __future__ import annotations

from voiceharness.scripted.output import assistant_message, function_call, json_detached

__all__: list[str] = []


def test_a_minimal_message_has_no_optional_keys() -> None:
    """Item 73."""
    assert assistant_message("hello") == {
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "hello"}],
    }


def test_optional_keys_of_a_message_appear_when_given() -> None:
    message = assistant_message("hello", id="m1", phase="final_answer", provider_data={"seed": 7})
    assert (message["id"], message["phase"], message["provider_data"]) == ("m1", "final_answer", {"seed": 7})


def test_the_id_of_a_function_call_defaults_to_its_call_id() -> None:
    assert function_call("look_up", {"order": 7}, call_id="c1") == {
        "type": "function_call",
        "status": "completed",
        "name": "look_up",
        "call_id": "c1",
        "arguments": '{"order": 7}',
        "id": "c1",
    }


def test_text_arguments_pass_unchanged() -> None:
    call = function_call("look_up", "{not json", call_id="c1", id="i1", namespace="shop", provider_data={"a": 1})
    assert (call["arguments"], call["id"], call["namespace"], call["provider_data"]) == (
        "{not json",
        "i1",
        "shop",
        {"a": 1},
    )


def test_only_json_mappings_are_detached() -> None:
    usage = {"tokens": [1, 2]}
    copied = json_detached(usage)
    assert copied == usage
    assert copied is not usage
    assert [json_detached(value) for value in ([1], {"a": object()}, {"a": float("nan")}, None)] == [None] * 4
