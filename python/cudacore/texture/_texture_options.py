# SPDX-License-Identifier: Apache-2.0
"""Options for textures."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

from cudacore._integers import to_int
from cudacore._options import Options, optional, to_member
from cudacore._public import public
from cudacore.texture._formats import index_of
from cudacore.typing import AddressModeType, FilterModeType, ReadModeType

_DIMENSIONS = 3
_CHANNELS = 4
_LARGEST_FLOAT = 3.4028234663852886e38  # of 32 bits


_to_filter_mode = partial(to_member, kind=FilterModeType)


def _to_address_modes(given: Any, what: str) -> AddressModeType | tuple[AddressModeType, ...]:
    if isinstance(given, str):
        return to_member(given, what, AddressModeType)
    if not isinstance(given, Iterable):
        text = f"{what} must be an AddressModeType or a tuple of them"
        raise TypeError(f"{text}, not {type(given).__name__}")
    modes = tuple(to_member(m, f"{what}[{i}]", AddressModeType) for i, m in enumerate(given))
    if not 1 <= len(modes) <= _DIMENSIONS:
        raise ValueError(f"{what} must have 1, 2 or 3 entries, not {len(modes)}")
    return modes


def _to_real(given: Any, what: str) -> float:
    if not isinstance(given, (bool, str, bytes)):
        with contextlib.suppress(TypeError):
            return float(given)
    raise TypeError(f"{what} must be a float, not {type(given).__name__}")


def _to_level(given: Any, what: str) -> float:
    number = _to_real(given, what)
    if not abs(number) <= _LARGEST_FLOAT:
        raise ValueError(f"{what} must be a finite float of 32 bits, not {number}")
    return number


def _to_color(given: Any, what: str) -> tuple[float, ...]:
    if not isinstance(given, Iterable):
        raise TypeError(f"{what} must be a tuple of floats, not {type(given).__name__}")
    color = tuple(_to_real(value, f"{what}[{i}]") for i, value in enumerate(given))
    if len(color) != _CHANNELS:
        raise ValueError(f"{what} must have 4 elements, not {len(color)}")
    return color


@public("cudacore.texture")
@dataclass
class TextureObjectOptions(
    Options,
    checks={
        "address_mode": _to_address_modes,
        "filter_mode": _to_filter_mode,
        "read_mode": partial(to_member, kind=ReadModeType),
        "max_anisotropy": partial(to_int, least=0),
        "mipmap_filter_mode": _to_filter_mode,
        "mipmap_level_bias": _to_level,
        "min_mipmap_level_clamp": _to_level,
        "max_mipmap_level_clamp": _to_level,
        "border_color": optional(_to_color),
    },
):
    """How a texture reads; options for `Device.create_texture_object` (``CUDA_TEXTURE_DESC``).

    The linear memory of `ResourceDescriptor.from_linear` is read by index, so only ``read_mode``
    and ``srgb`` apply to it.

    Attributes
    ----------
    address_mode : AddressModeType, str or tuple
        What is read at coordinates outside of the texture, for all dimensions or, in a tuple, for
        each; the last one of a shorter tuple is that of the dimensions that follow. ``"wrap"`` and
        ``"mirror"`` need ``normalized_coords``: without it, the driver takes them for ``"clamp"``.
        Default: ``"clamp"``.
    filter_mode : FilterModeType or str
        ``"point"`` reads the nearest element, ``"linear"`` a mean of those around. Default:
        ``"point"``.
    read_mode : ReadModeType or str
        ``"element_type"`` reads integers as they are, ``"normalized_float"`` those of 8 and 16 bits
        as a float in [0, 1], or [-1, 1] if they are signed. Default: ``"element_type"``.
    normalized_coords : bool
        Whether coordinates go from 0 to 1, instead of to the length of the dimension. Textures of
        mipmapped arrays need it. Default: False.
    srgb : bool
        Whether the values are sRGB, and become linear; for uint8 elements. Default: False.
    disable_trilinear_optimization : bool
        Default: False.
    seamless_cubemap : bool
        Default: False.
    max_anisotropy : int
        The greatest ratio of anisotropic filtering, up to 16; 0 is none. Default: 0.
    mipmap_filter_mode : FilterModeType or str
        ``"linear"`` reads a mean of two levels of a mipmapped array. Default: ``"point"``.
    mipmap_level_bias : float
        Added to the level. Default: 0.
    min_mipmap_level_clamp : float
        The least level that is read. Default: 0.
    max_mipmap_level_clamp : float
        The greatest level that is read. Default: 0, so that only level 0 is read.
    border_color : tuple or None
        The four floats that the address mode ``"border"`` reads. Default: zeros.

    Raises
    ------
    TypeError
        A field has another type.
    ValueError
        A mode has no such member, a number is out of range, or a tuple has another length.

    Examples
    --------
    >>> from cudacore.texture import TextureObjectOptions
    >>> options = TextureObjectOptions("wrap", "linear", normalized_coords=True)
    >>> options.filter_mode
    <FilterModeType.LINEAR: 'linear'>
    """

    address_mode: AddressModeType | str | tuple[AddressModeType | str, ...] = AddressModeType.CLAMP
    filter_mode: FilterModeType | str = FilterModeType.POINT
    read_mode: ReadModeType | str = ReadModeType.ELEMENT_TYPE
    normalized_coords: bool = False
    srgb: bool = False
    disable_trilinear_optimization: bool = False
    seamless_cubemap: bool = False
    max_anisotropy: int = 0
    mipmap_filter_mode: FilterModeType | str = FilterModeType.POINT
    mipmap_level_bias: float = 0.0
    min_mipmap_level_clamp: float = 0.0
    max_mipmap_level_clamp: float = 0.0
    border_color: tuple[float, ...] | None = None


def values_of(options: Any) -> tuple[Any, ...]:
    """Return all options in the order in which the extension module takes them."""
    values = {field.name: getattr(options, field.name) for field in fields(TextureObjectOptions)}
    given = values.pop("address_mode")
    modes = given if isinstance(given, tuple) else (given,)
    modes += modes[-1:] * (_DIMENSIONS - len(modes))
    values["max_anisotropy"] = min(options.max_anisotropy, 16)  # as the driver takes more
    color = values.pop("border_color") or (0.0,) * _CHANNELS
    rest = (index_of(value) if isinstance(value, enum.Enum) else value for value in values.values())
    return (*map(index_of, modes), *rest, *color)
