"""When another source took the place of the one that sent."""

from __future__ import annotations

from voiceharness.clock import NS
from voiceharness_adapters.sip.sources import SourceChange, SourceWatch

__all__: list[str] = []

LOOK_NS = 5_000_000


def changes(*sources: int, look_ns: int = LOOK_NS) -> list[SourceChange]:
    watch = SourceWatch()
    found = [watch.take(source, index * look_ns) for index, source in enumerate(sources)]
    return [change for change in found if change is not None]


def test_the_first_source_is_no_change() -> None:
    assert changes(5, 5, 5) == []


def test_each_change_is_told_once() -> None:
    assert changes(5, 5, 99, 99, 99, 7) == [SourceChange(5, 99), SourceChange(99, 7)]


def test_a_source_may_be_zero() -> None:
    assert changes(0, 0, 5) == [SourceChange(0, 5)]


def test_two_sources_at_once_are_told_once_each_way() -> None:
    assert changes(*[5, 99] * 200) == [SourceChange(5, 99), SourceChange(99, 5)]


def test_a_change_that_comes_again_later_is_told_again() -> None:
    assert changes(5, 99, 5, 99, look_ns=2 * NS) == [SourceChange(5, 99), SourceChange(99, 5), SourceChange(5, 99)]


def test_a_change_names_both_sources_as_tools_for_packets_do() -> None:
    assert str(SourceChange(5, 0xDEADBEEF)) == "packets come from another source: SSRC 0xdeadbeef, before 0x00000005"
