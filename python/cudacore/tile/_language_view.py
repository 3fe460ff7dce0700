# SPDX-License-Identifier: Apache-2.0
"""Arrays cut into tiles, as a kernel's source speaks of them."""
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from cudacore._public import public
from cudacore.tile._language_function import language_function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cudacore.tile._dtype import DType
    from cudacore.tile._language_tile import Shape, Tile, TileOrScalar


@public("cudacore.tile")
class TiledView:
    """An array cut into tiles of one shape; :meth:`Array.tiled_view` gives it.

    Examples
    --------
    In a kernel::

        tiles = x.tiled_view((1, 128), padding_mode=ct.PaddingMode.ZERO)
        for k in range(tiles.num_tiles(1)):
            tiles.store((ct.bid(0), k), tiles.load((ct.bid(0), k)) * 2)
    """

    @property
    def dtype(self) -> DType:
        """Give the data type of the elements.

        Returns
        -------
        DType
            A constant.

        Examples
        --------
        In a kernel::

            t = ct.zeros((4,), tiles.dtype)
        """

    @property
    def tile_shape(self) -> tuple[int, ...]:
        """Give the shape of the tiles.

        Returns
        -------
        tuple of int
            Constants.

        Examples
        --------
        In a kernel::

            rows, columns = tiles.tile_shape
        """

    @property
    def traversal_steps(self) -> tuple[int, ...]:
        """Give how far apart tiles begin along each axis.

        Returns
        -------
        tuple of int
            In elements; constants.

        Examples
        --------
        In a kernel::

            ct.static_assert(tiles.traversal_steps == tiles.tile_shape)
        """

    @language_function
    def num_tiles(self, axis: int) -> int:
        """Give how many tiles it takes to cover the array along an axis.

        Parameters
        ----------
        axis : int
            The axis; a constant.

        Returns
        -------
        int32
            The extent divided by the step, rounded up.

        Raises
        ------
        TileTypeError
            A type or a shape does not fit.

        Examples
        --------
        In a kernel::

            n = tiles.num_tiles(0)
        """

    @language_function
    def load(
        self,
        index: Shape,
        *,
        check_bounds: bool = True,
        latency: int | None = None,
        allow_tma: bool | None = None,
    ) -> Tile:
        """Load a tile.

        Parameters
        ----------
        index : int or tuple of int
            Which tile, one index for each axis.
        check_bounds : bool
            Whether the tile may reach out of the array. If False, reaching out is undefined
            behavior. Default: True.
        latency : int, optional
            A hint, 1 to 10: how long the access is expected to take.
        allow_tma : bool, optional
            A hint whether the tensor memory accelerator may be used.

        Returns
        -------
        Tile
            Of the shape of the tiles.

        Raises
        ------
        TileTypeError
            A type or a shape does not fit.

        Examples
        --------
        In a kernel::

            t = tiles.load((ct.bid(0), 0))
        """

    @language_function
    def store(
        self,
        index: Shape,
        tile: TileOrScalar,
        *,
        check_bounds: bool = True,
        latency: int | None = None,
        allow_tma: bool | None = None,
    ) -> None:
        """Store a tile.

        Parameters
        ----------
        index : int or tuple of int
            Which tile, one index for each axis.
        tile : Tile or scalar
            What to store; it broadcasts to the shape of the tiles.
        check_bounds : bool
            Whether the tile may reach out of the array: that part is left out. If False, that
            is undefined. Default: True.
        latency : int, optional
            A hint, 1 to 10: how long the access is expected to take.
        allow_tma : bool, optional
            A hint whether the tensor memory accelerator may be used.

        Raises
        ------
        TileTypeError
            A type or a shape does not fit.

        Examples
        --------
        In a kernel::

            tiles.store((ct.bid(0), 0), 0)
        """

    @language_function
    def atomic_store_add(self, index: Shape, update: TileOrScalar, /) -> None:
        """Add a tile to the array.

        Each element is changed atomically, for the threads of the device; elements out of the
        array are left out.

        Parameters
        ----------
        index : int or tuple of int
            Which tile, one index for each axis.
        update : Tile or scalar
            The operand; it broadcasts to the shape of the tiles.

        Raises
        ------
        TileTypeError
            A type or a shape does not fit.

        Examples
        --------
        In a kernel::

            tiles.atomic_store_add((0, 0), 1)
        """

    @language_function
    def atomic_store_max(self, index: Shape, update: TileOrScalar, /) -> None:
        """Raise elements of the array to at least those of a tile.

        Each element is changed atomically, for the threads of the device; elements out of the
        array are left out.

        Parameters
        ----------
        index : int or tuple of int
            Which tile, one index for each axis.
        update : Tile or scalar
            The operand; it broadcasts to the shape of the tiles.

        Raises
        ------
        TileTypeError
            A type or a shape does not fit.

        Examples
        --------
        In a kernel::

            tiles.atomic_store_max((0, 0), 1)
        """

    @language_function
    def atomic_store_min(self, index: Shape, update: TileOrScalar, /) -> None:
        """Lower elements of the array to at most those of a tile.

        Each element is changed atomically, for the threads of the device; elements out of the
        array are left out.

        Parameters
        ----------
        index : int or tuple of int
            Which tile, one index for each axis.
        update : Tile or scalar
            The operand; it broadcasts to the shape of the tiles.

        Raises
        ------
        TileTypeError
            A type or a shape does not fit.

        Examples
        --------
        In a kernel::

            tiles.atomic_store_min((0, 0), 1)
        """

    @language_function
    def atomic_store_and(self, index: Shape, update: TileOrScalar, /) -> None:
        """Keep the bits of elements that a tile has as well.

        Each element is changed atomically, for the threads of the device; elements out of the
        array are left out.

        Parameters
        ----------
        index : int or tuple of int
            Which tile, one index for each axis.
        update : Tile or scalar
            The operand; it broadcasts to the shape of the tiles.

        Raises
        ------
        TileTypeError
            A type or a shape does not fit.

        Examples
        --------
        In a kernel::

            tiles.atomic_store_and((0, 0), ct.uint32(1))
        """

    @language_function
    def atomic_store_or(self, index: Shape, update: TileOrScalar, /) -> None:
        """Set the bits of a tile in elements of the array.

        Each element is changed atomically, for the threads of the device; elements out of the
        array are left out.

        Parameters
        ----------
        index : int or tuple of int
            Which tile, one index for each axis.
        update : Tile or scalar
            The operand; it broadcasts to the shape of the tiles.

        Raises
        ------
        TileTypeError
            A type or a shape does not fit.

        Examples
        --------
        In a kernel::

            tiles.atomic_store_or((0, 0), ct.uint32(1))
        """

    @language_function
    def atomic_store_xor(self, index: Shape, update: TileOrScalar, /) -> None:
        """Flip the bits of a tile in elements of the array.

        Each element is changed atomically, for the threads of the device; elements out of the
        array are left out.

        Parameters
        ----------
        index : int or tuple of int
            Which tile, one index for each axis.
        update : Tile or scalar
            The operand; it broadcasts to the shape of the tiles.

        Raises
        ------
        TileTypeError
            A type or a shape does not fit.

        Examples
        --------
        In a kernel::

            tiles.atomic_store_xor((0, 0), ct.uint32(1))
        """
