# SPDX-License-Identifier: Apache-2.0
"""Kernels compiled to their text, which needs no device."""

import re
from collections.abc import Callable
from typing import Any

from cudacore.tile import float32, int32
from cudacore.tile._compile import compile_to_text
from cudacore.tile.compilation import ArrayConstraint, ConstantConstraint, ScalarConstraint

INT = ScalarConstraint(int32)
FLOAT = ScalarConstraint(float32)


def array(dtype: Any = float32, ndim: int = 1, **known: Any) -> ArrayConstraint:
    """Return what is known of a C-contiguous array."""
    usual = {
        "index_dtype": int32,
        "stride_lower_bound_incl": 0,
        "alias_groups": (),
        "may_alias_internally": False,
        "stride_constant": (None,) * (ndim - 1) + (1,) * (ndim > 0),
        "base_addr_divisible_by": 16,
    }
    return ArrayConstraint(dtype, ndim, **{**usual, **known})


def constant(value: Any) -> ConstantConstraint:
    """Return what is known of a constant."""
    return ConstantConstraint(value)


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
