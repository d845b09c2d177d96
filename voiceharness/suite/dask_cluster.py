"""A dask cluster as a run finds it: whether it is there, who works in it, and whether they can make the calls."""

from __future__ import annotations

import importlib.util
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from voiceharness.clock import stopwatch
from voiceharness.errors import ConfigurationError, MissingExtraError, OptionError
from voiceharness.registry import named_objects
from voiceharness.suite.dask_watch import heartbeats, known_workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from distributed import Client

    from voiceharness.suite.job import Job

__all__ = ["check_workers", "connected", "nobody_for", "scheduler_address"]

_PORT: Final = 8786
_TRANSPORTS: Final[Mapping[str, str]] = {"dask": "tcp", "dask+tls": "tls"}


def scheduler_address(url: str) -> str:
    """Return a scheduler's address as dask writes it: ``tcp://HOST:PORT`` of ``dask://``, ``tls://`` of ``dask+tls://``.

    Without a port it is 8786, that of dask.

    Raises:
        OptionError: if the URL is not that of a scheduler.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or _PORT
    except ValueError as error:
        raise OptionError(f"engine {url!r} is no address: {error}") from error
    if not host or parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc:
        raise OptionError(f"engine {url!r} is no address; write {parts.scheme}://HOST:PORT")
    return f"{_TRANSPORTS[parts.scheme]}://{f'[{host}]' if ':' in host else host}:{port}"


def connected(address: str, *, timeout: float) -> Client:
    """Return a client of the scheduler, with the certificates of dask's own settings for an address of ``tls://``.

    Raises:
        MissingExtraError: if dask is not installed.
        OptionError: if no scheduler answers within ``timeout`` seconds.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingExtraError("the engine dask needs the package distributed", extra="dask") from error
    try:
        return Client(address, timeout=timeout, set_as_default=False, name="voiceharness")
    except (OSError, TimeoutError, ValueError, RuntimeError, TypeError) as error:
        raise OptionError(
            f"no dask scheduler answers at {address} ({error}); start one with `dask scheduler`, and give its address"
        ) from error


def check_workers(client: Client, jobs: Sequence[Job], *, arrival: float, answer: float) -> None:
    """Check that every call has a worker, and that all workers are like this process.

    For workers that are still missing this waits ``arrival`` seconds, and ``answer`` seconds for what workers say.
    ``jobs`` name their agents.

    Raises:
        OptionError: if nobody offers what a call takes; if a worker does not answer; if a worker or the scheduler has
            another Python, another voiceharness or none, or a worker does not find an agent, or the module of an
            option. It says which call, and which workers.
    """
    _wait_for_offers(client, jobs, arrival)
    _check_versions(client, answer)
    for module, what in sorted(dict(named for job in jobs for named in _modules(job)).items()):
        found = _asked(client, answer, _finds, module.partition(".")[0])
        if lost := [worker for worker, there in found.items() if there is not True]:
            raise OptionError(
                f"{what} cannot be imported on worker {', '.join(lost)}; install it there, or "
                "start the workers in its folder with PYTHONPATH=."
            )


def _modules(job: Job) -> Iterator[tuple[str, str]]:
    """Tell which modules a call needs beside its adapter, each with how to speak of it."""
    if job.agent is not None:
        module = str(job.agent).partition(":")[0]
        yield module, f"the agent's module {module!r}"
    adapter = job.target.adapter_for(job.scenario)
    try:
        named = named_objects(adapter, job.target.options_for(job.scenario))
    except ConfigurationError:  # an adapter that cannot be used is for its call to tell
        return
    for option, spec in named.items():
        module = spec.partition(":")[0]
        yield module, f"the module {module!r} of the option {option!r} of adapter {adapter!r}"


def _wait_for_offers(client: Client, jobs: Sequence[Job], arrival: float) -> None:
    since = stopwatch()
    while lacking := _first_lacking(jobs, offers := offered(client)):
        try:
            client.wait_for_workers(len(offers) + 1, timeout=max(0.1, arrival - since()))
        except TimeoutError as error:
            raise OptionError(f"{lacking}. No worker came within {arrival:g} s") from error


def _first_lacking(jobs: Sequence[Job], offers: Mapping[str, Mapping[str, float]]) -> str:
    told = ((job.scenario.name, nobody_for(job, offers)) for job in jobs)
    return next((f"scenario {name!r} needs {lacking}" for name, lacking in told if lacking), "")


def _check_versions(client: Client, answer: float) -> None:
    wanted = _described(platform.python_version(), version("voiceharness"))
    found = {"the scheduler": _scheduler_has(client)}
    # What is asked are functions of Python's own, which a worker has whatever else it lacks.
    pythons = _asked(client, answer, platform.python_version)
    releases = _asked(client, answer, version, "voiceharness")
    found |= {f"worker {worker}": _described(pythons[worker], releases.get(worker)) for worker in pythons}
    if others := [f"{who} has {what}" for who, what in found.items() if what != wanted]:
        raise OptionError(f"all machines of a run need the same: here is {wanted}, but {'; '.join(others)}")


def _asked(client: Client, answer: float, question: Callable[..., object], *about: str) -> Mapping[str, object]:
    """Ask all workers, and return what each said, or what went wrong there; one that is lost meanwhile is left out.

    Raises:
        OptionError: if a worker says nothing.
    """
    before = heartbeats(client)
    try:
        said: Mapping[str, object] = client.run(question, *about, on_error="return", callback_timeout=answer)
    except TimeoutError as error:
        silent = [worker for worker, beat in heartbeats(client).items() if beat == before.get(worker)]
        raise OptionError(
            f"no answer within {answer:g} s from the workers of the dask cluster"
            + (f"; of {', '.join(silent)} nothing was heard at all: end it, or start it again" if silent else "")
        ) from error
    return {worker: answer for worker, answer in said.items() if not isinstance(answer, OSError)}


def _scheduler_has(client: Client) -> str:
    """Describe what the scheduler has; it reads tasks too."""
    python = client.run_on_scheduler(platform.python_version)
    try:
        return _described(python, client.run_on_scheduler(version, "voiceharness"))
    except PackageNotFoundError as error:
        return _described(python, error)


def _described(python: object, release: object) -> str:
    minor = ".".join(str(python).split(".")[:2])
    there = "no voiceharness" if isinstance(release, PackageNotFoundError) else f"voiceharness {release}"
    return f"Python {minor}, {there}"


def offered(client: Client) -> Mapping[str, Mapping[str, float]]:
    """Return what each worker, by address, offers at most: of each resource how much.

    Raises:
        OSError: if the scheduler does not answer.
    """
    return {address: dict(worker["resources"]) for address, worker in known_workers(client).items()}


def nobody_for(job: Job, offers: Mapping[str, Mapping[str, float]]) -> str:
    """Say what a job takes that no worker offers; nothing if one does."""
    if any(all(each.get(name, 0.0) >= amount for name, amount in job.resources.items()) for each in offers.values()):
        return ""
    there = "; ".join(f"{address}: {_listed(each) or 'nothing'}" for address, each in offers.items()) or "no workers"
    wanted = _listed(job.resources)
    return (
        f"{wanted or 'a worker'}, which no worker of the dask cluster offers ({there}); start one with "
        f"`dask worker ADDRESS{f' --resources {chr(34)}{wanted}{chr(34)}' if wanted else ''}`"
    )


def _listed(resources: Mapping[str, float]) -> str:
    return " ".join(f"{name}={amount:g}" for name, amount in sorted(resources.items()))


def _finds(module: str) -> bool:
    return importlib.util.find_spec(module) is not None
