# SPDX-License-Identifier: Apache-2.0
"""Annotations of a kernel's parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, TypeVar, get_origin

from cudacore.tile._dtype import DType, int32, int64

T = TypeVar("T")


class ConstantAnnotation:
    """Marks a parameter whose value is part of the compiled kernel.

    Each new value compiles the kernel anew. ``Constant`` is the short way to write it.

    Examples
    --------
    >>> from typing import Annotated
    >>> import cudacore.tile as ct
    >>> Size = Annotated[int, ct.ConstantAnnotation()]
    """

    def __repr__(self) -> str:
        """Give the call that makes it."""
        return "ConstantAnnotation()"


Constant = Annotated[T, ConstantAnnotation()]


@dataclass(frozen=True, kw_only=True)
class ArrayAnnotation:
    """Says more about a parameter that is an array, within ``typing.Annotated``.

    Attributes
    ----------
    index_dtype : DType
        The type of its shape and its strides: ``int32``, or ``int64`` for arrays whose extents or
        strides are 2**31 or more.
    static_shape_dims : tuple of int
        Axes whose extents are part of the compiled kernel, and constants in it.
    static_stride_dims : tuple of int
        Axes whose strides are. If it names any axis, a stride of 1 of another axis is no longer
        found by itself: name the contiguous axis too.

    Raises
    ------
    TypeError
        The axes are not a tuple of integers.
    ValueError
        Another ``index_dtype``.

    Examples
    --------
    >>> from typing import Annotated
    >>> import cudacore.tile as ct
    >>> Rows = Annotated[ct.Array, ct.ArrayAnnotation(static_shape_dims=(-1,))]
    """

    index_dtype: DType = int32
    static_shape_dims: tuple[int, ...] = ()
    static_stride_dims: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Check the fields."""
        if self.index_dtype not in (int32, int64):
            raise ValueError(f"`index_dtype` must be int32 or int64, got {self.index_dtype}")
        for name in ("static_shape_dims", "static_stride_dims"):
            axes = getattr(self, name)
            if not isinstance(axes, tuple):
                raise TypeError(f"`{name}` must be a tuple of integers, got {axes!r}")
            for i, axis in enumerate(axes):
                if isinstance(axis, bool) or not isinstance(axis, int):
                    raise TypeError(f"Element #{i} of `{name}` must be int, got {axis}")


@dataclass(frozen=True, kw_only=True)
class ScalarAnnotation:
    """Says the type of a parameter that is an integer, within ``typing.Annotated``.

    Attributes
    ----------
    dtype : DType
        ``int32`` or ``int64``.

    Raises
    ------
    ValueError
        Another type.

    Examples
    --------
    >>> from typing import Annotated
    >>> import cudacore.tile as ct
    >>> Wide = Annotated[int, ct.ScalarAnnotation(dtype=ct.int64)]
    """

    dtype: DType

    def __post_init__(self) -> None:
        """Check the field."""
        if self.dtype not in (int32, int64):
            raise ValueError(f"`dtype` must be int32 or int64, got {self.dtype}")


@dataclass(frozen=True, kw_only=True)
class ListAnnotation:
    """Says more about a parameter that is a list of arrays, within ``typing.Annotated``.

    Attributes
    ----------
    element : ArrayAnnotation
        What holds for each array. An ``Annotated`` type with one such annotation does as well.

    Raises
    ------
    TypeError
        It is not an array's annotation, or the type has none or several.

    Examples
    --------
    >>> from typing import Annotated
    >>> import cudacore.tile as ct
    >>> Weights = Annotated[list, ct.ListAnnotation(element=ct.IndexedWithInt64)]
    """

    element: Any

    def __post_init__(self) -> None:
        """Find the array's annotation."""
        element = self.element
        if get_origin(element) is Annotated:
            found = [each for each in element.__metadata__ if isinstance(each, ArrayAnnotation)]
            if len(found) != 1:
                what = "no ArrayAnnotation" if not found else "more than one ArrayAnnotation"
                raise TypeError(
                    f"`element` must contain exactly one ArrayAnnotation; {element!r} has {what}"
                )
            object.__setattr__(self, "element", found[0])
        elif not isinstance(element, ArrayAnnotation):
            raise TypeError(f"`element` must be an ArrayAnnotation, got {type(element).__name__}")


IndexedWithInt64 = Annotated[T, ArrayAnnotation(index_dtype=int64)]
ScalarInt64 = Annotated[T, ScalarAnnotation(dtype=int64)]
