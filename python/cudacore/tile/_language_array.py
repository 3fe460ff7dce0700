# SPDX-License-Identifier: Apache-2.0
"""Arrays, as a kernel's source speaks of them."""
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from cudacore._public import public
from cudacore.tile._language_function import language_function
from cudacore.tile._language_raw import RawArrayMemory
from cudacore.tile._language_tile import Order, Scalar, Shape, Tile, TileOrScalar
from cudacore.tile._language_view import TiledView
from cudacore.tile._mode import PaddingMode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import SupportsIndex

    from cudacore.tile._dtype import DType

__all__ = [
    "Array",
    "Order",
    "RawArrayMemory",
    "Scalar",
    "Shape",
    "Slice",
    "Tile",
    "TileOrScalar",
    "TiledView",
]


@public("cudacore.tile")
class Array:
    """An array in global memory, as a parameter of a kernel has it.

    On the host, pass anything with ``__cuda_array_interface__`` or ``__dlpack__``.

    Examples
    --------
    In a kernel::

        rows, columns = x.shape
        t = ct.load(x, (0, 0), shape=(4, 4))
    """

    @property
    def dtype(self) -> DType:
        """Give the data type of its elements.

        Returns
        -------
        DType
            A constant.

        Examples
        --------
        In a kernel::

            t = ct.zeros((4,), x.dtype)
        """

    @property
    def shape(self) -> tuple[int, ...]:
        """Give how many elements there are along each axis.

        Returns
        -------
        tuple of int32
            Of ``int64`` for arrays annotated so.

        Examples
        --------
        In a kernel::

            rows, columns = x.shape
        """

    @property
    def strides(self) -> tuple[int, ...]:
        """Give the distance of neighbors along each axis, in elements.

        Returns
        -------
        tuple of int32
            Of ``int64`` for arrays annotated so.

        Examples
        --------
        In a kernel::

            step = x.strides[0]
        """

    @property
    def ndim(self) -> int:
        """Give the number of axes.

        Returns
        -------
        int
            A constant.

        Examples
        --------
        In a kernel::

            ct.static_assert(x.ndim == 2)
        """

    @language_function
    def slice(self, axis: int, start: SupportsIndex, stop: SupportsIndex) -> Array:
        """Give a part of the array along an axis, without copying.

        ``0 <= start <= stop <= shape[axis]`` must hold. Only constants are checked: a slice that
        reaches out of the array is undefined behavior. Where neighbors may be missing, as in a
        stencil, use ``ct.gather``.

        Parameters
        ----------
        axis : int
            The axis; a constant.
        start : int
            The first element along it.
        stop : int
            One past the last element.

        Returns
        -------
        Array
            Of extent ``stop - start`` along the axis.

        Raises
        ------
        TileTypeError
            Not signed integers, or constants out of order.

        Examples
        --------
        In a kernel::

            part = x.slice(0, ct.bid(0) * 16, ct.bid(0) * 16 + 16)
        """

    @language_function
    def tiled_view(
        self,
        tile_shape: Shape,
        *,
        padding_mode: PaddingMode = PaddingMode.UNDETERMINED,
        traversal_steps: Shape | None = None,
    ) -> TiledView:
        """Cut the array into tiles of one shape.

        Parameters
        ----------
        tile_shape : int or tuple of int
            Constants, powers of two, one for each axis.
        padding_mode : PaddingMode
            The value of elements beyond the array's end. Default: unspecified.
        traversal_steps : int or tuple of int, optional
            How far apart tiles begin along each axis, in elements: constants. Default:
            ``tile_shape``, so that tiles neither overlap nor leave gaps.

        Returns
        -------
        TiledView
            The tiles.

        Raises
        ------
        TileTypeError
            A type or a shape does not fit.

        Examples
        --------
        In a kernel::

            tiles = x.tiled_view((4, 8), traversal_steps=(2, 8))
            t = tiles.load((ct.bid(0), 0))
        """

    @language_function
    def get_raw_memory(self) -> RawArrayMemory:
        """Give access to elements by their distance from the first one.

        Returns
        -------
        RawArrayMemory
            The memory.

        Examples
        --------
        In a kernel::

            memory = x.get_raw_memory()
            t = memory.load_offset(ct.arange(8, dtype=ct.int32))
        """


@public("cudacore.tile")
class Slice:
    """Neighboring elements along an axis, for ``load_advanced_indexing``.

    Parameters
    ----------
    start : int
        The first element.
    length : int
        How many; a constant power of two.

    Examples
    --------
    In a kernel::

        t = ct.load_advanced_indexing(x, (rows, ct.Slice(0, 16)))
    """

    @language_function
    def __init__(self, start: SupportsIndex, length: int, /) -> None:
        """Refuse: slices are made in kernels."""
