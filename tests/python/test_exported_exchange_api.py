# SPDX-License-Identifier: Apache-2.0
"""The C exchange API by which other libraries take buffers and views."""

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cudacore import Buffer, Device, Stream
from cudacore.utils import StridedMemoryView
from foreign_arrays import (
    CPU,
    CUDA,
    Deleter,
    DlTensor,
    ManagedVersioned,
    capsule_pointer,
    describe,
)

SetError = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)


class Table(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("previous", ctypes.c_void_p),
        ("allocate", ctypes.CFUNCTYPE(
            ctypes.c_int, ctypes.POINTER(DlTensor), ctypes.POINTER(ctypes.c_void_p),
            ctypes.c_void_p, SetError)),
        ("from_object", ctypes.PYFUNCTYPE(
            ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.c_void_p))),
        ("to_object", ctypes.PYFUNCTYPE(
            ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.py_object))),
        ("borrow_from_object", ctypes.PYFUNCTYPE(
            ctypes.c_int, ctypes.py_object, ctypes.POINTER(DlTensor))),
        ("current_stream", ctypes.PYFUNCTYPE(
            ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))),
    ]  # fmt: skip


TABLE = Table.from_address(
    capsule_pointer(Buffer.__dlpack_c_exchange_api__, b"dlpack_exchange_api")
)


def release(tensor: ctypes.c_void_p) -> None:
    managed = ManagedVersioned.from_address(tensor.value or 0)
    managed.deleter(tensor.value)


def prototype(shape: tuple[int, ...], device: tuple[int, int], bits: int = 32) -> DlTensor:
    lengths = (ctypes.c_int64 * max(len(shape), 1))(*shape)
    return DlTensor(None, *device, len(shape), 2, bits, 1, lengths, None, 0)


@pytest.fixture
def numbers(device: Device) -> Buffer:
    """The float32 numbers from 0 to 5, on the device."""
    return device.to_device(np.arange(6, dtype="f4"))


class TestExchangeApi:
    def test_is_on_the_types(self) -> None:
        assert (TABLE.major, TABLE.minor, TABLE.previous) == (1, 3, None)
        views = StridedMemoryView.__dlpack_c_exchange_api__
        assert capsule_pointer(views, b"dlpack_exchange_api") == ctypes.addressof(TABLE)
        assert StridedMemoryView.__c_dlpack_exchange_api__ is views

    @pytest.mark.parametrize("kind", ["buffer", "view"])
    def test_borrows_and_shares(self, device: Device, numbers: Buffer, kind: str) -> None:
        made = numbers if kind == "buffer" else numbers.view("f4", (2, 3)).T
        borrowed = DlTensor()
        assert TABLE.borrow_from_object(made, borrowed) == 0
        owned = ctypes.c_void_p()
        assert TABLE.from_object(made, owned) == 0
        managed = ManagedVersioned.from_address(owned.value or 0)
        expected = ((0, 8, 1), (24,), (1,)) if kind == "buffer" else ((2, 32, 1), (3, 2), (1, 3))
        for tensor in (borrowed, managed.tensor):
            assert describe(tensor) == (numbers.handle, (CUDA, device.device_id), *expected, 0)
        release(owned)

    def test_refuses(self, numbers: Buffer) -> None:
        view = numbers.view("f4")
        structure = numbers.view("V4")
        for wrong, error in ((3, TypeError), (structure, BufferError)):
            with pytest.raises(error):
                TABLE.borrow_from_object(wrong, DlTensor())
            with pytest.raises(error):
                TABLE.from_object(wrong, ctypes.c_void_p())
        numbers.close()
        for closed in (view, numbers):
            with pytest.raises(ValueError, match="closed"):
                TABLE.borrow_from_object(closed, DlTensor())
            with pytest.raises(ValueError, match="closed"):
                TABLE.from_object(closed, ctypes.c_void_p())

    def test_share_outlives_the_buffer(self, pinned: Callable[[int], Buffer]) -> None:
        buffer = pinned(8)
        owned = ctypes.c_void_p()
        assert TABLE.from_object(buffer.view("f4"), owned) == 0
        buffer.close()
        address = ManagedVersioned.from_address(owned.value or 0).tensor.data
        assert ctypes.string_at(address, 8) == bytes(8)
        release(owned)

    def test_makes_a_view_of_a_tensor(self, numbers: Buffer) -> None:
        owned = ctypes.c_void_p()
        assert TABLE.from_object(numbers.view("f4", (2, 3)).T, owned) == 0
        made = ctypes.py_object()
        assert TABLE.to_object(owned, made) == 0
        view = made.value
        ctypes.pythonapi.Py_DecRef(made)
        assert isinstance(view, StridedMemoryView)
        assert (view.shape, view.strides, view.ptr) == ((3, 2), (1, 3), numbers.handle)
        assert view.exporting_obj is None

    def test_tensor_of_another_version_is_released(self) -> None:
        released: list[int] = []
        managed = ManagedVersioned(2, 0, None, Deleter(released.append), 0, DlTensor())
        with pytest.raises(BufferError, match="version 2"):
            TABLE.to_object(ctypes.addressof(managed), ctypes.py_object())
        assert released == [ctypes.addressof(managed)]

    def test_null_tensors(self) -> None:
        made = ctypes.py_object()
        with pytest.raises(RuntimeError, match="tensor is null"):
            TABLE.to_object(None, made)
        owned = ctypes.c_void_p(1)
        assert TABLE.allocate(None, owned, None, SetError(0)) == -1
        assert owned.value is None

    def test_current_stream(self, device: Device, stream: Stream) -> None:
        found = ctypes.c_void_p()
        assert TABLE.current_stream(CUDA, device.device_id, found) == 0
        assert found.value == device.default_stream.handle
        with stream:
            assert TABLE.current_stream(CUDA, device.device_id, found) == 0
        assert found.value == stream.handle
        assert TABLE.current_stream(CPU, 0, found) == 0
        assert found.value is None

    def test_current_stream_of_no_device(self) -> None:
        with pytest.raises(Exception, match="device 99"):
            TABLE.current_stream(CUDA, 99, ctypes.c_void_p())

    @pytest.mark.parametrize("kind", [CUDA, CPU])
    def test_allocates(self, device: Device, kind: int) -> None:
        errors: list[Any] = []
        set_error = SetError(lambda _context, *error: errors.append(error))
        owned = ctypes.c_void_p()
        like = prototype((2, 3), (kind, 0))
        assert TABLE.allocate(like, owned, None, set_error) == 0  # without the GIL
        assert errors == []
        managed = ManagedVersioned.from_address(owned.value or 0)
        address, where, dtype, shape, strides, _ = describe(managed.tensor)
        assert (where, dtype, shape, strides) == ((kind, 0), (2, 32, 1), (2, 3), (3, 1))
        assert address
        release(owned)

    @pytest.mark.parametrize(
        ("shape", "where", "kind"),
        [((2**50, 2**9), (CUDA, 0), b"MemoryError"), ((4,), (10, 0), b"BufferError"),
         ((-1,), (CUDA, 0), b"ValueError"), ((2**62,), (CPU, 0), b"ValueError"),
         ((4,), (CUDA, 99), b"ValueError")],
        ids=str,
    )  # fmt: skip
    def test_says_what_it_cannot_allocate(
        self, device: Device, shape: tuple[int, ...], where: tuple[int, int], kind: bytes
    ) -> None:
        errors: list[Any] = []
        set_error = SetError(lambda _context, *error: errors.append(error))
        owned = ctypes.c_void_p(1)
        assert TABLE.allocate(prototype(shape, where), owned, None, set_error) == -1
        assert owned.value is None
        ((said, message),) = errors
        assert said == kind
        assert message

    @pytest.mark.parametrize(("bits", "lanes"), [(0, 1), (32, 0), (4, 1)])
    def test_elements_of_no_whole_bytes(self, device: Device, bits: int, lanes: int) -> None:
        errors: list[Any] = []
        set_error = SetError(lambda _context, *error: errors.append(error))
        like = prototype((4,), (CUDA, 0))
        like.bits, like.lanes = bits, lanes
        assert TABLE.allocate(like, ctypes.c_void_p(1), None, set_error) == -1
        ((kind, message),) = errors
        assert kind == b"BufferError"
        assert b"whole bytes" in message

    @pytest.mark.parametrize("dimensions", [-1, 65, 2])
    def test_wrong_dimensions(self, dimensions: int) -> None:
        """The last has no shape."""
        errors: list[Any] = []
        set_error = SetError(lambda _context, *error: errors.append(error))
        like = prototype((2, 3), (CUDA, 0))
        like.dimensions = dimensions
        like.shape = None
        assert TABLE.allocate(like, ctypes.c_void_p(1), None, set_error) == -1
        ((kind, message),) = errors
        assert kind == b"ValueError"
        assert b"dimensions" in message
