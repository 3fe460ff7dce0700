# SPDX-License-Identifier: Apache-2.0
"""Bits and comparisons of tiles."""
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from cudacore.tile._language_function import language_function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cudacore.tile._language_array import TileOrScalar


@language_function
def bitwise_and(x: TileOrScalar, y: TileOrScalar, /) -> TileOrScalar:
    """Give the bits that both have. ``x & y`` does the same.

    Parameters
    ----------
    x : Tile or scalar
        Integers or booleans.
    y : Tile or scalar
        The same dtype; shapes broadcast.

    Returns
    -------
    Tile or scalar
        Of the common shape.

    Raises
    ------
    TileTypeError
        Other dtypes, or two different ones.

    Examples
    --------
    In a kernel::

        t = ct.bitwise_and(a, b)  # a & b
    """


@language_function
def bitwise_or(x: TileOrScalar, y: TileOrScalar, /) -> TileOrScalar:
    """Give the bits that either has. ``x | y`` does the same.

    Parameters
    ----------
    x : Tile or scalar
        Integers or booleans.
    y : Tile or scalar
        The same dtype; shapes broadcast.

    Returns
    -------
    Tile or scalar
        Of the common shape.

    Raises
    ------
    TileTypeError
        Other dtypes, or two different ones.

    Examples
    --------
    In a kernel::

        t = ct.bitwise_or(a, b)  # a | b
    """


@language_function
def bitwise_xor(x: TileOrScalar, y: TileOrScalar, /) -> TileOrScalar:
    """Give the bits that one of them has. ``x ^ y`` does the same.

    Parameters
    ----------
    x : Tile or scalar
        Integers or booleans.
    y : Tile or scalar
        The same dtype; shapes broadcast.

    Returns
    -------
    Tile or scalar
        Of the common shape.

    Raises
    ------
    TileTypeError
        Other dtypes, or two different ones.

    Examples
    --------
    In a kernel::

        t = ct.bitwise_xor(a, b)  # a ^ b
    """


@language_function
def bitwise_lshift(x: TileOrScalar, y: TileOrScalar, /) -> TileOrScalar:
    """Shift bits to the left. ``x << y`` does the same.

    Parameters
    ----------
    x : Tile or scalar
        Integers.
    y : Tile or scalar
        By how many bits.

    Returns
    -------
    Tile or scalar
        Of the common shape, and of the dtype that both operands promote to.

    Raises
    ------
    TileTypeError
        Other dtypes than integers, or types that do not meet.

    Examples
    --------
    In a kernel::

        t = ct.bitwise_lshift(a, 2)  # a << 2
    """


@language_function
def bitwise_rshift(x: TileOrScalar, y: TileOrScalar, /) -> TileOrScalar:
    """Shift bits to the right; the sign is kept. ``x >> y`` does the same.

    Parameters
    ----------
    x : Tile or scalar
        Integers.
    y : Tile or scalar
        By how many bits.

    Returns
    -------
    Tile or scalar
        Of the common shape, and of the dtype that both operands promote to.

    Raises
    ------
    TileTypeError
        Other dtypes than integers, or types that do not meet.

    Examples
    --------
    In a kernel::

        t = ct.bitwise_rshift(a, 2)  # a >> 2
    """


@language_function
def bitwise_not(x: TileOrScalar, /) -> TileOrScalar:
    """Flip all bits; of booleans, negate.

    Parameters
    ----------
    x : Tile or scalar
        Integers or booleans.

    Returns
    -------
    Tile or scalar
        Of the same shape and dtype.

    Raises
    ------
    TileTypeError
        Floats.

    Examples
    --------
    In a kernel::

        t = ct.bitwise_not(a)  # ~a
    """


@language_function
def minimum(
    x: TileOrScalar,
    y: TileOrScalar,
    /,
    *,
    flush_to_zero: bool = False,
    propagate_nan: bool = False,
) -> TileOrScalar:
    """Give the lesser one of two, element by element. Python's ``min(x, y)`` does the same.

    Parameters
    ----------
    x : Tile or scalar
        The left operand.
    y : Tile or scalar
        The right one. Shapes broadcast, and dtypes promote.
    flush_to_zero : bool
        Treat denormal operands and results as zero; of ``float32`` only. Default: False.
    propagate_nan : bool
        Give NaN if any operand is NaN, instead of leaving NaN out. Default: False.

    Returns
    -------
    Tile or scalar
        Of the common shape, and of the dtype that both operands promote to.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        t = ct.minimum(a, 0)
    """


@language_function
def maximum(
    x: TileOrScalar,
    y: TileOrScalar,
    /,
    *,
    flush_to_zero: bool = False,
    propagate_nan: bool = False,
) -> TileOrScalar:
    """Give the greater one of two, element by element. Python's ``max(x, y)`` does the same.

    Parameters
    ----------
    x : Tile or scalar
        The left operand.
    y : Tile or scalar
        The right one. Shapes broadcast, and dtypes promote.
    flush_to_zero : bool
        Treat denormal operands and results as zero; of ``float32`` only. Default: False.
    propagate_nan : bool
        Give NaN if any operand is NaN, instead of leaving NaN out. Default: False.

    Returns
    -------
    Tile or scalar
        Of the common shape, and of the dtype that both operands promote to.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        t = ct.maximum(a, 0)
    """


@language_function
def greater(x: TileOrScalar, y: TileOrScalar, /) -> TileOrScalar:
    """Tell whether the left is greater, element by element. ``x > y`` does the same.

    Parameters
    ----------
    x : Tile or scalar
        The left operand.
    y : Tile or scalar
        The right one. Shapes broadcast, and dtypes promote.

    Returns
    -------
    Tile or scalar
        Booleans of the common shape.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        mask = ct.greater(a, b)  # a > b
    """


@language_function
def greater_equal(x: TileOrScalar, y: TileOrScalar, /) -> TileOrScalar:
    """Tell whether the left is greater or equal, element by element. ``x >= y`` does the same.

    Parameters
    ----------
    x : Tile or scalar
        The left operand.
    y : Tile or scalar
        The right one. Shapes broadcast, and dtypes promote.

    Returns
    -------
    Tile or scalar
        Booleans of the common shape.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        mask = ct.greater_equal(a, b)  # a >= b
    """


@language_function
def less(x: TileOrScalar, y: TileOrScalar, /) -> TileOrScalar:
    """Tell whether the left is less, element by element. ``x < y`` does the same.

    Parameters
    ----------
    x : Tile or scalar
        The left operand.
    y : Tile or scalar
        The right one. Shapes broadcast, and dtypes promote.

    Returns
    -------
    Tile or scalar
        Booleans of the common shape.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        mask = ct.less(a, b)  # a < b
    """


@language_function
def less_equal(x: TileOrScalar, y: TileOrScalar, /) -> TileOrScalar:
    """Tell whether the left is less or equal, element by element. ``x <= y`` does the same.

    Parameters
    ----------
    x : Tile or scalar
        The left operand.
    y : Tile or scalar
        The right one. Shapes broadcast, and dtypes promote.

    Returns
    -------
    Tile or scalar
        Booleans of the common shape.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        mask = ct.less_equal(a, b)  # a <= b
    """


@language_function
def equal(x: TileOrScalar, y: TileOrScalar, /) -> TileOrScalar:
    """Tell whether both are equal, element by element. ``x == y`` does the same.

    Parameters
    ----------
    x : Tile or scalar
        The left operand.
    y : Tile or scalar
        The right one. Shapes broadcast, and dtypes promote.

    Returns
    -------
    Tile or scalar
        Booleans of the common shape.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        mask = ct.equal(a, b)  # a == b
    """


@language_function
def not_equal(x: TileOrScalar, y: TileOrScalar, /) -> TileOrScalar:
    """Tell whether they differ, element by element. ``x != y`` does the same.

    Parameters
    ----------
    x : Tile or scalar
        The left operand.
    y : Tile or scalar
        The right one. Shapes broadcast, and dtypes promote.

    Returns
    -------
    Tile or scalar
        Booleans of the common shape.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        mask = ct.not_equal(a, b)  # a != b
    """
