# SPDX-License-Identifier: Apache-2.0
"""Reductions and scans of tile kernels, on the device."""

import numpy as np
import pytest
from tile_kernels import keep, kernel, run, tile, whole


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
        types = f"{tile('f32', rest)}, {tile('i32', rest)}"
        arguments = "(%a : f32, %ai : i32, %b : f32, %bi : i32)"
        lengths = [1] * len(shape)
        lengths[axis] = shape[axis]
        body = f"""%x = {whole("%p", "f32", shape)}
%n = iota : i32[{shape[axis]}]
%m = reshape %n : {tile("i32", lengths)}
%i = broadcast %m : {tile("i32", shape)}
%v, %y = reduce %x, %i {{axis = {axis}, identity = (-inf, 0)}} : {types} {arguments} {{
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
        kind = tile("i32", shape)
        body = f"""%x = {whole("%p", "i32", shape)}
%y = scan %x {{axis = {axis}, identity = (0), reverse = {reverse}}} : {kind} (%a : i32, %b : i32) {{
  %c = add %a, %b : i32
  yield %c
}}
{keep("%out", "%y", shape)}"""
        run(kernel({"p": "ptr<i32>", "out": "ptr<i32>"}, body, f"hint warps = {warps}"), x, out)
        expected = np.flip(np.flip(x, axis).cumsum(axis), axis) if reverse else x.cumsum(axis)
        np.testing.assert_array_equal(out, expected)
