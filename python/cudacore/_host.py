# SPDX-License-Identifier: Apache-2.0
"""What buffers and views need NumPy for: arrays on the host, and dtypes."""

from typing import TYPE_CHECKING, Any

from cudacore._core import NotSupportedError
from cudacore._other_library import import_if_installed, import_library

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike


def element_type(name: str) -> "np.dtype[Any]":
    """Return the dtype for a name of NumPy's or of ml_dtypes."""
    numpy = _numpy("StridedMemoryView.dtype", "itemsize needs none")
    element: Any = name
    if name.startswith(("bfloat", "float8")):
        ml_dtypes = import_if_installed("ml_dtypes")
        if ml_dtypes is None:
            raise NotSupportedError(
                f"StridedMemoryView.dtype: NumPy has no {name}; pip install ml_dtypes adds it"
            )
        element = getattr(ml_dtypes, name)
    dtype: np.dtype[Any] = numpy.dtype(element)
    return dtype


def element_bytes(value: Any, name: str, what: str) -> bytes:
    """Return the bytes of an element of a named type, for a number that it holds."""
    np = _numpy(what, "a view of elements without a type is filled with bytes")
    if isinstance(value, (bytes, bytearray, memoryview, str)) or np.ndim(value) != 0:
        raise TypeError(f"{what}: value must be a number of {name}, not {type(value).__name__}")
    is_small = name.startswith(("bfloat", "float8"))
    dtype = np.dtype(np.float32) if is_small else element_type(name)
    if isinstance(value, int) and dtype.kind in "fc":
        try:
            value = float(value)
        except OverflowError:
            raise OverflowError(
                f"{what}: an int of {value.bit_length()} bits does not fit {name}"
            ) from None
    given = np.asarray(value)
    if isinstance(value, int) and dtype.kind in "iu":
        limits = np.iinfo(dtype)
        if not limits.min <= value <= limits.max:
            raise OverflowError(f"{what}: {value} does not fit {name}")
    elif not np.can_cast(given.dtype, dtype, "same_kind"):
        raise TypeError(f"{what}: value must be a number of {name}, not {value!r}")
    with np.errstate(over="ignore", invalid="ignore"):
        element = given.astype(dtype)
        if name == "bfloat16":  # the upper half of a float32, rounded to even
            bits = int(element.view(np.uint32))
            rounded = bits | 0x400000 if np.isnan(element) else bits + 0x7FFF + (bits >> 16 & 1)
            return (rounded >> 16).to_bytes(2, "little")
        if is_small:
            element = element.astype(element_type(name))
    if np.isfinite(given) and not np.isfinite(element.astype(dtype)):
        raise OverflowError(f"{what}: {value} does not fit {name}")
    return bytes(element.tobytes())


def make_array(
    size: int, dtype: "DTypeLike", shape: Any
) -> "tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]":
    """Allocate memory, and make an array that shows it with the requested type and shape."""
    instead = "or copy into memory of your own: buf.copy_to(bytearray(len(buf)))"
    np = _numpy("Buffer.to_host", instead)
    element = np.dtype(np.uint8 if dtype is None else dtype)
    if element.hasobject:
        raise TypeError(f"Buffer.to_host: dtype {element} holds Python objects, not bytes")
    if element.itemsize == 0 or size % element.itemsize:
        raise ValueError(
            f"Buffer.to_host: a buffer of {size} bytes is not a whole number of {element} elements "
            f"of {element.itemsize} bytes; take a slice of it first, or give another dtype"
        )
    memory = np.empty(size, np.uint8)
    array = memory.view(element)
    if shape is not None:
        try:
            array = array.reshape(shape)
        except TypeError:
            raise TypeError(
                f"Buffer.to_host: shape must be an int or a sequence of int, not {shape!r}"
            ) from None
        except ValueError:
            raise ValueError(
                f"Buffer.to_host: shape {shape!r} does not hold the {array.size} elements of "
                f"{element} in a buffer of {size} bytes"
            ) from None
    return memory, array


def _numpy(user: str, instead: str) -> Any:
    return import_library("numpy", user, "NumPy", "numpy", instead)
