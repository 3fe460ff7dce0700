# SPDX-License-Identifier: Apache-2.0
"""Launches of tile kernels with tensors and streams of PyTorch that are like earlier ones."""

import cudacore.tile as ct
import pytest
import torch


@pytest.fixture
def add_one():
    @ct.kernel
    def add_one(x, out, size: ct.Constant[int]):
        i = ct.bid(0)
        ct.store(out, (i,), ct.load(x, (i,), (size,)) + 1)

    return add_one


def is_known(kernel, stream, args):
    return kernel._launches.try_launch(stream, (1,), args, False)


def test_streams(on_device, add_one):
    class Derived(torch.cuda.Stream):
        def __cuda_stream__(self):
            return 0, current.cuda_stream

    x, out = on_device([1, 2, 3]), on_device([0, 0, 0])
    current, side = torch.cuda.current_stream(), torch.cuda.Stream()
    same = torch.cuda.ExternalStream(side.cuda_stream)
    torch.cuda.synchronize()
    for stream in (current, side, same, Derived(), side.cuda_stream, 0):
        for _ in range(2):
            ct.launch(stream, (1,), add_one, (x, out, 16))
            x, out = out, x
            torch.cuda.synchronize()
        assert is_known(add_one, stream, (x, out, 16))
        x, out = out, x
        torch.cuda.synchronize()
    assert x.tolist() == [19, 20, 21]
    assert len(add_one._specializations) == 1


def test_one_element_and_other_strides(on_device, add_one):
    one, pair = on_device([1]), on_device([[1, 2], [3, 4]])
    for x, expected in (
        (one, [2]),
        (pair[:, 0], [2, 4]),
        (pair.T[1], [3, 5]),
        (pair[1], [4, 5]),
        (pair[:, :1][1], [4]),
    ):
        out = on_device([0] * len(expected))
        for _ in range(2):
            ct.launch(torch.cuda.current_stream(), (1,), add_one, (x, out, 4))
            assert out.tolist() == expected
        assert is_known(add_one, torch.cuda.current_stream(), (x, out, 4))


def test_lazily_negated_tensors_are_refused(on_device, add_one):
    made = on_device([[1, 2], [3, 4]])
    out = on_device([0, 0])
    plain = torch.view_as_complex(made).imag
    ct.launch(torch.cuda.current_stream(), (1,), add_one, (plain, out, 4))
    assert out.tolist() == [3, 5]
    negated = torch.view_as_complex(made).conj().imag
    assert negated.is_neg()
    with pytest.raises(TypeError, match="#0"):
        ct.launch(torch.cuda.current_stream(), (1,), add_one, (negated, out, 4))


def test_tensors_of_the_host_are_refused(on_device, add_one):
    args = (on_device([1]), on_device([1]), 4)
    ct.launch(torch.cuda.current_stream(), (1,), add_one, args)
    with pytest.raises(ValueError, match="#1.*not on a CUDA device"):
        ct.launch(torch.cuda.current_stream(), (1,), add_one, (args[0], torch.ones(1), 4))
