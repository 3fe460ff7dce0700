# SPDX-License-Identifier: Apache-2.0
"""What callers of tile kernels get wrong, and what they are told before anything runs."""

import linecache
from typing import Any

import cudacore.tile as ct
import numpy as np
import pytest

SIZE = 8


class Described:
    """An array of any shape, described by ``__cuda_array_interface__``, in a few bytes."""

    def __init__(self, pointer: int, shape: tuple[int, ...], strides=None, dtype="<f4") -> None:
        self.__cuda_array_interface__ = {
            "data": (pointer, False),
            "shape": shape,
            "strides": strides,
            "typestr": dtype,
            "version": 3,
        }


@pytest.fixture
def make(device, stream):
    """Make arrays of zeros on the device."""
    return lambda shape, dtype=np.float32: device.to_device(
        np.zeros(shape, dtype), stream=stream
    ).view(dtype, shape)


@pytest.fixture
def refuse(stream):
    """Launch what must be refused; return the message."""

    def launch(error: type[Exception], kernel: Any, *values: Any) -> str:
        with pytest.raises(error) as caught:
            ct.launch(stream, (1,), kernel, values)
        return str(caught.value)

    return launch


@ct.kernel
def copy(x, y, size: ct.Constant[int]):
    ct.store(y, 0, ct.load(x, 0, shape=size))


@pytest.mark.parametrize("extent", [3, 12, 1000])
def test_extents_that_are_no_powers_of_two(make, refuse, extent):
    message = refuse(ct.TileTypeError, copy, make(16), make(16), extent)
    below = 1 << (extent.bit_length() - 1)
    assert f"({extent},) is not a power of two; " in message
    assert f"the next ones are {below} and {2 * below}" in message
    assert "ct.load(x, 0, shape=size)" in message


@pytest.mark.parametrize("extent", [0, -4])
def test_extents_that_are_not_positive(make, refuse, extent):
    assert "is not positive" in refuse(ct.TileTypeError, copy, make(16), make(16), extent)


def test_shapes_that_do_not_meet(make, refuse):
    @ct.kernel
    def add(x):
        ct.store(x, (0, 0), ct.zeros((8, 4), ct.float32) + ct.zeros((8,), ct.float32))

    @ct.kernel
    def product(x):
        a, b = ct.zeros((16, 16), ct.float32), ct.zeros((32, 16), ct.float32)
        ct.store(x, (0, 0), a @ b)

    @ct.kernel
    def wide(x):
        ct.store(x, (0, 0), ct.zeros((8, 8, 8), ct.float32))

    x = make((16, 16))
    assert "not broadcastable: (8, 4), (8,)" in refuse(ct.TileTypeError, add, x)
    assert "(16, 16), (32, 16)" in refuse(ct.TileTypeError, product, x)
    assert "rank" in refuse(ct.TileTypeError, wide, x)


def test_dtypes_that_do_not_fit(make, refuse):
    @ct.kernel
    def bits(x, y, size: ct.Constant[int]):
        ct.store(y, 0, ct.load(x, 0, shape=size) & 1)

    @ct.kernel
    def index(x, y, size: ct.Constant[int]):
        ct.store(y, ct.load(x, 0, shape=1).item(), ct.zeros((size,), ct.float32))

    floats, halves = make(16), make(16, np.float16)
    message = refuse(ct.TileTypeError, copy, floats, halves, 16)
    assert "cannot implicitly cast float32 to float16" in message
    assert "Bitwise operations require integers" in refuse(
        ct.TileTypeError, bits, floats, floats, 16
    )
    assert "integer" in refuse(ct.TileTypeError, index, floats, floats, 16)
    strings = Described(floats.ptr, (4,), dtype="|S4")
    assert "#0" in refuse(TypeError, copy, strings, floats, 4)


def test_a_tile_that_does_not_fit_registers(make, refuse):
    @ct.kernel
    def twice(x):
        values = ct.load(x, (0, 0), shape=(2048, 1024))
        ct.store(x, (0, 0), 2 * values)

    message = refuse(ct.TileUnsupportedFeatureError, twice, make((16, 16)))
    assert "f32[2048,1024] does not fit registers: with 1024 threads" in message
    assert "2048 registers" in message
    assert "values = ct.load(x, (0, 0), shape=(2048, 1024))" in message


def test_tiles_that_do_not_fit_shared_memory(make, refuse):
    @ct.kernel
    def product(x, result):
        total = ct.zeros((128, 128), ct.float32)
        for k in range(ct.num_tiles(x, 1, (128, 1024))):
            left = ct.load(x, (0, k), shape=(128, 1024))
            right = ct.load(x, (k, 0), shape=(1024, 128))
            total = ct.mma(left, right, total)
        ct.store(result, (0, 0), total)

    x, result = make((16, 16), np.float16), make((16, 16))
    message = refuse(ct.TileUnsupportedFeatureError, product, x, result)
    assert "the tiles f16[128,1024] and f16[1024,128], which a loop loads ahead, need" in message
    assert "need 524288 bytes of shared memory" in message
    assert "for k in range" in message


def test_numbers_where_constants_are_needed(make, refuse):
    @ct.kernel
    def shape(x, size):
        ct.store(x, 0, ct.zeros((size,), ct.float32))

    @ct.kernel
    def axis(x, number):
        ct.store(x, 0, ct.sum(ct.zeros((8, 8), ct.float32), axis=number))

    x = make(16)
    for kernel in (shape, axis):
        message = refuse(ct.TileTypeError, kernel, x, 8)
        assert "constant" in message
        assert "Constant[int]" in message


def test_arrays_of_the_host(make, refuse):
    host = np.zeros(16, np.float32)
    assert "#1: Input array is not on a CUDA device" in refuse(ValueError, copy, make(16), host, 16)
    assert "#0" in refuse(TypeError, copy, b"bytes", make(16), 16)


def test_another_rank_than_before(make, stream, refuse):
    x = make(16)
    ct.launch(stream, (1,), copy, (x, x, 16))
    message = refuse(ct.TileTypeError, copy, make((4, 4)), x, 16)
    assert "Index size 1 does not match the array rank 2" in message
    ct.launch(stream, (1,), copy, (x, x, 16))
    stream.sync()


def test_too_many_dimensions(make, refuse):
    x = make(16)
    array = Described(x.ptr, (1,) * 65)
    assert "#0" in refuse(TypeError, copy, array, x, 16)

    @ct.kernel
    def deep(x):
        tile = ct.reshape(ct.load(x, 0, shape=1), TOO_MANY)
        ct.store(x, 0, ct.reshape(tile, (1,)))

    message = refuse(ct.TileTypeError, deep, x)
    assert "A tile of 80 dimensions: tiles have at most 16" in message
    assert "tile = ct.reshape(" in message


TOO_MANY = (1,) * 80


def test_lengths_and_strides_past_32_bits(make, stream, refuse):
    x = make(16)
    long = Described(x.ptr, (2**31,))
    message = refuse(OverflowError, copy, long, x, 16)
    assert "#0: shape is too big: 2147483648 doesn't fit int32" in message
    assert "IndexedWithInt64" in message
    far = Described(x.ptr, (2,), (4 * 2**31,))
    assert "#1: stride is too big" in refuse(OverflowError, copy, x, far, 16)

    @ct.kernel
    def indexed(x: ct.IndexedWithInt64, y, size: ct.Constant[int]):
        ct.store(y, 0, ct.load(x, 0, shape=size))

    ct.launch(stream, (1,), indexed, (long, x, 16))
    stream.sync()


def test_tiles_past_32_bits(make, refuse):
    @ct.kernel
    def many(x):
        ct.store(x, 0, ct.sum(ct.zeros((2**20, 2**20), ct.float32), axis=0))

    @ct.kernel
    def long(x):
        ct.store(x, 0, ct.zeros((2**33,), ct.float32))

    @ct.kernel
    def grown(x):
        a, b = ct.zeros((2**16, 1), ct.float32), ct.zeros((1, 2**16), ct.float32)
        ct.store(x, 0, ct.max(a + b, axis=0))

    for kernel, count in ((many, 2**40), (long, 2**33), (grown, 2**32)):
        message = refuse(ct.TileTypeError, kernel, make(16))
        assert f"would have {count} elements: tiles have at most 1073741824" in message
        assert "ct.store(x, 0, " in message


def ping(n):
    return pong(n + 1)


def pong(n):
    return ping(n - 1)


def test_functions_that_call_each_other_for_ever(make, refuse):
    @ct.kernel
    def kernel(x):
        ct.store(x, 0, ping(3))

    message = refuse(ct.TileRecursionError, kernel, make(16))
    assert "in ping" in message
    assert "in pong" in message


def test_globals_that_change_after_the_kernel_was_compiled(make, stream, monkeypatch):
    def fill(x):
        ct.store(x, 0, ct.full((SIZE,), SIZE, ct.float32))

    x, first, second = make(16), ct.kernel(fill), ct.kernel(fill)
    for kernel, expected in ((first, 8), (second, 4), (first, 4)):
        ct.launch(stream, (1,), kernel, (x,))
        assert x.exporting_obj.to_host(np.float32, stream=stream)[0] == expected
        monkeypatch.setitem(globals(), "SIZE", 4)


def test_a_kernel_redefined_in_a_notebook(make, stream):
    x, names = make(16), {"ct": ct}
    for cell, value in enumerate((1, 2)):
        source = f"""
@ct.kernel
def fill(x):
    ct.store(x, 0, ct.full((16,), {value}, ct.float32))
"""
        name = f"<ipython-input-{cell}-test>"
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        exec(compile(source, name, "exec"), names)
        ct.launch(stream, (1,), names["fill"], (x,))
        assert x.exporting_obj.to_host(np.float32, stream=stream)[0] == value


def raises(x):
    raise ValueError("never")


@ct.function(host=True, tile=False)
def fails(n):
    return 1 // n


def test_exceptions_in_helpers(make, refuse):
    @ct.kernel
    def device(x):
        raises(x)

    @ct.kernel
    def host(x):
        ct.store(x, 0, ct.static_eval(fails(0)))

    message = refuse(ct.TileSyntaxError, device, make(16))
    assert 'raise ValueError("never")' in message
    assert "in raises" in message
    message = refuse(ct.TileStaticEvalError, host, make(16))
    assert "ZeroDivisionError" in message
    assert "ct.static_eval(fails(0))" in message


def test_missing_arguments_are_named(make, refuse):
    @ct.kernel
    def with_defaults(x, first=1, *, last=2):
        pass

    message = refuse(TypeError, copy, make(16), make(16))
    assert message == "Kernel expects 3 arguments but 2 were given: size is missing"
    message = refuse(TypeError, with_defaults, make(16))
    assert message.startswith("Kernel expects 3 arguments but 1 was given: first, last are missing")
    assert message.endswith(" (defaults of kernels are not used)")


@pytest.mark.parametrize(
    ("statement", "advice"),
    [
        ("x + x", "load() tiles first"),
        ("np.exp(tile)", "numpy.ufunc; write ct.exp(...)"),
        ("ct.load(x, 0, shap=8)", "unexpected keyword argument 'shap'; did you mean 'shape'?"),
        ("tile[3]", "ct.extract(x, 3, shape=()) gives one element"),
        ("tile[0:4]", "ct.extract(x, 0, shape=64) is what x[0:64] would be"),
        ("tile.item()", "item() needs a tile of one element"),
        ("for i in [1, 2, 3]: pass", "write ct.static_iter((1, 2, 3))"),
        ("for i in (1, 2): pass", "write ct.static_iter((1, 2))"),
        ("for i in enumerate((1, 2)): pass", "write ct.static_iter(enumerate(...))"),
        ("for i in range(3, 0, -1): pass", "got -1; write `for i in range(3)` and 3 - i"),
        ("for i in range(9, 0, -2): pass", "write `for i in range(5)` and 9 - 2 * i"),
        ("ct.PaddingMode.NAN is ct.PaddingMode.NAN", "write =="),
        ("type(tile)", "type() is not supported in device code; x.dtype, x.shape"),
        ("ct.arange(10, dtype=ct.int32)", "the next ones are 8 and 16"),
        (
            "ct.arange(8, dtype=ct.int32) & ct.arange(8, dtype=ct.int64)",
            "cast one with astype()",
        ),
        ("assert 1 > 2, f'one of {3:02}'", "Static assertion failed: one of 03\n"),
        ("assert 1 > 2, f'at {ct.bid(0)}'", "Static assertion failed: at <Tile[int32,()]>\n"),
        ("assert ct.bid(0) > 2, f'at {ct.bid(0)}'", "print() what only the device knows"),
        ("print(f'{ct.bid(0)=}')", "'=' is not supported; write ct.bid(0) = {ct.bid(0)}"),
        (
            "s = 0\n    for i in range(3): s = s + tile",
            "(line 15) vs. Tile[float32,(8)] (line 16); start with ct.zeros((8,), ct.float32)",
        ),
        ("s = 0\n    for i in range(3): s = s + tile.dtype(1)", "; write 0.0 for a float"),
        ("s = 7\n    if ct.bid(0) > 2: s = 2.5\n    t = s + 1", "; write 7.0 for a float"),
        ("ct.load(x, 0, shape=8, mask=tile > 0)", "'mask'; what is out of the array is left out"),
        ("ct.load(x, 0, shape=8, other=0)", "'other'; padding_mode says what is read out of the"),
        ("ct.constexpr", "write n: ct.Constant[int] for a parameter"),
        ("ct.tid(0)", "write ct.arange(n, dtype=ct.int32) for positions in a tile"),
        ("np.clip(tile, 0, 1)", "write ct.minimum(ct.maximum(x, low), high)"),
        ("tile.mean()", "write ct.sum(x, axis) / n"),
        ("any(tile)", "write ct.max(x != 0, axis)"),
        ("math.erf(tile)", "write a ct.device_function that calls erff()"),
        ("ct.sigmoid(tile)", "write 1 / (1 + ct.exp(-x))"),
        ("ct.dot(tile, tile)", "write ct.matmul(x, y) or ct.mma(x, y, sum)"),
        ("ct.program_id(0)", "write ct.bid(...)"),
        ("ct.laod(x, 0, shape=8)", "has no attribute 'laod'; did you mean 'load'?"),
        ("tile.shpe", "did you mean 'shape'?"),
        ("x.dtpye", "did you mean 'dtype'?"),
        ("math.sqrt(tile)", "write ct.sqrt(...)"),
        ("sum(tile)", "write ct.sum(...)"),
        ("tile.sum()", "write ct.sum(...)"),
        ("tile.T", "write ct.transpose(...)"),
        ("tile.to(ct.float16)", "write ct.astype(...)"),
        ("tile and tile", "write ct.where(...)"),
        ("ct.load(x, 0, shape=8, padding_mode='zero')", "write ct.PaddingMode.ZERO"),
        ("ct.zeros((8,), 'float16')", "write ct.float16"),
        ("ct.zeros((8,), float)", "write ct.float32"),
        ("tile.nothing", "No such attribute 'nothing' for object of type Tile[float32,(8)]\n"),
        ("other()", "what kernels call is a plain function"),
    ],
)
def test_what_to_write_instead(make, tmp_path, statement, advice):
    source = f"""
import math
import cudacore.tile as ct
import numpy as np


@ct.kernel
def other():
    pass


@ct.kernel
def kernel(x):
    tile = ct.load(x, 0, shape=8)
    {statement}
"""
    path = tmp_path / "kernels.py"
    path.write_text(source)
    names: dict[str, Any] = {}
    exec(compile(source, str(path), "exec"), names)
    with pytest.raises(ct.TileError) as caught:
        names["kernel"].cuda_source((make(8),))
    assert advice in str(caught.value)


def test_kernels_have_no_subscript():
    with pytest.raises(TypeError, match=r"Use launch\(stream, grid, copy, arguments\)"):
        copy[1, 2]


def test_arguments_that_are_no_tuple(make, stream):
    x = make(16)
    for arguments in (x, "xyz", None):
        with pytest.raises(
            TypeError, match=r"kernel_args must be a tuple of the arguments, not .*\(x,\)"
        ):
            ct.launch(stream, (1,), copy, arguments)


def test_numbers_of_numpy(make, refuse):
    message = refuse(ValueError, copy, make(16), np.float32(1), 16)
    assert "pass a number by .item()" in message


def test_deep_nesting_names_its_place(make, refuse):
    """Each operand of ``and`` that the device computes is in a branch of those before it."""
    lines = [
        "def deep(x):",
        "    a = ct.bid(0)",
        f"    known = {' and '.join(['a == 0'] * 220)}",
        "    ct.store(x, (0,), ct.full((4,), known, x.dtype))",
    ]
    linecache.cache["<deep>"] = (0, None, [line + "\n" for line in lines], "<deep>")
    names = {"ct": ct}
    exec(compile("\n".join(lines), "<deep>", "exec"), names)
    message = refuse(ct.TileUnsupportedFeatureError, ct.kernel(names["deep"]), make((16,)))
    assert "nested more than 200 deep" in message
    assert "<deep>" in message
    assert "line 3" in message
    assert "tile text" not in message
