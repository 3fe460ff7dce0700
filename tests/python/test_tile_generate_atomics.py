# SPDX-License-Identifier: Apache-2.0
"""Atomic operations, ordered memory, prints and assertions of tile kernels, on the device."""

import numpy as np
import pytest
from tile_kernels import DTYPES, keep, kernel, run, tile, whole


@pytest.mark.parametrize("element", ["i32", "u32", "i64", "f32", "f64", "f16", "u8", "i16"])
@pytest.mark.parametrize("op", ["add", "xchg", "max", "min"])
@pytest.mark.parametrize("order", ["relaxed", "acq_rel"])
def test_atomics_give_the_old_value(element, op, order):
    x = np.arange(64).astype(DTYPES[element])
    v = np.full(64, 20, DTYPES[element])
    old = np.zeros_like(x)
    kind = tile(element, (64,))
    body = f"""%i = iota : i32[64]
%v = {whole("%q", element, (64,))}
%y = atomic %p, %i, %v, mask() {{op = {op}, mem = {order}, scope = device}} : {kind}
{keep("%old", "%y", (64,))}"""
    names = dict.fromkeys(("p", "q", "old"), f"ptr<{element}>")
    before = x.copy()
    run(kernel(names, body), x, v, old)
    function = {"add": np.add, "xchg": lambda _a, b: b, "max": np.maximum, "min": np.minimum}[op]
    np.testing.assert_array_equal(old, before)
    np.testing.assert_array_equal(x, function(before, v))


@pytest.mark.parametrize("op", ["and", "or", "xor"])
@pytest.mark.parametrize("element", ["i32", "u64", "u8"])
def test_atomic_bits_without_a_result(op, element):
    x = np.full(4, 0b1100, DTYPES[element])
    body = f"""%at = const {{value = 0}} : i32
%v = const {{value = 10}} : {element}
atomic %p, %at, %v, mask() {{op = {op}, mem = relaxed, scope = device}}"""
    run(kernel({"p": f"ptr<{element}>"}, body), x)
    assert x[0] == {"and": 8, "or": 14, "xor": 6}[op]


def test_blocks_count_together():
    total = np.zeros(1, np.int32)
    seen = np.zeros(8, np.int32)
    body = """%at = const {value = 0} : i32
%one = const {value = 1} : i32
%b = bid {axis = 0} : i32
%n = atomic %p, %at, %one, mask() {op = add, mem = acq_rel, scope = device} : i32
store %seen, %n, origin(%b), shape(8), strides(1)"""
    run(kernel({"p": "ptr<i32>", "seen": "ptr<i32>"}, body), total, seen, grid=8)
    assert total[0] == 8
    assert sorted(seen) == list(range(8))


@pytest.mark.parametrize("element", ["i32", "u64", "f32", "i16"])
def test_compare_and_swap(element):
    x = np.arange(64).astype(DTYPES[element])
    old = np.zeros_like(x)
    body = f"""%i = iota : i32[64]
%e = const {{value = 5}} : {element}[64]
%d = const {{value = 100}} : {element}[64]
%h = const {{value = 32}} : i32[64]
%m = lt %i, %h : i1[64]
%y = atomic_cas %p, %i, %e, %d, mask(%m) {{mem = relaxed, scope = device}} : {element}[64]
{keep("%old", "%y", (64,))}"""
    run(kernel({"p": f"ptr<{element}>", "old": f"ptr<{element}>"}, body), x, old)
    before = np.arange(64)
    np.testing.assert_array_equal(x, np.where(before == 5, 100, before))
    np.testing.assert_array_equal(old, np.where(before < 32, before, 5))


@pytest.mark.parametrize("element", ["f32", "u8", "f16", "i64"])
def test_ordered_loads_and_stores(element):
    x = np.arange(64).astype(DTYPES[element])
    out = np.zeros_like(x)
    place = "origin(0), shape(64), strides(1)"
    body = f"""%x = load %p, {place} {{mem = acquire, scope = device}} : {element}[64]
store %out, %x, {place} {{mem = release, scope = sys}}"""
    run(kernel({"p": f"ptr<{element}>", "out": f"ptr<{element}>"}, body), x, out)
    np.testing.assert_array_equal(out, x)


def test_print(capfd):
    x = np.arange(4, dtype=np.int32).reshape(2, 2)
    body = f"""%x = {whole("%p", "i32", (2, 2))}
%h = const {{value = 1.5e0}} : f32
print %x, %n, %h {{format = "x = %0, n = %1 100%% %2:.2f\\n"}}
print %n, %h {{format = "%0:05d|%1\\n"}}"""
    run(kernel({"p": "ptr<i32>", "n": "i32"}, body), x, np.int32(7))
    out = capfd.readouterr().out
    assert "x = [[0, 1], [2, 3]], n = 7 100% 1.50\n" in out
    assert "00007|1.500000\n" in out


def test_assert_holds():
    x = np.ones(64, np.int32)
    body = f"""%x = {whole("%p", "i32", (64,))}
%zero = const {{value = 0}} : i32[64]
%c = gt %x, %zero : i1[64]
assert %c {{message = "all above 0"}}"""
    run(kernel({"p": "ptr<i32>"}, body), x)
