# SPDX-License-Identifier: Apache-2.0
"""Tile kernels in operators of PyTorch."""

import cudacore
import cudacore.tile as ct
import pytest
import torch
from torch import Tensor

SIZE = 128


@ct.kernel
def scale_kernel(x, out, factor: float, size: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(out, (i,), ct.load(x, (i,), shape=(size,)) * factor)


@ct.kernel
def square_kernel(x, grad, out, size: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(out, (i,), ct.load(x, (i,), (size,)) * ct.load(grad, (i,), (size,)))


def launch(kernel, out, *arguments):
    """Launch for all elements, on the stream of PyTorch."""
    blocks = (ct.cdiv(out.numel(), SIZE),)
    ct.launch(cudacore.current_stream(), blocks, kernel, (*arguments, SIZE))
    return out


@cudacore.torch_op("cudacore_tests::tile_scale")
def scale(x: Tensor, factor: float) -> Tensor:
    out = torch.empty_like(x)
    return launch(scale_kernel, out, x, out, factor)


@cudacore.torch_op("cudacore_tests::tile_scale_list")
def scale_list(x: list[Tensor]) -> Tensor:
    out = torch.empty_like(x[0])
    ct.launch(torch.cuda.current_stream(), (1,), first_kernel, (x, out, SIZE))
    return out


@ct.kernel
def first_kernel(x, out, size: ct.Constant[int]):
    ct.store(out, (0,), ct.load(x[0], (0,), (size,)) + ct.load(x[len(x) - 1], (0,), (size,)))


def save(ctx, inputs, output):
    ctx.save_for_backward(inputs[0])


def backward(ctx, grad):
    (x,) = ctx.saved_tensors
    return scale(product(x, grad.contiguous()), 2.0)


@cudacore.torch_op("cudacore_tests::tile_product")
def product(x: Tensor, y: Tensor) -> Tensor:
    out = torch.empty_like(x)
    return launch(square_kernel, out, x, y, out)


@cudacore.torch_op("cudacore_tests::tile_square", backward=backward, setup_context=save)
def square(x: Tensor) -> Tensor:
    out = torch.empty_like(x)
    return launch(square_kernel, out, x, x, out)


def test_eager(on_device):
    assert scale(on_device([1, 2, 3]), 3.0).tolist() == [3, 6, 9]
    assert scale_list([on_device([1, 2]), on_device([3, 4])]).tolist() == [4, 6]


def test_on_another_stream(on_device):
    x = on_device(range(1000))
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        result = scale(x, 2.0)
        torch.cuda.current_stream().synchronize()
    assert result.tolist() == [2 * i for i in range(1000)]


def test_backward(on_device):
    x = on_device([1, 2, 3], requires_grad=True)
    y = square(x)
    y.backward(on_device([1, 1, 10]))
    assert y.tolist() == [1, 4, 9]
    assert x.grad.tolist() == [2, 4, 60]


@pytest.mark.parametrize("where", ["cpu", "cuda"])
def test_compiles_without_a_graph_break(on_device, where):
    graphs = []

    def backend(graph, example_inputs):
        graphs.append(graph)
        return graph

    @torch.compile(fullgraph=True, backend=backend, dynamic=True)
    def thrice(x):
        return scale(scale(x, 4.0), 0.75)

    scale.register_kernel("cpu")(lambda x, factor: x * factor)
    for n in (3, 5, 300):
        x = on_device(range(n)) if where == "cuda" else torch.arange(float(n))
        assert torch.equal(thrice(x).cpu(), torch.arange(float(n)) * 3)
    assert len(graphs) == 1


def test_compiles_a_backward(on_device):
    @torch.compile(fullgraph=True, backend="aot_eager")
    def to_the_fourth(x):
        return square(square(x))

    x, one = on_device([1, 2, 3]), on_device([1, 1, 1])
    x.requires_grad_()
    (gradient,) = torch.autograd.grad(to_the_fourth(x), x, one)
    assert gradient.tolist() == [4, 32, 108]


def test_tracing_launches_nothing(on_device):
    x = on_device([1, 2])
    with torch._subclasses.FakeTensorMode() as mode:
        fake = mode.from_tensor(x)
        assert scale(fake, 2.0).shape == (2,)
        assert scale_list([fake, fake]).shape == (2,)
        assert square(fake).shape == (2,)
    assert scale(x, 2.0).tolist() == [2, 4]


def test_what_is_no_kernel_is_refused_while_tracing():
    @cudacore.torch_op("cudacore_tests::no_tile_kernel")
    def wrong(x: Tensor) -> Tensor:
        ct.launch(cudacore.current_stream(), (1,), print, (x,))
        return torch.empty_like(x)

    with (
        torch._subclasses.FakeTensorMode(),
        pytest.raises(TypeError, match="kernel must be a tile kernel"),
    ):
        wrong(torch.empty(2, device="cuda"))
