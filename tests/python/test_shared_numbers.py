# SPDX-License-Identifier: Apache-2.0
"""Numbers that Python and C++ have both must be the same."""

import re
from pathlib import Path

import cudacore
import pytest
from cudacore import (
    TensorMapDataType,
    TensorMapIm2ColWideMode,
    TensorMapInterleave,
    TensorMapL2Promotion,
    TensorMapOOBFill,
    TensorMapSwizzle,
    simulator,
)
from cudacore._doctor import device_checks
from cudacore.graph import GraphNodeType, _guards, _recorded_function, _work
from harness import ROOT

INCLUDE = ROOT / "include" / "cudacore"
SIMULATOR = ROOT / "src" / "simulator" / "api" / "system"


def enumerators(text: str, head: str) -> dict[str, int]:
    """Read the members of an enumeration from C or C++."""
    body = text.partition(head)[2].partition("{")[2].partition("}")[0]
    body = re.sub(r"/\*.*?\*/|//[^\n]*|#[^\n]*", "", body, flags=re.DOTALL)
    members: dict[str, int] = {}
    following = 0
    for member in filter(None, map(str.strip, body.split(","))):
        name, _, value = map(str.strip, member.partition("="))
        following = int(value, 0) if value else following
        members[name] = following
        following += 1
    assert members, head
    return members


@pytest.fixture(scope="module")
def driver_header() -> str:
    for folder in cudacore.include_directories():
        path = Path(folder) / "cuda.h"
        if path.exists():
            return path.read_text()
    pytest.skip("needs cuda.h, which no installed package has")


def test_kinds_of_guards() -> None:
    text = (ROOT / "src" / "bindings" / "recording.hpp").read_text()
    kinds = enumerators(text, "enum class Kind")
    assert kinds == {name: getattr(_guards, f"_{name.upper()}") for name in kinds}


def test_memory_of_graphs() -> None:
    known = enumerators((INCLUDE / "graph_work.hpp").read_text(), "enum class GraphMemoryType")
    assert known == {name: i for i, name in enumerate(_work.MEMORY_TYPES)}


def test_kinds_of_conditions() -> None:
    known = enumerators((INCLUDE / "graph_condition.hpp").read_text(), "enum class ConditionKind")
    assert known == {f"{kind}_": i for i, kind in enumerate(_work.CONDITIONAL_TYPES)}


def test_limits_of_the_simulator() -> None:
    limits = (SIMULATOR / "configuration.hpp").read_text()
    settings = (SIMULATOR / "configuration.cpp").read_text()
    assert f"max_devices = {simulator._MOST_DEVICES};" in limits
    found = re.search(r"known_capabilities\{([\d, ]+)\}", settings)
    assert found is not None
    known = [divmod(int(number), 10) for number in found[1].split(",")]
    assert known == list(simulator._COMPUTE_CAPABILITIES)
    for name, size in (
        ("smallest_memory", simulator._LEAST_MEMORY),
        ("largest_memory", simulator._MOST_MEMORY),
    ):
        shift = re.search(rf"{name}\b[^;]*<< (\d+)", limits + settings)
        assert shift is not None
        assert 1 << int(shift[1]) == size


def test_nodes_of_graphs(driver_header: str) -> None:
    known = enumerators(driver_header, "typedef enum CUgraphNodeType_enum")
    assert {kind.name: int(kind) for kind in GraphNodeType}.items() <= known.items()


@pytest.mark.parametrize(
    ("own", "name", "prefix"),
    [
        (TensorMapDataType, "CUtensorMapDataType", "CU_TENSOR_MAP_DATA_TYPE_"),
        (TensorMapInterleave, "CUtensorMapInterleave", "CU_TENSOR_MAP_INTERLEAVE_"),
        (TensorMapSwizzle, "CUtensorMapSwizzle", "CU_TENSOR_MAP_SWIZZLE_"),
        (TensorMapL2Promotion, "CUtensorMapL2promotion", "CU_TENSOR_MAP_L2_PROMOTION_"),
        (TensorMapOOBFill, "CUtensorMapFloatOOBfill", "CU_TENSOR_MAP_FLOAT_OOB_FILL_"),
        (TensorMapIm2ColWideMode, "CUtensorMapIm2ColWideMode", "CU_TENSOR_MAP_IM2COL_WIDE_MODE_"),
    ],
)
def test_tensor_maps(driver_header: str, own: type, name: str, prefix: str) -> None:
    if f"{name}_enum" not in driver_header:
        pytest.skip(f"this cuda.h has no {name}")
    known = enumerators(driver_header, f"typedef enum {name}_enum")
    for key, member in own.__members__.items():
        assert known.get(prefix + key, known.get(f"CU_TENSOR_MAP_{key}")) == int(member), key


def test_results_and_modes(driver_header: str) -> None:
    results = {
        name: int(number)
        for name, number in re.findall(r"\b(CUDA_ERROR_\w+)\s*=\s*(\d+)", driver_header)
    }
    capture = _recorded_function._CAPTURE_ERRORS
    assert results["CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"] == capture.start
    assert results["CUDA_ERROR_CAPTURED_EVENT"] == capture.stop - 1
    assert results["CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"] == _recorded_function._SPOILED
    modes = enumerators(driver_header, "typedef enum CUcomputemode_enum")
    assert modes["CU_COMPUTEMODE_PROHIBITED"] == device_checks._PROHIBITED
    assert modes["CU_COMPUTEMODE_EXCLUSIVE_PROCESS"] == device_checks._EXCLUSIVE
