# SPDX-License-Identifier: Apache-2.0
"""Typed views of buffers: their shapes, lifetimes and copies."""

import ctypes
import gc
import weakref
from typing import Any

import numpy as np
import pytest
from cudacore import Buffer, Device, LegacyPinnedMemoryResource, NotSupportedError, Stream, utils
from cudacore.utils import StridedMemoryView
from harness import build, host


class TestShape:
    @pytest.mark.parametrize(
        ("given", "shape"),
        [
            (-1, (24,)), (24, (24,)), ((2, -1), (2, 12)), ([4, 6], (4, 6)), ((2, 3), (2, 3)),
            ((), ()), ((0, 5), (0, 5)), (np.int64(3), (3,)), ((1, -1, 1), (1, 24, 1)),
        ],
        ids=str,
    )  # fmt: skip
    def test_shapes(self, numbers: Buffer, given: Any, shape: tuple[int, ...]) -> None:
        view = numbers.view("f4", given)
        assert isinstance(view, StridedMemoryView)
        assert view.shape == shape
        assert (view.ndim, view.size) == (len(shape), int(np.prod(shape)))
        assert view.nbytes == 4 * view.size
        assert view.strides is None
        assert view.ptr == numbers.handle
        assert view.exporting_obj is numbers
        assert (view.readonly, view.is_device_accessible) == (False, True)
        assert host(view).tolist() == np.arange(24, dtype="f4")[: view.size].reshape(shape).tolist()

    def test_device_memory(self, device: Device) -> None:
        view = device.allocate(64).view("f4")
        assert (view.device_id, view.is_device_accessible) == (device.device_id, True)
        assert view.__dlpack_device__() == (2, device.device_id)

    def test_copies_and_views_of_other_objects(self, numbers: Buffer) -> None:
        view = numbers.view("f4")
        for copy in (view.copy_from, view.copy_to):
            with pytest.raises(TypeError, match=r"a StridedMemoryView.*from_any_interface"):
                copy(np.zeros(24, "f4"))  # type: ignore[operator]
        with pytest.raises(TypeError, match="buffer must be a Buffer, not numpy.ndarray"):
            StridedMemoryView.from_buffer(np.zeros(3), 3, dtype="f4")  # type: ignore[arg-type]

    def test_numpy_takes_host_memory_alone(self, device: Device, numbers: Buffer) -> None:
        view = numbers.view("f4", (4, 6))
        array = np.asarray(view)
        assert array.ctypes.data == numbers.handle
        assert array.tolist() == np.arange(24).reshape(4, 6).tolist()
        assert np.asarray(view[1], "i8").tolist() == [6, 7, 8, 9, 10, 11]
        assert np.array(view, copy=True).ctypes.data != numbers.handle
        on_device = device.allocate(64).view("f4")
        with pytest.raises(TypeError, match=r"on device 0, .*from_dlpack\(view, device="):
            np.asarray(on_device)

    @pytest.mark.parametrize(
        ("shape", "strides", "expected"),
        [((3, 4), (4, 1), None), ((4, 3), (1, 4), [0, 4, 8]), ((2, 2), (12, 6), [0, 6]),
         ((5,), (0,), [0] * 5), (3, 2, [0, 2, 4])],
        ids=str,
    )  # fmt: skip
    def test_strides_are_in_elements(
        self, numbers: Buffer, shape: Any, strides: Any, expected: Any
    ) -> None:
        view = numbers.view("f4", shape, strides)
        shown = np.lib.stride_tricks.as_strided(
            np.arange(24, dtype="f4"), view.shape, 4 * np.atleast_1d(strides)
        )
        assert host(view).tolist() == shown.tolist()
        if expected is not None:
            assert view.strides == tuple(np.atleast_1d(strides))
            assert host(view)[0].tolist() == expected or host(view).tolist() == expected

    @pytest.mark.parametrize(
        ("shape", "strides", "message"),
        [
            ((25,), None, "need 100 bytes, but the buffer has 96"),
            ((2, 2), (24, 1), "need 104 bytes"),
            ((2,), (-1,), "before the start"),
            ((-1, -1), None, "may have one -1"),
            ((-1, 5), None, "no whole number"),
            ((-1, 0), None, "no whole number"),
            ((-1,), (1,), "cannot be known beside strides"),
            ((-2,), None, "negative length"),
            ((2, 2), (1,), "same length"),
            ((2**40, 2**40), None, "64 bits"),
            ((2**62,), None, "need more than"),
            ((2, 2), (2**62, 2**62), "64 bits|need more than"),
            ((3,), (2**62,), "64 bits|need more than"),
            ((2**63 - 1, 0), None, None),
        ],
        ids=str,
    )
    def test_shapes_that_do_not_fit(
        self, numbers: Buffer, shape: Any, strides: Any, message: str | None
    ) -> None:
        if message is None:
            assert numbers.view("f4", shape, strides).size == 0
            return
        with pytest.raises(ValueError, match=message):
            numbers.view("f4", shape, strides)

    @pytest.mark.parametrize("shape", ["x", 1.5, None, (1, "x"), (1.0,), True, {1: 2}], ids=str)
    def test_shapes_of_wrong_types(self, numbers: Buffer, shape: Any) -> None:
        with pytest.raises(TypeError, match=r"Buffer.view: shape must be an int or a tuple of int"):
            numbers.view("f4", shape)
        if shape is not None:
            with pytest.raises(TypeError, match=r"Buffer.view: strides must be an int or a tuple"):
                numbers.view("f4", 1, shape)

    def test_lengths_of_too_many_bits(self, numbers: Buffer) -> None:
        with pytest.raises(OverflowError, match=r"shape must lie in -2\*\*63 .. 2\*\*63 - 1"):
            numbers.view("f4", 2**64)

    def test_size_that_is_no_whole_number(self, numbers: Buffer) -> None:
        with pytest.raises(ValueError, match="10 bytes is not a whole number of float32"):
            numbers[:10].view("f4")
        assert numbers[:10].view("f4", 2).shape == (2,)

    @pytest.mark.parametrize(("offset", "dtype"), [(1, "u2"), (2, "f4"), (4, "f8"), (4, "c16")])
    def test_alignment(self, numbers: Buffer, offset: int, dtype: str) -> None:
        with pytest.raises(ValueError, match=r"begins at 0x.* must be aligned to \d bytes"):
            numbers[offset:].view(dtype, 1)
        assert numbers[8:].view(dtype, 1).size == 1
        assert numbers[offset:].view(dtype, 0).size == 0

    def test_empty_buffer(self, device: Device) -> None:
        view = LegacyPinnedMemoryResource().allocate(0).view("f4")
        assert (view.shape, host(view).tolist()) == ((0,), [])


class TestLifetime:
    def test_view_keeps_the_memory(self, numbers: Buffer) -> None:
        owner = bytearray(16)
        address = ctypes.addressof(ctypes.c_char.from_buffer(owner))
        buffer = Buffer.from_handle(address, 16, owner=owner)
        view = buffer.view("f4")[1:]
        gone = weakref.ref(buffer)
        del buffer
        gc.collect()
        assert gone() is view.exporting_obj
        owner[4:8] = np.float32(7).tobytes()
        assert host(view)[0] == 7
        del view
        assert gone() is None

    @pytest.mark.parametrize(
        "use",
        [
            lambda view: view.ptr,
            lambda view: view[0],
            lambda view: view.T,
            lambda view: view.reshape(-1),
            lambda view: view.view(dtype="i4"),
            lambda view: view.__dlpack__(),
            lambda view: view.__cuda_array_interface__,
            lambda view: view.copy_from(view),
            lambda view: StridedMemoryView.from_dlpack(view, -1),
            lambda view: StridedMemoryView.from_dlpack(view.exporting_obj, -1),
            lambda view: view.exporting_obj.view("f4"),
            lambda view: StridedMemoryView.from_buffer(view.exporting_obj, 1, dtype="f4"),
        ],
    )
    def test_closed_buffers_are_refused(self, numbers: Buffer, use: Any) -> None:
        view = numbers.view("f4", (4, 6))
        numbers.close()
        with pytest.raises(ValueError, match="closed"):
            use(view)
        assert (view.shape, view.dtype) == ((4, 6), np.float32)
        assert "StridedMemoryView(ptr=" in repr(view)

    def test_kernel_refuses_a_view_of_a_closed_buffer(
        self, numbers: Buffer, stream: Stream
    ) -> None:
        kernel = build("__global__ void k(float* x) { *x = 1; }").get_kernel("k")
        view = numbers.view("f4")
        numbers.close()
        with pytest.raises(ValueError, match=r"k.*a view of a closed Buffer"):
            kernel[1, 1, stream](view)

    def test_export_outlives_the_buffer(self, numbers: Buffer) -> None:
        array = host(numbers.view("f4", (4, 6))[1])
        numbers.close()
        gc.collect()
        assert array.tolist() == [6, 7, 8, 9, 10, 11]

    def test_shape_that_closes_the_buffer(self, numbers: Buffer) -> None:
        class Closes:
            def __index__(self) -> int:
                numbers.close()
                return 1

        with pytest.raises(ValueError, match="closed"):
            numbers.view("f4", (Closes(),))

    def test_index_that_closes_the_buffer(self, numbers: Buffer) -> None:
        class Closes:
            def __index__(self) -> int:
                numbers.close()
                return 1

        view = numbers.view("f4")
        with pytest.raises(ValueError, match="closed"):
            _ = view[Closes() :]

    def test_cycles_are_collected(self) -> None:
        class Owner:
            view: Any = None

        owner = Owner()
        memory = bytearray(8)
        address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        owner.view = Buffer.from_handle(address, 8, owner=owner).view("u1")
        gone = weakref.ref(owner)
        del owner
        gc.collect()
        assert gone() is None


class TestCopies:
    def test_between_device_and_host(self, device: Device, numbers: Buffer, stream: Stream) -> None:
        on_device = device.allocate(96, stream=stream).view("f4", (4, 6))
        on_device.copy_from(numbers.view("f4", (4, 6)), stream)
        back = np.zeros((4, 6), "f4")
        on_device.copy_to(StridedMemoryView.from_any_interface(back, -1), stream)
        assert back.tolist() == np.arange(24).reshape(4, 6).tolist()

    def test_same_order_of_other_dimensions(
        self, device: Device, numbers: Buffer, stream: Stream
    ) -> None:
        on_device = device.allocate(96, stream=stream).view("f4", (4, 6)).T[::-1]
        on_device.copy_from(numbers.view("f4", (4, 6)).T[::-1], stream, blocking=True)
        assert np.from_dlpack(on_device, device="cpu")[0, 0] == 5

    def test_blocking(self, device: Device, numbers: Buffer, stream: Stream, gate: Any) -> None:
        on_device = device.allocate(96, stream=stream).view("f4")
        stream.sync()
        gate.hold(stream)
        on_device.copy_from(numbers.view("f4"), stream)
        assert not stream.is_done
        gate.open()
        on_device.copy_to(numbers.view("f4"), stream, blocking=True)
        assert stream.is_done

    @pytest.mark.parametrize(
        ("shape", "dtype", "error"),
        [((23,), "f4", ValueError), ((24,), "i4", ValueError), ((4, 6), "f4", ValueError)],
    )
    def test_must_have_the_same_form(
        self, numbers: Buffer, pinned: Any, shape: Any, dtype: str, error: type[Exception]
    ) -> None:
        with pytest.raises(error, match="same shape and dtype"):
            pinned(96).view(dtype, shape).copy_from(numbers.view("f4"))

    def test_other_orders_are_not_supported(self, numbers: Buffer, pinned: Any) -> None:
        target = pinned(96).view("f4", (4, 6))
        with pytest.raises(NotSupportedError, match="copies planes"):
            target.copy_from(numbers.view("f4", (6, 4)).T)

    def test_read_only_target(self, numbers: Buffer, pinned: Any) -> None:
        target = StridedMemoryView.from_buffer(pinned(4), 1, dtype="f4", is_readonly=True)
        with pytest.raises(ValueError, match="copy_to: the target is read-only"):
            numbers.view("f4", 1).copy_to(target)


def test_kernel_argument(numbers: Buffer, stream: Stream) -> None:
    source = "__global__ void twice(float* x) { x[threadIdx.x] *= 2; }"
    kernel = build(source).get_kernel("twice")
    view = numbers.view("f4", (4, 6))
    kernel[1, 6, stream](view[1])
    stream.sync()
    assert host(view)[:2].tolist() == [[0, 1, 2, 3, 4, 5], [12, 14, 16, 18, 20, 22]]
    with pytest.raises(TypeError, match="float32, not float|int32, not float"):
        kernel[1, 6, stream](view.view(dtype="i4"))
    with pytest.raises(TypeError, match="not C-contiguous"):
        kernel[1, 6, stream](view.T)


def test_launch_orders_no_streams_for_views(
    device: Device, numbers: Buffer, stream: Stream, gate: Any
) -> None:
    kernel = build("__global__ void k(float* x) { *x = 1; }").get_kernel("k")
    other = device.create_stream()
    view = numbers.view("f4")
    gate.hold(stream)
    with stream:
        kernel[1, 1, other](view)
    other.sync()
    assert not stream.is_done
    gate.open()


def test_utils_lists_what_it_has() -> None:
    assert dir(utils) == sorted(utils.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'$"):
        _ = utils.nonsense  # type: ignore[attr-defined]
    assert StridedMemoryView.__module__ == "cudacore.utils"
