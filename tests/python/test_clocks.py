# SPDX-License-Identifier: Apache-2.0
"""Reading a device's clocks from NVML."""

import os
from pathlib import Path

import cudacore
import pytest
from cudacore import Device, _core
from harness import build_library, run

#: An NVML that knows one device.
NVML = """
#include <string.h>
int nvmlInit_v2(void) { return INIT; }
const char* nvmlErrorString(int result) { return result == 6 ? "Not Found" : "Made Up"; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** device) {
  *device = (void*)1;
  return strcmp(id, "0000:01:00.0") == 0 ? 0 : 6;
}
int nvmlDeviceGetClockInfo(void* device, int clock, unsigned* megahertz) {
  *megahertz = clock == 1 ? 1980 : 2619;
  return 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
  *reasons = 4;
  return 0;
}
"""

ASK = """
import sys
from cudacore import CUDAError, _core
try:
    print(_core.clocks(sys.argv[1]))
except CUDAError as error:
    print(type(error).__name__, error.name, str(error).partition("\\n")[0])
"""


def ask(folder: Path, device: str = "0000:01:00.0") -> str:
    path = f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    result = run(ASK, device, env={"LD_LIBRARY_PATH": path, "CUDACORE_DRIVER": "native"})
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def build(folder: Path, source: str = NVML, init: int = 0) -> Path:
    return build_library(folder / "libnvidia-ml.so.1", source, INIT=init).parent


def test_reads_clocks(tmp_path: Path) -> None:
    assert ask(build(tmp_path)) == "(1980, 2619, 4)\n"


def test_unknown_device(tmp_path: Path) -> None:
    said = ask(build(tmp_path), "0000:02:00.0")
    assert said.startswith("NotFoundError Not Found nvmlDeviceGetHandleByPciBusId_v2 failed for")
    assert "0000:02:00.0" in said


def test_driver_that_cannot_be_asked(tmp_path: Path) -> None:
    said = ask(build(tmp_path, init=18))
    assert said.startswith("LibRmVersionMismatchError Made Up nvmlInit failed: Made Up (NVML at")


def test_library_that_lacks_a_function(tmp_path: Path) -> None:
    said = ask(build(tmp_path, "int nvmlInit_v2(void) { return 0; }"))
    assert "has no function nvmlErrorString" in said


def test_no_library(tmp_path: Path) -> None:
    (tmp_path / "libnvidia-ml.so.1").write_text("no library")
    said = ask(tmp_path)
    assert said.startswith("LibraryNotFoundError  NVML (libnvidia-ml.so.1) could not be opened")


@pytest.mark.gpu_only(reason="the simulated device has no clocks")
def test_clocks_of_a_gpu(device: Device) -> None:
    multiprocessors, memory, _ = _core.clocks(device.pci_bus_id)
    assert 100 < multiprocessors < 10000
    assert 100 < memory < 100000


def test_wrong_argument() -> None:
    with pytest.raises(TypeError):
        _core.clocks(5)
    assert "clocks" not in cudacore.__all__
