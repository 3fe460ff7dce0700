# SPDX-License-Identifier: Apache-2.0
"""Loops and branches of tile kernels, on the device."""

import numpy as np
import pytest
from tile_kernels import keep, kernel, run, whole


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
