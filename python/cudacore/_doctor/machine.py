# SPDX-License-Identifier: Apache-2.0
"""Reads what the system's files say about GPUs and containers."""

from __future__ import annotations

import os
from pathlib import Path

from cudacore._doctor.facts import Machine

_NVIDIA = "0x10de"  # the vendor's number on the PCI bus
_DISPLAYS = ("0x0300", "0x0302")  # how the classes of GPUs begin


def look(root: Path = Path("/")) -> Machine:
    """Read the files below a root.

    Parameters
    ----------
    root : Path
        For tests: another root of the file system.

    Returns
    -------
    Machine
    """
    return Machine(
        in_container=_in_container(root),
        is_wsl=(root / "dev/dxg").exists(),
        kernel_driver=_kernel_driver(root),
        pci_gpus=_count_gpus(root),
        device_files={
            str(path): os.access(path, os.R_OK | os.W_OK)
            for path in sorted((root / "dev").glob("nvidia*"))
            if not path.is_dir()
        },
    )


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _in_container(root: Path) -> bool:
    if any((root / name).exists() for name in (".dockerenv", "run/.containerenv")):
        return True
    groups = _read(root / "proc/1/cgroup")
    return any(name in groups for name in ("docker", "kubepods", "containerd", "lxc"))


def _kernel_driver(root: Path) -> str:
    """Return the first word of the first line that is a version."""
    line = _read(root / "proc/driver/nvidia/version").partition("\n")[0]
    words = [word for word in line.split() if "." in word and word.replace(".", "").isdigit()]
    return words[0] if words else ""


def _count_gpus(root: Path) -> int:
    return sum(
        _read(device / "vendor").strip() == _NVIDIA
        and _read(device / "class").startswith(_DISPLAYS)
        for device in (root / "sys/bus/pci/devices").glob("*")
    )
