# SPDX-License-Identifier: Apache-2.0
"""Runs the tiled product and the reduction on numba's simulator (NUMBA_ENABLE_CUDASIM=1).

Prints JSON: seconds and thread counts. numba runs a host thread for each CUDA thread, so the
problems are small; the time per thread and step is compared.
"""

from __future__ import annotations

import json
import sys
from time import perf_counter
from typing import Any

import numpy as np
from numba import cuda, float32

TILE = 32
COUNT = 256


@cuda.jit  # type: ignore[untyped-decorator]
def matmul(a: Any, b: Any, c: Any) -> None:
    a_tile = cuda.shared.array((TILE, TILE), float32)
    b_tile = cuda.shared.array((TILE, TILE), float32)
    column, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for k in range(0, a.shape[0], TILE):
        a_tile[ty, tx] = a[row, k + tx]
        b_tile[ty, tx] = b[k + ty, column]
        cuda.syncthreads()
        for i in range(TILE):
            total += a_tile[ty, i] * b_tile[i, tx]
        cuda.syncthreads()
    c[row, column] = total


@cuda.jit  # type: ignore[untyped-decorator]
def reduce(x: Any, sums: Any) -> None:
    shared = cuda.shared.array(COUNT, float32)
    t = cuda.threadIdx.x
    total = float32(0)
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        total += x[i]
    shared[t] = total
    cuda.syncthreads()
    width = COUNT // 2
    while width > 0:
        if t < width:
            shared[t] += shared[t + width]
        cuda.syncthreads()
        width //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = shared[0]


def main() -> None:
    rng = np.random.default_rng(1)
    n = TILE
    a, b = (rng.random((n, n), dtype=np.float32) for _ in range(2))
    c = np.zeros_like(a)
    start = perf_counter()
    matmul[(n // TILE, n // TILE), (TILE, TILE)](a, b, c)
    matmul_seconds = perf_counter() - start
    x = np.ones(4096, dtype=np.float32)
    sums = np.zeros(4, dtype=np.float32)
    start = perf_counter()
    reduce[4, COUNT](x, sums)
    reduce_seconds = perf_counter() - start
    json.dump(
        {
            "matmul": {
                "n": n, "seconds": matmul_seconds, "right": bool(np.allclose(c, a @ b, rtol=1e-4))
            },
            "reduce": {
                "n": x.size, "blocks": 4, "seconds": reduce_seconds,
                "right": float(sums.sum()) == x.size,
            },
        },
        sys.stdout,
    )  # fmt: skip


if __name__ == "__main__":
    main()
