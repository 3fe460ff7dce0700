# SPDX-License-Identifier: Apache-2.0
"""Tiles whose elements move: permuted, taken apart, joined, as bytes, on the device."""

import numpy as np
import pytest
from tile_kernels import DTYPES, keep, kernel, run, tile, whole


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
