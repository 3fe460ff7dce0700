# SPDX-License-Identifier: Apache-2.0
"""Printing, checks and dependent launches, in the tile language."""
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from cudacore.tile._language_function import language_function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cudacore.tile._language_array import TileOrScalar


@language_function
def printf(format: str, *args: TileOrScalar) -> None:
    r"""Print tiles with a format as C's ``printf`` takes it.

    Slow; for debugging.

    Parameters
    ----------
    format : str
        A constant. A conversion is one of ``diuoxX`` for integers and booleans,
        ``eEfFgGaA`` for floats; flags, width and precision may stand before it. Each
        element is written so.
    *args : Tile or scalar
        One for each conversion.

    Raises
    ------
    TileTypeError
        A conversion does not fit its argument, or there are too few or too many.

    Examples
    --------
    In a kernel::

        ct.printf("row %d: %5.2f\n", ct.bid(0), a)
    """


@language_function
def print(*args: object, sep: str = " ", end: str = "\n") -> None:
    """Print values. Python's ``print()`` does the same in a kernel.

    A tile is written as a list of lists, integers as ``%d`` and floats as ``%f``. Slow; for
    debugging.

    Parameters
    ----------
    *args : object
        Tiles, scalars, strings, f-strings, tuples of these, and constants.
    sep : str
        What stands between them. Default: a space.
    end : str
        What follows them. Default: a new line.

    Raises
    ------
    TileTypeError
        A type or a shape does not fit.

    Examples
    --------
    In a kernel::

        ct.print("row", ct.bid(0), f"{a:.3f}")
    """


@language_function
def assert_(cond: TileOrScalar, /, message: str | None = None) -> None:
    """Stop the kernel if a condition does not hold.

    The message, and the file and line, are printed, and the next call that waits for the kernel
    raises `cudacore.LaunchError` (``CUDA_ERROR_ASSERT``). The device's context is lost then: the
    process has to be restarted to use CUDA again. Slow; for debugging.

    Parameters
    ----------
    cond : Tile or scalar
        Booleans, all of which must be True.
    message : str, optional
        A constant; it is printed, once for each block whose condition does not hold.

    Raises
    ------
    TileTypeError
        The condition is not boolean.

    Examples
    --------
    In a kernel::

        ct.assert_(a >= 0, "negative")
    """


@language_function
def grid_dependency_control_wait() -> None:
    """Wait until the kernel before this one in a programmatic dependent launch has finished.

    What that kernel has written to memory is seen afterward.

    Examples
    --------
    In a kernel::

        ct.grid_dependency_control_wait()
    """


@language_function
def grid_dependency_control_launch_dependents() -> None:
    """Let the kernel that depends on this one in a programmatic dependent launch begin.

    It begins when all blocks have called this or have finished.

    Examples
    --------
    In a kernel::

        ct.grid_dependency_control_launch_dependents()
    """
