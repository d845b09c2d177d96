"""Copies of recorded data share nothing that can change, and keep the identity of what must not be copied."""

from __future__ import annotations

import array
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from voiceharness.scripted.snapshot import SnapshotData, SnapshotPolicy

__all__: list[str] = []

PLAIN = SnapshotPolicy()


@dataclass(frozen=True, slots=True)
class Note(SnapshotData):
    text: str
    tags: list[str]
    parent: Any = None


@dataclass
class Tool:
    options: list[int] = field(default_factory=list)


class Model:
    def __init__(self, parts: list[int]) -> None:
        self.parts = parts

    def model_copy(self, *, deep: bool) -> Model:
        assert deep
        return Model(list(self.parts))


def test_plain_containers_are_copied_deeply() -> None:
    original: dict[str, Any] = {"list": [1, [2]], "tuple": ([3],), "set": {4}, "deque": deque([[5]], maxlen=3)}
    copied = PLAIN.copy(original)
    assert copied == original
    assert copied["deque"].maxlen == 3
    original["list"][1].append(0)
    original["tuple"][0].append(0)
    original["set"].add(0)
    original["deque"][0].append(0)
    assert copied == {"list": [1, [2]], "tuple": ([3],), "set": {4}, "deque": deque([[5]])}


def test_buffers_and_arrays_are_copied() -> None:
    raw, samples = bytearray(b"ab"), np.array([1, 2], dtype=np.int16)
    numbers, view = array.array("h", [1, 2]), memoryview(b"xyz")[1:]
    copied: list[Any] = PLAIN.copy([raw, samples, numbers, view])
    raw[0] = 0
    samples[0] = numbers[0] = 9
    assert copied[0] == bytearray(b"ab")
    assert copied[1].tolist() == [1, 2]
    assert copied[2] == array.array("h", [1, 2])
    assert copied[3] == b"yz"


def test_cycles_and_shared_references_keep_their_shape() -> None:
    shared: list[Any] = []
    original: dict[str, Any] = {"a": shared, "b": shared}
    original["self"] = original
    shared.append((original,))
    copied = PLAIN.copy(original)
    assert copied is not original
    assert copied["self"] is copied
    assert copied["a"] is copied["b"]
    assert copied["a"][0][0] is copied


def test_a_cycle_through_a_tuple_is_copied_once() -> None:
    inner: list[Any] = []
    original = (inner,)
    inner.append(original)
    copied = PLAIN.copy(original)
    assert copied[0][0] is copied
    assert copied is not original


def test_functions_instances_and_general_dataclasses_keep_their_identity() -> None:
    tool, error = Tool([1]), ValueError("no")
    copied = PLAIN.copy([tool, error, len, Model])
    assert [before is after for before, after in zip([tool, error, len, Model], copied, strict=True)] == [True] * 4


def test_a_subclass_of_a_container_is_an_instance_and_keeps_its_identity() -> None:
    class Items(list[int]):
        pass

    items = Items([1])
    assert PLAIN.copy([items])[0] is items


def test_snapshot_data_is_copied_field_by_field_with_its_cycles() -> None:
    tags = ["x"]
    note = Note("hello", tags, parent=[])
    note.parent.append(note)
    copied = PLAIN.copy(note)
    tags.append("y")
    assert copied.text == "hello"
    assert copied.tags == ["x"]
    assert copied.parent[0] is copied


def test_registering_a_type_makes_another_policy() -> None:
    policy = PLAIN.register_snapshot_type(Tool, Model)
    tool, model = Tool([1]), Model([1])
    copied_tool, copied_model = policy.copy((tool, model))
    tool.options.append(2)
    model.parts.append(2)
    assert (copied_tool.options, copied_model.parts) == ([1], [1])
    assert PLAIN.copy(tool) is tool


def test_a_copier_of_ones_own_may_copy_what_is_inside() -> None:
    policy = PLAIN.register_snapshot_type(Model, copier=lambda model, copy: Model(copy(model.parts)))
    model = Model([1])
    copied = policy.copy(model)
    model.parts.append(2)
    assert copied.parts == [1]


def test_other_registered_types_are_deep_copied() -> None:
    class Bag:
        def __init__(self) -> None:
            self.items = [1]

    bag = Bag()
    copied = PLAIN.register_snapshot_type(Bag).copy(bag)
    bag.items.append(2)
    assert copied.items == [1]
