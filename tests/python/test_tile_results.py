# SPDX-License-Identifier: Apache-2.0
"""What operations of the tile language compute is what NumPy computes."""

from collections.abc import Callable
from typing import Any

import cudacore.tile as ct
import numpy as np
import pytest
from cudacore import Device, Stream
from cudacore.tile._dtype import canonical

RNG = np.random.default_rng(0)


@pytest.fixture
def run(device: Device, stream: Stream) -> Callable[..., None]:
    """Give a function that launches a kernel; it changes arrays in place."""

    def launch(kernel: Any, *arguments: Any, grid: int = 1) -> None:
        views = []
        for argument in arguments:
            if isinstance(argument, np.ndarray):
                buffer = device.allocate(argument.nbytes, stream=stream)
                buffer.copy_from(np.ascontiguousarray(argument).reshape(-1), stream=stream)
                views.append(buffer.view(argument.dtype).reshape(argument.shape))
            else:
                views.append(argument)
        ct.launch(stream, (grid,), kernel, tuple(views))
        for argument, view in zip(arguments, views, strict=True):
            if isinstance(argument, np.ndarray):
                result = np.empty(argument.size, argument.dtype)
                view.exporting_obj.copy_to(result, stream=stream)
                stream.sync()
                argument[...] = result.reshape(argument.shape)

    return launch


@ct.kernel
def softmax_kernel(x, y, n: int):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (1, 64), padding_mode=ct.PaddingMode.NEG_INF)
    e = ct.exp(t - ct.max(t, 1, keepdims=True))
    ct.store(y, (i, 0), e / ct.sum(e, 1, keepdims=True))


def test_softmax(run: Any) -> None:
    x = RNG.standard_normal((5, 50)).astype(np.float32)
    y = np.zeros_like(x)
    run(softmax_kernel, x, y, 50, grid=5)
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(y, e / e.sum(1, keepdims=True), rtol=1e-5)


@ct.kernel
def int_kernel(x, y, o1, o2, o3, o4, o5, o6):
    a = ct.load(x, 0, 16)
    b = ct.load(y, 0, 16)
    ct.store(o1, 0, a // b)
    ct.store(o2, 0, a % b)
    ct.store(o3, 0, ct.cdiv(a, b))
    ct.store(o4, 0, ct.minimum(a, b))
    ct.store(o5, 0, a**2 + b**3)
    ct.store(o6, 0, ct.where(a > b, a, -b))


def test_ints(run: Any) -> None:
    x = RNG.integers(-50, 50, 16).astype(np.int32)
    y = RNG.integers(1, 9, 16).astype(np.int32) * np.where(RNG.random(16) < 0.5, -1, 1).astype(
        np.int32
    )
    o = [np.zeros(16, np.int32) for _ in range(6)]
    run(int_kernel, x, y, *o)
    np.testing.assert_array_equal(o[0], x // y)
    np.testing.assert_array_equal(o[1], x % y)
    np.testing.assert_array_equal(o[2], -(-x // y))
    np.testing.assert_array_equal(o[3], np.minimum(x, y))
    np.testing.assert_array_equal(o[4], x**2 + y**3)
    np.testing.assert_array_equal(o[5], np.where(x > y, x, -y))


@ct.kernel
def flt_kernel(x, y, o1, o2, o3, o4, o5, o6):
    a = ct.load(x, 0, 16)
    b = ct.load(y, 0, 16)
    ct.store(o1, 0, a // b)
    ct.store(o2, 0, a % b)
    ct.store(o3, 0, ct.maximum(a, b))
    ct.store(o4, 0, ct.maximum(a, b, propagate_nan=True))
    ct.store(o5, 0, ct.abs(a) ** 1.5)
    ct.store(o6, 0, ct.atan2(a, b))


def test_floats(run: Any) -> None:
    x = (RNG.standard_normal(16) * 5).astype(np.float32)
    y = (RNG.standard_normal(16) * 2).astype(np.float32)
    x2 = x.copy()
    x2[3] = np.nan
    o = [np.zeros(16, np.float32) for _ in range(6)]
    run(flt_kernel, x2, y, *o)
    m = ~np.isnan(x2)
    np.testing.assert_allclose(o[0][m], (x // y)[m])
    np.testing.assert_allclose(o[1][m], (x % y)[m], rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(o[2], np.fmax(x2, y))
    np.testing.assert_array_equal(o[3], np.maximum(x2, y))
    np.testing.assert_allclose(o[4], np.abs(x2) ** 1.5, rtol=1e-5)
    np.testing.assert_allclose(o[5], np.arctan2(x2, y), rtol=1e-5)


@ct.kernel
def gather_kernel(x, i, j, o, p):
    a = ct.load(i, 0, 8)
    b = ct.load(j, 0, 4)
    t = ct.gather(x, (a[:, None], b[None, :]), padding_value=-7)
    ct.store(o, (0, 0), t)
    ct.scatter(p, (b[None, :], a[:, None]), t)


def test_gather(run: Any) -> None:
    x = RNG.integers(0, 100, (6, 5)).astype(np.int32)
    i = np.array([0, 5, -1, 6, 2, 3, 4, 1], np.int32)
    j = np.array([0, 4, 5, 2], np.int32)
    o = np.zeros((8, 4), np.int32)
    p = np.zeros((5, 6), np.int32)
    run(gather_kernel, x, i, j, o, p)
    ref = np.full((8, 4), -7, np.int32)
    rp = np.zeros((5, 6), np.int32)
    for u, a in enumerate(i):
        for v, b in enumerate(j):
            if 0 <= a < 6 and 0 <= b < 5:
                ref[u, v] = x[a, b]
                rp[b, a] = x[a, b]
    np.testing.assert_array_equal(o, ref)
    np.testing.assert_array_equal(p, rp)


@ct.kernel
def atomic_kernel(c, h, f, old):
    i = ct.arange(16, dtype=ct.int32)
    ct.atomic_add(c, i % 4, 1)
    ct.store(old, 0, ct.atomic_max(h, i, i * 2 - 10))
    ct.atomic_add(f, i // 8, 0.5)
    v = f.tiled_view(2)
    v.atomic_store_add(0, ct.ones((2,), ct.float32))
    ct.atomic_cas(c, 5, 0, 77)
    ct.atomic_xchg(c, 6, 3)


def test_atomics(run: Any) -> None:
    c = np.zeros(8, np.int32)
    h = np.zeros(16, np.int32)
    f = np.zeros(3, np.float32)
    old = np.ones(16, np.int32)
    run(atomic_kernel, c, h, f, old)
    np.testing.assert_array_equal(c, [4, 4, 4, 4, 0, 77, 3, 0])
    np.testing.assert_array_equal(h, np.maximum(0, np.arange(16) * 2 - 10))
    np.testing.assert_array_equal(f, [5, 5, 0])
    assert not old.any()


@ct.kernel
def red_kernel(x, o, a, s, m, p, q):
    t = ct.load(x, (0, 0), (8, 16))
    ct.store(o, 0, ct.sum(t, 1))
    ct.store(a, 0, ct.argmax(t, 0))
    ct.store(s, (0, 0), ct.cumsum(t, 1, reverse=True))
    ct.store(m, 0, ct.max(t))

    v, i = ct.reduce((t, ct.arange(16, dtype=ct.int32)[None, :]), 1, comb, (float("-inf"), 0))
    ct.store(p, 0, v)
    ct.store(q, 0, i)


def comb(a, i, b, j):
    c = a >= b
    return ct.where(c, a, b), ct.where(c, i, j)


def test_reductions(run: Any) -> None:
    x = RNG.standard_normal((8, 16)).astype(np.float32)
    o = np.zeros(8, np.float32)
    a = np.zeros(16, np.int32)
    s = np.zeros_like(x)
    m = np.zeros(1, np.float32)
    p = np.zeros(8, np.float32)
    q = np.zeros(8, np.int32)
    run(red_kernel, x, o, a, s, m, p, q)
    np.testing.assert_allclose(o, x.sum(1), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(a, x.argmax(0))
    np.testing.assert_allclose(s, x[:, ::-1].cumsum(1)[:, ::-1], rtol=1e-4, atol=1e-5)
    assert m[0] == x.max()
    np.testing.assert_array_equal(p, x.max(1))
    np.testing.assert_array_equal(q, x.argmax(1))


@ct.kernel
def nan_kernel(x, o, p):
    t = ct.load(x, 0, 8)
    ct.store(o, 0, ct.argmax(t))
    ct.store(o, 1, ct.argmax(t, propagate_nan=True))
    ct.store(o, 2, ct.argmin(t))
    ct.store(o, 3, ct.argmin(t, propagate_nan=True))
    ct.store(p, 0, ct.max(t))
    ct.store(p, 1, ct.max(t, propagate_nan=True))


def test_nans(run: Any) -> None:
    x = np.array([1, np.nan, 5, np.nan, -2, 5, 0, 3], np.float32)
    o = np.zeros(4, np.int32)
    p = np.zeros(2, np.float32)
    run(nan_kernel, x, o, p)
    np.testing.assert_array_equal(o, [2, 1, 4, 1])
    assert p[0] == 5
    assert np.isnan(p[1])


@ct.kernel
def mm_kernel(a, b, c, d):
    x = ct.load(a, (0, 0), (32, 16))
    y = ct.load(b, (0, 0), (16, 64))
    ct.store(c, (0, 0), x @ y)
    acc = ct.zeros((32, 64), ct.float32)
    ct.store(d, (0, 0), ct.mma(x, y, acc))


def test_mm(run: Any) -> None:
    a = RNG.standard_normal((32, 16)).astype(np.float16)
    b = RNG.standard_normal((16, 64)).astype(np.float16)
    c = np.zeros((32, 64), np.float16)
    d = np.zeros((32, 64), np.float32)
    run(mm_kernel, a, b, c, d)
    np.testing.assert_allclose(d, a.astype(np.float32) @ b.astype(np.float32), rtol=1e-3, atol=1e-3)


@ct.kernel
def bmm_kernel(a, b, c):
    x = ct.load(a, (0, 0), (16, 16))
    y = ct.load(b, (0, 0, 0), (2, 16, 8))
    ct.store(c, (0, 0, 0), ct.mma(x, y, ct.load(c, (0, 0, 0), (2, 16, 8))))


def test_bmm(run: Any) -> None:
    a = RNG.standard_normal((16, 16)).astype(np.float32)
    b = RNG.standard_normal((2, 16, 8)).astype(np.float32)
    c = np.ones((2, 16, 8), np.float32)
    run(bmm_kernel, a, b, c)
    np.testing.assert_allclose(c, a @ b + 1, rtol=1e-4, atol=1e-4)


@ct.kernel
def shape_kernel(x, o, p, q, r, s):
    t = ct.load(x, (0, 0), (4, 8))
    ct.store(o, (0, 0), ct.transpose(t))
    ct.store(p, (0, 0), ct.cat((t, t + 100), 1))
    ct.store(q, (0, 0), ct.extract(t, (1, 1), (2, 4)))
    ct.store(r, (0, 0), ct.insert(t, (1, ct.bid(0)), ct.zeros((2, 4), ct.int32)))
    ct.store(s, (0, 0, 0), ct.permute(t.reshape((2, 2, 8)), (2, 0, 1)))


def test_shapes(run: Any) -> None:
    x = np.arange(32, dtype=np.int32).reshape(4, 8)
    o = np.zeros((8, 4), np.int32)
    p = np.zeros((4, 16), np.int32)
    q = np.zeros((2, 4), np.int32)
    r = np.zeros((4, 8), np.int32)
    s = np.zeros((8, 2, 2), np.int32)
    run(shape_kernel, x, o, p, q, r, s)
    np.testing.assert_array_equal(o, x.T)
    np.testing.assert_array_equal(p, np.concatenate([x, x + 100], 1))
    np.testing.assert_array_equal(q, x[2:4, 4:8])
    w = x.copy()
    w[2:4, 0:4] = 0
    np.testing.assert_array_equal(r, w)
    np.testing.assert_array_equal(s, x.reshape(2, 2, 8).transpose(2, 0, 1))


@ct.kernel
def slice_kernel(x, o, i: int):
    s = x.slice(0, i, i + 3)
    t = ct.load(s, (0, 0), (4, 4), padding_mode=ct.PaddingMode.ZERO)
    ct.store(o, (0, 0), t)
    ct.store(s.slice(1, 1, 3), (0, 0), ct.full((4, 4), -1, ct.float32))


def test_slices(run: Any) -> None:
    x = np.arange(40, dtype=np.float32).reshape(8, 5)
    o = np.ones((4, 4), np.float32)
    y = x.copy()
    run(slice_kernel, x, o, 2)
    w = np.zeros((4, 4), np.float32)
    w[:3] = y[2:5, :4]
    np.testing.assert_array_equal(o, w)
    y[2:5, 1:3] = -1
    np.testing.assert_array_equal(x, y)


@ct.kernel
def cast_kernel(x, o1, o2, o3, o4):
    t = ct.load(x, 0, 16)
    ct.store(o1, 0, t.astype(ct.float8_e4m3fn).astype(ct.float32))
    ct.store(o2, 0, t.astype(ct.int32))
    ct.store(o3, 0, t.astype(ct.bool_))
    ct.store(o4, 0, ct.bitcast(t, ct.uint32))


def test_casts(run: Any) -> None:
    x = (RNG.standard_normal(16) * 20).astype(np.float32)
    x[0] = 0
    x[1] = 1000
    o = [np.zeros(16, d) for d in (np.float32, np.int32, np.bool_, np.uint32)]
    run(cast_kernel, x, *o)
    assert o[0][1] == 448
    np.testing.assert_array_equal(o[1], x.astype(np.int32))
    np.testing.assert_array_equal(o[2], x != 0)
    np.testing.assert_array_equal(o[3], x.view(np.uint32))
    np.testing.assert_array_equal(o[0][2:], [canonical(float(v), ct.float8_e4m3fn) for v in x[2:]])


@ct.kernel
def pack_kernel(x, o, p):
    t = ct.load(x, 0, 4)
    b = ct.pack_to_bytes(t)
    ct.store(o, 0, b)
    ct.store(p, 0, ct.unpack_from_bytes(b, ct.int16))


def test_packs(run: Any) -> None:
    x = RNG.integers(-(2**31), 2**31 - 1, 4).astype(np.int32)
    o = np.zeros(16, np.uint8)
    p = np.zeros(8, np.int16)
    run(pack_kernel, x, o, p)
    np.testing.assert_array_equal(o, x.view(np.uint8))
    np.testing.assert_array_equal(p, x.view(np.int16))


@ct.kernel
def f4_kernel(x, o):
    ct.store(o, 0, ct.unpack_from_bytes(ct.load(x, 0, 16), ct.float4_e2m1fn).astype(ct.float32))


def test_fp4(run: Any) -> None:
    x = np.arange(16, dtype=np.uint8) * 17
    o = np.zeros(32, np.float32)
    run(f4_kernel, x, o)
    tab = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)
    np.testing.assert_array_equal(o, np.repeat(tab, 2))


@ct.kernel
def adv_kernel(x, r, o, y):
    t = ct.load_advanced_indexing(
        x, (ct.load(r, 0, 4), ct.Slice(2, 4)), padding_mode=ct.PaddingMode.ZERO
    )
    ct.store(o, (0, 0), t)
    ct.store_advanced_indexing(y, (ct.Slice(1, 4), ct.load(r, 0, 4)), t)


def test_advanced(run: Any) -> None:
    x = np.arange(40, dtype=np.float32).reshape(8, 5)
    r = np.array([7, 0, 9, 3], np.int32)
    o = np.ones((4, 4), np.float32)
    y = np.zeros((4, 8), np.float32)
    run(adv_kernel, x, r, o, y)
    w = np.zeros((4, 4), np.float32)
    for i, a in enumerate(r):
        if a < 8:
            w[i, :3] = x[a, 2:5]
    np.testing.assert_array_equal(o, w)
    v = np.zeros((4, 8), np.float32)
    for i in range(4):
        for j, a in enumerate(r):
            if 1 + i < 4 and a < 8:
                v[1 + i, a] = w[i, j]
    np.testing.assert_array_equal(y, v)


@ct.kernel
def f_kernel(x, o, r: float, n: int):
    s = ct.load(x, 0, ())
    ct.store(o, 0, s * r + n)
    ct.store(o, 1, 2.5)
    ct.store(o, 2, ct.float32(n) / 2)
    ct.store(o, 3, ct.sqrt(s))
    ct.store(o, 4, abs(-s))
    ct.store(o, 5, max(n, 3))
    ct.store(o, 6, n**2)
    ct.store(o, 7, 1 if not n else 0)


def test_scalars(run: Any) -> None:
    x = np.array([9.0], np.float32)
    o = np.zeros(8, np.float32)
    run(f_kernel, x, o, 0.5, 7)
    np.testing.assert_array_equal(o, [11.5, 2.5, 3.5, 3, 9, 7, 49, 0])


@ct.kernel
def raw_kernel(x, o):
    m = x.get_raw_memory()
    i = ct.arange(8, dtype=ct.int32)
    ct.store(o, 0, m.load_offset(i * 2, mask=i < 3, padding_value=-1))
    m.store_offset(i + 8, i)
    m.atomic_add_offset(0, 5)


def test_raw(run: Any) -> None:
    x = np.arange(16, dtype=np.int32).reshape(4, 4)
    o = np.zeros(8, np.int32)
    run(raw_kernel, x, o)
    np.testing.assert_array_equal(o, [0, 2, 4, -1, -1, -1, -1, -1])
    assert x.reshape(-1)[0] == 5
    assert (x.reshape(-1)[8:] == np.arange(8)).all()


@ct.kernel
def view_kernel(x, o):
    v = x.tiled_view((2, 4), traversal_steps=(1, 3), padding_mode=ct.PaddingMode.ZERO)
    ct.store(o, (0, 0), v.load((1, 1)))
    v.store((0, 0), 7)


def test_views(run: Any) -> None:
    x = np.arange(40, dtype=np.int32).reshape(8, 5)
    o = np.ones((2, 4), np.int32)
    y = x.copy()
    run(view_kernel, x, o)
    w = np.zeros((2, 4), np.int32)
    w[:, :2] = y[1:3, 3:5]
    np.testing.assert_array_equal(o, w)
    y[:2, :4] = 7
    np.testing.assert_array_equal(x, y)


@ct.kernel
def zero_kernel(x, o):
    ct.store(o, (), ct.load(x, (), ()) + 1)


def test_zero_d(run: Any) -> None:
    x = np.array(4.0, np.float32)
    o = np.array(0.0, np.float32)
    run(zero_kernel, x, o)
    assert o == 5


@ct.kernel
def msc_kernel(x, y, o):
    sx = ct.full((16, 2), 2.0, ct.float8_e8m0fnu)
    sy = ct.full((2, 8), 0.5, ct.float8_e8m0fnu)
    a = ct.load(x, (0, 0), (16, 64)).astype(ct.float8_e4m3fn)
    b = ct.load(y, (0, 0), (64, 8)).astype(ct.float8_e4m3fn)
    ct.store(o, (0, 0), ct.mma_scaled(a, sx, b, sy, ct.zeros((16, 8), ct.float32)))


def test_mma_scaled(run: Any) -> None:
    x = RNG.integers(-4, 5, (16, 64)).astype(np.float32)
    y = RNG.integers(-4, 5, (64, 8)).astype(np.float32)
    o = np.zeros((16, 8), np.float32)
    run(msc_kernel, x, y, o)
    np.testing.assert_array_equal(o, x @ y)


@ct.kernel
def modes_kernel(x, o1, o2, o3):
    t = ct.load(x, 0, 8)
    ct.store(o1, 0, ct.add(t, 1e-8, rounding_mode=ct.RoundingMode.RP))
    ct.store(o2, 0, ct.truediv(t, 3.0, rounding_mode=ct.RoundingMode.APPROX))
    ct.store(o3, 0, ct.exp2(t, flush_to_zero=True))


def test_modes(run: Any) -> None:
    x = np.linspace(1, 2, 8).astype(np.float32)
    o = [np.zeros(8, np.float32) for _ in range(3)]
    run(modes_kernel, x, *o)
    assert (o[0] > x).all()
    np.testing.assert_allclose(o[1], x / 3, rtol=1e-5)
    np.testing.assert_allclose(o[2], 2**x, rtol=1e-5)
