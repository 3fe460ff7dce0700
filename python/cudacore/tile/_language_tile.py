# SPDX-License-Identifier: Apache-2.0
"""Tiles and scalars, as a kernel's source speaks of them."""
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from typing import Literal, Protocol

from cudacore._public import public
from cudacore.tile._language_function import language_function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cudacore.tile._dtype import DType
    from cudacore.tile._mode import RoundingMode


@public("cudacore.tile")
class Scalar(Protocol):
    """A number in a kernel: a constant, or a tile without axes.

    Annotations may name it; an ``int``, a ``float`` and a tile of shape ``()`` are scalars.
    """

    def __index__(self) -> int:
        """Stand as an index."""


@public("cudacore.tile")
class Tile:
    """A tile of a shape known while compiling: what a kernel computes with.

    A tile without axes is a scalar. Tiles don't change; every operation makes a new one.

    Examples
    --------
    In a kernel::

        t = ct.ones((4, 8), ct.float32)
        u = (t + 1).reshape((8, 4)).astype(ct.float16)
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

            u = ct.zeros((4,), t.dtype)
        """

    @property
    def shape(self) -> tuple[int, ...]:
        """Give its extents.

        Returns
        -------
        tuple of int
            Constants.

        Examples
        --------
        In a kernel::

            u = ct.ones(t.shape, ct.int32)
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

            ct.static_assert(t.ndim == 2)
        """

    @language_function
    def item(self) -> Tile:
        """Give the only element as a scalar.

        Returns
        -------
        Tile
            Of shape ``()``.

        Raises
        ------
        TileTypeError
            There are more elements.

        Examples
        --------
        In a kernel::

            s = ct.sum(t, keepdims=True).item()
        """

    @language_function
    def extract(self, index: Shape, shape: Shape) -> Tile:
        """Do what :func:`cudacore.tile.extract` does, of this tile.

        Examples
        --------
        In a kernel::

            upper_left = t.extract((0, 0), (4, 4))
        """

    @language_function
    def insert(self, index: Shape, value: TileOrScalar) -> Tile:
        """Do what :func:`cudacore.tile.insert` does, of this tile.

        Examples
        --------
        In a kernel::

            u = t.insert((1, 0), ct.zeros((4, 8), t.dtype))
        """

    @language_function
    def reshape(self, shape: Shape) -> Tile:
        """Do what :func:`cudacore.tile.reshape` does, of this tile.

        Examples
        --------
        In a kernel::

            u = t.reshape((16, 4))
        """

    @language_function
    def permute(self, axes: tuple[int, ...]) -> Tile:
        """Do what :func:`cudacore.tile.permute` does, of this tile.

        Examples
        --------
        In a kernel::

            u = t.reshape((2, 4, 8)).permute((2, 0, 1))
        """

    @language_function
    def transpose(self, axis0: int | None = None, axis1: int | None = None) -> Tile:
        """Do what :func:`cudacore.tile.transpose` does, of this tile.

        Examples
        --------
        In a kernel::

            u = t.transpose()
        """

    @language_function
    def astype(self, dtype: DType, *, rounding_mode: RoundingMode | None = None) -> Tile:
        """Do what :func:`cudacore.tile.astype` does, of this tile.

        Examples
        --------
        In a kernel::

            u = t.astype(ct.float16)
        """

    def __index__(self) -> int:
        """Refuse: an index of Python is known before the kernel runs, a tile is not."""
        raise TypeError("a tile has no value while compiling")

    @language_function
    def __getitem__(self, index: object) -> Tile:
        """Add axes where the index has None; ``:`` and ``...`` stand for axes of the tile."""

    @language_function
    def __add__(self, other: TileOrScalar) -> Tile:
        """Compute ``self + other``."""

    @language_function
    def __radd__(self, other: TileOrScalar) -> Tile:
        """Compute ``other + self``."""

    @language_function
    def __sub__(self, other: TileOrScalar) -> Tile:
        """Compute ``self - other``."""

    @language_function
    def __rsub__(self, other: TileOrScalar) -> Tile:
        """Compute ``other - self``."""

    @language_function
    def __mul__(self, other: TileOrScalar) -> Tile:
        """Compute ``self * other``."""

    @language_function
    def __rmul__(self, other: TileOrScalar) -> Tile:
        """Compute ``other * self``."""

    @language_function
    def __truediv__(self, other: TileOrScalar) -> Tile:
        """Compute ``self / other``."""

    @language_function
    def __rtruediv__(self, other: TileOrScalar) -> Tile:
        """Compute ``other / self``."""

    @language_function
    def __floordiv__(self, other: TileOrScalar) -> Tile:
        """Compute ``self // other``."""

    @language_function
    def __rfloordiv__(self, other: TileOrScalar) -> Tile:
        """Compute ``other // self``."""

    @language_function
    def __mod__(self, other: TileOrScalar) -> Tile:
        """Compute ``self % other``."""

    @language_function
    def __rmod__(self, other: TileOrScalar) -> Tile:
        """Compute ``other % self``."""

    @language_function
    def __pow__(self, other: TileOrScalar) -> Tile:
        """Compute ``self ** other``."""

    @language_function
    def __rpow__(self, other: TileOrScalar) -> Tile:
        """Compute ``other ** self``."""

    @language_function
    def __and__(self, other: TileOrScalar) -> Tile:
        """Compute ``self & other``."""

    @language_function
    def __rand__(self, other: TileOrScalar) -> Tile:
        """Compute ``other & self``."""

    @language_function
    def __or__(self, other: TileOrScalar) -> Tile:
        """Compute ``self | other``."""

    @language_function
    def __ror__(self, other: TileOrScalar) -> Tile:
        """Compute ``other | self``."""

    @language_function
    def __xor__(self, other: TileOrScalar) -> Tile:
        """Compute ``self ^ other``."""

    @language_function
    def __rxor__(self, other: TileOrScalar) -> Tile:
        """Compute ``other ^ self``."""

    @language_function
    def __lshift__(self, other: TileOrScalar) -> Tile:
        """Compute ``self << other``."""

    @language_function
    def __rlshift__(self, other: TileOrScalar) -> Tile:
        """Compute ``other << self``."""

    @language_function
    def __rshift__(self, other: TileOrScalar) -> Tile:
        """Compute ``self >> other``."""

    @language_function
    def __rrshift__(self, other: TileOrScalar) -> Tile:
        """Compute ``other >> self``."""

    @language_function
    def __matmul__(self, other: TileOrScalar) -> Tile:
        """Compute ``self @ other``."""

    @language_function
    def __rmatmul__(self, other: TileOrScalar) -> Tile:
        """Compute ``other @ self``."""

    @language_function
    def __divmod__(self, other: TileOrScalar) -> tuple[Tile, Tile]:
        """Compute ``divmod(self, other)``."""

    @language_function
    def __rdivmod__(self, other: TileOrScalar) -> tuple[Tile, Tile]:
        """Compute ``divmod(other, self)``."""

    @language_function
    def __ge__(self, other: TileOrScalar) -> Tile:
        """Compute ``self >= other``."""

    @language_function
    def __gt__(self, other: TileOrScalar) -> Tile:
        """Compute ``self > other``."""

    @language_function
    def __le__(self, other: TileOrScalar) -> Tile:
        """Compute ``self <= other``."""

    @language_function
    def __lt__(self, other: TileOrScalar) -> Tile:
        """Compute ``self < other``."""

    @language_function
    def __eq__(self, other: object) -> Tile:  # type: ignore[override]
        """Compute ``self == other``."""

    @language_function
    def __ne__(self, other: object) -> Tile:  # type: ignore[override]
        """Compute ``self != other``."""

    __hash__ = None  # type: ignore[assignment]

    @language_function
    def __neg__(self) -> Tile:
        """Compute ``-self``."""

    @language_function
    def __pos__(self) -> Tile:
        """Compute ``+self``."""

    @language_function
    def __invert__(self) -> Tile:
        """Compute ``~self``."""


Shape = int | tuple[int, ...]
Order = tuple[int, ...] | Literal["C", "F"]
TileOrScalar = Tile | Scalar | int | float
