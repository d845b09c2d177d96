"""Faults of the agent, found in the record of a call: one module for each theme, a function for each detector.

=============================  ========================================================================================
kind                           when it is found
=============================  ========================================================================================
no_flush_on_barge_in           over 0.5 s of queued audio heard out after a barge-in, and no flush
late_flush                     the flush came over 1 s after the barge-in
audio_after_flush              sound of the flushed answer still sent and heard, 150 ms or more
residual_burst                 the same, shorter, or after the agent had stopped by itself
lost_first_words               a flush took the beginning of an answer, the rest of which was sent on
barge_in_ignored               no stop within 2 s and no other sign of notice; or an answer that overran an addition
stopped_not_resumed            stopped by a sound that was no turn, then silent for 4 s
false_yield                    gave up its turn to a listener's word
self_interruption              cut itself off while the user was silent
talking_over_user              began in mid-utterance (warning)
dead_air                       4 s of silence after the user's turn
double_answer                  the same twice in a row within 2 s, the user having said nothing in between
repeated_prompt                the same three times, whatever the user answered (warning)
growing_latency                over at least 4 turns each answer later, doubled in the end
stale_answer                   the answer to an earlier turn (tones that tell)
claimed_speaking_but_silent    claimed to speak for over 1 s in silence
farewell_cut                   hung up with 0.3 s or more still to be heard
hangup_too_early               hung up in the middle of the user's words
hangup_too_late                10 s of silence after its last words until it, or the limit, ended the call (warning)
hangup_undetected              sent 10 messages and more after the call had ended
wrong_law, wrong_encoding,     undoing the wrong decoding makes the sound 1.5 dB more predictable
swapped_bytes
noise_instead_of_speech        loud, and unpredictable whatever is undone
silence_as_noise               the line stands at a constant level far from zero
wrong_rate                     a voice below 78 Hz or above 340 Hz (of a tone, the check `tone` tells)
aliasing                       samples in a regular pattern, from resampling without a low-pass (lines above 8 kHz)
clicks_at_seams                the sound jumps at a tenth of the seams of a turn, three at least
media_gap                      holes of 5 to 250 ms in mid-sound, 20 ms in all
pacing_drift                   shorter holes that add up to 2 % of a turn (warning)
backlog                        sent in real time, heard 0.5 s late, for 5 s and more
dtmf_lost, _doubled, _false    digits read back, or on the user's track, are not those pressed; one press by two methods
dtmf_late                      digits read back 2 s and more after the number was complete
history_missing_words          the agent's last claim for an item lacks words that were heard
history_unheard_words          it holds words that were not (one that was cut is allowed)
wrong_truncation               claimed to be heard over 100 ms more or less than was
rtp_lost, _doubled,            over 2 % of the agent's packets were lost on their way, came twice, or out of order
_reordered                     (warning)
rtp_late                       a packet came 0.1 s and more after it was due, or over 2 % more than a packet's time
                               after it, or too late to be played; a sender that pauses is not late (warning)
rtp_clock_skew                 packets fall behind their timestamps by 0.1 s and more, pauses aside (warning)
rtp_timestamp_jump             the time of a packet is off by over 0.6 s from when it came (warning)
rtp_sequence_jump              the packets' numbers jumped, though their source (SSRC) is the same (warning)
rtp_source_changed             the packets come from another source (SSRC) than before (warning)
rtp_address_changed            packets come from another address than was told (warning)
=============================  ========================================================================================

What the user means decides much: an utterance states its ``intent``, or is a *backchannel* if it is nothing but English
fillers said in the agent's turn. Keys and transport signals are not judged as interruptions by speech.

On a bad line that the harness made, how the agent copes is judged as ever: noise, echo and losses on their way to it
excuse nothing. Its sound is judged as it was sent, whatever became of it on its way to the user. Where the harness adds
noise or an echo on that way, silence and stray sound of the agent are not judged (`MADE_BY`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from voiceharness.measure.disturbance import Disturbance, as_sent
from voiceharness.measure.faults import (
    aliasing,
    answering,
    ending,
    floor,
    flush,
    history,
    keys,
    network,
    pacing,
    repeating,
    seams,
    sound,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    from voiceharness.line.record import CallRecord
    from voiceharness.measure.finding import Finding
    from voiceharness.measure.metrics import Metrics

    Detector: TypeAlias = Callable[[CallRecord, Metrics], Iterable[Finding]]

__all__ = ["DETECTORS", "SOUND_DETECTORS", "find_faults"]

DETECTORS: Final[tuple[Detector, ...]] = (
    *flush.DETECTORS,
    *floor.DETECTORS,
    *answering.DETECTORS,
    *repeating.DETECTORS,
    *ending.DETECTORS,
    *keys.DETECTORS,
    *history.DETECTORS,
    *network.DETECTORS,
)
"""The detectors of what was heard: each takes a record and its metrics, and yields findings."""

SOUND_DETECTORS: Final[tuple[Detector, ...]] = (
    *sound.DETECTORS,
    *aliasing.DETECTORS,
    *seams.DETECTORS,
    *pacing.DETECTORS,
)
"""The detectors of what the agent's sound is like: they take it as it was sent, if the line changed it."""


def find_faults(record: CallRecord, metrics: Metrics) -> tuple[Finding, ...]:
    """Look for every kind of fault that can be told on this call's line; findings are in order of their start."""
    unjudged = Disturbance.of(record).unjudged
    found = [each for detector in DETECTORS for each in detector(record, metrics) if each.kind not in unjudged]
    sent = as_sent(record)
    found += [each for detector in SOUND_DETECTORS for each in detector(sent, metrics)]
    return tuple(sorted(found, key=lambda finding: (finding.start, finding.kind)))
