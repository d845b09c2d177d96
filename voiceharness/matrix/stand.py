"""Where probes make their calls: each call in an event loop of its own, each result kept.

A stand gives an adapter more rope than a scenario would: what the adapter does not declare is tried all the same, so
that something that works without being declared is found.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar, get_args

from voiceharness.capabilities import AdapterCapabilities, CallAction, Direction, DtmfMethod
from voiceharness.clock import run_real, run_virtual
from voiceharness.doubles.probe_agent import ProbeAgent
from voiceharness.matrix.sound import seconds_of, sounding, user_sound
from voiceharness.scenario.run import run_call
from voiceharness.scenario.scenario import RATES, Scenario
from voiceharness.scenario.steps import Hear, Line, Say, Wait

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence

    from voiceharness.adapter import VoiceAgentAdapter
    from voiceharness.doubles.log import CallLog
    from voiceharness.line.record import CallRecord
    from voiceharness.matrix.subject import Subject
    from voiceharness.scenario.result import CallResult
    from voiceharness.scenario.run import SpeechEngines
    from voiceharness.scenario.steps import AnyStep

__all__ = ["DEFAULT_RATE", "ProbeCall", "Stand"]

T = TypeVar("T")
LONGEST_CALL: Final = 150.0
DEFAULT_RATE: Final = 8000
GREETING: Final = 3.0
SETTLED_WITHIN: Final = 3.0
HEARD: Final = 0.3
ASKING: Final = 0.5
NOBODY: Final = "nobody"
ASKED: Final = "Hello. Please tell me in a few sentences what you can do for me."

ANYTHING: Final = AdapterCapabilities(
    interruption=True,
    dtmf=frozenset(get_args(DtmfMethod)),
    streaming_transcripts=True,
    call_control=frozenset(get_args(CallAction)),
    directions=frozenset(get_args(Direction)),
    rates=frozenset(RATES),
    virtual_time=True,
)


@dataclass(frozen=True, slots=True)
class ProbeCall:
    """One call that was made for a probe: what was heard, and what the probe agent took note of."""

    result: CallResult
    record: CallRecord
    logs: Sequence[CallLog]

    @property
    def log(self) -> CallLog:
        """What reached the probe agent; empty if the call was to another agent."""
        return self.logs[-1]

    @property
    def rate(self) -> int:
        """The line rate in hertz."""
        return self.record.rate


@dataclass(slots=True, eq=False)
class Stand:
    """Makes the calls of one probe. ``keep`` saves a call and returns the name of its run.

    ``here`` is what the adapter declares for its options, or for those of its dialler. ``runs`` names the calls that
    were made, and ``doubts`` holds why their timing cannot be believed.
    """

    subject: Subject
    probe: str
    virtual: bool
    here: AdapterCapabilities
    keep: Callable[[CallResult], str]
    speech: SpeechEngines | None = None
    runs: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)

    @property
    def opening(self) -> tuple[AnyStep, ...]:
        """What makes the agent speak: the user's own is heard out, then asked; the probe agent speaks by itself."""
        return () if self.subject.is_ours else (Hear(within=GREETING), Say(text=ASKED))

    @property
    def asking(self) -> tuple[AnyStep, ...]:
        """What every call to a probe agent begins with that only answers: its timetable begins when this is over."""
        return (Say(audio=user_sound(ASKING)),) if self.subject.is_ours and self.subject.answers_only else ()

    def be_called(self) -> bool:
        """Let the agent call from now on; False: there is no dialler that would let it."""
        if self.subject.dialler is None:
            return False
        self.subject = replace(self.subject, host=self.subject.dialler)
        self.here = self.run(self.subject.declares_here())
        return True

    def call(
        self,
        *steps: AnyStep,
        agent: ProbeAgent | None = None,
        rate: int = DEFAULT_RATE,
        pretending: AdapterCapabilities = ANYTHING,
        virtual: bool | None = None,
        watch: Callable[[VoiceAgentAdapter], object] = lambda _adapter: None,
    ) -> ProbeCall:
        """Make one call to the probe agent (or to the user's own) and return what became of it.

        ``pretending``: what the scenario believes of the adapter. ``watch`` gets the adapter before it connects.

        Raises:
            VoiceHarnessError: what broke the call.
        """
        return self.calls(*steps, agent=agent, rate=rate, pretending=pretending, virtual=virtual, watch=watch)[0]

    def calls(
        self,
        *steps: AnyStep,
        agent: ProbeAgent | None = None,
        rate: int = DEFAULT_RATE,
        pretending: AdapterCapabilities = ANYTHING,
        virtual: bool | None = None,
        watch: Callable[[VoiceAgentAdapter], object] = lambda _adapter: None,
        times: int = 1,
    ) -> list[ProbeCall]:
        """Make the same call several times, one after the other, while the agent stays served."""
        scenario = self._scenario((*self.asking, *steps), rate=rate)
        served = agent or ProbeAgent()

        async def make_all() -> list[CallResult]:
            results: list[CallResult] = []
            async with self.subject.reach(served, rate=rate) as target:
                for _ in range(times):
                    adapter = self.subject.make(self._options(target, rate))
                    watch(adapter)
                    results.append(await run_call(scenario, adapter, capabilities=pretending, speech=self.speech))
            return results

        results = self.run(make_all(), virtual=virtual)
        return [self._kept(result, served.logs[: index + 1]) for index, result in enumerate(results)]

    def transferred(self, agent: ProbeAgent, to: ProbeAgent, *, after: float) -> ProbeCall | None:
        """Make a call, and transfer the agent some seconds later; return once both agents hear each other.

        None: an agent on this transport has no address to which one could be transferred.
        """

        async def transfer() -> CallResult | None:
            async with self.subject.reach(to) as other, self.subject.reach(agent) as target:
                address = self.subject.make(self._options(other, DEFAULT_RATE)).address
                if not address and "transfer" in self.here.call_control:
                    return None
                steps = Wait(after), Line("transfer", target=address or NOBODY), Wait(after)
                adapter = self.subject.make(self._options(target, DEFAULT_RATE))
                result = await run_call(self._scenario(steps), adapter, capabilities=ANYTHING, speech=self.speech)
                if result.error is None:
                    await _settled(to.until(_hears), agent.until(_hears))
                return result

        result = self.run(transfer())
        return None if result is None else self._kept(result, agent.logs)

    def unanswered(self, action: CallAction, agent: ProbeAgent) -> CallResult:
        """Cancel a call to the agent while it rings, or reject one of the agent; return once the agent knows."""
        direction: Direction = "be_dialled" if action == "reject" else "dial"
        scenario = self._scenario([Line(action)], direction=direction)

        async def ring() -> CallResult:
            async with self.subject.reach(agent) as target:
                adapter = self.subject.make(self._options(target, DEFAULT_RATE))
                result = await run_call(scenario, adapter, capabilities=ANYTHING, speech=self.speech)
                if result.error is None:
                    await _settled(agent.until_missed())
                return result

        result = self.run(ring())
        self._note(result)
        return result

    def run(self, main: Coroutine[Any, Any, T], *, virtual: bool | None = None) -> T:
        """Run something in a loop of its own, with this stand's clock unless another is asked for."""
        return (run_virtual if (self.virtual if virtual is None else virtual) else run_real)(main)

    def _scenario(
        self, steps: Sequence[AnyStep], *, rate: int = DEFAULT_RATE, direction: Direction = "dial"
    ) -> Scenario:
        name = f"{self.probe}, over {self.subject.name}"
        return Scenario(name, steps, rate=rate, direction=direction, max_duration=LONGEST_CALL)

    def _options(self, target: Mapping[str, object], rate: int) -> dict[str, object]:
        rates: dict[str, object] = {"rate": rate} if self.subject.takes_rate else {}
        return {**rates, **self.subject.options, **target}

    def _note(self, result: CallResult) -> None:
        self.runs.append(self.keep(result))
        if result.error is not None:
            raise result.error
        self.doubts += result.trust.reasons

    def _kept(self, result: CallResult, logs: Sequence[CallLog]) -> ProbeCall:
        self._note(result)
        assert result.record is not None  # a call without an error was answered
        return ProbeCall(result, result.record, logs)


async def _settled(*waits: Coroutine[Any, Any, object]) -> None:
    """Wait for what a call leads to elsewhere, a moment later, but not for ever."""
    with suppress(TimeoutError):
        async with asyncio.timeout(SETTLED_WITHIN):
            await asyncio.gather(*waits)


def _hears(log: CallLog) -> bool:
    return sum(seconds_of(span, log.rate) for span in sounding(log.audio.samples, log.rate)) >= HEARD
