# SPDX-License-Identifier: Apache-2.0
"""A library whose function takes the arrays of any library."""

from functools import cache

from cudacore import Kernel, Program, Stream

_SOURCE = """
#include <cudacore/array_view.cuh>

__global__ void normalize(cudacore::array_view<float, 2> a) {
  for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < a.shape[0];
       i += (long long)gridDim.x * blockDim.x) {
    float sum = 0;
    for (long long j = 0; j < a.shape[1]; ++j) sum += a(i, j);
    for (long long j = 0; j < a.shape[1]; ++j) a(i, j) /= sum;
  }
}
"""


@cache
def _kernel() -> Kernel:
    return Program(_SOURCE, "c++").compile().get_kernel("normalize")


def normalize(matrix: object, *, stream: Stream | None = None) -> None:
    """Divide each row by its sum, in place.

    Parameters
    ----------
    matrix : array
        float32, two-dimensional, in memory of the current device; with any strides.
    stream : Stream, optional
        By default, the current stream.
    """
    _kernel()[64, 128, stream](matrix)
