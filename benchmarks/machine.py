# SPDX-License-Identifier: Apache-2.0
"""Describes the machine that the numbers were measured on."""

from __future__ import annotations

import datetime as dt
import os
import platform
import subprocess
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

PACKAGES = (
    "cudacore",
    "cuda-core",
    "cuda-bindings",
    "cuda-pathfinder",
    "cupy-cuda13x",
    "cupy-cuda12x",
    "torch",
    "triton",
    "numba",
    "numba-cuda",
    "numpy",
    "nvidia-cuda-nvrtc",
    "nvidia-cuda-nvrtc-cu12",
)


def wheel_nvrtc() -> str:
    """Return the NVRTC of NVIDIA's wheels, which the Python peers prefer; empty if none."""
    spec = find_spec("nvidia")
    roots = spec.submodule_search_locations if spec is not None else None
    for root in roots or ():
        for pattern in ("cu13/lib/libnvrtc.so.*", "cuda_nvrtc/lib/libnvrtc.so.*"):
            found = sorted(Path(root).glob(pattern))
            if found:
                return str(found[0])
    return ""


def _cpu_model() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        text = ""
    for line in text.splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _gpu() -> tuple[str, str]:
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader", "--id=0"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, check=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return "unknown", "unknown"
    name, _, driver = done.stdout.strip().partition(",")
    return name.strip() or "unknown", driver.strip() or "unknown"


def _versions() -> dict[str, str]:
    installed = {
        str(distribution.metadata["Name"]).lower(): distribution.version
        for distribution in metadata.distributions()
    }
    return {package: installed[package] for package in PACKAGES if package in installed}


def describe_machine() -> dict[str, object]:
    """Return GPU, driver, processor, Python, packages and date."""
    gpu, driver = _gpu()
    return {
        "date": dt.datetime.now(dt.timezone.utc).isoformat(timespec="seconds"),
        "gpu": gpu,
        "driver": driver,
        "cpu": _cpu_model(),
        "cores": len(os.sched_getaffinity(0)),
        "kernel": platform.release(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "packages": _versions(),
    }
