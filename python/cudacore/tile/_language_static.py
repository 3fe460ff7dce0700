# SPDX-License-Identifier: Apache-2.0
"""Functions that speak to the compiler: what is computed while compiling."""

from __future__ import annotations

from typing import Any, TypeVar

from cudacore.tile._function import function

_T = TypeVar("_T")


@function
def static_eval(expr: Any, /) -> Any:
    """Have Python evaluate an expression while the kernel is compiled.

    All of Python may be used in the expression. Constants appear as Python's own values; arrays
    and tiles as objects that have ``dtype``, ``shape`` and ``ndim`` and take operators. It must be
    called directly, by its own name.

    Parameters
    ----------
    expr
        The expression. It sees the variables of the kernel, but assigns to none.

    Returns
    -------
    object
        A constant, a tuple, a frozen dataclass, a function, or one of the kernel's own values.

    Raises
    ------
    TileStaticEvalError
        The expression raises, or calls a function that belongs in kernels.
    TileTypeError
        Kernels have no values like the result.

    Examples
    --------
    In a kernel::

        size = ct.static_eval(max(len(x.shape), 4))
    """


@function
def static_assert(condition: bool, message: object = None, /) -> None:
    """Have compiling fail unless a condition holds.

    Parameters
    ----------
    condition
        An expression as that of :func:`static_eval`, which gives a bool.
    message
        An expression; ``str()`` of it is what the error says. Evaluated if the condition is false.

    Raises
    ------
    TileStaticAssertionError
        The condition is false.

    Examples
    --------
    In a kernel::

        ct.static_assert(a.shape[0] % 2 == 0, f"odd: {a.shape}")
    """


@function
def static_iter(iterable: Any, /) -> Any:
    """Unroll a loop while the kernel is compiled.

    It stands directly behind ``in``: in a for statement, or in the generator expression of
    ``tuple(...)``. The loop has at most 1000 turns, and neither break nor continue.

    Parameters
    ----------
    iterable
        An expression as that of :func:`static_eval`, whose items are values of kernels.

    Raises
    ------
    TileStaticEvalError
        An item is not a value of kernels, or there are too many.

    Examples
    --------
    In a kernel::

        for k in ct.static_iter(range(4)):
            acc = acc + parts[k]
    """


@function
def ensure_constant(value: _T, /) -> _T:
    """Give a value that must be known while compiling.

    Parameters
    ----------
    value
        The value.

    Raises
    ------
    TileStaticAssertionError
        Only the device knows it.

    Examples
    --------
    In a kernel::

        if ct.ensure_constant(SIZE > 64):
            a = a * 2
    """
    return value
