# SPDX-License-Identifier: Apache-2.0
"""What to write instead of what other libraries call differently."""

import inspect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_SYNONYMS = {
    "T": "transpose",
    "absolute": "abs",
    "amax": "max",
    "amin": "min",
    "cast": "astype",
    "block_id": "bid",
    "broadcast": "broadcast_to",
    "concat": "cat",
    "concatenate": "cat",
    "divide": "truediv",
    "eq": "equal",
    "floor_divide": "floordiv",
    "fmax": "maximum",
    "fmin": "minimum",
    "ge": "greater_equal",
    "gt": "greater",
    "le": "less_equal",
    "lt": "less",
    "multiply": "mul",
    "ne": "not_equal",
    "neg": "negative",
    "power": "pow",
    "program_id": "bid",
    "num_programs": "num_blocks",
    "remainder": "mod",
    "subtract": "sub",
    "swapaxes": "transpose",
    "to": "astype",
    "true_divide": "truediv",
    "unsqueeze": "expand_dims",
    "view": "bitcast",
}
_NO_THREADS = "ct.arange(n, dtype=ct.int32) for positions in a tile, which has no threads to name"
_RECIPES = {
    "all": "ct.min(x != 0, axis)",
    "any": "ct.max(x != 0, axis)",
    "autotune": "ct.tune.exhaustive_search(...)",
    "average": "ct.sum(x, axis) / n",
    "clamp": "ct.minimum(ct.maximum(x, low), high)",
    "clip": "ct.minimum(ct.maximum(x, low), high)",
    "constexpr": "n: ct.Constant[int] for a parameter",
    "dot": "ct.matmul(x, y) or ct.mma(x, y, sum)",
    "empty": "ct.zeros(shape, dtype)",
    "flatten": "ct.reshape(x, shape)",
    "full_like": "ct.full(x.shape, value, x.dtype)",
    "jit": "ct.kernel",
    "logical_and": "x & y",
    "logical_not": "~x",
    "logical_or": "x | y",
    "mean": "ct.sum(x, axis) / n",
    "ones_like": "ct.ones(x.shape, x.dtype)",
    "lane_id": _NO_THREADS,
    "ravel": "ct.reshape(x, shape)",
    "reciprocal": "1 / x",
    "relu": "ct.maximum(x, 0)",
    "sigmoid": "1 / (1 + ct.exp(-x))",
    "square": "x * x",
    "squeeze": "ct.reshape(x, shape)",
    "syncthreads": "nothing, since a tile has no threads to wait for",
    "thread_idx": _NO_THREADS,
    "threadIdx": _NO_THREADS,
    "tid": _NO_THREADS,
    "zeros_like": "ct.zeros(x.shape, x.dtype)",
}
_OF_CUDA = {
    **{f"arc{name}": f"a{name}f" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{f"a{name}": f"a{name}f" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{
        name: f"{name}f"
        for name in ("cbrt", "erf", "erfc", "expm1", "fmod", "hypot", "lgamma", "log10", "log1p")
    },
    **{name: f"{name}f" for name in ("rint", "trunc")},
    "round": "rintf",
}
_NUMBERS = {bool: "bool_", int: "int32", float: "float32"}


def function_instead(name: str) -> str:
    """Say how the language does what another library calls by this name, or nothing."""
    from cudacore import tile  # noqa: PLC0415 - it names this module's users

    if name in _RECIPES:
        return f"; write {_RECIPES[name]}"
    if name in _OF_CUDA:
        return f"; write a ct.device_function that calls {_OF_CUDA[name]}()"
    found = _SYNONYMS.get(name, name)
    is_function = found in tile.__all__ and inspect.isfunction(getattr(tile, found))
    return f"; write ct.{found}(...)" if is_function else ""


def name_instead(name: str, names: "Iterable[str]") -> str:
    """Name the one of some names that was meant by a misspelled one, or nothing."""
    import difflib  # noqa: PLC0415 - only needed where something is wrong

    found = difflib.get_close_matches(name, names, n=1, cutoff=0.7)
    return f"; did you mean '{found[0]}'?" if found else ""


def dtype_instead(value: object) -> str:
    """Name the dtype that a string or a type of Python stands for, or nothing."""
    from cudacore import tile  # noqa: PLC0415 - it names this module's users
    from cudacore.tile._dtype import DType  # noqa: PLC0415

    found = _NUMBERS.get(value) if isinstance(value, type) else value
    is_dtype = found in tile.__all__ and isinstance(getattr(tile, str(found)), DType)
    return f"; write ct.{found}" if is_dtype else ""
