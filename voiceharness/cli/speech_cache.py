"""Where the command line keeps speech between runs."""

from __future__ import annotations

import os
from pathlib import Path

from voiceharness.scenario.run import SpeechEngines
from voiceharness.speech.cache import SpeechCache

__all__ = ["cached_speech", "speech_folder"]


def speech_folder() -> Path:
    """Return the folder of that speech, in the user's cache folder (``XDG_CACHE_HOME``, or ``~/.cache``)."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "voiceharness" / "speech"


def cached_speech() -> SpeechEngines:
    """Return the default engines, behind a cache in that folder."""
    return SpeechEngines(cache=SpeechCache(speech_folder()))
