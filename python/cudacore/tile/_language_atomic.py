# SPDX-License-Identifier: Apache-2.0
"""Atomic operations on arrays, in the tile language."""
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from cudacore.tile._language_function import language_function
from cudacore.tile._mode import MemoryOrder, MemoryScope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cudacore.tile._language_array import Array, Tile, TileOrScalar


@language_function
def atomic_cas(
    array: Array,
    indices: object,
    expected: TileOrScalar,
    desired: TileOrScalar,
    /,
    *,
    check_bounds: bool = True,
    memory_order: MemoryOrder = MemoryOrder.ACQ_REL,
    memory_scope: MemoryScope = MemoryScope.DEVICE,
) -> Tile:
    """Replace elements that are equal to an expected value.

    Each element is changed atomically, in no particular order; the tile as a whole is not.

    Parameters
    ----------
    array : Array
        The array, of integers or floats of 32 or 64 bits.
    indices : tuple, tile or scalar
        Indices of elements: integers, one for each axis of the array, of shapes that
        broadcast to a common one.
        A single one does for an array of one axis.
    expected : Tile or scalar
        What elements are compared with.
    desired : Tile or scalar
        What replaces them.
    check_bounds : bool
        Whether indices may be out of the array: nothing happens there. Default: True.
    memory_order : MemoryOrder
        ``RELAXED``, ``ACQUIRE``, ``RELEASE`` or ``ACQ_REL`` (default).
    memory_scope : MemoryScope
        The threads that it is atomic for. Default: ``DEVICE``.

    Returns
    -------
    Tile
        The elements before; ``expected`` where the index is out of the array.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        while ct.atomic_cas(lock, 0, 0, 1) != 0:
            pass
    """


@language_function
def atomic_xchg(
    array: Array,
    indices: object,
    update: TileOrScalar,
    /,
    *,
    check_bounds: bool = True,
    memory_order: MemoryOrder = MemoryOrder.ACQ_REL,
    memory_scope: MemoryScope = MemoryScope.DEVICE,
) -> Tile:
    """Replace elements of an array.

    Each element is changed atomically, in no particular order; the tile as a whole is not.

    Parameters
    ----------
    array : Array
        The array, of integers or floats of 32 or 64 bits.
    indices : tuple, tile or scalar
        Indices of elements: integers, one for each axis of the array, of shapes that
        broadcast to a common one.
        A single one does for an array of one axis.
    update : Tile or scalar
        The operand; it broadcasts to the common shape.
    check_bounds : bool
        Whether indices may be out of the array: nothing happens there. Default: True.
    memory_order : MemoryOrder
        ``RELAXED``, ``ACQUIRE``, ``RELEASE`` or ``ACQ_REL`` (default).
    memory_scope : MemoryScope
        The threads that it is atomic for. Default: ``DEVICE``.

    Returns
    -------
    Tile
        The elements before.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        ct.atomic_xchg(x, ct.arange(8, dtype=ct.int32), 1)
    """


@language_function
def atomic_add(
    array: Array,
    indices: object,
    update: TileOrScalar,
    /,
    *,
    check_bounds: bool = True,
    memory_order: MemoryOrder = MemoryOrder.ACQ_REL,
    memory_scope: MemoryScope = MemoryScope.DEVICE,
) -> Tile:
    """Add to elements of an array.

    Each element is changed atomically, in no particular order; the tile as a whole is not.

    Parameters
    ----------
    array : Array
        The array, of integers of 32 or 64 bits or of any float type with arithmetic.
    indices : tuple, tile or scalar
        Indices of elements: integers, one for each axis of the array, of shapes that
        broadcast to a common one.
        A single one does for an array of one axis.
    update : Tile or scalar
        The operand; it broadcasts to the common shape.
    check_bounds : bool
        Whether indices may be out of the array: nothing happens there. Default: True.
    memory_order : MemoryOrder
        ``RELAXED``, ``ACQUIRE``, ``RELEASE`` or ``ACQ_REL`` (default).
    memory_scope : MemoryScope
        The threads that it is atomic for. Default: ``DEVICE``.

    Returns
    -------
    Tile
        The elements before.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        ct.atomic_add(x, ct.arange(8, dtype=ct.int32), 1)
    """


@language_function
def atomic_max(
    array: Array,
    indices: object,
    update: TileOrScalar,
    /,
    *,
    check_bounds: bool = True,
    memory_order: MemoryOrder = MemoryOrder.ACQ_REL,
    memory_scope: MemoryScope = MemoryScope.DEVICE,
) -> Tile:
    """Raise elements of an array to at least a value.

    Each element is changed atomically, in no particular order; the tile as a whole is not.

    Parameters
    ----------
    array : Array
        The array, of integers of 32 or 64 bits.
    indices : tuple, tile or scalar
        Indices of elements: integers, one for each axis of the array, of shapes that
        broadcast to a common one.
        A single one does for an array of one axis.
    update : Tile or scalar
        The operand; it broadcasts to the common shape.
    check_bounds : bool
        Whether indices may be out of the array: nothing happens there. Default: True.
    memory_order : MemoryOrder
        ``RELAXED``, ``ACQUIRE``, ``RELEASE`` or ``ACQ_REL`` (default).
    memory_scope : MemoryScope
        The threads that it is atomic for. Default: ``DEVICE``.

    Returns
    -------
    Tile
        The elements before.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        ct.atomic_max(x, ct.arange(8, dtype=ct.int32), 1)
    """


@language_function
def atomic_min(
    array: Array,
    indices: object,
    update: TileOrScalar,
    /,
    *,
    check_bounds: bool = True,
    memory_order: MemoryOrder = MemoryOrder.ACQ_REL,
    memory_scope: MemoryScope = MemoryScope.DEVICE,
) -> Tile:
    """Lower elements of an array to at most a value.

    Each element is changed atomically, in no particular order; the tile as a whole is not.

    Parameters
    ----------
    array : Array
        The array, of integers of 32 or 64 bits.
    indices : tuple, tile or scalar
        Indices of elements: integers, one for each axis of the array, of shapes that
        broadcast to a common one.
        A single one does for an array of one axis.
    update : Tile or scalar
        The operand; it broadcasts to the common shape.
    check_bounds : bool
        Whether indices may be out of the array: nothing happens there. Default: True.
    memory_order : MemoryOrder
        ``RELAXED``, ``ACQUIRE``, ``RELEASE`` or ``ACQ_REL`` (default).
    memory_scope : MemoryScope
        The threads that it is atomic for. Default: ``DEVICE``.

    Returns
    -------
    Tile
        The elements before.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        ct.atomic_min(x, ct.arange(8, dtype=ct.int32), 1)
    """


@language_function
def atomic_and(
    array: Array,
    indices: object,
    update: TileOrScalar,
    /,
    *,
    check_bounds: bool = True,
    memory_order: MemoryOrder = MemoryOrder.ACQ_REL,
    memory_scope: MemoryScope = MemoryScope.DEVICE,
) -> Tile:
    """Keep the bits of elements that a value has as well.

    Each element is changed atomically, in no particular order; the tile as a whole is not.

    Parameters
    ----------
    array : Array
        The array, of integers of 32 or 64 bits.
    indices : tuple, tile or scalar
        Indices of elements: integers, one for each axis of the array, of shapes that
        broadcast to a common one.
        A single one does for an array of one axis.
    update : Tile or scalar
        The operand; it broadcasts to the common shape. Its dtype must be that of the array.
    check_bounds : bool
        Whether indices may be out of the array: nothing happens there. Default: True.
    memory_order : MemoryOrder
        ``RELAXED``, ``ACQUIRE``, ``RELEASE`` or ``ACQ_REL`` (default).
    memory_scope : MemoryScope
        The threads that it is atomic for. Default: ``DEVICE``.

    Returns
    -------
    Tile
        The elements before.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        ct.atomic_and(x, ct.arange(8, dtype=ct.int32), ct.full((8,), 1, x.dtype))
    """


@language_function
def atomic_or(
    array: Array,
    indices: object,
    update: TileOrScalar,
    /,
    *,
    check_bounds: bool = True,
    memory_order: MemoryOrder = MemoryOrder.ACQ_REL,
    memory_scope: MemoryScope = MemoryScope.DEVICE,
) -> Tile:
    """Set the bits of a value in elements of an array.

    Each element is changed atomically, in no particular order; the tile as a whole is not.

    Parameters
    ----------
    array : Array
        The array, of integers of 32 or 64 bits.
    indices : tuple, tile or scalar
        Indices of elements: integers, one for each axis of the array, of shapes that
        broadcast to a common one.
        A single one does for an array of one axis.
    update : Tile or scalar
        The operand; it broadcasts to the common shape. Its dtype must be that of the array.
    check_bounds : bool
        Whether indices may be out of the array: nothing happens there. Default: True.
    memory_order : MemoryOrder
        ``RELAXED``, ``ACQUIRE``, ``RELEASE`` or ``ACQ_REL`` (default).
    memory_scope : MemoryScope
        The threads that it is atomic for. Default: ``DEVICE``.

    Returns
    -------
    Tile
        The elements before.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        ct.atomic_or(x, ct.arange(8, dtype=ct.int32), ct.full((8,), 1, x.dtype))
    """


@language_function
def atomic_xor(
    array: Array,
    indices: object,
    update: TileOrScalar,
    /,
    *,
    check_bounds: bool = True,
    memory_order: MemoryOrder = MemoryOrder.ACQ_REL,
    memory_scope: MemoryScope = MemoryScope.DEVICE,
) -> Tile:
    """Flip the bits of a value in elements of an array.

    Each element is changed atomically, in no particular order; the tile as a whole is not.

    Parameters
    ----------
    array : Array
        The array, of integers of 32 or 64 bits.
    indices : tuple, tile or scalar
        Indices of elements: integers, one for each axis of the array, of shapes that
        broadcast to a common one.
        A single one does for an array of one axis.
    update : Tile or scalar
        The operand; it broadcasts to the common shape. Its dtype must be that of the array.
    check_bounds : bool
        Whether indices may be out of the array: nothing happens there. Default: True.
    memory_order : MemoryOrder
        ``RELAXED``, ``ACQUIRE``, ``RELEASE`` or ``ACQ_REL`` (default).
    memory_scope : MemoryScope
        The threads that it is atomic for. Default: ``DEVICE``.

    Returns
    -------
    Tile
        The elements before.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        ct.atomic_xor(x, ct.arange(8, dtype=ct.int32), ct.full((8,), 1, x.dtype))
    """
