# SPDX-License-Identifier: Apache-2.0
"""Kernels at the edges: extreme numbers, unlucky names."""

import io
import re
from pathlib import Path
from typing import Any

import cudacore.tile as ct
import numpy as np
import pytest
from cudacore import Device
from cudacore.tile.compilation import (
    ArrayConstraint,
    CallingConvention,
    KernelSignature,
    ListConstraint,
    ScalarConstraint,
    TupleConstraint,
    export_kernel,
)
from harness import run
from tile_programs import define, launch

pytestmark = pytest.mark.usefixtures("device")

INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]


def pairs(dtype: Any) -> tuple[Any, Any]:
    """Give all pairs of extreme numbers."""
    limits = np.iinfo(dtype)
    values = [limits.min, limits.max, limits.max - 1, limits.max // 2, 0, 1, 3, 7]
    numbers = np.array(values, dtype)
    return np.repeat(numbers, len(numbers)), np.tile(numbers, len(numbers))


@ct.kernel
def power_kernel(x, y, result):
    ct.store(result, 0, ct.load(x, 0, 64) ** ct.load(y, 0, 64))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_powers_of_integers_wrap_around(dtype: Any) -> None:
    x, y = pairs(dtype)
    y = np.maximum(y, 0)
    result = np.zeros_like(x)
    launch(power_kernel, x, y, result)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(result, x**y)


@ct.kernel
def cdiv_kernel(x, y, result):
    ct.store(result, 0, ct.cdiv(ct.load(x, 0, 64), ct.load(y, 0, 64)))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_quotients_are_rounded_up(dtype: Any) -> None:
    x, y = pairs(dtype)
    y = np.where(y == 0, np.array(5, dtype), y)
    result = np.zeros_like(x)
    launch(cdiv_kernel, x, y, result)
    wanted = [-(-int(a) // int(b)) for a, b in zip(x, y, strict=True)]
    assert result.tolist() == wanted


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("main", "main_kernel"),
        ("exp", "exp_kernel"),
        ("fmaxf", "fmaxf_kernel"),
        ("float", "float_kernel"),
        ("threadIdx", "threadIdx_kernel"),
        ("NULL", "NULL_kernel"),
        ("f32", "f32_kernel"),
        ("cudacore_tile", "cudacore_tile_kernel"),
        ("TILE_EACH", "TILE_EACH_kernel"),
        ("__syncthreads", "__syncthreads_kernel"),
        ("_", "__kernel"),
        ("_1", "_1"),
        ("ядро", "u44fu434u440u43e"),
        ("template", "template_kernel"),
        ("load_const", "load_const"),
    ],
)
def test_kernels_of_any_name(name: str, entry: str, device: Device) -> None:
    kernel = define(f"@ct.kernel\ndef {name}(x):\n    ct.store(x, 0, ct.load(x, 0, 8) + 1)\n", name)
    x = np.arange(8)
    launch(kernel, x)
    assert x.tolist() == list(range(1, 9))
    view = device.allocate(64).view(np.int64)
    assert f" {entry}(" in kernel.cuda_source((view,))


@pytest.mark.parametrize("name", ["threadIdx", "float", "i32", "x_at", "λ", "NULL", "__x", "v1"])
def test_parameters_and_variables_of_any_name(name: str) -> None:
    source = f"""@ct.kernel
def k({name}, x):
    for {name}_ in range(2):
        v0 = ct.load({name}, {name}_, 8)
        ct.store(x, {name}_, v0 + 1)
"""
    x = np.zeros(16)
    launch(define(source), np.arange(16.0), x)
    assert x.tolist() == list(range(1, 17))


def test_symbols_that_cannot_be(device: Device) -> None:
    kernel = define("@ct.kernel\ndef k(x):\n    pass\n")
    signature = KernelSignature(
        [ScalarConstraint(ct.int32)], CallingConvention.cutile_python_v1(), "exp"
    )
    for symbol in ("exp", "a b", "1st"):
        with pytest.raises(ValueError, match="can't be the name of a kernel"):
            export_kernel(
                kernel,
                [signature.with_symbol(symbol)],
                io.BytesIO(),
                gpu_code="sm_90",
                output_format="cuda",
            )
    twice = [signature.with_symbol("same")] * 2
    with pytest.raises(ValueError, match="two of the signatures have the symbol 'same'"):
        export_kernel(kernel, twice, io.BytesIO(), gpu_code="sm_90", output_format="cuda")


AFFINE = """
def composed(a, b, c, d):
    return a * c, b * c + d

@ct.kernel
def k(x, y, first, second):
    tiles = ct.load(x, (0, 0), {shape}), ct.load(y, (0, 0), {shape})
    a, b = ct.reduce(tiles, {axis}, composed, (1.0, 0.0))
    ct.store(first, 0, a)
    ct.store(second, 0, b)
"""


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", [(8, 32), (1, 512), (512, 1), (64, 64), (256, 2)])
def test_reductions_keep_the_order(shape: tuple[int, int], axis: int) -> None:
    random = np.random.default_rng(0)
    x = random.choice([1.0, -1.0, 0.5, 2.0], shape).astype(np.float32)
    y = random.integers(-3, 4, shape).astype(np.float32)
    results = [np.zeros(shape[1 - axis], np.float32) for _ in range(2)]
    launch(define(AFFINE.format(shape=shape, axis=axis)), x, y, *results)
    a, b = np.ones(shape[1 - axis]), np.zeros(shape[1 - axis])
    for factor, summand in zip(np.moveaxis(x, axis, 0), np.moveaxis(y, axis, 0), strict=True):
        a, b = a * factor, b * factor + summand
    np.testing.assert_allclose(results[0], a)
    np.testing.assert_allclose(results[1], b, rtol=1e-5, atol=1e-3)


@ct.kernel
def print_kernel(x):
    i = ct.bid(0)
    ct.print(f"block {i}: {ct.load(x, i, 8)}")


def test_prints_of_blocks_stay_whole(capfd: Any) -> None:
    launch(print_kernel, np.arange(256), grid=(32,))
    lines = capfd.readouterr().out.splitlines()
    rows = np.arange(256).reshape(32, 8).tolist()
    assert sorted(lines) == sorted(f"block {i}: {row}" for i, row in enumerate(rows))


ASSERTION = """
import sys
sys.path.append(sys.argv[1])
import numpy as np
from tile_programs import define, launch
launch(define(sys.argv[2]), np.arange(1024))
"""


@pytest.mark.parametrize(
    "condition", ["x >= 1024", "x != 700", "x < 0", "ct.sum(x) < 0", "ct.bid(0) > 0"]
)
def test_failed_assertions_print_once(condition: str) -> None:
    kernel = f"""@ct.kernel
def k(array):
    x = ct.load(array, 0, 1024)
    ct.assert_({condition}, "100% wrong")
"""
    ended = run(ASSERTION, str(Path(__file__).parent), kernel)
    assert ended.stdout == "Assertion failed: 100% wrong\n"
    where = r"<program \d+>:4: k: block: \[0,0,0\], thread: \[0,0,0\] Assertion `100% wrong` failed"
    assert len(re.findall(where, ended.stderr)) == 1
    assert re.search(r"LaunchError: .*CUDA_ERROR_ASSERT \(710\)", ended.stderr)
    assert "CUDA is unusable in this process from here on" in ended.stderr


def test_assertions_that_hold_print_nothing(capfd: Any) -> None:
    source = """@ct.kernel
def k(array):
    x = ct.load(array, 0, 1024)
    for i in range(3):
        ct.assert_(x >= i, "wrong")
        assert ct.max(x) > ct.min(x) + i
    ct.store(array, 0, x + 1)
"""
    x = np.arange(3, 1027)
    launch(define(source), x)
    assert x.tolist() == list(range(4, 1028))
    assert capfd.readouterr().out == ""


def test_several_signatures_in_one_file() -> None:
    kernel = define("@ct.kernel\ndef k(x):\n    ct.atomic_add(x, 0, 1)\n")
    arrays = [
        ArrayConstraint(
            ct.int32,
            1,
            index_dtype=ct.int32,
            stride_lower_bound_incl=0,
            alias_groups=(),
            may_alias_internally=False,
            base_addr_divisible_by=divisor,
        )
        for divisor in (4, 16)
    ]
    signatures = [
        KernelSignature([array], CallingConvention.cutile_python_v1()) for array in arrays
    ]
    file = io.BytesIO()
    export_kernel(kernel, signatures, file, gpu_code="sm_90", output_format="ptx")
    assert file.getvalue().count(b".entry") == 2


def test_errors_of_the_compiler_name_all_calls() -> None:
    source = """
def product(x):
    return x * 2

def helper(x):
    return product(ct.load(x, (0, 0), (1024, 1024)))

@ct.kernel
def k(x):
    y = product(ct.load(x, (0, 0), (8, 8)))
    ct.store(x, (0, 0), helper(x))
"""
    kernel = define(source)
    with pytest.raises(ct.TileUnsupportedFeatureError, match="does not fit registers") as caught:
        launch(kernel, np.zeros((8, 8), np.float32))
    text = str(caught.value)
    functions = [text.index(f"in {name}:") for name in ("k", "helper")]
    assert functions == sorted(functions)
    assert "line 11" in text
    assert "line 10" not in text


def test_bfloat16_is_rounded_to_float16() -> None:
    source = """@ct.kernel
def k(x, zero, away):
    y = ct.load(x, 0, 8).astype(ct.bfloat16)
    ct.store(zero, 0, y.astype(ct.float16, rounding_mode=ct.RoundingMode.RZ))
    ct.store(away, 0, y.astype(ct.float16, rounding_mode=ct.RoundingMode.RA))
"""
    tiny = 2.0**-24  # the least float16
    x = np.array([65536, -65536, 65280, tiny / 2, -tiny / 2, 1.5 * tiny, np.inf, -0.0], np.float32)
    zero, away = np.zeros(8, np.float16), np.zeros(8, np.float16)
    launch(define(source), x, zero, away)
    assert zero.tolist() == [65504, -65504, 65280, 0, 0, tiny, np.inf, 0]
    assert away.tolist() == [np.inf, -np.inf, 65280, tiny, -tiny, 2 * tiny, np.inf, 0]


def test_products_of_several_kinds() -> None:
    source = """@ct.kernel
def k(x, y, z, result):
    zeros = ct.zeros((4, 16), ct.float32)
    first = ct.mma(ct.load(x, (0, 0), (4, 2)), ct.load(y, (0, 0), (2, 16)), zeros)
    again = ct.load(z, (0, 0), (2, 16))
    ct.store(result, (0, 0), ct.mma(ct.load(x, (0, 0), (4, 2)).astype(ct.float32), again, first))
"""
    x, y = np.arange(8).reshape(4, 2), np.arange(32).reshape(2, 16)
    result = np.zeros((4, 16), np.float32)
    launch(
        define(source), x.astype(np.float16), y.astype(np.float16), -y.astype(np.float32), result
    )
    assert not result.any()


def test_remainders_in_products() -> None:
    source = """@ct.kernel
def k(x, result):
    y = (ct.load(x, (0, 0), (16, 16)) % 16).astype(ct.float16)
    ct.store(result, (0, 0), ct.mma(y, y, ct.zeros((16, 16), ct.float32)))
"""
    x = np.arange(256).reshape(16, 16)
    result = np.zeros((16, 16), np.float32)
    launch(define(source), x, result)
    np.testing.assert_array_equal(result, (x % 16) @ (x % 16))


@pytest.mark.parametrize(
    ("subscript", "shown"),
    [
        ("3:5", "3:5"),
        ("-1:", "-1:"),
        (":, None, ::2", "::2"),
        ("2 + 1", "3"),
        ("n:5", "Tile[int32,()]:5"),
        ("ct.load(x, 0, 2)", "Tile[float64,(2)]"),
    ],
)
def test_subscripts_in_messages(subscript: str, shown: str) -> None:
    kernel = define(f"@ct.kernel\ndef k(x, n):\n    y = ct.load(x, 0, 8)[{subscript}]\n")
    with pytest.raises(ct.TileTypeError, match=re.escape(f" but this one has {shown}; ")):
        launch(kernel, np.zeros(8), 2)


LOOP = """@ct.kernel
def k(result, start: {kind}, stop: {kind}, step: {kind}):
    turn = ct.int32(0)
    for i in range(start, stop, step):
        if i == 7:
            continue
        ct.scatter(result, turn, i)
        turn += 1
"""
LEAST, GREATEST = -(2**31), 2**31 - 1


@pytest.mark.parametrize("kind", ["ct.Constant[int]", "ct.ScalarInt64", "int"])
@pytest.mark.parametrize(
    "numbers",
    [
        (GREATEST - 7, GREATEST, 3),
        (GREATEST - 1, GREATEST, 1),
        (LEAST, GREATEST, GREATEST),
        (LEAST, LEAST + 1, GREATEST),
        (LEAST, LEAST, 5),
        (GREATEST, LEAST, GREATEST),
        (-8, 9, 5),
        (0, 5, 100),
    ],
)
def test_ranges_up_to_the_greatest_integers(numbers: tuple[int, int, int], kind: str) -> None:
    result = np.full(5, -1, np.int64)
    launch(define(LOOP.format(kind=kind)), result, *numbers)
    wanted = [i for i in range(*numbers) if i != 7]
    assert result.tolist() == wanted + [-1] * (5 - len(wanted))


def test_ranges_up_to_the_greatest_wide_integer() -> None:
    start, stop = 2**63 - 8, 2**63 - 1
    result = np.full(4, -1, np.int64)
    launch(define(LOOP.format(kind="ct.ScalarInt64")), result, start, stop, 3)
    assert result.tolist() == [start, start + 3, start + 6, -1]


def test_plain_ranges_count_plainly(device: Device) -> None:
    """Where no overflow can be, nothing is done about it."""
    kernel = define(LOOP.format(kind="ct.Constant[int]").replace("stop: ct.Constant[int]", "stop"))
    view = device.allocate(64).view(np.int32)
    assert "last_turn" not in kernel.cuda_source((view, 0, 100, 1))
    assert "last_turn" in kernel.cuda_source((view, 0, 100, 3))
    kernel = define(LOOP.format(kind="ct.Constant[int]"))
    assert "last_turn" not in kernel.cuda_source((view, 0, GREATEST - 2, 3))
    assert "last_turn" in kernel.cuda_source((view, 0, GREATEST - 1, 3))


def test_far_constant_indices() -> None:
    source = """@ct.kernel
def k(x, result):
    zero = ct.PaddingMode.ZERO
    ct.store(result, 0, ct.load(x, 2**25, 128, padding_mode=zero))
    ct.store(result, 2**25, ct.full(128, 7, ct.float32))
    ct.store(result, 1, ct.load(x, -(2**25), 128, padding_mode=zero))
"""
    x, result = np.ones(256, np.float32), np.ones(256, np.float32)
    launch(define(source), x, result)
    assert not result.any()


@pytest.mark.parametrize("index", [2**28, 2**58, 2**59, 2**60, 2**63 - 1])
@pytest.mark.parametrize("sign", [1, -1])
def test_farthest_constant_indices(index: int, sign: int) -> None:
    """What is there takes more than 32 or 64 bits to tell."""
    source = f"""@ct.kernel
def k(x, result):
    zero = ct.PaddingMode.ZERO
    far = {sign * index}
    ct.store(result, 0, ct.load(x, far, 16, padding_mode=zero))
    ct.store(result, far, ct.full(16, 7, ct.float32))
    ct.store(result, 1, x.tiled_view(16, padding_mode=zero).load(far))
    result.tiled_view(16).atomic_store_add(far, ct.full(16, 7, ct.float32))
"""
    x, result = np.ones(32, np.float32), np.ones(32, np.float32)
    launch(define(source), x, result)
    assert not result.any()


SHIFT = """@ct.kernel
def k(x, y, z):
    ct.store(y, 0, ct.load(x, 0, 128))
    ct.store(z, 0, ct.load(x, 0, 128))
"""


@pytest.mark.parametrize("kind", ["arrays", "tuples", "lists"])
def test_arrays_that_overlap_are_loaded_again(kind: str) -> None:
    def source(*groups: str) -> str:
        array, alone = (
            ArrayConstraint(
                ct.float32,
                1,
                index_dtype=ct.int32,
                stride_lower_bound_incl=0,
                alias_groups=names,
                may_alias_internally=False,
                stride_constant=[1],
            )
            for names in (groups, ())
        )
        parameter: Any = {
            "arrays": array,
            "tuples": TupleConstraint([array]),
            "lists": ListConstraint(array, alias_groups=(), elements_may_alias=False),
        }[kind]
        text = (
            SHIFT if kind == "arrays" else SHIFT.replace("(x,", "(x[0],").replace("(y,", "(y[0],")
        )
        signature = KernelSignature(
            [parameter, parameter, alone], CallingConvention.cutile_python_v2()
        )
        kernel = define(text.replace("k(x[0]", "k(x"))
        file = io.BytesIO()
        export_kernel(kernel, [signature], file, gpu_code="sm_80", output_format="cuda")
        return file.getvalue().decode()

    apart, overlapping = source(), source("two words")
    assert "load_const" in apart
    assert "__syncthreads" not in apart
    assert "load_const" not in overlapping
    assert "__syncthreads" in overlapping
