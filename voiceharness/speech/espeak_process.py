"""The child process of the espeak synthesizer: one text in, one utterance out, one library load.

Run as a script, on nothing but the standard library and espeakng-loader. It reads one JSON object (text, voice,
words_per_minute) and answers with a line of JSON (rate, words as [text_position, sample]) and 16-bit samples.

The library is GPL-3.0 and is loaded in this process only. It also remembers what it said before, and seeds its noise
from the time of day; a fresh process and a fixed seed make the same text sound the same.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from typing import Any

__all__ = ["main"]

# Names and values of speak_lib.h and espeak_ng.h, espeak-ng 1.52.
_OUTPUT_SYNCHRONOUS = 2
_DO_NOT_EXIT = 0x8000
_PARAMETER_RATE = 1
_POSITION_CHARACTER = 1
_CHARS_UTF8 = 1
_EVENT_LIST_TERMINATED = 0
_EVENT_WORD = 1


class _Event(ctypes.Structure):
    """``espeak_EVENT``."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", ctypes.c_char * 8),
    )


_Callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event))


def _speak(text: str, voice: str, words_per_minute: int) -> tuple[dict[str, Any], bytes]:  # Any: what JSON can hold
    """Speak one text with a freshly loaded library."""
    import espeakng_loader

    library = ctypes.CDLL(espeakng_loader.get_library_path())
    data = os.fsencode(espeakng_loader.get_data_path())
    rate = library.espeak_Initialize(_OUTPUT_SYNCHRONOUS, 0, data, _DO_NOT_EXIT)
    if rate <= 0:
        sys.exit(f"espeak-ng cannot be initialized (error {rate})")
    library.espeak_ng_SetRandSeed(ctypes.c_long(1))
    if library.espeak_SetVoiceByName(voice.encode()):
        sys.exit(f"unknown voice {voice!r}")
    library.espeak_SetParameter(_PARAMETER_RATE, words_per_minute, 0)
    pcm = bytearray()
    words: list[tuple[int, int]] = []

    def collect(samples: Any, count: int, events: Any) -> int:  # Any: ctypes pointers
        if count > 0:
            pcm.extend(ctypes.string_at(samples, count * 2))
        index = 0
        while events[index].type != _EVENT_LIST_TERMINATED:
            if events[index].type == _EVENT_WORD:
                words.append((events[index].text_position, events[index].sample))
            index += 1
        return 0

    callback = _Callback(collect)
    library.espeak_SetSynthCallback(callback)
    encoded = text.encode() + b"\0"
    failed = library.espeak_Synth(
        encoded, ctypes.c_size_t(len(encoded)), 0, _POSITION_CHARACTER, 0, _CHARS_UTF8, None, None
    )
    if failed or library.espeak_Synchronize():
        sys.exit("espeak-ng failed to speak")
    return {"rate": rate, "words": words}, bytes(pcm)


def main() -> None:
    """Answer the one request on standard input."""
    header, pcm = _speak(**json.load(sys.stdin))
    sys.stdout.buffer.write(json.dumps(header).encode() + b"\n" + pcm)


if __name__ == "__main__":
    main()
