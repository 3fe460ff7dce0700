# SPDX-License-Identifier: Apache-2.0
"""Matrix product: blocks of threads share tiles of both matrices in shared memory."""

import numpy as np
from cudacore import Device, Program, ProgramOptions

SOURCE = """
// c = a b, where a is m x k and b is k x n, stored by rows. One thread for each element of c.
__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float a_tile[TILE][TILE], b_tile[TILE][TILE];
  const int row = blockIdx.y * TILE + threadIdx.y;
  const int column = blockIdx.x * TILE + threadIdx.x;

  float sum = 0;
  for (int first = 0; first < k; first += TILE) {
    // Each thread loads one element of each tile; outside of the matrices there are zeros.
    const int a_column = first + threadIdx.x, b_row = first + threadIdx.y;
    a_tile[threadIdx.y][threadIdx.x] = row < m && a_column < k ? a[row * k + a_column] : 0;
    b_tile[threadIdx.y][threadIdx.x] = b_row < k && column < n ? b[b_row * n + column] : 0;
    __syncthreads();

    for (int i = 0; i < TILE; ++i) sum += a_tile[threadIdx.y][i] * b_tile[i][threadIdx.x];
    __syncthreads();  // before anyone overwrites the tiles
  }
  if (row < m && column < n) c[row * n + column] = sum;
}
"""
TILE = 16
options = ProgramOptions(define_macro={"TILE": TILE})
matmul = Program(SOURCE, "c++", options).compile().get_kernel("matmul")

m, n, k = 500, 300, 400
rng = np.random.default_rng(0)
a, b = rng.random((m, k), "float32"), rng.random((k, n), "float32")

device = Device()
c = device.allocate(m * n * 4)
grid = -(-n // TILE), -(-m // TILE)  # x first: columns, then rows
matmul[grid, (TILE, TILE)](device.to_device(a), device.to_device(b), c, m, n, k)

np.testing.assert_allclose(c.to_host("float32", (m, n)), a @ b, rtol=1e-5)
print(f"({m} x {k}) times ({k} x {n}) agrees with NumPy")
