# SPDX-License-Identifier: Apache-2.0
"""Functions of the language: they mean something in kernels only."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

Caller = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]


class _HostCallers(threading.local):
    """What evaluates calls by Python itself while this thread compiles a kernel.

    Each is given the function, the arguments and the named arguments; the last one counts.
    """

    def __init__(self) -> None:
        self._callers: list[Caller] = []

    def __bool__(self) -> bool:
        return bool(self._callers)

    def __getitem__(self, index: int) -> Caller:
        return self._callers[index]

    def append(self, caller: Caller) -> None:
        """Have calls evaluated by this."""
        self._callers.append(caller)

    def pop(self) -> None:
        """Have calls evaluated by what evaluated them before."""
        self._callers.pop()


host_callers = _HostCallers()


def language_function(function: F) -> F:
    """Make a function of the language: the host can't call it, and its body is never run.

    Parameters
    ----------
    function : callable
        Its signature and its docstring are what counts.
    """

    @functools.wraps(function)
    def refuse(*args: Any, **kwargs: Any) -> Any:
        if host_callers:
            return host_callers[-1](refuse, args, kwargs)
        raise RuntimeError(
            "Device functions can only be called from device code: "
            f"{function.__name__}() belongs in a kernel or in a function that a kernel calls."
        )

    refuse._cudacore_tile_function = True  # type: ignore[attr-defined]  # noqa: SLF001
    return refuse  # type: ignore[return-value]
