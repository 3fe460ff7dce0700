# SPDX-License-Identifier: Apache-2.0
"""Making tiles."""
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from cudacore.tile._language_function import language_function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cudacore.tile._dtype import DType
    from cudacore.tile._language_tile import Scalar, Shape, Tile


@language_function
def arange(size: int, /, *, dtype: DType, start: Scalar = 0, step: Scalar = 1) -> Tile:
    """Make a tile of equally spaced numbers.

    Parameters
    ----------
    size : int
        How many; a constant power of two.
    dtype : DType
        The data type.
    start : scalar
        The first one. Default: 0.
    step : scalar
        The distance of neighbors. Default: 1.

    Returns
    -------
    Tile
        Of one axis.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        t = ct.arange(4, dtype=ct.int32, start=2)  # [2, 3, 4, 5]
    """


@language_function
def full(shape: Shape, fill_value: Scalar, dtype: DType) -> Tile:
    """Make a tile filled with a number.

    Parameters
    ----------
    shape : int or tuple of int
        Constants, powers of two.
    fill_value : scalar
        The number; it is converted to the dtype.
    dtype : DType
        The data type.

    Returns
    -------
    Tile
        Of the shape.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.
    TileValueError
        The dtype has nothing for the constant.

    Examples
    --------
    In a kernel::

        t = ct.full((4, 8), 0.5, ct.float32)
    """


@language_function
def ones(shape: Shape, dtype: DType) -> Tile:
    """Make a tile filled with 1.

    Parameters
    ----------
    shape : int or tuple of int
        Constants, powers of two.
    dtype : DType
        The data type.

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

        t = ct.ones((4, 8), ct.float32)
    """


@language_function
def zeros(shape: Shape, dtype: DType) -> Tile:
    """Make a tile filled with 0.

    Parameters
    ----------
    shape : int or tuple of int
        Constants, powers of two.
    dtype : DType
        The data type.

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

        acc = ct.zeros((64, 64), ct.float32)
    """


@language_function
def astile(value: object, /, *, dtype: DType) -> Tile:
    """Make a tile of scalars.

    Parameters
    ----------
    value : scalar or tuple
        A scalar, or tuples of scalars in tuples; all tuples of one depth have one length, a
        power of two.
    dtype : DType
        The data type.

    Returns
    -------
    Tile
        Of as many axes as the tuples are deep.

    Raises
    ------
    TileTypeError
        Other lengths, or what is no scalar.

    Examples
    --------
    In a kernel::

        t = ct.astile(((1, 2), (3, 4)), dtype=ct.int32)
    """
