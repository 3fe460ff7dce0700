# SPDX-License-Identifier: Apache-2.0
"""PyTorch: an operator, SwiGLU, that is one kernel, and its backward, which is another."""

import cudacore
import torch
from torch import Tensor

SOURCE = """
__device__ float sigmoid(float x) { return 1 / (1 + expf(-x)); }

__global__ void swiglu(const float* a, const float* b, float* out, long long n) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] * sigmoid(a[i]) * b[i];
}

__global__ void swiglu_backward(const float* grad, const float* a, const float* b, float* grad_a,
                                float* grad_b, long long n) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float s = sigmoid(a[i]);
  grad_a[i] = grad[i] * b[i] * s * (1 + a[i] * (1 - s));
  grad_b[i] = grad[i] * a[i] * s;
}
"""
code = cudacore.Program(SOURCE, "c++").compile()
forward_kernel, backward_kernel = code.get_kernel("swiglu"), code.get_kernel("swiglu_backward")


@cudacore.torch_op("examples::swiglu_backward")
def swiglu_backward(grad: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    grad, a, b = grad.contiguous(), a.contiguous(), b.contiguous()
    grad_a, grad_b = torch.empty_like(a), torch.empty_like(b)
    n = a.numel()
    backward_kernel[(n + 255) // 256, 256](grad, a, b, grad_a, grad_b, n)
    return grad_a, grad_b


def save(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def backward(ctx, grad):
    return swiglu_backward(grad, *ctx.saved_tensors)


@cudacore.torch_op("examples::swiglu", backward=backward, setup_context=save)
def swiglu(a: Tensor, b: Tensor) -> Tensor:
    a, b = a.contiguous(), b.contiguous()
    out = torch.empty_like(a)
    n = a.numel()
    forward_kernel[(n + 255) // 256, 256](a, b, out, n)
    return out


# The same on the GPU and, by PyTorch's own operators, on the CPU.
on_cpu = a, b, grad = [torch.randn(64, 1000, requires_grad=True) for _ in range(3)]
on_gpu = d_a, d_b, d_grad = [tensor.detach().to("cuda").requires_grad_() for tensor in on_cpu]

out = swiglu(d_a, d_b)
expected = torch.nn.functional.silu(a) * b
torch.testing.assert_close(out.cpu(), expected)

gradients = torch.autograd.grad(out, (d_a, d_b), d_grad)
for ours, theirs in zip(gradients, torch.autograd.grad(expected, (a, b), grad), strict=True):
    torch.testing.assert_close(ours.cpu(), theirs)
print(f"{torch.ops.examples.swiglu.default}: forward and backward agree with PyTorch")
