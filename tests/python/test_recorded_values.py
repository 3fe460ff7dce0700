# SPDX-License-Identifier: Apache-2.0
"""Which arguments and variables a recording fits: equal values, functions, and ended memory."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
from cudacore import Buffer, Device, LaunchConfig, LegacyPinnedMemoryResource, NotSupportedError
from recorded_kernels import Calls, Kernels, calls, current, first, kernels, new, record

__all__ = ["calls", "current", "kernels"]  # fixtures


class Shape(NamedTuple):
    grid: int
    step: float


@dataclass(frozen=True)
class Settings:
    count: int
    shape: Shape
    scale: object = None


@pytest.mark.parametrize(
    ("make", "other"),
    [
        (lambda: LaunchConfig(grid=1, block=1), lambda: LaunchConfig(grid=1, block=2)),
        (lambda: Shape(1, 2.0), lambda: Shape(1, 2)),
        (lambda: Settings(1, Shape(1, 2.0)), lambda: Settings(True, Shape(1, 2.0))),
        (lambda: (Settings(1, Shape(1, 2.0)),), lambda: (Settings(1, Shape(True, 2.0)),)),
        (lambda: Device(0), lambda: None),
    ],
)
def test_equal_temporaries(
    device: Device,
    kernels: Kernels,
    calls: Calls,
    make: Callable[[], object],
    other: Callable[[], object],
) -> None:
    @record
    def step(x: Any, what: Any) -> None:
        calls()
        kernels["add"][1, 1](x, 1)

    x = new(device)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(40):
            step(x, make())
    assert (calls.count, len(step.recordings)) == (1, 1)
    step(x, other())
    step(x, make())
    assert (calls.count, len(step.recordings)) == (2, 2)
    assert first(x) == 42


def test_kernels_are_equal_by_value(device: Device, kernels: Kernels, calls: Calls) -> None:
    @record
    def step(x: Any, kernel: Any) -> None:
        calls()
        kernel[1, 1](x, 1)

    x = new(device)
    for _ in range(3):
        step(x, type(kernels["add"]).from_handle(kernels["add"].handle))
    assert calls.count == 1


def test_objects_that_are_gone_are_warned_of(device: Device, kernels: Kernels) -> None:
    class Step:
        @record
        def run(self, x: Any) -> None:
            kernels["add"][1, 1](x, 1)

    x = new(device)

    def run_new_ones() -> None:
        for _ in range(34):
            Step().run(x)

    with pytest.warns(RuntimeWarning, match="run has been recorded 32 times for objects"):
        run_new_ones()
    assert len(Step.run.recordings) <= 2
    assert first(x) == 34


def test_functions_as_arguments(device: Device, kernels: Kernels, calls: Calls) -> None:
    factor = 1

    def change(x: Any) -> None:
        kernels["add"][1, 1](x, factor)

    @record
    def step(x: Any, function: Any) -> None:
        calls()
        function(x)

    x = new(device)
    step(x, change)
    step(x, change)
    factor = 10
    step(x, change)
    assert (first(x), calls.count) == (12, 2)
    factor = 1
    step(x, change)
    assert (first(x), calls.count) == (13, 2)


def test_methods_and_partials_as_arguments(device: Device, kernels: Kernels) -> None:
    import functools

    space: dict[str, Any] = {"add": kernels["add"], "amount": 1}
    exec("def change(x, more): add[1, 1](x, amount + more)", space)
    partial = functools.partial(space["change"], more=1)

    @record
    def step(x: Any, function: Any) -> None:
        function(x)

    x = new(device)
    step(x, partial)
    space["amount"] = 5  # of another module
    step(x, partial)
    assert first(x) == 8


@pytest.mark.parametrize("where", ["variable", "list", "tuple", "view"])
def test_closed_memory_around_a_function(device: Device, kernels: Kernels, where: str) -> None:
    source = new(device, 7)
    holders: dict[str, Any] = {
        "variable": source,
        "list": [source],
        "tuple": (1, (source,)),
        "view": source.view("int32"),
    }
    found = holders[where]

    @record
    def step(x: Any) -> None:
        buffer = found
        while isinstance(buffer, (list, tuple)):
            buffer = buffer[-1]
        kernels["copy"][1, 1](buffer, x)

    x = new(device)
    step(x)
    step(x)
    assert len(step.recordings) == 1
    source.close()
    with pytest.raises(ValueError, match="closed"):
        step(x)


def test_the_host_sees_no_memory(device: Device, kernels: Kernels) -> None:
    pinned = LegacyPinnedMemoryResource().allocate(32)
    pinned.copy_from(bytes(32))

    @record
    def branches(x: Any, flags: Buffer) -> None:
        if memoryview(flags)[0]:
            kernels["add"][1, 1](x, 1)

    @record
    def converts(x: Any, flags: Buffer) -> None:
        bytes(memoryview(flags))

    x = new(device)
    for step in (branches, converts):
        with pytest.raises(NotSupportedError, match=rf"{__file__}:\d+: .*outside of the recorded"):
            step(x, pinned)
    assert memoryview(pinned)[0] == 0


def test_what_is_refused_says_what_to_pass(device: Device, kernels: Kernels) -> None:
    @record
    def step(x: Any) -> None: ...

    x = new(device)
    with pytest.raises(TypeError, match="pass each Buffer as an argument of its own, and numbers"):
        step([x])
    with pytest.raises(TypeError, match="pass it as an argument of its own"):
        step((x,))


def test_a_block_is_no_function(device: Device) -> None:
    with device.create_stream() as stream:
        for place in (stream, device):
            with pytest.raises(
                TypeError, match=r"to capture a block: with device.create_graph_builder\(\) as"
            ):
                record(place)


def test_pickles_are_names(device: Device) -> None:
    import copy

    @record
    def step(x: Any) -> None: ...

    assert copy.copy(step) is step
