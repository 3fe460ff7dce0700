# SPDX-License-Identifier: Apache-2.0
"""Annotations of a kernel's parameters."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar, get_origin

from cudacore._public import public
from cudacore.tile._dataclass import dataclass
from cudacore.tile._dtype import DType, int32, int64

T = TypeVar("T")


@public("cudacore.tile")
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


@public("cudacore.tile")
@dataclass(frozen=True)
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

    index_dtype: DType
    static_shape_dims: tuple[int, ...]
    static_stride_dims: tuple[int, ...]

    def __init__(
        self,
        *,
        index_dtype: DType = int32,
        static_shape_dims: tuple[int, ...] = (),
        static_stride_dims: tuple[int, ...] = (),
    ) -> None:
        if index_dtype not in (int32, int64):
            raise ValueError(f"`index_dtype` must be int32 or int64, got {index_dtype}")
        named = (
            ("static_shape_dims", static_shape_dims),
            ("static_stride_dims", static_stride_dims),
        )
        for name, axes in named:
            if not isinstance(axes, tuple):
                raise TypeError(f"`{name}` must be a tuple of integers, got {axes!r}")
            for i, axis in enumerate(axes):
                if isinstance(axis, bool) or not isinstance(axis, int):
                    raise TypeError(f"Element #{i} of `{name}` must be int, got {axis}")
        self.__dict__.update(index_dtype=index_dtype, **dict(named))


@public("cudacore.tile")
@dataclass(frozen=True)
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

    def __init__(self, *, dtype: DType) -> None:
        if dtype not in (int32, int64):
            raise ValueError(f"`dtype` must be int32 or int64, got {dtype}")
        self.__dict__.update(dtype=dtype)


@public("cudacore.tile")
@dataclass(frozen=True)
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

    def __init__(self, *, element: Any) -> None:
        if get_origin(element) is Annotated:
            found = [each for each in element.__metadata__ if isinstance(each, ArrayAnnotation)]
            if len(found) != 1:
                what = "no ArrayAnnotation" if not found else "more than one ArrayAnnotation"
                raise TypeError(
                    f"`element` must contain exactly one ArrayAnnotation; {element!r} has {what}"
                )
            element = found[0]
        elif not isinstance(element, ArrayAnnotation):
            raise TypeError(f"`element` must be an ArrayAnnotation, got {type(element).__name__}")
        self.__dict__.update(element=element)


IndexedWithInt64 = Annotated[T, ArrayAnnotation(index_dtype=int64)]
ScalarInt64 = Annotated[T, ScalarAnnotation(dtype=int64)]
