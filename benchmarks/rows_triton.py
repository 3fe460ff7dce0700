# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN201, PLR0917 - the text of a kernel is Triton's
"""Triton: kernels that do nothing, with PyTorch's tensors and plain numbers as arguments."""

from __future__ import annotations

import torch
import triton
from harness import Case, Rows, numbered
from kernels import ARRAYS, FLOAT, INT


@triton.jit
def empty_4(a0, a1, a2, a3):  # type: ignore[no-untyped-def]
    pass


@triton.jit
def empty_16(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15):  # type: ignore[no-untyped-def]
    pass


def rows() -> Rows:
    """Yield the name and the setup of each row."""
    device = torch.device("cuda", 0)
    stream = torch.cuda.Stream(device)
    torch.cuda.set_stream(stream)
    tensor = torch.zeros(256, device=device)

    def launch(kernel: object, arguments: list[object]) -> Case:
        text, names = numbered(arguments)
        return Case(f"kernel[(1,)]({text})", names | {"kernel": kernel}, stream.synchronize)

    yield "launch_4", lambda: launch(empty_4, [tensor, tensor, FLOAT, INT])
    yield "arrays_16", lambda: launch(empty_16, [tensor] * len(ARRAYS))
    yield "tensors_16", lambda: launch(empty_16, [tensor] * len(ARRAYS))
