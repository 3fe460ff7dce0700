# SPDX-License-Identifier: Apache-2.0
"""Recorded functions that use other libraries: their arrays, and kernels that they launch."""

import contextlib
import ctypes
import gc
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator
from typing import Any

import cudacore
import numpy as np
import pytest
from cudacore import Buffer, Device, Kernel
from foreign_arrays import CudaArray
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

Launch = Callable[..., None]


@pytest.fixture
def launch() -> Launch:
    """Launch a kernel as another library does: by the driver, on the current stream."""
    driver = ctypes.CDLL(cudacore.driver_library()[1])

    def run(kernel: Kernel, threads: int, *arguments: Any) -> None:
        places = (ctypes.c_void_p * len(arguments))(*map(ctypes.addressof, arguments))
        shape = [ctypes.c_uint(one) for one in (1, 1, 1, threads, 1, 1, 0)]
        stream = ctypes.c_void_p(int(cudacore.current_stream().handle))
        function = ctypes.c_void_p(int(kernel.handle))
        assert driver.cuLaunchKernel(function, *shape, stream, places, None) == 0

    return run


class OtherArray(CudaArray):
    """An array of a library that can make one of other memory."""

    def __hash__(self) -> int:
        return id(self)


def test_arrays_of_other_libraries(
    device: Device, kernels: Kernels, calls: Calls, numbers: Buffer, monkeypatch: pytest.MonkeyPatch
) -> None:
    library: Any = types.ModuleType("other_library")
    library.from_dlpack = lambda view: OtherArray(view.ptr, view.shape, np.int32)
    monkeypatch.setitem(sys.modules, "other_library", library)
    monkeypatch.setattr(OtherArray, "__module__", "other_library")

    def array(buffer: Buffer, **lies: Any) -> OtherArray:
        return OtherArray(buffer.handle, (COUNT,), np.int32, **lies)

    @record
    def step(x: Any, y: Any) -> None:
        calls()
        kernels["copy"][1, COUNT](x, y)
        kernels["add"][1, COUNT](y, 1)

    for number in (1, 2):
        x, y = new(device, number), new(device)
        step(array(x), array(y))
        assert ints(y) == [number + 1] * COUNT
    assert calls.count == 1
    with device.create_stream() as other:
        step(array(x, stream=int(other.handle)), array(y))
    assert calls.count == 1
    step(x, array(y))
    assert calls.count == 2
    with pytest.raises(TypeError, match="whose memory is not a device's alone"):
        step(array(numbers), array(y))
    monkeypatch.delattr(library, "from_dlpack")
    with pytest.raises(cudacore.NotSupportedError, match="OtherArray cannot be given other memory"):
        step(OtherArray(x.handle, (2, 4), np.int32), y)


def test_their_kernels(device: Device, kernels: Kernels, calls: Calls, launch: Launch) -> None:
    constant, copied = new(device, 50), new(device)

    @record
    def step(x: Any, y: Any, n: Any) -> None:
        calls()
        y.fill(0)
        kernels["add"][1, COUNT](x, n)
        copied.copy_from(x)
        launch(kernels["copy"], 4, ctypes.c_void_p(x.handle + 16), ctypes.c_void_p(y.handle))
        launch(kernels["add"], 2, ctypes.c_void_p(constant.handle), ctypes.c_int(1))
        launch(kernels["maybe"], 1, ctypes.c_void_p(0))

    for number in (1, 2, 3):
        x, y = new(device, *range(COUNT)), new(device)
        step(x, y, number)
        assert ints(x) == ints(copied) == [i + number for i in range(COUNT)]
        assert ints(y) == [4 + number, 5 + number, 6 + number, 7 + number, 0, 0, 0, 0]
    assert ints(constant)[:3] == [53, 53, 50]
    assert calls.count == 2  # the second time with other addresses
    assert len(step.recordings) == 1
    step(new(device, count=COUNT + 4)[16:], y, 1)  # their kernels may choose by the alignment
    assert calls.count == 4


def test_kernels_that_differ_in_a_second_run(
    device: Device, kernels: Kernels, calls: Calls, launch: Launch
) -> None:
    @record
    def counts(x: Any) -> None:
        calls()
        launch(kernels["add"], 1, ctypes.c_void_p(x.handle), ctypes.c_int(calls.count))

    @record
    def grows(x: Any) -> None:
        calls()
        for _ in range(calls.count):
            launch(kernels["add"], 1, ctypes.c_void_p(x.handle), ctypes.c_int(1))

    @record
    def derives(x: Any) -> None:
        launch(kernels["add"], 1, ctypes.c_void_p(x.handle), ctypes.c_int(x.handle >> 12 & 0xFFFFF))

    x = new(device)
    with pytest.raises(cudacore.NotSupportedError, match=r"node 0, the kernel .*add.*, has other"):
        counts(x)
    with pytest.raises(cudacore.NotSupportedError, match="nodes instead of"):
        grows(x)
    with pytest.raises(cudacore.NotSupportedError, match="node 0, the kernel"):
        derives(x)
    assert first(x) == 0


def test_scratch_memory_in_parameters(device: Device, calls: Calls, launch: Launch) -> None:
    class Indexer(ctypes.Structure):  # CuPy's, of two dimensions
        _fields_ = (("size", ctypes.c_int64), ("shape", ctypes.c_int64 * 2),
                    ("index", ctypes.c_int64 * 2))  # fmt: skip

    source = """
struct Indexer { long long size, shape[2], index[2]; };
extern "C" __global__ void cupy_add(int* p, Indexer i) { i.index[0] = 1; p[0] += i.size; }
extern "C" __global__ void other_add(int* p, Indexer i) { i.index[0] = 1; p[0] += i.size; }
"""
    code = build(source)

    def recorded(name: str) -> Any:
        kernel = code.get_kernel(name)

        @record
        def step(x: Any) -> None:
            calls()
            indexer = Indexer(6, (2, 3), (calls.count, -calls.count))
            launch(kernel, 1, ctypes.c_void_p(x.handle), indexer)

        return step

    x = new(device)
    step = recorded("cupy_add")
    for i in (1, 2, 3):
        step(x)
        assert first(x) == 6 * i
    with pytest.raises(cudacore.NotSupportedError, match="the kernel other_add, has other param"):
        recorded("other_add")(x)


@pytest.mark.parametrize("has_protocol", [True, False], ids=["CuPy 14", "older"])
def test_current_streams_and_pools(
    device: Device, kernels: Kernels, monkeypatch: pytest.MonkeyPatch, has_protocol: bool
) -> None:
    entered = Entered()
    torch: Any = types.ModuleType("torch")
    torch.cuda = types.SimpleNamespace(
        is_initialized=lambda: True,
        ExternalStream=lambda *given: given,
        stream=entered,
        MemPool=Calls,
        use_mem_pool=entered,
    )
    cupy: Any = types.ModuleType("cupy")
    if has_protocol:
        stream_class: Any = types.SimpleNamespace(
            from_external=lambda stream: entered((int(stream.handle), 0))
        )
    else:
        stream_class = object
    cupy.cuda = types.SimpleNamespace(
        Stream=stream_class,
        ExternalStream=lambda *given: entered(given) if not has_protocol else None,
        MemoryPool=lambda: types.SimpleNamespace(malloc="malloc"),
        using_allocator=entered,
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "cupy", cupy)

    @record
    def step(x: Any) -> None:
        stream, pool, other_stream, malloc = entered.given
        own = (int(cudacore.current_stream().handle), 0)
        if (stream, other_stream, malloc) != (own, own, "malloc") or not isinstance(pool, Calls):
            raise ValueError(entered.given)
        kernels["add"][1, 1](x, 1)

    x = new(device)
    step(x)
    assert not entered.given
    assert first(x) == 1


def test_pools_of_pytorch_end_while_nothing_allocates(
    device: Device, kernels: Kernels, monkeypatch: pytest.MonkeyPatch
) -> None:
    using: list[object] = []
    users_at_end: list[int] = []

    class MemPool:
        def __del__(self) -> None:
            users_at_end.append(len(using))

    @contextlib.contextmanager
    def use_mem_pool(pool: object) -> Iterator[None]:
        using.append(None)
        yield
        using.pop()

    torch: Any = types.ModuleType("torch")
    torch.cuda = types.SimpleNamespace(
        is_initialized=lambda: True,
        ExternalStream=lambda *given: given,
        stream=contextlib.nullcontext,
        MemPool=MemPool,
        use_mem_pool=use_mem_pool,
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    begun, may_end = threading.Event(), threading.Event()

    @record
    def waits(x: Any) -> None:
        begun.set()
        assert may_end.wait(60)
        kernels["add"][1, 1](x, 1)

    @record
    def step(x: Any) -> None:
        kernels["add"][1, 1](x, 2)

    def work() -> None:
        device.set_current()
        with device.create_stream():
            waits(new(device))

    thread = threading.Thread(target=work)
    thread.start()
    assert begun.wait(60)
    step(new(device))
    step.clear()
    assert users_at_end == []
    may_end.set()
    thread.join()
    waits.clear()
    gc.collect()
    # The driver may let go of a graph's objects later, on a thread of its own.
    end = time.monotonic() + 60
    while len(users_at_end) < 2 and time.monotonic() < end:
        time.sleep(0.01)
    assert users_at_end == [0, 0]


class Entered:
    """A context manager that remembers what was entered and not left."""

    def __init__(self) -> None:
        self.given: list[Any] = []

    @contextlib.contextmanager
    def __call__(self, given: Any) -> Iterator[None]:
        self.given.append(given)
        yield
        self.given.remove(given)
