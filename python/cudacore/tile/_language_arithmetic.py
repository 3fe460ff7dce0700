# SPDX-License-Identifier: Apache-2.0
"""Arithmetic on tiles."""
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from cudacore.tile._language_function import host_callers, language_function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cudacore.tile._language_array import TileOrScalar
    from cudacore.tile._mode import RoundingMode


@language_function
def add(
    x: TileOrScalar,
    y: TileOrScalar,
    /,
    *,
    rounding_mode: RoundingMode | None = None,
    flush_to_zero: bool = False,
) -> TileOrScalar:
    """Add. ``x + y`` does the same.

    Parameters
    ----------
    x : Tile or scalar
        The left operand.
    y : Tile or scalar
        The right one. Shapes broadcast, and dtypes promote.
    rounding_mode : RoundingMode, optional
        ``RN``, ``RZ``, ``RM`` or ``RP``, for floats. Default: ``RN``.
    flush_to_zero : bool
        Treat denormal operands and results as zero; of ``float32`` only. Default: False.

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

        t = ct.add(a, b)  # a + b
    """


@language_function
def sub(
    x: TileOrScalar,
    y: TileOrScalar,
    /,
    *,
    rounding_mode: RoundingMode | None = None,
    flush_to_zero: bool = False,
) -> TileOrScalar:
    """Subtract. ``x - y`` does the same.

    Parameters
    ----------
    x : Tile or scalar
        The left operand.
    y : Tile or scalar
        The right one. Shapes broadcast, and dtypes promote.
    rounding_mode : RoundingMode, optional
        ``RN``, ``RZ``, ``RM`` or ``RP``, for floats. Default: ``RN``.
    flush_to_zero : bool
        Treat denormal operands and results as zero; of ``float32`` only. Default: False.

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

        t = ct.sub(a, b)  # a - b
    """


@language_function
def mul(
    x: TileOrScalar,
    y: TileOrScalar,
    /,
    *,
    rounding_mode: RoundingMode | None = None,
    flush_to_zero: bool = False,
) -> TileOrScalar:
    """Multiply. ``x * y`` does the same.

    Parameters
    ----------
    x : Tile or scalar
        The left operand.
    y : Tile or scalar
        The right one. Shapes broadcast, and dtypes promote.
    rounding_mode : RoundingMode, optional
        ``RN``, ``RZ``, ``RM`` or ``RP``, for floats. Default: ``RN``.
    flush_to_zero : bool
        Treat denormal operands and results as zero; of ``float32`` only. Default: False.

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

        t = ct.mul(a, b)  # a * b
    """


@language_function
def truediv(
    x: TileOrScalar,
    y: TileOrScalar,
    /,
    *,
    rounding_mode: RoundingMode | None = None,
    flush_to_zero: bool = False,
) -> TileOrScalar:
    """Divide; of integers, the result is ``float32``. ``x / y`` does the same.

    Parameters
    ----------
    x : Tile or scalar
        The left operand.
    y : Tile or scalar
        The right one. Shapes broadcast, and dtypes promote.
    rounding_mode : RoundingMode, optional
        ``RN``, ``RZ``, ``RM`` or ``RP``, or ``FULL`` or ``APPROX`` for ``float32``.
        Default: ``RN``.
    flush_to_zero : bool
        Treat denormal operands and results as zero; of ``float32`` only. Default: False.

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

        t = ct.truediv(a, b)  # a / b
    """


@language_function
def floordiv(x: TileOrScalar, y: TileOrScalar, /) -> TileOrScalar:
    """Divide and round down, as Python does. ``x // y`` does the same.

    Parameters
    ----------
    x : Tile or scalar
        The left operand.
    y : Tile or scalar
        The right one. Shapes broadcast, and dtypes promote.

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

        t = ct.floordiv(a, b)  # a // b
    """


@language_function
def mod(x: TileOrScalar, y: TileOrScalar, /) -> TileOrScalar:
    """Give the remainder of the division that rounds down. ``x % y`` does the same.

    As in Python, it has the sign of ``y``.

    Parameters
    ----------
    x : Tile or scalar
        The left operand.
    y : Tile or scalar
        The right one. Shapes broadcast, and dtypes promote.

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

        t = ct.mod(a, b)  # a % b
    """


@language_function
def divmod(x: TileOrScalar, y: TileOrScalar, /) -> tuple[TileOrScalar, TileOrScalar]:
    """Give the quotient rounded down and the remainder of integers.

    Parameters
    ----------
    x : Tile or scalar
        The left operand.
    y : Tile or scalar
        The right one. Shapes broadcast, and dtypes promote.

    Returns
    -------
    tuple of two tiles
        ``(x // y, x % y)``.

    Raises
    ------
    TileTypeError
        Floats or booleans, or types that do not meet.

    Examples
    --------
    In a kernel::

        row, column = ct.divmod(ct.bid(0), 16)
    """


@language_function
def _cdiv_of_tiles(x: TileOrScalar, y: TileOrScalar, /) -> TileOrScalar:
    """Divide and round up, in a kernel."""


def cdiv(x: TileOrScalar, y: TileOrScalar, /) -> TileOrScalar:
    """Divide integers and round up. The host can call it too.

    Parameters
    ----------
    x : int, Tile or scalar
        The dividend.
    y : int, Tile or scalar
        The divisor.

    Returns
    -------
    int, Tile or scalar
        The least integer that is not less than ``x / y``.

    Raises
    ------
    TileTypeError
        In a kernel: floats or booleans, or types that do not meet.

    Examples
    --------
    >>> import cudacore.tile as ct
    >>> ct.cdiv(9, 4)
    3
    """
    if host_callers and not (isinstance(x, int) and isinstance(y, int)):
        return _cdiv_of_tiles(x, y)
    return -(-x // y)  # type: ignore[operator]


@language_function
def pow(x: TileOrScalar, y: TileOrScalar, /) -> TileOrScalar:
    """Raise to a power. ``x ** y`` does the same.

    Parameters
    ----------
    x : Tile or scalar
        The left operand.
    y : Tile or scalar
        The right one. Shapes broadcast, and dtypes promote.

    Returns
    -------
    Tile or scalar
        Of the common shape, and of the dtype that both operands promote to.

    Raises
    ------
    TileTypeError
        Types do not meet, or an integer is raised to a negative constant.

    Examples
    --------
    In a kernel::

        t = ct.pow(a, 2)  # a ** 2
    """


@language_function
def atan2(x1: TileOrScalar, x2: TileOrScalar, /) -> TileOrScalar:
    """Give the angle of a point, from its coordinates.

    Parameters
    ----------
    x1 : Tile or scalar
        The vertical coordinate, of floats.
    x2 : Tile or scalar
        The horizontal one.

    Returns
    -------
    Tile or scalar
        In radians, from -pi to pi.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        angle = ct.atan2(y, x)
    """
