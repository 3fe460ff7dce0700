# SPDX-License-Identifier: Apache-2.0
"""Host memory that is page-locked where it is."""

import array
import gc
import mmap
import weakref
from typing import Any

import numpy as np
import pytest
from cudacore import Buffer, CUDAError, Device, NotSupportedError, Stream, register_host
from harness import build


@pytest.fixture(autouse=True)
def current(device: Device) -> None:
    device.set_current()


def test_kernels_and_copies_use_it(device: Device, stream: Stream) -> None:
    numbers = np.arange(32, dtype="i4")
    kernel = build("__global__ void twice(int* x) { x[threadIdx.x] *= 2; }").get_kernel("twice")
    with register_host(numbers) as registered:
        assert type(registered) is Buffer
        assert (registered.handle, registered.size) == (numbers.ctypes.data, numbers.nbytes)
        assert registered.is_host_accessible
        assert registered.is_device_accessible
        assert not registered.is_managed
        kernel[1, 32, stream](registered)
        stream.sync()
        assert numbers.tolist() == list(range(0, 64, 2))
        on_device = device.allocate(numbers.nbytes, stream=stream)
        on_device.copy_from(registered, stream=stream)
        registered.fill(0, stream=stream)
        registered.copy_from(on_device, stream=stream)
        stream.sync()
        assert numbers.tolist() == list(range(0, 64, 2))
    assert registered.is_closed
    register_host(numbers).close()  # the registration has ended


@pytest.mark.parametrize("make", [
    lambda: bytearray(64),
    lambda: array.array("d", bytes(64)),
    lambda: mmap.mmap(-1, 4096),
    lambda: np.zeros((2, 4)),
    lambda: np.zeros((2, 4)).T,
    lambda: np.zeros((4, 4))[1:3],
    lambda: memoryview(bytearray(64)),
])  # fmt: skip
def test_takes_any_writable_memory(stream: Stream, make: Any) -> None:
    memory = make()
    with register_host(memory, portable=False, mapped=False) as registered:
        assert registered.size == memoryview(memory).nbytes
        registered.fill(1, stream=stream)
        stream.sync()
        assert memoryview(memory).tobytes() == b"\1" * registered.size


def test_takes_arrays_without_the_buffer_protocol(stream: Stream) -> None:
    class Array:
        def __init__(self) -> None:
            self.array = np.zeros(8, "f4")

        def __dlpack__(self, **kwargs: Any) -> Any:
            return self.array.__dlpack__(**kwargs)

        def __dlpack_device__(self) -> tuple[int, int]:
            return (1, 0)

    memory = Array()
    with register_host(memory) as registered:
        assert registered.handle == memory.array.ctypes.data
        registered.fill(1, stream=stream)
        stream.sync()
    assert memory.array.tobytes() == b"\1" * 32


def test_read_only(device: Device, stream: Stream) -> None:
    data = bytes(range(64))
    frozen = np.arange(8)
    frozen.flags.writeable = False
    for memory in (data, frozen):
        with register_host(memory) as registered:
            assert registered.to_host(stream=stream).tobytes() == bytes(memoryview(memory))
        with pytest.raises(ValueError, match="the array is read-only, but read_only is False"):
            register_host(memory, read_only=False)
    with register_host(bytearray(8), read_only=True) as registered:
        assert registered.size == 8


def test_keeps_the_memory(stream: Stream) -> None:
    class Owner(np.ndarray[Any, Any]):
        pass

    memory = np.zeros(64, "u1").view(Owner)
    gone = weakref.ref(memory)
    registered = register_host(memory)
    assert registered.owner.obj is memory
    part = registered[:8]
    del memory
    registered.close()
    gc.collect()
    assert gone() is not None
    part.fill(3, stream=stream)
    stream.sync()
    assert bytes(memoryview(part)) == b"\3" * 8
    part.close()
    gc.collect()
    assert gone() is None

    growing = bytearray(8)
    with register_host(growing), pytest.raises(BufferError):
        growing.extend(b"more")
    growing.extend(b"more")


def test_waits_for_work_at_the_end(stream: Stream, gate: Any) -> None:
    memory = bytearray(64)
    registered = register_host(memory)
    gate.hold(stream)
    registered.fill(1, stream=stream)
    gate.open()
    registered.close(stream)
    assert memory == b"\1" * 64


def test_registered_twice(stream: Stream) -> None:
    memory = bytearray(64)
    with register_host(memory), pytest.raises(CUDAError, match="cuMemHostRegister"):
        register_host(memoryview(memory)[8:16])
    register_host(memory).close()


def test_allocates_nothing(stream: Stream) -> None:
    with register_host(bytearray(8)) as registered, pytest.raises(NotSupportedError):
        registered.copy_to(stream=stream)


@pytest.mark.parametrize(("make", "error", "match"), [
    (bytearray, ValueError, "no memory"),
    (lambda: np.zeros((4, 4))[:, :2], ValueError, "gaps"),
    (lambda: np.array([object()]), TypeError, "Python objects"),
    (lambda: np.zeros(3, [("a", "O"), ("b", "i4")]), TypeError, "Python objects"),
    (lambda: 1, TypeError, "int"),
    (lambda: "text", TypeError, "str"),
    (lambda: Device().allocate(8), TypeError, "page-locked buffers come from"),
    (lambda: Device().allocate(8).view("f4"), ValueError, "on device 0"),
])  # fmt: skip
def test_wrong_memory(make: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        register_host(make())


def test_flags_are_bools() -> None:
    for name in ("portable", "mapped", "io_memory", "read_only"):
        with pytest.raises(TypeError, match=rf"register_host: {name} must be a bool, not int"):
            register_host(bytearray(8), **{name: 1})
    with pytest.raises(TypeError):
        register_host(bytearray(8), True)  # type: ignore[misc]


def test_io_memory_is_the_drivers_to_refuse() -> None:
    with pytest.raises(CUDAError, match="cuMemHostRegister"):
        register_host(bytearray(8), io_memory=True)
