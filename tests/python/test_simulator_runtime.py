# SPDX-License-Identifier: Apache-2.0
"""The CUDA runtimes, 12 and 13, that come with the simulated driver."""

import re
import shutil
import subprocess
import textwrap
from pathlib import Path

import cudacore
import pytest
from harness import environment, nvcc, run_cleanly

FOLDER = Path(cudacore.simulator.driver_folder())
MAJORS = [12, 13]


def test_the_folder_has_both():
    assert {f"libcudart.so.{major}" for major in MAJORS} <= {path.name for path in FOLDER.iterdir()}


@pytest.mark.parametrize("major", MAJORS)
def test_functions_have_the_version_that_programs_ask_for(major):
    library = FOLDER / f"libcudart.so.{major}"
    listed = subprocess.run(
        ["objdump", "-p", "-T", str(library)], check=True, capture_output=True, text=True
    ).stdout

    assert re.search(rf"SONAME\s+libcudart\.so\.{major}\b", listed)
    for name in (
        "cudaMalloc",
        "cudaLaunchKernel_ptsz",
        "__cudaRegisterFatBinary",
        "cudaGraphLaunch",
    ):
        assert re.search(rf"\blibcudart\.so\.{major}\s+{name}$", listed, re.MULTILINE), name
    has = {
        name: f" {name}\n" in listed for name in ("cudaGetDeviceProperties_v2", "cudaThreadExit")
    }
    assert set(has.values()) == {major == 12}


@pytest.mark.parametrize("major", MAJORS)
def test_each_has_the_struct_of_its_own_version(major):
    """A member's position shows that the members before it have the right sizes."""
    offsets = {
        12: {"major": 360, "multiProcessorCount": 388, "clusterLaunch": 772, "size": 1032},
        13: {"major": 360, "multiProcessorCount": 384, "clusterLaunch": 748, "size": 1008},
    }[major]
    function = "cudaGetDeviceProperties" + ("_v2" if major == 12 else "")
    run_cleanly(
        textwrap.dedent(f"""
        import ctypes
        runtime = ctypes.CDLL({str(FOLDER / f"libcudart.so.{major}")!r})
        version = ctypes.c_int()
        assert runtime.cudaRuntimeGetVersion(ctypes.byref(version)) == 0
        assert version.value // 1000 == {major}
        memory = (ctypes.c_char * {offsets["size"]})()
        assert runtime.{function}(memory, 0) == 0
        read = lambda at: int.from_bytes(memory[at:at + 4], "little")
        value = ctypes.c_int()
        for at, attribute in (({offsets["major"]}, 75), ({offsets["multiProcessorCount"]}, 16),
                              ({offsets["clusterLaunch"]}, 120)):
            assert runtime.cudaDeviceGetAttribute(ctypes.byref(value), attribute, 0) == 0
            assert read(at) == value.value > 0, (at, attribute, read(at))
        """)
    )


PTX = """
.version 8.0
.target sm_75
.address_size 64
.visible .entry good() { ret; }
.visible .entry bad() { .reg .b64 %at; mov.u64 %at, 8; st.global.u32 [%at], 1; ret; }
"""

#: The runtime and the driver below it, with two kernels.
PRELUDE = f"""
import ctypes, threading
runtime = ctypes.CDLL({str(FOLDER / "libcudart.so.13")!r})
driver = ctypes.CDLL({str(FOLDER / "libcuda.so.1")!r})
class Dim3(ctypes.Structure):
    _fields_ = [(axis, ctypes.c_uint) for axis in "xyz"]
library, pointer, pitch = (ctypes.c_void_p() for _ in range(3))
size = ctypes.c_size_t
def load():
    assert runtime.cudaLibraryLoadData(
        ctypes.byref(library), ctypes.c_char_p({PTX.encode()!r}), None, None, 0, None, None, 0) == 0
def launch(name):
    kernel = ctypes.c_void_p()
    assert runtime.cudaLibraryGetKernel(ctypes.byref(kernel), library, name.encode()) == 0
    return runtime.cudaLaunchKernel(kernel, Dim3(1, 1, 1), Dim3(1, 1, 1), None, size(0), None)
def use():
    return [runtime.cudaMalloc(ctypes.byref(pointer), size(16)), launch("good"),
            runtime.cudaDeviceSynchronize()]
def on_thread(body):
    results = []
    thread = threading.Thread(target=lambda: results.append(body()))
    thread.start()
    thread.join()
    return results[0]
"""


def output(script: str) -> list[str]:
    return run_cleanly(PRELUDE + textwrap.dedent(script)).splitlines()


@pytest.mark.parametrize(
    "reset",
    [
        "cudacoreSimulatorReset()",
        "cuDevicePrimaryCtxReset_v2(0)",
        "cuDevicePrimaryCtxRelease_v2(0)",
    ],
)
def test_goes_on_after_the_driver_ended_its_context(reset: str) -> None:
    script = f"""
    load()
    print(use(), on_thread(use))
    for _ in range(3):
        assert driver.{reset} == 0
        print(use(), on_thread(use), runtime.cudaGetLastError())
    print(runtime.cudaDeviceReset(), use())
    """
    all_well = "[0, 0, 0]"
    assert output(script) == [
        f"{all_well} {all_well}",
        *[f"{all_well} {all_well} 0"] * 3,
        f"0 {all_well}",
    ]


def test_a_reset_leaves_no_error_behind() -> None:
    script = """
    load()
    first, second = threading.Event(), threading.Event()
    def other():
        print(runtime.cudaDeviceSynchronize(), runtime.cudaPeekAtLastError())
        first.set()
        second.wait()
        print(runtime.cudaPeekAtLastError(), runtime.cudaGetLastError())
    print(launch("bad"), runtime.cudaDeviceSynchronize(), runtime.cudaGetLastError())
    thread = threading.Thread(target=other)
    thread.start()
    first.wait()
    print(runtime.cudaGetLastError(), runtime.cudaDeviceReset(), runtime.cudaGetLastError())
    second.set()
    thread.join()
    print(use(), runtime.cudaGetLastError())
    """
    assert output(script) == ["0 700 700", "700 700", "700 0 0", "0 0", "[0, 0, 0] 0"]


def test_sizes_that_overflow_are_too_large() -> None:
    script = """
    class Extent(ctypes.Structure):
        _fields_ = [(name, size) for name in ("width", "height", "depth")]
    class Pitched(ctypes.Structure):
        _fields_ = [("pointer", ctypes.c_void_p), ("pitch", size), ("w", size), ("h", size)]
    def pitched(width, height):
        pointer.value = 1
        result = runtime.cudaMallocPitch(
            ctypes.byref(pointer), ctypes.byref(pitch), size(width), size(height))
        return result, pointer.value
    def box(*extent):
        to = Pitched(1)
        return runtime.cudaMalloc3D(ctypes.byref(to), Extent(*extent)), to.pointer
    print(pitched(1 << 32, 1 << 32), pitched(0, 1 << 32), pitched(1 << 32, 0))
    print(box(64, (1 << 63) + 1, 2), box(1, 1 << 32, 1 << 32), box(0, 1 << 32, 1 << 32))
    """
    too_large, nothing = "(2, None)", "(0, None)"
    assert output(script) == [
        f"{too_large} {nothing} {nothing}",
        f"{too_large} {too_large} {nothing}",
    ]


def test_filling_nothing_ends() -> None:
    script = """
    class Extent(ctypes.Structure):
        _fields_ = [(name, size) for name in ("width", "height", "depth")]
    class Pitched(ctypes.Structure):
        _fields_ = [("pointer", ctypes.c_void_p), ("pitch", size), ("w", size), ("h", size)]
    to = Pitched()
    assert runtime.cudaMalloc3D(ctypes.byref(to), Extent(64, 4, 4)) == 0
    most = (1 << 64) - 1
    for extent in ((0, 4, most), (4, 0, most), (4, 4, 0), (64, 4, 4)):
        assert runtime.cudaMemset3D(to, 0, Extent(*extent)) == 0, extent
    to.h = 0
    print(runtime.cudaMemset3D(to, 0, Extent(4, 1, most)))
    """
    assert output(script) == ["1"]


def test_copies_of_symbols_have_a_direction() -> None:
    script = """
    to_host, to_device, invalid_symbol = 2, 1, 13
    host = ctypes.create_string_buffer(4)
    for kind in (0, to_host, 5, to_device):
        print(runtime.cudaMemcpyToSymbol(host, host, size(4), size(0), kind), end=" ")
    for kind in (0, to_device, 5, to_host):
        print(runtime.cudaMemcpyFromSymbol(host, host, size(4), size(0), kind), end=" ")
    """
    assert " ".join(output(script)).split() == ["21", "21", "21", "13"] * 2


def test_flags_tell_that_host_memory_is_mapped() -> None:
    script = """
    spin, map_host, flags = 1, 8, ctypes.c_uint()
    assert runtime.cudaSetDeviceFlags(spin | map_host) == 0
    print(runtime.cudaGetDeviceFlags(ctypes.byref(flags)), flags.value)
    print(runtime.cudaGetDeviceFlags(None))
    """
    assert output(script) == ["0 9", "1"]


def test_a_device_is_no_peer_of_itself() -> None:
    assert output("print(runtime.cudaDeviceEnablePeerAccess(0, 0))") == ["101"]


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc makes the program")
def test_kernels_are_launched_by_what_runs_at_exit(tmp_path: Path) -> None:
    (tmp_path / "program.cu").write_text("""
#include <cstdio>
#include <cstdlib>
__device__ int count;
__global__ void add() { atomicAdd(&count, 1); }
void use(const char* where) {
  int counted = 0;
  add<<<1, 1>>>();
  add<<<1, 1, 0, cudaStreamPerThread>>>();
  int error = cudaStreamSynchronize(cudaStreamPerThread);
  if (error == 0) error = cudaMemcpyFromSymbol(&counted, count, sizeof(int));
  printf("%s %d %d\\n", where, error, counted);
}
struct Static { ~Static() { use("static"); } } last;
int main() {
  std::atexit([] { use("atexit"); });
  use("main");
}
""")
    nvcc(tmp_path, "-w", "-cudart", "shared", "-arch=compute_75", "-o", "program", "program.cu")
    # Freed memory is overwritten, so that any later use of it is noticed.
    env = environment({"LD_LIBRARY_PATH": str(FOLDER), "MALLOC_PERTURB_": "165"})
    ran = subprocess.run(
        [str(tmp_path / "program")],
        check=False,
        capture_output=True,
        text=True,
        env=env,
        timeout=60,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines() == ["main 0 2", "atexit 0 4", "static 0 6"]
