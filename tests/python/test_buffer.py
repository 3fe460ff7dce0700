# SPDX-License-Identifier: Apache-2.0
"""Buffer: copies, fills, lifetime."""

import array
import ctypes
import gc
import weakref
from collections.abc import Callable
from typing import Any

import cudacore
import numpy as np
import pytest
from cudacore import Buffer, Device, LegacyPinnedMemoryResource, MemoryResource, Stream
from harness import build

DATA = bytes(range(256)) * 4

HOSTS: dict[str, Callable[[], Any]] = {
    "bytearray": lambda: bytearray(len(DATA)),
    "memoryview": lambda: memoryview(bytearray(len(DATA))),
    "array": lambda: array.array("d", bytes(len(DATA))),
    "numpy": lambda: np.zeros(len(DATA) // 4, np.float32),
    "numpy 2-D": lambda: np.zeros((8, len(DATA) // 16), np.int16),
}


@pytest.fixture
def buffer(device: Device, stream: Stream) -> Buffer:
    return device.allocate(len(DATA), stream=stream)


def read(buffer: Buffer, stream: Stream) -> bytes:
    host = bytearray(buffer.size)
    buffer.copy_to(host, stream=stream)
    stream.sync()
    return bytes(host)


def test_describes_itself(device: Device, buffer: Buffer) -> None:
    assert buffer.handle != 0
    assert buffer.size == len(DATA)
    assert buffer.device_id == device.device_id
    assert buffer.is_device_accessible
    assert not buffer.is_host_accessible
    assert not buffer.is_managed
    assert not buffer.is_mapped
    assert buffer.memory_resource is device.memory_resource
    assert buffer.owner is None
    assert "Buffer" in repr(buffer)
    assert str(len(DATA)) in repr(buffer)


def test_has_no_public_constructor() -> None:
    with pytest.raises(TypeError, match=r"allocate|from_handle"):
        Buffer()


@pytest.mark.parametrize("kind", HOSTS)
def test_copies_from_and_to_host_objects(buffer: Buffer, stream: Stream, kind: str) -> None:
    buffer.copy_from(np.frombuffer(DATA, np.uint8), stream=stream)
    host = HOSTS[kind]()
    buffer.copy_to(host, stream=stream)
    stream.sync()
    assert bytes(memoryview(host).cast("B")) == DATA
    buffer.fill(0, stream=stream)
    buffer.copy_from(host, stream=stream)
    assert read(buffer, stream) == DATA


def test_copies_from_bytes(buffer: Buffer, stream: Stream) -> None:
    buffer.copy_from(DATA, stream=stream)
    assert read(buffer, stream) == DATA


def test_copies_between_buffers(device: Device, buffer: Buffer, stream: Stream) -> None:
    buffer.copy_from(DATA, stream=stream)
    other = device.allocate(len(DATA), stream=stream)
    assert buffer.copy_to(other, stream=stream) is other
    third = device.allocate(len(DATA), stream=stream)
    third.copy_from(other, stream=stream)
    assert read(third, stream) == DATA


def test_copy_to_nothing_allocates(buffer: Buffer, stream: Stream) -> None:
    buffer.copy_from(DATA, stream=stream)
    copy = buffer.copy_to(stream=stream)
    assert copy.handle != buffer.handle
    assert copy.memory_resource is buffer.memory_resource
    assert read(copy, stream) == DATA


@pytest.mark.parametrize("size", [0, 1, len(DATA) - 1, len(DATA) + 1])
def test_sizes_must_agree(device: Device, buffer: Buffer, stream: Stream, size: int) -> None:
    others = [bytearray(size)]
    others += [device.allocate(size, stream=stream)] if size else []
    for other in others:
        for copy in (buffer.copy_from, buffer.copy_to):
            with pytest.raises(ValueError, match=rf"\b{size}\b.*\b1024\b|\b1024\b.*\b{size}\b"):
                copy(other, stream=stream)


@pytest.mark.parametrize("target", [DATA, memoryview(DATA)], ids=["bytes", "memoryview"])
def test_read_only_host_is_no_target(buffer: Buffer, stream: Stream, target: Any) -> None:
    with pytest.raises(TypeError, match="writable"):
        buffer.copy_to(target, stream=stream)


def test_host_must_be_contiguous(buffer: Buffer, stream: Stream) -> None:
    strided = np.zeros(len(DATA) * 2, np.uint8)[::2]
    for copy in (buffer.copy_from, buffer.copy_to):
        with pytest.raises(TypeError, match="contiguous"):
            copy(strided, stream=stream)


@pytest.mark.parametrize("other", [1, "text", object(), [1, 2]])
def test_copy_of_wrong_type(buffer: Buffer, stream: Stream, other: Any) -> None:
    for copy in (buffer.copy_from, buffer.copy_to):
        with pytest.raises(TypeError, match=type(other).__name__):
            copy(other, stream=stream)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, b"\0"),
        (0xA5, b"\xa5"),
        (255, b"\xff"),
        (b"\x01", b"\x01"),
        (b"\x01\x02", b"\x01\x02"),
        (b"\x01\x02\x03\x04", b"\x01\x02\x03\x04"),
        (np.float32(1.5), np.float32(1.5).tobytes()),
        (np.uint16(0xBEEF), b"\xef\xbe"),
        (bytearray(b"ab"), b"ab"),
    ],
    ids=repr,
)
def test_fill(buffer: Buffer, stream: Stream, value: Any, expected: bytes) -> None:
    buffer.fill(value, stream=stream)
    assert read(buffer, stream) == expected * (len(DATA) // len(expected))


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (-1, OverflowError),
        (256, OverflowError),
        (2**70, OverflowError),
        (b"", ValueError),
        (b"abc", ValueError),
        (b"12345678", ValueError),
        (1.5, TypeError),
        ("a", TypeError),
        (None, TypeError),
    ],
    ids=repr,
)
def test_fill_refuses(buffer: Buffer, stream: Stream, value: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r".+"):
        buffer.fill(value, stream=stream)


@pytest.mark.parametrize("pattern", [b"ab", b"abcd"])
def test_fill_needs_a_multiple(device: Device, stream: Stream, pattern: bytes) -> None:
    with device.allocate(7, stream=stream) as odd, pytest.raises(ValueError, match="7"):
        odd.fill(pattern, stream=stream)


def test_closed_buffer_raises(device: Device, stream: Stream) -> None:
    buffer = device.allocate(64, stream=stream)
    buffer.close()
    buffer.close()
    assert buffer.is_closed
    assert (buffer.handle, buffer.size) == (0, 0)
    other = device.allocate(64, stream=stream)
    uses = [
        lambda: buffer.copy_to(bytearray(64), stream=stream),
        lambda: buffer.copy_from(bytes(64), stream=stream),
        lambda: other.copy_from(buffer, stream=stream),
        lambda: other.copy_to(buffer, stream=stream),
        lambda: buffer.fill(0, stream=stream),
        lambda: buffer.set_deallocation_stream(stream),
        buffer.__dlpack__,
        buffer.__dlpack_device__,
    ]
    for use in uses:
        with pytest.raises(ValueError, match="closed"):
            use()


def test_with_closes(device: Device) -> None:
    with device.allocate(64) as buffer:
        assert not buffer.is_closed
    assert buffer.is_closed


@pytest.mark.parametrize("how", ["close", "close on another stream", "moved", "collected"])
def test_memory_freed_is_not_reused_before_its_stream_gets_there(
    device: Device, stream: Stream, gate: Any, how: str
) -> None:
    gate.hold(stream)
    buffer = device.allocate(1 << 20, stream=stream)
    buffer.fill(0xAB, stream=stream)
    other = device.create_stream()
    if how == "close":
        buffer.close()
    elif how == "close on another stream":
        other.wait(stream)
        buffer.close(other)
    else:
        if how == "moved":
            other.wait(stream)
            buffer.set_deallocation_stream(other)
        del buffer
        gc.collect()
    third = device.create_stream()
    with device.allocate(1 << 20, stream=third) as late:
        late.fill(0xCD, stream=third)
        gate.open()
        device.sync()
        assert read(late, third) == b"\xcd" * (1 << 20)


def test_stream_may_be_closed_before_its_buffer(device: Device) -> None:
    stream = device.create_stream()
    buffer = device.allocate(64, stream=stream)
    stream.close()
    buffer.close()
    device.sync()
    assert cudacore.unraisable_errors() == 0


class TestFromHandle:
    def test_keeps_its_owner_and_frees_nothing(self, buffer: Buffer, stream: Stream) -> None:
        class Owner:
            pass

        owner = Owner()
        alive = weakref.ref(owner)
        view = Buffer.from_handle(buffer.handle, 512, owner=owner)
        assert view.owner is owner
        assert (view.handle, view.size, view.memory_resource) == (buffer.handle, 512, None)
        assert view.is_device_accessible
        assert not view.is_host_accessible
        del owner
        assert alive() is not None
        view.close()
        gc.collect()
        assert alive() is None
        buffer.fill(1, stream=stream)

    def test_hands_memory_to_a_resource(self, device: Device, stream: Stream) -> None:
        class Recorder(MemoryResource):
            def __init__(self) -> None:
                super().__init__()
                self.freed: list[tuple[int, int, Any]] = []

            def deallocate(self, ptr: Any, size: int, *, stream: Any = None) -> None:
                self.freed.append((int(ptr), size, stream))

            is_device_accessible = True
            is_host_accessible = False
            device_id = 0

        recorder = Recorder()
        view = Buffer.from_handle(0x1000, 64, mr=recorder, stream=stream)
        assert view.memory_resource is recorder
        view.close()
        assert recorder.freed == [(0x1000, 64, stream)]

    def test_owner_and_resource_exclude_each_other(self, device: Device) -> None:
        with pytest.raises(ValueError, match="owner"):
            Buffer.from_handle(0x1000, 64, mr=device.memory_resource, owner=object())

    @pytest.mark.parametrize("size", [-1, 2**70])
    def test_bad_size(self, device: Device, size: int) -> None:
        with pytest.raises((ValueError, OverflowError)):
            Buffer.from_handle(0x1000, size)


def test_equality_and_hash(device: Device, buffer: Buffer, stream: Stream) -> None:
    other = device.allocate(len(DATA), stream=stream)
    assert buffer == buffer  # noqa: PLR0124
    assert buffer != other
    assert buffer != buffer.handle
    assert len({buffer, buffer, other}) == 2


def test_empty_buffer(device: Device, stream: Stream) -> None:
    with device.allocate(0, stream=stream) as empty:
        assert empty.size == 0
        empty.copy_from(b"", stream=stream)
        empty.copy_to(bytearray(), stream=stream)
        empty.fill(0, stream=stream)


def test_weak_references(device: Device) -> None:
    buffer = LegacyPinnedMemoryResource().allocate(64)
    alive = weakref.ref(buffer)
    del buffer
    gc.collect()
    assert alive() is None


def test_closing_on_a_closed_stream_changes_nothing(device: Device, stream: Stream) -> None:
    closed = device.create_stream()
    closed.close()
    buffer = device.allocate(64, stream=stream)
    with pytest.raises(ValueError, match="closed"):
        buffer.close(closed)
    assert not buffer.is_closed
    buffer.fill(1, stream=stream)
    buffer.close(stream)
    buffer.close(closed)


OBJECTS: dict[str, Any] = {
    "object array": np.empty(16, object),
    "structure": np.empty(8, [("number", "i8"), ("thing", object)]),
    "named O": np.empty(8, [("O", object), ("number", "i8")]),
    "nested": np.empty(4, [("inner", [("thing", object)]), ("rest", "i8", 3)]),
    "ctypes": (ctypes.py_object * 16)(),
}


@pytest.mark.parametrize("kind", OBJECTS)
def test_hosts_of_python_objects_are_refused(device: Device, stream: Stream, kind: str) -> None:
    host = OBJECTS[kind]
    with device.allocate(128, stream=stream) as buffer:
        buffer.fill(0, stream=stream)
        for call in (buffer.copy_from, buffer.copy_to):
            with pytest.raises(TypeError, match="holds Python objects"):
                call(host, stream=stream)


@pytest.mark.parametrize(
    "host",
    [
        np.zeros(8, [("O", "i8"), ("O2", "i8")]),
        np.zeros(16, "datetime64[s]"),
        np.zeros(16, np.float64),
        np.zeros(8, np.complex128),
        np.zeros(2, "V64"),
    ],
    ids=str,
)
def test_hosts_of_plain_values_are_taken(device: Device, stream: Stream, host: Any) -> None:
    with device.allocate(128, stream=stream) as buffer:
        buffer.copy_from(host, stream=stream)
        buffer.copy_to(host, stream=stream)
        stream.sync()


class Derived(Buffer):
    """Has an attribute of its own."""

    label = "unset"


def test_can_be_derived_from(device: Device, stream: Stream) -> None:
    memory = device.allocate(4, stream=stream)
    derived = Derived.from_handle(memory.handle, 4, owner=memory)
    derived.label = "mine"
    assert type(derived) is Derived
    assert derived == memory
    derived.copy_from(b"abcd", stream=stream)
    back = derived.copy_to(bytearray(4), stream=stream)
    kernel = build("__global__ void k(char* p) { *p = 'x'; }").get_kernel("k")
    kernel[1, 1, stream](derived)
    again = memory.copy_to(bytearray(4), stream=stream)
    stream.sync()
    assert (back, again) == (b"abcd", b"xbcd")
    with pytest.raises(TypeError, match="not made directly"):
        Derived()
    derived.close()
    with pytest.raises(ValueError, match="closed"):
        kernel[1, 1, stream](derived)
    assert not memory.is_closed
