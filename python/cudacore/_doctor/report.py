# SPDX-License-Identifier: Apache-2.0
"""Writes facts and findings, for people and for programs."""

from __future__ import annotations

import platform
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from cudacore import _core
from cudacore._doctor.diagnosis import SEVERITIES, is_healthy
from cudacore._text import count_text, size_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cudacore._doctor.facts import Copy, Facts, Finding, Library

#: Counts up if a field of the JSON changes its meaning or goes away.
FORMAT = 1

_PLACES = {
    "wheel": "in NVIDIA's wheels",
    "conda": "in the conda environment",
    "loader": "by the system loader",
    "toolkit": "in the toolkit of CUDA_PATH or CUDA_HOME",
    "cudacore": "beside cudacore",
}


def _libraries(facts: Facts) -> tuple[Library, ...]:
    compilers = facts.compilers
    return (
        facts.driver.library, facts.management.library, compilers.nvrtc, compilers.nvjitlink,
        compilers.nvfatbin, facts.simulator,
    )  # fmt: skip


def as_dict(facts: Facts, findings: Sequence[Finding]) -> dict[str, Any]:
    """Return everything as plain dicts, lists, numbers and strings."""
    return {
        "format": FORMAT,
        "healthy": is_healthy(findings),
        "cudacore": _core.__version__,
        "python": platform.python_version(),
        "findings": [asdict(finding) for finding in findings],
        "libraries": [_library_as_dict(library) for library in _libraries(facts)],
        "headers": [asdict(one) for one in facts.compilers.headers],
        "architectures": list(facts.compilers.architectures),
        "simulated": facts.driver.simulated,
        "devices": [asdict(device) for device in facts.driver.devices],
        "nvml": {
            "driver_version": facts.management.driver_version,
            "devices": facts.management.devices,
            "mig_devices": facts.management.mig_devices,
            "mig_instances": facts.management.mig_instances,
        },
        "machine": asdict(facts.machine),
        "cache": asdict(facts.cache) if facts.cache else None,
        "environment": dict(facts.environment),
    }


def _library_as_dict(library: Library) -> dict[str, Any]:
    return {
        "name": library.name,
        "used": asdict(library.used) if library.used else None,
        "error": library.failure.text if library.failure else None,
        "copies": [asdict(copy) for copy in library.copies],
    }


def as_text(facts: Facts, findings: Sequence[Finding]) -> str:
    """Return a report of some lines."""
    return "\n".join([*_inventory(facts), "", *_findings(findings)])


def _line(title: str, text: str) -> str:
    return f"{title:<17} {text}".rstrip()


def _version(copy: Copy) -> str:
    return f"{copy.version[0]}.{copy.version[1]}" if copy.version else "?"


def _inventory(facts: Facts) -> Iterator[str]:
    yield _line("cudacore", f"{_core.__version__}, Python {platform.python_version()}")
    for library in _libraries(facts):
        yield from _library_lines(library)
    for one in facts.compilers.headers:
        used = "used" if one.used else "not used"
        yield _line("headers", f"{one.version[0]}.{one.version[1]:<3} {one.folder} ({used})")
    if facts.machine.kernel_driver:
        yield _line("kernel module", facts.machine.kernel_driver)
    for device in facts.driver.devices:
        major, minor = device.compute_capability
        memory = f", {size_text(device.memory_bytes)}" if device.memory_bytes else ""
        yield _line(f"device {device.ordinal}", f"{device.name}, sm_{major}{minor}{memory}")
    if facts.cache is not None:
        yield _line("cache", str(facts.cache))
    for name, value in facts.environment.items():
        yield _line("environment", f"{name}={value}")


def _library_lines(library: Library) -> Iterator[str]:
    used = library.used
    if used is None:
        yield _line(library.name, "not found" if library.failure else "unknown")
    else:
        version = f"{_version(used):<6} " if used.version else ""
        found = _PLACES.get(used.place, used.place)
        yield _line(library.name, f"{version}{used.path} (found {found})")
    for copy in library.copies:
        if used is None or (copy.path != used.path and copy.place != used.place):
            state = copy.error or "not used"
            yield _line("", f"{_version(copy):<6} {copy.path} ({copy.place}; {state})")


def _findings(findings: Sequence[Finding]) -> Iterator[str]:
    for finding in findings:
        yield f"{finding.severity}: {finding.text}"
        yield f"    cure: {finding.cure}"
    counts = [
        count_text(count, severity)
        for severity in SEVERITIES
        if (count := sum(finding.severity == severity for finding in findings))
    ]
    verdict = "healthy" if is_healthy(findings) else "not healthy"
    yield f"{verdict}: {', '.join(counts)}" if counts else f"{verdict}: nothing to say"
