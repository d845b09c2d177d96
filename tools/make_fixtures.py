"""Make and verify the sound fixtures of the tests, and their manifest.

    python tools/make_fixtures.py            make the arithmetic fixtures and bring the manifest up to date
    python tools/make_fixtures.py --check    verify every file, and that arithmetic ones come out the same here
    python tools/make_fixtures.py --spoken   synthesise the spoken ones anew (their bytes will differ between machines)

Arithmetic fixtures have the same bytes on every machine and numpy version. Spoken ones were synthesised once and are
verified by hash only. Entries of other kinds (captures) are kept and verified by hash.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from voiceharness.audio import dtmf, g711
from voiceharness.audio.resample import resample
from voiceharness.audio.signals import click, speech_like, tone, white_noise
from voiceharness.audio.wav import wav_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Entry = dict[str, str | int]

FOLDER = Path(__file__).parent.parent / "fixtures_audio"
MANIFEST = FOLDER / "manifest.json"
LICENCE = "Apache-2.0"
VOICE_RATE = 24_000
LINE_RATE = 8000

SPOKEN = {
    "agent_greeting": "Thank you for calling Lakeside Dental. How can I help you today?",
    "agent_offer": "I have an opening on Tuesday at half past two, or on Wednesday at nine. Which one works for you?",
    "agent_confirm": "Great, you are booked for Tuesday at half past two. We will send you a reminder the day before.",
    "agent_menu": "For appointments, press one. For billing, press two.",
    "agent_goodbye": "Thank you for calling. Have a nice day.",
    "user_hello": "Hello?",
    "user_book": "Hi, I would like to book an appointment for next week.",
    "user_tuesday": "Tuesday afternoon would be great.",
    "user_question": "What should I bring with me, and how long will it take?",
    "user_stop": "Stop.",
    "user_wait": "Wait, hold on a second.",
    "user_mm_hmm": "Mm-hmm.",
    "user_thanks": "Thanks, goodbye.",
}


def at(length: int, *clips: tuple[int, NDArray[np.int16]]) -> NDArray[np.int16]:
    """A silent track with clips at positions."""
    track = np.zeros(length, np.int16)
    for position, clip in clips:
        track[position : position + len(clip)] = clip
    return track


# Name: how it is made in words, its rate, and its samples.
ARITHMETIC: dict[str, tuple[str, int, Callable[[], NDArray[np.int16]]]] = {
    "tone_440": ("1 s sine of 440 Hz, peak -6 dBFS", 8000, lambda: tone(440, 1)),
    "tone_880": ("1 s sine of 880 Hz, peak -6 dBFS", 8000, lambda: tone(880, 1)),
    "tone_997_16k": ("1 s sine of 997 Hz, peak -6 dBFS", 16_000, lambda: tone(997, 1, 16_000)),
    "tone_5000_24k": ("0.5 s sine of 5000 Hz, peak -6 dBFS", 24_000, lambda: tone(5000, 0.5, 24_000)),
    "speech_like_42": ("1 s speech-like noise, -20 dBFS, seed 42", 8000, lambda: speech_like(1, seed=42)),
    "speech_like_43": ("1 s speech-like noise, -20 dBFS, seed 43", 8000, lambda: speech_like(1, seed=43)),
    "word_300ms": ("0.3 s speech-like noise, -20 dBFS, seed 7", 8000, lambda: speech_like(0.3, seed=7)),
    "noise_42": ("1 s white noise, -40 dBFS, seed 42", 8000, lambda: white_noise(1, level_db=-40, seed=42)),
    "noise_43": ("1 s white noise, -40 dBFS, seed 43", 8000, lambda: white_noise(1, level_db=-40, seed=43)),
    "dtmf_keys": ("all 16 keys, 100 ms tones and gaps", 8000, lambda: dtmf.generate(dtmf.KEYS)),
    "dtmf_fast": (
        "1234567890*#, 40 ms tones and gaps",
        8000,
        lambda: dtmf.generate("1234567890*#", tone_ms=40, gap_ms=40),
    ),
    "clicks": (
        "clicks of 1 ms at 0.5, 1.0 and 1.5 s",
        8000,
        lambda: at(16_000, *((4000 * n, click()) for n in (1, 2, 3))),
    ),
    "residual_burst": (
        "440 Hz until 1.7 s, then 60 ms of it at 1.8 s",
        8000,
        lambda: at(20_000, (0, tone(440, 1.7)), (14_400, tone(440, 0.06))),
    ),
    "g711_all": (
        "every mu-law code, then every A-law code, decoded",
        8000,
        lambda: np.frombuffer(b"".join(g711.decode(bytes(range(256)), law) for law in ("mulaw", "alaw")), "<i2"),
    ),
}


def arithmetic() -> dict[Path, tuple[Entry, bytes]]:
    """Manifest entry and content of each fixture that is computed."""
    made = {}
    for name, (how, rate, samples) in ARITHMETIC.items():
        content = wav_bytes(samples(), rate)
        made[FOLDER / f"{name}.wav"] = entry(f"{name}.wav", "arithmetic", content, rate, "", how), content
    return made


def spoken() -> dict[Path, tuple[Entry, bytes]]:
    """Manifest entry and content of each spoken fixture, synthesised now."""
    import hibari

    voice = hibari.Hibari("heart")
    how = f"hibari-tts {hibari.__version__}, voice heart (Apache-2.0), seed 0, resampled from 24 kHz"
    made = {}
    for name, text in SPOKEN.items():
        content = wav_bytes(resample(voice(text, seed=0), VOICE_RATE, LINE_RATE), LINE_RATE)
        made[FOLDER / f"{name}.wav"] = entry(f"{name}.wav", "spoken", content, LINE_RATE, text, how), content
    return made


def entry(file: str, kind: str, content: bytes, rate: int, text: str, how: str) -> Entry:
    sha256 = hashlib.sha256(content).hexdigest()
    return {"file": file, "kind": kind, "sha256": sha256, "rate": rate, "text": text, "licence": LICENCE, "made": how}


def read_manifest() -> dict[str, Entry]:
    entries: list[Entry] = json.loads(MANIFEST.read_text()) if MANIFEST.exists() else []
    return {str(known["file"]): known for known in entries}


def write(made: dict[Path, tuple[Entry, bytes]]) -> None:
    """Write fixtures, and the manifest with their entries replaced."""
    manifest = read_manifest()
    FOLDER.mkdir(exist_ok=True)
    for path, (known, content) in made.items():
        path.write_bytes(content)
        manifest[path.name] = known
    ordered = [manifest[name] for name in sorted(manifest)]
    MANIFEST.write_text(json.dumps(ordered, indent=1) + "\n")
    print(f"wrote {len(made)} fixtures; the manifest has {len(ordered)}")


def check() -> list[str]:
    """What is wrong with the fixtures, one line each."""
    manifest = read_manifest()
    wrong = []
    for name, known in manifest.items():
        path = FOLDER / name
        if not path.exists():
            wrong.append(f"{name}: in the manifest, but not there")
        elif hashlib.sha256(path.read_bytes()).hexdigest() != known["sha256"]:
            wrong.append(f"{name}: its content is not what the manifest says")
    for path, (known, _) in arithmetic().items():
        if manifest.get(path.name) != known:
            wrong.append(f"{path.name}: comes out differently here (numpy {np.__version__})")
    present = {str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*") if path.is_file() and path != MANIFEST}
    return wrong + [f"{name}: not in the manifest" for name in sorted(present - manifest.keys())]


def main() -> None:
    parser = argparse.ArgumentParser(description="Make and verify the sound fixtures.")
    parser.add_argument("--check", action="store_true", help="verify, and change nothing")
    parser.add_argument("--spoken", action="store_true", help="synthesise the spoken fixtures anew (needs hibari-tts)")
    options = parser.parse_args()
    if options.check:
        wrong = check()
        print("\n".join(wrong) or "all fixtures are as the manifest says")
        sys.exit(bool(wrong))
    write(arithmetic() | (spoken() if options.spoken else {}))


if __name__ == "__main__":
    main()
