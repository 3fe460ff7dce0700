# SPDX-License-Identifier: Apache-2.0
"""Buffers as ranges of memory: length, slices, and views on the host."""

import ctypes
import gc
import sys
from collections.abc import Callable

import numpy as np
import pytest
from cudacore import Buffer, Device, LegacyPinnedMemoryResource, MemoryResource, Stream
from harness import build

DATA = bytes(range(256)) * 4


class Counting(MemoryResource):
    """Pinned memory; records what was returned, and on which stream."""

    is_device_accessible = True
    is_host_accessible = True
    device_id = -1

    def __init__(self) -> None:
        super().__init__()
        self.memory: dict[int, Buffer] = {}
        self.returned: list[tuple[int, object]] = []

    def allocate(self, size: int, *, stream: object = None) -> Buffer:
        memory = LegacyPinnedMemoryResource().allocate(size)
        self.memory[memory.handle] = memory
        return Buffer.from_handle(memory.handle, size, mr=self)

    def deallocate(self, ptr: int, size: int, *, stream: object = None) -> None:
        del self.memory[ptr]
        self.returned.append((size, stream))


@pytest.fixture
def buffer(device: Device, stream: Stream) -> Buffer:
    buffer = device.allocate(len(DATA), stream=stream)
    buffer.copy_from(DATA, stream=stream)
    return buffer


def test_length_is_the_size(device: Device, stream: Stream) -> None:
    buffer = device.allocate(24, stream=stream)
    assert len(buffer) == buffer.size == 24
    buffer.close()
    assert len(buffer) == 0


@pytest.mark.parametrize(
    "part",
    [slice(256, 512), slice(None), slice(-16, None), slice(None, 8), slice(5, 5), slice(0, 10**9)],
    ids=str,
)
def test_slice_is_a_part_of_the_same_memory(
    buffer: Buffer, stream: Stream, part: slice, device: Device
) -> None:
    view = buffer[part]
    start, stop, _ = part.indices(len(DATA))
    assert isinstance(view, Buffer)
    assert view.handle == buffer.handle + start
    assert view.size == stop - start
    assert bytes(view.to_host(stream=stream)) == DATA[part]
    assert view.device_id == device.device_id
    assert view.memory_resource is buffer.memory_resource
    assert view.is_device_accessible
    assert not view.is_host_accessible


def test_slices_are_written_and_copied(buffer: Buffer, stream: Stream) -> None:
    buffer[256:512].fill(7, stream=stream)
    buffer[512:768].copy_from(buffer[0:256], stream=stream)
    expected = DATA[:256] + b"\7" * 256 + DATA[:256] + DATA[768:]
    assert bytes(buffer.to_host(stream=stream)) == expected
    copied = buffer[2:6].copy_to(stream=stream)
    assert bytes(copied.to_host(stream=stream)) == DATA[2:6]


def test_slice_is_a_kernel_argument(buffer: Buffer, stream: Stream) -> None:
    kernel = build("__global__ void set(int* p) { *p = 7; }").get_kernel("set")
    kernel[1, 1, stream](buffer[8:12])
    expected = DATA[:8] + (7).to_bytes(4, sys.byteorder) + DATA[12:]
    assert bytes(buffer.to_host(stream=stream)) == expected


@pytest.mark.multi_gpu
def test_slice_knows_its_device_in_a_launch(device: Device) -> None:
    kernel = build("__global__ void set(int* p) { *p = 7; }").get_kernel("set")
    other = Device(1)
    part = other.allocate(64)[8:16]
    assert part.device_id == 1
    with pytest.raises(TypeError, match="device 1"):
        kernel[1, 1, device.default_stream](part)


@pytest.mark.parametrize("part", [slice(0, 8, 2), slice(None, None, -1)])
def test_slice_has_no_step(buffer: Buffer, part: slice) -> None:
    with pytest.raises(ValueError, match="step must be 1"):
        buffer[part]


@pytest.mark.parametrize("index", [0, -1, "a", (slice(0, 1), slice(0, 1)), None])
def test_buffer_has_no_elements(buffer: Buffer, index: object) -> None:
    with pytest.raises(TypeError, match="to_host"):
        buffer[index]  # type: ignore[index]
    with pytest.raises(TypeError, match="to_host"):
        list(buffer)  # type: ignore[call-overload]


def test_closed_buffer_has_no_parts(buffer: Buffer) -> None:
    buffer.close()
    with pytest.raises(ValueError, match="closed"):
        buffer[0:1]


def test_bounds_that_close_the_buffer_are_safe() -> None:
    resource = Counting()
    buffer = resource.allocate(64)

    class Bound:
        def __index__(self) -> int:
            buffer.close()
            return 8

    with pytest.raises(ValueError, match="closed while"):
        buffer[Bound() :]
    assert buffer.is_closed
    assert [size for size, _ in resource.returned] == [64]


def test_memory_lives_until_the_last_part_is_gone(stream: Stream) -> None:
    resource = Counting()
    buffer = resource.allocate(64)
    address = buffer.handle
    part = buffer[16:48]
    inner = part[8:16]
    assert inner.handle == address + 24
    buffer.close()
    part.close()
    with pytest.raises(ValueError, match="closed"):
        part.fill(0)
    assert not resource.returned
    inner.fill(3, stream=stream)
    stream.sync()
    assert ctypes.string_at(inner.handle, 8) == b"\3" * 8
    del inner
    gc.collect()
    assert [size for size, _ in resource.returned] == [64]


def test_part_orders_the_release_of_the_whole(stream: Stream) -> None:
    resource = Counting()
    buffer = resource.allocate(64)
    part = buffer[0:8]
    buffer.close()
    part.close(stream)
    ((size, used),) = resource.returned
    assert (size, used) == (64, stream)


def test_part_has_the_owner_of_the_whole(device: Device) -> None:
    owner = bytearray(64)
    address = ctypes.addressof(ctypes.c_char.from_buffer(owner))
    count = sys.getrefcount(owner)
    buffer = Buffer.from_handle(address, 64, owner=owner)
    part = buffer[8:16]
    del buffer
    assert part.owner is owner
    del part
    assert sys.getrefcount(owner) == count


def test_memoryview_shares_pinned_memory(pinned: Callable[[int], Buffer], stream: Stream) -> None:
    buffer = pinned(64)
    view = memoryview(buffer)
    assert (view.nbytes, view.format, view.readonly, view.contiguous) == (64, "B", False, True)
    view[3] = 9
    buffer[4:8].fill(5, stream=stream)
    stream.sync()
    assert bytes(view[:9]) == b"\0\0\0\x09\5\5\5\5\0"
    array = np.frombuffer(buffer, np.int32)
    array[2] = 77
    assert view[8] == 77
    assert bytes(memoryview(buffer[8:12])) == b"\x4d\0\0\0"
    assert np.asarray(buffer).nbytes == 64


@pytest.mark.parametrize("keep", ["view", "slice of a view"])
def test_view_keeps_memory_that_is_closed(keep: str) -> None:
    resource = Counting()
    buffer = resource.allocate(64)
    view = memoryview(buffer)
    if keep == "slice of a view":
        view = view[8:16]
    buffer.close()
    assert buffer.is_closed
    view[0] = 3
    assert view[0] == 3
    assert not resource.returned
    view.release()
    gc.collect()
    assert [size for size, _ in resource.returned] == [64]


def test_device_memory_has_no_view(buffer: Buffer) -> None:
    with pytest.raises(BufferError, match=r"device 0.*to_host\(\).*copy_to") as raised:
        memoryview(buffer)
    assert raised.type is BufferError


def test_closed_buffer_has_no_view(pinned: Callable[[int], Buffer]) -> None:
    buffer = pinned(8)
    buffer.close()
    with pytest.raises(ValueError, match="closed"):
        memoryview(buffer)


def test_view_of_a_resource_that_fails_raises_its_error() -> None:
    class Failing(Counting):
        @property
        def is_host_accessible(self) -> bool:  # type: ignore[override]
            raise LookupError("no answer")

    buffer = Failing().allocate(8)
    with pytest.raises(LookupError, match="no answer"):
        memoryview(buffer)


def test_null_is_no_memory_to_read() -> None:
    with pytest.raises(BufferError, match="address is null"):
        memoryview(Buffer.from_handle(None, 16))
    assert bytes(Buffer.from_handle(None, 0)) == b""
