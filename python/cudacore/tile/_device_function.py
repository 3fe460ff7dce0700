# SPDX-License-Identifier: Apache-2.0
"""Functions of the language: they mean something in kernels only."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

#: What evaluates calls by Python itself while a kernel is compiled; the last one counts. It is
#: given the function, the arguments and the named arguments.
host_callers: list[Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]] = []


def device_function(function: F) -> F:
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
