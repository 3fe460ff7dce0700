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
from harness import build


class Owner:
    """Anything that an object keeps alive, and that can hold the object."""

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


def cycle(owner: Owner, held: Any) -> weakref.ref[Any]:
    owner.held = held
    return weakref.ref(owner)


@pytest.fixture(scope="module")
def kernel(device: Device) -> Kernel:
    assert device.device_id == 0
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

    assert device.device_id == 0

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
    """Shares come and go without the GIL while the collector counts."""
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
