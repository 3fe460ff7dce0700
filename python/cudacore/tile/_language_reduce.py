# SPDX-License-Identifier: Apache-2.0
"""Reductions and scans of tiles."""
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from cudacore.tile._language_function import language_function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from cudacore.tile._language_array import Tile
    from cudacore.tile._mode import RoundingMode


@language_function
def sum(
    x: Tile,
    /,
    axis: int | tuple[int, ...] | None = None,
    *,
    keepdims: bool = False,
    rounding_mode: RoundingMode | None = None,
    flush_to_zero: bool = False,
) -> Tile:
    """Add elements along axes.

    Unlike NumPy's, the result has the dtype of the tile, also for small integers, and wraps:
    write ``ct.sum(a.astype(ct.int32))`` to compute in 32 bits.

    Parameters
    ----------
    x : Tile
        The tile.
    axis : int, tuple of int, or None
        Which axes; constants. Default: all.
    keepdims : bool
        Whether the axes stay, of extent 1. Default: False.
    rounding_mode : RoundingMode, optional
        ``RN`` (default), ``RZ``, ``RM`` or ``RP``, for floats.
    flush_to_zero : bool
        Treat denormal operands and results as zero; of ``float32`` only. Default: False.

    Returns
    -------
    Tile
        Without the axes, or a scalar. Booleans count as ``int32``.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        t = ct.sum(a, axis=1, keepdims=True)
    """


@language_function
def prod(
    x: Tile,
    /,
    axis: int | tuple[int, ...] | None = None,
    *,
    keepdims: bool = False,
    rounding_mode: RoundingMode | None = None,
    flush_to_zero: bool = False,
) -> Tile:
    """Multiply elements along axes.

    Unlike NumPy's, the result has the dtype of the tile, also for small integers, and wraps:
    write ``ct.prod(a.astype(ct.int32))`` to compute in 32 bits.

    Parameters
    ----------
    x : Tile
        The tile.
    axis : int, tuple of int, or None
        Which axes; constants. Default: all.
    keepdims : bool
        Whether the axes stay, of extent 1. Default: False.
    rounding_mode : RoundingMode, optional
        ``RN`` (default), ``RZ``, ``RM`` or ``RP``, for floats.
    flush_to_zero : bool
        Treat denormal operands and results as zero; of ``float32`` only. Default: False.

    Returns
    -------
    Tile
        Without the axes, or a scalar. Booleans count as ``int32``.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        t = ct.prod(a, axis=1, keepdims=True)
    """


@language_function
def max(
    x: Tile,
    /,
    axis: int | tuple[int, ...] | None = None,
    *,
    keepdims: bool = False,
    flush_to_zero: bool = False,
    propagate_nan: bool = False,
) -> Tile:
    """Give the greatest elements along axes.

    Parameters
    ----------
    x : Tile
        The tile.
    axis : int, tuple of int, or None
        Which axes; constants. Default: all.
    keepdims : bool
        Whether the axes stay, of extent 1. Default: False.
    flush_to_zero : bool
        Treat denormal operands and results as zero; of ``float32`` only. Default: False.
    propagate_nan : bool
        Give NaN if any operand is NaN, instead of leaving NaN out. Default: False.

    Returns
    -------
    Tile
        Without the axes, or a scalar. Booleans count as ``int32``.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        t = ct.max(a, axis=1, keepdims=True)
    """


@language_function
def min(
    x: Tile,
    /,
    axis: int | tuple[int, ...] | None = None,
    *,
    keepdims: bool = False,
    flush_to_zero: bool = False,
    propagate_nan: bool = False,
) -> Tile:
    """Give the least elements along axes.

    Parameters
    ----------
    x : Tile
        The tile.
    axis : int, tuple of int, or None
        Which axes; constants. Default: all.
    keepdims : bool
        Whether the axes stay, of extent 1. Default: False.
    flush_to_zero : bool
        Treat denormal operands and results as zero; of ``float32`` only. Default: False.
    propagate_nan : bool
        Give NaN if any operand is NaN, instead of leaving NaN out. Default: False.

    Returns
    -------
    Tile
        Without the axes, or a scalar. Booleans count as ``int32``.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        t = ct.min(a, axis=1, keepdims=True)
    """


@language_function
def argmax(
    x: Tile, /, axis: int | None = None, *, keepdims: bool = False, propagate_nan: bool = False
) -> Tile:
    """Give the indices of the greatest elements.

    Parameters
    ----------
    x : Tile
        The tile.
    axis : int, optional
        Along which axis; a constant. Default: in the order of all elements.
    keepdims : bool
        Whether the axes stay, of extent 1. Default: False.
    propagate_nan : bool
        Whether NaN counts as what is looked for, instead of as the last choice. Default:
        False.

    Returns
    -------
    Tile
        Of ``int32``: of elements that are equal, the first one's index.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        i = ct.argmax(a, axis=1)
    """


@language_function
def argmin(
    x: Tile, /, axis: int | None = None, *, keepdims: bool = False, propagate_nan: bool = False
) -> Tile:
    """Give the indices of the least elements.

    Parameters
    ----------
    x : Tile
        The tile.
    axis : int, optional
        Along which axis; a constant. Default: in the order of all elements.
    keepdims : bool
        Whether the axes stay, of extent 1. Default: False.
    propagate_nan : bool
        Whether NaN counts as what is looked for, instead of as the last choice. Default:
        False.

    Returns
    -------
    Tile
        Of ``int32``: of elements that are equal, the first one's index.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        i = ct.argmin(a, axis=1)
    """


@language_function
def reduce(
    x: Tile | tuple[Tile, ...],
    /,
    axis: int,
    func: Callable[..., Any],
    identity: Any,
    *,
    keepdims: bool = False,
) -> Any:
    """Combine elements along an axis by a function of your own.

    Parameters
    ----------
    x : Tile or tuple of Tile
        A tile, or several whose shapes broadcast.
    axis : int
        The axis; a constant.
    func : callable
        It combines two values: of two scalars it gives one. For N tiles, it takes N scalars
        of one group and N of the other, and gives a tuple of N. It must be associative.
    identity : number or tuple of numbers
        What changes nothing when combined; constants, one for each tile.
    keepdims : bool
        Whether the axes stay, of extent 1. Default: False.

    Returns
    -------
    Tile or tuple of Tile
        Without the axis.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.
    TileSyntaxError
        The function touches memory, branches or loops.

    Examples
    --------
    In a kernel::

        t = ct.reduce(a, 0, lambda p, q: p + q, 0)
    """


@language_function
def cumsum(
    x: Tile,
    /,
    axis: int = 0,
    *,
    reverse: bool = False,
    rounding_mode: RoundingMode | None = None,
    flush_to_zero: bool = False,
) -> Tile:
    """Give the sums of all elements up to each one.

    Unlike NumPy's, the result has the dtype of the tile, also for small integers, and wraps:
    write ``ct.cumsum(a.astype(ct.int32))`` to compute in 32 bits.

    Parameters
    ----------
    x : Tile
        The tile.
    axis : int
        Along which axis; a constant. Default: 0.
    reverse : bool
        Whether to begin at the end. Default: False.
    rounding_mode : RoundingMode, optional
        ``RN`` (default), ``RZ``, ``RM`` or ``RP``, for floats.
    flush_to_zero : bool
        Treat denormal operands and results as zero; of ``float32`` only. Default: False.

    Returns
    -------
    Tile
        Of the same shape; booleans count as ``int32``.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        t = ct.cumsum(a, axis=1)
    """


@language_function
def cumprod(
    x: Tile,
    /,
    axis: int = 0,
    *,
    reverse: bool = False,
    rounding_mode: RoundingMode | None = None,
    flush_to_zero: bool = False,
) -> Tile:
    """Give the products of all elements up to each one.

    Unlike NumPy's, the result has the dtype of the tile, also for small integers, and wraps:
    write ``ct.cumprod(a.astype(ct.int32))`` to compute in 32 bits.

    Parameters
    ----------
    x : Tile
        The tile.
    axis : int
        Along which axis; a constant. Default: 0.
    reverse : bool
        Whether to begin at the end. Default: False.
    rounding_mode : RoundingMode, optional
        ``RN`` (default), ``RZ``, ``RM`` or ``RP``, for floats.
    flush_to_zero : bool
        Treat denormal operands and results as zero; of ``float32`` only. Default: False.

    Returns
    -------
    Tile
        Of the same shape; booleans count as ``int32``.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        t = ct.cumprod(a, axis=1)
    """


@language_function
def scan(
    x: Tile | tuple[Tile, ...],
    /,
    axis: int,
    func: Callable[..., Any],
    identity: Any,
    *,
    reverse: bool = False,
) -> Any:
    """Combine all elements up to each one, by a function of your own.

    Parameters
    ----------
    x : Tile or tuple of Tile
        A tile, or several whose shapes broadcast.
    axis : int
        The axis; a constant.
    func : callable
        It combines two values: of two scalars it gives one. For N tiles, it takes N scalars
        of one group and N of the other, and gives a tuple of N. It must be associative.
    identity : number or tuple of numbers
        What changes nothing when combined; constants, one for each tile.
    reverse : bool
        Whether to begin at the end. Default: False.

    Returns
    -------
    Tile or tuple of Tile
        Of the same shape.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.
    TileSyntaxError
        The function touches memory, branches or loops.

    Examples
    --------
    In a kernel::

        t = ct.scan(a, 0, lambda p, q: p + q, 0)
    """
