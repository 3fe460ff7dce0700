# SPDX-License-Identifier: Apache-2.0
"""Mathematical functions of tiles."""
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from cudacore.tile._language_function import language_function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cudacore.tile._language_array import TileOrScalar
    from cudacore.tile._mode import RoundingMode


@language_function
def exp(x: TileOrScalar, /, *, rounding_mode: RoundingMode | None = None) -> TileOrScalar:
    """Raise e to a power.

    Parameters
    ----------
    x : Tile or scalar
        The operand.
    rounding_mode : RoundingMode, optional
        ``FULL`` (default) or ``APPROX``, for ``float32``.

    Returns
    -------
    Tile or scalar
        Of the same shape; of ``float32`` for integers, else of the same dtype.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        t = ct.exp(a - ct.max(a))
    """


@language_function
def exp2(x: TileOrScalar, /, *, flush_to_zero: bool = False) -> TileOrScalar:
    """Raise 2 to a power.

    Parameters
    ----------
    x : Tile or scalar
        The operand.
    flush_to_zero : bool
        Treat denormal operands and results as zero; of ``float32`` only. Default: False.

    Returns
    -------
    Tile or scalar
        Of the same shape; of ``float32`` for integers, else of the same dtype.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        t = ct.exp2(a)
    """


@language_function
def sqrt(
    x: TileOrScalar,
    /,
    *,
    rounding_mode: RoundingMode | None = None,
    flush_to_zero: bool = False,
) -> TileOrScalar:
    """Give the square root.

    Parameters
    ----------
    x : Tile or scalar
        The operand.
    rounding_mode : RoundingMode, optional
        ``RN`` (default), ``RZ``, ``RM`` or ``RP``, or ``APPROX`` for ``float32``.
    flush_to_zero : bool
        Treat denormal operands and results as zero; of ``float32`` only. Default: False.

    Returns
    -------
    Tile or scalar
        Of the same shape; of ``float32`` for integers, else of the same dtype.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        t = ct.sqrt(a)
    """


@language_function
def rsqrt(x: TileOrScalar, /, *, flush_to_zero: bool = False) -> TileOrScalar:
    """Give one over the square root.

    Parameters
    ----------
    x : Tile or scalar
        The operand.
    flush_to_zero : bool
        Treat denormal operands and results as zero; of ``float32`` only. Default: False.

    Returns
    -------
    Tile or scalar
        Of the same shape; of ``float32`` for integers, else of the same dtype.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        t = a * ct.rsqrt(ct.sum(a * a) / 128 + 1e-6)
    """


@language_function
def tanh(x: TileOrScalar, /, *, rounding_mode: RoundingMode | None = None) -> TileOrScalar:
    """Give the hyperbolic tangent.

    Parameters
    ----------
    x : Tile or scalar
        The operand.
    rounding_mode : RoundingMode, optional
        ``FULL`` (default) or ``APPROX``, for ``float32``.

    Returns
    -------
    Tile or scalar
        Of the same shape; of ``float32`` for integers, else of the same dtype.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        t = ct.tanh(a)
    """


@language_function
def log(x: TileOrScalar, /) -> TileOrScalar:
    """Give the natural logarithm.

    Parameters
    ----------
    x : Tile or scalar
        The operand.

    Returns
    -------
    Tile or scalar
        Of the same shape; of ``float32`` for integers, else of the same dtype.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        t = ct.log(a)
    """


@language_function
def log2(x: TileOrScalar, /) -> TileOrScalar:
    """Give the logarithm to base 2.

    Parameters
    ----------
    x : Tile or scalar
        The operand.

    Returns
    -------
    Tile or scalar
        Of the same shape; of ``float32`` for integers, else of the same dtype.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        t = ct.log2(a)
    """


@language_function
def sin(x: TileOrScalar, /) -> TileOrScalar:
    """Give the sine of angles in radians.

    Parameters
    ----------
    x : Tile or scalar
        The operand.

    Returns
    -------
    Tile or scalar
        Of the same shape; of ``float32`` for integers, else of the same dtype.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        t = ct.sin(a)
    """


@language_function
def cos(x: TileOrScalar, /) -> TileOrScalar:
    """Give the cosine of angles in radians.

    Parameters
    ----------
    x : Tile or scalar
        The operand.

    Returns
    -------
    Tile or scalar
        Of the same shape; of ``float32`` for integers, else of the same dtype.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        t = ct.cos(a)
    """


@language_function
def tan(x: TileOrScalar, /) -> TileOrScalar:
    """Give the tangent of angles in radians.

    Parameters
    ----------
    x : Tile or scalar
        The operand.

    Returns
    -------
    Tile or scalar
        Of the same shape; of ``float32`` for integers, else of the same dtype.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        t = ct.tan(a)
    """


@language_function
def sinh(x: TileOrScalar, /) -> TileOrScalar:
    """Give the hyperbolic sine.

    Parameters
    ----------
    x : Tile or scalar
        The operand.

    Returns
    -------
    Tile or scalar
        Of the same shape; of ``float32`` for integers, else of the same dtype.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        t = ct.sinh(a)
    """


@language_function
def cosh(x: TileOrScalar, /) -> TileOrScalar:
    """Give the hyperbolic cosine.

    Parameters
    ----------
    x : Tile or scalar
        The operand.

    Returns
    -------
    Tile or scalar
        Of the same shape; of ``float32`` for integers, else of the same dtype.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        t = ct.cosh(a)
    """


@language_function
def floor(x: TileOrScalar, /) -> TileOrScalar:
    """Round down to integers, in the same float type.

    Parameters
    ----------
    x : Tile or scalar
        Floats.

    Returns
    -------
    Tile or scalar
        Of the same shape and dtype.

    Raises
    ------
    TileTypeError
        Integers or booleans.

    Examples
    --------
    In a kernel::

        t = ct.floor(a)
    """


@language_function
def ceil(x: TileOrScalar, /) -> TileOrScalar:
    """Round up to integers, in the same float type.

    Parameters
    ----------
    x : Tile or scalar
        Floats.

    Returns
    -------
    Tile or scalar
        Of the same shape and dtype.

    Raises
    ------
    TileTypeError
        Integers or booleans.

    Examples
    --------
    In a kernel::

        t = ct.ceil(a)
    """


@language_function
def abs(x: TileOrScalar, /) -> TileOrScalar:
    """Give the absolute value. Python's ``abs(x)`` does the same.

    Parameters
    ----------
    x : Tile or scalar
        The operand.

    Returns
    -------
    Tile or scalar
        Of the same shape and dtype.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        t = ct.abs(a)
    """


@language_function
def negative(x: TileOrScalar, /) -> TileOrScalar:
    """Change the sign. ``-x`` does the same.

    Parameters
    ----------
    x : Tile or scalar
        The operand.

    Returns
    -------
    Tile or scalar
        Of the same shape; of ``int32`` for booleans, else of the same dtype.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        t = ct.negative(a)  # -a
    """


@language_function
def isnan(x: TileOrScalar, /) -> TileOrScalar:
    """Tell where elements are not a number.

    Parameters
    ----------
    x : Tile or scalar
        Floats.

    Returns
    -------
    Tile or scalar
        Booleans of the same shape.

    Raises
    ------
    TileTypeError
        Integers or booleans.

    Examples
    --------
    In a kernel::

        t = ct.where(ct.isnan(a), 0.0, a)
    """
