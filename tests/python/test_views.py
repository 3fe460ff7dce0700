# SPDX-License-Identifier: Apache-2.0
"""Typed views of buffers: `Buffer.view`, indexing, reshaping, copies."""

import ctypes
import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cudacore import Buffer, Device, LegacyPinnedMemoryResource, NotSupportedError, Stream, utils
from cudacore.utils import StridedMemoryView
from harness import build, run_cleanly


@pytest.fixture
def numbers(pinned: Callable[[int], Buffer]) -> Buffer:
    """The float32 numbers from 0 to 23, which the host can read."""
    buffer = pinned(96)
    np.frombuffer(buffer, "f4")[:] = np.arange(24)
    return buffer


def host(view: StridedMemoryView) -> Any:
    """A NumPy array that shares the memory of a view."""
    return np.from_dlpack(view)


class BfloatClass:
    """Like ml_dtypes.bfloat16: a class with a known name."""


BfloatClass.__name__ = "bfloat16"


class TestDtype:
    @pytest.mark.parametrize(
        ("given", "name"),
        [
            ("float32", "float32"), ("f4", "float32"), ("<f4", "float32"), ("=f4", "float32"),
            ("f", "float32"), ("single", "float32"), (np.float32, "float32"),
            (np.dtype("f4"), "float32"), (ctypes.c_float, "float32"), (np.dtype("<i8"), "int64"),
            (float, "float64"), (int, "int64"), (bool, "bool"), (complex, "complex128"),
            ("?", "bool"), ("|b1", "bool"), ("int8", "int8"), ("u2", "uint16"), ("half", "float16"),
            (np.longlong, "int64"), (ctypes.c_ubyte, "uint8"), (ctypes.c_int64, "int64"),
            (np.complex64, "complex64"), ("c16", "complex128"), (">i1", "int8"),
            (np.dtype(">u1"), "uint8"),
        ],
        ids=str,
    )  # fmt: skip
    def test_names(self, numbers: Buffer, given: Any, name: str) -> None:
        view = numbers.view(given, 1)
        assert view.dtype == np.dtype(name)
        assert view.itemsize == np.dtype(name).itemsize
        assert f"dtype={name}," in repr(view)

    @pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
    def test_names_of_ml_dtypes(self, numbers: Buffer, name: str) -> None:
        view = numbers.view(name)
        assert view.itemsize == (2 if name == "bfloat16" else 1)
        assert f"dtype={name}," in repr(view)
        ml_dtypes = pytest.importorskip("ml_dtypes")
        assert view.dtype == np.dtype(getattr(ml_dtypes, name))
        assert f"dtype={name}," in repr(numbers.view(view.dtype))
        assert f"dtype={name}," in repr(numbers.view(getattr(ml_dtypes, name)))

    def test_class_of_a_known_name(self, numbers: Buffer) -> None:
        assert numbers.view(BfloatClass).itemsize == 2

    def test_dtype_of_ml_dtypes_needs_it(
        self, numbers: Buffer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(__import__("sys").modules, "ml_dtypes", None)
        with pytest.raises(NotSupportedError, match="pip install ml_dtypes"):
            _ = numbers.view("bfloat16").dtype

    def test_torch_dtypes(self, numbers: Buffer) -> None:
        torch = pytest.importorskip("torch")
        assert numbers.view(torch.float16).dtype == np.float16
        assert numbers.view(torch.bfloat16).itemsize == 2
        assert numbers.view(torch.int64, 3).shape == (3,)

    def test_structures_are_kept(self, numbers: Buffer) -> None:
        dtype = np.dtype([("a", "f4"), ("b", "i4"), ("c", "f4")])
        view = numbers.view(dtype)
        assert (view.dtype, view.shape, view.itemsize) == (dtype, (8,), 12)
        assert numbers.view("V12").itemsize == 12

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ("flot32", "did you mean 'float32'"), ("", "no type of elements"), ("f3", "'f3'"),
            ("<", "'<'"), ("f4x", "'f4x'"), ("V0", "'V0'"), ("O", "'O'"), (None, "None"),
            (3, "3 is no type"), (object, "object"), (np.dtype(object), "holds Python objects"),
            (np.dtype([("a", object)]), "holds Python objects"), (np.dtype("V0"), "has no bytes"),
            ("float32, int8", "no type of elements"), (["f4"], "no type"),
            (ctypes.c_char_p, "no type"), (str, "no type"), ("i99999999999999999999", "no type"),
        ],
        ids=str,
    )  # fmt: skip
    def test_wrong_ones(self, numbers: Buffer, given: Any, message: str) -> None:
        with pytest.raises(TypeError, match=rf"Buffer.view: dtype .*{message}"):
            numbers.view(given)

    @pytest.mark.parametrize("given", [">f4", np.dtype(">i2")], ids=str)
    def test_big_endian(self, numbers: Buffer, given: Any) -> None:
        with pytest.raises(ValueError, match=r"big-endian"):
            numbers.view(given)

    def test_what_it_raises_is_passed_on(self, numbers: Buffer) -> None:
        class Lying:
            @property
            def str(self) -> str:
                raise LookupError("no answer")

        with pytest.raises(LookupError, match="no answer"):
            numbers.view(Lying())

    def test_needs_no_numpy(self) -> None:
        script = """
            import sys
            from cudacore import LegacyPinnedMemoryResource
            buffer = LegacyPinnedMemoryResource().allocate(24)
            view = buffer.view("float32", (2, -1))
            assert view[1].T.reshape(3, 1).nbytes == 12
            view.__dlpack__(), view.__cuda_array_interface__, repr(view)
            print("numpy" in sys.modules)
        """
        assert run_cleanly(script) == "False\n"


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
        with pytest.raises(OverflowError, match="64 bits"):
            numbers.view("f4", 2**64)

    def test_size_that_is_no_whole_number(self, numbers: Buffer) -> None:
        with pytest.raises(ValueError, match="10 bytes is no whole number of float32"):
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


class TestIndexing:
    @pytest.mark.parametrize(
        "index",
        [
            0, -1, slice(1, 3), slice(None, None, 2), slice(None, None, -1), (1, 2), (1, 2, 3),
            (slice(None), 1), (..., 0), (0, ...), (slice(3, 1), slice(None)), None, (None, 0),
            (slice(None), None, slice(1, None, 2)), (...,), (), (slice(5, None, -2), ..., None),
            np.int64(1), (slice(-100, 100),),
        ],
        ids=str,
    )  # fmt: skip
    def test_like_numpy(self, numbers: Buffer, index: Any) -> None:
        view = numbers.view("f4", (2, 3, 4))[index]
        expected = np.arange(24, dtype="f4").reshape(2, 3, 4)[index]
        assert view.shape == expected.shape
        assert host(view).tolist() == expected.tolist()
        if expected.flags.c_contiguous:
            assert view.strides is None
        elif expected.size:
            steps = zip(view.strides or (), expected.strides, expected.shape, strict=True)
            assert all(4 * ours == numpys for ours, numpys, length in steps if length > 1)

    @pytest.mark.parametrize(
        ("index", "error", "message"),
        [
            (2, IndexError, "index 2 is out of range for dimension 0, which has 2"),
            ((0, -4), IndexError, "index -4 is out of range for dimension 0"),
            ((0, 0, 0, 0), IndexError, "4 indices for a view of 3 dimensions"),
            ((..., ...), IndexError, "one ... at most"),
            (2**70, IndexError, "out of range"),
            ("a", TypeError, "an int, a slice, None or ..."),
            (1.0, TypeError, "not float"),
            (True, TypeError, "not bool"),
            ([0, 1], TypeError, "takes a copy"),
            (slice(0, 2, 0), ValueError, "zero"),
            (slice("a"), TypeError, "slice indices"),
        ],
        ids=str,
    )
    def test_wrong_ones(
        self, numbers: Buffer, index: Any, error: type[Exception], message: str
    ) -> None:
        with pytest.raises(error, match=message):
            numbers.view("f4", (2, 3, 4))[index]

    def test_length_and_iteration(self, numbers: Buffer) -> None:
        view = numbers.view("f4", (4, 6))
        assert len(view) == 4
        assert [row.ptr - view.ptr for row in view] == [0, 24, 48, 72]
        with pytest.raises(TypeError, match="no length"):
            len(view[0, 0])

    @pytest.mark.parametrize(
        ("index", "shape"),
        [
            (..., (24,)), (..., (4, -1)), (..., (2, 3, 4)), ((slice(1, 2), 0), (2, 2)),
            ((slice(None), slice(None), slice(None, None, 2)), (6, 2)),
            ((slice(None), slice(None), slice(None, None, 2)), (1, 3, 2, 2, 1)),
            ((slice(None), slice(None), slice(None, None, -1)), (3, 2, 4)),
            ((slice(None, None, 2),), (12,)), ((slice(None), 1), (1, 8)), (0, 12),
            ((slice(None), slice(1, 2), slice(1, 2)), (2,)), ((0, 0, slice(1)), (1, 1)),
            ((slice(0, 0),), -1),
        ],
        ids=str,
    )  # fmt: skip
    def test_reshape_like_numpy(self, numbers: Buffer, index: Any, shape: Any) -> None:
        view = numbers.view("f4", (2, 3, 4))[index]
        array = np.arange(24, dtype="f4").reshape(2, 3, 4)
        part = array[index]
        expected = part.reshape(shape)
        if not np.shares_memory(array, expected) and expected.size:
            with pytest.raises(ValueError, match="only with a copy"):
                view.reshape(shape)
        else:
            assert host(view.reshape(shape)).tolist() == expected.tolist()

    def test_reshape_of_separate_ints(self, numbers: Buffer) -> None:
        assert numbers.view("f4").reshape(2, -1, 3).shape == (2, 4, 3)

    @pytest.mark.parametrize(
        ("shape", "error"),
        [((5, 5), ValueError), ((-1, 7), ValueError), (("x",), TypeError), ((-3,), ValueError)],
        ids=str,
    )
    def test_wrong_reshapes(self, numbers: Buffer, shape: Any, error: type[Exception]) -> None:
        with pytest.raises(error, match="shape"):
            numbers.view("f4").reshape(shape)

    @pytest.mark.parametrize("axes", [(), (None,), (2, 0, 1), ((0, 2, 1),), (-1, 0, 1)], ids=str)
    def test_transpose_like_numpy(self, numbers: Buffer, axes: Any) -> None:
        array = np.arange(24, dtype="f4").reshape(2, 3, 4)
        view = numbers.view("f4", (2, 3, 4))
        assert host(view.transpose(*axes)).tolist() == array.transpose(*axes).tolist()
        assert host(view.T).tolist() == array.T.tolist()

    @pytest.mark.parametrize("axes", [(0,), (0, 0, 1), (0, 1, 3), (0, 1, 2, 0)], ids=str)
    def test_wrong_axes(self, numbers: Buffer, axes: Any) -> None:
        with pytest.raises(ValueError, match="each of the 3 dimensions once"):
            numbers.view("f4", (2, 3, 4)).transpose(*axes)


class TestOtherType:
    @pytest.mark.parametrize("dtype", ["i4", "u1", "f8", "V12", "float16"])
    def test_like_numpy(self, numbers: Buffer, dtype: str) -> None:
        view = numbers.view("f4", (4, 6)).view(dtype=dtype)
        expected = np.arange(24, dtype="f4").reshape(4, 6).view(dtype)
        assert (view.shape, view.dtype) == (expected.shape, expected.dtype)
        assert view.ptr == numbers.handle

    def test_of_a_strided_view(self, numbers: Buffer) -> None:
        view = numbers.view("f4", (4, 6))[:, 2:4].view(dtype="u1")
        assert (view.shape, view.strides) == ((4, 8), (24, 1))
        assert numbers.view("f4", (4, 6)).T.view(dtype="i4").strides == (1, 6)

    def test_nothing_given(self, numbers: Buffer) -> None:
        view = numbers.view("f4")
        assert view.view() is view
        assert view.view(layout=None, dtype=None) is view

    def test_layouts_are_not_supported(self, numbers: Buffer) -> None:
        with pytest.raises(NotSupportedError, match=r"view\(dtype=...\)"):
            numbers.view("f4").view("i4")  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("index", "dtype", "error", "message"),
        [
            ((slice(None), slice(None, None, 2)), "u1", ValueError, "contiguous"),
            ((slice(None), slice(3)), "f8", ValueError, "no whole number"),
            ((slice(None), slice(1, 3)), "f8", ValueError, "aligned to 8"),
            ((0, 0), "f8", ValueError, "contiguous"),
            (..., "nonsense", TypeError, "StridedMemoryView.view: dtype"),
        ],
        ids=str,
    )
    def test_wrong_ones(
        self, numbers: Buffer, index: Any, dtype: str, error: type[Exception], message: str
    ) -> None:
        with pytest.raises(error, match=message):
            numbers.view("f4", (4, 6))[index].view(dtype=dtype)


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

    def test_gaps_are_not_supported(self, numbers: Buffer, pinned: Any) -> None:
        target = pinned(96).view("f4", (4, 6))
        for source in (numbers.view("f4", (6, 4)).T, numbers.view("f4", (4, 3), (6, 2))):
            with pytest.raises(NotSupportedError, match="without gaps"):
                target[:, : source.shape[1]].copy_from(source)

    def test_read_only_target(self, numbers: Buffer, pinned: Any) -> None:
        target = StridedMemoryView.from_buffer(pinned(4), 1, dtype="f4", is_readonly=True)
        with pytest.raises(ValueError, match="copy_to: the target is read-only"):
            numbers.view("f4", 1).copy_to(target)

    def test_wrong_partner(self, numbers: Buffer) -> None:
        with pytest.raises(TypeError, match="copy_from was given an argument of a type"):
            numbers.view("f4").copy_from(np.zeros(24, "f4"))  # type: ignore[arg-type]


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


def test_tensor_maps_are_missing(numbers: Buffer) -> None:
    with pytest.raises(NotSupportedError, match=r"as_tensor_map.*docs/cuda_core.md"):
        numbers.view("f4").as_tensor_map((1,))


def test_utils_lists_what_it_has() -> None:
    assert dir(utils) == sorted(utils.__all__)
    with pytest.raises(AttributeError, match=r"copy_batch.*docs/cuda_core.md"):
        _ = utils.copy_batch  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'$"):
        _ = utils.nonsense  # type: ignore[attr-defined]
    assert StridedMemoryView.__module__ == "cudacore.utils"
