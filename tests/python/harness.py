# SPDX-License-Identifier: Apache-2.0
"""What tests share besides fixtures: compiling in one line, scripts in separate processes."""

import ctypes
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import cudacore
import pytest
from cudacore import Buffer, ObjectCode, Program, ProgramOptions
from cudacore.utils import StridedMemoryView

#: An architecture that every NVRTC from 12 to 13 knows.
ARCH = "sm_90"

PACKAGE = Path(cudacore.__file__).parent
ROOT = Path(__file__).parents[2]

#: An empty file with one of these names, found first, hides the library from the system loader.
SONAMES = {
    "driver": ("libcuda.so.1", "libcuda.so"),
    "NVRTC": ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"),
    "nvJitLink": ("libnvJitLink.so.13", "libnvJitLink.so.12", "libnvJitLink.so"),
    "nvFatbin": ("libnvfatbin.so.13", "libnvfatbin.so.12", "libnvfatbin.so"),
}


def cubin(source: str, *names: str, **options: object) -> ObjectCode:
    """Compile for ARCH; doesn't touch a driver."""
    return Program(source, "c++", {"arch": ARCH, **options}).compile("cubin", names)


def ptx(source: str, *names: str, **options: object) -> ObjectCode:
    return Program(source, "c++", {"arch": ARCH, **options}).compile("ptx", names)


def ltoir(source: str, **options: object) -> ObjectCode:
    return Program(source, "c++", {"arch": ARCH, **options}).compile("ltoir")


def build(source: str, *names: str, options: ProgramOptions | None = None) -> ObjectCode:
    """Compile for the current device."""
    return Program(source, "c++", options).compile(name_expressions=names)


def host_bytes(buffer: Buffer) -> bytes:
    """Read memory that the host can access; the caller must have synchronized."""
    assert buffer.is_host_accessible
    return ctypes.string_at(buffer.handle, buffer.size)


def host(view: StridedMemoryView) -> Any:
    """Make a NumPy array that shares the memory of a view."""
    import numpy as np

    return np.from_dlpack(view)


def environment(changes: Mapping[str, str | None] | None = None) -> dict[str, str]:
    """Copy this process's environment, with variables changed, or removed if None."""
    merged: dict[str, str | None] = {**os.environ, **(changes or {})}
    return {name: value for name, value in merged.items() if value is not None}


def run(
    script: str,
    *arguments: str,
    flags: Sequence[str] = (),
    env: Mapping[str, str | None] | None = None,
    cwd: Path | None = None,
    timeout: float = 120,
) -> subprocess.CompletedProcess[str]:
    """Run a script in a new interpreter."""
    return subprocess.run(
        [sys.executable, *flags, "-c", textwrap.dedent(script), *arguments],
        check=False,
        capture_output=True,
        text=True,
        env=environment(env),
        cwd=cwd,
        timeout=timeout,
    )


def run_cleanly(
    script: str, *arguments: str, env: Mapping[str, str | None] | None = None, timeout: float = 120
) -> str:
    """Run a script that must succeed and write nothing to standard error; return its output."""
    result = run(script, *arguments, env=env, timeout=timeout)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


#: Ends a script with whether cudacore used the driver in it. The process's maps don't show that,
#: because NVRTC and nvJitLink open libcuda themselves. But a child may use CUDA only if cudacore
#: had not used it before the fork.
TELL_WHETHER_DRIVER_WAS_USED = """
import os, warnings
import cudacore
warnings.simplefilter("ignore", DeprecationWarning)
child = os.fork()
if child == 0:
    try:
        cudacore.system.get_num_devices()
    except cudacore.ForkedProcessError:
        os._exit(1)
    except cudacore.CUDAError:
        os._exit(0)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1)
"""


def hide(folder: Path, *libraries: str) -> dict[str, str | None]:
    """Make an environment in which no search finds the libraries, with or without a toolkit."""
    folder.mkdir(parents=True, exist_ok=True)
    for library in libraries:
        for soname in SONAMES[library]:
            (folder / soname).touch()
    hidden: dict[str, str | None] = {
        "LD_LIBRARY_PATH": str(folder), "CUDA_PATH": str(folder), "CUDA_HOME": None,
        "CONDA_PREFIX": None, "PYTHONPATH": None,
    }  # fmt: skip
    if "driver" in libraries:
        hidden["CUDACORE_DRIVER"] = "native"
    # What is in the program cache needs no compiler.
    hidden["CUDACORE_CACHE"] = "0"
    return hidden


def copy_package(folder: Path) -> Path:
    """Copy only cudacore, without any wheels; return the folder to put on sys.path."""
    target = folder / "cudacore"
    shutil.copytree(PACKAGE, target, ignore=shutil.ignore_patterns("__pycache__"))
    core = Path(cudacore._core.__file__)
    if not (target / core.name).exists():
        shutil.copy(core, target)
    return folder


def build_library(path: Path, source: str, **macros: object) -> Path:
    """Build a shared library from C source; skip the test if there is no C compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        pytest.skip("needs a C compiler")
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [compiler, "-shared", "-fPIC", *(f"-D{name}={value}" for name, value in macros.items()),
         "-x", "c", "-", "-o", path],
        check=True, input=source, text=True,
        env={name: value for name, value in os.environ.items() if name != "LD_PRELOAD"},
    )  # fmt: skip
    return path


def layered_driver(folder: Path, source: str) -> dict[str, str | None]:
    """Build a driver over the simulated device, some of whose functions `source` defines.

    Returns the environment in which a process uses it; see driver_layer.c.
    """
    real = f"{cudacore.simulator.driver_folder()}/libcuda.so.1"
    layer = Path(__file__).with_name("driver_layer.c").read_text()
    build_library(folder / "libcuda.so.1", layer + source, REAL=f'"{real}"')
    path = f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    return {"LD_LIBRARY_PATH": path, "CUDACORE_DRIVER": "native"}


def nvcc(folder: Path, *arguments: str) -> None:
    """Run nvcc in a folder, without the sanitizer that the tests may be running under."""
    env = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    made = subprocess.run(
        ["nvcc", *arguments], check=False, cwd=folder, capture_output=True, text=True, env=env
    )
    assert made.returncode == 0, made.stderr
