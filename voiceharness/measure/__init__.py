"""Measuring a call from its record: turns, latencies, barge-ins, and what went wrong."""

from voiceharness.measure.answers import Exchange
from voiceharness.measure.barge_ins import BargeIn
from voiceharness.measure.faults import find_faults
from voiceharness.measure.finding import FINDING_KINDS, Finding
from voiceharness.measure.metrics import KeyPress, Metrics, Silence, measure
from voiceharness.measure.percentiles import Distribution, Percentile, percentile
from voiceharness.measure.turns import Turn
from voiceharness.measure.utterances import Utterance

__all__ = [
    "FINDING_KINDS",
    "BargeIn",
    "Distribution",
    "Exchange",
    "Finding",
    "KeyPress",
    "Metrics",
    "Percentile",
    "Silence",
    "Turn",
    "Utterance",
    "find_faults",
    "measure",
    "percentile",
]
