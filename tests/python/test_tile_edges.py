# SPDX-License-Identifier: Apache-2.0
"""Kernels at the edges: extreme numbers, unlucky names."""

import io
from typing import Any

import cudacore.tile as ct
import numpy as np
import pytest
from cudacore import Device
from cudacore.tile.compilation import (
    CallingConvention,
    KernelSignature,
    ScalarConstraint,
    export_kernel,
)
from tile_programs import define, launch

pytestmark = pytest.mark.usefixtures("device")

INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]


def pairs(dtype: Any) -> tuple[Any, Any]:
    """Give all pairs of extreme numbers."""
    limits = np.iinfo(dtype)
    values = [limits.min, limits.max, limits.max - 1, limits.max // 2, 0, 1, 3, 7]
    numbers = np.array(values, dtype)
    return np.repeat(numbers, len(numbers)), np.tile(numbers, len(numbers))


@ct.kernel
def power_kernel(x, y, result):
    ct.store(result, 0, ct.load(x, 0, 64) ** ct.load(y, 0, 64))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_powers_of_integers_wrap_around(dtype: Any) -> None:
    x, y = pairs(dtype)
    y = np.maximum(y, 0)
    result = np.zeros_like(x)
    launch(power_kernel, x, y, result)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(result, x**y)


@ct.kernel
def cdiv_kernel(x, y, result):
    ct.store(result, 0, ct.cdiv(ct.load(x, 0, 64), ct.load(y, 0, 64)))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_quotients_are_rounded_up(dtype: Any) -> None:
    x, y = pairs(dtype)
    y = np.where(y == 0, np.array(5, dtype), y)
    result = np.zeros_like(x)
    launch(cdiv_kernel, x, y, result)
    wanted = [-(-int(a) // int(b)) for a, b in zip(x, y, strict=True)]
    assert result.tolist() == wanted


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("main", "main_kernel"),
        ("exp", "exp_kernel"),
        ("fmaxf", "fmaxf_kernel"),
        ("float", "float_kernel"),
        ("threadIdx", "threadIdx_kernel"),
        ("NULL", "NULL_kernel"),
        ("f32", "f32_kernel"),
        ("cudacore_tile", "cudacore_tile_kernel"),
        ("TILE_EACH", "TILE_EACH_kernel"),
        ("__syncthreads", "__syncthreads_kernel"),
        ("_", "__kernel"),
        ("_1", "_1"),
        ("ядро", "u44fu434u440u43e"),
        ("template", "template_kernel"),
        ("load_const", "load_const"),
    ],
)
def test_kernels_of_any_name(name: str, entry: str, device: Device) -> None:
    kernel = define(f"@ct.kernel\ndef {name}(x):\n    ct.store(x, 0, ct.load(x, 0, 8) + 1)\n", name)
    x = np.arange(8)
    launch(kernel, x)
    assert x.tolist() == list(range(1, 9))
    view = device.allocate(64).view(np.int64)
    assert f" {entry}(" in kernel.cuda_source((view,))


@pytest.mark.parametrize("name", ["threadIdx", "float", "i32", "x_at", "λ", "NULL", "__x", "v1"])
def test_parameters_and_variables_of_any_name(name: str) -> None:
    source = f"""@ct.kernel
def k({name}, x):
    for {name}_ in range(2):
        v0 = ct.load({name}, {name}_, 8)
        ct.store(x, {name}_, v0 + 1)
"""
    x = np.zeros(16)
    launch(define(source), np.arange(16.0), x)
    assert x.tolist() == list(range(1, 17))


def test_symbols_that_cannot_be(device: Device) -> None:
    kernel = define("@ct.kernel\ndef k(x):\n    pass\n")
    signature = KernelSignature(
        [ScalarConstraint(ct.int32)], CallingConvention.cutile_python_v1(), "exp"
    )
    for symbol in ("exp", "a b", "1st"):
        with pytest.raises(ValueError, match="can't be the name of a kernel"):
            export_kernel(
                kernel,
                [signature.with_symbol(symbol)],
                io.BytesIO(),
                gpu_code="sm_90",
                output_format="cuda",
            )
    twice = [signature.with_symbol("same")] * 2
    with pytest.raises(ValueError, match="two of the signatures have the symbol 'same'"):
        export_kernel(kernel, twice, io.BytesIO(), gpu_code="sm_90", output_format="cuda")
