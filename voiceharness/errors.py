"""Every error voiceharness raises, in one tree.

::

    VoiceHarnessError
    ├── ConfigurationError              what the user wrote cannot be used        (exit code 2)
    │   ├── ScenarioError               a scenario, with file, line and column
    │   ├── UnknownAdapterError         no adapter of that name
    │   ├── AdapterDefinitionError      an adapter class that breaks the contract
    │   ├── MissingExtraError           an optional package, with its install line
    │   └── OptionError                 an option with a wrong name, type or value
    ├── ConformanceError                an adapter breaks a rule of the contract  (exit code 5)
    ├── UnsupportedCapabilityError      the adapter cannot do what a step needs   (exit code 4)
    ├── CallError                       the call was not set up, or broke         (exit code 3)
    │   ├── ConnectError
    │   ├── PendingTransportError       used before it was connected
    │   ├── CallRejectedError           with the far side's cause code
    │   ├── CallDroppedError
    │   ├── AgentCrashedError           the agent's own code raised
    │   ├── MediaTimeoutError           names the phase and what was received
    │   └── DeviceError                 a sound device could not be opened, or failed
    ├── ProtocolError
    │   ├── LocalProtocolError          we misused the protocol                   (exit code 5)
    │   └── RemoteProtocolError         the agent's side violated it              (exit code 6)
    ├── AudioError                      samples or files that cannot be used      (exit code 2)
    ├── SpeechError                     a speech engine failed                    (exit code 5)
    ├── WorkerError                     the process that made a call died or hung (exit code 5)
    ├── RunInterruptedError             the user stopped the run during a call    (exit code 130)
    └── VirtualTimeError                work that virtual time cannot follow      (exit code 5)
        └── StallError                  everybody waits and no timer is set

A message says what happened, where (adapter, step, time), and what to do. Failed expectations are values with a stable
``kind``, not exceptions. A library's own error is translated once, at the adapter's edge, and kept as ``__cause__``.
"""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "AdapterDefinitionError",
    "AgentCrashedError",
    "AudioError",
    "CallDroppedError",
    "CallError",
    "CallRejectedError",
    "ConfigurationError",
    "ConformanceError",
    "ConnectError",
    "DeviceError",
    "LocalProtocolError",
    "MediaTimeoutError",
    "MissingExtraError",
    "OptionError",
    "PendingTransportError",
    "ProtocolError",
    "RemoteProtocolError",
    "RunInterruptedError",
    "ScenarioError",
    "SpeechError",
    "StallError",
    "UnknownAdapterError",
    "UnsupportedCapabilityError",
    "VirtualTimeError",
    "VoiceHarnessError",
    "WorkerError",
]


class VoiceHarnessError(Exception):
    """Base of all errors raised by voiceharness. ``exit_code`` is what the command line returns for it."""

    exit_code: ClassVar[int] = 5


class ConfigurationError(VoiceHarnessError):
    """What the user wrote cannot be used; nothing was dialled."""

    exit_code = 2


class ScenarioError(ConfigurationError):
    """A scenario cannot be read; ``file``, ``line`` and ``column`` (from 1) say where, if it came from a file."""

    def __init__(self, message: str, *, file: str | None = None, line: int | None = None, column: int | None = None):
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line
        self.column = column

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        return f"{place}: {self.message}" if place else self.message


class UnknownAdapterError(ConfigurationError):
    """No installed adapter has this name."""


class AdapterDefinitionError(ConfigurationError, TypeError):
    """An adapter class breaks the contract; raised when the class is created."""


class MissingExtraError(ConfigurationError, ImportError):
    """An optional package is not installed; ``install`` is the command that brings it."""

    def __init__(self, message: str, *, extra: str):
        self.extra = extra
        self.install = f'pip install "voiceharness[{extra}]"'
        super().__init__(f"{message}; install it with: {self.install}")


class OptionError(ConfigurationError):
    """An option has a wrong name, type or value."""


class ConformanceError(VoiceHarnessError, AssertionError):
    """An adapter breaks a rule of the contract; ``rule`` says which, ``detail`` what ``check_adapter`` saw."""

    exit_code = 5

    def __init__(self, *, adapter: str, rule: str, detail: str):
        self.adapter = adapter
        self.rule = rule
        self.detail = detail
        super().__init__(f"adapter {adapter!r} breaks the rule that {rule}: {detail}")


class UnsupportedCapabilityError(VoiceHarnessError):
    """The adapter cannot do what was asked of it; ``alternative`` says what would work."""

    exit_code = 4

    def __init__(self, *, adapter: str, capability: str, step: str | None = None, alternative: str | None = None):
        self.adapter = adapter
        self.capability = capability
        self.step = step
        self.alternative = alternative
        where = f" (needed by {step})" if step else ""
        hint = f"; {alternative}" if alternative else ""
        super().__init__(f"adapter {adapter!r} does not support {capability}{where}{hint}")


class CallError(VoiceHarnessError):
    """The call was not set up, or its transport failed."""

    exit_code = 3


class ConnectError(CallError):
    """The far side could not be reached."""


class PendingTransportError(CallError):
    """The adapter was used before it was connected (or after its call had ended)."""

    def __init__(self, adapter: str, action: str):
        self.adapter = adapter
        self.action = action
        super().__init__(f"adapter {adapter!r} is not connected: cannot {action}; await connect() first")


class CallRejectedError(CallError):
    """The far side refused the call; ``code`` is the transport's cause (a SIP status, for example)."""

    def __init__(self, message: str, *, code: int | None = None, reason: str | None = None):
        super().__init__(message)
        self.code = code
        self.reason = reason


class CallDroppedError(CallError):
    """The transport of a running call failed."""


class AgentCrashedError(CallError):
    """The agent's own code raised; the original exception is ``__cause__``."""


class MediaTimeoutError(CallError):
    """Media did not arrive in time; ``phase`` and ``received`` say how far it came."""

    def __init__(self, message: str, *, phase: str, received: str):
        super().__init__(f"{message} (phase: {phase}; received: {received})")
        self.phase = phase
        self.received = received


class ProtocolError(VoiceHarnessError):
    """A protocol rule was broken."""


class LocalProtocolError(ProtocolError):
    """This side misused the protocol: a fault of the harness or of code that drives it."""

    exit_code = 5


class RemoteProtocolError(ProtocolError):
    """The agent's side violated the protocol."""

    exit_code = 6


class AudioError(VoiceHarnessError):
    """Samples or an audio file that cannot be used."""

    exit_code = 2


class SpeechError(VoiceHarnessError):
    """A speech engine failed."""

    exit_code = 5


class DeviceError(CallError):
    """A sound device could not be opened, or failed."""


class VirtualTimeError(VoiceHarnessError):
    """Work that leaves the event loop, which virtual time cannot follow: make it async, or run in real time."""

    exit_code = 5


class RunInterruptedError(VoiceHarnessError):
    """The user stopped the run (Ctrl-C, SIGTERM) while a call was going on; it is nobody's fault."""

    exit_code = 130


class StallError(VirtualTimeError):
    """Every task waits and no timer is set: nothing can ever happen again."""


class WorkerError(VoiceHarnessError):
    """The process that made a call died, or gave no sign of life. The calls of other processes go on."""
