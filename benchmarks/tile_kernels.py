# SPDX-License-Identifier: Apache-2.0
"""The tile kernels that are timed, each as one would first write it."""

from __future__ import annotations

import cudacore.tile as ct

LOG2_E = 1.4426950408889634


@ct.kernel
def axpy(x, y, a, size: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(y, i, a * ct.load(x, i, shape=size) + ct.load(y, i, shape=size))


@ct.kernel
def softmax(x, result, size: ct.Constant[int]):
    row = ct.bid(0)
    values = ct.load(x, (row, 0), shape=(1, size)).astype(ct.float32)
    powers = ct.exp(values - ct.max(values, 1, keepdims=True))
    normal = powers / ct.sum(powers, 1, keepdims=True)
    ct.store(result, (row, 0), normal.astype(x.dtype))


@ct.kernel
def layer_norm(x, weight, bias, result, size: ct.Constant[int]):
    row = ct.bid(0)
    values = ct.load(x, (row, 0), shape=(1, size)).astype(ct.float32)
    centered = values - ct.sum(values, 1, keepdims=True) / size
    variance = ct.sum(centered * centered, 1, keepdims=True) / size
    scale = ct.load(weight, (0,), shape=(size,)).astype(ct.float32)
    shift = ct.load(bias, (0,), shape=(size,)).astype(ct.float32)
    normal = centered * ct.rsqrt(variance + 1e-5) * scale[None, :] + shift[None, :]
    ct.store(result, (row, 0), normal.astype(x.dtype))


@ct.kernel
def rms_norm(x, weight, result, size: ct.Constant[int]):
    row = ct.bid(0)
    values = ct.load(x, (row, 0), shape=(1, size)).astype(ct.float32)
    mean = ct.sum(values * values, 1, keepdims=True) / size
    scale = ct.load(weight, (0,), shape=(size,)).astype(ct.float32)
    ct.store(result, (row, 0), (values * ct.rsqrt(mean + 1e-5) * scale[None, :]).astype(x.dtype))


@ct.kernel
def row_sum(x, result, size: ct.Constant[int]):
    row = ct.bid(0)
    values = ct.load(x, (row, 0), shape=(1, size)).astype(ct.float32)
    ct.store(result, (row,), ct.sum(values, 1))


@ct.kernel
def transpose(x, result, rows: ct.Constant[int], columns: ct.Constant[int]):
    i, j = ct.bid(1), ct.bid(0)
    tile = ct.load(x, (i, j), shape=(rows, columns))
    ct.store(result, (j, i), ct.transpose(tile))


@ct.kernel
def gemm(a, b, c, rows: ct.Constant[int], columns: ct.Constant[int], depth: ct.Constant[int]):
    # Blocks that run together share rows and columns in the cache.
    group = 8
    row_tiles, column_tiles = ct.cdiv(c.shape[0], rows), ct.cdiv(c.shape[1], columns)
    block = ct.bid(0)
    first = block // (group * column_tiles) * group
    height = min(row_tiles - first, group)
    i = first + block % height
    j = block % (group * column_tiles) // height
    total = ct.zeros((rows, columns), ct.float32)
    for k in range(ct.cdiv(a.shape[1], depth)):
        left = ct.load(a, (i, k), shape=(rows, depth), padding_mode=ct.PaddingMode.ZERO)
        right = ct.load(b, (k, j), shape=(depth, columns), padding_mode=ct.PaddingMode.ZERO)
        total = ct.mma(left, right, total)
    ct.store(c, (i, j), total.astype(c.dtype))


@ct.kernel
def attention(
    q,
    k,
    v,
    result,
    scale: float,
    width: ct.Constant[int],
    rows: ct.Constant[int],
    columns: ct.Constant[int],
    causal: ct.Constant[bool],
):
    i, head = ct.bid(0), ct.bid(1)
    query = ct.load(q, (head, i, 0), shape=(1, rows, width)).reshape((rows, width))
    largest = ct.full((rows, 1), -float("inf"), ct.float32)
    weight = ct.zeros((rows, 1), ct.float32)
    total = ct.zeros((rows, width), ct.float32)
    exponent_scale = scale * LOG2_E
    last = ct.cdiv(k.shape[1], columns)
    unmasked = last
    if causal:
        last = min(last, ct.cdiv((i + 1) * rows, columns))
        unmasked = i * rows // columns
    row_numbers = i * rows + ct.arange(rows, dtype=ct.int32)[:, None]
    for j in range(last):
        keys = ct.load(k, (head, j, 0), shape=(1, columns, width)).reshape((columns, width))
        scores = ct.mma(query, ct.transpose(keys), ct.zeros((rows, columns), ct.float32))
        if causal and j >= unmasked:
            column_numbers = j * columns + ct.arange(columns, dtype=ct.int32)[None, :]
            scores = ct.where(row_numbers >= column_numbers, scores, -float("inf"))
        new_largest = ct.maximum(largest, ct.max(scores, 1, keepdims=True) * exponent_scale)
        powers = ct.exp2(scores * exponent_scale - new_largest)
        correction = ct.exp2(largest - new_largest)
        weight = weight * correction + ct.sum(powers, 1, keepdims=True)
        values = ct.load(v, (head, j, 0), shape=(1, columns, width)).reshape((columns, width))
        total = ct.mma(powers.astype(q.dtype), values, total * correction)
        largest = new_largest
    output = (total / weight).astype(result.dtype).reshape((1, rows, width))
    ct.store(result, (head, i, 0), output)
