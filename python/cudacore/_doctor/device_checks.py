# SPDX-License-Identifier: Apache-2.0
"""Checks of the devices, and of variables that change how they behave."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudacore._doctor.facts import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cudacore._doctor.facts import Facts

_PROHIBITED = 2
_EXCLUSIVE = 3

#: Variables that change how the driver behaves, if set to anything but 0.
_SETTINGS = {
    "CUDA_LAUNCH_BLOCKING": "each launch waits for its kernel, which makes programs slow",
    "CUDA_FORCE_PTX_JIT": "the driver compiles PTX even where there is machine code",
    "CUDA_DISABLE_PTX_JIT": "the driver refuses PTX",
}


def usable(facts: Facts) -> Iterator[Finding]:
    """Find devices on which the smallest piece of work fails."""
    for device in facts.driver.devices:
        if device.failure is None:
            continue
        if device.compute_mode == _PROHIBITED:
            cure = f"nvidia-smi -i {device.ordinal} -c DEFAULT, as root"
        elif device.compute_mode == _EXCLUSIVE:
            cure = "end the process that uses it, or nvidia-smi -c DEFAULT, as root"
        elif "MEMORY" in device.failure.name:
            cure = "see in `nvidia-smi` which process uses its memory, and end it"
        else:
            cure = "look for Xid in `dmesg`; reset the device (nvidia-smi -r) or restart"
        yield Finding(
            "device-unusable",
            "problem",
            f"device {device.ordinal} ({device.name}) cannot be used: {device.failure.text}",
            cure,
        )


def modes(facts: Facts) -> Iterator[Finding]:
    """Note devices that only one process, or a part of a program, can use."""
    for device in facts.driver.devices:
        if device.failure is None and device.compute_mode == _EXCLUSIVE:
            yield Finding(
                "device-exclusive",
                "note",
                f"device {device.ordinal} is in exclusive mode: one process at a time can use it",
                "nvidia-smi -c DEFAULT, as root, if others are to use it meanwhile",
            )
        if " MIG " in device.name:
            yield Finding(
                "mig",
                "note",
                f"device {device.ordinal} is a part of a GPU: {device.name}; a process sees one "
                "part at most",
                "name another part in CUDA_VISIBLE_DEVICES; `nvidia-smi -L` lists them",
            )


def visibility(facts: Facts) -> Iterator[Finding]:
    """Note that fewer devices are shown than there are."""
    shown, there = len(facts.driver.devices), facts.management.devices
    visible = facts.environment.get("CUDA_VISIBLE_DEVICES")
    if visible is not None and 0 < shown < there and not facts.driver.simulated:
        yield Finding(
            "some-devices-hidden",
            "note",
            f"CUDA_VISIBLE_DEVICES is {visible!r}: {shown} of {there} devices are shown",
            "unset it to see all",
        )


def settings(facts: Facts) -> Iterator[Finding]:
    """Note variables that are easily forgotten."""
    for name, effect in _SETTINGS.items():
        value = facts.environment.get(name, "0")
        if value not in {"", "0"}:
            yield Finding("setting", "note", f"{name} is {value!r}: {effect}", f"unset {name}")


def folders(facts: Facts) -> Iterator[Finding]:
    """Find variables that name no folder, or two toolkits."""
    for name in facts.missing_folders:
        yield Finding(
            "no-such-folder",
            "warning",
            f"{name} is {facts.environment[name]!r}, which is not a folder",
            f"unset {name}, or set it to an installed toolkit",
        )
    path, home = (facts.environment.get(name, "") for name in ("CUDA_PATH", "CUDA_HOME"))
    if path and home and path.rstrip("/") != home.rstrip("/"):
        yield Finding(
            "two-toolkits",
            "note",
            f"CUDA_PATH ({path}) and CUDA_HOME ({home}) differ; CUDA_PATH is searched first",
            "set both to the same toolkit, or unset one",
        )


CHECKS: tuple[Callable[[Facts], Iterator[Finding]], ...] = (
    usable,
    modes,
    visibility,
    settings,
    folders,
)
