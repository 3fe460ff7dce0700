# SPDX-License-Identifier: Apache-2.0
"""The kernels that every peer compiles, and the values of their parameters."""

from __future__ import annotations

FOUR = ("float*", "float*", "float", "int")
CYCLE = ("float*", "int", "float", "double")
LAUNCH_COUNTS = (0, 1, 4, 16, 64, 256)
TUPLE_COUNTS = (64, 256)
ARRAYS = ("float*",) * 16
GRAPH_KERNELS = 20  # C has it too
RECORDED_KERNELS = 1000  # C has it too
THREADS = 32
INT = 7
FLOAT = 2.5
DOUBLE = 0.125

SAXPY = """\
extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
// """


def parameter_types(count: int) -> tuple[str, ...]:
    """Return the C types of a kernel with `count` parameters (the mix of benchmarks/c/rows.cpp)."""
    if count <= len(FOUR):
        return FOUR[:count]
    return tuple(CYCLE[i % len(CYCLE)] for i in range(count))


def empty_kernel(types: tuple[str, ...]) -> str:
    """Return the source of the kernel `empty`, which takes these parameters and does nothing."""
    declared = ", ".join(f"{kind} a{i}" for i, kind in enumerate(types))
    return f'extern "C" __global__ void empty({declared}) {{}}\n'
