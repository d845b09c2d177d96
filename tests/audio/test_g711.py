"""G.711 against a straight-line form of the ITU-T G.191 algorithm, and against what the field does."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from tests.audio.signals import snr_db
from voiceharness.audio import g711
from voiceharness.audio.signals import tone
from voiceharness.errors import AudioError

if TYPE_CHECKING:
    from collections.abc import Callable


ALL_SAMPLES = np.arange(-32768, 32768, dtype="<i2")
ALL_PCM = ALL_SAMPLES.tobytes()
ALL_CODES = bytes(range(256))


def reference_mulaw(sample: int) -> int:
    """One sample by the steps of G.191 ``ulaw_compress``."""
    magnitude = min(((~sample if sample < 0 else sample) >> 2) + 33, 0x1FFF)
    segment, rest = 1, magnitude >> 6
    while rest:
        segment, rest = segment + 1, rest >> 1
    code = (8 - segment) << 4 | (15 - (magnitude >> segment & 15))
    return code | 0x80 if sample >= 0 else code


def reference_alaw(sample: int) -> int:
    """One sample by the steps of G.191 ``alaw_compress``."""
    code = (~sample if sample < 0 else sample) >> 4
    if code > 15:
        exponent = 1
        while code > 31:
            code, exponent = code >> 1, exponent + 1
        code = code - 16 + (exponent << 4)
    return (code | 0x80 if sample >= 0 else code) ^ 0x55


def reference_mulaw_expand(code: int) -> int:
    """One code by the steps of G.191 ``ulaw_expand``."""
    exponent, mantissa = ~code >> 4 & 7, ~code & 15
    step = 4 << (exponent + 1)
    value = (0x80 << exponent) + step * mantissa + step // 2 - 4 * 33
    return value if code & 0x80 else -value


def reference_alaw_expand(code: int) -> int:
    """One code by the steps of G.191 ``alaw_expand``."""
    exponent, mantissa = (code ^ 0x55) >> 4 & 7, (code ^ 0x55) & 15
    value = ((mantissa + 16 if exponent else mantissa) << 4) + 8
    value <<= max(exponent - 1, 0)
    return value if code & 0x80 else -value


@pytest.mark.parametrize(("law", "reference"), [("mulaw", reference_mulaw), ("alaw", reference_alaw)])
def test_encoding_equals_the_itu_reference_on_every_sample(law: g711.Law, reference: Callable[[int], int]) -> None:
    assert g711.encode(ALL_PCM, law) == bytes(reference(int(sample)) for sample in ALL_SAMPLES)


@pytest.mark.parametrize(("law", "reference"), [("mulaw", reference_mulaw_expand), ("alaw", reference_alaw_expand)])
def test_decoding_equals_the_itu_reference_on_every_code(law: g711.Law, reference: Callable[[int], int]) -> None:
    expected = np.array([reference(code) for code in ALL_CODES], dtype="<i2").tobytes()
    assert g711.decode(ALL_CODES, law) == expected


@pytest.mark.parametrize(
    ("law", "encoded", "decoded"),
    [
        ("mulaw", "90c29de505fb68e7", "3dab54339e520bb2"),
        ("alaw", "38488f6fd710f468", "e04788d110e58ff8"),
        ("mulaw_audioop", "81d633c9e6972a18", "3dab54339e520bb2"),
    ],
)
def test_tables_keep_their_golden_hashes(law: g711.Law, encoded: str, decoded: str) -> None:
    """Case B56: the same bytes on every numpy."""
    assert hashlib.sha256(g711.encode(ALL_PCM, law)).hexdigest()[:16] == encoded
    assert hashlib.sha256(g711.decode(ALL_CODES, law)).hexdigest()[:16] == decoded


def test_audioop_variant_differs_from_the_reference_on_508_samples() -> None:
    exact = np.frombuffer(g711.encode(ALL_PCM, "mulaw"), np.uint8)
    field = np.frombuffer(g711.encode(ALL_PCM, "mulaw_audioop"), np.uint8)
    assert np.count_nonzero(exact != field) == 508
    assert not np.any((exact != field) & (ALL_SAMPLES >= 0))


def test_audioop_variant_decodes_like_the_reference() -> None:
    assert g711.decode(ALL_CODES, "mulaw_audioop") == g711.decode(ALL_CODES, "mulaw")


@pytest.mark.filterwarnings("ignore:'audioop' is deprecated")
def test_variants_equal_audioop_where_python_still_has_it() -> None:
    audioop = pytest.importorskip("audioop", reason="audioop left the standard library in Python 3.13")
    assert g711.encode(ALL_PCM, "mulaw_audioop") == audioop.lin2ulaw(ALL_PCM, 2)
    assert g711.encode(ALL_PCM, "alaw") == audioop.lin2alaw(ALL_PCM, 2)
    assert g711.decode(ALL_CODES, "mulaw") == audioop.ulaw2lin(ALL_CODES, 2)
    assert g711.decode(ALL_CODES, "alaw") == audioop.alaw2lin(ALL_CODES, 2)


def test_every_code_survives_a_round_trip_but_negative_zero_of_mulaw() -> None:
    assert g711.encode(g711.decode(ALL_CODES, "alaw"), "alaw") == ALL_CODES
    changed = [code for code in ALL_CODES if g711.encode(g711.decode(bytes([code])))[0] != code]
    assert changed == [0x7F]


def test_silence_is_ff_in_mulaw_and_d5_in_alaw() -> None:
    assert g711.silence("mulaw", 160) == b"\xff" * 160
    assert g711.silence("alaw", 160) == b"\xd5" * 160
    assert np.frombuffer(g711.decode(b"\xd5", "alaw"), "<i2")[0] == 8


def test_decoding_with_the_other_law_ruins_the_sound_but_not_its_loudness() -> None:
    """Case A38 (a): a loudness check alone would pass the wrong law."""
    sound = tone(997, 1)
    sent = g711.encode(sound.tobytes(), "mulaw")
    right = np.frombuffer(g711.decode(sent, "mulaw"), "<i2")
    wrong = np.frombuffer(g711.decode(sent, "alaw"), "<i2")
    assert snr_db(sound, right) > 36
    assert snr_db(sound, wrong) <= 2
    assert abs(np.std(wrong) / np.std(right) - 1) < 0.05


def test_half_a_sample_is_refused() -> None:
    with pytest.raises(AudioError, match="321 bytes"):
        g711.encode(bytes(321))


def test_unknown_law_is_named_in_the_error() -> None:
    for convert in (g711.encode, g711.decode):
        with pytest.raises(AudioError, match=r"'ulaw'.*mulaw"):
            convert(bytes(2), cast("g711.Law", "ulaw"))


def test_nothing_gives_nothing() -> None:
    assert g711.encode(b"") == b""
    assert g711.decode(b"") == b""
