# SPDX-License-Identifier: Apache-2.0
"""Shaping and converting tiles."""
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from cudacore.tile._language_function import language_function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cudacore.tile._dtype import DType
    from cudacore.tile._language_array import Shape, Tile, TileOrScalar
    from cudacore.tile._mode import RoundingMode


@language_function
def cat(tiles: tuple[Tile, ...], /, axis: int) -> Tile:
    """Join two tiles along an axis.

    Parameters
    ----------
    tiles : tuple of Tile
        One or two tiles of one dtype, whose shapes differ at most along the axis.
    axis : int
        The axis; a constant.

    Returns
    -------
    Tile
        As long along the axis as both together: a power of two.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        t = ct.cat((a, b), 0)
    """


@language_function
def expand_dims(x: TileOrScalar, /, axis: int) -> Tile:
    """Add an axis of extent 1. ``x[:, None]`` does the like.

    Parameters
    ----------
    x : Tile
        The tile.
    axis : int
        Where it is in the result; a constant.

    Returns
    -------
    Tile
        Of one axis more.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        column = ct.expand_dims(a, 1)
    """


@language_function
def broadcast_to(x: TileOrScalar, /, shape: Shape) -> Tile:
    """Repeat elements along axes of extent 1 and along new leading axes.

    Parameters
    ----------
    x : Tile
        The tile.
    shape : tuple of int
        The shape wanted: constants, powers of two.

    Returns
    -------
    Tile
        Of the shape.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        t = ct.broadcast_to(a[:, None], (8, 4, 8))
    """


@language_function
def reshape(x: TileOrScalar, /, shape: Shape) -> Tile:
    """Give the elements in another shape.

    Parameters
    ----------
    x : Tile
        The tile.
    shape : tuple of int
        Constants, powers of two; one may be -1, which stands for what is left.

    Returns
    -------
    Tile
        Of the shape, with the elements in the same order.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        t = ct.reshape(a, (4, -1))
    """


@language_function
def permute(x: Tile, /, axes: tuple[int, ...]) -> Tile:
    """Reorder the axes.

    Parameters
    ----------
    x : Tile
        The tile.
    axes : tuple of int
        Which axis of the tile each axis of the result is; constants.

    Returns
    -------
    Tile
        With the axes reordered.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        t = ct.permute(a, (2, 0, 1))
    """


@language_function
def transpose(x: Tile, /, axis0: int | None = None, axis1: int | None = None) -> Tile:
    """Swap two axes.

    Parameters
    ----------
    x : Tile
        The tile.
    axis0 : int, optional
        One axis; a constant.
    axis1 : int, optional
        The other one. Both may be left out for a tile of two axes.

    Returns
    -------
    Tile
        With the axes swapped.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        t = ct.transpose(a)
    """


@language_function
def astype(x: TileOrScalar, dtype: DType, /, *, rounding_mode: RoundingMode | None = None) -> Tile:
    """Convert to a data type.

    Floats become integers toward zero; a number that is not zero becomes True.

    Parameters
    ----------
    x : Tile
        The tile.
    dtype : DType
        The data type.
    rounding_mode : RoundingMode, optional
        From floats to floats only; which ones there are depends on both types. Default:
        ``RN``.

    Returns
    -------
    Tile
        Of the same shape.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        t = ct.astype(a, ct.float16)
    """


@language_function
def bitcast(x: TileOrScalar, /, dtype: DType) -> Tile:
    """Take the bits of each element as of another data type.

    Parameters
    ----------
    x : Tile
        The tile.
    dtype : DType
        A type of as many bits; not ``bool_``.

    Returns
    -------
    Tile
        Of the same shape.

    Raises
    ------
    TileTypeError
        Booleans, or types of different sizes.

    Examples
    --------
    In a kernel::

        bits = ct.bitcast(a, ct.uint32)
    """


@language_function
def pack_to_bytes(x: Tile, /) -> Tile:
    """Give the bytes of all elements, in order.

    Parameters
    ----------
    x : Tile
        The tile.

    Returns
    -------
    Tile
        Of ``uint8``, of one axis.

    Raises
    ------
    TileTypeError
        Booleans, or a number of bits that is no multiple of 8.

    Examples
    --------
    In a kernel::

        data = ct.pack_to_bytes(a)
    """


@language_function
def unpack_from_bytes(x: Tile, /, dtype: DType) -> Tile:
    """Make elements of bytes.

    Parameters
    ----------
    x : Tile
        Bytes: of ``uint8``, of one axis.
    dtype : DType
        The type of the elements; not ``bool_``.

    Returns
    -------
    Tile
        Of one axis.

    Raises
    ------
    TileTypeError
        Another tile, booleans, or bytes that are no whole number of elements.

    Examples
    --------
    In a kernel::

        a = ct.unpack_from_bytes(data, ct.float4_e2m1fn)
    """


@language_function
def where(cond: TileOrScalar, x: TileOrScalar, y: TileOrScalar, /) -> Tile:
    """Choose between two tiles, element by element.

    Parameters
    ----------
    cond : Tile or scalar
        Booleans.
    x : Tile or scalar
        What is taken where it is True.
    y : Tile or scalar
        What is taken elsewhere. Shapes broadcast, and dtypes promote.

    Returns
    -------
    Tile
        Of the common shape.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        t = ct.where(a > 0, a, 0)
    """


@language_function
def extract(x: Tile, /, index: Shape, shape: Shape) -> Tile:
    """Give a block of a tile that is cut into blocks of one shape.

    Parameters
    ----------
    x : Tile
        The tile.
    index : int or tuple of int
        Which block, one index for each axis: it begins at the element ``index * shape``.
    shape : int or tuple of int
        The shape of the block: constants that divide the extents of the tile. The empty
        shape gives a scalar.

    Returns
    -------
    Tile
        Of the shape.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        left = ct.extract(a, (0, 0), (8, 4))
    """


@language_function
def insert(x: Tile, /, index: Shape, value: TileOrScalar) -> Tile:
    """Replace a block of a tile that is cut into blocks of one shape.

    Parameters
    ----------
    x : Tile
        The tile.
    index : int or tuple of int
        Which block, one index for each axis: it begins at the element ``index * shape``.
    value : Tile
        The block; its extents divide those of the tile. A scalar is a block of one element.

    Returns
    -------
    Tile
        The tile with the block replaced.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        a = ct.insert(a, (0, 1), ct.zeros((8, 4), a.dtype))
    """
