# SPDX-License-Identifier: Apache-2.0
"""Checks of the driver: whether it is there, starts, and fits the system."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudacore._doctor.facts import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cudacore._doctor.facts import Facts

_SIMULATE = "set CUDACORE_DRIVER=simulator to run on the CPU instead"

#: How the driver's message begins if it starts but shows no device.
NO_DEVICE = "cuInit found no device"

#: What NVML's nvmlInit returns if the module and the library have different versions.
_NVML_MISMATCH = "18"

#: The errors of cuInit that have one cause: what is wrong, and what to do.
INIT_ERRORS = {
    "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH": (
        "the loaded kernel module and libcuda have different versions",
        "restart the machine; in a container, take the compat folder out of LD_LIBRARY_PATH",
    ),
    "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE": (
        "libcuda comes from a compatibility package, which this device doesn't support",
        "take the compat folder out of LD_LIBRARY_PATH, and update the driver instead",
    ),
    "CUDA_ERROR_SYSTEM_NOT_READY": (
        "the system is not ready: with NVSwitch, the fabric manager must run",
        "start it: systemctl start nvidia-fabricmanager; see `nvidia-smi -q | grep -A2 Fabric`",
    ),
    "CUDA_ERROR_MPS_CONNECTION_FAILED": (
        "the MPS server cannot be reached",
        "start it with nvidia-cuda-mps-control -d, or unset CUDA_MPS_PIPE_DIRECTORY",
    ),
    "CUDA_ERROR_UNKNOWN": (
        "the driver can't start, often because the module nvidia-uvm is not loaded",
        "run `nvidia-modprobe -u -c=0`; in a container, also map /dev/nvidia-uvm",
    ),
    "CUDA_ERROR_OPERATING_SYSTEM": (
        "the driver was refused by the operating system",
        "see whether /dev/nvidia-uvm exists, and look for NVRM in `dmesg`",
    ),
    "CUDA_ERROR_DEVICE_UNAVAILABLE": (
        "the devices are busy or closed to this process",
        "see `nvidia-smi`: another process may use a device in exclusive mode",
    ),
}


def choice(facts: Facts) -> Iterator[Finding]:
    """Note that the simulated device was asked for."""
    if facts.driver.simulated:
        yield Finding(
            "simulator-chosen",
            "note",
            "kernels run on the simulated device, on the CPU, because CUDACORE_DRIVER asks for it",
            "unset CUDACORE_DRIVER to use a GPU",
        )
    asked = facts.environment.get("CUDACORE_DRIVER", "")
    if asked not in {"", "native", "simulator"}:
        yield Finding(
            "unknown-driver",
            "problem",
            f"CUDACORE_DRIVER is {asked!r}, which names no driver",
            "unset it, or set it to native or simulator",
        )


def missing(facts: Facts) -> Iterator[Finding]:
    """Say why there is no libcuda, most likely."""
    failure = facts.driver.library.failure
    if failure is None or failure.kind != "DriverNotFoundError" or failure.name:
        return
    if failure.text.startswith(NO_DEVICE):  # see hidden()
        return
    if "CUDACORE_DRIVER" in failure.text.partition(";")[0]:  # see choice()
        return
    if "simulated device" in failure.text.partition("\n")[0]:
        yield Finding("no-simulator", "problem", failure.text, "install cudacore again")
        return
    if "stub, not a driver" in failure.text:
        yield Finding(
            "driver-stub",
            "problem",
            failure.text.partition(": ")[0],
            "take its folder out of LD_LIBRARY_PATH, and install the driver",
        )
        return
    yield from _reason(facts)


def _reason(facts: Facts) -> Iterator[Finding]:
    machine = facts.machine
    capabilities = facts.environment.get("NVIDIA_DRIVER_CAPABILITIES", "")
    is_partial = capabilities and not {"compute", "all"} & set(capabilities.split(","))
    if machine.is_wsl:
        yield Finding(
            "no-driver", "problem", "libcuda is missing under WSL",
            "install NVIDIA's driver in Windows, not in Linux",
        )  # fmt: skip
    elif is_partial and (machine.in_container or machine.device_files):
        yield Finding(
            "container-capabilities", "problem",
            f"the container has no libcuda: NVIDIA_DRIVER_CAPABILITIES is {capabilities!r}",
            "start the container with NVIDIA_DRIVER_CAPABILITIES=compute,utility",
        )  # fmt: skip
    elif machine.kernel_driver or machine.device_files:
        where = "the container has no libcuda" if machine.in_container else "libcuda is missing"
        shown = machine.kernel_driver and f", version {machine.kernel_driver}"
        yield Finding(
            "container-driver" if machine.in_container else "driver-without-libraries", "problem",
            f"{where}, though the kernel's module is loaded{shown}",
            "install nvidia-container-toolkit on the host, and start the container with --gpus all"
            if machine.in_container
            else "install the package with the driver's libraries, of the module's version",
        )  # fmt: skip
    elif machine.pci_gpus:
        yield Finding(
            "driver-not-installed", "problem",
            f"{machine.pci_gpus} NVIDIA GPU(s) are in this machine, but no driver",
            f"install NVIDIA's driver; until then, {_SIMULATE}",
        )  # fmt: skip
    else:
        yield Finding(
            "no-driver", "problem", "there is no driver, nor any sign of an NVIDIA GPU",
            f"nothing else is needed to compile; to run kernels, {_SIMULATE}",
        )  # fmt: skip


def initialization(facts: Facts) -> Iterator[Finding]:
    """Explain why libcuda does not start."""
    failure = facts.driver.library.failure
    if failure is None or failure.kind == "DriverNotFoundError":
        return
    if failure.kind == "ProbeError":
        yield Finding(
            "driver-crashes", "problem", failure.text,
            "see whether `nvidia-smi` works, and look for NVRM in `dmesg`",
        )  # fmt: skip
        return
    if failure.kind == "NotSupportedError":
        yield Finding("driver-too-old", "problem", failure.text, "update NVIDIA's driver")
        return
    text, cure = INIT_ERRORS.get(failure.name, (failure.text, "see whether `nvidia-smi` works"))
    name = f" ({failure.name})" if failure.name and failure.name not in text else ""
    yield Finding("driver-does-not-start", "problem", text + name, cure)


def hidden(facts: Facts) -> Iterator[Finding]:
    """Explain why the driver shows no device."""
    failure = facts.driver.library.failure
    if failure is None or not failure.text.startswith(NO_DEVICE):
        return
    visible = facts.environment.get("CUDA_VISIBLE_DEVICES")
    there = facts.management.devices
    if visible is not None:
        yield Finding(
            "devices-hidden", "problem",
            f"CUDA_VISIBLE_DEVICES is {visible!r}, which hides every device"
            + (f"; NVML shows {there}" if there else ""),
            "unset it, or name a simulated device, counted from 0"
            if facts.environment.get("CUDACORE_DRIVER") == "simulator"
            else "unset it, or name a device that `nvidia-smi -L` lists",
        )  # fmt: skip
    elif facts.management.mig_devices and not facts.management.mig_instances:
        yield Finding(
            "mig-without-instances", "problem",
            "the devices are in MIG mode, but have no instances, so that CUDA sees none",
            "create instances (nvidia-smi mig -cgi 0 -C), or switch MIG off (nvidia-smi -mig 0)",
        )  # fmt: skip
    else:
        yield Finding(
            "no-device", "problem", "the driver is there, but shows no device",
            "see whether `nvidia-smi -L` lists one; in a container, run with --gpus all",
        )  # fmt: skip


def permissions(facts: Facts) -> Iterator[Finding]:
    """Find device files that this user can't open."""
    closed = [path for path, is_open in facts.machine.device_files.items() if not is_open]
    usual = [path for path in closed if "nvidia-caps" not in path]
    if usual and not facts.driver.simulated:
        yield Finding(
            "device-permission", "problem" if facts.driver.library.failure else "note",
            f"this user may not open {', '.join(usual)}",
            "add the user to the group of these files, or give them mode 666, as the driver does",
        )  # fmt: skip


def versions(facts: Facts) -> Iterator[Finding]:
    """Find libraries of the driver that don't fit the loaded module."""
    failure = facts.management.library.failure
    if failure is not None and failure.name == _NVML_MISMATCH:
        yield Finding(
            "driver-mismatch", "problem",
            "the driver's libraries are of another version than the loaded kernel module"
            + (f", {facts.machine.kernel_driver}" if facts.machine.kernel_driver else ""),
            "restart the machine; after an update of the driver, the old module stays loaded",
        )  # fmt: skip
    used = facts.driver.library.used
    if used and "/compat/" in used.path:
        yield Finding(
            "driver-compat", "note",
            f"libcuda comes from a compatibility package: {used.path}",
            "nothing, as long as it works; otherwise update the driver itself",
        )  # fmt: skip


def stubs(facts: Facts) -> Iterator[Finding]:
    """Find the toolkit's stub of libcuda where the loader looks first."""
    folders = facts.environment.get("LD_LIBRARY_PATH", "").split(":")
    for folder in folders:
        if folder.rstrip("/").endswith("/stubs"):
            yield Finding(
                "stubs-in-path", "warning",
                f"LD_LIBRARY_PATH has {folder}, which has libraries that only a linker can use",
                "take it out: it belongs in LIBRARY_PATH, if anywhere",
            )  # fmt: skip


CHECKS: tuple[Callable[[Facts], Iterator[Finding]], ...] = (
    choice,
    missing,
    initialization,
    hidden,
    permissions,
    versions,
    stubs,
)
