"""What makes the calls of a suite on other machines, chosen by the scheme of a URL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from voiceharness.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from voiceharness.suite.crew import Listener
    from voiceharness.suite.job import Job

__all__ = ["Engine", "engine_for"]


class Engine(Protocol):
    """Makes calls wherever it has room for them."""

    def make_calls(self, jobs: Sequence[Job], listener: Listener) -> None:
        """Make all calls, bring their evidence to the folders of the jobs, and tell of them in the order of the jobs.

        The listener is told that it begins when nothing is known any more that would keep a call from being made.

        Raises:
            OptionError: if the calls cannot be made there; then none was made.
            ScenarioError: if a sound file that a scenario names cannot be read; then none was made.
            KeyboardInterrupt: after the listener was given what the interrupted calls had come to.
        """


def engine_for(url: str, *, fresh: bool, patience: float) -> Engine:
    """Return the engine that a URL names: ``dask://HOST:PORT``, or with certificates ``dask+tls://HOST:PORT``.

    Raises:
        OptionError: if there is no such engine.
        MissingExtraError: if it is not installed.
    """
    scheme = urlsplit(url).scheme
    match scheme:
        case "dask" | "dask+tls":
            from voiceharness.suite.dask_engine import DaskEngine

            return DaskEngine.at(url, fresh=fresh, patience=patience)
        case _:
            raise OptionError(f"there is no engine {url!r}; there are dask://HOST:PORT and dask+tls://HOST:PORT")
