# SPDX-License-Identifier: Apache-2.0
"""The examples in docstrings of the tile language are compiled."""

import importlib
import inspect
import pathlib
import re
import textwrap
from typing import Any

import cudacore.tile as ct
import pytest
from cudacore.tile._compile import compile_to_text
from cudacore.tile._parameter import ArrayParameter

MODULES = (
    "arithmetic",
    "array",
    "atomic",
    "compare",
    "control",
    "math",
    "memory",
    "product",
    "raw",
    "reduce",
    "shape",
    "tile",
)
TEMPLATE = """# SPDX-License-Identifier: Apache-2.0
import cudacore.tile as ct

SIZE = 128


def kernel(x, y, lock, bits):
    a = ct.load(x, (0, 0), (8, 8))
    b = ct.load(y, (0, 0), (8, 8))
    {setup}
    {body}
"""
#: What names in an example stand for, where it is not a tile or an array of float32.
SETUP = {
    "a, b = ct.bitcast(a, ct.int32), ct.bitcast(b, ct.int32)": r"bitwise_",
    "x = lock": r"ct\.atomic_\w+\(x, ct\.arange|scatter",
    "x = bits": r"ct\.atomic_(and|or|xor|max|min)\(",
    "y, x = a, b": r"atan2",
    "data = ct.pack_to_bytes(a)": r"unpack_from_bytes",
    "acc = ct.zeros((8, 8), ct.float32); parts = (a, a, a, a)": r"acc",
    "a = ct.full((16, 32), 1, ct.float8_e5m2); b = ct.full((32, 8), 1, ct.float8_e5m2); "
    "a_scale = ct.full((16, 1), 1, ct.float8_e8m0fnu); acc = ct.zeros((16, 8), ct.float32); "
    "b_scale = ct.full((1, 8), 1, ct.float8_e8m0fnu)": r"mma_scaled",
    "rows = ct.arange(4, dtype=ct.int32)": r"\brows\b",
    "t = a": r"\(t[,)+ ]|\bt\.",
    "memory = x.get_raw_memory()": r"\bmemory\b",
    "memory = bits.get_raw_memory()": r"memory\.atomic_(and|or|xor|max|min|cas)",
    "tiles = x.tiled_view((8, 8))": r"\btiles\b",
    "tiles = bits.tiled_view((8, 8))": r"tiles\.atomic_store_(and|or|xor|max|min)",
    "a = a.reshape((2, 4, 8))": r"permute",
    "a = ct.load(x, (0, 0), (8, 8)).reshape((64,)); b = a": r"expand_dims",
}


def examples() -> list[Any]:
    """Find the examples of all functions, methods and classes."""
    found = []
    for name in MODULES:
        module = importlib.import_module(f"cudacore.tile._language_{name}")
        things = [(key, value) for key, value in vars(module).items() if not key.startswith("_")]
        for key, value in list(things):
            if inspect.isclass(value):
                things += [(f"{key}.{k}", v) for k, v in vars(value).items() if k[0] != "_"]
        for key, value in things:
            if getattr(value, "__module__", module.__name__) != module.__name__:
                continue
            text = inspect.getdoc(value) or ""
            _, mark, example = text.partition("In a kernel::\n\n")
            if mark:
                found.append(pytest.param(textwrap.dedent(example).strip(), id=key))
    return found


def parameter(dtype: Any, rank: int) -> ArrayParameter:
    return ArrayParameter(dtype, rank, ct.int32, strides=(None,) * (rank - 1) + (1,))


@pytest.mark.parametrize("example", examples())
def test_example(example: str, tmp_path: pathlib.Path) -> None:
    setup = [code for code, pattern in SETUP.items() if re.search(pattern, example)]
    text = TEMPLATE.format(
        setup="\n    ".join(setup), body=example.replace("\n", "\n    ") or "pass"
    )
    path = tmp_path / "example.py"
    path.write_text(text)
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(text, str(path), "exec"), names)
    parameters = [
        parameter(ct.float32, 2),
        parameter(ct.float32, 2),
        parameter(ct.int32, 1),
        parameter(ct.uint32, 1),
    ]
    if "bits.tiled_view" in text:
        parameters[3] = parameter(ct.uint32, 2)
    assert compile_to_text(names["kernel"], parameters)
