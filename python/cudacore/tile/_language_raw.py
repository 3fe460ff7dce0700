# SPDX-License-Identifier: Apache-2.0
"""The memory of an array, as a kernel's source speaks of it."""
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from cudacore._public import public
from cudacore.tile._language_function import language_function
from cudacore.tile._mode import MemoryOrder, MemoryScope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cudacore.tile._dtype import DType
    from cudacore.tile._language_tile import Tile, TileOrScalar


@public("cudacore.tile")
class RawArrayMemory:
    """Elements of an array by their distance from its first one; shape and strides don't count.

    :meth:`Array.get_raw_memory` gives it.

    Examples
    --------
    In a kernel::

        memory = x.get_raw_memory()
        t = memory.load_offset(ct.arange(8, dtype=ct.int32))
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

            t = ct.zeros((4,), memory.dtype)
        """

    @language_function
    def load_offset(
        self,
        offset: TileOrScalar,
        /,
        *,
        mask: Tile | None = None,
        padding_value: TileOrScalar = 0,
        latency: int | None = None,
    ) -> Tile:
        """Load elements.

        Parameters
        ----------
        offset : Tile or scalar
            Distances from the first element, in elements: integers.
        mask : Tile, optional
            Booleans that broadcast to the shape of the offsets; where False, memory is not
            touched.
        padding_value : Tile or scalar
            What stands where the mask is False. Default: 0.
        latency : int, optional
            A hint, 1 to 10: how long the access is expected to take.

        Returns
        -------
        Tile
            Of the shape of the offsets.

        Raises
        ------
        TileTypeError
            A type or a shape does not fit.

        Examples
        --------
        In a kernel::

            t = memory.load_offset(ct.arange(8, dtype=ct.int32))
        """

    @language_function
    def store_offset(
        self,
        offset: TileOrScalar,
        value: TileOrScalar,
        /,
        *,
        mask: Tile | None = None,
        latency: int | None = None,
    ) -> None:
        """Store elements.

        Parameters
        ----------
        offset : Tile or scalar
            Distances from the first element, in elements: integers.
        value : Tile or scalar
            What to store; it broadcasts to the shape of the offsets.
        mask : Tile, optional
            Booleans that broadcast to the shape of the offsets; where False, memory is not
            touched.
        latency : int, optional
            A hint, 1 to 10: how long the access is expected to take.

        Raises
        ------
        TileTypeError
            A type or a shape does not fit.

        Examples
        --------
        In a kernel::

            memory.store_offset(ct.arange(8, dtype=ct.int32), 0)
        """

    @language_function
    def atomic_cas_offset(
        self,
        offset: TileOrScalar,
        expected: TileOrScalar,
        desired: TileOrScalar,
        /,
        *,
        mask: Tile | None = None,
        memory_order: MemoryOrder = MemoryOrder.ACQ_REL,
        memory_scope: MemoryScope = MemoryScope.DEVICE,
    ) -> Tile:
        """Replace elements that are equal to an expected value, as ``atomic_cas`` does.

        Parameters
        ----------
        offset : Tile or scalar
            Distances from the first element, in elements: integers.
        expected : Tile or scalar
            What elements are compared with.
        desired : Tile or scalar
            What replaces them.
        mask : Tile, optional
            Booleans that broadcast to the shape of the offsets; where False, memory is not
            touched.
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

            before = memory.atomic_cas_offset(0, 0, 1)
        """

    @language_function
    def atomic_xchg_offset(
        self,
        offset: TileOrScalar,
        update: TileOrScalar,
        /,
        *,
        mask: Tile | None = None,
        memory_order: MemoryOrder = MemoryOrder.ACQ_REL,
        memory_scope: MemoryScope = MemoryScope.DEVICE,
    ) -> Tile:
        """Replace elements, as ``atomic_xchg`` does.

        Parameters
        ----------
        offset : Tile or scalar
            Distances from the first element, in elements: integers.
        update : Tile or scalar
            The operand; it broadcasts to the shape of the offsets.
        mask : Tile, optional
            Booleans that broadcast to the shape of the offsets; where False, memory is not
            touched.
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

            before = memory.atomic_xchg_offset(0, 1)
        """

    @language_function
    def atomic_add_offset(
        self,
        offset: TileOrScalar,
        update: TileOrScalar,
        /,
        *,
        mask: Tile | None = None,
        memory_order: MemoryOrder = MemoryOrder.ACQ_REL,
        memory_scope: MemoryScope = MemoryScope.DEVICE,
    ) -> Tile:
        """Add to elements, as ``atomic_add`` does.

        Parameters
        ----------
        offset : Tile or scalar
            Distances from the first element, in elements: integers.
        update : Tile or scalar
            The operand; it broadcasts to the shape of the offsets.
        mask : Tile, optional
            Booleans that broadcast to the shape of the offsets; where False, memory is not
            touched.
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

            before = memory.atomic_add_offset(0, 1)
        """

    @language_function
    def atomic_max_offset(
        self,
        offset: TileOrScalar,
        update: TileOrScalar,
        /,
        *,
        mask: Tile | None = None,
        memory_order: MemoryOrder = MemoryOrder.ACQ_REL,
        memory_scope: MemoryScope = MemoryScope.DEVICE,
    ) -> Tile:
        """Raise elements to at least a value, as ``atomic_max`` does.

        Parameters
        ----------
        offset : Tile or scalar
            Distances from the first element, in elements: integers.
        update : Tile or scalar
            The operand; it broadcasts to the shape of the offsets.
        mask : Tile, optional
            Booleans that broadcast to the shape of the offsets; where False, memory is not
            touched.
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

            before = memory.atomic_max_offset(0, 1)
        """

    @language_function
    def atomic_min_offset(
        self,
        offset: TileOrScalar,
        update: TileOrScalar,
        /,
        *,
        mask: Tile | None = None,
        memory_order: MemoryOrder = MemoryOrder.ACQ_REL,
        memory_scope: MemoryScope = MemoryScope.DEVICE,
    ) -> Tile:
        """Lower elements to at most a value, as ``atomic_min`` does.

        Parameters
        ----------
        offset : Tile or scalar
            Distances from the first element, in elements: integers.
        update : Tile or scalar
            The operand; it broadcasts to the shape of the offsets.
        mask : Tile, optional
            Booleans that broadcast to the shape of the offsets; where False, memory is not
            touched.
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

            before = memory.atomic_min_offset(0, 1)
        """

    @language_function
    def atomic_and_offset(
        self,
        offset: TileOrScalar,
        update: TileOrScalar,
        /,
        *,
        mask: Tile | None = None,
        memory_order: MemoryOrder = MemoryOrder.ACQ_REL,
        memory_scope: MemoryScope = MemoryScope.DEVICE,
    ) -> Tile:
        """Keep the bits of elements that a value has as well, as ``atomic_and`` does.

        Parameters
        ----------
        offset : Tile or scalar
            Distances from the first element, in elements: integers.
        update : Tile or scalar
            The operand; it broadcasts to the shape of the offsets.
        mask : Tile, optional
            Booleans that broadcast to the shape of the offsets; where False, memory is not
            touched.
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

            before = memory.atomic_and_offset(0, ct.uint32(1))
        """

    @language_function
    def atomic_or_offset(
        self,
        offset: TileOrScalar,
        update: TileOrScalar,
        /,
        *,
        mask: Tile | None = None,
        memory_order: MemoryOrder = MemoryOrder.ACQ_REL,
        memory_scope: MemoryScope = MemoryScope.DEVICE,
    ) -> Tile:
        """Set the bits of a value in elements, as ``atomic_or`` does.

        Parameters
        ----------
        offset : Tile or scalar
            Distances from the first element, in elements: integers.
        update : Tile or scalar
            The operand; it broadcasts to the shape of the offsets.
        mask : Tile, optional
            Booleans that broadcast to the shape of the offsets; where False, memory is not
            touched.
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

            before = memory.atomic_or_offset(0, ct.uint32(1))
        """

    @language_function
    def atomic_xor_offset(
        self,
        offset: TileOrScalar,
        update: TileOrScalar,
        /,
        *,
        mask: Tile | None = None,
        memory_order: MemoryOrder = MemoryOrder.ACQ_REL,
        memory_scope: MemoryScope = MemoryScope.DEVICE,
    ) -> Tile:
        """Flip the bits of a value in elements, as ``atomic_xor`` does.

        Parameters
        ----------
        offset : Tile or scalar
            Distances from the first element, in elements: integers.
        update : Tile or scalar
            The operand; it broadcasts to the shape of the offsets.
        mask : Tile, optional
            Booleans that broadcast to the shape of the offsets; where False, memory is not
            touched.
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

            before = memory.atomic_xor_offset(0, ct.uint32(1))
        """
