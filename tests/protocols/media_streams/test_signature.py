"""The signature of webhooks and upgrades, against the vendor's vectors."""

from __future__ import annotations

import pytest

from voiceharness.protocols.media_streams.signature import is_signed, sign

__all__: list[str] = []

TOKEN = "0123456789abcdef0123456789abcdef"
STREAM = "wss://harness.example.test/media"
VOICE = "https://harness.example.test/voice"
FORM = [("To", "+15550100002"), ("From", "+15550100001"), ("CallSid", "CA1")]


@pytest.mark.parametrize(
    ("url", "signature"),
    [(STREAM, "iNuL9NV1k2Cjxf0Guwcz5MSn6xo="), (f"{STREAM}?case=A1", "LuUSMh1QZKvgmcBX8IcxIjEECSc=")],
)
def test_known_upgrades_are_signed_as_the_vendor_does(url: str, signature: str) -> None:
    """Case B33."""
    assert sign(TOKEN, url) == signature
    assert is_signed(signature, TOKEN, url)


@pytest.mark.parametrize(
    "url", [f"{STREAM}/", STREAM.replace("wss", "https"), f"{STREAM}?", "wss://other.example.test/media"]
)
def test_another_url_does_not_pass(url: str) -> None:
    """Case B33."""
    assert not is_signed(sign(TOKEN, STREAM), TOKEN, url)


def test_another_token_or_none_does_not_pass() -> None:
    """Case B33."""
    assert not is_signed(sign("f" * 32, STREAM), TOKEN, STREAM)
    assert not is_signed(None, TOKEN, STREAM)
    assert not is_signed("\u20ac", TOKEN, STREAM)


def test_every_field_of_the_form_counts_and_their_order_does_not() -> None:
    signature = sign(TOKEN, VOICE, FORM)
    assert is_signed(signature, TOKEN, VOICE, FORM[::-1])
    assert not is_signed(signature, TOKEN, VOICE, FORM[1:])
    assert not is_signed(signature, TOKEN, VOICE, [*FORM, ("Digits", "1")])


def test_the_default_port_may_be_written_or_left_out() -> None:
    signature = sign(TOKEN, VOICE.replace(".test", ".test:443"), FORM)
    assert is_signed(signature, TOKEN, VOICE, FORM)
    assert not is_signed(sign(TOKEN, VOICE.replace(".test", ".test:444")), TOKEN, VOICE)


def test_it_is_what_the_vendors_own_validator_computes() -> None:
    validator = pytest.importorskip("twilio.request_validator").RequestValidator(TOKEN)
    assert validator.validate(VOICE, dict(FORM), sign(TOKEN, VOICE, FORM))
    assert is_signed(validator.compute_signature(VOICE, dict(FORM)), TOKEN, VOICE, FORM)
