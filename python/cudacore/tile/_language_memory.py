# SPDX-License-Identifier: Apache-2.0
"""Blocks, loads and stores, in the tile language."""
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from cudacore.tile._language_function import language_function
from cudacore.tile._mode import MemoryOrder, MemoryScope, PaddingMode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cudacore.tile._language_array import Array, Order, Scalar, Shape, Tile, TileOrScalar


@language_function
def bid(axis: int) -> int:
    """Give the index of this block in the grid.

    Parameters
    ----------
    axis : int
        0, 1 or 2; a constant.

    Returns
    -------
    int32
        From 0 to the number of blocks along the axis.

    Raises
    ------
    TileTypeError
        Another axis.

    Examples
    --------
    In a kernel::

        i = ct.bid(0)
    """


@language_function
def num_blocks(axis: int) -> int:
    """Give the number of blocks of the grid along an axis.

    Parameters
    ----------
    axis : int
        0, 1 or 2; a constant.

    Returns
    -------
    int32
        At least 1.

    Raises
    ------
    TileTypeError
        Another axis.

    Examples
    --------
    In a kernel::

        last = ct.bid(0) == ct.num_blocks(0) - 1
    """


@language_function
def num_tiles(array: Array, /, axis: int, shape: Shape, order: Order = "C") -> int:
    """Give how many tiles of a shape it takes to cover an array along an axis.

    Parameters
    ----------
    array : Array
        The array.
    axis : int
        The axis of the tile; a constant.
    shape : int or tuple of int
        The shape of the tile: constants, powers of two, one for each axis of the array. The
        empty shape gives a scalar.
    order : tuple of int, "C" or "F"
        Which axis of the array each axis of the tile lies along: "C" is the array's own
        order (default), "F" the reverse.

    Returns
    -------
    int32
        The extent divided by that of the tile, rounded up.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        for k in range(ct.num_tiles(x, 1, shape=(64, 32))):
            t = ct.load(x, (0, k), shape=(64, 32))
    """


@language_function
def assume_divisible_by(x: Scalar, divisor: int) -> Scalar:
    """Promise that an integer is a multiple of another one.

    The compiler may use wider accesses to memory for it. If the promise is broken, the kernel
    is undefined.

    Parameters
    ----------
    x : scalar
        An integer.
    divisor : int
        A positive constant.

    Returns
    -------
    scalar
        ``x``.

    Raises
    ------
    TileTypeError
        ``x`` is not an integer, a constant that is no multiple, or the divisor is not positive.

    Examples
    --------
    In a kernel::

        start = ct.assume_divisible_by(ct.bid(0) * 128, 128)
    """


@language_function
def load(
    array: Array,
    /,
    index: Shape,
    shape: Shape,
    *,
    order: Order = "C",
    padding_mode: PaddingMode = PaddingMode.UNDETERMINED,
    check_bounds: bool = True,
    latency: int | None = None,
    allow_tma: bool | None = None,
    memory_order: MemoryOrder = MemoryOrder.WEAK,
    memory_scope: MemoryScope = MemoryScope.NONE,
) -> Tile:
    """Load a tile of an array that is cut into tiles of one shape.

    Indices count tiles, from 0; -1 is not the last tile but one before the array.

    Parameters
    ----------
    array : Array
        The array.
    index : int or tuple of int
        Which tile, one index for each axis of the tile: it begins at the element ``index *
        shape``.
    shape : int or tuple of int
        The shape of the tile: constants, powers of two, one for each axis of the array. The
        empty shape gives a scalar.
    order : tuple of int, "C" or "F"
        Which axis of the array each axis of the tile lies along: "C" is the array's own
        order (default), "F" the reverse.
    padding_mode : PaddingMode
        The value of elements beyond the array's end. Default: unspecified.
    check_bounds : bool
        Whether the tile may reach out of the array. If False, reaching out is undefined
        behavior. Default: True.
    latency : int, optional
        A hint, 1 to 10: how long the load is expected to take.
    allow_tma : bool, optional
        A hint whether the tensor memory accelerator may be used.
    memory_order : MemoryOrder
        ``WEAK`` (default), ``RELAXED`` or ``ACQUIRE``.
    memory_scope : MemoryScope
        The threads that it holds for; ``NONE`` goes with ``WEAK`` only.

    Returns
    -------
    Tile
        Of the shape, and of the dtype of the array.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.
    TileValueError
        A latency out of range.

    Examples
    --------
    In a kernel::

        t = ct.load(x, (ct.bid(0), 0), shape=(1, 128), padding_mode=ct.PaddingMode.ZERO)
    """


@language_function
def store(
    array: Array,
    /,
    index: Shape,
    tile: TileOrScalar,
    *,
    order: Order = "C",
    check_bounds: bool = True,
    latency: int | None = None,
    allow_tma: bool | None = None,
    memory_order: MemoryOrder = MemoryOrder.WEAK,
    memory_scope: MemoryScope = MemoryScope.NONE,
) -> None:
    """Store a tile into an array that is cut into tiles of its shape.

    Elements outside of the array are left out. Indices count tiles, as those of `load` do.

    Parameters
    ----------
    array : Array
        The array.
    index : int or tuple of int
        Which tile, one index for each axis of the tile: it begins at the element ``index *
        shape``.
    tile : Tile or scalar
        What to store. It must convert to the dtype of the array by itself.
    order : tuple of int, "C" or "F"
        Which axis of the array each axis of the tile lies along: "C" is the array's own
        order (default), "F" the reverse.
    check_bounds : bool
        Whether the tile may reach out of the array. If False, reaching out is undefined
        behavior. Default: True.
    latency : int, optional
        A hint, 1 to 10: how long the store is expected to take.
    allow_tma : bool, optional
        A hint whether the tensor memory accelerator may be used.
    memory_order : MemoryOrder
        ``WEAK`` (default), ``RELAXED`` or ``RELEASE``.
    memory_scope : MemoryScope
        The threads that it holds for; ``NONE`` goes with ``WEAK`` only.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.
    TileValueError
        A latency or a constant out of range.

    Examples
    --------
    In a kernel::

        ct.store(y, (ct.bid(0), 0), ct.load(x, (ct.bid(0), 0), shape=(1, 128)) * 2)
    """


@language_function
def load_advanced_indexing(
    array: Array,
    indices: tuple[object, ...],
    /,
    *,
    padding_mode: PaddingMode = PaddingMode.UNDETERMINED,
    latency: int | None = None,
    allow_tma: bool | None = None,
) -> Tile:
    """Load rows that are anywhere in an array, or the like along another axis.

    Parameters
    ----------
    array : Array
        The array, of two axes or more.
    indices : tuple
        One for each axis of the array: one of them a tile of integers of one axis, which
        are indices of elements; each other one a :class:`Slice`.
    padding_mode : PaddingMode
        The value of elements beyond the array's end. Default: unspecified.
    latency : int, optional
        A hint, 1 to 10: how long the load is expected to take.
    allow_tma : bool, optional
        A hint whether the tensor memory accelerator may be used.

    Returns
    -------
    Tile
        As long along each axis as the index there.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        rows = ct.arange(4, dtype=ct.int32) * 2
        t = ct.load_advanced_indexing(x, (rows, ct.Slice(0, 16)))
    """


@language_function
def store_advanced_indexing(
    array: Array,
    indices: tuple[object, ...],
    tile: TileOrScalar,
    /,
    *,
    latency: int | None = None,
    allow_tma: bool | None = None,
) -> None:
    """Store rows anywhere in an array, or the like along another axis.

    Elements outside of the array are left out.

    Parameters
    ----------
    array : Array
        The array, of two axes or more.
    indices : tuple
        One for each axis of the array: one of them a tile of integers of one axis, which
        are indices of elements; each other one a :class:`Slice`.
    tile : Tile
        What to store, as long along each axis as the index there.
    latency : int, optional
        A hint, 1 to 10: how long the store is expected to take.
    allow_tma : bool, optional
        A hint whether the tensor memory accelerator may be used.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        rows = ct.arange(4, dtype=ct.int32) * 2
        ct.store_advanced_indexing(x, (rows, ct.Slice(0, 16)), ct.zeros((4, 16), ct.float32))
    """


@language_function
def gather(
    array: Array,
    indices: object,
    /,
    *,
    mask: TileOrScalar | None = None,
    padding_value: TileOrScalar = 0,
    check_bounds: bool = True,
    latency: int | None = None,
) -> Tile:
    """Load elements from anywhere in an array.

    Indices count elements. A negative one is out of the array, not counted from its end.

    Parameters
    ----------
    array : Array
        The array.
    indices : tuple, tile or scalar
        Integers, one for each axis of the array, of shapes that broadcast to a common one.
        A single one does for an array of one axis.
    mask : Tile, optional
        Booleans that broadcast to the common shape; where False, memory is not touched.
    padding_value : Tile or scalar
        What stands where the mask is False or the index is out of the array. Default: 0.
    check_bounds : bool
        Whether indices may be out of the array, negative ones among them. If False, an index
        out of the array is undefined behavior. Default: True.
    latency : int, optional
        A hint, 1 to 10: how long the load is expected to take.

    Returns
    -------
    Tile
        Of the common shape, and of the dtype of the array.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.
    TileValueError
        A constant is out of range.

    Examples
    --------
    In a kernel::

        columns = ct.arange(8, dtype=ct.int32)
        t = ct.gather(x, (ct.bid(0), columns), padding_value=1)
    """


@language_function
def scatter(
    array: Array,
    indices: object,
    value: TileOrScalar,
    /,
    *,
    mask: TileOrScalar | None = None,
    check_bounds: bool = True,
    latency: int | None = None,
) -> None:
    """Store elements anywhere in an array.

    Indices count elements; a negative one is out of the array. Elements out of the array are left
    out. Of values for one element, one is stored.

    Parameters
    ----------
    array : Array
        The array.
    indices : tuple, tile or scalar
        Integers, one for each axis of the array, of shapes that broadcast to a common one.
        A single one does for an array of one axis.
    value : Tile or scalar
        What to store; it broadcasts to the common shape.
    mask : Tile, optional
        Booleans that broadcast to the common shape; where False, memory is not touched.
    check_bounds : bool
        Whether indices may be out of the array, negative ones among them. If False, an index
        out of the array is undefined behavior. Default: True.
    latency : int, optional
        A hint, 1 to 10: how long the store is expected to take.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.
    TileValueError
        A constant is out of range.

    Examples
    --------
    In a kernel::

        ct.scatter(x, ct.arange(8, dtype=ct.int32) * 2, 1)
    """
