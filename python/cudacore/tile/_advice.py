# SPDX-License-Identifier: Apache-2.0
"""What to write instead of what other libraries call differently."""

import inspect

_SYNONYMS = {
    "T": "transpose",
    "absolute": "abs",
    "amax": "max",
    "amin": "min",
    "cast": "astype",
    "concatenate": "cat",
    "dot": "mma",
    "fmax": "maximum",
    "fmin": "minimum",
    "power": "pow",
    "program_id": "bid",
    "num_programs": "num_blocks",
    "swapaxes": "transpose",
    "to": "astype",
    "unsqueeze": "expand_dims",
    "view": "bitcast",
}
_NUMBERS = {bool: "bool_", int: "int32", float: "float32"}


def function_instead(name: str) -> str:
    """Name the language's function for what another library calls by this name, or nothing."""
    from cudacore import tile  # noqa: PLC0415 - it names this module's users

    found = _SYNONYMS.get(name, name)
    is_function = found in tile.__all__ and inspect.isfunction(getattr(tile, found))
    return f"; write ct.{found}(...)" if is_function else ""


def dtype_instead(value: object) -> str:
    """Name the dtype that a string or a type of Python stands for, or nothing."""
    from cudacore import tile  # noqa: PLC0415 - it names this module's users
    from cudacore.tile._dtype import DType  # noqa: PLC0415

    found = _NUMBERS.get(value) if isinstance(value, type) else value
    is_dtype = found in tile.__all__ and isinstance(getattr(tile, str(found)), DType)
    return f"; write ct.{found}" if is_dtype else ""
