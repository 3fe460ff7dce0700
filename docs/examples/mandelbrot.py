# SPDX-License-Identifier: Apache-2.0
"""Mandelbrot: one thread for each pixel, and a picture."""

import numpy as np
from cudacore import Device, Program, ProgramOptions, simulator
from matplotlib.image import imsave

SOURCE = """
// For each point c of a rectangle: after how many steps of z = z * z + c is |z| above 2?
__global__ void mandelbrot(int* steps, int width, int height, double left, double top, double pixel,
                           int limit) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= width || row >= height) return;

  const double c_re = left + column * pixel, c_im = top - row * pixel;
  double re = 0, im = 0;
  int step = 0;
  while (step < limit && re * re + im * im <= 4) {
    const double next = re * re - im * im + c_re;
    im = 2 * re * im + c_im;
    re = next;
    ++step;
  }
  steps[row * width + column] = step;
}
"""
# Without fused multiply-adds, each rounding is NumPy's: the results are the same to the bit.
options = ProgramOptions(fma=False)
mandelbrot = Program(SOURCE, "c++", options).compile().get_kernel("mandelbrot")

width, height, limit = (480, 320, 100) if simulator.is_enabled() else (2400, 1600, 1000)
left, top, pixel = -2.25, 1.0, 3.0 / width

device = Device()
steps = device.allocate(width * height * 4)
grid = -(-width // 32), -(-height // 8)
mandelbrot[grid, (32, 8)](steps, width, height, left, top, pixel, limit)
result = steps.to_host("int32", (height, width))

# NumPy is slower: it checks the pixels of every eighth row.
rows = np.arange(0, height, 8)
c_re, c_im = left + np.arange(width) * pixel, top - rows[:, None] * pixel
re, im, expected = np.zeros((3, len(rows), width))
for _ in range(limit):
    inside = re * re + im * im <= 4
    expected += inside
    re, im = np.where(inside, (re * re - im * im + c_re, 2 * re * im + c_im), (re, im))
np.testing.assert_array_equal(result[rows], expected)

share = np.mean(result == limit)
print(f"{width} x {height} pixels: {share:.1%} are in the set; {rows.size} rows agree with NumPy")
imsave("mandelbrot.png", np.log(result) * (result < limit), cmap="twilight_shifted")
