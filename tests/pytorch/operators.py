# SPDX-License-Identifier: Apache-2.0
"""Kernels and operators that the tests share."""

import cudacore
import torch
from cudacore import Kernel, Program
from torch import Tensor

SOURCE = r"""
__global__ void scale(const float* x, float factor, float* out, long long n) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] * factor;
}
__global__ void square(const float* x, float* out, long long n) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] * x[i];
}
__global__ void square_backward(const float* grad, const float* x, float* out, long long n) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * x[i] * grad[i];
}
__global__ void add_to(float* out, const float* x, long long n) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) out[i] += x[i];
}
"""

_kernels: dict[str, Kernel] = {}


def kernel(name: str) -> Kernel:
    """Compile once: code is loaded on each device by itself."""
    if not _kernels:
        code = Program(SOURCE, "c++").compile()
        for each in ("scale", "square", "square_backward", "add_to"):
            _kernels[each] = code.get_kernel(each)
    return _kernels[name]


def blocks(n: int) -> int:
    return (n + 255) // 256


@cudacore.torch_op("cudacore_tests::scale")
def scale(x: Tensor, factor: float = 2.0) -> Tensor:
    """Multiply by a number."""
    x = x.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    kernel("scale")[blocks(n), 256](x, factor, out, n)
    return out


@cudacore.torch_op("cudacore_tests::add_to", mutates="out")
def add_to(out: Tensor, x: Tensor) -> None:
    n = x.numel()
    kernel("add_to")[blocks(n), 256](out, x, n)


@cudacore.torch_op("cudacore_tests::square_backward")
def square_backward(grad: Tensor, x: Tensor) -> Tensor:
    grad, x = grad.contiguous(), x.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    kernel("square_backward")[blocks(n), 256](grad, x, out, n)
    return out


def save_input(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def differentiate(ctx, grad):
    (x,) = ctx.saved_tensors
    return square_backward(grad, x)


@cudacore.torch_op("cudacore_tests::square", backward=differentiate, setup_context=save_input)
def square(x: Tensor) -> Tensor:
    x = x.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    kernel("square")[blocks(n), 256](x, out, n)
    return out


@scale.register_kernel("cpu")
def _(x, factor=2.0):
    return x * factor


@square.register_kernel("cpu")
def _(x):
    return x * x


@square_backward.register_kernel("cpu")
def _(grad, x):
    return 2 * x * grad


@add_to.register_kernel("cpu")
def _(out, x):
    out += x
