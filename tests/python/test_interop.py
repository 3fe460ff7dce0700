# SPDX-License-Identifier: Apache-2.0
"""Other libraries: DLPack out, `__cuda_stream__` in."""

import gc
import importlib.util
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from cudacore import (
    PER_THREAD_DEFAULT_STREAM,
    Buffer,
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    ManagedMemoryResource,
    PinnedMemoryResource,
    Stream,
    launch,
)
from harness import build, host_bytes

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13

HOST_RESOURCES = {
    "legacy pinned": LegacyPinnedMemoryResource,
    "pinned": PinnedMemoryResource,
    "managed": ManagedMemoryResource,
}


def needs(module: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(
        importlib.util.find_spec(module) is None, reason=f"{module} is not installed"
    )


@pytest.mark.parametrize("kind", ["legacy pinned", "pinned"])
def test_numpy_sees_pinned_memory(device: Device, stream: Stream, kind: str) -> None:
    buffer = HOST_RESOURCES[kind]().allocate(16, stream=stream)
    buffer.copy_from(bytes(range(16)), stream=stream)
    device.sync()
    array = np.from_dlpack(buffer)
    assert (array.dtype, array.shape, array.nbytes) == (np.int8, (16,), 16)
    assert array.tobytes() == bytes(range(16))
    assert array.ctypes.data == buffer.handle


def test_dlpack_keeps_the_memory(device: Device, stream: Stream) -> None:
    buffer = LegacyPinnedMemoryResource().allocate(16)
    buffer.copy_from(b"0123456789abcdef", stream=stream)
    stream.sync()
    array = np.from_dlpack(buffer)
    buffer.close()
    del buffer
    gc.collect()
    assert array.tobytes() == b"0123456789abcdef"


def test_dlpack_device(device: Device) -> None:
    for kind, expected in ((None, {(CUDA, 0)}), ("legacy pinned", {(CUDA_HOST, 0)}),
                           ("managed", {(CUDA_MANAGED, 0)})):  # fmt: skip
        resource = HOST_RESOURCES[kind]() if kind else device.memory_resource
        with resource.allocate(16) as buffer:
            assert buffer.__dlpack_device__() in expected


@pytest.mark.parametrize("version", [None, (0, 8), (1, 0), (1, 2)])
def test_dlpack_capsule_of_each_version(device: Device, version: tuple[int, int] | None) -> None:
    with device.allocate(16) as buffer:
        capsule = buffer.__dlpack__(max_version=version)
        versioned = version is not None and version[0] >= 1
        assert ("dltensor_versioned" in repr(capsule)) is versioned
        assert "dltensor" in repr(capsule)


def test_unused_capsules_free_themselves(device: Device) -> None:
    with device.allocate(16) as buffer:
        for _ in range(1000):
            buffer.__dlpack__(max_version=(1, 0))
            buffer.__dlpack__()


def test_numpy_refuses_device_memory(device: Device) -> None:
    with device.allocate(16) as buffer, pytest.raises((BufferError, RuntimeError)):
        np.from_dlpack(buffer)


def test_numpy_views_are_the_devices_memory(stream: Stream, pinned: Any) -> None:
    buffer = pinned(16)
    build("__global__ void iota(int* p) { p[threadIdx.x] = threadIdx.x; }").get_kernel("iota")[
        1, 4, stream
    ](buffer)
    stream.sync()
    assert np.from_dlpack(buffer).view(np.int32).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("kind", HOST_RESOURCES)
def test_host_waits_for_queued_work(device: Device, stream: Stream, gate: Any, kind: str) -> None:
    buffer = HOST_RESOURCES[kind]().allocate(16, stream=stream)
    buffer.fill(0, stream=stream)
    stream.sync()
    gate.hold(stream)
    buffer.fill(7, stream=stream)
    opener = threading.Timer(0.2, gate.open)
    opener.start()
    array = np.from_dlpack(buffer)
    assert array.tobytes() == bytes([7]) * 16
    opener.join()


@pytest.mark.parametrize("by", ["buffer", "current stream"])
@pytest.mark.parametrize("number", ["handle", 1, 2, None])
def test_consumers_stream_waits(
    device: Device, stream: Stream, gate: Any, number: Any, by: str
) -> None:
    consumer = {
        "handle": device.create_stream(),
        1: device.default_stream,
        2: PER_THREAD_DEFAULT_STREAM,
        None: device.default_stream,
    }[number]
    other = device.create_stream()
    buffer = device.allocate(16, stream=stream if by == "buffer" else other)
    gate.hold(stream)
    if by == "buffer":
        buffer.__dlpack__(stream=consumer.handle if number == "handle" else number)
    else:
        with stream:
            buffer.__dlpack__(stream=consumer.handle if number == "handle" else number)
    event = consumer.record()
    assert not event.is_done
    gate.open()
    event.sync()


def test_no_order_where_none_is_asked_for(device: Device, stream: Stream, gate: Any) -> None:
    consumer = device.create_stream()
    buffer = device.allocate(16, stream=stream)
    gate.hold(stream)
    buffer.__dlpack__(stream=-1)
    consumer.record().sync()
    assert not stream.is_done
    gate.open()


@pytest.mark.parametrize(
    ("number", "error"), [(0, ValueError), (-2, ValueError), (2**70, ValueError), (True, TypeError)]
)
def test_bad_stream_numbers(device: Device, number: Any, error: type[Exception]) -> None:
    with device.allocate(16) as buffer, pytest.raises(error, match="stream"):
        buffer.__dlpack__(stream=number)


class Foreign:
    def __init__(self, handle: int) -> None:
        self.handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return (0, self.handle)


def test_foreign_stream_is_taken_everywhere(device: Device, stream: Stream) -> None:
    foreign = Foreign(stream.handle)
    kernel = build("__global__ void k(int* p) { *p = 3; }").get_kernel("k")
    buffer = device.allocate(4, stream=foreign)
    buffer.fill(0, stream=foreign)
    launch(foreign, LaunchConfig(), kernel, buffer)
    kernel[1, 1, foreign](buffer)
    host = bytearray(4)
    buffer.copy_to(host, stream=foreign)
    device.create_stream().wait(foreign)
    buffer.set_deallocation_stream(foreign)
    buffer.close(foreign)
    stream.sync()
    assert host == b"\3\0\0\0"


@pytest.fixture
def numbers(device: Device, stream: Stream) -> Iterator[Buffer]:
    """The bytes from 0 to 15."""
    with device.allocate(16, stream=stream) as buffer:
        buffer.copy_from(bytes(range(16)), stream=stream)
        stream.sync()
        yield buffer


@pytest.mark.gpu_only(reason="CuPy calls the CUDA runtime, which needs NVIDIA's driver")
@needs("cupy")
class TestCupy:
    def test_reads_a_buffer(self, numbers: Buffer) -> None:
        import cupy

        array = cupy.from_dlpack(numbers)
        assert array.get().tobytes() == bytes(range(16))

    def test_stream_is_taken(self, device: Device) -> None:
        import cupy

        foreign = cupy.cuda.Stream(non_blocking=True)
        mine = device.create_stream(foreign)
        assert mine.handle == foreign.ptr
        mine.sync()


@pytest.mark.gpu_only(reason="PyTorch calls the CUDA runtime, which needs NVIDIA's driver")
@needs("torch")
class TestTorch:
    def test_reads_a_buffer(self, numbers: Buffer) -> None:
        import torch

        assert torch.from_dlpack(numbers).cpu().tolist() == list(range(16))

    def test_memory_goes_to_a_kernel_by_address(self, stream: Stream, device: Device) -> None:
        import torch

        tensor = torch.zeros(4, device=f"cuda:{device.device_id}", dtype=torch.int32)
        torch.cuda.synchronize()
        kernel = build("__global__ void k(int* p) { p[threadIdx.x] = 7; }").get_kernel("k")
        kernel[1, 4, stream](tensor.data_ptr())
        stream.sync()
        assert tensor.tolist() == [7] * 4


def test_buffer_from_the_memory_of_another(device: Device, stream: Stream, pinned: Any) -> None:
    buffer = pinned(16)
    view = Buffer.from_handle(buffer.handle, 16, owner=buffer)
    view.fill(5, stream=stream)
    device.sync()
    assert host_bytes(buffer) == b"\5" * 16
