# SPDX-License-Identifier: Apache-2.0
"""Templates: a library function for arrays of any type, compiled when a type is first used."""

from functools import cache

import numpy as np
from cudacore import Buffer, Device, Kernel, Program

HEADER = """
template <typename T>
struct Clamp {
  T low, high;
  __device__ T operator()(T x) const { return x < low ? low : high < x ? high : x; }
};

template <typename T>
struct Scale {
  T factor;
  __device__ T operator()(T x) const { return factor * x; }
};
"""
SOURCE = """
#include "operations.cuh"

template <typename T, typename Operation>
__global__ void transform(T* values, size_t n, Operation operation) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n) values[i] = operation(values[i]);
}
"""
TYPES = {"float32": "float", "float64": "double", "int32": "int", "uint8": "unsigned char"}


@cache
def instance(dtype: np.dtype, operation: str) -> Kernel:
    """Compile transform for one type and one operation."""
    name = f"transform<{TYPES[dtype.name]}, {operation}<{TYPES[dtype.name]}>>"
    program = Program(SOURCE, "c++", {"headers": {"operations.cuh": HEADER}})
    return program.compile(name_expressions=[name]).get_kernel(name)


def transform(values: Buffer, dtype: str, operation: str, *fields: float) -> None:
    """Apply an operation to each element; the fields are those of its struct."""
    element = np.dtype(dtype)
    n = len(values) // element.itemsize
    struct = np.array(fields, element).tobytes()
    instance(element, operation)[-(-n // 256), 256](values, n, struct)


device = Device()
for dtype in TYPES:
    x = np.arange(200).astype(dtype)
    buffer = device.to_device(x)
    transform(buffer, dtype, "Clamp", 20, 100)
    transform(buffer, dtype, "Scale", 2)
    np.testing.assert_array_equal(buffer.to_host(dtype), 2 * np.clip(x, 20, 100))
    print(f"{instance(np.dtype(dtype), 'Clamp').signature}: agrees with NumPy")
