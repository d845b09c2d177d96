"""Measure SIP calls on loopback: many at once, many in a row, exactness, latency, command and dial times.

python tools/bench_sip.py [--calls 80] [--seconds 10] [--row 200] [--exact 60]

The peer of the many calls is SIPp's RTP echo (one process for all); figures of its own stand beside ours.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tests.adapters.sip.calling import lag_of, mulaw_noise, on_line
from tests.adapters.sip.programs import sipp
from voiceharness.clock import LoopClock, run_real, stopwatch
from voiceharness.testing.residue import Residue
from voiceharness_adapters.sip import Sip, SipEndpoint, SipSettings

if TYPE_CHECKING:
    from numpy.typing import NDArray

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def processor_seconds(pid: int) -> float:
    """Processor time that a process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND


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


async def many_at_once(calls: int, seconds: float, lead_ms: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with (
            sipp(Path(folder), "-sn", "uas", "-rtp_echo") as echo,
            SipEndpoint(SipSettings()) as endpoint,
        ):
            adapters = [Sip(echo, endpoint=endpoint, lead_ms=lead_ms) for _ in range(calls)]
            noises = [mulaw_noise(seconds, seed=index) for index in range(calls)]
            took, own = stopwatch(), os.times()
            results = await asyncio.gather(*map(one_of_many, adapters, noises))
            elapsed = took()
            workers = [processor_seconds(pid) for pid in endpoint.pids]
            parent = os.times().user + os.times().system - own.user - own.system
            lost = sum(adapter.quality.lost for adapter in adapters)
            received = sum(adapter.quality.received for adapter in adapters)
    exact = sum(result[0] for result in results)
    print(f"{calls} calls at once, {len(workers)} workers, {elapsed:.1f} s (dialling included)")
    print(f"  bit-exact {exact}/{calls}; RTP packets received {received}, lost {lost}")
    print(f"  user frames not sent in time: {sum(result[2] for result in results)}")
    print(f"  lags {sorted({result[1] for result in results if result[0]})[:8]} samples")
    print(
        f"  processor: workers {100 * sum(workers) / elapsed:.1f} %, owner {100 * parent / elapsed:.1f} % of one core; "
        f"{100 * (sum(workers) + parent) / elapsed / calls:.2f} % per call"
    )


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
        await many_at_once(options.calls, options.seconds, options.lead_ms)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=80)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--lead-ms", type=int, default=100)
    parser.add_argument("--row", type=int, default=200)
    parser.add_argument("--exact", type=float, default=60.0)
    run_real(main(parser.parse_args()))
