# SPDX-License-Identifier: Apache-2.0
"""Errors when the driver, NVRTC or nvJitLink is missing: every place tried, and how to fix it."""

import sys
from pathlib import Path

import pytest
from harness import copy_package, environment, hide, run

PRELUDE = """
import sys
sys.path.insert(0, sys.argv[1])
import cudacore
KERNEL = "__global__ void k(float a) {}"
"""

CALLS = {
    "driver": "cudacore.Device()",
    "NVRTC": 'cudacore.Program(KERNEL, "c++", {"arch": "sm_90"}).compile("ptx")',
    "nvJitLink": 'cudacore.Program(".version 8.0", "ptx", {"arch": "sm_90"}).compile("cubin")',
    "nvFatbin": 'cudacore.make_fatbin(cudacore.ObjectCode.from_ptx(b".target sm_90"))',
}
ERRORS = {"driver": "DriverNotFoundError", "NVRTC": "LibraryNotFoundError",
          "nvJitLink": "LibraryNotFoundError", "nvFatbin": "LibraryNotFoundError"}  # fmt: skip
SONAME = {"driver": "libcuda.so.1", "NVRTC": "libnvrtc.so", "nvJitLink": "libnvJitLink.so",
          "nvFatbin": "libnvfatbin.so"}  # fmt: skip

REPORT = """
try:
    {call}
except cudacore.{error} as error:
    print(len(error.tried), error.code, repr(error.name), repr(error.function))
    print(*error.tried, sep="\\n")
    print("--")
    print(error)
"""


@pytest.fixture
def alone(tmp_path: Path) -> Path:
    """A folder that contains only cudacore."""
    return copy_package(tmp_path / "alone")


def report(library: str, alone: Path, folder: Path) -> tuple[list[str], str]:
    """Return the places tried and the message, in a process that cannot find the library."""
    places = {"CUDA_PATH": str(folder / "toolkit"), "CONDA_PREFIX": str(folder / "conda")}
    env = {**hide(folder / "hidden", *SONAME), **places}
    script = PRELUDE + REPORT.format(call=CALLS[library], error=ERRORS[library])
    result = run(script, str(alone), flags=("-I", "-S"), env=env)
    assert (result.returncode, result.stderr) == (0, "")
    first, *lines = result.stdout.splitlines()
    end = lines.index("--")
    assert first == f"{end} 0 '' ''"
    return lines[:end], "\n".join(lines[end + 1 :])


@pytest.mark.parametrize("library", CALLS)
def test_message_lists_every_place_tried(library: str, alone: Path, tmp_path: Path) -> None:
    tried, message = report(library, alone, tmp_path)
    assert len(tried) >= 1
    assert all(place in message for place in tried)
    assert SONAME[library] in message


@pytest.mark.parametrize("library", ["NVRTC", "nvJitLink", "nvFatbin"])
@pytest.mark.parametrize("place", ["toolkit", "conda"])
def test_folders_of_the_environment_are_tried(
    library: str, place: str, alone: Path, tmp_path: Path
) -> None:
    tried, _ = report(library, alone, tmp_path)
    assert any(str(tmp_path / place) in one for one in tried)


@pytest.mark.parametrize("library", ["NVRTC", "nvJitLink", "nvFatbin"])
def test_message_gives_the_pip_command(library: str, alone: Path, tmp_path: Path) -> None:
    _, message = report(library, alone, tmp_path)
    assert library in message
    assert "pip install" in message
    wheel = {"NVRTC": "nvidia-cuda-nvrtc", "nvJitLink": "nvidia-nvjitlink",
             "nvFatbin": "nvidia-nvfatbin"}[library]  # fmt: skip
    assert f"pip install {wheel}" in message
    assert "cudacore[" not in message


def test_missing_driver_says_what_still_works(alone: Path, tmp_path: Path) -> None:
    _, message = report("driver", alone, tmp_path)
    assert "driver" in message
    assert "Compil" in message


@pytest.mark.parametrize(
    "call",
    ["cudacore.Device()", "cudacore.Device.get_all_devices()", "cudacore.Event", "num_devices"],
)
def test_every_entry_without_driver_raises_the_same(call: str, tmp_path: Path) -> None:
    calls = {"cudacore.Event": "cudacore.current_stream().record()",
             "num_devices": "cudacore.LegacyPinnedMemoryResource().allocate(4)"}  # fmt: skip
    script = f"""
        import cudacore
        for _ in range(2):
            try:
                {calls.get(call, call)}
            except cudacore.DriverNotFoundError:
                print("missing")
    """
    result = run(script, env=hide(tmp_path / "hidden", "driver"))
    assert (result.stdout, result.stderr) == ("missing\nmissing\n", "")


def test_compile_without_architecture_says_how_to_do_without_a_driver(tmp_path: Path) -> None:
    script = """
        import cudacore
        try:
            cudacore.Program("__global__ void k() {}", "c++").compile()
        except cudacore.DriverNotFoundError as error:
            print(error)
    """
    result = run(script, env=hide(tmp_path / "hidden", "driver"))
    assert "arch" in result.stdout
    assert result.stderr == ""


def test_no_driver_hinders_no_compiling(tmp_path: Path) -> None:
    script = """
        import cudacore
        code = cudacore.Program("__global__ void k(int n) {}", "c++", {"arch": "sm_90"}).compile()
        print(code.code_type, code.signature("k"), code.kernels)
    """
    result = run(script, env=hide(tmp_path / "hidden", "driver"))
    assert (result.stdout, result.stderr) == ("cubin k(int n) ('k',)\n", "")


def test_wheels_are_found_without_a_toolkit(tmp_path: Path) -> None:
    script = """
        import cudacore
        print(cudacore.nvrtc_library()[1], cudacore.nvjitlink_library()[1])
    """
    result = run(script, env=hide(tmp_path / "hidden", *SONAME))
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.count("site-packages/nvidia") == 2


def test_library_already_loaded_is_used() -> None:
    script = """
        import sys, cudacore
        path = cudacore.nvrtc_library()[1]
        import subprocess
        code = "import ctypes, sys; ctypes.CDLL(sys.argv[1]); import cudacore;"
        code += "print(cudacore.nvrtc_library()[1])"
        said = subprocess.check_output([sys.executable, "-c", code, path], text=True)
        print(said.strip() == path)
    """
    result = run(script)
    assert (result.stdout, result.stderr) == ("True\n", "")


def test_wheel_roots_follow_the_interpreter(alone: Path) -> None:
    # A package in a different place still finds the wheels of the interpreter that imports it.
    script = PRELUDE + "print(cudacore.nvrtc_library()[1])"
    result = run(script, str(alone), env=environment({"PYTHONPATH": None}))
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(sys.prefix) or "site-packages" in result.stdout
