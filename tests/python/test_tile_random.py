# SPDX-License-Identifier: Apache-2.0
"""What random kernels compute is what NumPy computes."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st
from tile_programs import define, launch
from tile_random import BLOCKS, FLOATS, OWN, Host, Program, programs

pytestmark = pytest.mark.usefixtures("device")


def run_on_host(program: Program, arrays: list[Any], numbers: tuple[int, int]) -> None:
    for block in range(BLOCKS):
        names: dict[str, Any] = {"ct": Host(block)}
        exec(program.source, names)
        with np.errstate(all="ignore"):
            names["k"](*arrays, *numbers)


@settings(
    max_examples=40,
    derandomize=True,
    deadline=None,
    database=None,
    report_multiple_bugs=False,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)
@given(programs(), st.integers(0, 3), st.integers(0, 3), st.integers(0, 1000))
def test_random_kernels(program: Program, n: int, m: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    arrays = [
        random.integers(-8, 9, shape).astype(dtype)
        if dtype in FLOATS
        else random.integers(-(2**63), 2**63 - 1, shape).astype(dtype)
        for dtype, shape in program.inputs
    ]
    arrays += [np.arange(32, dtype=np.int32), np.zeros((BLOCKS, OWN), np.int32)]
    arrays += [np.zeros(shape, dtype) for dtype, shape in program.results]
    note(program.source)
    copies = [array.copy() for array in arrays]
    run_on_host(program, copies, (n, m))
    launch(define(program.source), *arrays, n, m, grid=(BLOCKS,))
    for number, (array, copy) in enumerate(zip(arrays[3:], copies[3:], strict=True)):
        np.testing.assert_array_equal(array, copy, err_msg=f"array {number} after the inputs")
