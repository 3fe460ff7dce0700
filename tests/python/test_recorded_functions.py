# SPDX-License-Identifier: Apache-2.0
"""Functions that are recorded into graphs and replayed."""

import ctypes
import gc
import threading
import weakref
from typing import Any

import cudacore
import numpy as np
import pytest
from cudacore import Device, GraphMemoryResource, Stream
from cudacore.graph import RecordedFunction
from harness import build
from recorded_kernels import (
    COUNT,
    Calls,
    Kernels,
    calls,
    current,
    first,
    ints,
    kernels,
    new,
    record,
)

__all__ = ["calls", "current", "kernels"]  # fixtures


def test_replays_with_new_arguments(device: Device, kernels: Kernels, calls: Calls) -> None:
    @record
    def step(x: Any, y: Any, n: Any) -> None:
        calls()
        add = kernels["add"]
        add[1, COUNT](x, n)
        kernels["copy"][1, COUNT](x, y)
        add[1, COUNT](y, 100)

    for number in (3, 4, -5):
        x, y = new(device, 1), new(device)
        assert step(x, y, number) is None
        assert (ints(x), ints(y)) == ([1 + number] * COUNT, [101 + number] * COUNT)
    assert calls.count == 1
    (recording,) = step.recordings
    assert recording.nodes == recording.changing_nodes == recording.launches == 3
    assert recording.arguments[2] == "int"
    assert "1 recording" in repr(step)


def test_numbers_become_what_kernels_declare(
    device: Device, kernels: Kernels, calls: Calls
) -> None:
    @record
    def step(p: Any, a: Any, b: Any, c: Any) -> None:
        calls()
        kernels["wide"][1, 1](p, a, b, c)

    p = device.allocate(8)
    for a, b, c in ((1.0, 2, 3), (7.0, 255, -9)):
        step(p, a, b, c)
        assert np.frombuffer(bytes(p.to_host()), np.int64)[0] == a * 1000 + b * 10 + c
    assert calls.count == 1
    with pytest.raises(OverflowError, match=r"wide: argument 3 .* cannot hold 256"):
        step(p, 1.0, 256, 3)
    step(p, 5, 1, 1)  # an int for the double: another kind
    assert calls.count == 2
    assert np.frombuffer(bytes(p.to_host()), np.int64)[0] == 5011


def test_copies_fills_and_slices(device: Device, kernels: Kernels, calls: Calls) -> None:
    @record
    def step(x: Any, y: Any) -> None:
        calls()
        x.fill(1)
        y.copy_from(x)
        kernels["add"][1, 4](x[16:32], 5)
        y[:16].copy_from(x[16:])

    for _ in range(3):
        x, y = new(device), new(device)
        step(x, y)
        one = 0x01010101
        assert ints(x) == [one] * 4 + [one + 5] * 4
        assert ints(y) == [one + 5] * 4 + [one] * 4
    assert calls.count == 1


def test_views(device: Device, kernels: Kernels, calls: Calls) -> None:
    @record
    def step(view: Any) -> None:
        calls()
        assert view.shape == (4,)
        kernels["add"][1, 2](view[2:], 7)

    for _ in range(2):
        buffer = new(device, count=16)
        step(buffer.view("int32", 4))
        assert ints(buffer)[:5] == [0, 0, 7, 7, 0]
        step(buffer.view("int32", (16,))[8:12])
        assert ints(buffer)[8:13] == [0, 0, 7, 7, 0]
    assert calls.count == 1
    with pytest.raises(AssertionError):
        step(new(device).view("int32", 5))
    step(new(device, count=7)[4:20].view("int32", 4))  # aligned otherwise
    assert calls.count == 3


def test_other_kinds_record_anew(device: Device, kernels: Kernels, calls: Calls) -> None:
    @record
    def step(x: Any, y: Any = None, *, name: Any = "add", flag: Any = True) -> None:
        calls()
        if flag:
            kernels[name][1, 4](x, 2)
        kernels["maybe"][1, 1](y)

    x, y = new(device), new(device)
    step(x)
    step(x, None)
    step(x, y)
    step(x, name="add")
    step(x, flag=False)
    step(new(device, count=9))
    assert calls.count == 6
    step(x)
    step(x, None)
    step(y, x)
    step(y, name="a" + "dd")
    step(x, flag=False)
    step(new(device, count=9))
    assert calls.count == 6
    assert [one.launches for one in step.recordings] == [2] * 6
    step.clear()
    assert step.recordings == ()
    step(x)
    assert calls.count == 7


def test_used_numbers_are_fixed(device: Device, kernels: Kernels, calls: Calls) -> None:
    @record
    def step(x: Any, n: Any, threads: Any) -> None:
        calls()
        if n > 2:
            kernels["add"][1, threads](x, 10)
        kernels["add"][1, COUNT](x, n)

    for _ in range(2):
        for n, threads in ((1, 2), (3, 2), (3, 4)):
            x = new(device)
            step(x, n, threads)
            rest = COUNT - threads
            assert ints(x) == [n + 10 * (n > 2)] * threads + [n] * rest if n > 2 else [n] * COUNT
    assert calls.count == 3 + 0 * len(step.recordings)
    assert "int 3, whose value is used at" in step.recordings[0].arguments[1]
    assert __file__ in step.recordings[0].arguments[1]


def test_numbers_look_like_numbers(device: Device, kernels: Kernels) -> None:
    seen: Any = Calls()

    @record
    def step(x: Any, n: Any, f: Any) -> None:
        seen.kinds = (isinstance(n, int), isinstance(f, float), isinstance(n, float))
        kernels["add"][1, 1](x, n)

    x = new(device)
    step(x, 5, 1.5)
    assert seen.kinds == (True, True, False)
    assert len(step.recordings) == 1
    assert step.recordings[0].arguments[1:] == ("int", "float")


def test_results(device: Device, kernels: Kernels) -> None:
    @record
    def both(x: Any, n: Any, y: Any) -> Any:
        kernels["add"][1, 1](x, n)
        return y, x, n

    @record
    def one(x: Any) -> Any:
        return x

    x, y = new(device), new(device)
    for number in (700, 800):
        assert both(x, number, y) == (y, x, number)
    assert one(x) is x
    assert one(y) is y

    @record
    def made(x: Any) -> Any:
        return x[4:]

    with pytest.raises(
        TypeError, match=r"made returns a cudacore.Buffer: .* write into an argument"
    ):
        made(x)

    @record
    def constant(x: Any) -> Any:
        return 12345

    with pytest.raises(TypeError, match="constant returns an int"):
        constant(x)


def test_the_same_object_twice(device: Device, kernels: Kernels, calls: Calls) -> None:
    @record
    def step(x: Any, y: Any) -> None:
        calls()
        if x is not y:
            kernels["copy"][1, COUNT](x, y)

    x, y = new(device, 1), new(device, 2)
    step(x, x)
    step(x, y)
    step(y, y)
    assert calls.count == 2
    assert ints(y) == ints(x)


def test_captured_buffer_that_is_also_an_argument(device: Device, kernels: Kernels) -> None:
    shared = new(device)

    @record
    def step(x: Any) -> None:
        kernels["add"][1, 1](shared, 1)
        kernels["add"][1, 1](x, 10)

    step(shared)
    other = new(device)
    step(other)
    assert (first(shared), first(other)) == (12, 10)


offset = 1


def test_variables_that_change(device: Device, kernels: Kernels, calls: Calls) -> None:
    global offset  # noqa: PLW0603
    local = 10
    items = [100]
    table = {"a": 1000}

    def helper() -> int:
        return offset

    @record
    def step(x: Any, default: Any = 0) -> None:
        calls()
        kernels["add"][1, 1](x, helper() + local + items[0] + table["a"])

    x = new(device)
    step(x)
    step(x)
    assert calls.count == 1
    offset = 2
    step(x)
    local = 20
    step(x)
    items[0] = 200
    step(x)
    table["a"] = 2000
    step(x)
    step.__wrapped__.__defaults__ = (1,)
    step(x)
    assert calls.count == 6
    offset, local, items[0], table["a"] = 1, 10, 100, 1000
    step.__wrapped__.__defaults__ = (0,)
    expected = 1111 * 2 + 1112 + 1122 + 1222 + 2222 * 2
    assert first(x) == expected


def test_values_that_are_equal_but_not_the_same(device: Device, calls: Calls) -> None:
    @record
    def step(value: Any) -> None:
        calls()
        if isinstance(value, float) and value:
            pass

    for value in (0, True, (0.0,), (-0.0,), (0,), np.float32(0.0), np.float32(-0.0), 0j, -0j):
        step(value)
        step(value)
    assert calls.count == 9
    step(np.float32(0.0))
    step((float("0"),))
    assert calls.count == 9


def test_too_many_recordings(device: Device, kernels: Kernels, calls: Calls) -> None:
    @record(max_recordings=2)
    def step(x: Any, n: Any) -> None:
        calls()
        kernels["add"][n, 1](x, n)

    x = new(device)
    step(x, 1)
    step(x, 2)
    with pytest.warns(RuntimeWarning, match=r"step has been recorded for more than 2(.|\n)*int 3"):
        step(x, 3)
    assert len(step.recordings) == 2
    step(x, 2)
    assert calls.count == 3
    with pytest.warns(RuntimeWarning):
        step(x, 1)
    assert calls.count == 4


def test_nesting(device: Device, kernels: Kernels, stream: Stream, calls: Calls) -> None:
    @record
    def inner(x: Any, n: Any) -> None:
        calls()
        kernels["add"][1, 1](x, n)

    @record
    def outer(x: Any, n: Any) -> None:
        inner(x, n)
        inner(x, 10)

    x, y = new(device), new(device)
    outer(x, 1)
    outer(y, 2)
    assert (first(x), first(y)) == (11, 12)
    assert calls.count == 2
    assert not inner.recordings
    with stream.create_graph_builder() as builder:
        inner(x, 100)
    assert not inner.recordings
    builder.complete().launch(stream)
    assert first(x) == 111

    @record
    def recursive(x: Any, n: Any) -> None:
        kernels["add"][1, 1](x, n)
        if n:
            recursive(x, n - 1)

    recursive(y, 3)
    recursive(y, 3)
    assert first(y) == 24
    assert len(recursive.recordings) == 1


def test_memory_of_the_graph(device: Device, kernels: Kernels) -> None:
    resource = GraphMemoryResource(device)

    @record
    def step(x: Any, n: Any) -> None:
        scratch = resource.allocate(4 * COUNT)
        scratch.fill(0)
        kernels["add"][1, COUNT](scratch, n)
        x.copy_from(scratch)
        scratch.close()

    for number in (1, 2):
        x = new(device)
        step(x, number)
        assert ints(x) == [number] * COUNT


def test_methods_and_wrapping(device: Device, kernels: Kernels) -> None:
    class Layer:
        def __init__(self, number: int) -> None:
            self.number = number

        @record
        def step(self, x: Any) -> None:
            """Adds."""
            kernels["add"][1, 1](x, self.number)

        @staticmethod
        @record
        def static(x: Any) -> None:
            kernels["add"][1, 1](x, 100)

    one, two = Layer(1), Layer(2)
    x = new(device)
    for layer in (one, two, one):
        layer.step(x)
    Layer.step(one, x)
    Layer.static(x)
    assert first(x) == 105
    assert len(Layer.step.recordings) == 2
    assert isinstance(Layer.step, RecordedFunction)
    assert (Layer.step.__name__, Layer.step.__doc__) == ("step", "Adds.")
    Layer.step.__wrapped__(one, x)
    assert first(x) == 106


def test_stand_ins_end(device: Device, kernels: Kernels) -> None:
    kept: Any = Calls()

    @record
    def step(x: Any, n: Any) -> None:
        kept.x = x
        kept.view = x.view("int32")
        kernels["add"][1, 1](x, n)

    x = new(device)
    step(x, 1)
    assert kept.x.is_closed
    with pytest.raises(ValueError, match="closed"):
        kernels["add"][1, 1](kept.view, 1)


def test_addresses_in_other_forms(device: Device, kernels: Kernels, calls: Calls) -> None:
    class Packed(ctypes.Structure):
        _pack_ = 1
        _layout_ = "ms"
        _fields_ = (("flag", ctypes.c_char), ("to", ctypes.c_void_p), ("number", ctypes.c_int))

    @record
    def step(x: Any) -> None:
        calls()
        kernels["add"][1, 2](x.handle + 8, 5)
        kernels["packed"][1, 1](Packed(b"a", x.handle + 4, 7))

    for _ in range(2):
        x = new(device)
        step(x)
        assert ints(x)[:5] == [0, 7, 5, 5, 0]
    assert calls.count == 1


def test_callbacks_are_called_by_each_replay(device: Device, kernels: Kernels) -> None:
    counted = Calls()

    @record
    def step(x: Any, n: Any) -> None:
        kernels["add"][1, 1](x, n)
        cudacore.current_stream().add_callback(counted)

    x = new(device)
    for number in range(3):
        step(x, number)
    cudacore.current_stream().sync()
    assert (first(x), counted.count) == (3, 3)
    step.clear()


def test_what_is_kept(device: Device, kernels: Kernels) -> None:
    weights = new(device, 5)
    watch = weakref.ref(weights)

    @record
    def step(x: Any) -> None:
        kernels["copy"][1, COUNT](weights, x)

    x = new(device)
    watch_x = weakref.ref(x)
    step(x)
    y = new(device)
    step(y)
    del x
    gc.collect()
    assert watch_x() is None
    step(y)
    weights.close()
    assert first(y) == 5
    with pytest.raises(ValueError, match="closed"):
        step(y)
    watch_step = weakref.ref(step)
    del step
    weights = y
    gc.collect()
    assert watch_step() is None
    assert watch() is None


def test_cycles_are_collected(device: Device, kernels: Kernels) -> None:
    def make() -> Any:
        @record
        def step(x: Any, again: Any) -> None:
            kernels["add"][1, 1](x, 1)
            if again:
                step(x, False)

        return step

    step = make()
    step(new(device), True)
    watch = weakref.ref(step)
    del step
    gc.collect()
    assert watch() is None


def test_other_devices(kernels: Kernels) -> None:
    if cudacore.system.get_num_devices() < 2:
        pytest.skip("needs two devices")
    other = Device(1)
    other.set_current()
    source = "__global__ void add(int* p, int v) { p[threadIdx.x] += v; }"
    add = build(source).get_kernel("add")

    @record
    def step(x: Any, n: Any) -> None:
        add[1, 1](x, n)

    for number, device in enumerate((Device(0), other, Device(0), other)):
        device.set_current()
        with device.create_stream() as stream:
            x = device.allocate(4)
            x.fill(0)
            step(x, number)
            stream.sync()
            assert int.from_bytes(bytes(x.to_host()), "little") == number
    assert len(step.recordings) == 2


def test_default_stream(device: Device, kernels: Kernels) -> None:
    @record
    def step(x: Any, n: Any) -> None:
        kernels["add"][1, 1](x, n)

    x = new(device)
    with device.default_stream:
        step(x, 1)
        step(x, 2)
        device.sync()
    assert first(x) == 3


def test_threads(device: Device, kernels: Kernels) -> None:
    @record
    def step(x: Any, n: Any) -> None:
        kernels["add"][1, 1](x, n)

    failures: list[BaseException] = []
    start = threading.Barrier(4)

    def work(number: int) -> None:
        try:
            device.set_current()
            with device.create_stream() as own:
                x = new(device)
                start.wait()
                for i in range(50):
                    step(x, number + i % 2)
                own.sync()
                assert first(x) == 50 * number + 25
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert sum(one.launches for one in step.recordings) == 200
