# SPDX-License-Identifier: Apache-2.0
"""The type stubs agree with the module."""

import subprocess
import sys
from pathlib import Path

import pytest
from cudacore import _missing
from harness import PACKAGE

#: What no stub can express: pybind11's metaclass, and a mark of its own.
#: Calling a kernel directly only raises the error that it needs a shape.
ALLOWED = r"""
cudacore\._core\.Kernel\.__call__
cudacore\._core\.\w*Memory(Resource|PoolAttributes)
cudacore\._tile\.Generated(\.__pybind11_module_local\w*)?
"""


def check(*arguments: str, folder: Path) -> str:
    pytest.importorskip("mypy")
    result = subprocess.run(
        [sys.executable, "-m", *arguments], check=False, capture_output=True, text=True, cwd=folder
    )
    return result.stdout + result.stderr if result.returncode else ""


def test_package_is_typed() -> None:
    assert (PACKAGE / "py.typed").exists()
    assert (PACKAGE / "_core.pyi").exists()
    assert (PACKAGE / "_tile.pyi").exists()


@pytest.mark.parametrize("module", ["cudacore._core", "cudacore._tile"])
def test_stubs_match_the_module(module: str, tmp_path: Path) -> None:
    allowed = tmp_path / "allowed"
    missing = [rf"cudacore\._core\.{owner}\.{name}" for owner, name, _ in _missing._placeholders()]
    allowed.write_text(ALLOWED + "\n".join(missing))
    # For this interpreter's version, and without what the package imports only if it is there.
    config = tmp_path / "mypy.ini"
    config.write_text("[mypy]\nignore_missing_imports = True\n")
    said = check(
        "mypy.stubtest", "--concise", "--ignore-unused-allowlist", f"--allowlist={allowed}",
        f"--mypy-config-file={config}", module, folder=tmp_path,
    )  # fmt: skip
    assert said == "", said


USE = """
import cudacore
from cudacore import (
    Buffer, Device, Kernel, LaunchConfig, Linker, ManagedMemoryResourceOptions, ObjectCode,
    Program, Stream, launch,
)
from cudacore.typing import ManagedMemoryLocationType, ObjectCodeFormatType, SourceCodeType

def use(device: Device, kernel: Kernel) -> float:
    stream: Stream = device.create_stream()
    buffer: Buffer = device.allocate(4, stream=stream)
    launch(stream, LaunchConfig(grid=1, block=(1, 2)), kernel, buffer, 1, 2.0, None)
    kernel[1, 1](buffer)
    kernel[(1, 1), [1], stream, 16](buffer)
    with stream:
        start = stream.record(options={"timing_enabled": True})
    return stream.record() - start

def enumerations(codes: list[ObjectCode]) -> ObjectCode:
    program = Program("", SourceCodeType.CXX)
    program.compile(ObjectCodeFormatType.CUBIN)
    ManagedMemoryResourceOptions(0, ManagedMemoryLocationType.DEVICE)
    options = ManagedMemoryResourceOptions(preferred_location_type="host")
    options.preferred_location_type = ManagedMemoryLocationType.HOST_NUMA
    return Linker(*codes).link(ObjectCodeFormatType.PTX)

def copies(buffer: Buffer, device: Device) -> Buffer:
    host: bytearray = buffer.copy_to(bytearray(4))
    part: Buffer = buffer[0:4].copy_to(device.to_device(host))
    seen: memoryview = memoryview(part)
    new: Buffer = part.copy_to()
    with Device(1) as other:
        again: Buffer = other.to_device(seen)
    return new.copy_to(again, stream=device.default_stream)

reveal_type(Program("", "c++").compile().kernels)
reveal_type(cudacore.system.get_user_mode_driver_version())
"""


def test_typical_program_passes_mypy(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "use.py").write_text(USE)
    result = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "use.py"],
        check=False, capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert result.returncode == 0, result.stdout
    said = result.stdout.replace("builtins.", "")
    assert '"tuple[str, ...]"' in said
    assert '"tuple[int, int]"' in said


@pytest.mark.parametrize(
    "wrong",
    [
        'Program("", "fortran")',
        'LaunchConfig(grid="1")',
        "Device().nothing",
        'Device().allocate(4).copy_to("text")',
        "Device().allocate(4)[0]",
        "list(Device().allocate(4))",
        "Program.load",
    ],
)
def test_wrong_use_fails_mypy(wrong: str, tmp_path: Path) -> None:
    (tmp_path / "use.py").write_text(
        f"from cudacore import Device, LaunchConfig, Program\n{wrong}\n"
    )
    assert "use.py:2: error" in check("mypy", "--strict", "use.py", folder=tmp_path)
