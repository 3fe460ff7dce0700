# SPDX-License-Identifier: Apache-2.0
"""Gathers the facts. What can't be found out is noted, and never raises."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cudacore import _core
from cudacore._doctor import cache_folder, machine
from cudacore._doctor.facts import (
    Compilers,
    Copy,
    DeviceFacts,
    Driver,
    Facts,
    Failure,
    Headers,
    Library,
    Machine,
    Management,
    Version,
)
from cudacore._doctor.probe import ProbeError, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Variables that change what is found or how CUDA behaves.
VARIABLES = (
    "CONDA_PREFIX", "CUDACORE_CACHE", "CUDACORE_CACHE_DIR", "CUDACORE_CACHE_MAX_SIZE",
    "CUDACORE_DRIVER", "CUDACORE_SIMULATOR_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_DISABLE_PTX_JIT",
    "CUDA_FORCE_PTX_JIT", "CUDA_HOME", "CUDA_LAUNCH_BLOCKING", "CUDA_MODULE_LOADING",
    "CUDA_MPS_PIPE_DIRECTORY", "CUDA_PATH", "CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH", "LD_PRELOAD",
    "NVIDIA_DRIVER_CAPABILITIES", "NVIDIA_VISIBLE_DEVICES", "XDG_CACHE_HOME",
)  # fmt: skip

#: Libraries that other packages may bring along, and the names of their files.
BUNDLES = {"NVRTC": "libnvrtc[.-]*so*", "nvJitLink": "libnvJitLink[.-]*so*"}


def gather() -> Facts:
    """Find out everything that the checks look at."""
    failures: dict[str, str] = {}

    def attempt(what: str, find: Callable[[], Any], otherwise: Any) -> Any:
        try:
            return find()
        except Exception as error:  # noqa: BLE001  # the doctor itself must not fail
            failures[what] = str(error) or type(error).__name__
            return otherwise

    environment = {name: os.environ[name] for name in VARIABLES if name in os.environ}
    facts: dict[str, Any] = {
        "driver": attempt("the driver", _driver, Driver()),
        "compilers": attempt("the compilers", _compilers, Compilers()),
        "management": attempt("NVML", _management, Management()),
        "machine": attempt("the machine", machine.look, Machine()),
        "cache": attempt("the program cache", lambda: cache_folder.look(check_entries=True), None),
        "simulator": attempt("the simulated device", _simulator, Library("simulated device")),
    }
    return Facts(
        **facts,
        environment=environment,
        missing_folders=tuple(
            name
            for name in ("CUDA_PATH", "CUDA_HOME", "CONDA_PREFIX")
            if environment.get(name) and not Path(environment[name]).is_dir()
        ),
        failures=failures,
    )


def _failure(found: dict[str, Any]) -> Failure | None:
    return Failure(**found["failure"]) if "failure" in found else None


def _version(found: Any) -> Version:
    major, minor = found
    return int(major), int(minor)


def _driver() -> Driver:
    try:
        found = run("probe_driver")
    except ProbeError as error:
        failed = Failure(f"the driver could not be used: {error}", kind="ProbeError")
        return Driver(library=Library("driver", failure=failed))
    if "failure" in found:
        return Driver(library=Library("driver", failure=_failure(found)))
    place = "cudacore" if found["simulated"] else "loader"
    used = Copy(place, found["path"], _version(found["version"]))
    devices = tuple(
        DeviceFacts(
            ordinal=one["ordinal"],
            name=one["name"],
            compute_capability=_version(one["compute_capability"]),
            memory_bytes=one.get("memory_bytes", 0),
            compute_mode=one["compute_mode"],
            failure=_failure(one),
        )
        for one in found["devices"]
    )
    return Driver(Library("driver", used, copies=(used,)), found["simulated"], devices)


def _compilers() -> Compilers:
    found = run("probe_compilers")
    return Compilers(
        nvrtc=_library("NVRTC", found["NVRTC"]),
        nvjitlink=_library("nvJitLink", found["nvJitLink"]),
        nvfatbin=_library("nvFatbin", found["nvFatbin"]),
        architectures=tuple(found.get("architectures", ())),
        headers=tuple(_headers(found)),
        failure=_failure(found),
    )


def _headers(found: dict[str, Any]) -> Iterator[Headers]:
    """Yield each folder once, by whichever of its names is used."""
    used = found.get("include_directories", ())
    known: set[str] = set()
    places = found.get("header_places", ())
    for folder, version in sorted(places, key=lambda place: place[0] not in used):
        real = os.path.realpath(folder)
        if real not in known:
            known.add(real)
            yield Headers(folder, _version(version), folder in used)


def _library(name: str, found: dict[str, Any]) -> Library:
    """Look at every copy in the places, and say which place the one in use was found in."""
    copies = tuple(_copies(name, found["places"]))
    if "path" not in found:
        return Library(name, failure=_failure(found), copies=copies)
    version, path = _version(found["version"]), found["path"]
    place = next(
        (copy.place for copy in copies if os.path.realpath(copy.path) == path), "the system loader"
    )
    return Library(name, Copy(place, path, version), copies=copies)


def _copies(name: str, places: list[list[str]]) -> Iterator[Copy]:
    known: set[str] = set()
    for place, path in [*places, *_bundled(name)]:
        if place == "loaded" or (place != "loader" and not os.path.exists(path)):  # noqa: PTH110
            continue
        copy = _look_at_copy(name, place, path)
        real = os.path.realpath(copy.path)
        if real in known or (place == "loader" and "cannot open shared object" in copy.error):
            continue
        known.add(real)
        yield copy


def _look_at_copy(name: str, place: str, path: str) -> Copy:
    try:
        found = run("probe_copy", name, path)
    except ProbeError as error:
        return Copy(place, path, error=str(error))
    version = _version(found["version"]) if "version" in found else None
    return Copy(place, found.get("path", path), version, found.get("error", ""))


def _bundled(name: str) -> Iterator[tuple[str, str]]:
    """Yield the copies in other packages, which a process that imports them first would use."""
    for package in ("torch", "cupy") if name in BUNDLES else ():
        spec = find_spec(package)
        if spec is None or not spec.origin:
            continue
        folder = Path(spec.origin).parent
        for below in ("lib", ".data/lib"):
            for path in sorted((folder / below).glob(BUNDLES[name])):
                if "builtins" not in path.name:
                    yield package, str(path)


def _management() -> Management:
    found = run("probe_management")
    path = found.get("path", "")
    used = Copy("loader", path, error="") if path and "failure" not in found else None
    return Management(
        library=Library("NVML", used, _failure(found)),
        driver_version=found.get("driver_version", ""),
        devices=found.get("devices", 0),
        mig_devices=found.get("mig_devices", 0),
        mig_instances=found.get("mig_instances", 0),
    )


def _simulator() -> Library:
    try:
        return Library("simulated device", Copy("cudacore", _core.simulator_library()))
    except _core.CUDAError as error:
        return Library("simulated device", failure=Failure(str(error)))
