# SPDX-License-Identifier: Apache-2.0
"""The programs of docs/examples run as their users run them, and check their own results."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from harness import ROOT, environment

FOLDER = ROOT / "docs" / "examples"
PROGRAMS = sorted(FOLDER.glob("*.py"))
#: torch_operator.py is run by tests/pytorch.
ANYWHERE = [
    path for path in PROGRAMS if path.stem not in {"torch_operator", "cupy_comparison"}
]  # fmt: skip
PICTURES = {"histogram", "mandelbrot", "nbody"}


def run_example(path: Path, folder: Path) -> str:
    """Run a program in a folder; return what it prints."""
    # matplotlib writes its list of fonts there.
    env = environment({"MPLBACKEND": "agg", "MPLCONFIGDIR": str(folder)})
    if path.stem == "printf_debugging":
        env.pop("CUDACORE_DRIVER")  # it asks for the simulated device itself
    result = subprocess.run(
        [sys.executable, path], check=False, capture_output=True, text=True, env=env, cwd=folder,
        timeout=240,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize("path", ANYWHERE, ids=lambda path: path.stem)
def test_example(path: Path, device: object, tmp_path: Path) -> None:
    if path.stem in PICTURES:
        pytest.importorskip("matplotlib")
    said = run_example(path, tmp_path)
    assert re.search(r"\bagrees? with NumPy", said.splitlines()[-1])
    if path.stem in PICTURES:
        assert (tmp_path / f"{path.stem}.png").read_bytes().startswith(b"\x89PNG")


def test_debugging_example_shows_the_fault_and_what_printf_wrote(tmp_path: Path) -> None:
    said = run_example(FOLDER / "printf_debugging.py", tmp_path)
    assert re.search(r"block \(3,0,0\), thread \(231,0,0\).*smooth\.cu:8", said)
    assert "block 3, thread 231: 998 to 1000 of 1000" in said


@pytest.mark.gpu_only(reason="CuPy's kernels are machine code")
def test_example_with_cupy(device: object, tmp_path: Path) -> None:
    pytest.importorskip("cupy")
    said = run_example(FOLDER / "cupy_comparison.py", tmp_path)
    assert re.search(r"agree with NumPy(.|\n)*CuPy(.|\n)*cudacore", said)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_example_is_short_and_in_the_index(path: Path) -> None:
    assert f"[{path.name}]({path.name})" in (FOLDER / "README.md").read_text()
    assert len(path.read_text().splitlines()) <= 90
