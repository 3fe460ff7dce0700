# SPDX-License-Identifier: Apache-2.0
"""The translation of tile kernels to CUDA C++, run on the device."""

import numpy as np
import pytest
from cudacore import Device, LaunchConfig, Program, ProgramOptions, _tile, launch


def run(text, *arguments, grid=1, arch=None):
    """Launch a kernel; arrays are copied to the device and back."""
    device = Device()
    device.set_current()
    stream = device.create_stream()
    generated = _tile.generate(text, arch=arch or 80)
    options = ProgramOptions(arch=f"sm_{arch or 80}", headers=_tile.headers())
    kernel = Program(generated.source, "c++", options).compile("ptx").get_kernel(generated.entry)
    passed = []
    buffers = []
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            buffer = device.allocate(max(argument.nbytes, 1), stream=stream)
            buffer.copy_from(
                np.ascontiguousarray(argument).view(np.uint8).reshape(-1), stream=stream
            )
            buffers.append((argument, buffer))
            passed.append(buffer)
        else:
            passed.append(argument)
    config = LaunchConfig(grid=grid, block=generated.threads, shmem_size=generated.shared_bytes)
    launch(stream, config, kernel, *passed)
    for array, buffer in buffers:
        array[...] = buffer.to_host(np.uint8, stream=stream).view(array.dtype).reshape(array.shape)
    stream.sync()
    return generated


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


def whole(name, element, shape, pad="zero"):
    """Load a tile from an array of its own shape."""
    strides = [int(np.prod(shape[i + 1 :])) for i in range(len(shape))]
    zeros = ", ".join("0" for _ in shape)
    return (
        f"load {name}, origin({zeros}), shape({', '.join(map(str, shape))}), "
        f"strides({', '.join(map(str, strides))}) {{pad = {pad}}} : {tile(element, shape)}"
    )


def keep(name, value, shape):
    """Store a tile to an array of its own shape."""
    strides = [int(np.prod(shape[i + 1 :])) for i in range(len(shape))]
    zeros = ", ".join("0" for _ in shape)
    return (
        f"store {name}, {value}, origin({zeros}), shape({', '.join(map(str, shape))}), "
        f"strides({', '.join(map(str, strides))})"
    )


def tile(element, shape):
    return f"{element}[{','.join(map(str, shape))}]" if shape else element


DTYPES = {
    "f32": np.float32,
    "f64": np.float64,
    "f16": np.float16,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "u8": np.uint8,
    "u16": np.uint16,
    "u32": np.uint32,
    "u64": np.uint64,
    "i1": np.bool_,
}


def kernel(parameters, body, hints=""):
    lines = [
        f"param %{name} : {kind} {{align = 16}}" if "ptr" in kind else f"param %{name} : {kind}"
        for name, kind in parameters.items()
    ]
    return "\n".join(["tile 1", 'kernel "k" {', *lines, hints, body, "return", "}"])


def elementwise(op, element, arrays, result=None, attributes="", arch=None):
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


@pytest.mark.parametrize("shape", [(8,), (256,), (16, 32), (64, 64), (2, 4, 128), (1, 4096)])
@pytest.mark.parametrize("warps", [1, 4])
def test_sums(shape, warps):
    x = np.random.default_rng(4).integers(-9, 9, shape).astype(np.float32)
    for axis in range(len(shape)):
        rest = shape[:axis] + shape[axis + 1 :]
        out = np.zeros(rest, np.float32)
        body = f"""%x = {whole("%p", "f32", shape)}
%y = reduce %x {{axis = {axis}, identity = (0.0)}} : {tile("f32", rest)} (%a : f32, %b : f32) {{
  %c = add %a, %b : f32
  yield %c
}}
{keep("%out", "%y", rest)}"""
        run(kernel({"p": "ptr<f32>", "out": "ptr<f32>"}, body, f"hint warps = {warps}"), x, out)
        np.testing.assert_array_equal(out, x.sum(axis))


@pytest.mark.parametrize("shape", [(64,), (16, 64), (4, 1024), (128, 8)])
def test_position_of_the_largest(shape):
    x = np.random.default_rng(5).integers(0, 20, shape).astype(np.float32)
    for axis in range(len(shape)):
        rest = shape[:axis] + shape[axis + 1 :]
        out = np.zeros(rest, np.int32)
        lengths = [1] * len(shape)
        lengths[axis] = shape[axis]
        pairs = "(%a : f32, %ai : i32, %b : f32, %bi : i32)"
        types = f"{tile('f32', rest)}, {tile('i32', rest)}"
        body = f"""%x = {whole("%p", "f32", shape)}
%n = iota : i32[{shape[axis]}]
%m = reshape %n : {tile("i32", lengths)}
%i = broadcast %m : {tile("i32", shape)}
%v, %y = reduce %x, %i {{axis = {axis}, identity = (-inf, 0)}} : {types} {pairs} {{
  %gt = gt %a, %b : i1
  %eq = eq %a, %b : i1
  %lt = lt %ai, %bi : i1
  %tie = and %eq, %lt : i1
  %first = or %gt, %tie : i1
  %c = select %first, %a, %b : f32
  %ci = select %first, %ai, %bi : i32
  yield %c, %ci
}}
{keep("%out", "%y", rest)}"""
        run(kernel({"p": "ptr<f32>", "out": "ptr<i32>"}, body), x, out)
        np.testing.assert_array_equal(out, x.argmax(axis))


@pytest.mark.parametrize("shape", [(64,), (2048,), (16, 64), (128, 32), (2, 8, 16)])
@pytest.mark.parametrize("reverse", [0, 1])
@pytest.mark.parametrize("warps", [1, 4])
def test_running_sums(shape, reverse, warps):
    x = np.random.default_rng(6).integers(-9, 9, shape).astype(np.int32)
    for axis in range(len(shape)):
        out = np.zeros(shape, np.int32)
        attributes = f"{{axis = {axis}, identity = (0), reverse = {reverse}}}"
        body = f"""%x = {whole("%p", "i32", shape)}
%y = scan %x {attributes} : {tile("i32", shape)} (%a : i32, %b : i32) {{
  %c = add %a, %b : i32
  yield %c
}}
{keep("%out", "%y", shape)}"""
        run(kernel({"p": "ptr<i32>", "out": "ptr<i32>"}, body, f"hint warps = {warps}"), x, out)
        expected = np.flip(np.flip(x, axis).cumsum(axis), axis) if reverse else x.cumsum(axis)
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("element", ["f32", "f16", "u8", "f64"])
@pytest.mark.parametrize("shape", [(32, 32), (64, 128), (8, 4), (1, 256), (256, 16)])
def test_transpose(element, shape):
    x = np.random.default_rng(7).integers(0, 99, shape).astype(DTYPES[element])
    out = np.zeros(shape[::-1], x.dtype)
    body = f"""%x = {whole("%p", element, shape)}
%y = permute %x {{axes = (1, 0)}} : {tile(element, shape[::-1])}
{keep("%out", "%y", shape[::-1])}"""
    run(kernel({"p": f"ptr<{element}>", "out": f"ptr<{element}>"}, body), x, out)
    np.testing.assert_array_equal(out, x.T)


def test_permute_of_three_axes():
    x = np.arange(8 * 16 * 4, dtype=np.int32).reshape(8, 16, 4)
    out = np.zeros((4, 8, 16), np.int32)
    body = f"""%x = {whole("%p", "i32", x.shape)}
%y = permute %x {{axes = (2, 0, 1)}} : i32[4,8,16]
{keep("%out", "%y", out.shape)}"""
    run(kernel({"p": "ptr<i32>", "out": "ptr<i32>"}, body), x, out)
    np.testing.assert_array_equal(out, x.transpose(2, 0, 1))


@pytest.mark.parametrize("index", [(0, 0), (1, 3), (3, 1)])
@pytest.mark.parametrize("dynamic", [False, True])
def test_blocks(index, dynamic):
    x = np.arange(64 * 64, dtype=np.int32).reshape(64, 64)
    v = -np.arange(16 * 16, dtype=np.int32).reshape(16, 16)
    block = np.zeros((16, 16), np.int32)
    whole_tile = np.zeros((64, 64), np.int32)
    at = "%i, %j" if dynamic else ", ".join(map(str, index))
    body = f"""%x = {whole("%p", "i32", x.shape)}
%v = {whole("%q", "i32", v.shape)}
%y = extract %x, index({at}) : i32[16,16]
{keep("%out", "%y", block.shape)}
%z = insert %x, %v, index({at}) : i32[64,64]
{keep("%all", "%z", x.shape)}"""
    names = {
        "p": "ptr<i32>",
        "q": "ptr<i32>",
        "out": "ptr<i32>",
        "all": "ptr<i32>",
        "i": "i32",
        "j": "i32",
    }
    run(kernel(names, body), x, v, block, whole_tile, *map(np.int32, index))
    rows, columns = (slice(16 * i, 16 * i + 16) for i in index)
    np.testing.assert_array_equal(block, x[rows, columns])
    x[rows, columns] = v
    np.testing.assert_array_equal(whole_tile, x)


@pytest.mark.parametrize("axis", [0, 1])
def test_joined(axis):
    a = np.arange(32 * 16, dtype=np.int32).reshape(32, 16)
    b = -a
    out = np.zeros_like(np.concatenate([a, b], axis))
    body = f"""%a = {whole("%p", "i32", a.shape)}
%b = {whole("%q", "i32", a.shape)}
%y = cat %a, %b {{axis = {axis}}} : {tile("i32", out.shape)}
{keep("%out", "%y", out.shape)}"""
    run(kernel({"p": "ptr<i32>", "q": "ptr<i32>", "out": "ptr<i32>"}, body), a, b, out)
    np.testing.assert_array_equal(out, np.concatenate([a, b], axis))


def test_bytes():
    x = np.arange(256, dtype=np.float32)
    raw = np.zeros(1024, np.uint8)
    back = np.zeros(256, np.float32)
    body = f"""%x = {whole("%p", "f32", (256,))}
%y = pack %x : u8[1024]
{keep("%raw", "%y", (1024,))}
%u = {whole("%raw", "u8", (1024,))}
%z = unpack %u : f32[256]
{keep("%back", "%z", (256,))}"""
    run(kernel({"p": "ptr<f32>", "raw": "ptr<u8>", "back": "ptr<f32>"}, body), x, raw, back)
    np.testing.assert_array_equal(raw, x.view(np.uint8))
    np.testing.assert_array_equal(back, x)


def test_loop_with_carried_tiles():
    x = np.arange(7 * 128, dtype=np.float32)
    total = np.zeros(128, np.float32)
    last = np.zeros(128, np.float32)
    body = f"""%zero = const {{value = 0e0}} : f32[128]
%sum, %prev = for %i = (0, %n, 128) iter(%acc = %zero, %old = %zero) : f32[128], f32[128] {{
  %t = load %p, origin(%i), shape(%n), strides(1) {{pad = zero}} : f32[128]
  %next = add %acc, %t : f32[128]
  continue %next, %acc
}}
{keep("%out", "%sum", (128,))}
{keep("%last", "%prev", (128,))}"""
    names = {"p": "ptr<f32>", "n": "i32", "out": "ptr<f32>", "last": "ptr<f32>"}
    run(kernel(names, body), x, np.int32(x.size), total, last)
    np.testing.assert_array_equal(total, x.reshape(7, 128).sum(0))
    np.testing.assert_array_equal(last, x.reshape(7, 128)[:6].sum(0))


def test_endless_loop_left_by_break():
    out = np.zeros(1, np.int32)
    body = """%s = const {value = 1} : i32
%two = const {value = 2} : i32
%r = loop iter(%a = %s) : i32 {
  %big = gt %a, %n : i1
  if %big {
    break %a
  } else {
    yield
  }
  %d = mul %a, %two : i32
  continue %d
}
store %out, %r, origin(0), shape(1), strides(1)"""
    run(kernel({"out": "ptr<i32>", "n": "i32"}, body), out, np.int32(100))
    assert out[0] == 128


@pytest.mark.parametrize("n", [0, 5])
def test_branches_give_tiles(n):
    x = np.arange(64, dtype=np.int32)
    out = np.zeros_like(x)
    body = f"""%zero = const {{value = 0}} : i32
%c = gt %n, %zero : i1
%x = {whole("%p", "i32", (64,))}
%y = if %c : i32[64] {{
  %d = add %x, %x : i32[64]
  yield %d
}} else {{
  yield %x
}}
{keep("%out", "%y", (64,))}"""
    run(kernel({"p": "ptr<i32>", "n": "i32", "out": "ptr<i32>"}, body), x, np.int32(n), out)
    np.testing.assert_array_equal(out, 2 * x if n else x)


@pytest.mark.parametrize(("rows", "columns"), [(64, 64), (50, 37), (1, 64), (65, 3)])
def test_ragged_transpose(rows, columns):
    x = np.arange(rows * columns, dtype=np.float32).reshape(rows, columns)
    out = np.full((columns, rows), -1, np.float32)
    body = """%size = const {value = 32} : i32
%bi = bid {axis = 0} : i32
%bj = bid {axis = 1} : i32
%i = mul %bi, %size : i32
%j = mul %bj, %size : i32
%x = load %p, origin(%i, %j), shape(%m, %n), strides(%n, 1) {pad = zero} : f32[32,32]
%y = permute %x {axes = (1, 0)} : f32[32,32]
store %out, %y, origin(%j, %i), shape(%n, %m), strides(%m, 1)"""
    names = {"p": "ptr<f32>", "out": "ptr<f32>", "m": "i32", "n": "i32"}
    grid = (-(-rows // 32), -(-columns // 32))
    run(kernel(names, body), x, out, np.int32(rows), np.int32(columns), grid=grid)
    np.testing.assert_array_equal(out, x.T)
