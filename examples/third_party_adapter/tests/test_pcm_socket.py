"""The adapter keeps the contract of voiceharness, and its options are checked before anything is dialled."""

from __future__ import annotations

import pytest
from voiceharness_pcm_socket import PcmSocket, host

from voiceharness.clock import run_real
from voiceharness.errors import ConnectError, OptionError
from voiceharness.testing import check_adapter


def test_it_keeps_the_contract() -> None:
    run_real(check_adapter(PcmSocket, host))


def test_a_rate_that_it_does_not_have_is_refused() -> None:
    with pytest.raises(OptionError, match="no line rate 11025 Hz"):
        PcmSocket(7000, rate=11025)


def test_nobody_at_the_port_is_an_error_that_says_where() -> None:
    with pytest.raises(ConnectError, match=r"nobody answers at 127\.0\.0\.1:1"):
        run_real(PcmSocket(1).connect())
