# SPDX-License-Identifier: Apache-2.0
"""The simulated device: how to request it, and how it is configured. All in other processes."""

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import cudacore
import pytest
from harness import ROOT, environment, run, run_cleanly

#: As if no driver had been requested.
UNASKED: dict[str, str | None] = {
    "CUDACORE_DRIVER": None,
    "CUDACORE_SIMULATOR_DEVICES": None,
    "CUDACORE_SIMULATOR_COMPUTE_CAPABILITY": None,
    "CUDACORE_SIMULATOR_MEMORY": None,
    "CUDACORE_SIMULATOR_THREADS": None,
    "CUDA_VISIBLE_DEVICES": None,
}
ASKED = UNASKED | {"CUDACORE_DRIVER": "simulator"}

PRELUDE = """
import cudacore
from cudacore import *
from cudacore.simulator import enable, is_enabled
def say(use):
    try:
        print("went well", use())
    except Exception as error:
        print(type(error).__name__, error)
def show():
    print([(one.name, tuple(one.compute_capability), one.mem_info.total >> 20)
           for one in cudacore.Device.get_all_devices()])
"""


def output(script: str, env: Mapping[str, str | None] = UNASKED) -> str:
    return run_cleanly(PRELUDE + script, env=env).strip()


def described(major: int, minor: int, mebibytes: int, devices: int = 1) -> str:
    name = f"cudacore simulated device (sm_{major}{minor})"
    return str([(name, (major, minor), mebibytes)] * devices)


class TestEnable:
    def test_defaults(self) -> None:
        assert output("enable()\nshow()") == described(9, 0, 4096)

    def test_everything_given(self) -> None:
        script = 'enable(devices=3, compute_capability=(8, 6), memory="64 MiB")\nshow()'
        assert output(script) == described(8, 6, 64, 3)

    @pytest.mark.parametrize(
        ("memory", "mebibytes"),
        [("'1 GiB'", 1024), ("'0.5 GiB'", 512), ("' 16   MiB '", 16), ("'2048 KiB'", 2),
         ("'1048576 B'", 1), ("'3145728'", 3), ("'4GiB'", 4096), ("'1 TiB'", 1 << 20)],
    )  # fmt: skip
    def test_memory_is_spelt_alike_everywhere(self, memory: str, mebibytes: int) -> None:
        assert output(f"enable(memory={memory})\nshow()") == described(9, 0, mebibytes)
        env = ASKED | {"CUDACORE_SIMULATOR_MEMORY": memory.strip("'")}
        assert output("show()", env) == described(9, 0, mebibytes)

    def test_memory_in_bytes(self) -> None:
        assert output("enable(memory=1 << 21)\nshow()") == described(9, 0, 2)

    def test_environment_counts_where_nothing_is_told(self) -> None:
        env = UNASKED | {
            "CUDACORE_SIMULATOR_DEVICES": "3",
            "CUDACORE_SIMULATOR_COMPUTE_CAPABILITY": "8.6",
            "CUDACORE_SIMULATOR_MEMORY": "64MiB",
        }
        assert output("enable()\nshow()", env) == described(8, 6, 64, 3)
        assert output("enable(memory='1GiB')\nshow()", env) == described(8, 6, 1024, 3)
        assert output("enable(2, (12, 0))\nshow()", env) == described(12, 0, 64, 2)

    def test_told_nothing_it_takes_what_is_in_use(self) -> None:
        env = ASKED | {"CUDACORE_SIMULATOR_DEVICES": "2"}
        assert output("Device(0).sync()\nenable()\nshow()", env) == described(9, 0, 4096, 2)

    def test_wrong_arguments_are_named_and_change_nothing(self) -> None:
        wrong = [
            ("TypeError", "devices='2'"), ("TypeError", "devices=1.5"),
            ("ValueError", "devices=0"), ("ValueError", "devices=65"), ("ValueError", "devices=-1"),
            ("TypeError", "compute_capability='9.0'"), ("TypeError", "compute_capability=9"),
            ("TypeError", "compute_capability=(9,)"), ("TypeError", "compute_capability=(9, 0.5)"),
            ("ValueError", "compute_capability=(9, 5)"),
            ("ValueError", "compute_capability=(7, 0)"),
            ("ValueError", "compute_capability=(13, 0)"),
            ("ValueError", "compute_capability=(0, 0)"),
            ("TypeError", "memory=1.5"), ("TypeError", "memory=b'1'"),
            ("ValueError", "memory='much'"), ("ValueError", "memory='4 GB'"),
            ("ValueError", "memory='1.2.3 GiB'"), ("ValueError", "memory='inf GiB'"),
            ("ValueError", "memory='-1 GiB'"), ("ValueError", "memory=1000"),
            ("ValueError", "memory=2**41"), ("ValueError", "memory=''"),
        ]  # fmt: skip
        calls = "".join(f"say(lambda: enable({arguments}))\n" for _, arguments in wrong)
        *said, last = output(calls + "enable()\nshow()").splitlines()
        assert last == described(9, 0, 4096)
        for (kind, arguments), line in zip(wrong, said, strict=True):
            assert line.startswith(kind + " ")
            assert arguments.partition("=")[0].replace("_", " ") in line.replace("_", " ")

    def test_compute_capabilities_that_there_are_are_listed(self) -> None:
        said = output("say(lambda: enable(compute_capability=(9, 9)))")
        listed = [".".join(pair) for pair in re.findall(r"\((\d+), (\d)\)", said)]
        assert listed[:2] == ["9.9", "7.5"]
        asked = ASKED | {"CUDACORE_SIMULATOR_COMPUTE_CAPABILITY": "9.9"}
        assert "one of " + ", ".join(listed[1:]) in output("say(Device)", asked)
        page = (ROOT / "docs" / "simulator.md").read_text()
        assert "| " + ", ".join(listed[1:]) + " |" in page

    def test_twice_alike_is_once(self) -> None:
        script = 'enable(2, (8, 0), "1 GiB")\nenable(2, (8, 0), 1 << 30)\nshow()'
        assert output(script) == described(8, 0, 1024, 2)

    @pytest.mark.parametrize("alike", ["", "1", "1, (9, 0)", "memory='4 GiB'", "memory=2**32"])
    def test_what_is_in_force_may_be_asked_for_again(self, alike: str) -> None:
        used = f"enable({alike})\nDevice(0).sync()\nenable({alike})\nshow()"
        assert output("enable()\n" + used) == described(9, 0, 4096)
        assert output("Device(0).sync()\n" + used, ASKED) == described(9, 0, 4096)

    def test_what_the_environment_asked_for_is_in_force(self) -> None:
        env = ASKED | {"CUDACORE_SIMULATOR_DEVICES": "2", "CUDACORE_SIMULATOR_MEMORY": "64 MiB"}
        script = "Device(0).sync()\nenable(2, memory='64 MiB')\nsay(lambda: enable(1))\nshow()"
        said, shown = output(script, env).splitlines()
        assert said.startswith("CUDAError")
        assert shown == described(9, 0, 64, 2)

    @pytest.mark.parametrize("other", ["2", "1, (8, 0)", "memory='1 GiB'"])
    def test_twice_otherwise_is_refused(self, other: str) -> None:
        said, shown = output(f"enable()\nsay(lambda: enable({other}))\nshow()").splitlines()
        assert said.startswith("CUDAError")
        assert "before the first use" in said
        assert shown == described(9, 0, 4096)

    def test_after_a_device_was_used_is_refused(self) -> None:
        said = output("Device(0).sync()\nsay(lambda: enable(2))", ASKED)
        assert said.startswith("CUDAError")
        assert "libcudacore_sim.so" in said
        assert "in use" in said

    def test_after_a_driver_was_missed_goes(self) -> None:
        script = """
try:
    cudacore.system.get_num_devices()
except DriverNotFoundError:
    pass
say(is_enabled)
"""
        assert output(script, UNASKED | {"CUDA_VISIBLE_DEVICES": ""}) == "went well False"

    def test_overrules_the_environment(self) -> None:
        env = ASKED | {"CUDACORE_SIMULATOR_DEVICES": "4", "CUDACORE_DRIVER": "native"}
        assert output("enable(2)\nshow()", env) == described(9, 0, 4096, 2)

    def test_devices_have_memory_of_their_own(self) -> None:
        script = """
enable(devices=2, memory="64 MiB")
one, two = cudacore.Device.get_all_devices()
kernel = Program("__global__ void k(int* p, int v) { *p = v; }", "c++").compile().get_kernel("k")
streams = [device.create_stream() for device in (one, two)]
held = [device.allocate(32 << 20, stream=stream)
        for device, stream in zip((one, two), streams)]
for value, (stream, buffer) in enumerate(zip(streams, held), 5):
    kernel[1, 1, stream](buffer, value)
for stream, buffer in zip(streams, held):
    host = bytearray(buffer.size)
    buffer.copy_to(host, stream=stream)
    stream.sync()
    print(host[0], buffer.device_id)
try:
    one.allocate(48 << 20)
except OutOfMemoryError as error:
    print(error.code)
print(one.uuid != two.uuid)
"""
        assert output(script).split() == ["5", "0", "6", "1", "2", "True"]

    @pytest.mark.parametrize(
        ("major", "minor"), [(7, 5), (8, 0), (9, 0), (10, 0), (12, 0), (12, 1)]
    )
    def test_compiles_and_runs_for_each_capability(self, major: int, minor: int) -> None:
        if int(f"{major}{minor}") not in cudacore.nvrtc_architectures():
            pytest.skip("this NVRTC does not know it")
        script = f"""
enable(compute_capability=({major}, {minor}))
code = Program('''template <class T> __global__ void k(T* p, T a) {{
  __shared__ T s[32];
  s[threadIdx.x] = a * threadIdx.x;
  __syncthreads();
  p[threadIdx.x] = __shfl_xor_sync(~0u, s[31 - threadIdx.x], 1) + __CUDA_ARCH__;
}}''', "c++").compile(name_expressions=["k<float>"])
device = Device()
with device.allocate(128) as buffer:
    code.get_kernel("k<float>")[1, 32](buffer, 0.5)
    host = memoryview(bytearray(128)).cast("f")
    buffer.copy_to(host)
    device.sync()
print(device.arch, code.code_type, [value - {major}{minor}0 for value in host[:3]])
"""
        assert output(script) == f"{major}{minor} ptx [15.0, 15.5, 14.0]"


class TestEnvironment:
    def test_chooses_the_simulated_device(self) -> None:
        assert output("print(is_enabled())\nshow()", ASKED) == "True\n" + described(9, 0, 4096)

    @pytest.mark.parametrize("value", [None, "", "native"])
    def test_else_it_is_not_in_use(self, value: str | None) -> None:
        assert output("print(is_enabled())", UNASKED | {"CUDACORE_DRIVER": value}) == "False"

    @pytest.mark.parametrize("value", ["cuda", "Simulator", "/usr/lib/libcuda.so"])
    def test_another_name_is_refused(self, value: str) -> None:
        for use in ("Device", "is_enabled"):
            said = output(f"say({use})", UNASKED | {"CUDACORE_DRIVER": value})
            assert said.startswith(f'DriverNotFoundError CUDACORE_DRIVER is "{value}"')
            assert '"simulator"' in said
            assert '"native"' in said

    def test_says_what_the_device_is(self) -> None:
        env = ASKED | {
            "CUDACORE_SIMULATOR_DEVICES": "2",
            "CUDACORE_SIMULATOR_COMPUTE_CAPABILITY": "12.0",
            "CUDACORE_SIMULATOR_MEMORY": "32 MiB",
        }
        assert output("show()", env) == described(12, 0, 32, 2)

    @pytest.mark.parametrize(
        ("name", "value"),
        [("DEVICES", "0"), ("DEVICES", "65"), ("DEVICES", "two"), ("DEVICES", ""),
         ("COMPUTE_CAPABILITY", "9"), ("COMPUTE_CAPABILITY", "sm_90"),
         ("COMPUTE_CAPABILITY", "9.5"), ("MEMORY", "4 GB"), ("MEMORY", "none"), ("MEMORY", "1"),
         ("THREADS", "0"), ("THREADS", "-2"), ("THREADS", "1025"), ("THREADS", "all"),
         ("THREADS", ""), ("TIMEOUT", "0"), ("TIMEOUT", "-1"), ("TIMEOUT", "soon"),
         ("TIMEOUT", "nan"), ("TIMEOUT", ""), ("ISA", "mmx"), ("ISA", ""), ("COUNT", "yes")],
    )  # fmt: skip
    def test_what_it_cannot_be_is_named(self, name: str, value: str) -> None:
        variable = f"CUDACORE_SIMULATOR_{name}"
        said = output("say(Device)", ASKED | {variable: value})
        assert said.startswith("CUDAError cuInit failed")
        assert f'{variable} is "{value}"' in said
        assert "it must be" in said

    @pytest.mark.parametrize(
        ("visible", "count"), [("", 0), ("-1", 0), ("1", 1), ("1,0", 2), ("0,7,1", 1)]
    )
    def test_visible_devices(self, visible: str, count: int) -> None:
        env = ASKED | {"CUDACORE_SIMULATOR_DEVICES": "2", "CUDA_VISIBLE_DEVICES": visible}
        said = output("say(cudacore.system.get_num_devices)", env)
        expected = f"went well {count}" if count else "DriverNotFoundError cuInit found no device"
        assert said.startswith(expected)


class TestLibrary:
    def test_lies_in_the_package(self) -> None:
        path = Path(cudacore.simulator.library())
        assert path.name == "libcudacore_sim.so"
        assert path.is_file()

    def test_asking_does_not_choose_it(self) -> None:
        assert output("cudacore.simulator.library()\nprint(is_enabled())") == "False"

    def test_driver_folder_holds_the_drivers_names_alone(self) -> None:
        folder = Path(cudacore.simulator.driver_folder())
        names = sorted(path.name for path in folder.iterdir())
        assert names == [
            "libcuda.so.1",
            "libcudart.so.12",
            "libcudart.so.13",
            "libnvidia-ml.so.1",
        ]

    def test_command_prints_the_folder(self) -> None:
        result = subprocess.run(
            [sys.executable, "-m", "cudacore", "simulator-path"],
            check=False, capture_output=True, text=True, env=environment(UNASKED), timeout=60,
        )  # fmt: skip
        assert (result.returncode, result.stderr) == (0, "")
        assert result.stdout == cudacore.simulator.driver_folder() + "\n"

    def test_program_that_opens_libcuda_runs_on_it(self) -> None:
        script = """
            import ctypes
            cuda = ctypes.CDLL("libcuda.so.1")
            count, name = ctypes.c_int(), ctypes.create_string_buffer(100)
            device = ctypes.c_int()
            print(cuda.cuInit(0), cuda.cuDeviceGetCount(ctypes.byref(count)),
                  cuda.cuDeviceGet(ctypes.byref(device), 0),
                  cuda.cuDeviceGetName(name, 100, device), count.value, name.value.decode())
        """
        env = UNASKED | {"LD_LIBRARY_PATH": cudacore.simulator.driver_folder()}
        result = run(script, env=env)
        assert result.stdout == "0 0 0 0 1 cudacore simulated device (sm_90)\n"

    def test_management_library_tells_the_devices(self) -> None:
        script = """
            import ctypes
            nvml = ctypes.CDLL("libnvidia-ml.so.1")
            count, name = ctypes.c_uint(), ctypes.create_string_buffer(96)
            device = ctypes.c_void_p()
            print(nvml.nvmlInit_v2(), nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)),
                  nvml.nvmlDeviceGetHandleByIndex_v2(2, ctypes.byref(device)),
                  nvml.nvmlDeviceGetName(device, name, 96), count.value, name.value.decode())
        """
        env = UNASKED | {
            "LD_LIBRARY_PATH": cudacore.simulator.driver_folder(),
            "CUDACORE_SIMULATOR_DEVICES": "3",
            "CUDA_VISIBLE_DEVICES": "1",
        }
        result = run(script, env=env)
        assert result.stdout == "0 0 0 0 3 cudacore simulated device (sm_90)\n"

    def test_management_library_refuses_what_the_devices_cannot_be(self) -> None:
        script = """
            import ctypes
            print(ctypes.CDLL("libnvidia-ml.so.1").nvmlInit_v2())
        """
        env = UNASKED | {
            "LD_LIBRARY_PATH": cudacore.simulator.driver_folder(),
            "CUDACORE_SIMULATOR_DEVICES": "none",
        }
        assert run(script, env=env).stdout == "999\n"

    def test_cudacore_knows_it_by_any_name(self) -> None:
        env = UNASKED | {"LD_LIBRARY_PATH": cudacore.simulator.driver_folder()}
        said = output("Device().sync()\nprint(is_enabled())\nshow()", env)
        assert said == "True\n" + described(9, 0, 4096)


FAT_BINARY = """
import struct
from array import array
from cudacore import ObjectCode, Program, ProgramOptions
enable()

def piece(kind, arch, code):
    code += bytes(8 - len(code) % 8)
    return struct.pack("<HHIQIIIIQQQQ", kind, 0x101, 64, len(code), 0, 0, 0, arch, 0, 0x11,
                       0, 0) + code

def fat_binary(*pieces):
    body = b"".join(pieces)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body

def compiled(arch, target):
    source = 'extern "C" __global__ void which(int* out) { *out = __CUDA_ARCH__; }'
    return Program(source, "c++", ProgramOptions(arch=f"sm_{arch}")).compile(target).code

def ptx(arch):
    return piece(1, arch, compiled(arch, "ptx").rstrip(b"\\0"))

def run(code):
    out = array("i", [0])
    device = Device()
    with device.allocate(4) as memory:
        ObjectCode.from_fatbin(code).get_kernel("which")[1, 1](memory)
        memory.copy_to(out)
        device.sync()
    print(out[0])
"""


class TestFatBinary:
    """``ObjectCode.from_fatbin`` on the simulated device, which extracts the PTX."""

    def test_takes_the_newest_ptx_that_runs(self) -> None:
        said = output(FAT_BINARY + "run(fat_binary(ptx(75), ptx(86), ptx(100)))")
        assert said == "860"

    def test_without_ptx_says_what_it_has(self) -> None:
        code = 'fat_binary(piece(2, 90, compiled(90, "cubin")))'
        said = output(FAT_BINARY + f"say(lambda: run({code}))")
        assert "SASS for sm_90" in said
        assert "no PTX for sm_90" in said
