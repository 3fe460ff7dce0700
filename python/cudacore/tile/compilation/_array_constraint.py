# SPDX-License-Identifier: Apache-2.0
"""What a compiled kernel may assume of arrays, and of lists of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cudacore._public import public
from cudacore.tile._dataclass import dataclass
from cudacore.tile._dtype import DType, int32, int64, uint32

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@public("cudacore.tile.compilation")
@dataclass(frozen=True)
class ArrayConstraint:
    """An array, and what holds for every array that the compiled kernel is launched with.

    Parameters
    ----------
    dtype : DType
        The type of its elements.
    ndim : int
        The number of its dimensions.
    index_dtype : DType
        The type of its shape and strides: ``int32``, ``uint32``, or ``int64`` for arrays that pass
        2**31 in one of them.
    stride_lower_bound_incl : int, None or sequence of them
        The least stride of each dimension, or of all; None if there is none.
    alias_groups : sequence of str
        Parameters that have a group in common may overlap; all others don't.
    may_alias_internally : bool
        Whether two indices may show the same element, as with a stride of 0.
    stride_constant, shape_constant : sequence of int or None, optional
        The strides, in elements, and lengths that are compiled in; None for each that is not.
    stride_divisible_by, shape_divisible_by : int or sequence of int
        What the strides, in elements, and the lengths are multiples of.
    base_addr_divisible_by : int
        What the address is a multiple of, in bytes.

    Raises
    ------
    TypeError, ValueError
        An argument is of a wrong type, or doesn't fit `ndim` or another.

    Examples
    --------
    >>> import cudacore.tile as ct
    >>> from cudacore.tile.compilation import ArrayConstraint
    >>> rows = ArrayConstraint(
    ...     ct.float32,
    ...     2,
    ...     index_dtype=ct.int32,
    ...     stride_lower_bound_incl=0,
    ...     alias_groups=(),
    ...     may_alias_internally=False,
    ...     stride_constant=[None, 1],
    ... )
    >>> rows.ndim
    2
    """

    dtype: DType
    ndim: int
    index_dtype: DType
    stride_lower_bound_incl: tuple[int | None, ...]
    alias_groups: tuple[str, ...]
    may_alias_internally: bool
    stride_constant: tuple[int | None, ...]
    shape_constant: tuple[int | None, ...]
    stride_divisible_by: tuple[int, ...]
    shape_divisible_by: tuple[int, ...]
    base_addr_divisible_by: int

    def __init__(
        self,
        dtype: DType,
        ndim: int,
        *,
        index_dtype: DType,
        stride_lower_bound_incl: Sequence[int | None] | int | None,
        alias_groups: Sequence[str],
        may_alias_internally: bool,
        stride_constant: Sequence[int | None] | None = None,
        shape_constant: Sequence[int | None] | None = None,
        stride_divisible_by: Sequence[int] | int = 1,
        shape_divisible_by: Sequence[int] | int = 1,
        base_addr_divisible_by: int = 1,
    ) -> None:
        require_dtype(dtype)
        if not isinstance(ndim, int):
            raise TypeError(f"Expected an integer for `ndim`, got '{ndim}'")
        if ndim < 0:
            raise ValueError("`ndim` cannot be negative")
        if index_dtype not in {int32, uint32, int64}:
            raise ValueError(f"`index_dtype` must be int32 or int64, got {index_dtype}")
        if not isinstance(base_addr_divisible_by, int):
            raise TypeError(
                "Expected an integer for the `base_addr_divisible_by` parameter, "
                f"got {base_addr_divisible_by}"
            )
        if base_addr_divisible_by <= 0:
            raise ValueError(
                f"`base_addr_divisible_by` must be strictly positive, got {base_addr_divisible_by}"
            )
        strides = _each(stride_constant, ndim, "stride_constant", _optional_int)
        lengths = _each(shape_constant, ndim, "shape_constant", _optional_length)
        bounds = _each(stride_lower_bound_incl, ndim, "stride_lower_bound_incl", _optional_int)
        stride_factors = _each(stride_divisible_by, ndim, "stride_divisible_by", _factor)
        shape_factors = _each(shape_divisible_by, ndim, "shape_divisible_by", _factor)
        self.__dict__.update(
            dtype=dtype,
            ndim=ndim,
            index_dtype=index_dtype,
            stride_lower_bound_incl=_bounds(strides, bounds),
            alias_groups=_groups(alias_groups),
            may_alias_internally=bool(may_alias_internally),
            stride_constant=strides,
            shape_constant=lengths,
            stride_divisible_by=_factors(strides, stride_factors, "stride_constant"),
            shape_divisible_by=_factors(lengths, shape_factors, "shape_constant"),
            base_addr_divisible_by=base_addr_divisible_by,
        )


@public("cudacore.tile.compilation")
@dataclass(frozen=True)
class ListConstraint:
    """A list of arrays.

    Parameters
    ----------
    element : ArrayConstraint
        What holds for each of its arrays.
    alias_groups : sequence of str
        Lists that have a group in common may be the same; this is not about their arrays.
    elements_may_alias : bool
        Whether two of its arrays may overlap.

    Raises
    ------
    TypeError
        An argument is of a wrong type.

    Examples
    --------
    >>> import cudacore.tile as ct
    >>> from cudacore.tile.compilation import ArrayConstraint, ListConstraint
    >>> vector = ArrayConstraint(
    ...     ct.float32,
    ...     1,
    ...     index_dtype=ct.int32,
    ...     stride_lower_bound_incl=0,
    ...     alias_groups=(),
    ...     may_alias_internally=False,
    ... )
    >>> ListConstraint(vector, alias_groups=(), elements_may_alias=False).element.ndim
    1
    """

    element: ArrayConstraint
    alias_groups: tuple[str, ...]
    elements_may_alias: bool

    def __init__(
        self, element: ArrayConstraint, *, alias_groups: Sequence[str], elements_may_alias: bool
    ) -> None:
        if not isinstance(element, ArrayConstraint):
            raise TypeError(
                "ListConstraint only supports an ArrayParameter as the `element` constraint, "
                f"got '{element}'"
            )
        self.__dict__.update(
            element=element,
            alias_groups=_groups(alias_groups),
            elements_may_alias=bool(elements_may_alias),
        )


def require_dtype(dtype: object) -> None:
    """Refuse what is no type of elements."""
    if not isinstance(dtype, DType):
        raise TypeError(f"Expected a DType for the `dtype` parameter, got '{dtype}'")


def _groups(given: Sequence[str]) -> tuple[str, ...]:
    if isinstance(given, str):
        raise TypeError("`alias_groups` cannot be a string")
    groups = tuple(given)
    for index, group in enumerate(groups):
        if not isinstance(group, str):
            raise TypeError(f"Element #{index} of `alias_groups` has non-string type {type(group)}")
    return groups


def _optional_int(index: int, value: object, name: str) -> None:
    if value is not None and not isinstance(value, int):
        raise TypeError(f"Element #{index} of `{name}` must be None or int, got {value}")


def _optional_length(index: int, value: object, name: str) -> None:
    if isinstance(value, bool):
        raise TypeError(f"Element #{index} of `{name}` must be None or int, got {value}")
    _optional_int(index, value, name)
    if isinstance(value, int) and value < 0:
        raise ValueError(f"Element #{index} of `{name}` must be non-negative, got {value}")


def _factor(index: int, value: object, name: str) -> None:
    if not isinstance(value, int):
        raise TypeError(f"Element #{index} of `{name}` must be int, got {value}")
    if value <= 0:
        raise TypeError(f"Element #{index} of `{name}` must be strictly positive, got {value}")


def _each(
    given: Any, ndim: int, name: str, check: Callable[[int, object, str], None]
) -> tuple[Any, ...]:
    """One value for each dimension, checked."""
    values = (given,) * ndim if given is None or isinstance(given, int) else tuple(given)
    if len(values) != ndim:
        raise ValueError(f"Length of `{name}` {values} doesn't match ndim={ndim}")
    for index, value in enumerate(values):
        check(index, value, name)
    return values


def _bounds(
    constants: tuple[int | None, ...], bounds: tuple[int | None, ...]
) -> tuple[int | None, ...]:
    """Return the bounds of what is not known exactly, so that equal constraints compare equal."""
    for index, (constant, bound) in enumerate(zip(constants, bounds, strict=True)):
        if constant is not None and bound is not None and constant < bound:
            raise ValueError(
                f"stride_lower_bound_incl[{index}] is set to {constant}, which is less than the "
                f"lower bound {bound}"
            )
    return tuple(
        bound if constant is None else None
        for constant, bound in zip(constants, bounds, strict=True)
    )


def _factors(
    constants: tuple[int | None, ...], factors: tuple[int, ...], name: str
) -> tuple[int, ...]:
    for index, (constant, factor) in enumerate(zip(constants, factors, strict=True)):
        if constant is not None and constant % factor:
            raise ValueError(
                f"{name}[{index}] is set to {constant}, which is not divisible by {factor}"
            )
    return tuple(
        factor if constant is None else 1
        for constant, factor in zip(constants, factors, strict=True)
    )
