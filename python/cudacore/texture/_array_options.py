# SPDX-License-Identifier: Apache-2.0
"""Options for arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cudacore._integers import INT32, to_int
from cudacore._options import to_bool
from cudacore._public import public
from cudacore.texture._formats import to_channels, to_format

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from cudacore.typing import ArrayFormatType


def _to_shape(shape: Any) -> tuple[int, ...]:
    if not isinstance(shape, Iterable) or isinstance(shape, (str, bytes, Mapping, AbstractSet)):
        raise TypeError(f"shape must be a tuple of ints, got {type(shape).__name__}")
    lengths = tuple(shape)
    lengths = tuple(to_int(length, f"shape[{i}]") for i, length in enumerate(lengths))
    if not 1 <= len(lengths) <= 3:  # noqa: PLR2004
        raise ValueError(f"shape rank must be 1, 2, or 3, got {len(lengths)}")
    for i, length in enumerate(lengths):
        if length < 1:
            raise ValueError(f"shape[{i}] must be >= 1, got {length}")
    return lengths


@public("cudacore.texture")
@dataclass
class OpaqueArrayOptions:
    """Options for `Device.create_opaque_array`.

    Attributes
    ----------
    shape : tuple of int
        ``(width,)``, ``(width, height)`` or ``(width, height, depth)``, in elements. NumPy has them
        the other way round: the shape of an array of rows is ``(height, width)``.
    format : ArrayFormatType, str or dtype
        The type of a channel, such as ``"float32"``. It becomes an `ArrayFormatType`.
    num_channels : int
        How many values an element has: 1, 2 or 4.
    is_surface_load_store : bool
        Whether kernels may write the array, through a `SurfaceObject`. Default: False.

    Raises
    ------
    TypeError
        The shape is no sequence of ints, or the number of channels is no int.
    ValueError
        There is no such format, number of channels, or shape.

    Examples
    --------
    >>> from cudacore.texture import OpaqueArrayOptions
    >>> OpaqueArrayOptions((64, 32), "float32", 4).num_channels
    4
    """

    shape: tuple[int, ...]
    format: ArrayFormatType | str | DTypeLike
    num_channels: int
    is_surface_load_store: bool = False

    def __post_init__(self) -> None:
        """Check the fields."""
        self.format = to_format(self.format)
        self.num_channels = to_channels(self.num_channels)
        self.shape = _to_shape(self.shape)
        to_bool(self.is_surface_load_store, "is_surface_load_store")


@public("cudacore.texture")
@dataclass
class MipmappedArrayOptions:
    """Options for `Device.create_mipmapped_array`.

    Attributes
    ----------
    shape : tuple of int
        The shape of level 0; as for `OpaqueArrayOptions`, and so are the format and the channels.
    format : ArrayFormatType, str or dtype
    num_channels : int
    num_levels : int
        How many levels there are. Each halves all dimensions of the one before, down to 1.
    is_surface_load_store : bool
        Whether kernels may write the levels, each through a `SurfaceObject`. Default: False.

    Raises
    ------
    TypeError
        The shape is no sequence of ints, or the number of channels or of levels is no int.
    ValueError
        There is no such format, number of channels or of levels, or shape.

    Examples
    --------
    >>> from cudacore.texture import MipmappedArrayOptions
    >>> MipmappedArrayOptions((64, 32), "uint8", 1, num_levels=7).shape
    (64, 32)
    """

    shape: tuple[int, ...]
    format: ArrayFormatType | str | DTypeLike
    num_channels: int
    num_levels: int
    is_surface_load_store: bool = False

    def __post_init__(self) -> None:
        """Check the fields."""
        self.format = to_format(self.format)
        self.num_channels = to_channels(self.num_channels)
        self.shape = _to_shape(self.shape)
        to_bool(self.is_surface_load_store, "is_surface_load_store")
        self.num_levels = to_int(self.num_levels, "num_levels", INT32)
        if self.num_levels < 1:
            raise ValueError(f"num_levels must be >= 1, got {self.num_levels}")
