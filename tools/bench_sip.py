"""Measure SIP calls on loopback: many at once, many in a row, exactness, latency, command and dial times.

python tools/bench_sip.py [--calls 80] [--seconds 10] [--row 200] [--exact 60]

The peer of the many calls is SIPp's RTP echo (one process for all). Then SIPp makes as many calls of the same length
itself, so that its own figures stand beside ours; it only plays, and looks at nothing that comes back.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import os
import re
import resource
import signal
import statistics
import tempfile
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tests.adapters.sip.calling import lag_of, mulaw_noise, on_line
from tests.adapters.sip.programs import free_port, is_bound, needs, sipp
from tests.adapters.sip.sipp_calls import SCENARIOS
from voiceharness.audio import g711
from voiceharness.clock import LoopClock, run_real, stopwatch
from voiceharness.testing.residue import Residue
from voiceharness_adapters.sip import Sip, SipEndpoint, SipSettings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from numpy.typing import NDArray

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def processor_seconds(pid: int) -> float:
    """Processor time that a process has used so far; 0: it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except FileNotFoundError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND


@dataclass(frozen=True, slots=True)
class SippProcess:
    """A SIPp that runs, and what it says of itself: its statistics once a second, and its screen."""

    folder: Path
    port: int
    process: asyncio.subprocess.Process

    def count(self, name: str) -> int:
        """Return one of its cumulative counters."""
        with (self.folder / "statistics.csv").open() as lines:
            return int(list(csv.DictReader(lines, delimiter=";"))[-1][f"{name}(C)"])

    def echoed(self) -> int:
        """Return how many RTP packets it echoed."""
        screen = (self.folder / "screen").read_text(errors="replace")
        return int(re.findall(r"(\d+)\s+Total echo RTP pckts 1st stream", screen)[-1])

    async def finish(self) -> None:
        """Let it end and write its last figures."""
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGUSR1)
            self.process.terminate()
        await self.process.wait()


@asynccontextmanager
async def running_sipp(folder: Path, *arguments: str) -> AsyncIterator[SippProcess]:
    """Run SIPp in a folder of its own."""
    needs("sipp")
    await asyncio.to_thread(folder.mkdir)
    port, media, control = free_port(), free_port(), free_port()
    with (folder / "screen").open("wb") as screen:
        process = await asyncio.create_subprocess_exec(
            *("sipp", "-i", "127.0.0.1", "-p", str(port), "-mi", "127.0.0.1", "-mp", str(media)),
            *("-ci", "127.0.0.1", "-cp", str(control), "-nostdin"),
            *("-trace_stat", "-stf", "statistics.csv", "-fd", "1", *arguments),
            cwd=folder,
            stdout=screen,
            stderr=asyncio.subprocess.DEVNULL,
            stdin=asyncio.subprocess.DEVNULL,
        )
    try:
        await is_bound(port)
        yield SippProcess(folder, port, process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def sipp_alone(calls: int, seconds: float, ours_percent: float) -> None:
    """Let SIPp call SIPp as often and as long, and print what it says of itself beside our share of a core per call."""
    length_ms = round(1000 * seconds)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "noise.ulaw").write_bytes(g711.encode(mulaw_noise(seconds).tobytes()))
        (folder / "call.xml").write_text((SCENARIOS / "call_and_play.xml").read_text().replace("noise", "../noise"))
        async with running_sipp(folder / "echo", "-sn", "uas", "-rtp_echo") as echo:
            before, took = resource.getrusage(resource.RUSAGE_CHILDREN), stopwatch()
            play = ("-sf", "../call.xml", f"127.0.0.1:{echo.port}", "-m", str(calls), "-l", str(calls))
            async with running_sipp(folder / "caller", *play, "-r", str(calls), "-d", str(length_ms)) as caller:
                if code := await caller.process.wait():
                    raise RuntimeError(f"SIPp ended with {code}")
            elapsed, after = took(), resource.getrusage(resource.RUSAGE_CHILDREN)
            calling = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            echoing = processor_seconds(echo.process.pid)
            await echo.finish()
        made, failed = caller.count("SuccessfulCall"), caller.count("FailedCall")
        again, packets, expected = caller.count("Retransmissions"), echo.echoed(), calls * seconds * 50
    print(f"SIPp by itself: {made} calls of {seconds:g} s, {elapsed:.1f} s in all")
    print(f"  failed {failed}, retransmissions {again}; RTP packets echoed {packets}, {packets / expected:.2%} of all")
    caller_percent, echo_percent = (100 * used / elapsed / calls for used in (calling, echoing))
    print(
        f"  processor per call: SIPp as caller {caller_percent:.2f} %, as echo {echo_percent:.2f} % of one core; "
        f"ours is {ours_percent / caller_percent:.1f} times that of SIPp as caller"
    )


async def one_of_many(adapter: Sip, noise: NDArray[np.int16]) -> tuple[bool, int, int]:
    """Make a call to the echo; return whether it was exact, its lag, and frames that were not sent in time."""
    async with on_line(adapter, connect_timeout=30) as line:
        said = line.say(noise, at=4000)
        await line.until_position(said.end + 3200)
    record = line.record()
    lag = lag_of(noise, record.agent, said.start)
    exact = lag > 0 and np.array_equal(record.agent[said.start + lag : said.end + lag], noise)
    media = adapter._media
    return bool(exact), lag, 0 if media is None else media.unsent


async def many_at_once(calls: int, seconds: float, lead_ms: int) -> float:
    """Make many calls at once to one echo; returns our share of a core for each, in percent."""
    with tempfile.TemporaryDirectory() as folder:
        async with (
            running_sipp(Path(folder) / "echo", "-sn", "uas", "-rtp_echo") as echo,
            SipEndpoint(SipSettings()) as endpoint,
        ):
            uri = f"sip:echo@127.0.0.1:{echo.port}"
            adapters = [Sip(uri, endpoint=endpoint, lead_ms=lead_ms) for _ in range(calls)]
            noises = [mulaw_noise(seconds, seed=index) for index in range(calls)]
            took, own = stopwatch(), os.times()
            results = await asyncio.gather(*map(one_of_many, adapters, noises))
            elapsed = took()
            died = [worker._dead for worker in endpoint._workers if worker._dead]
            workers = [processor_seconds(pid) for pid in endpoint.pids]
            parent = os.times().user + os.times().system - own.user - own.system
            lost = sum(adapter.quality.lost for adapter in adapters)
            received = sum(adapter.quality.received for adapter in adapters)
            echoing = processor_seconds(echo.process.pid)
            await echo.finish()
        again, echoed = echo.count("Retransmissions"), echo.echoed()
    exact = sum(result[0] for result in results)
    print(f"{calls} calls at once, {len(workers)} workers, {elapsed:.1f} s (dialling included)")
    for words in died:
        print(f"  A WORKER DIED: {words}")
    print(f"  bit-exact {exact}/{calls}; RTP packets received {received}, lost {lost}")
    print(f"  user frames not sent in time: {sum(result[2] for result in results)}")
    print(f"  lags {sorted({result[1] for result in results if result[0]})[:8]} samples")
    share = 100 * (sum(workers) + parent) / elapsed / calls
    print(
        f"  SIPp says: RTP packets echoed {echoed}, retransmissions {again}; "
        f"its processor per call {100 * echoing / elapsed / calls:.2f} %"
    )
    print(
        f"  processor: workers {100 * sum(workers) / elapsed:.1f} %, owner {100 * parent / elapsed:.1f} % of one core; "
        f"{share:.2f} % per call"
    )
    return share


async def in_a_row(calls: int) -> None:
    async with SipEndpoint(SipSettings()) as theirs, SipEndpoint(SipSettings()) as ours:
        times = []
        before = None
        for index in range(calls):
            took = stopwatch()
            inbound = asyncio.create_task(theirs.claim(timeout=10))
            adapter = Sip(theirs.uri, endpoint=ours)
            answering = asyncio.create_task(_answer(inbound))
            await adapter.connect()
            times.append(took())
            await answering
            await adapter.disconnect()
            if index == 0:
                before = Residue.now()
        assert before is not None
        left = await before.since(LoopClock(), patience=5)
        asked = []
        for _ in range(200):
            took = stopwatch()
            await _round_trip(ours)
            asked.append(took())
    print(f"{calls} calls in a row: left behind: {left or 'nothing'}")
    print(f"  dial to media: median {1000 * statistics.median(times):.1f} ms, p99 {1000 * sorted(times)[-2]:.1f} ms")
    print(f"  command round trip: median {1000 * statistics.median(asked):.2f} ms, worst {1000 * max(asked):.2f} ms")


async def _answer(inbound: asyncio.Task[object]) -> None:
    await (await inbound).handle.answer(200)  # type: ignore[attr-defined]  # a SipCall


async def _round_trip(endpoint: SipEndpoint) -> None:
    await endpoint._workers[0].ask("hangup", call=0)


async def exactness(seconds: float) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with sipp(Path(folder), "-sn", "uas", "-rtp_echo") as echo:
            adapter = Sip(echo)
            exact, lag, unsent = await one_of_many(adapter, mulaw_noise(seconds))
    print(f"one call of {seconds:.0f} s: bit-exact {exact}, lag {lag} samples, frames not sent in time {unsent}")
    facts = adapter.call_facts()
    holdback = f"holdback {facts['holdback_ms']} ms, measured {facts['holdback_measured']}"
    print(f"  {holdback}; jitter {facts['rtp_jitter_ms']} ms")


async def main(options: argparse.Namespace) -> None:
    if options.exact:
        await exactness(options.exact)
    if options.row:
        await in_a_row(options.row)
    if options.calls:
        share = await many_at_once(options.calls, options.seconds, options.lead_ms)
        await sipp_alone(options.calls, options.seconds, share)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=80)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--lead-ms", type=int, default=100)
    parser.add_argument("--row", type=int, default=200)
    parser.add_argument("--exact", type=float, default=60.0)
    run_real(main(parser.parse_args()))
