"""Many calls: one after the other, or side by side on the cores of a machine, each in a process of its own."""

from voiceharness.suite.job import Job
from voiceharness.suite.run import run_jobs

__all__ = ["Job", "run_jobs"]
