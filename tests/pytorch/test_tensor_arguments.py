# SPDX-License-Identifier: Apache-2.0
"""Tensors whose memory isn't yet what they say."""

import pytest
import torch
from cudacore import Device, LegacyPinnedMemoryResource, Program
from cudacore.utils import StridedMemoryView

SOURCE = """
#include <cuda/std/complex>
__global__ void copy(float* y, const cuda::std::complex<float>* x) { y[0] = x[0].imag(); }
__global__ void first(float* y, const float* x) { y[0] = x[0]; }
"""


@pytest.fixture(scope="module")
def values():
    memory = LegacyPinnedMemoryResource().allocate(16)
    tensor = torch.from_dlpack(memory.view("complex64").__dlpack__(dl_device=(1, 0)))
    tensor[:] = torch.tensor([1 + 2j, 3 - 4j])
    return tensor


def test_conjugated(values):
    device = Device()
    copy = Program(SOURCE, "c++").compile().get_kernel("copy")
    y = device.allocate(16)
    copy[1, 1](y, values)
    assert y.to_host("f4")[0] == 2
    lazy = values.conj()
    message = r"resolve_conj\(\)"
    with pytest.raises(TypeError, match=f"argument 2 'x'.*{message}"):
        copy[1, 1](y, lazy)
    with pytest.raises(TypeError, match=message):
        device.to_device(lazy)
    with pytest.raises(TypeError, match=message):
        y.copy_from(lazy)
    with pytest.raises(TypeError, match=message):
        StridedMemoryView.from_dlpack(lazy, -1)
    assert device.to_device(lazy.resolve_conj()).to_host("c8").tolist() == [1 - 2j, 3 + 4j]


def test_negated(values):
    first = Program(SOURCE, "c++").compile().get_kernel("first")
    y = Device().allocate(16)
    lazy = values[:1].conj().imag
    assert lazy.is_neg()
    with pytest.raises(TypeError, match=r"argument 2 'x'.*resolve_neg\(\)"):
        first[1, 1](y, lazy)
    with pytest.raises(TypeError, match=r"resolve_neg\(\)"):
        StridedMemoryView.from_dlpack(values.conj().imag, -1)
    first[1, 1](y, values[:1].imag)
    assert y.to_host("f4")[0] == 2


def test_sparse_and_meta_tensors_are_refused_in_one_line(values):
    first = Program(SOURCE, "c++").compile().get_kernel("first")
    for tensor in (torch.eye(2).to_sparse(), torch.ones(2, device="meta")):
        with pytest.raises(TypeError, match="argument 2 'x'") as caught:
            first[1, 1](0, tensor)
        assert "\n" not in str(caught.value)
