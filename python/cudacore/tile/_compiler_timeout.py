# SPDX-License-Identifier: Apache-2.0
"""How long compiling a kernel may take."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")

_limit: ContextVar[float | None] = ContextVar("limit", default=None)


@contextmanager
def compiler_timeout(timeout_sec: float) -> Iterator[None]:
    """Limit how long the device compiler may work on a kernel, in this thread.

    A compilation that takes longer goes on by itself, and its result is cached.

    Parameters
    ----------
    timeout_sec : float
        The limit, in seconds; infinity for none.

    Raises
    ------
    TypeError
        The limit is no number.
    ValueError
        The limit is not positive.
    TileCompilerTimeoutError
        Within the block: a launch needed a compilation that took longer.

    Examples
    --------
    >>> import cudacore.tile as ct
    >>> with ct.compiler_timeout(10):
    ...     pass  # launches
    """
    if not hasattr(timeout_sec, "__float__") and not hasattr(timeout_sec, "__index__"):
        raise TypeError(f"timeout_sec must be a number, not {type(timeout_sec).__name__}")
    if not timeout_sec > 0:
        raise ValueError(f"the timeout must be positive, got {timeout_sec}")
    token = _limit.set(timeout_sec)
    try:
        yield
    finally:
        _limit.reset(token)


def compiled_in_time(compile_: Callable[[], T]) -> T:
    """Call what compiles; if there is a limit, in a thread that is waited for that long.

    Parameters
    ----------
    compile_ : callable
        It compiles.

    Raises
    ------
    TileCompilerTimeoutError
        It took too long.
    """
    limit = _limit.get()
    if limit is None:
        return compile_()
    results: list[T] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            results.append(compile_())
        except BaseException as error:  # noqa: BLE001 - raised again by who waits
            errors.append(error)

    thread = threading.Thread(target=work, name="tile compiler", daemon=True)
    thread.start()
    thread.join(min(limit, threading.TIMEOUT_MAX))
    if errors:
        raise errors[0]
    if not results:
        from cudacore.tile._exception import TileCompilerTimeoutError  # noqa: PLC0415 - rarely needed

        raise TileCompilerTimeoutError(f"Compiling took longer than {limit} seconds")
    return results[0]
