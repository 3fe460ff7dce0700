# SPDX-License-Identifier: Apache-2.0
"""The types of the elements of views."""

import ctypes
from typing import Any

import numpy as np
import pytest
from cudacore import Buffer, NotSupportedError
from harness import run_cleanly


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
            ("flot32", "did you mean 'float32'"), ("", "not an element type"), ("f3", "'f3'"),
            ("<", "'<'"), ("f4x", "'f4x'"), ("V0", "'V0'"), ("O", "'O'"), (None, "None"),
            (3, "3 is not an element type"), (object, "object"),
            (np.dtype(object), "holds Python objects"),
            (np.dtype([("a", object)]), "holds Python objects"), (np.dtype("V0"), "has no bytes"),
            ("float32, int8", "not an element type"), (["f4"], "not an element type"),
            (ctypes.c_char_p, "not an element type"), (str, "not an element type"),
            ("i99999999999999999999", "not an element type"),
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
            ((slice(None), slice(3)), "f8", ValueError, "not a whole number"),
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
