# SPDX-License-Identifier: Apache-2.0
"""The NumPy arrays that `Buffer.to_host` copies into, and dtypes; imported when first needed."""

import importlib
from typing import TYPE_CHECKING, Any

from cudacore._core import NotSupportedError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike


def element_type(name: str) -> "np.dtype[Any]":
    """Return the dtype for a name of NumPy's or of ml_dtypes."""
    try:
        import numpy as np  # noqa: PLC0415
    except ImportError as error:
        raise ImportError(
            f"StridedMemoryView.dtype is a NumPy dtype, and NumPy cannot be imported ({error}). "
            "Install it with pip install numpy; itemsize needs none"
        ) from error
    if not name.startswith(("bfloat", "float8")):
        return np.dtype(name)
    try:
        element = getattr(importlib.import_module("ml_dtypes"), name)
    except ImportError as error:
        raise NotSupportedError(
            f"StridedMemoryView.dtype: NumPy has no {name}; pip install ml_dtypes adds it"
        ) from error
    dtype: np.dtype[Any] = np.dtype(element)
    return dtype


def make_array(
    size: int, dtype: "DTypeLike", shape: Any
) -> "tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]":
    """Allocate memory, and make an array that shows it with the requested type and shape."""
    try:
        import numpy as np  # noqa: PLC0415
    except ImportError as error:
        raise ImportError(
            "Buffer.to_host makes a NumPy array, and NumPy cannot be imported "
            f"({error}). Install it with pip install numpy, or copy into memory of your own: "
            "buf.copy_to(bytearray(len(buf)))"
        ) from error
    element = np.dtype(np.uint8 if dtype is None else dtype)
    if element.hasobject:
        raise TypeError(f"Buffer.to_host: dtype {element} holds Python objects, not bytes")
    if element.itemsize == 0 or size % element.itemsize:
        raise ValueError(
            f"Buffer.to_host: a buffer of {size} bytes is no whole number of {element} elements "
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
