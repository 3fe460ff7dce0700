# SPDX-License-Identifier: Apache-2.0
"""What recorded functions cannot do, and what is said about it."""

import contextlib
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import cudacore
import numpy as np
import pytest
from cudacore import Buffer, Device
from cudacore.utils import StridedMemoryView, copy_batch
from harness import build
from recorded_kernels import COUNT, Calls, Kernels, calls, current, first, kernels, new, record

__all__ = ["calls", "current", "kernels"]  # fixtures


def test_functions_that_look_at_types(device: Device, kernels: Kernels, calls: Calls) -> None:
    @record
    def step(x: Any, n: Any) -> None:
        calls()
        if type(n) is not int:
            raise TypeError(type(n).__name__)
        kernels["add"][1, 1](x, n)

    x = new(device)
    step(x, 5)
    step(x, 5)
    step(x, 6)
    assert first(x) == 16
    assert calls.count == 2  # once for each value
    with pytest.raises(TypeError, match="float"):
        step(x, 1.5)


@pytest.mark.parametrize("wrong", ["type", "name", "sync"])
def test_tracebacks_are_short(device: Device, kernels: Kernels, wrong: str) -> None:
    @record
    def step(x: Any, n: int) -> None:
        if wrong == "sync":
            device.sync()
        if wrong == "name":
            raise NameError
        kernels["add"][1, 1](x, "one")

    with pytest.raises((TypeError, NameError, cudacore.NotSupportedError)) as raised:
        step(new(device), 1)
    names = [entry.name for entry in traceback.extract_tb(raised.tb)][1:]
    assert names == (["__call__"] if wrong == "sync" else ["__call__", "step"])
    assert (raised.value.__cause__ is not None) == (wrong == "sync")
    if wrong != "sync":
        assert raised.value.__context__ is None


def test_functions_that_change_variables(device: Device, kernels: Kernels) -> None:
    count = 0
    log: list[int] = []

    @record
    def counts(x: Any) -> None:
        nonlocal count
        count += 1

    @record
    def logs(x: Any) -> None:
        log.append(1)

    x = new(device)
    with pytest.raises(RuntimeError, match="counts cannot be recorded: it changes 'count'"):
        counts(x)
    with pytest.raises(RuntimeError, match="logs cannot be recorded: it changes 'log'"):
        logs(x)
    assert not counts.recordings


def test_what_depends_on_values(device: Device, kernels: Kernels) -> None:
    @record
    def branches(x: Any) -> None:
        if x.to_host()[0] > 0:
            kernels["add"][1, 1](x, 1)

    @record
    def waits(x: Any) -> None:
        kernels["add"][1, 1](x, 1)
        cudacore.current_stream().sync()

    @record
    def waits_for_all(x: Any) -> None:
        kernels["add"][1, 1](x, 1)
        device.sync()

    @record
    def swallows(x: Any) -> None:
        kernels["add"][1, 1](x, 1)
        with contextlib.suppress(cudacore.CUDAError):
            cudacore.current_stream().sync()
        kernels["add"][1, 1](x, 1)

    @record
    def swallows_last(x: Any) -> None:
        with contextlib.suppress(cudacore.CUDAError):
            cudacore.current_stream().sync()

    @record
    def copies_out(x: Any) -> None:
        target = bytearray(4 * COUNT)
        x.copy_to(target)

    x = new(device)
    for function in (branches, waits, waits_for_all, swallows, swallows_last, copies_out):
        with pytest.raises(cudacore.NotSupportedError) as error:
            function(x)
        line = function.__wrapped__.__code__.co_firstlineno
        said = str(error.value)
        noticed = "noticed at " * (function in {swallows, swallows_last})
        assert f"{function.__qualname__} cannot be recorded: {noticed}{__file__}:" in said
        where = int(said.split(f"{__file__}:", 2)[1].split(":", maxsplit=1)[0])
        assert line <= where <= line + 8
        assert ("by this call: cuStream" in said) == (function in {swallows, swallows_last})
        assert not function.recordings
        kernels["add"][1, 1](x, 1)  # nothing is left in capture
    assert first(x) == 6


def test_exceptions_come_through(device: Device, kernels: Kernels) -> None:
    class OwnError(Exception):
        pass

    @record
    def step(x: Any, flag: Any) -> None:
        kernels["add"][1, 1](x, 1)
        if flag:
            raise OwnError

    x = new(device)
    with pytest.raises(OwnError):
        step(x, True)
    assert first(x) == 0
    step(x, False)
    assert first(x) == 1


def test_wrong_arguments_of_kernels(device: Device, kernels: Kernels) -> None:
    @record
    def step(x: Any, v: Any) -> None:
        kernels["add"][1, 1](x, v)

    x = new(device)
    with pytest.raises(TypeError, match="add: argument 2 'v'"):
        step(x, "text")
    with pytest.raises(TypeError, match="add: argument 2 'v'"):
        step(x, 1.5)
    x.close()
    with pytest.raises(ValueError, match="closed"):
        step(x, 1)
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        step(x)


def test_arguments_that_may_change(device: Device, numbers: Buffer) -> None:
    @record
    def step(x: Any, *, y: Any = None) -> None:
        pass

    x = new(device)
    with pytest.raises(TypeError, match="step: argument 1 'x' is a list, which may change"):
        step([x])
    with pytest.raises(TypeError, match="step: argument 'y' is a dict, which may change"):
        step(x, y={})
    with pytest.raises(TypeError, match=r"argument 1 'x'\[1\] is a .*Buffer in a tuple"):
        step((1, x))
    with pytest.raises(TypeError, match="a numpy.ndarray, whose memory is not a device's alone"):
        step(np.zeros(3))
    step(numbers)  # memory that the host reaches stays what it is
    step((1, "a", (None, 2.5)))
    step((1, "a", (None, 2.5)))
    step((1.0, "a", (None, 2.5)))
    assert len(step.recordings) == 3


@pytest.mark.filterwarnings("ignore:this capture has no nodes")
def test_work_that_is_not_recorded(device: Device, kernels: Kernels) -> None:
    with device.create_stream() as other:

        @record
        def launches(x: Any) -> None:
            kernels["add"][1, 1, other](x, 1)

        @record
        def fills(x: Any) -> None:
            x.fill(1, stream=other)

        @record
        def enters(x: Any) -> None:
            with other:
                inner(x)

        @record
        def inner(x: Any) -> None:
            kernels["add"][1, 1](x, 1)

        @record
        def calls_back(x: Any) -> None:
            other.add_callback(print)

        @record
        def launches_a_graph(x: Any) -> None:
            graph.launch(other)

        @record
        def forks(x: Any) -> None:
            own = cudacore.current_stream()
            other.wait(own)
            kernels["add"][1, 1, other](x, 1)
            own.wait(other)

        @record
        def forgets(x: Any) -> None:
            other.wait(cudacore.current_stream())
            kernels["add"][1, 1, other](x, 1)

        x = new(device)
        with device.create_graph_builder() as builder:
            pass
        graph = builder.complete()
        for function in (launches, fills, enters, calls_back, launches_a_graph):
            with pytest.raises(cudacore.NotSupportedError, match="which is not recorded: lea"):
                function(x)
        x.fill(0)
        forks(x)
        assert first(x) == 1
        forks(x)
        assert first(x) == 2
        with pytest.raises(cudacore.NotSupportedError, match="forgets cannot be recorded"):
            forgets(x)


def test_work_on_memory_that_is_not_recorded(device: Device) -> None:
    with device.create_stream() as other:

        @record
        def writes_a_word(x: Any) -> None:
            other.write_value(x, 1)

        @record
        def fills_a_view(x: Any) -> None:
            x.view("i4").fill(1, stream=other)

        @record
        def copies_many(x: Any) -> None:
            copy_batch(other, [x], [x])

        x = new(device)
        for function in (writes_a_word, fills_a_view, copies_many):
            with pytest.raises(cudacore.NotSupportedError, match="which is not recorded: lea"):
                function(x)


REFUSED: list[Callable[[Any, Any, Any], object]] = [
    lambda other, y, _: y.fill(7, stream=other),
    lambda other, y, z: y.copy_from(z, stream=other),
    lambda other, y, z: z.copy_to(y, stream=other),
    lambda other, y, _: y.copy_from(np.full(COUNT, 7, np.int32), stream=other),
]


@pytest.mark.parametrize("use", REFUSED)
def test_refused_work_is_not_queued(device: Device, use: Any) -> None:
    with device.create_stream() as other:
        y, z = new(device), new(device, 7)

        @record
        def function(x: Any) -> None:
            use(other, y, z)

        with pytest.raises(cudacore.NotSupportedError, match="which is not recorded: lea"):
            function(new(device))
        assert first(y) == 0


WAITS: list[Callable[[Any, Any], object]] = [
    lambda other, _: other.sync(),
    lambda _, event: event.sync(),
    lambda other, event: other.wait(event),
    lambda other, _: other.record(),
    lambda other, event: other.record(event),
    lambda other, _: other.device.default_stream.sync(),
    lambda other, event: other.device.default_stream.wait(event),
]


@pytest.mark.parametrize("wait", WAITS)
def test_order_that_is_not_recorded(device: Device, kernels: Kernels, wait: Any) -> None:
    """Replays would run without it."""
    with device.create_stream() as other:
        event = other.record()

        @record
        def function(x: Any) -> None:
            wait(other, event)
            kernels["add"][1, 1](x, 1)

        x = new(device)
        with pytest.raises(cudacore.NotSupportedError, match="not recorded"):
            function(x)
        other.wait(event)
        event.sync()


def test_builders_inside(device: Device, kernels: Kernels) -> None:
    @record
    def two_at_once(x: Any) -> None:
        cudacore.current_stream().create_graph_builder().begin_building()

    @record
    def launches_a_graph(x: Any) -> None:
        with device.create_graph_builder() as builder:
            kernels["add"][1, 1](x, 1)
        builder.complete().launch(None)

    x = new(device)
    with pytest.raises(RuntimeError, match="being captured already"):
        two_at_once(x)
    with pytest.raises(cudacore.NotSupportedError, match="launches_a_graph cannot be recorded"):
        launches_a_graph(x)
    assert first(x) == 0


def test_wrong_uses(device: Device) -> None:
    async def later() -> None: ...
    def items() -> Iterator[int]:
        yield 1

    async def both() -> Any:
        yield 1

    def plain() -> None: ...

    for wrong, message in (
        (later, "is a coroutine"),
        (items, "is a generator"),
        (both, "is an asynchronous generator"),
        (record(plain), "is recorded already"),
        (staticmethod(plain), "below @staticmethod"),
        (classmethod(plain), "below @classmethod"),
        (property(plain), "below @property"),
        (print, "not a builtin_function_or_method"),
        (Calls, "not the class Calls"),
        (Calls(), "not a Calls"),
        (3, "not a int"),
    ):
        with pytest.raises(TypeError, match=message):
            record(wrong)
    with pytest.raises(TypeError, match="max_recordings must be an int"):
        record(max_recordings=2.0)(plain)
    with pytest.raises(ValueError, match=r"max_recordings must lie in 1 .. 2\*\*63 - 1, not 0"):
        record(plain, max_recordings=0)


def test_addresses_that_cannot_be_replaced(device: Device) -> None:
    table = device.allocate(16)

    @record
    def copies_address(x: Any) -> None:
        table.copy_from(np.array([1, x.handle], np.uint64))

    @record
    def copies_address_by_views(x: Any) -> None:
        addresses = np.array([x.handle, 1], np.uint64)
        table.view("uint64").copy_from(
            StridedMemoryView.from_any_interface(addresses, stream_ptr=-1)
        )

    @record
    def describes(x: Any) -> None:
        take[1, 1](x.view("float32", (8, 8)).as_tensor_map((8, 8)))

    take = build(
        "struct alignas(64) Map { char bytes[128]; };"
        "__global__ void take(const __grid_constant__ Map map) {}"
    ).get_kernel("take")
    x = new(device, count=64)
    for function in (copies_address, copies_address_by_views):
        with pytest.raises(cudacore.NotSupportedError, match="is copied from memory of the host"):
            function(x)
    with pytest.raises(cudacore.NotSupportedError, match="make the descriptor outside"):
        describes(x)

    @record
    def takes(described: Any) -> None:
        take[1, 1](described)

    takes(x.view("float32", (8, 8)).as_tensor_map((8, 8)))
