# SPDX-License-Identifier: Apache-2.0
"""Reductions, scans, printing and checks: what they emit and what they refuse."""

import operator
from typing import Any

import cudacore.tile as ct
import pytest
from cudacore.tile._operation_print import c_spec
from cudacore.tile._value import FormattedString
from tile_scope import Kernel


@pytest.fixture
def kernel() -> Kernel:
    return Kernel()


@pytest.mark.parametrize(
    ("function", "dtype", "op", "identity"),
    [
        (ct.sum, ct.float32, "add", "0.0e0"),
        (ct.prod, ct.int32, "mul", "1"),
        (ct.max, ct.float16, "max", "-inf"),
        (ct.max, ct.int8, "max", "-128"),
        (ct.min, ct.uint8, "min", "255"),
        (ct.min, ct.bfloat16, "min", "inf"),
    ],
)
def test_simple(kernel: Kernel, function: Any, dtype: Any, op: str, identity: str) -> None:
    element = dtype.element
    arguments = f"(%1 : {element}, %2 : {element})"
    result = kernel(function, kernel.tile(dtype, (4, 8)), 1)
    assert kernel.lines == [
        f"%4 = reduce %0 {{axis = 1, identity = ({identity})}} : {element}[4] {arguments}",
        f"%3 = {op} %1, %2 : {element}",
        "yield %3",
        "}",
    ]
    assert (result.dtype, result.shape) == (dtype, (4,))


@pytest.mark.parametrize(
    ("axis", "keepdims", "shape"),
    [
        (None, False, ()),
        (None, True, (1, 1, 1)),
        (0, False, (4, 8)),
        (-1, True, (2, 4, 1)),
        ((0, 2), False, (4,)),
        ((2, 0), True, (1, 4, 1)),
        ((), False, (2, 4, 8)),
    ],
)
def test_axes(kernel: Kernel, axis: Any, keepdims: Any, shape: Any) -> None:
    x = kernel.tile(ct.bool_, (2, 4, 8))
    result = kernel(ct.sum, x, axis, keepdims=keepdims)
    assert (result.dtype, result.shape) == (ct.int32, shape)


def test_all_axes_are_reduced_at_once(kernel: Kernel) -> None:
    kernel(ct.sum, kernel.tile(ct.float32, (4, 8)))
    assert sum(" = reduce " in line for line in kernel.lines) == 1


def test_modes(kernel: Kernel) -> None:
    x = kernel.tile(ct.float32, (8,))
    kernel(ct.max, x, propagate_nan=True, flush_to_zero=True)
    kernel(ct.sum, x, rounding_mode=ct.RoundingMode.RZ)
    assert kernel.lines[1] == "%3 = max %1, %2 {ftz = 1, nan = 1} : f32"
    assert kernel.lines[5] == "%7 = add %5, %6 {rm = rz} : f32"
    for options, message in [
        ({"rounding_mode": ct.RoundingMode.FULL}, "Rounding mode full is not supported"),
        ({"axis": (0, -1)}, "Repeated reduction axis 0"),
        ({"axis": 1}, "Axis 1 is out of range for rank 1"),
        ({"axis": 0.5}, "Expected an integer constant"),
        ({"keepdims": 1}, "Expected a boolean constant"),
    ]:
        with pytest.raises(ct.TileTypeError, match=message):
            kernel(ct.sum, x, **options)
    with pytest.raises(ct.TileTypeError, match="Flush to zero can only be used for float32 type"):
        kernel(ct.max, kernel.tile(ct.float16, (8,)), flush_to_zero=True)
    with pytest.raises(ct.TileTypeError, match="Non-arithmetic dtype float8_e4m3fn is unsupported"):
        kernel(ct.sum, kernel.tile(ct.float8_e4m3fn, (8,)))
    with pytest.raises(ct.TileTypeError, match="Non-arithmetic dtype float8_e4m3fn is unsupported"):
        kernel(ct.cumsum, kernel.tile(ct.float8_e4m3fn, (8,)))


@pytest.mark.parametrize(
    ("axis", "keepdims", "shape"),
    [(None, False, ()), (None, True, (1, 1)), (1, False, (4,)), (0, True, (1, 8))],
)
@pytest.mark.parametrize("function", [ct.argmax, ct.argmin])
def test_arg(kernel: Kernel, function: Any, axis: Any, keepdims: Any, shape: Any) -> None:
    result = kernel(function, kernel.tile(ct.int32, (4, 8)), axis, keepdims=keepdims)
    assert (result.dtype, result.shape) == (ct.int32, shape)
    reduced = next(line for line in kernel.lines if " = reduce " in line)
    least = 2**31 - 1 if function is ct.argmin else -(2**31)
    assert f"identity = ({least}, 0)" in reduced


@pytest.mark.parametrize("nan", [False, True])
def test_arg_of_floats_knows_nan(kernel: Kernel, nan: Any) -> None:
    kernel(ct.argmax, kernel.tile(ct.float32, (8,)), propagate_nan=nan)
    names = [line.split()[2] for line in kernel.lines if " = " in line]
    assert names.count("isnan") == 2


def test_own_reduction(kernel: Kernel) -> None:
    x = kernel.tile(ct.float32, (4, 8))
    kernel(ct.reduce, x, 0, lambda a, b: kernel(operator.add, a, b), 0)
    assert kernel.lines[0] == (
        "%4 = reduce %0 {axis = 0, identity = (0.0e0)} : f32[8] (%1 : f32, %2 : f32)"
    )


def test_reduction_of_several(kernel: Kernel) -> None:
    x, n = kernel.tile(ct.float32, (4, 8)), kernel.tile(ct.int32, (8,))

    def combine(a: Any, i: Any, b: Any, j: Any) -> Any:
        return kernel(max, a, b), kernel(operator.add, i, j)

    first, second = kernel(ct.reduce, (x, n), 1, combine, (-1.5, 0), keepdims=True)
    assert (first.shape, second.shape) == ((4, 1), (4, 1))
    assert (first.dtype, second.dtype) == (ct.float32, ct.int32)
    assert "identity = (-1.5e0, 0)} : f32[4], i32[4]" in kernel.lines[2]


def test_scans(kernel: Kernel) -> None:
    x = kernel.tile(ct.int32, (4, 8))
    kernel(ct.cumsum, x, -1, reverse=True)
    kernel(ct.cumprod, x)
    kernel(ct.scan, x, 1, lambda a, b: kernel(min, a, b), 99)
    heads = [line.partition(" : ")[0] for line in kernel.lines if " = scan " in line]
    assert heads == [
        "%4 = scan %0 {axis = 1, identity = (0), reverse = 1}",
        "%8 = scan %0 {axis = 0, identity = (1), reverse = 0}",
        "%12 = scan %0 {axis = 1, identity = (99), reverse = 0}",
    ]


def test_refused_reductions(kernel: Kernel) -> None:
    x, y = kernel.tile(ct.float32, (4,)), kernel.tile(ct.float32, (8,))

    def add(a: Any, b: Any) -> Any:
        return kernel(operator.add, a, b)

    for arguments, message in [
        (((), 0, add, ()), "Need at least one input value to reduce"),
        ((None, 0, add, 0), "Expected a tile or a tuple of tiles"),
        ((x, None, add, 0), "Expected an integer constant, but given value has type None"),
        ((x, 0, add, kernel.tile(ct.int32)), "given value is not constant"),
        (((x, x), 0, add, (0,)), r"Number of identity values \(1\) must match"),
        (((x, y), 0, add, (0, 0)), r"Input shapes \(4,\), \(8,\) are not broadcastable"),
        ((x, 0, lambda a, b: (a, b), 0), "returned a value of non-tile type Tuple"),
        ((x, 0, lambda *_: x, 0), r"returned a tile of non-scalar shape \(4,\)"),
        ((x, 0, lambda *_: kernel.tile(ct.float64), 0), "returned a tile of unexpected dtype: c"),
        (((x, x), 0, lambda *a: a[0], (0, 0)), "but a tuple was expected"),
        (((x, x), 0, lambda *a: a[:1], (0, 0)), "must return a tuple of 2 values"),
    ]:
        with pytest.raises(ct.TileTypeError, match=message):
            kernel(ct.reduce, *arguments)


def test_what_bodies_must_not_do(kernel: Kernel) -> None:
    x, array = kernel.tile(ct.float32, (4,)), kernel.array(ct.float32, 1)

    def loads(a: Any, b: Any) -> Any:
        return kernel(ct.load, array, 0, ())

    def nests(a: Any, b: Any) -> Any:
        return kernel(ct.sum, x)

    def branches(a: Any, b: Any) -> Any:
        with kernel.builder.region() as region:
            kernel.builder.op("yield")
        kernel.builder.op("if", a.value, regions=[region])
        return a

    def loops(a: Any, b: Any) -> Any:
        with kernel.builder.region() as region:
            kernel.builder.op("continue")
        kernel.builder.op("loop", regions=[region])
        return a

    for body, message in [
        (loads, "Operations with memory effects are not supported inside {} body"),
        (nests, "Nested scan/reduction is not supported"),
        (branches, "Branching inside {} body is not supported"),
        (loops, "Loops inside {} body are not supported"),
    ]:
        for function, name in ((ct.reduce, "reduction"), (ct.scan, "scan")):
            with pytest.raises(ct.TileSyntaxError, match=message.format(name)):
                kernel(function, x, 0, body, 0)


def test_print(kernel: Kernel) -> None:
    x, h, n = (kernel.tile(t, (4,)) for t in (ct.float32, ct.float16, ct.int64))
    kernel(ct.print, "100%", x, 7, sep=", ", end="!")
    kernel(print, FormattedString(("x=", (x, ".3f"), (h, None))), n)
    assert kernel.lines == [
        'print %0 {format = "100%%, %0:f, 7!"}',
        "%3 = cast %1 : f32[4]",
        'print %0, %3, %2 {format = "x=%0:.3f%1:f %2:lld\\n"}',
    ]
    with pytest.raises(ct.TileTypeError, match=r'Invalid argument "sep" of print\(\)'):
        kernel(ct.print, "a", sep=1)


@pytest.mark.parametrize(
    ("spec", "dtype", "expected"),
    [
        ("", ct.int32, "d"),
        ("", ct.uint8, "u"),
        ("", ct.bool_, "d"),
        ("", ct.float16, "f"),
        ("5", ct.uint64, "5llu"),
        (".3", ct.float32, ".3f"),
        ("<+#8.2e", ct.float64, "-+#8.2e"),
        ("08x", ct.int32, "08x"),
    ],
)
def test_formats(spec: str, dtype: Any, expected: str) -> None:
    assert c_spec(spec, dtype) == expected


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("d", "incompatible with dtype float32"),
        ("q", "unsupported format"),
        ("^5", "'\\^5' is not supported: numbers are aligned by < or >"),
        ("<05", "'<05' is not supported: .* zeros fill from the left"),
    ],
)
def test_refused_formats(kernel: Kernel, spec: str, message: str) -> None:
    with pytest.raises(ct.TileTypeError, match=message):
        kernel(ct.print, FormattedString(((kernel.tile(ct.float32), spec),)))


def test_null_characters_are_not_printed(kernel: Kernel) -> None:
    for function, arguments in (
        (ct.print, ("a\0b",)),
        (ct.print, (FormattedString(("a\0", (kernel.tile(ct.float32), None))),)),
        (ct.printf, ("%%\0",)),
        (ct.assert_, (kernel.tile(ct.bool_), "a\0b")),
    ):
        with pytest.raises(ct.TileTypeError, match="must not contain null characters"):
            kernel(function, *arguments)


def test_printf(kernel: Kernel) -> None:
    x, n = kernel.tile(ct.float32, (4,)), kernel.tile(ct.int64)
    kernel(ct.printf, "%% %-5.2f|%hhd\n", x, n)
    assert kernel.lines == ['print %0, %1 {format = "%% %0:-5.2f|%1:lld\\n"}']
    for arguments, message in [
        (("%d", x), "Format %d for arg #0 got unexpected type of Tile"),
        (("%s", x), "Specifier s in %s is not supported"),
        (("%", x), "Invalid format string"),
        (("%f %f", x), "Not enough arguments for format string"),
        (("", x), "Too many arguments for format string"),
        ((x, x), "Expected a string constant"),
    ]:
        with pytest.raises(ct.TileTypeError, match=message):
            kernel(ct.printf, *arguments)


def test_assertions_and_dependent_launches(kernel: Kernel) -> None:
    b = kernel.tile(ct.bool_, (4,))
    kernel(ct.assert_, b, "all")
    kernel(ct.assert_, True)
    kernel(ct.grid_dependency_control_wait)
    kernel(ct.grid_dependency_control_launch_dependents)
    assert kernel.lines == [
        'assert %0 {message = "all"}',
        "%1 = const {value = true} : i1",
        'assert %1 {message = ""}',
        "grid_wait",
        "grid_launch_dependents",
    ]
    with pytest.raises(ct.TileTypeError, match="Type of condition must be bool, got Tile"):
        kernel(ct.assert_, kernel.tile(ct.int32))
