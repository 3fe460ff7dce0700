# SPDX-License-Identifier: Apache-2.0
"""Functions that take arrays of any library, as views."""

import functools
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from cudacore._core import StridedMemoryView
from cudacore._public import public

__all__ = ["StridedMemoryView", "args_viewable_as_strided_memory"]

_Result = TypeVar("_Result")


class _Viewable:
    """An argument of which a function can ask for a view."""

    def __init__(self, obj: object) -> None:
        self.obj = obj

    def view(self, stream_ptr: Any = None) -> StridedMemoryView:
        """View the argument, for work on a stream: see ``StridedMemoryView.from_any_interface``."""
        return StridedMemoryView.from_any_interface(self.obj, stream_ptr)


@public("cudacore.utils")
def args_viewable_as_strided_memory(
    arg_indices: tuple[int, ...],
) -> Callable[[Callable[..., _Result]], Callable[..., _Result]]:
    """Let a function view some of its arguments, whichever library they come from.

    Parameters
    ----------
    arg_indices : tuple of int
        Which positional arguments. Inside the function, each is an object with a method
        ``view(stream_ptr)``, which returns a `StridedMemoryView`; see its `from_any_interface`.

    Raises
    ------
    TypeError
        `arg_indices` holds something else, or, in a call, there is no such positional argument.

    Examples
    --------
    >>> import numpy as np
    >>> from cudacore.utils import args_viewable_as_strided_memory
    >>> @args_viewable_as_strided_memory((0,))
    ... def shape_of(array):
    ...     return array.view(-1).shape
    >>> shape_of(np.zeros((2, 3)))
    (2, 3)
    """
    indices = tuple(arg_indices) if isinstance(arg_indices, Iterable) else None
    if indices is None or any(type(index) is not int for index in indices):
        hint = "; write @args_viewable_as_strided_memory((0,))" if callable(arg_indices) else ""
        raise TypeError(f"arg_indices must be a tuple of int, not {arg_indices!r}{hint}")

    def decorate(function: Callable[..., _Result]) -> Callable[..., _Result]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> _Result:
            given = list(args)
            for index in indices:
                if not -len(given) <= index < len(given):
                    raise TypeError(
                        f"{function.__name__}() has {len(given)} positional arguments, but "
                        f"argument {index} is to be viewed; give it by position"
                    )
                given[index] = _Viewable(given[index])
            return function(*given, **kwargs)

        return call

    return decorate
