"""Text to speech and speech to text: the seams, the embedded engines, and how texts are compared.

Nothing here loads an engine before it is used; missing extras are reported when an engine is named.
"""

from voiceharness.speech.cache import CachedSynthesizer, SpeechCache
from voiceharness.speech.engines import EngineInfo, engine_info, make_synthesizer, make_transcriber
from voiceharness.speech.files import load_audio
from voiceharness.speech.live import InlineTranscriber, live_transcriber
from voiceharness.speech.rolling import RollingTranscription
from voiceharness.speech.synthesis import Speech, Synthesizer
from voiceharness.speech.text import PhraseMatch, find_phrase, normalize, word_error_rate
from voiceharness.speech.transcription import LiveTranscriber, Transcriber, Transcript, TranscriptUpdate
from voiceharness.speech.worker import WorkerTranscriber

__all__ = [
    "CachedSynthesizer",
    "EngineInfo",
    "InlineTranscriber",
    "LiveTranscriber",
    "PhraseMatch",
    "RollingTranscription",
    "Speech",
    "SpeechCache",
    "Synthesizer",
    "Transcriber",
    "Transcript",
    "TranscriptUpdate",
    "WorkerTranscriber",
    "engine_info",
    "find_phrase",
    "live_transcriber",
    "load_audio",
    "make_synthesizer",
    "make_transcriber",
    "normalize",
    "word_error_rate",
]
