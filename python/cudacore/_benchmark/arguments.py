# SPDX-License-Identifier: Apache-2.0
"""Reads the arguments of `cudacore.benchmark`, and refuses wrong ones before any call."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cudacore._core import Kernel
from cudacore._integers import to_int

if TYPE_CHECKING:
    from collections.abc import Callable

#: Calls between two events are queued while the device is busy, and its queue is finite.
MOST_CALLS = 512


def read_candidates(fn: object) -> dict[str, Callable[..., object]]:
    """Return the functions to time, by name."""
    if isinstance(fn, Mapping):
        for name in fn:
            if not isinstance(name, str):
                raise TypeError(f"benchmark: fn has the key {name!r}: names are str")
        found = dict(fn)
    elif isinstance(fn, Sequence) and not isinstance(fn, str | bytes):
        found = {}
        for one in fn:
            name = free = name_of(one)
            number = 1
            while free in found:
                number += 1
                free = f"{name} #{number}"
            found[free] = one
    else:
        return {name_of(fn): _checked(fn, "fn")}
    if not found:
        raise ValueError("benchmark: fn is empty: give at least one callable")
    return {name: _checked(one, f"fn[{name!r}]") for name, one in found.items()}


def name_of(fn: object) -> str:
    """Return what to call a function in a result."""
    kernel = getattr(fn, "kernel", None)
    if isinstance(kernel, Kernel):
        return str(kernel.name)
    while isinstance(fn, functools.partial):
        fn = fn.func
    return str(getattr(fn, "__name__", type(fn).__name__))


def _checked(fn: Any, what: str) -> Callable[..., object]:
    if isinstance(fn, Kernel):
        raise TypeError(
            f"benchmark: {what} is a Kernel, which needs a shape to be launched: give "
            "kernel[grid, block], and its arguments as args=(...)"
        )
    if not callable(fn):
        # Many write the launch itself, which returns None.
        advice = "; give a launcher and its arguments: benchmark(kernel[grid, block], (x, n))"
        raise TypeError(
            f"benchmark: {what} is {fn!r}, which cannot be called{advice if fn is None else ''}"
        )
    for one in (fn, getattr(fn, "__call__", None)):  # noqa: B004
        if inspect.iscoroutinefunction(one):
            raise TypeError(
                f"benchmark: {what} is a coroutine function: calling it runs nothing until it is "
                "awaited. Give a plain function that queues the work"
            )
        if inspect.isgeneratorfunction(one) or inspect.isasyncgenfunction(one):
            raise TypeError(
                f"benchmark: {what} is a generator function: calling it runs nothing until it is "
                "iterated over. Give a plain function that queues the work"
            )
    function: Callable[..., object] = fn
    return function


def check_call(
    name: str, fn: Callable[..., object], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> None:
    """Refuse arguments that don't fit the function, if its signature is known."""
    try:
        signature = inspect.signature(fn)
    except (TypeError, ValueError):  # of a builtin
        return
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(
            f"benchmark: {name}{signature} cannot be called with these arguments: {error}. Give "
            "its arguments as args=(...) and kwargs={...}"
        ) from None


def check_result(name: str, result: object) -> None:
    """Refuse a function that returned work instead of doing it."""
    if inspect.iscoroutine(result):
        result.close()
    if inspect.isawaitable(result) or inspect.isgenerator(result) or inspect.isasyncgen(result):
        raise TypeError(
            f"benchmark: {name} returned a {type(result).__name__}, which has not run: give a "
            "function that queues the work itself"
        )


def read_args(args: object, what: str) -> tuple[Any, ...]:
    """Return positional arguments as a tuple."""
    if not isinstance(args, tuple | list):
        raise TypeError(f"benchmark: {what}{args!r}: give a tuple, as in (a, b) or (a,)")
    return tuple(args)


def read_kwargs(kwargs: object) -> dict[str, Any]:
    """Return keyword arguments as a dict."""
    if kwargs is None:
        return {}
    if not isinstance(kwargs, Mapping) or not all(isinstance(name, str) for name in kwargs):
        raise TypeError(f"benchmark: kwargs={kwargs!r}: give a dict with names as its keys")
    return dict(kwargs)


def read_setup(setup: object) -> Callable[[], object] | None:
    """Return the function to call before each run."""
    return None if setup is None else _checked(setup, "setup")


def read_count(name: str, value: object, least: int, most: int | None = None) -> int | None:
    """Return a number of runs or calls; None means that it is chosen."""
    if value is None:
        return None
    return to_int(value, f"benchmark: {name}", least=least, most=most)


def read_positive(name: str, value: object) -> float:
    """Return a positive finite number."""
    if isinstance(value, bool) or not (hasattr(value, "__float__") or hasattr(value, "__index__")):
        raise TypeError(f"benchmark: {name}={value!r}: give a number")
    try:
        number = float(value)  # type: ignore[arg-type]
    except OverflowError:
        raise ValueError(
            f"benchmark: {name} doesn't fit into a float: give a positive, finite number"
        ) from None
    if not (0 < number < math.inf):
        raise ValueError(f"benchmark: {name}={value!r}: give a positive, finite number")
    return number


def read_flag(name: str, value: object) -> bool | None:
    """Return a bool, or None."""
    if value is not None and not isinstance(value, bool):
        raise TypeError(f"benchmark: {name}={value!r}: give True, False or None")
    return value
