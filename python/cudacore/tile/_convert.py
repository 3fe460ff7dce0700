# SPDX-License-Identifier: Apache-2.0
"""Objects of Python as values of a kernel."""

import dataclasses
import enum
import types
from typing import Any

from cudacore.tile._advice import function_instead
from cudacore.tile._device_function import device_function
from cudacore.tile._exception import TileTypeError
from cudacore.tile._record import record_type
from cudacore.tile._value import BoundMethod, Constant, Record

_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType)
_PLAIN = (
    str,
    bool,
    int,
    float,
    slice,
    enum.Enum,
    device_function,
    types.ModuleType,
    type,
    types.EllipsisType,
    type(None),
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    *_FUNCTIONS,
)


class Symbol:
    """Stands for a value of a kernel while Python itself evaluates an expression."""

    __slots__ = ("_value",)

    def __init__(self, value: object) -> None:
        self._value = value


def value_of(symbol: Symbol) -> object:
    """Return what a symbol stands for."""
    return symbol._value  # noqa: SLF001 - its own module


def value(thing: Any) -> object:
    """Return an object of Python as a value of a kernel.

    Raises
    ------
    TileTypeError
        Kernels have no values like it.
    """
    if isinstance(thing, Symbol):
        return value_of(thing)
    if isinstance(thing, tuple):
        return tuple(map(value, thing))
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        record_type(type(thing))
        fields = {f.name: value(getattr(thing, f.name)) for f in dataclasses.fields(thing)}
        return Record(type(thing), fields)
    if isinstance(thing, types.MethodType):
        return _method(thing)
    found = foreign_number(thing)
    if found is None:
        dtype = foreign_dtype(thing)
        found = Constant(dtype or thing) if dtype or isinstance(thing, _PLAIN) else None
    if found is not None:
        return found
    kind = type(thing)
    prefix = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    message = f"Cannot create constant from value of type {prefix}{kind.__qualname__}"
    if (kind.__module__, kind.__name__) == ("cudacore.tile", "kernel"):
        advice = ". A kernel is launched; what kernels call is a plain function."
    elif isinstance(thing, list):
        advice = ". Write a tuple."
    elif hasattr(kind, "__dlpack__") or hasattr(kind, "__cuda_array_interface__"):
        advice = ". Pass it to the kernel as an argument."
    else:
        advice = function_instead(getattr(thing, "__name__", "")) or "."
    raise TileTypeError(message + advice)


def _method(method: types.MethodType) -> BoundMethod:
    if not isinstance(method.__func__, _FUNCTIONS):
        kind = type(method).__name__
        raise TileTypeError(
            f"Object of type {kind} cannot be used as a function for binding a method"
        )
    return BoundMethod(value(method.__self__), method.__func__)


def foreign_dtype(thing: Any) -> Any:
    """Return the data type that an object of this or another library names, or None."""
    if isinstance(thing, (str, bool, int, float, enum.Enum)) or thing is None:
        return None
    from cudacore.tile._dtype import from_foreign  # noqa: PLC0415 - most kernels name none

    return from_foreign(thing)


def foreign_number(thing: Any) -> Constant | None:
    """Return a number of another library, as NumPy's are, as a constant of its type."""
    kind: type = type(thing)
    if kind.__module__.partition(".")[0] not in ("numpy", "ml_dtypes"):
        return None
    dtype = foreign_dtype(kind)
    if dtype is None:
        return None
    return Constant(dtype.python_type(thing), dtype)
