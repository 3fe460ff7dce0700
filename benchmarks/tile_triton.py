# SPDX-License-Identifier: Apache-2.0
"""The same kernels in Triton, as its own tutorials write them."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def axpy(x, y, a, n, SIZE: tl.constexpr):
    i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    mask = i < n
    tl.store(y + i, a * tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


@triton.jit
def softmax(x, result, SIZE: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    values = tl.load(x + i).to(tl.float32)
    powers = tl.exp(values - tl.max(values, 0))
    tl.store(result + i, powers / tl.sum(powers, 0))


@triton.jit
def layer_norm(x, weight, bias, result, SIZE: tl.constexpr):
    column = tl.arange(0, SIZE)
    i = tl.program_id(0).to(tl.int64) * SIZE + column
    values = tl.load(x + i).to(tl.float32)
    centered = values - tl.sum(values, 0) / SIZE
    variance = tl.sum(centered * centered, 0) / SIZE
    scale, shift = tl.load(weight + column), tl.load(bias + column)
    tl.store(result + i, centered * tl.rsqrt(variance + 1e-5) * scale + shift)


@triton.jit
def rms_norm(x, weight, result, SIZE: tl.constexpr):
    column = tl.arange(0, SIZE)
    i = tl.program_id(0).to(tl.int64) * SIZE + column
    values = tl.load(x + i).to(tl.float32)
    mean = tl.sum(values * values, 0) / SIZE
    tl.store(result + i, values * tl.rsqrt(mean + 1e-5) * tl.load(weight + column))


@triton.jit
def row_sum(x, result, SIZE: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    values = tl.load(x + row * SIZE + tl.arange(0, SIZE)).to(tl.float32)
    tl.store(result + row, tl.sum(values, 0))


@triton.jit
def transpose(x, result, rows, columns, R: tl.constexpr, C: tl.constexpr):
    i = tl.program_id(1) * R + tl.arange(0, R)
    j = tl.program_id(0) * C + tl.arange(0, C)
    tile = tl.load(x + i[:, None].to(tl.int64) * columns + j[None, :])
    tl.store(result + j[:, None].to(tl.int64) * rows + i[None, :], tl.trans(tile))
