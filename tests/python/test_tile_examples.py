# SPDX-License-Identifier: Apache-2.0
"""The examples in docstrings of the tile language are compiled, those of the host are run."""

import importlib
import inspect
import pathlib
import re
import textwrap
from typing import Any

import cudacore
import cudacore.tile as ct
import pytest
from cudacore.tile import compilation, tune
from cudacore.tile._compile import compile_to_text
from harness import ROOT
from test_docs import run_doctest
from tile_text import array

MODULES = (
    "_language_arithmetic",
    "_language_array",
    "_language_atomic",
    "_language_compare",
    "_language_control",
    "_language_math",
    "_language_memory",
    "_language_new",
    "_language_product",
    "_language_raw",
    "_language_reduce",
    "_language_shape",
    "_language_static",
    "_language_tile",
    "_language_view",
    "_mode",
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
        module = importlib.import_module(f"cudacore.tile.{name}")
        things = [(key, value) for key, value in vars(module).items() if not key.startswith("_")]
        for key, value in list(things):
            if inspect.isclass(value):
                things += [(f"{key}.{k}", v) for k, v in vars(value).items() if k[0] != "_"]
        for key, value in things:
            if getattr(value, "__module__", module.__name__) not in {module.__name__, ct.__name__}:
                continue
            text = inspect.getdoc(value) or ""
            _, mark, example = text.partition("In a kernel::\n\n")
            if mark:
                found.append(pytest.param(textwrap.dedent(example).strip(), id=key))
    return found


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
        array(ct.float32, 2),
        array(ct.float32, 2),
        array(ct.int32, 1),
        array(ct.uint32, 1),
    ]
    if "bits.tiled_view" in text:
        parameters[3] = array(ct.uint32, 2)
    assert compile_to_text(names["kernel"], parameters)


def public() -> dict[str, Any]:
    """Find the functions, the classes and their methods that users call."""
    found: dict[str, Any] = {}
    for module in (ct, compilation, tune):
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value):
                found[name] = value
                for member in vars(value):
                    inner = getattr(value, member)
                    if member[0] != "_" and inspect.isroutine(inner) and callable(inner):
                        found[f"{name}.{member}"] = inner
            elif inspect.isroutine(value):
                found[name] = value
    return found


PUBLIC = public()


@pytest.mark.parametrize("name", PUBLIC)
def test_has_an_example(name: str) -> None:
    value = PUBLIC[name]
    is_error = inspect.isclass(value) and issubclass(value, ct.TileError)
    assert "Examples\n---" in inspect.getdoc(value) or is_error or name in WITHOUT


#: Kernels' insides, a protocol, and what would forget the searches of whoever runs the tests.
WITHOUT = {"Scalar", "clear_cache"}


@pytest.mark.parametrize(
    "name", [name for name, value in PUBLIC.items() if ">>>" in (inspect.getdoc(value) or "")]
)
def test_example_of_the_host(name: str, device: cudacore.Device) -> None:
    run_doctest(inspect.getdoc(PUBLIC[name]), name, {"cudacore": cudacore, "device": device})


@pytest.mark.parametrize(
    "page", ["tiles.md", "tile-tutorial.md", "tile-compiler.md", "coming-from/triton.md"]
)
def test_pages_name_what_exists(page: str) -> None:
    named = re.findall(r"\bct\.(\w+)(?:\.([A-Za-z_]+))?", (ROOT / "docs" / page).read_text())
    assert named
    for name, member in named:
        value = getattr(ct, name)
        assert not member or hasattr(value, member), (name, member)
