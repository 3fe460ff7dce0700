# SPDX-License-Identifier: Apache-2.0
"""Signatures of the functions that kernels call, those of Python's own included."""

import dataclasses
import functools
import inspect
import operator
from contextlib import _GeneratorContextManager
from typing import Any

# ruff: noqa: ARG005 - the names of parameters are what counts here

_ONE = inspect.signature(lambda x, /: None)
_TWO = inspect.signature(lambda x, y, /: None)

_KNOWN: dict[Any, inspect.Signature] = {
    **dict.fromkeys((abs, len, repr, str), _ONE),
    **dict.fromkeys((operator.not_, operator.pos, operator.invert, operator.neg), _ONE),
    **dict.fromkeys((max, min, divmod, isinstance), _TWO),
    tuple: inspect.signature(lambda x=(), /: None),
    range: inspect.signature(lambda *args: None),
    slice: inspect.signature(lambda *args: None),
    operator.setitem: inspect.signature(lambda object, key, value, /: None),  # noqa: A006
    float: inspect.signature(lambda x=0, /: None),
    int: inspect.signature(lambda x=0, /: None),
    bool: inspect.signature(lambda x=False, /: None),
    print: inspect.signature(lambda *args, sep=" ", end="\n": None),
    dataclasses.replace: inspect.signature(lambda obj, /, **changes: None),
    dict.get: inspect.signature(lambda self, key, default=None, /: None),
    _GeneratorContextManager: inspect.signature(lambda func, args, kwds: None),
}


@functools.lru_cache(maxsize=1024)
def signature_of(function: Any) -> inspect.Signature:
    """Return how a function is called."""
    known = _KNOWN.get(function)
    if known is not None:
        return known
    if getattr(function, "__module__", None) == "_operator":
        return _TWO
    unwrapped = function
    while getattr(unwrapped, "_cudacore_tile_function", False):
        unwrapped = unwrapped.__wrapped__
    return inspect.signature(unwrapped, follow_wrapped=False)
