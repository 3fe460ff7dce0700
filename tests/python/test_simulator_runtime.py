# SPDX-License-Identifier: Apache-2.0
"""The CUDA runtimes, 12 and 13, that lie beside the simulated driver."""

import re
import subprocess
import textwrap
from pathlib import Path

import cudacore
import pytest
from harness import run_cleanly

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
    """Where a member lies tells that those before it have their sizes."""
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
