# SPDX-License-Identifier: Apache-2.0
"""The doctor's checks, on made-up facts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cudacore._doctor import gather, machine, report
from cudacore._doctor.diagnosis import diagnose, is_healthy
from cudacore._doctor.facts import (
    CacheFacts,
    Compilers,
    Copy,
    DeviceFacts,
    Driver,
    Facts,
    Failure,
    Finding,
    Headers,
    Library,
    Machine,
    Management,
)
from cudacore._doctor.probe import ProbeError

H200 = DeviceFacts(0, "NVIDIA H200", (9, 0), memory_bytes=141 * 2**30)


def library(name: str, *version: int, place: str = "wheel", **fields: Any) -> Library:
    used = Copy(place, f"/{place}/lib{name}.so", (version[0], version[1]))
    return Library(name, used, copies=(used, *fields.pop("others", ())), **fields)


def a_driver(*version: int, devices: tuple[DeviceFacts, ...] = (H200,), **fields: Any) -> Driver:
    return Driver(library("cuda", *(version or (13, 0)), place="loader"), devices=devices, **fields)


def some_compilers(**fields: Any) -> Compilers:
    return Compilers(**{
        "nvrtc": library("NVRTC", 13, 0), "nvjitlink": library("nvJitLink", 13, 0),
        "nvfatbin": library("nvFatbin", 13, 0), "architectures": (75, 80, 90, 100),
        "headers": (Headers("/wheel/include", (13, 0), used=True),), **fields,
    })  # fmt: skip


def facts(**fields: Any) -> Facts:
    return Facts(**{
        "driver": a_driver(), "compilers": some_compilers(),
        "management": Management(library("NVML", 13, 0), "580.65.06", devices=1),
        "machine": Machine(kernel_driver="580.65.06", pci_gpus=1), **fields,
    })  # fmt: skip


def no_driver(text: str = "the CUDA driver could not be opened", **fields: Any) -> Driver:
    failure = Failure(text, **{"kind": "DriverNotFoundError", **fields})
    return Driver(Library("driver", failure=failure))


def found(some: Facts) -> dict[str, Finding]:
    return {finding.id: finding for finding in diagnose(some)}


def test_healthy_machine_has_no_findings() -> None:
    assert found(facts()) == {}
    assert is_healthy([])


NO_DEVICE = no_driver("cuInit found no device (CUDA_ERROR_NO_DEVICE): ...")
FILES = {"/dev/nvidia0": True, "/dev/nvidiactl": True}

CASES: dict[str, tuple[str, str, Facts, str]] = {
    # name: (id, severity, facts, what the text or the cure says)
    "two NVRTCs": (
        "two-nvrtc", "warning",
        facts(compilers=some_compilers(nvrtc=library(
            "NVRTC", 13, 0, others=(Copy("toolkit", "/usr/local/cuda/x.so", (12, 4)),)))),
        "12.4 at /usr/local/cuda/x.so (toolkit)",
    ),
    "NVRTC of a newer major version": (
        "nvrtc-newer-than-driver", "problem", facts(driver=a_driver(12, 8)), "cudacore[cu12]",
    ),
    "NVRTC of a newer minor version": (
        "nvrtc-newer-than-driver", "warning",
        facts(compilers=some_compilers(nvrtc=library("NVRTC", 13, 1),
                                       nvjitlink=library("nvJitLink", 13, 1),
                                       headers=(Headers("/i", (13, 1), used=True),))),
        "refuses its PTX",
    ),
    "cu12 beside a driver of 13": (
        "nvrtc-older-than-driver", "warning",
        facts(compilers=some_compilers(nvrtc=library("NVRTC", 12, 9),
                                       headers=(Headers("/i", (12, 9), used=True),))),
        "cudacore[cu13]",
    ),
    "headers of another version": (
        "headers-of-another-version", "warning",
        facts(compilers=some_compilers(headers=(Headers("/usr/include", (13, 2), used=True),))),
        "nvidia-cuda-runtime==13.0.*",
    ),
    "headers of another major version": (
        "no-headers", "warning",
        facts(compilers=some_compilers(headers=(Headers("/usr/include", (12, 4)),))),
        "12.4 in /usr/include",
    ),
    "no headers": (
        "no-headers", "warning", facts(compilers=some_compilers(headers=())), "pip install",
    ),
    "old nvJitLink": (
        "nvjitlink-older-than-nvrtc", "warning",
        facts(compilers=some_compilers(nvjitlink=library("nvJitLink", 12, 9))), "LTO IR",
    ),
    "no NVRTC": (
        "no-nvrtc", "problem",
        facts(compilers=some_compilers(
            nvrtc=Library("NVRTC", failure=Failure("...", kind="LibraryNotFoundError")))),
        "pip install nvidia-cuda-nvrtc",
    ),
    "no NVRTC for a driver of 12": (
        "no-nvrtc", "problem",
        facts(driver=a_driver(12, 4), compilers=some_compilers(
            nvrtc=Library("NVRTC", failure=Failure("...", kind="LibraryNotFoundError")))),
        "pip install nvidia-cuda-nvrtc-cu12",
    ),
    "old NVRTC": (
        "no-nvrtc", "problem",
        facts(compilers=some_compilers(
            nvrtc=Library("NVRTC", failure=Failure("it lacks f", kind="NotSupportedError")))),
        "it lacks f",
    ),
    "no nvJitLink": (
        "no-nvjitlink", "warning",
        facts(compilers=some_compilers(
            nvjitlink=Library("nvJitLink", failure=Failure("", kind="LibraryNotFoundError")))),
        "pip install nvidia-nvjitlink",
    ),
    "no nvFatbin": (
        "no-nvfatbin", "note",
        facts(compilers=some_compilers(
            nvfatbin=Library("nvFatbin", failure=Failure("", kind="LibraryNotFoundError")))),
        "pip install nvidia-nvfatbin",
    ),
    "broken copy": (
        "broken-library", "warning",
        facts(compilers=some_compilers(nvrtc=library(
            "NVRTC", 13, 0, others=(Copy("conda", "/c/x.so", error="invalid ELF header"),)))),
        "invalid ELF header",
    ),
    "PyTorch's own NVRTC": (
        "bundled-library", "note",
        facts(compilers=some_compilers(nvrtc=library(
            "NVRTC", 13, 0, others=(Copy("torch", "/torch/lib/x.so", (12, 6)),)))),
        "torch brings NVRTC 12.6",
    ),
    "a device too new for NVRTC": (
        "device-unknown-to-nvrtc", "warning",
        facts(driver=a_driver(devices=(DeviceFacts(0, "new", (12, 1)),))), "sm_121",
    ),
    "a device too old for NVRTC": (
        "device-unknown-to-nvrtc", "problem",
        facts(driver=a_driver(devices=(DeviceFacts(0, "V100", (7, 0)),))), "cudacore[cu12]",
    ),
    "a device in a bad state": (
        "device-unusable", "problem",
        facts(driver=a_driver(devices=(
            DeviceFacts(0, "H", (9, 0), failure=Failure("uncorrectable ECC error")),))),
        "dmesg",
    ),
    "a prohibited device": (
        "device-unusable", "problem",
        facts(driver=a_driver(devices=(
            DeviceFacts(0, "H", (9, 0), compute_mode=2, failure=Failure("busy")),))),
        "-c DEFAULT",
    ),
    "an exclusive device in use": (
        "device-unusable", "problem",
        facts(driver=a_driver(devices=(
            DeviceFacts(0, "H", (9, 0), compute_mode=3, failure=Failure("busy")),))),
        "end the process",
    ),
    "a full device": (
        "device-unusable", "problem",
        facts(driver=a_driver(devices=(DeviceFacts(
            0, "H", (9, 0), failure=Failure("full", name="CUDA_ERROR_OUT_OF_MEMORY")),))),
        "which process uses its memory",
    ),
    "an exclusive device": (
        "device-exclusive", "note",
        facts(driver=a_driver(devices=(DeviceFacts(0, "H", (9, 0), compute_mode=3),))),
        "one process",
    ),
    "a part of a GPU": (
        "mig", "note",
        facts(driver=a_driver(devices=(DeviceFacts(0, "NVIDIA H200 MIG 1g.18gb", (9, 0)),))),
        "MIG 1g.18gb",
    ),
    "MIG without instances": (
        "mig-without-instances", "problem",
        facts(driver=NO_DEVICE, management=Management(devices=1, mig_devices=1)), "mig -cgi",
    ),
    "all devices hidden": (
        "devices-hidden", "problem",
        facts(driver=NO_DEVICE, environment={"CUDA_VISIBLE_DEVICES": ""}), "NVML shows 1",
    ),
    "some devices hidden": (
        "some-devices-hidden", "note",
        facts(environment={"CUDA_VISIBLE_DEVICES": "0"}, management=Management(devices=8)),
        "1 of 8",
    ),
    "no device": ("no-device", "problem", facts(driver=NO_DEVICE), "nvidia-smi -L"),
    "a container without libraries": (
        "container-driver", "problem",
        facts(driver=no_driver(), machine=Machine(
            in_container=True, kernel_driver="580.65.06", device_files=FILES)),
        "--gpus all",
    ),
    "a container with half of the driver": (
        "container-capabilities", "problem",
        facts(driver=no_driver(), machine=Machine(in_container=True, device_files=FILES),
              environment={"NVIDIA_DRIVER_CAPABILITIES": "utility"}),
        "NVIDIA_DRIVER_CAPABILITIES=compute,utility",
    ),
    "a module without libraries": (
        "driver-without-libraries", "problem",
        facts(driver=no_driver(), machine=Machine(kernel_driver="580.65.06")), "580.65.06",
    ),
    "a GPU without a driver": (
        "driver-not-installed", "problem",
        facts(driver=no_driver(), machine=Machine(pci_gpus=2)), "2 NVIDIA GPU(s)",
    ),
    "WSL without a driver": (
        "no-driver", "problem", facts(driver=no_driver(), machine=Machine(is_wsl=True)), "Windows",
    ),
    "no GPU at all": (
        "no-driver", "problem", facts(driver=no_driver(), machine=Machine()),
        "CUDACORE_DRIVER=simulator",
    ),
    "a stub": (
        "driver-stub", "problem",
        facts(driver=no_driver("/s/libcuda.so.1 is the toolkit's stub, not a driver: take it out")),
        "LD_LIBRARY_PATH",
    ),
    "stubs in the path": (
        "stubs-in-path", "warning",
        facts(environment={"LD_LIBRARY_PATH": "/a:/usr/local/cuda/lib64/stubs/"}),
        "/usr/local/cuda/lib64/stubs/",
    ),
    "no simulated device": (
        "no-simulator", "problem",
        facts(driver=no_driver("the simulated device (x.so) could not be opened")), "again",
    ),
    "a driver that crashes": (
        "driver-crashes", "problem",
        facts(driver=no_driver("crashed with SIGSEGV", kind="ProbeError")), "SIGSEGV",
    ),
    "a driver that is too old": (
        "driver-too-old", "problem",
        facts(driver=no_driver("speaks CUDA 11.4", kind="NotSupportedError")), "update",
    ),
    "no fabric manager": (
        "driver-does-not-start", "problem",
        facts(driver=no_driver("x", kind="CUDAError", name="CUDA_ERROR_SYSTEM_NOT_READY")),
        "nvidia-fabricmanager",
    ),
    "an unknown error of cuInit": (
        "driver-does-not-start", "problem",
        facts(driver=no_driver("cuInit failed", kind="CUDAError", name="CUDA_ERROR_NEW")),
        "CUDA_ERROR_NEW",
    ),
    "closed device files": (
        "device-permission", "problem",
        facts(driver=NO_DEVICE, machine=Machine(device_files={"/dev/nvidia0": False})),
        "/dev/nvidia0",
    ),
    "closed device files of other devices": (
        "device-permission", "note",
        facts(machine=Machine(device_files={"/dev/nvidia0": True, "/dev/nvidia1": False})),
        "/dev/nvidia1",
    ),
    "a module of another version": (
        "driver-mismatch", "problem",
        facts(management=Management(Library("NVML", failure=Failure("mismatch", name="18")))),
        "restart the machine",
    ),
    "a compatibility package": (
        "driver-compat", "note",
        facts(driver=Driver(Library("driver", Copy(
            "loader", "/usr/local/cuda/compat/libcuda.so.1", (13, 0))), devices=(H200,))),
        "/usr/local/cuda/compat",
    ),
    "the simulated device": (
        "simulator-chosen", "note", facts(driver=a_driver(simulated=True)), "unset",
    ),
    "an unknown driver": (
        "unknown-driver", "problem",
        facts(driver=no_driver('CUDACORE_DRIVER is "x"; it may be'),
              environment={"CUDACORE_DRIVER": "x"}),
        "'x'",
    ),
    "a setting": (
        "setting", "note", facts(environment={"CUDA_FORCE_PTX_JIT": "1"}),
        "unset CUDA_FORCE_PTX_JIT",
    ),
    "no such folder": (
        "no-such-folder", "warning",
        facts(environment={"CUDA_HOME": "/gone"}, missing_folders=("CUDA_HOME",)), "/gone",
    ),
    "two toolkits": (
        "two-toolkits", "note",
        facts(environment={"CUDA_PATH": "/a", "CUDA_HOME": "/b/"}), "CUDA_PATH is searched first",
    ),
    "a cache that can't be used": (
        "cache-unusable", "warning", facts(cache=CacheFacts("/c", problem="it is another user's")),
        "another user's",
    ),
    "a cache that can't be written": (
        "cache-read-only", "note", facts(cache=CacheFacts("/c", is_writable=False)), "/c",
    ),
    "wrong settings of the cache": (
        "cache-settings", "warning", facts(cache=CacheFacts("/c", settings_problem="X=y is odd")),
        "X=y is odd",
    ),
    "a cache that is too small": (
        "cache-keeps-nothing", "note", facts(cache=CacheFacts("/c", max_size_bytes=4095)), "1G",
    ),
    "a damaged cache": (
        "cache-damaged", "warning", facts(cache=CacheFacts("/c", checked=9, damaged=("x is",))),
        "1 of the 9 entries",
    ),
    "an NVRTC that fails": (
        "nvrtc-fails", "problem",
        facts(compilers=some_compilers(failure=Failure("out of luck"), headers=())), "out of luck",
    ),
    "something that could not be found out": (
        "not-found-out", "problem", facts(failures={"the machine": "no reason"}), "no reason",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_case(name: str) -> None:
    id_, severity, some, said = CASES[name]
    findings = found(some)
    assert id_ in findings
    assert findings[id_].severity == severity
    assert said in findings[id_].text + findings[id_].cure
    assert set(findings) - {id_} <= {"no-device", "nvrtc-newer-than-driver"}
    assert is_healthy(findings.values()) == (severity != "problem")
    assert said in report.as_text(some, list(findings.values()))


def test_simulated_device_is_not_compared_with_compilers() -> None:
    assert set(found(facts(driver=a_driver(12, 0, simulated=True)))) == {"simulator-chosen"}


def test_cache_that_is_off_has_no_findings() -> None:
    off = CacheFacts("/c", is_enabled=False, is_writable=False, problem="?", damaged=("x",))
    assert found(facts(cache=off)) == {}


def test_one_is_not_several() -> None:
    assert str(CacheFacts("/c", entries=1, size_bytes=4096)) == "/c, 1 entry, 4.0 KiB"
    assert str(CacheFacts("/c", entries=2)) == "/c, 2 entries, 0 bytes"


def test_settings_of_zero_are_off() -> None:
    assert found(facts(environment={"CUDA_LAUNCH_BLOCKING": "0", "CUDA_FORCE_PTX_JIT": ""})) == {}


def test_check_that_fails_says_so() -> None:
    def ill(_facts: Facts) -> Iterator[Finding]:
        yield Finding("early", "note", "", "")
        raise ZeroDivisionError("mine")

    [finding] = diagnose(facts(), [ill])
    assert finding.id == "check-failed"
    assert "the check ill failed itself: ZeroDivisionError: mine" in finding.text


def test_worst_findings_come_first() -> None:
    variables = {"CUDA_LAUNCH_BLOCKING": "1", "LD_LIBRARY_PATH": "/stubs"}
    some = facts(driver=a_driver(12, 8), environment=variables)
    severities = [finding.severity for finding in diagnose(some)]
    assert severities == ["problem", "warning", "note"]


def test_gathering_notes_what_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(module: str, *_arguments: str) -> Any:
        raise ProbeError(f"{module} crashed")

    monkeypatch.setattr(gather, "run", fail)
    monkeypatch.setattr(machine, "look", lambda: 1 // 0)
    gathered = gather.gather()
    assert set(gathered.failures) == {"the compilers", "NVML", "the machine"}
    assert gathered.driver.library.failure.kind == "ProbeError"
    ids = {finding.id for finding in diagnose(gathered)}
    assert {"not-found-out", "driver-crashes"} <= ids
    assert "not healthy" in report.as_text(gathered, diagnose(gathered))


def write(root: Path, name: str, text: str = "") -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_reads_the_files_of_a_machine(tmp_path: Path) -> None:
    write(tmp_path, "dev/nvidia0")
    write(tmp_path, "dev/nvidiactl")
    write(tmp_path, "dev/nvidia-caps/nvidia-cap1")
    write(
        tmp_path, "proc/driver/nvidia/version",
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun Jul 27 UTC 2025\nGCC ...",
    )  # fmt: skip
    for number, (vendor, kind) in enumerate(
        [("0x10de", "0x030200"), ("0x10de", "0x040300"), ("0x8086", "0x030000")]
    ):
        write(tmp_path, f"sys/bus/pci/devices/{number}/vendor", vendor + "\n")
        write(tmp_path, f"sys/bus/pci/devices/{number}/class", kind + "\n")
    seen = machine.look(tmp_path)
    assert seen == Machine(
        kernel_driver="580.65.06",
        pci_gpus=1,
        device_files={str(tmp_path / "dev/nvidia0"): True, str(tmp_path / "dev/nvidiactl"): True},
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [(".dockerenv", ""), ("run/.containerenv", ""), ("proc/1/cgroup", "1:cpu:/kubepods/x\n")],
)
def test_finds_containers(tmp_path: Path, name: str, text: str) -> None:
    assert not machine.look(tmp_path).in_container
    write(tmp_path, name, text)
    assert machine.look(tmp_path).in_container


def test_finds_wsl(tmp_path: Path) -> None:
    write(tmp_path, "dev/dxg")
    assert machine.look(tmp_path).is_wsl
