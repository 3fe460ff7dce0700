# SPDX-License-Identifier: Apache-2.0
"""Options for textures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from cudacore._integers import to_int
from cudacore._options import to_bool
from cudacore._public import public
from cudacore.texture._formats import index_of, to_member
from cudacore.typing import AddressModeType, FilterModeType, ReadModeType

_DIMENSIONS = 3
_CHANNELS = 4
_LARGEST_FLOAT = 3.4028234663852886e38  # of 32 bits


@public("cudacore.texture")
@dataclass
class TextureObjectOptions:
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
    ValueError
        A mode has no such member.

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

    def __post_init__(self) -> None:
        """Check the modes."""
        self.filter_mode = to_member("filter_mode", self.filter_mode, FilterModeType)
        self.read_mode = to_member("read_mode", self.read_mode, ReadModeType)
        self.mipmap_filter_mode = to_member(
            "mipmap_filter_mode", self.mipmap_filter_mode, FilterModeType
        )


def _address_modes(given: Any) -> list[AddressModeType]:
    if isinstance(given, str):
        return [to_member("address_mode", given, AddressModeType)] * _DIMENSIONS
    try:
        modes = list(given)
    except TypeError:
        raise TypeError(
            "address_mode must be an AddressModeType or a tuple of AddressModeType, "
            f"not {type(given).__name__}"
        ) from None
    if not 1 <= len(modes) <= _DIMENSIONS:
        raise ValueError(f"address_mode tuple must have 1-3 entries, got {len(modes)}")
    modes = [to_member(f"address_mode[{i}]", m, AddressModeType) for i, m in enumerate(modes)]
    return modes + modes[-1:] * (_DIMENSIONS - len(modes))


def _real(name: str, given: Any) -> float:
    # Without these, float() would read text, and what has a buffer.
    is_number = hasattr(type(given), "__float__") or hasattr(type(given), "__index__")
    if is_number and not isinstance(given, bool):
        try:
            return float(given)
        except OverflowError:
            raise OverflowError(f"{name} is too large for a float") from None
    raise TypeError(f"{name} must be a float, not {type(given).__name__}")


def _level(name: str, given: Any) -> float:
    number = _real(name, given)
    if not abs(number) <= _LARGEST_FLOAT:
        raise ValueError(f"{name} must be a finite float of 32 bits, not {number}")
    return number


def _border_color(given: Any) -> list[float]:
    if given is None:
        return [0.0] * _CHANNELS
    if not isinstance(given, Iterable):
        raise TypeError(f"border_color must be a tuple of floats, not {type(given).__name__}")
    color = [_real(f"border_color[{i}]", value) for i, value in enumerate(given)]
    if len(color) != _CHANNELS:
        raise ValueError(f"border_color must have 4 elements, got {len(color)}")
    return color


def values_of(options: TextureObjectOptions) -> tuple[Any, ...]:
    """Return all options in the order in which the extension module takes them."""
    anisotropy = to_int(options.max_anisotropy, "max_anisotropy")
    if anisotropy < 0:
        raise ValueError("max_anisotropy must be >= 0")
    modes = [
        *_address_modes(options.address_mode),
        to_member("filter_mode", options.filter_mode, FilterModeType),
        to_member("read_mode", options.read_mode, ReadModeType),
    ]
    mipmap_filter = to_member("mipmap_filter_mode", options.mipmap_filter_mode, FilterModeType)
    return (
        *map(index_of, modes),
        to_bool(options.normalized_coords, "normalized_coords"),
        to_bool(options.srgb, "srgb"),
        to_bool(options.disable_trilinear_optimization, "disable_trilinear_optimization"),
        to_bool(options.seamless_cubemap, "seamless_cubemap"),
        min(anisotropy, 16),  # as the driver takes more
        index_of(mipmap_filter),
        _level("mipmap_level_bias", options.mipmap_level_bias),
        _level("min_mipmap_level_clamp", options.min_mipmap_level_clamp),
        _level("max_mipmap_level_clamp", options.max_mipmap_level_clamp),
        *_border_color(options.border_color),
    )
