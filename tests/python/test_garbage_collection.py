# SPDX-License-Identifier: Apache-2.0
"""Cycles through what cudacore keeps alive are collected, and nothing else is."""

import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any, ClassVar

import cudacore
import numpy as np
import pytest
from cudacore import (
    Buffer,
    Device,
    DeviceMemoryResource,
    Kernel,
    LegacyPinnedMemoryResource,
    MemoryResource,
    Stream,
)
from harness import build, run_cleanly


class Owner:
    """Anything that an object keeps alive, and that can refer to the object."""

    held: Any = None


class CachingResource(MemoryResource):
    """Keeps the buffers that it hands out."""

    given_back: ClassVar[list[int]] = []

    def __init__(self, inner: MemoryResource) -> None:
        super().__init__()
        self.inner = inner
        self.memory: dict[int, Buffer] = {}
        self.handed_out: list[Buffer] = []

    def allocate(self, size: int, *, stream: Any = None) -> Buffer:
        memory = self.inner.allocate(size, stream=stream)
        self.memory[memory.handle] = memory
        buffer = Buffer.from_handle(memory.handle, size, mr=self, stream=stream)
        self.handed_out.append(buffer)
        return buffer

    def deallocate(self, ptr: int, size: int, *, stream: Any = None) -> None:
        assert size
        self.memory.pop(ptr).close(stream)
        self.given_back.append(ptr)

    is_device_accessible = True
    is_host_accessible = False
    device_id = 0


def is_collected(make: Callable[[], weakref.ref[Any]]) -> bool:
    gc.collect()
    reference = make()
    gc.collect()
    return reference() is None


def test_resource_that_keeps_its_buffers(device: Device, stream: Stream) -> None:
    pool = DeviceMemoryResource(device, {})
    before = cudacore.unraisable_errors()
    CachingResource.given_back.clear()

    def make() -> weakref.ref[Any]:
        resource = CachingResource(pool)
        for _ in range(3):
            resource.allocate(64, stream=stream)
        return weakref.ref(resource)

    assert is_collected(make)
    assert len(CachingResource.given_back) == 3
    stream.sync()
    assert pool.attributes.used_mem_current == 0
    assert cudacore.unraisable_errors() == before


def test_pool_of_a_python_class_that_keeps_its_buffers() -> None:
    script = """
import gc
import cudacore
class Pool(cudacore.DeviceMemoryResource):
    pass
device = cudacore.Device()
stream = device.create_stream()
for how in ("kept", "kept by the device") * 20:
    pool = Pool(device, {})
    pool.kept = [pool.allocate(64, stream=stream) for _ in range(3)]
    if how != "kept":
        device.memory_resource = pool
        pool.kept.append(device.allocate(64, stream=stream))
        device.memory_resource = cudacore.DeviceMemoryResource(device)
    del pool
    gc.collect()
print(sum(isinstance(each, Pool) for each in gc.get_objects()), cudacore.unraisable_errors())
"""
    assert run_cleanly(script).split() == ["0", "0"]


def test_memory_goes_back_to_a_python_pool_that_nobody_else_holds(
    device: Device, stream: Stream
) -> None:
    given_back: list[int] = []

    class Pool(DeviceMemoryResource):
        def deallocate(self, ptr: int, size: int, *, stream: Any = None) -> None:
            given_back.append(ptr)
            super().deallocate(ptr, size, stream=stream)

    buffer = Pool(device, {}).allocate(32, stream=stream)
    gc.collect()
    address = buffer.handle
    assert type(buffer.memory_resource) is Pool
    buffer.close()
    assert given_back == [address]


def test_fault_that_the_collector_meets_is_raised_by_the_next_call() -> None:
    script = """
import time
import cudacore
device = cudacore.Device()
stream = device.create_stream()
source = "__global__ void k(int* p) { *p = 1; }"
kernel = cudacore.Program(source, "c++").compile().get_kernel("k")
class Own(cudacore.Buffer):
    pass
pool = cudacore.DeviceMemoryResource(device)
memory = pool.allocate(64, stream=stream)
buffer = Own.from_handle(memory.handle, 64, mr=pool, stream=stream)
kernel[1, 1, stream](12345)
time.sleep(0.5)
del buffer
try:
    stream.sync()
except cudacore.CUDAError as error:
    print(type(error).__name__)
"""
    assert run_cleanly(script).split() == ["LaunchError"]


@pytest.mark.parametrize("kind", ["Buffer", "Stream"])
def test_long_chain_of_owners_ends(kind: str) -> None:
    script = f"""
from cudacore import Buffer, Device, Stream
stream = Device().create_stream()
last = None
def view(owner):
    if "{kind}" == "Buffer":
        return Buffer.from_handle(64, 4, owner=owner)
    return Stream.from_handle(stream.handle, owner=owner)
import weakref
class Owner: pass
first = Owner()
ended = weakref.ref(first)
last = view(first)
del first
for _ in range(300_000):
    last = view(last)
del last
print(ended() is None)
"""
    assert run_cleanly(script).strip() == "True"


def cycle(owner: Owner, held: Any) -> weakref.ref[Any]:
    owner.held = held
    return weakref.ref(owner)


@pytest.fixture(scope="module")
def kernel(device: Device) -> Kernel:
    return build("__global__ void k() {}").get_kernel("k")


CYCLES: dict[str, Callable[[Owner, Stream, Kernel], Any]] = {
    "stream": lambda owner, stream, _kernel: Stream.from_handle(stream.handle, owner=owner),
    "buffer": lambda owner, _stream, _kernel: Buffer.from_handle(64, 64, owner=owner),
    "launcher's stream": lambda owner, stream, kernel: kernel[
        1, 1, Stream.from_handle(stream.handle, owner=owner)
    ],
}


@pytest.mark.parametrize("kind", CYCLES)
def test_owner_that_holds_what_it_owns(stream: Stream, kernel: Kernel, kind: str) -> None:
    def make() -> weakref.ref[Any]:
        owner = Owner()
        return cycle(owner, CYCLES[kind](owner, stream, kernel))

    assert is_collected(make)


@pytest.mark.parametrize("how", ["from_handle", "set_deallocation_stream"])
def test_foreign_stream_of_a_buffer(device: Device, stream: Stream, how: str) -> None:
    class Foreign(Owner):
        def __cuda_stream__(self) -> tuple[int, int]:
            return (0, stream.handle)

    def make() -> weakref.ref[Any]:
        foreign = Foreign()
        if how == "from_handle":
            buffer = Buffer.from_handle(64, 64, stream=foreign)
        else:
            buffer = device.allocate(64, stream=stream)
            buffer.set_deallocation_stream(foreign)
        return cycle(foreign, buffer)

    assert is_collected(make)


def test_device_of_a_thread_that_ended() -> None:
    found: list[weakref.ref[Any]] = []

    def work() -> None:
        device = Device(0)
        resource = CachingResource(device.memory_resource)
        resource.inner_device = device  # type: ignore[attr-defined]
        device.memory_resource = resource
        found.append(weakref.ref(resource))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    gc.collect()
    assert found[0]() is None


@pytest.mark.parametrize("kind", CYCLES)
def test_what_is_in_use_stays(stream: Stream, kernel: Kernel, kind: str) -> None:
    owner = Owner()
    reference = cycle(owner, CYCLES[kind](owner, stream, kernel))
    kept = owner.held
    del owner
    gc.collect()
    alive = reference()
    assert alive is not None
    assert alive.held is kept


def test_memory_that_numpy_reads_stays() -> None:
    class Pinned(Owner):
        def __init__(self) -> None:
            self.memory = LegacyPinnedMemoryResource().allocate(16)

    owner = Pinned()
    buffer = Buffer.from_handle(owner.memory.handle, 16, owner=owner)
    array = np.from_dlpack(buffer)
    reference = cycle(owner, buffer)
    del owner, buffer
    gc.collect()
    alive = reference()
    assert alive is not None
    assert not alive.memory.is_closed
    array[:] = 7
    del alive, array
    gc.collect()
    assert reference() is None


@pytest.mark.parametrize("kind", ["stream", "buffer"])
def test_cycle_of_a_derived_class(device: Device, stream: Stream, kind: str) -> None:
    class OwnStream(Stream):
        pass

    class OwnBuffer(Buffer):
        pass

    def make() -> weakref.ref[Any]:
        one: Any = (
            OwnStream.from_handle(stream.handle)
            if kind == "stream"
            else OwnBuffer.from_handle(64, 64)
        )
        one.itself = one
        return weakref.ref(one)

    assert is_collected(make)


def test_collector_runs_while_others_work(device: Device) -> None:
    """References come and go without the GIL while the collector counts."""
    pool = DeviceMemoryResource(device, {})
    failures: list[Exception] = []
    done = threading.Event()

    def work() -> None:
        try:
            stream = device.create_stream()
            owner = Owner()
            foreign = Stream.from_handle(stream.handle, owner=owner)
            owner.held = foreign
            reference = weakref.ref(owner)
            del owner
            while not done.is_set():
                buffer = pool.allocate(64, stream=foreign)
                buffer.fill(1, stream=foreign)
                buffer.close()
                assert reference() is not None
            stream.sync()
        except (AssertionError, cudacore.CUDAError, ValueError) as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(100):
        gc.collect()
    done.set()
    for thread in threads:
        thread.join()
    assert failures == []


def test_finalizer_of_garbage_finds_wrapped_memory_whole() -> None:
    array = np.arange(4, dtype=np.uint8)
    seen: list[bytes] = []

    class Saver:
        def __init__(self, buffer: Buffer) -> None:
            self.buffer = buffer
            self.itself = self

        def __del__(self) -> None:
            seen.append(bytes(memoryview(self.buffer)))

    Saver(Buffer.from_handle(array.ctypes.data, 4, owner=[array]))
    gc.collect()
    assert seen == [b"\0\1\2\3"]
