# SPDX-License-Identifier: Apache-2.0
"""A package that ships a fat binary, made by `python -m cudacore compile`, and needs no NVRTC."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import cudacore
import pytest
from harness import ROOT, copy_package, environment, hide, run

SAMPLE = ROOT / "tests" / "packaging" / "ahead_of_time"

SCRIPT = """
import sys
sys.path[:0] = sys.argv[1:]
from array import array
import cudacore
import saxpy

for find in (cudacore.nvrtc_library, cudacore.nvjitlink_library, cudacore.nvfatbin_library):
    try:
        print("found", find())
    except cudacore.LibraryNotFoundError:
        pass
device = cudacore.Device()
device.set_current()
x, y = device.allocate(4 * 1000), device.allocate(4 * 1000)
x.copy_from(array("f", range(1000)))
y.fill(0)
saxpy.saxpy(2, x, y, 1000)
saxpy.scale(y, 0.5, 999)
result = array("f", bytes(4000))
y.copy_to(result)
print(list(result) == [*range(999), 2 * 999.0])
print(saxpy.__file__)
"""


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample with its kernels compiled, without the source."""
    folder = tmp_path_factory.mktemp("sample") / "installed"
    shutil.copytree(SAMPLE, folder)
    names = ("--name", "saxpy<float>", "--name", "saxpy<double>")
    made = subprocess.run(
        [sys.executable, "-m", "cudacore", "compile", "saxpy/kernels.cu", *names,
         "--arch", "sm_80,sm_90,sm_100,compute_75", "-o", "saxpy/kernels.fatbin"],
        check=False, capture_output=True, text=True, cwd=folder, timeout=120,
        env=environment(hide(folder.parent / "hidden", "driver")),
    )  # fmt: skip
    assert (made.returncode, made.stderr) == (0, "")
    assert "saxpy<double>(double a, double const* x, double* y, unsigned int n)" in made.stdout
    (folder / "saxpy" / "kernels.cu").unlink()
    return folder


def run_without_compilers(sample: Path, folder: Path) -> list[str]:
    """Run the script in a process that has cudacore and the sample, but not even NVRTC."""
    alone = copy_package(folder / "alone")
    env = hide(folder / "hidden", "NVRTC", "nvJitLink", "nvFatbin")
    result = run(SCRIPT, str(alone), str(sample), flags=("-I", "-S"), env=env)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout.splitlines()


def test_package_runs_without_nvrtc(device: cudacore.Device, sample: Path, tmp_path: Path) -> None:
    assert run_without_compilers(sample, tmp_path) == [
        "True", str(sample / "saxpy" / "__init__.py")
    ]  # fmt: skip


def test_package_runs_from_an_archive(
    device: cudacore.Device, sample: Path, tmp_path: Path
) -> None:
    wheel = tmp_path / "saxpy-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for file in (sample / "saxpy").iterdir():
            if file.is_file():
                archive.write(file, f"saxpy/{file.name}")
    assert run_without_compilers(wheel, tmp_path) == [
        "True", str(wheel / "saxpy" / "__init__.py")
    ]  # fmt: skip


def test_parameters_are_known_without_the_source(sample: Path) -> None:
    code = cudacore.ObjectCode.load(sample / "saxpy" / "kernels.fatbin")
    assert code.code_type == "fatbin"
    assert set(code.kernels) == {"saxpy<float>", "saxpy<double>", "scale"}
    kinds = [parameter.kind for parameter in code.signature("saxpy<float>")]
    assert kinds == ["float32", "pointer", "pointer", "uint"]
    assert [parameter.kind for parameter in code.signature("scale")][1] == "float32"
    assert [parameter.size for parameter in code.signature("scale")] == [8, 4, 4]
