# SPDX-License-Identifier: Apache-2.0
"""mma and loops that load ahead of it, generated and run on the device."""

import cudacore.tile as ct
import numpy as np
import pytest
from cudacore import Device, LaunchConfig, Program, ProgramOptions, _tile, launch


def to_bf16(values):
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def to_e4m3(values):
    """Integers up to 8, exactly."""
    table = {0: 0}
    for bits in range(8, 0x7F):
        number = (1 + (bits & 7) / 8) * 2.0 ** ((bits >> 3) - 7)
        table[number] = bits
        table[-number] = bits | 0x80
    return np.array([table[float(x)] for x in values.reshape(-1)], np.uint8).reshape(values.shape)


def to_e5m2(values):
    """Numbers whose f16 ends in zeros."""
    return (values.astype(np.float16).view(np.uint16) >> 8).astype(np.uint8)


ENCODE = {
    "bf16": to_bf16,
    "e4m3": to_e4m3,
    "e5m2": to_e5m2,
    "f16": lambda x: x.astype(np.float16),
    "tf32": lambda x: x.astype(np.float32),
    "f32": lambda x: x.astype(np.float32),
    "f64": lambda x: x.astype(np.float64),
    "i8": lambda x: x.astype(np.int8),
    "u8": lambda x: x.astype(np.uint8),
    "i32": lambda x: x.astype(np.int32),
}
DECODE = {"bf16": from_bf16}


def run(text, *arguments, grid=1, arch=80, **hints):
    """Launch a kernel; arrays are copied to the device and back."""
    device = Device()
    device.set_current()
    stream = device.create_stream()
    generated = _tile.generate(text, arch=arch, **hints)
    options = ProgramOptions(arch=f"sm_{arch}", headers=_tile.headers())
    kernel = Program(generated.source, "c++", options).compile("ptx").get_kernel(generated.entry)
    passed = []
    buffers = []
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            buffer = device.allocate(argument.nbytes, stream=stream)
            buffer.copy_from(argument.view(np.uint8).reshape(-1), stream=stream)
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


def listed(numbers):
    return ", ".join(str(n) for n in numbers)


def whole(shape):
    strides = [int(np.prod(shape[i + 1 :])) for i in range(len(shape))]
    return f"origin({listed([0] * len(shape))}), shape({listed(shape)}), strides({listed(strides)})"


def tile(element, shape):
    return f"{element}[{','.join(map(str, shape))}]"


def product_text(elements, shape):
    """D = A B + C of whole arrays."""
    a, b, c = elements
    rows, columns, inner, batch = shape
    front = (batch,) if batch else ()
    left, right, result = (*front, rows, inner), (*front, inner, columns), (*front, rows, columns)
    return f"""tile 1
kernel "product" {{
  param %A : ptr<{a}> {{align = 16}}
  param %B : ptr<{b}> {{align = 16}}
  param %C : ptr<{c}> {{align = 16}}
  param %D : ptr<{c}> {{align = 16}}
  %a = load %A, {whole(left)} : {tile(a, left)}
  %b = load %B, {whole(right)} : {tile(b, right)}
  %c = load %C, {whole(result)} : {tile(c, result)}
  %d = mma %a, %b, %c : {tile(c, result)}
  store %D, %d, {whole(result)}
  return
}}
"""


PAIRS = [
    ("f16", "f16", "f32"),
    ("f16", "f16", "f16"),
    ("bf16", "bf16", "f32"),
    ("tf32", "tf32", "f32"),
    ("f32", "f32", "f32"),
    ("f64", "f64", "f64"),
    ("i8", "i8", "i32"),
    ("u8", "u8", "i32"),
    ("i8", "u8", "i32"),
    ("u8", "i8", "i32"),
    ("e4m3", "e4m3", "f32"),
    ("e5m2", "e5m2", "f32"),
    ("e4m3", "e5m2", "f32"),
    ("e4m3", "e4m3", "f16"),
]
SHAPES = [
    (1, 1, 1, 0),
    (2, 4, 8, 0),
    (8, 8, 8, 0),
    (16, 16, 16, 0),
    (64, 32, 64, 0),
    (16, 16, 16, 2),
    (1, 32, 64, 4),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
@pytest.mark.parametrize("arch", [75, 80, 90])
def test_product(arch, pair, shape):
    if arch != 80 and shape not in ((8, 8, 8, 0), (64, 32, 64, 0)):
        pytest.skip("these shapes differ by the architecture no more")
    a, b, c = pair
    rows, columns, inner, batch = shape
    front = (batch,) if batch else ()
    numbers = np.random.default_rng(7)
    least = 0 if "u8" in pair else -3
    x = numbers.integers(least, 4, (*front, rows, inner)).astype(float)
    y = numbers.integers(least, 4, (*front, inner, columns)).astype(float)
    z = numbers.integers(-3, 4, (*front, rows, columns)).astype(float)
    out = np.zeros_like(ENCODE[c](z))
    text = product_text(pair, shape)
    run(text, ENCODE[a](x), ENCODE[b](y), ENCODE[c](z), out, arch=arch)
    np.testing.assert_array_equal(DECODE.get(c, np.asarray)(out), x @ y + z)


def loop_text(
    tile_shape,
    *,
    a="bf16",
    b=None,
    c="f32",
    out=None,
    multiplied=None,
    turned=(False, False),
    div=8,
    pad="zero",
    inside="",
):
    """C = A B by a block for each tile of C, with a loop over the inner extent."""
    b = b or a
    out = out or c
    rows, columns, inner = tile_shape
    result = tile(c, (rows, columns))
    left, right = tile(a, (rows, inner)), tile(b, (inner, columns))
    strides_a = "strides(1, %lda)" if turned[0] else "strides(%lda, 1)"
    strides_b = "strides(1, %ldb)" if turned[1] else "strides(%ldb, 1)"
    lines = ["tile 1", 'kernel "product" {']
    lines += [
        f"param %{name} : ptr<{element}> {{align = 16}}"
        for name, element in (("A", a), ("B", b), ("C", out))
    ]
    lines += [
        f"param %{name} : i32 {{div = {div}}}" for name in ("M", "N", "K", "lda", "ldb", "ldc")
    ]
    lines += [
        "%x = bid {axis = 0} : i32",
        "%y = bid {axis = 1} : i32",
        f"%rows = const {{value = {rows}}} : i32",
        f"%columns = const {{value = {columns}}} : i32",
        f"%inner = const {{value = {inner}}} : i32",
        "%row = mul %x, %rows : i32",
        "%column = mul %y, %columns : i32",
        "%zero = const {value = 0} : i32",
        f"%z = const {{value = {'0' if c == 'i32' else '0.0'}}} : {result}",
        f"%r = for %k = (%zero, %K, %inner) iter(%s = %z) : {result} {{",
        f"%a = load %A, origin(%row, %k), shape(%M, %K), {strides_a} {{pad = {pad}}} : {left}",
        f"%b = load %B, origin(%k, %column), shape(%K, %N), {strides_b} {{pad = {pad}}} : {right}",
    ]
    operands = "%a, %b"
    if multiplied:
        lines.append(f"%am = cast %a : {tile(multiplied, (rows, inner))}")
        lines.append(f"%bm = cast %b : {tile(multiplied, (inner, columns))}")
        operands = "%am, %bm"
    lines += [f"%n = mma {operands}, %s : {result}", inside, "continue %n", "}"]
    value = "%r"
    if out != c:
        lines.append(f"%o = cast %r : {tile(out, (rows, columns))}")
        value = "%o"
    lines += [
        f"store %C, {value}, origin(%row, %column), shape(%M, %N), strides(%ldc, 1)",
        "return",
        "}",
    ]
    return "\n".join(lines) + "\n"


def check_loop(shape, tile_shape, arch=80, hints=None, **kinds):
    rows, columns, inner = shape
    a = kinds.get("a", "bf16")
    b = kinds.get("b") or a
    c = kinds.get("c", "f32")
    out = kinds.get("out") or c
    turned = kinds.get("turned", (False, False))
    numbers = np.random.default_rng(11)
    least = 0 if "u8" in (a, b) else -3
    x = numbers.integers(least, 4, (rows, inner)).astype(float)
    y = numbers.integers(least, 4, (inner, columns)).astype(float)
    stored_x = np.ascontiguousarray(x.T if turned[0] else x)
    stored_y = np.ascontiguousarray(y.T if turned[1] else y)
    result = ENCODE[out](np.zeros((rows, columns)))
    generated = run(
        loop_text(tile_shape, **kinds),
        ENCODE[a](stored_x),
        ENCODE[b](stored_y),
        result,
        rows,
        columns,
        inner,
        stored_x.shape[1],
        stored_y.shape[1],
        columns,
        grid=(-(-rows // tile_shape[0]), -(-columns // tile_shape[1])),
        arch=arch,
        **(hints or {}),
    )
    decode = DECODE.get(out, np.asarray)
    np.testing.assert_array_equal(decode(result), decode(ENCODE[out](x @ y)))
    return generated


TURNS = [(False, False), (False, True), (True, False), (True, True)]


@pytest.mark.parametrize("turned", TURNS, ids=str)
@pytest.mark.parametrize(
    ("shape", "tile_shape", "kinds"),
    [
        ((72, 72, 104), (64, 64, 32), {}),
        ((40, 48, 40), (32, 32, 16), {"a": "f32", "multiplied": "tf32"}),
        ((40, 48, 40), (32, 32, 16), {"a": "f32"}),
        ((48, 80, 80), (32, 64, 32), {"a": "i8", "b": "u8", "c": "i32", "div": 16}),
        ((40, 24, 24), (32, 16, 16), {"a": "f64", "c": "f64"}),
        ((40, 40, 40), (16, 32, 16), {"a": "f16", "c": "f16"}),
        ((22, 18, 38), (16, 16, 16), {"div": 2}),
        ((17, 21, 19), (16, 16, 16), {"a": "f32", "div": 1}),
    ],
    ids=["bf16", "tf32", "f32", "i8", "f64", "f16", "bf16 pairs", "f32 ragged"],
)
def test_loop_loads_ahead(shape, tile_shape, kinds, turned):
    generated = check_loop(shape, tile_shape, turned=turned, **kinds)
    assert generated.source.count("matrix::fetch<") == 2


@pytest.mark.parametrize("turned", TURNS, ids=str)
def test_loop_without_alignment_goes_through_registers(turned):
    generated = check_loop((17, 21, 19), (16, 16, 16), turned=turned, div=1)
    assert "matrix::fetch<" not in generated.source


@pytest.mark.parametrize("arch", [75, 80, 90])
@pytest.mark.parametrize("element", ["f16", "bf16", "f32"])
def test_loop_on_architectures(arch, element):
    generated = check_loop((40, 40, 72), (32, 32, 32), arch=arch, a=element)
    assert ("matrix::fetch<" in generated.source) == (arch >= 80)


@pytest.mark.parametrize(
    ("tile_shape", "threads"), [((128, 128, 64), 128), ((128, 256, 64), 256), ((64, 256, 32), 128)]
)
def test_large_tiles(tile_shape, threads):
    generated = check_loop((136, 264, 136), tile_shape, arch=90, out="bf16")
    assert generated.threads == threads
    # A block alone on its multiprocessor loads fragments across the barrier.
    assert ("matrix::LoopProduct<" in generated.source) == (threads == 256)
    assert generated.shared_bytes == 3 * 2 * tile_shape[2] * (tile_shape[0] + tile_shape[1])


@pytest.mark.parametrize("warps", [1, 2, 8, 16])
def test_any_number_of_warps(warps):
    assert check_loop((72, 72, 72), (64, 32, 32), hints={"warps": warps}).threads == 32 * warps


@pytest.mark.parametrize("turned", TURNS, ids=str)
@pytest.mark.parametrize("element", ["f16", "f32"])
def test_fragments_loaded_across_iterations(element, turned):
    kinds = {"a": element, "turned": turned}
    if element == "f32":
        kinds["multiplied"] = "tf32"
    generated = check_loop((72, 72, 136), (64, 64, 32), hints={"warps": 8}, **kinds)
    # Elements of 4 bytes come through ldmatrix if the inner extent is contiguous.
    expected = element == "f16" or turned == (False, True)
    assert ("matrix::LoopProduct<" in generated.source) == expected


def test_a_loop_that_does_more_loads_fragments_within_iterations():
    inside = "store %C, %n, origin(%row, %column), shape(%M, %N), strides(%ldc, 1)"
    generated = check_loop((64, 64, 64), (64, 64, 32), hints={"warps": 8}, a="f16", inside=inside)
    assert "matrix::LoopProduct<" not in generated.source


def test_occupancy_that_would_spill_is_lowered():
    text = loop_text((128, 256, 32))
    assert "__launch_bounds__(256) " in _tile.generate(text, arch=90, occupancy=2).source
    text = loop_text((128, 128, 32))
    assert "__launch_bounds__(128) " in _tile.generate(text, arch=90, occupancy=2).source
    text = loop_text((64, 64, 32))
    assert "__launch_bounds__(128, 4) " in _tile.generate(text, arch=90, occupancy=4).source


@pytest.mark.parametrize("tile_shape", [(1, 1, 1), (8, 8, 8), (4, 16, 64), (64, 2, 4)], ids=str)
def test_tiny_tiles_in_a_loop(tile_shape):
    check_loop((10, 18, 66), tile_shape, a="f16", div=2)


def test_one_slot_where_no_more_fit():
    generated = check_loop((72, 72, 200), (64, 64, 64), hints={"max_shared": 24 * 1024})
    assert "__syncthreads" in generated.source
    assert generated.shared_bytes == 2 * 64 * 128


def test_a_loop_of_no_iterations():
    out = np.ones((16, 16), np.float32)
    text = loop_text((16, 16, 16), a="f16")
    empty = np.zeros(16, np.float16)
    run(text, empty, empty, out, 16, 16, 0, 8, 16, 16)
    np.testing.assert_array_equal(out, np.zeros((16, 16)))


@pytest.mark.parametrize("pad", ["nan", "inf", "neg_inf"])
def test_padding_that_is_not_zero_goes_through_registers(pad):
    out = np.zeros((16, 16), np.float32)
    one = np.ones((16, 8), np.float16)
    text = loop_text((16, 16, 16), a="f16", pad=pad)
    generated = run(text, one, one.reshape(8, 16), out, 16, 16, 8, 8, 16, 16)
    assert "matrix::fetch<" not in generated.source
    expected = np.nan if pad == "nan" else np.inf  # products of two infinities of one sign
    np.testing.assert_array_equal(out, np.full((16, 16), expected, np.float32))


def test_loads_of_what_the_loop_writes_are_not_ahead():
    inside = (
        "%n16 = cast %n : bf16[16,16]\n"
        "store %A, %n16, origin(%row, %k), shape(%M, %K), strides(%lda, 1)"
    )
    source = _tile.generate(loop_text((16, 16, 16), inside=inside), arch=80).source
    assert source.count("matrix::fetch<") == 1


def test_a_product_that_does_not_fit_registers():
    text = product_text(("f16", "f16", "f32"), (512, 512, 16, 0))
    with pytest.raises(_tile.Error, match=r"f32\[512,512\].*1048576 bytes.*registers"):
        _tile.generate(text, arch=80, warps=4)


def test_operands_that_do_not_fit_shared_memory():
    text = loop_text((128, 128, 1024))
    with pytest.raises(_tile.Error, match=r"bytes of shared memory"):
        _tile.generate(text, arch=80)


def attention_text(rows, columns, depth, element, is_causal):
    """Attention with a running softmax, in base 2; the arrays are [heads, length, depth]."""
    scores, result = tile("f32", (rows, columns)), tile("f32", (rows, depth))
    column, mask = tile("f32", (rows, 1)), tile("i1", (rows, columns))
    index = tile("i32", (rows, columns))
    causal = f"%k2 = ge %rowsb, %columnsb : {mask}\n%keep = and %k1, %k2 : {mask}"
    everything = f"%keep = and %k1, %k1 : {mask}"
    arrays = "\n".join(f"param %{name} : ptr<{element}> {{align = 16}}" for name in "QKVO")
    return f"""tile 1
kernel "attention" {{
{arrays}
param %scale : f32
param %L : i32
param %H : i32
%x = bid {{axis = 0}} : i32
%head = bid {{axis = 1}} : i32
%tm = const {{value = {rows}}} : i32
%tn = const {{value = {columns}}} : i32
%depth = const {{value = {depth}}} : i32
%apart = mul %L, %depth : i32
%row = mul %x, %tm : i32
%im = iota : i32[{rows}]
%rb = broadcast %row : i32[{rows}]
%r1 = add %rb, %im : i32[{rows}]
%r2 = reshape %r1 : i32[{rows},1]
%rowsb = broadcast %r2 : {index}
%in = iota : i32[{columns}]
%in2 = reshape %in : i32[1,{columns}]
%m0 = const {{value = -inf}} : {column}
%l0 = const {{value = 0.0}} : {column}
%o0 = const {{value = 0.0}} : {result}
%q3 = load %Q, origin(%head, %row, 0), shape(%H, %L, {depth}), strides(%apart, {depth}, 1) : \
{tile(element, (1, rows, depth))}
%q = reshape %q3 : {tile(element, (rows, depth))}
%zero = const {{value = 0}} : i32
%mN, %lN, %oN = for %j = (%zero, %L, %tn) iter(%m = %m0, %l = %l0, %o = %o0) : \
{column}, {column}, {result} {{
%k3 = load %K, origin(%head, 0, %j), shape(%H, {depth}, %L), strides(%apart, 1, {depth}) : \
{tile(element, (1, depth, columns))}
%k = reshape %k3 : {tile(element, (depth, columns))}
%z = const {{value = 0.0}} : {scores}
%s0 = mma %q, %k, %z : {scores}
%jb = broadcast %j : i32[1,{columns}]
%c1 = add %jb, %in2 : i32[1,{columns}]
%columnsb = broadcast %c1 : {index}
%Lb = broadcast %L : {index}
%k1 = lt %columnsb, %Lb : {mask}
{causal if is_causal else everything}
%none = const {{value = -inf}} : {scores}
%s = select %keep, %s0, %none : {scores}
%mx = reduce %s {{axis = 1, identity = (-inf)}} : f32[{rows}] (%ra : f32, %rb2 : f32) {{
%rc = max %ra, %rb2 : f32
yield %rc
}}
%mx2 = reshape %mx : {column}
%sc1 = broadcast %scale : {column}
%mxs = mul %mx2, %sc1 : {column}
%mij = max %m, %mxs : {column}
%scb = broadcast %scale : {scores}
%ss1 = mul %s, %scb : {scores}
%mb = broadcast %mij : {scores}
%ss2 = sub %ss1, %mb : {scores}
%p = exp2 %ss2 : {scores}
%sum = reduce %p {{axis = 1, identity = (0.0)}} : f32[{rows}] (%qa : f32, %qb : f32) {{
%qc = add %qa, %qb : f32
yield %qc
}}
%sum2 = reshape %sum : {column}
%dm = sub %m, %mij : {column}
%alpha = exp2 %dm : {column}
%l1 = mul %l, %alpha : {column}
%l2 = add %l1, %sum2 : {column}
%ab = broadcast %alpha : {result}
%o1 = mul %o, %ab : {result}
%v3 = load %V, origin(%head, %j, 0), shape(%H, %L, {depth}), strides(%apart, {depth}, 1) : \
{tile(element, (1, columns, depth))}
%v = reshape %v3 : {tile(element, (columns, depth))}
%pc = cast %p : {tile(element, (rows, columns))}
%o2 = mma %pc, %v, %o1 : {result}
continue %mij, %l2, %o2
}}
%lb = broadcast %lN : {result}
%r = div %oN, %lb : {result}
%r3 = reshape %r : {tile("f32", (1, rows, depth))}
%r4 = cast %r3 : {tile(element, (1, rows, depth))}
store %O, %r4, origin(%head, %row, 0), shape(%H, %L, {depth}), strides(%apart, {depth}, 1)
return
}}
"""


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize(
    ("shape", "arch", "hints"),
    [
        ((64, 32, 64), 80, {}),
        ((128, 64, 128), 90, {}),
        ((16, 16, 32), 80, {}),
        ((32, 32, 32), 75, {}),
        ((64, 64, 64), 80, {"warps": 8}),
        ((64, 64, 32), 80, {"warps": 1}),
    ],
)
def test_attention(shape, arch, hints, is_causal):
    rows, columns, depth = shape
    heads, length = 2, 72
    numbers = np.random.default_rng(5)
    q, k, v = numbers.normal(size=(3, heads, length, depth)).astype(np.float16)
    out = np.zeros_like(q)
    generated = run(
        attention_text(rows, columns, depth, "f16", is_causal),
        q,
        k,
        v,
        out,
        float(np.log2(np.e) / np.sqrt(depth)),
        length,
        heads,
        grid=(-(-length // rows), heads),
        arch=arch,
        **hints,
    )
    scores = q.astype(float) @ k.astype(float).transpose(0, 2, 1) / np.sqrt(depth)
    if is_causal:
        scores = np.where(np.tril(np.ones((length, length), bool)), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    expected = weights / weights.sum(-1, keepdims=True) @ v.astype(float)
    np.testing.assert_allclose(out.astype(float), expected, atol=4e-3, rtol=4e-3)
    # Keys, values and queries are copied ahead, and what the softmax gives stays in registers.
    if arch >= 80:
        assert generated.source.count("matrix::fetch<") == 3
    assert ("matrix::HeldRows<" in generated.source) == (rows >= 16 * generated.threads // 32)


@pytest.mark.parametrize("halves", [1, 3])
def test_ties_of_tf32_are_rounded_to_even(halves):
    @ct.kernel
    def product(a, b, c):
        total = ct.zeros((32, 32), ct.float32)
        for k in range(ct.num_tiles(a, 1, (32, 32))):
            x = ct.load(a, (0, k), (32, 32)).astype(ct.tfloat32)
            y = ct.load(b, (k, 0), (32, 32)).astype(ct.tfloat32)
            total = ct.mma(x, y, total)
        ct.store(c, (0, 0), total)

    device = Device()
    device.set_current()
    if device.compute_capability < (9, 0):
        pytest.skip("before 9.0, the instruction that rounds has ties go away from zero")
    stream = device.create_stream()
    left = np.full((32, 64), 1 + halves * 2.0**-11, np.float32)
    right = np.eye(64, 32, dtype=np.float32)
    buffers = []
    for array in (left, right, np.zeros((32, 32), np.float32)):
        buffer = device.allocate(array.nbytes, stream=stream)
        buffer.copy_from(array, stream=stream)
        buffers.append(buffer.view(np.float32, shape=array.shape))
    ct.launch(stream, (1,), product, buffers)
    result = buffers[2].exporting_obj.to_host(np.float32, stream=stream)
    assert set(result.tolist()) == {1.0 if halves == 1 else 1 + 2.0**-9}
