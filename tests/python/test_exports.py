# SPDX-License-Identifier: Apache-2.0
"""What other libraries get from a Buffer and from a view: DLPack and `__cuda_array_interface__`."""

import ctypes
import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cudacore import (
    PER_THREAD_DEFAULT_STREAM,
    Buffer,
    Device,
    LegacyPinnedMemoryResource,
    ManagedMemoryResource,
    MemoryResource,
    Stream,
)
from cudacore.utils import StridedMemoryView
from foreign_arrays import CPU, CUDA, CUDA_HOST, ManagedVersioned, capsule_pointer, describe

READ_ONLY, IS_COPIED = 1, 2


def shown(capsule: Any) -> ManagedVersioned:
    return ManagedVersioned.from_address(capsule_pointer(capsule, b"dltensor_versioned"))


@pytest.fixture
def numbers(device: Device, stream: Stream) -> Buffer:
    """The float32 numbers from 0 to 5, on the device."""
    buffer = device.allocate(24, stream=stream)
    buffer.copy_from(np.arange(6, dtype="f4"), stream=stream)
    stream.sync()
    return buffer


class TestCapsules:
    def test_shows_a_view(self, device: Device, numbers: Buffer) -> None:
        view = numbers.view("f4", (2, 3)).T
        capsule = view.__dlpack__(max_version=(1, 3))
        managed = shown(capsule)
        assert (managed.major, managed.flags) == (1, 0)
        assert describe(managed.tensor) == (
            numbers.handle, (CUDA, device.device_id), (2, 32, 1), (3, 2), (1, 3), 0,
        )  # fmt: skip

    def test_shows_bytes_of_a_buffer(self, device: Device, numbers: Buffer) -> None:
        capsule = numbers.__dlpack__(max_version=(1, 0))
        assert describe(shown(capsule).tensor)[2:] == ((0, 8, 1), (24,), (1,), 0)

    @pytest.mark.parametrize("shape", [(0,), (2, 0), ()])
    def test_empty_and_scalar(self, numbers: Buffer, shape: tuple[int, ...]) -> None:
        capsule = numbers.view("f4", shape).__dlpack__(max_version=(1, 0))
        tensor = shown(capsule).tensor
        assert tensor.data == (None if 0 in shape else numbers.handle)
        assert tuple(tensor.shape[: len(shape)]) == shape

    def test_bfloat16(self, numbers: Buffer) -> None:
        for name, code, bits in (("bfloat16", 4, 16), ("float8_e4m3fn", 10, 8), ("bool", 6, 8)):
            capsule = numbers.view(name).__dlpack__(max_version=(1, 0))
            tensor = shown(capsule).tensor
            assert (tensor.code, tensor.bits) == (code, bits)

    def test_read_only(self, numbers: Buffer) -> None:
        view = StridedMemoryView.from_buffer(numbers, 6, dtype="f4", is_readonly=True)
        capsule = view.__dlpack__(max_version=(1, 0))
        assert shown(capsule).flags == READ_ONLY
        with pytest.raises(BufferError, match=r"read-only.*max_version=\(1, 0\)"):
            view.__dlpack__()
        assert np.from_dlpack(view, device="cpu", copy=True).flags.writeable

    def test_capsule_is_consumed_once(self, pinned: Callable[[int], Buffer]) -> None:
        class Same:
            def __init__(self, capsule: Any) -> None:
                self.capsule = capsule

            def __dlpack__(self, **_: object) -> Any:
                return self.capsule

            def __dlpack_device__(self) -> tuple[int, int]:
                return (CUDA_HOST, 0)

        same = Same(pinned(8).view("f4").__dlpack__(max_version=(1, 0)))
        np.from_dlpack(same)
        with pytest.raises(BufferError, match="consumed before"):
            StridedMemoryView.from_dlpack(same, -1)

    def test_unused_capsules_release_the_memory(self) -> None:
        owner = (ctypes.c_char * 16)()

        class Owner:
            pass

        kept = Owner()
        buffer = Buffer.from_handle(ctypes.addressof(owner), 16, owner=kept)
        gone = weakref.ref(kept)
        capsules = [
            made.__dlpack__(max_version=version)
            for made in (buffer, buffer.view("f4"), buffer.view("f4")[1:])
            for version in (None, (1, 0))
        ]
        del kept, buffer
        gc.collect()
        assert gone() is not None
        del capsules
        gc.collect()
        assert gone() is None

    @pytest.mark.parametrize("version", ["1", (1,), (1, 2, 3), (1, "x"), 1, (2**70, 0)], ids=str)
    def test_wrong_versions(self, numbers: Buffer, version: Any) -> None:
        for made in (numbers, numbers.view("f4")):
            with pytest.raises(BufferError, match=r"__dlpack__: max_version must be None or a tup"):
                made.__dlpack__(max_version=version)

    @pytest.mark.parametrize("where", ["cpu", (1,), (1, None)], ids=str)
    def test_wrong_devices(self, numbers: Buffer, where: Any) -> None:
        with pytest.raises(BufferError, match=r"__dlpack__: dl_device must be None or a tuple"):
            numbers.__dlpack__(dl_device=where)

    @pytest.mark.parametrize("number", [0, -2, 2**70], ids=str)
    def test_wrong_streams(self, numbers: Buffer, number: int) -> None:
        with pytest.raises(ValueError, match=r"StridedMemoryView.__dlpack__: stream must be -1"):
            numbers.view("f4").__dlpack__(stream=number)

    @pytest.mark.parametrize("by", ["own stream", "current stream"])
    def test_consumers_stream_waits_for_views(
        self, device: Device, stream: Stream, gate: Any, by: str
    ) -> None:
        consumer = device.create_stream()
        other = device.create_stream()
        view = device.allocate(16, stream=stream if by == "own stream" else other).view("f4")[1:]
        gate.hold(stream)
        if by == "own stream":
            view.__dlpack__(stream=consumer.handle)
        else:
            with stream:
                view.__dlpack__(stream=consumer.handle)
        event = consumer.record()
        assert not event.is_done
        gate.open()
        event.sync()


class TestCopies:
    def test_to_the_host(self, numbers: Buffer, stream: Stream) -> None:
        for view in (numbers.view("f4", (2, 3)), numbers.view("f4", (2, 3)).T[::-1]):
            capsule = view.__dlpack__(max_version=(1, 0), dl_device=(CPU, 0))
            managed = shown(capsule)
            assert managed.flags == IS_COPIED
            assert managed.tensor.device_type == CPU
            copy = np.from_dlpack(view, device="cpu")
            copy[0, 0] = 100
            assert np.from_dlpack(view, device="cpu").max() == 5
        array = np.from_dlpack(numbers, device="cpu")
        assert array.view("f4").tolist() == [0, 1, 2, 3, 4, 5]

    def test_waits_for_the_buffer(self, device: Device, stream: Stream, gate: Any) -> None:
        buffer = device.allocate(16, stream=stream)
        buffer.fill(0, stream=stream)
        stream.sync()
        gate.hold(stream)
        buffer.fill(7, stream=stream)
        opener = threading.Timer(0.2, gate.open)
        opener.start()
        assert np.from_dlpack(buffer, device="cpu").tolist() == [7] * 16
        opener.join()

    def test_on_the_device(self, device: Device, numbers: Buffer) -> None:
        view = numbers.view("f4", (2, 3))[:, ::2]
        capsule = view.__dlpack__(max_version=(1, 0), copy=True)
        managed = shown(capsule)
        assert managed.flags == IS_COPIED
        address, where, _, shape, strides, _ = describe(managed.tensor)
        assert (where, shape, strides) == ((CUDA, device.device_id), (2, 2), (3, 2))
        assert address != numbers.handle
        numbers.fill(0)
        copied = Buffer.from_handle(address, 24, owner=capsule).view("f4", (2, 2), (3, 2))
        assert np.from_dlpack(copied, device="cpu").tolist() == [[0, 2], [3, 5]]

    @pytest.mark.parametrize("kind", [LegacyPinnedMemoryResource, ManagedMemoryResource])
    def test_of_memory_that_the_host_reads(self, device: Device, kind: Any) -> None:
        buffer = kind().allocate(16)
        buffer.fill(3)
        device.sync()
        shared = np.from_dlpack(buffer, device="cpu")
        copied = np.from_dlpack(buffer, copy=True)
        assert shared.ctypes.data == buffer.handle != copied.ctypes.data
        shared[:] = 4
        assert copied.tolist() == [3] * 16

    def test_of_host_memory(self) -> None:
        array = np.arange(6).reshape(2, 3)
        view = StridedMemoryView.from_any_interface(array, -1)
        copy = np.from_dlpack(view[:, 1:], copy=True)
        copy[:] = 0
        assert array.sum() == 15

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"dl_device": (CPU, 0), "copy": False}, "only a copy can be"),
            ({"dl_device": (CUDA, 7)}, r"not \(2, 7\); copy it with Buffer.copy_to"),
            ({"dl_device": (CUDA, 7), "copy": True}, r"not \(2, 7\)"),
            ({"dl_device": (CPU, 1)}, r"not \(1, 1\)"),
            ({"dl_device": (10, 0)}, r"not \(10, 0\)"),
            ({"dl_device": (2**40, 0)}, "not"),
        ],
        ids=str,
    )
    def test_that_cannot_be_given(self, numbers: Buffer, options: Any, message: str) -> None:
        for made in (numbers, numbers.view("f4")):
            with pytest.raises(BufferError, match=message):
                made.__dlpack__(max_version=(1, 0), **options)

    def test_of_wrapped_memory(self, device: Device, pinned: Callable[[int], Buffer]) -> None:
        memory = pinned(16)
        wrapped = Buffer.from_handle(memory.handle, 16, owner=memory)
        with pytest.raises(BufferError, match=r"cannot allocate .* copy to the host"):
            wrapped.__dlpack__(copy=True)
        assert np.from_dlpack(wrapped, device="cpu", copy=True).tolist() == [0] * 16

    def test_what_an_allocation_raises_is_passed_on(self, device: Device) -> None:
        class Failing(MemoryResource):
            is_device_accessible = True
            is_host_accessible = False
            device_id = device.device_id

            def allocate(self, size: int, *, stream: object = None) -> Buffer:
                raise LookupError("no memory here")

            def deallocate(self, ptr: int, size: int, *, stream: object = None) -> None:
                pass

        memory = device.allocate(16)
        buffer = Buffer.from_handle(memory.handle, 16, mr=Failing())
        with pytest.raises(LookupError, match="no memory here"):
            buffer.__dlpack__(copy=True)

    def test_current_stream_that_is_closed(self, device: Device, numbers: Buffer) -> None:
        stream = device.create_stream()
        with stream:
            stream.close()
            with pytest.raises(ValueError, match="closed"):
                np.from_dlpack(numbers, device="cpu")

    @pytest.mark.parametrize("use", ["__dlpack__", "__dlpack_device__", "interface", "view"])
    def test_resource_that_closes_the_buffer(
        self, pinned: Callable[[int], Buffer], use: str
    ) -> None:
        memory = pinned(16)
        made: list[Buffer] = []

        class Closing(MemoryResource):
            is_device_accessible = True
            is_host_accessible = True
            device_id = -1

            @property
            def is_managed(self) -> bool:  # type: ignore[override]
                made[0].close()
                return False

            def allocate(self, size: int, *, stream: object = None) -> Buffer:
                return Buffer.from_handle(memory.handle, size, mr=self)

            def deallocate(self, ptr: int, size: int, *, stream: object = None) -> None:
                pass

        made.append(Closing().allocate(16))
        if use == "__dlpack__":
            capsule = made[0].__dlpack__(max_version=(1, 0))
            assert shown(capsule).tensor.data == memory.handle
        elif use == "__dlpack_device__":
            assert made[0].__dlpack_device__() == (CUDA_HOST, 0)
        elif use == "interface":
            assert made[0].__cuda_array_interface__["data"] == (memory.handle, False)
        else:
            view = made[0].view("f4")
            with pytest.raises(ValueError, match="closed"):
                _ = view.ptr
        assert made[0].is_closed

    def test_what_truth_raises_is_passed_on(self, numbers: Buffer) -> None:
        with pytest.raises(ValueError, match="truth value"):
            numbers.__dlpack__(copy=np.zeros(2))  # type: ignore[arg-type]


class TestCudaArrayInterface:
    def test_of_a_view(self, numbers: Buffer) -> None:
        assert numbers.view("f4", (2, 3)).T.__cuda_array_interface__ == {
            "version": 3, "shape": (3, 2), "typestr": "<f4", "data": (numbers.handle, False),
            "strides": (4, 12), "stream": 1,
        }  # fmt: skip

    def test_of_a_buffer(self, numbers: Buffer) -> None:
        described = numbers.__cuda_array_interface__
        assert (described["typestr"], described["shape"]) == ("|i1", (24,))
        assert described["strides"] is None
        assert numbers[:0].__cuda_array_interface__["data"] == (0, False)

    def test_stream_is_the_current_one(self, device: Device, numbers: Buffer) -> None:
        stream = device.create_stream()
        with stream:
            assert numbers.__cuda_array_interface__["stream"] == stream.handle
        with PER_THREAD_DEFAULT_STREAM:
            assert numbers.view("f4").__cuda_array_interface__["stream"] == 2

    def test_stream_waits_for_the_buffers(self, device: Device, stream: Stream, gate: Any) -> None:
        buffer = device.allocate(16, stream=stream)
        current = device.create_stream()
        gate.hold(stream)
        with current:
            assert buffer.__cuda_array_interface__["stream"] == current.handle
        event = current.record()
        assert not event.is_done
        gate.open()
        event.sync()

    def test_elements_that_it_does_not_know(self, numbers: Buffer) -> None:
        view = numbers.view("bfloat16")
        assert not hasattr(view, "__cuda_array_interface__")
        with pytest.raises(AttributeError, match="no name for elements of this type; DLPack"):
            _ = view.__cuda_array_interface__

    def test_memory_of_the_host(self) -> None:
        view = StridedMemoryView.from_any_interface(np.zeros(3), -1)
        assert not hasattr(view, "__cuda_array_interface__")

    def test_closed_buffer(self, numbers: Buffer) -> None:
        numbers.close()
        with pytest.raises(ValueError, match="closed"):
            _ = numbers.__cuda_array_interface__


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64"])
def test_torch_shares_host_memory(pinned: Callable[[int], Buffer], dtype: str) -> None:
    torch = pytest.importorskip("torch")
    buffer = pinned(48)
    capsule = buffer.view(dtype, (2, -1)).__dlpack__(dl_device=(CPU, 0))
    tensor = torch.from_dlpack(capsule)
    assert tuple(tensor.shape) == (2, 48 // 2 // tensor.element_size())
    assert (tensor.data_ptr(), tensor.dtype) == (buffer.handle, getattr(torch, dtype))
    tensor += 1
    del buffer, capsule
    assert tensor.sum() == tensor.numel()


@pytest.mark.gpu_only(reason="these libraries call the CUDA runtime")
class TestLibraries:
    @pytest.mark.parametrize("kind", ["buffer", "view"])
    def test_torch(self, numbers: Buffer, kind: str) -> None:
        torch = pytest.importorskip("torch")
        tensor = torch.from_dlpack(numbers if kind == "buffer" else numbers.view(torch.float32))
        assert tensor.data_ptr() == numbers.handle
        assert tensor.view(torch.float32).tolist() == [0, 1, 2, 3, 4, 5]
        if kind == "view":
            again = torch.as_tensor(numbers.view("f4"), device="cuda")
            assert again.data_ptr() == numbers.handle

    @pytest.mark.parametrize("kind", ["buffer", "view"])
    def test_cupy(self, numbers: Buffer, kind: str) -> None:
        cupy = pytest.importorskip("cupy")
        source = numbers if kind == "buffer" else numbers.view("f4")
        for array in (cupy.asarray(source), cupy.from_dlpack(source)):
            assert array.data.ptr == numbers.handle
            assert array.get().view("f4").tolist() == [0, 1, 2, 3, 4, 5]

    def test_jax(self, device: Device) -> None:
        dlpack = pytest.importorskip("jax.dlpack")
        buffer = device.to_device(np.arange(64, dtype="f4"))
        array = dlpack.from_dlpack(buffer.view("f4", (8, 8)))
        assert array.unsafe_buffer_pointer() == buffer.handle
        assert np.asarray(array).sum() == 2016

    def test_numba(self, numbers: Buffer) -> None:
        cuda = pytest.importorskip("numba.cuda")
        array = cuda.as_cuda_array(numbers.view("f4", (2, 3)))
        assert array.device_ctypes_pointer.value == numbers.handle
        assert array.copy_to_host().tolist() == [[0, 1, 2], [3, 4, 5]]
