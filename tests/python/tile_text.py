# SPDX-License-Identifier: Apache-2.0
"""Kernels compiled to their text, which needs no device."""

import re
from collections.abc import Callable
from typing import Any

from cudacore.tile import float32, int32
from cudacore.tile._compile import compile_to_text
from cudacore.tile._parameter import ArrayParameter, ConstantParameter, ScalarParameter

INT = ScalarParameter(int32)
FLOAT = ScalarParameter(float32)


def array(dtype: Any = float32, ndim: int = 1, **known: Any) -> ArrayParameter:
    """Return what is known of a C-contiguous array."""
    strides = (None,) * (ndim - 1) + (1,) * (ndim > 0)
    return ArrayParameter(dtype, ndim, int32, **{"strides": strides, "alignment": 16, **known})


def constant(value: Any) -> ConstantParameter:
    """Return a parameter known while compiling."""
    return ConstantParameter(value)


def text(function: Callable[..., Any], *parameters: Any) -> str:
    """Return a kernel's text without places in the source, and with values numbered anew."""
    made = compile_to_text(function, parameters)
    made = re.sub(r"^file .*\n|(?<=[^ ]) @\d+:\d+:\d+", "", made, flags=re.MULTILINE)
    names: dict[str, str] = {}
    return re.sub(r"%(\d+)", lambda m: "%" + names.setdefault(m[1], str(len(names))), made)


def body(function: Callable[..., Any], *parameters: Any) -> list[str]:
    """Return the lines of a kernel's text between its parameters and its last return."""
    lines = text(function, *parameters).splitlines()
    inner = [line[2:] for line in lines[2:-1] if not line.startswith("  param ")]
    assert inner.pop() == "return"
    return inner
