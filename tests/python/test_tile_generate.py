# SPDX-License-Identifier: Apache-2.0
"""Loads, stores and elementwise operations of tile kernels, on the device."""

import numpy as np
import pytest
from tile_kernels import DTYPES, keep, kernel, run, tile, whole

AXPY = """tile 1
file 0 "/home/me/axpy.py"
kernel "axpy" {
  param %0 : ptr<f32> {align = 16}
  param %1 : ptr<f32> {align = 16}
  param %2 : i32
  param %3 : f32
  %4 = bid {axis = 0} : i32 @0:12:8
  %5 = const {value = 1024} : i32
  %6 = mul %4, %5 : i32 @0:12:8
  %7 = load %0, origin(%6), shape(%2), strides(1) {pad = zero} : f32[1024] @0:13:8
  %8 = load %1, origin(%6), shape(%2), strides(1) {pad = zero} : f32[1024] @0:14:8
  %9 = broadcast %3 : f32[1024]
  %10 = mul %7, %9 : f32[1024] @0:15:8
  %11 = add %10, %8 : f32[1024] @0:15:8
  store %1, %11, origin(%6), shape(%2), strides(1) @0:16:8
  return
}
"""


@pytest.mark.parametrize("arch", [75, 80, 90])
@pytest.mark.parametrize("count", [1, 1024, 2500])
def test_axpy(arch, count):
    x = np.arange(count, dtype=np.float32)
    y = np.ones(count, np.float32)
    run(AXPY, x, y, np.int32(count), np.float32(2), grid=-(-count // 1024), arch=arch)
    np.testing.assert_array_equal(y, 2 * x + 1)


def elementwise(op, element, arrays, *, result=None, attributes="", arch=None):
    """Run an elementwise operation on arrays of one shape."""
    shape = arrays[0].shape
    result = result or element
    out = np.zeros(shape, DTYPES[result])
    parameters = {f"p{i}": f"ptr<{element}>" for i in range(len(arrays))} | {
        "out": f"ptr<{result}>"
    }
    body = "\n".join(f"%x{i} = {whole(f'%p{i}', element, shape)}" for i in range(len(arrays)))
    operands = ", ".join(f"%x{i}" for i in range(len(arrays)))
    body += (
        f"\n%y = {op} {operands} {attributes} : {tile(result, shape)}\n{keep('%out', '%y', shape)}"
    )
    run(kernel(parameters, body), *arrays, out, arch=arch)
    return out


@pytest.mark.parametrize("element", ["f32", "f64", "f16"])
@pytest.mark.parametrize(
    ("op", "function"),
    [
        ("add", np.add),
        ("sub", np.subtract),
        ("mul", np.multiply),
        ("div", np.divide),
        ("floordiv", np.floor_divide),
        ("mod", np.mod),
        ("min", np.fmin),
        ("max", np.fmax),
        ("atan2", np.arctan2),
        ("pow", np.power),
    ],
)
def test_float_binary(element, op, function):
    random = np.random.default_rng(1)
    a = random.uniform(0.5, 4, 64).astype(DTYPES[element])
    b = random.uniform(0.5, 4, 64).astype(DTYPES[element])
    if op != "pow":
        a[::3] *= -1
        b[::2] *= -1
    out = elementwise(op, element, [a, b])
    tolerance = {"f16": 2e-3, "f32": 1e-6, "f64": 1e-14}[element]
    np.testing.assert_allclose(out, function(a, b), rtol=tolerance)


@pytest.mark.parametrize("element", ["i8", "i32", "i64", "u8", "u32", "u64"])
@pytest.mark.parametrize(
    ("op", "function"),
    [
        ("add", np.add),
        ("sub", np.subtract),
        ("mul", np.multiply),
        ("floordiv", np.floor_divide),
        ("mod", np.mod),
        ("min", np.minimum),
        ("max", np.maximum),
        ("and", np.bitwise_and),
        ("or", np.bitwise_or),
        ("xor", np.bitwise_xor),
    ],
)
def test_integer_binary(element, op, function):
    random = np.random.default_rng(2)
    info = np.iinfo(DTYPES[element])
    a = random.integers(info.min, info.max, 64, DTYPES[element], endpoint=True)
    b = random.integers(info.min, info.max, 64, DTYPES[element], endpoint=True)
    b[b == 0] = 3
    b[:32] = b[:32] % 7 + 1
    np.testing.assert_array_equal(elementwise(op, element, [a, b]), function(a, b))


@pytest.mark.parametrize(
    ("op", "function"),
    [
        ("neg", np.negative),
        ("abs", np.abs),
        ("exp", np.exp),
        ("exp2", np.exp2),
        ("log", np.log),
        ("log2", np.log2),
        ("sqrt", np.sqrt),
        ("rsqrt", lambda x: 1 / np.sqrt(x)),
        ("sin", np.sin),
        ("cos", np.cos),
        ("tan", np.tan),
        ("sinh", np.sinh),
        ("cosh", np.cosh),
        ("tanh", np.tanh),
        ("floor", np.floor),
        ("ceil", np.ceil),
    ],
)
@pytest.mark.parametrize("element", ["f32", "f64", "f16"])
def test_float_unary(element, op, function):
    x = np.random.default_rng(3).uniform(0.1, 3, 64).astype(DTYPES[element])
    tolerance = {"f16": 2e-3, "f32": 2e-6, "f64": 1e-13}[element]
    np.testing.assert_allclose(elementwise(op, element, [x]), function(x), rtol=tolerance)


FLOATS = {"f32": np.float32, "f64": np.float64, "f16": np.float16}


def converted(values, source, target, mode="rn"):
    """Convert an array on the device; small floats come back as their bytes."""
    sizes = {"bf16": np.uint16, "tf32": np.uint32}
    storage = {**DTYPES, **sizes}
    out = np.zeros(values.shape, storage.get(target, np.uint8))
    body = f"""%x = {whole("%p", source, values.shape)}
%y = cast %x {{rm = {mode}}} : {tile(target, values.shape)}
{keep("%out", "%y", values.shape)}"""
    run(kernel({"p": f"ptr<{source}>", "out": f"ptr<{target}>"}, body), values, out)
    return out


@pytest.mark.parametrize("source", ["f32", "f64", "f16", "i32", "i64", "u8"])
@pytest.mark.parametrize("target", ["f32", "f64", "f16", "i8", "i32", "i64", "u32", "i1"])
def test_casts(source, target):
    x = np.array([0, 1, 2, 3.75, 100, 7, 0.5, 127], np.float64).astype(DTYPES[source])
    np.testing.assert_array_equal(converted(x, source, target), x.astype(DTYPES[target]))


def test_wide_numbers_become_small_floats_in_one_step():
    x = np.array([2049, 2051, 0x1000001, -4097, 8388609, 257, 0, 12345678], np.int32)
    expected = x.astype(np.float64)
    bits = expected.astype(np.float32).view(np.uint32)
    # Exact in f64; to bf16, the nearest with ties to even.
    exact = np.abs(expected)
    out = (converted(x, "i32", "bf16").astype(np.uint32) << 16).view(np.float32)
    for value, got in zip(exact, np.abs(out), strict=True):
        step = 2.0 ** (np.floor(np.log2(value)) - 7) if value else 1
        assert abs(got - value) <= step / 2
    assert bits.size == 8


@pytest.mark.parametrize(
    ("mode", "expected"), [("rn", 0x3F80), ("rz", 0x3F80), ("rp", 0x3F81), ("rm", 0x3F80)]
)
def test_rounding_of_casts(mode, expected):
    x = np.full(8, 1 + 2**-10, np.float32)
    assert set(converted(x, "f32", "bf16", mode)) == {expected}
    assert set(converted(-x, "f32", "bf16", {"rp": "rm", "rm": "rp"}.get(mode, mode))) == {
        expected | 0x8000
    }


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("rn", [1, 1, 1 + 2**-9, 1 + 2**-10]),
        ("rz", [1, 1, 1 + 2**-10, 1]),
        ("rp", [1 + 2**-10, 1 + 2**-10, 1 + 2**-9, 1 + 2**-10]),
        ("rm", [1, 1, 1 + 2**-10, 1]),
        ("ra", [1, 1 + 2**-10, 1 + 2**-9, 1 + 2**-10]),
    ],
)
def test_rounding_of_casts_to_tf32(mode, expected):
    values = [1 + 2**-12, 1 + 2**-11, 1 + 3 * 2**-11, 1 + 2**-11 + 2**-20]
    x = np.array([*values, 0, -0.0, np.inf, np.nan], np.float32)
    np.testing.assert_array_equal(
        converted(x, "f32", "tf32", mode).view(np.float32), [*expected, 0, -0.0, np.inf, np.nan]
    )
    reverse = {"rp": "rm", "rm": "rp"}.get(mode, mode)
    np.testing.assert_array_equal(
        converted(-x, "f32", "tf32", reverse).view(np.float32),
        [*(-e for e in expected), 0, -0.0, -np.inf, np.nan],
    )


@pytest.mark.parametrize(
    ("target", "values", "expected"),
    [
        (
            "e4m3",
            [0, 1, -2, 448, 1000, 2**-9, np.nan, 1.0625],
            [0, 0x38, 0xC0, 126, 126, 1, 127, 56],
        ),
        (
            "e5m2",
            [0, 1, -2, 57344, 1e9, 2**-16, np.nan, 1.125],
            [0, 60, 0xC0, 123, 123, 1, 127, 60],
        ),
        ("e8m0", [0, 1, 2, 0.5, 3.1, 1e38, np.nan, 1.4], [0, 127, 128, 126, 129, 253, 255, 127]),
        ("e5m3", [0, 1, 2, 0.5, -3, 1e9, np.nan, 1.0625], [0, 120, 128, 112, 0, 254, 255, 120]),
    ],
)
def test_eight_bits(target, values, expected):
    x = np.array(values, np.float32)
    raw = converted(x, "f32", target)
    np.testing.assert_array_equal(raw, expected)
    back = np.zeros(8, np.float32)
    body = f"""%x = {whole("%p", target, (8,))}
%y = cast %x : f32[8]
{keep("%out", "%y", (8,))}"""
    run(kernel({"p": f"ptr<{target}>", "out": "ptr<f32>"}, body), raw, back)
    near = np.abs(x) < 100
    np.testing.assert_allclose(back[near & (x > 0)], x[near & (x > 0)], rtol=0.5)


@pytest.mark.parametrize("mode", ["rz", "rp", "rm", "approx", "full"])
@pytest.mark.parametrize("op", ["add", "mul", "div", "sqrt"])
@pytest.mark.parametrize("ftz", [0, 1])
def test_rounding_modes(mode, op, ftz):
    if mode in ("approx", "full") and (op in ("add", "mul") or (op, mode) == ("sqrt", "full")):
        pytest.skip("no such mode")
    a = np.linspace(1, 2, 64, dtype=np.float32)
    b = np.linspace(3, 5, 64, dtype=np.float32)
    arrays = [a] if op == "sqrt" else [a, b]
    out = elementwise(op, "f32", arrays, attributes=f"{{rm = {mode}, ftz = {ftz}}}")
    exact = {
        "add": np.add,
        "mul": np.multiply,
        "div": np.divide,
        "sqrt": np.sqrt,
    }[op](*(array.astype(np.float64) for array in arrays))
    if mode == "rp":
        assert (out >= exact).all()
    if mode in ("rz", "rm"):
        assert (out <= exact).all()
    np.testing.assert_allclose(out, exact, rtol=3e-7)


@pytest.mark.parametrize("element", FLOATS)
@pytest.mark.parametrize("op", ["min", "max"])
def test_extremes_of_nan(element, op):
    a = np.array([np.nan, 1, 2, np.nan], FLOATS[element])
    b = np.array([1, np.nan, 3, np.nan], FLOATS[element])
    numbers = {"min": np.fmin, "max": np.fmax}[op]
    np.testing.assert_array_equal(elementwise(op, element, [a, b]), numbers(a, b))
    spread = {"min": np.minimum, "max": np.maximum}[op]
    out = elementwise(op, element, [a, b], attributes="{nan = 1}")
    np.testing.assert_array_equal(out, spread(a, b))


@pytest.mark.parametrize("element", ["i32", "f32", "f16", "u8"])
@pytest.mark.parametrize(
    ("op", "function"),
    [
        ("eq", np.equal),
        ("ne", np.not_equal),
        ("lt", np.less),
        ("le", np.less_equal),
        ("gt", np.greater),
        ("ge", np.greater_equal),
    ],
)
def test_comparisons(element, op, function):
    a = np.arange(32).astype(DTYPES[element])
    b = a[::-1].copy()
    b[:8] = a[:8]
    np.testing.assert_array_equal(elementwise(op, element, [a, b], result="i1"), function(a, b))


@pytest.mark.parametrize("count", [256, 100, 1])
@pytest.mark.parametrize("element", ["f32", "u8", "i64", "f16"])
def test_gather_and_scatter(element, count):
    x = np.arange(512).astype(DTYPES[element])
    out = np.zeros(512, DTYPES[element])
    body = f"""%i = iota : i32[256]
%two = const {{value = 2}} : i32[256]
%at = mul %i, %two : i32[256]
%end = broadcast %n : i32[256]
%m = lt %i, %end : i1[256]
%o = const {{value = 7}} : {element}[256]
%v = load_at %p, %at, mask(%m), other(%o) : {element}[256]
store_at %out, %i, %v, mask()
store_at %out, %at, %v, mask(%m)"""
    names = {"p": f"ptr<{element}>", "out": f"ptr<{element}>", "n": "i32"}
    run(kernel(names, body), x, out, np.int32(count))
    expected = np.zeros_like(out)
    value = np.where(np.arange(256) < count, x[::2], 7)
    expected[:256] = value
    expected[: 2 * count : 2] = value[:count]
    np.testing.assert_array_equal(out, expected)


def test_store_is_seen_by_other_threads():
    x = np.arange(1024, dtype=np.int32)
    out = np.zeros((32, 32), np.int32)
    body = f"""%i = iota : i32[1024]
store %p, %i, origin(0), shape(1024), strides(1)
%y = load %p, origin(0, 0), shape(32, 32), strides(1, 32) : i32[32,32]
{keep("%out", "%y", (32, 32))}"""
    generated = run(kernel({"p": "ptr<i32>", "out": "ptr<i32>"}, body), x, out)
    assert "__syncthreads();" in generated.source
    np.testing.assert_array_equal(out, np.arange(1024).reshape(32, 32).T)


@pytest.mark.parametrize("pad", ["zero", "nan", "inf", "neg_inf", "neg_zero"])
@pytest.mark.parametrize("origin", [0, 40, -8])
def test_padding(pad, origin):
    x = np.arange(1, 51, dtype=np.float32)
    out = np.zeros(64, np.float32)
    body = f"""%x = load %p, origin(%o), shape(%n), strides(1) {{pad = {pad}}} : f32[64]
{keep("%out", "%x", (64,))}"""
    names = {"p": "ptr<f32>", "o": "i32", "n": "i32", "out": "ptr<f32>"}
    run(kernel(names, body), x, np.int32(origin), np.int32(50), out)
    value = {"zero": 0.0, "nan": np.nan, "inf": np.inf, "neg_inf": -np.inf, "neg_zero": -0.0}[pad]
    at = np.arange(64) + origin
    expected = np.where((at >= 0) & (at < 50), x[np.clip(at, 0, 49)], np.float32(value))
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(np.signbit(out), np.signbit(expected))
