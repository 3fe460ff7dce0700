# SPDX-License-Identifier: Apache-2.0
"""Fat binaries made by NVIDIA's nvFatbin, loaded through cuda.core and cuda.bindings."""

import numpy as np
import pytest
from cuda.bindings import driver as cu
from cuda.bindings import nvfatbin
from cuda.core import (
    LaunchConfig,
    LegacyPinnedMemoryResource,
    ObjectCode,
    Program,
    ProgramOptions,
    launch,
)

SOURCE = 'extern "C" __global__ void which(int* out) { *out = __CUDA_ARCH__; }'
MODES = ["-compress=false", "-compress-mode=speed", "-compress-mode=balance", "-compress-mode=size"]


def fat_binary(ptx=(), cubin=(), options=()):
    """Make a fat binary from the source, with code for the architectures."""
    handle = nvfatbin.create([*options], len(options))
    try:
        for kind, architectures in (("ptx", ptx), ("cubin", cubin)):
            add = getattr(nvfatbin, f"add_{kind}")
            for arch in architectures:
                code = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{arch}")).compile(kind).code
                if kind == "ptx":
                    code = code.rstrip(b"\0") + b"\0"
                    add(handle, code, len(code), arch, "source", "")
                else:
                    add(handle, code, len(code), arch, "source")
        result = bytearray(nvfatbin.size(handle))
        nvfatbin.get(handle, result)
        return bytes(result)
    finally:
        nvfatbin.destroy(handle)


def run(stream, code):
    buffer = LegacyPinnedMemoryResource().allocate(4)
    launch(stream, LaunchConfig(grid=1, block=1), code.get_kernel("which"), buffer)
    stream.sync()
    return int(np.from_dlpack(buffer).view(np.int32)[0])


@pytest.mark.parametrize("mode", MODES)
def test_the_newest_ptx_that_runs_on_the_device_is_taken(stream, mode):
    code = fat_binary(ptx=("75", "86", "80", "100"), options=(mode,))

    assert run(stream, ObjectCode.from_fatbin(code)) == 860


def test_machine_code_beside_the_ptx_is_left(stream, tmp_path):
    file = tmp_path / "both.fatbin"
    file.write_bytes(fat_binary(ptx=("80",), cubin=("80", "90")))

    assert run(stream, ObjectCode.from_fatbin(str(file))) == 800


def test_ptx_for_one_architecture_alone(stream):
    assert run(stream, ObjectCode.from_fatbin(fat_binary(ptx=("75", "90a")))) == 900


def test_a_fat_binary_without_ptx_says_what_it_has(device, tmp_path):
    code = fat_binary(cubin=("80", "90"))
    error, _ = cu.cuModuleLoadFatBinary(code)
    assert error == cu.CUresult.CUDA_ERROR_NO_BINARY_FOR_GPU
    log = tmp_path / "log"
    cu.cuLogsDumpToFile(None, str(log).encode(), 0)

    assert "SASS for sm_90, SASS for sm_80" in log.read_text()
