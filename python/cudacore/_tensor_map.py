# SPDX-License-Identifier: Apache-2.0
"""The options of tensor maps; the descriptors themselves are in the extension module."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from cudacore._core import TensorMapDescriptor
from cudacore._integers import to_int
from cudacore._options import read_options
from cudacore._public import public

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from numpy.typing import DTypeLike

__all__ = [
    "TensorMapDataType",
    "TensorMapDescriptor",
    "TensorMapDescriptorOptions",
    "TensorMapIm2ColWideMode",
    "TensorMapInterleave",
    "TensorMapL2Promotion",
    "TensorMapOOBFill",
    "TensorMapSwizzle",
]


@public("cudacore")
class TensorMapDataType(enum.IntEnum):
    """The type of a tensor map's elements (``CUtensorMapDataType``).

    The types that end in ``FTZ`` turn subnormal numbers into zeros. ``TFLOAT32`` is float32 in
    memory.
    """

    UINT8 = 0
    UINT16 = 1
    UINT32 = 2
    INT32 = 3
    UINT64 = 4
    INT64 = 5
    FLOAT16 = 6
    FLOAT32 = 7
    FLOAT64 = 8
    BFLOAT16 = 9
    FLOAT32_FTZ = 10
    TFLOAT32 = 11
    TFLOAT32_FTZ = 12


@public("cudacore")
class TensorMapInterleave(enum.IntEnum):
    """How channels are grouped in memory (``CUtensorMapInterleave``).

    ``INTERLEAVE_16B`` and ``INTERLEAVE_32B`` are for layouts such as NC/8HWC8, whose innermost
    dimension is a slice of 16 or 32 bytes.
    """

    NONE = 0
    INTERLEAVE_16B = 1
    INTERLEAVE_32B = 2


@public("cudacore")
class TensorMapSwizzle(enum.IntEnum):
    """How pieces of 16 bytes change places in shared memory (``CUtensorMapSwizzle``).

    They do so within spans of 32, 64 or 128 bytes, so that threads that read a column of a box
    cause no bank conflicts.
    """

    NONE = 0
    SWIZZLE_32B = 1
    SWIZZLE_64B = 2
    SWIZZLE_128B = 3


@public("cudacore")
class TensorMapL2Promotion(enum.IntEnum):
    """How much the L2 cache fetches at once (``CUtensorMapL2promotion``)."""

    NONE = 0
    L2_64B = 1
    L2_128B = 2
    L2_256B = 3


@public("cudacore")
class TensorMapOOBFill(enum.IntEnum):
    """What copies read outside of the tensor (``CUtensorMapFloatOOBfill``).

    ``NONE`` means zeros. ``NAN_REQUEST_ZERO_FMA`` means a special NaN, for floating-point types.
    """

    NONE = 0
    NAN_REQUEST_ZERO_FMA = 1


@public("cudacore")
class TensorMapIm2ColWideMode(enum.IntEnum):
    """How many pixels im2col-wide loads (``CUtensorMapIm2ColWideMode``).

    ``W`` means ``pixels_per_column``, ``W128`` means 128.
    """

    W = 0
    W128 = 1


def _ints(name: str) -> Callable[[object], tuple[int, ...]]:
    def check(values: Any) -> tuple[int, ...]:
        try:
            values = tuple(values)
        except TypeError:
            raise TypeError(f"{name} must be a tuple of ints, got {type(values)}") from None
        return tuple(to_int(value, f"{name}[{i}]") for i, value in enumerate(values))

    return check


def _member(name: str, kind: type[enum.IntEnum]) -> Callable[[object], enum.IntEnum]:
    def check(value: object) -> enum.IntEnum:
        if isinstance(value, str):
            member = kind.__members__.get(value.upper())
            if member is None:
                valid = ", ".join(repr(known.lower()) for known in kind.__members__)
                raise ValueError(f"{name} must be one of {valid}, got {value!r}")
            return member
        if not isinstance(value, kind):
            raise TypeError(f"{name} must be a {kind.__name__}, got {type(value)}")
        return value

    return check


def _data_type(value: object) -> object:
    """Return a member for its name; all else is checked against the tensor."""
    if isinstance(value, str):
        return TensorMapDataType.__members__.get(value.upper(), value)
    return value


_CHECKS: dict[str, Callable[[object], object]] = {
    "box_dim": _ints("box_dim"),
    "element_strides": lambda value: None if value is None else _ints("element_strides")(value),
    "data_type": _data_type,
    "interleave": _member("interleave", TensorMapInterleave),
    "swizzle": _member("swizzle", TensorMapSwizzle),
    "l2_promotion": _member("l2_promotion", TensorMapL2Promotion),
    "oob_fill": _member("oob_fill", TensorMapOOBFill),
}


@public("cudacore")
@dataclass
class TensorMapDescriptorOptions:
    """Options for `StridedMemoryView.as_tensor_map`.

    Each field is checked when it is set. Sequences have a number for each dimension of the tensor,
    in the order of its shape.

    Parameters
    ----------
    box_dim : sequence of int
        The shape of the box that a copy moves, in elements: 1 to 256 in each dimension.
    element_strides : sequence of int, optional
        Steps between the elements that a copy moves, 1 to 8. With a step of `s`, a copy moves
        ``ceil(box_dim / s)`` elements. Without interleaving, the last one has no effect. Default:
        1 in each dimension.
    data_type : TensorMapDataType, its name, or dtype, optional
        The type of the elements. A type of another size than the tensor's takes its bytes as
        elements of that type, as `StridedMemoryView.view` does. Default: the tensor's.
    interleave : TensorMapInterleave or str
        Or the name of a member, such as ``"interleave_16b"``. Default: ``NONE``.
    swizzle : TensorMapSwizzle or str
        Default: ``NONE``.
    l2_promotion : TensorMapL2Promotion or str
        Default: ``NONE``.
    oob_fill : TensorMapOOBFill or str
        Default: ``NONE``, which means zeros.

    Raises
    ------
    TypeError
        If a field has another type.
    ValueError
        If a name is not one of a member.

    Examples
    --------
    >>> from cudacore import TensorMapDescriptorOptions
    >>> options = TensorMapDescriptorOptions([8, 32], swizzle="swizzle_128b")
    >>> options.box_dim
    (8, 32)
    """

    box_dim: tuple[int, ...]
    element_strides: tuple[int, ...] | None = None
    data_type: TensorMapDataType | DTypeLike | None = None
    interleave: TensorMapInterleave | str = TensorMapInterleave.NONE
    swizzle: TensorMapSwizzle | str = TensorMapSwizzle.NONE
    l2_promotion: TensorMapL2Promotion | str = TensorMapL2Promotion.NONE
    oob_fill: TensorMapOOBFill | str = TensorMapOOBFill.NONE

    def __setattr__(self, name: str, value: object) -> None:
        """Check the field and set it."""
        if name not in _CHECKS:
            raise AttributeError(f"TensorMapDescriptorOptions has no option {name!r}")
        super().__setattr__(name, _CHECKS[name](value))


# What the extension module calls. Fields that are None are unset.


def _given(fields: tuple[Any, ...]) -> dict[str, Any]:
    names = list(_CHECKS)[1:]
    return {name: value for name, value in zip(names, fields, strict=True) if value is not None}


def tiled_options(
    box_dim: Any, options: TensorMapDescriptorOptions | Mapping[str, Any] | None, *fields: Any
) -> TensorMapDescriptorOptions:
    """Make the options of `StridedMemoryView.as_tensor_map` from its arguments."""
    given = _given(fields)
    if options is None:
        if box_dim is None:
            raise TypeError("box_dim is required unless options is provided")
        return TensorMapDescriptorOptions(box_dim, **given)
    if box_dim is not None or given:
        raise TypeError("Specify either options or the individual tensor map arguments, not both")
    return read_options(
        TensorMapDescriptorOptions, options, "StridedMemoryView.as_tensor_map", is_required=True
    )


def im2col_options(*fields: Any) -> TensorMapDescriptorOptions:
    """Make the options that `TensorMapDescriptor.from_im2col` has in common with boxes."""
    return TensorMapDescriptorOptions((), **_given(fields))


def wide_options(*fields: Any) -> TensorMapDescriptorOptions:
    """Make those of `TensorMapDescriptor.from_im2col_wide`, which always swizzles."""
    return TensorMapDescriptorOptions(
        (), **{"swizzle": TensorMapSwizzle.SWIZZLE_128B, **_given(fields)}
    )


def wide_mode(mode: TensorMapIm2ColWideMode | str | None) -> enum.IntEnum:
    """Check the mode of `TensorMapDescriptor.from_im2col_wide`."""
    if mode is None:
        return TensorMapIm2ColWideMode.W
    return _member("mode", TensorMapIm2ColWideMode)(mode)
