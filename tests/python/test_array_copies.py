# SPDX-License-Identifier: Apache-2.0
"""`Buffer.copy_from`, `Buffer.copy_to` and `Device.to_device` with arrays of other libraries."""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cudacore import Buffer, Device, Stream
from foreign_arrays import (
    CPU,
    CUDA_HOST,
    DEVICE_ARRAYS,
    CapsuleArray,
    CudaArray,
    ExchangeArray,
    HostArray,
)

DATA = np.arange(12, dtype="i4")


def host_capsule(values: Any, **options: Any) -> CapsuleArray:
    """An array of the host that has DLPack alone, like PyTorch's."""
    return CapsuleArray(values.ctypes.data, values.shape, values.dtype, device=(CPU, 0), **options)


class Convertible:
    """An object that has __array__ alone."""

    def __init__(self, made: Any) -> None:
        self.made = made

    def __array__(self) -> Any:
        if isinstance(self.made, Exception):
            raise self.made
        return self.made


@pytest.fixture
def buffer(device: Device, stream: Stream) -> Buffer:
    buffer = device.allocate(48, stream=stream)
    buffer.fill(0, stream=stream)
    return buffer


@pytest.fixture
def other(device: Device, stream: Stream) -> Buffer:
    """Memory that an array of another library is made of."""
    other = device.to_device(DATA, stream=stream)
    stream.sync()
    return other


def content(buffer: Buffer, stream: Stream) -> list[int]:
    return buffer.to_host("i4", stream=stream).tolist()  # type: ignore[no-any-return]


HOST_ARRAYS: dict[str, Callable[[Any], Any]] = {
    "DLPack": host_capsule,
    "__array_interface__": lambda a: HostArray(a.ctypes.data, a.shape, a.dtype),
    "__array__": Convertible,
    "NumPy": lambda array: array,
}


@pytest.mark.parametrize("kind", HOST_ARRAYS)
def test_copies_from_host_arrays(device: Device, buffer: Buffer, stream: Stream, kind: str) -> None:
    array = HOST_ARRAYS[kind](DATA)
    buffer.copy_from(array, stream=stream)
    assert content(buffer, stream) == DATA.tolist()
    assert content(device.to_device(array, stream=stream), stream) == DATA.tolist()


@pytest.mark.parametrize("kind", ["DLPack", "__array_interface__"])
def test_copies_to_host_arrays(other: Buffer, stream: Stream, kind: str) -> None:
    values = np.zeros(12, "i4")
    array = HOST_ARRAYS[kind](values)
    assert other.copy_to(array, stream=stream) is array
    stream.sync()
    assert values.tolist() == DATA.tolist()


@pytest.mark.parametrize("kind", DEVICE_ARRAYS, ids=lambda kind: kind.__name__)
def test_copies_between_devices_arrays(
    device: Device, buffer: Buffer, other: Buffer, stream: Stream, kind: Any
) -> None:
    array = kind(other.handle, (3, 4), np.int32)
    buffer.copy_from(array, stream=stream)
    assert content(buffer, stream) == DATA.tolist()
    assert content(device.to_device(array, stream=stream), stream) == DATA.tolist()
    buffer.fill(1, stream=stream)
    assert buffer.copy_to(array, stream=stream) is array
    assert content(other, stream) == [0x01010101] * 12


def test_copies_from_views(device: Device, buffer: Buffer, other: Buffer, stream: Stream) -> None:
    view = other.view("i4", (3, 4))
    buffer[:16].copy_from(view[1], stream=stream)
    assert content(buffer[:16], stream) == [4, 5, 6, 7]
    buffer.fill(0, stream=stream)
    buffer.copy_to(view, stream=stream)
    assert content(other, stream) == [0] * 12
    other.close()
    with pytest.raises(ValueError, match="closed"):
        buffer.copy_from(view, stream=stream)


def test_copies_from_pinned_arrays(
    buffer: Buffer, pinned: Callable[[int], Buffer], stream: Stream
) -> None:
    memory = pinned(48)
    np.frombuffer(memory, "i4")[:] = DATA
    array = CapsuleArray(memory.handle, (12,), np.int32, device=(CUDA_HOST, 0))
    buffer.copy_from(array, stream=stream)
    assert content(buffer, stream) == DATA.tolist()


@pytest.mark.parametrize("kind", [CudaArray, ExchangeArray])
@pytest.mark.parametrize("order", ["before", "behind"])
def test_copy_is_ordered_with_the_arrays_stream(
    *, device: Device, buffer: Buffer, other: Buffer, stream: Stream, gate: Any, kind: Any,
    order: str, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    producer = device.create_stream()
    monkeypatch.setattr(ExchangeArray, "current_stream", producer.handle)
    array = kind(other.handle, (12,), np.int32, stream=producer.handle)
    stream.sync()
    gate.hold(producer if order == "before" else stream)
    other.fill(2, stream=producer)
    buffer.copy_from(array, stream=stream)
    event = producer.record()
    assert not event.is_done
    assert not stream.is_done
    gate.open()
    event.sync()
    assert content(buffer, stream) == [0x02020202] * 12


def test_dlpack_is_told_the_stream(buffer: Buffer, other: Buffer, stream: Stream) -> None:
    array = CapsuleArray(other.handle, (12,), np.int32)
    buffer.copy_from(array, stream=stream)
    assert array.streams == [stream.handle]
    assert array.released == 1


@pytest.mark.parametrize("what", ["copy_from", "copy_to", "to_device"])
@pytest.mark.parametrize(
    ("lies", "message"),
    [
        ({"strides": (8,)}, "not C-contiguous"), ({"strides": (-4,)}, "not C-contiguous"),
        ({"typestr": "|O8"}, "no device has"), ({"typestr": ">i4"}, "big-endian"),
        ({"data": (0, False)}, "null address"), ({"version": 1}, "version 1"),
        ({"mask": 1}, "mask"), ({"data": (8, False)}, "CUDA does not know"),
    ],
    ids=str,
)  # fmt: skip
def test_arrays_that_cannot_be_copied(
    *, device: Device, buffer: Buffer, other: Buffer, stream: Stream, what: str, lies: Any,
    message: str,
) -> None:  # fmt: skip
    array = CudaArray(other.handle, (12,), np.int32)
    array.lies = lies
    copy = device.to_device if what == "to_device" else getattr(buffer, what)
    with pytest.raises(TypeError, match=rf"{what}: .*CudaArray: .*{message}"):
        copy(array, stream=stream)


class TestWrongOnes:
    def test_read_only_target(self, buffer: Buffer, other: Buffer, stream: Stream) -> None:
        array = CudaArray(other.handle, (12,), np.int32, read_only=True)
        with pytest.raises(TypeError, match=r"copy_to: dst: .*read-only"):
            buffer.copy_to(array, stream=stream)
        buffer.copy_from(array, stream=stream)
        assert content(buffer, stream) == DATA.tolist()

    @pytest.mark.parametrize("shape", [(11,), (13,), (0,)])
    def test_other_sizes(self, buffer: Buffer, stream: Stream, shape: Any) -> None:
        array = host_capsule(np.zeros(shape, "i4"))
        with pytest.raises(ValueError, match=f"{4 * shape[0]} bytes, but the buffer has 48"):
            buffer.copy_from(array, stream=stream)
        with pytest.raises(ValueError, match="bytes, but the buffer has"):
            buffer.copy_to(array, stream=stream)

    def test_array_method_that_raises(self, buffer: Buffer, stream: Stream) -> None:
        with pytest.raises(LookupError, match="no answer"):
            buffer.copy_from(Convertible(LookupError("no answer")), stream=stream)

    @pytest.mark.parametrize("made", [3, None, "text", [1, 2]], ids=str)
    def test_array_method_that_returns_something_else(
        self, buffer: Buffer, stream: Stream, made: Any
    ) -> None:
        with pytest.raises(TypeError, match=r"__array__\(\) of a Convertible must return an array"):
            buffer.copy_from(Convertible(made), stream=stream)

    @pytest.mark.parametrize(
        ("made", "message"),
        [
            (np.zeros(6, object), "Python objects"), (np.zeros(24, "i4")[::2], "C-contiguous"),
        ],
        ids=["objects", "strided"],
    )  # fmt: skip
    def test_array_method_that_returns_what_cannot_be_copied(
        self, buffer: Buffer, stream: Stream, made: Any, message: str
    ) -> None:
        with pytest.raises(TypeError, match=message):
            buffer.copy_from(Convertible(made), stream=stream)

    def test_array_method_does_not_make_a_target(self, buffer: Buffer, stream: Stream) -> None:
        with pytest.raises(TypeError, match="copy_to: dst must be"):
            buffer.copy_to(Convertible(np.zeros(12, "i4")), stream=stream)  # type: ignore[type-var]

    def test_class_is_no_array(self, buffer: Buffer, stream: Stream) -> None:
        with pytest.raises(TypeError, match="copy_from: src must be"):
            buffer.copy_from(Convertible, stream=stream)

    def test_device_that_is_not_cudas(self, buffer: Buffer, other: Buffer, stream: Stream) -> None:
        array = CapsuleArray(other.handle, (12,), np.int32, device=(10, 0))
        with pytest.raises(TypeError, match="device type 10, which CUDA does not reach"):
            buffer.copy_from(array, stream=stream)
        assert array.released == 0  # it was not asked for its memory

    def test_array_that_closes_the_buffer(self, buffer: Buffer, stream: Stream) -> None:
        class Closes(Convertible):
            def __array__(self) -> Any:
                buffer.close()
                return DATA

        with pytest.raises(ValueError, match="copy_from: the buffer was closed while"):
            buffer.copy_from(Closes(None), stream=stream)
        with pytest.raises(ValueError, match="closed"):
            buffer.copy_from(DATA, stream=stream)

    @pytest.mark.skipif(sys.version_info < (3, 12), reason="__buffer__ came with Python 3.12")
    @pytest.mark.parametrize("name", ["copy_from", "copy_to", "fill"])
    def test_buffer_method_that_closes_the_buffer(
        self, buffer: Buffer, stream: Stream, name: str
    ) -> None:
        class Closes:
            asked = 0

            def __buffer__(self, flags: int) -> memoryview:
                self.asked += 1
                buffer.close(stream)
                return memoryview(bytearray(4 if name == "fill" else buffer_size))

        buffer_size = buffer.size
        source: Any = Closes()
        with pytest.raises(ValueError, match=f"{name}: the buffer was closed while"):
            getattr(buffer, name)(source, stream=stream)
        assert source.asked == 1

    def test_bound_of_a_slice_that_closes_the_buffer(self, buffer: Buffer) -> None:
        class Closes:
            def __index__(self) -> int:
                buffer.close()
                return 1

        with pytest.raises(ValueError, match="slice of a Buffer: the buffer was closed while"):
            _ = buffer[Closes() :]  # type: ignore[misc]


@pytest.mark.parametrize("index", [..., (slice(None), 1), 0], ids=str)
def test_torch_on_the_host(device: Device, stream: Stream, index: Any) -> None:
    torch = pytest.importorskip("torch")
    tensor = torch.arange(12, dtype=torch.int32).reshape(3, 4)[index]
    if not tensor.is_contiguous():
        with pytest.raises(TypeError, match=r"tensor.contiguous\(\) in PyTorch"):
            device.to_device(tensor, stream=stream)
        tensor = tensor.contiguous()
    buffer = device.to_device(tensor, stream=stream)
    assert content(buffer, stream) == tensor.flatten().tolist()
    back = torch.zeros_like(tensor)
    assert buffer.copy_to(back, stream=stream) is back
    stream.sync()
    assert torch.equal(back, tensor)


@pytest.mark.gpu_only(reason="these libraries call the CUDA runtime")
@pytest.mark.parametrize("library", ["torch", "cupy"])
def test_arrays_of_devices(device: Device, stream: Stream, library: str) -> None:
    module = pytest.importorskip(library)
    array = module.arange(12, dtype=module.int32)
    if library == "torch":
        array = array.cuda()
    buffer = device.to_device(array, stream=stream)
    assert content(buffer, stream) == DATA.tolist()
    buffer.fill(0, stream=stream)
    buffer.copy_to(array, stream=stream)
    stream.sync()
    assert int(array.sum()) == 0
