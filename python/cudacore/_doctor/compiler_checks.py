# SPDX-License-Identifier: Apache-2.0
"""Checks of the compilers and headers: whether they are there and fit each other and the driver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudacore._doctor.facts import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cudacore._doctor.facts import Copy, Facts, Library, Version

#: What to install, and what does not work without it.
_LIBRARIES = {
    "NVRTC": ("problem", "nvidia-cuda-nvrtc", "CUDA C++ cannot be compiled"),
    "nvJitLink": ("warning", "nvidia-nvjitlink", "Linker and programs in PTX do not work"),
    "nvFatbin": ("note", "nvidia-nvfatbin", "code for several architectures cannot be packed"),
}

#: Packages that bring libraries along.
_PACKAGES = {"torch", "cupy"}


def _text(version: Version) -> str:
    return f"{version[0]}.{version[1]}"


def _wheel(name: str, major: int) -> str:
    """Name a wheel: those of CUDA 12 have a suffix."""
    return f"{name}-cu12" if major == 12 else name  # noqa: PLR2004


def _major(facts: Facts) -> int:
    """Return the major version to install: the driver's, if there is one."""
    used = facts.driver.library.used
    if used is None or used.version is None or facts.driver.simulated:
        return 13
    return min(used.version[0], 13)


def _driver_version(facts: Facts) -> Version | None:
    """Return what the driver speaks; the simulated device speaks everything."""
    used = facts.driver.library.used
    return None if used is None or facts.driver.simulated else used.version


def _libraries(facts: Facts) -> tuple[Library, ...]:
    return facts.compilers.nvrtc, facts.compilers.nvjitlink, facts.compilers.nvfatbin


def missing(facts: Facts) -> Iterator[Finding]:
    """Find compilers that can't be used."""
    for library in _libraries(facts):
        if library.failure is None:
            continue
        severity, wheel, effect = _LIBRARIES[library.name]
        is_missing = library.failure.kind == "LibraryNotFoundError"
        yield Finding(
            f"no-{library.name.lower()}",
            severity,
            f"{library.name} was not found: {effect}"
            if is_missing
            else f"{library.name} cannot be used: {library.failure.text}",
            f"pip install {_wheel(wheel, _major(facts))}",
        )


def broken(facts: Facts) -> Iterator[Finding]:
    """Find files that have the right name but can't be opened."""
    for library in _libraries(facts):
        for copy in library.copies:
            if copy.error:
                yield Finding(
                    "broken-library",
                    "warning",
                    f"{library.name} at {copy.path} ({copy.place}) cannot be opened: {copy.error}",
                    "install it again, or remove it",
                )


def several(facts: Facts) -> Iterator[Finding]:
    """Find copies of different versions that a process may mix up."""
    for library in _libraries(facts):
        if library.used is None:
            continue
        others = [
            copy
            for copy in library.copies
            if copy.version not in {None, library.used.version} and copy.place not in _PACKAGES
        ]
        if others:
            listed = ", ".join(_describe(copy) for copy in others)
            yield Finding(
                f"two-{library.name.lower()}",
                "warning",
                f"there is more than one {library.name}: {_describe(library.used)} is used; also "
                f"there: {listed}",
                "uninstall what you don't need; a copy that a program loads first is used",
            )


def _describe(copy: Copy) -> str:
    version = _text(copy.version) if copy.version else "of unknown version"
    return f"{version} at {copy.path} ({copy.place})"


def bundled(facts: Facts) -> Iterator[Finding]:
    """Note other packages' copies, which are used if those packages are imported first."""
    for library in _libraries(facts):
        for copy in library.copies:
            if (
                copy.place in _PACKAGES
                and library.used is not None
                and copy.version not in {None, library.used.version}
            ):
                yield Finding(
                    "bundled-library",
                    "note",
                    f"{copy.place} brings {library.name} {_describe(copy)}: a process that loads "
                    "it first uses it for everything",
                    f"install {_text(copy.version or (0, 0))} for cudacore, too, if this matters",
                )


def against_driver(facts: Facts) -> Iterator[Finding]:
    """Find an NVRTC that is newer or much older than the driver."""
    used, driver = facts.compilers.nvrtc.used, _driver_version(facts)
    if used is None or used.version is None or driver is None:
        return
    if used.version[0] > driver[0]:
        yield Finding(
            "nvrtc-newer-than-driver",
            "problem",
            f"NVRTC {_text(used.version)} is of a later major version than the driver, which "
            f"speaks CUDA {_text(driver)} and may refuse what it makes",
            f"update the driver, or: pip uninstall nvidia-cuda-nvrtc; pip install "
            f"'cudacore[cu{driver[0]}]'",
        )
    elif used.version > driver:
        yield Finding(
            "nvrtc-newer-than-driver",
            "warning",
            f"NVRTC {_text(used.version)} is newer than the driver, which speaks CUDA "
            f"{_text(driver)}: its cubins run, but the driver refuses its PTX",
            f"update the driver, or: pip install 'nvidia-cuda-nvrtc=={_text(driver)}.*'",
        )
    elif used.version[0] < driver[0]:
        yield Finding(
            "nvrtc-older-than-driver",
            "warning",
            f"NVRTC {_text(used.version)} is of an earlier major version than the driver, which "
            f"speaks CUDA {_text(driver)}: it knows neither the newest devices nor features",
            f"pip install 'cudacore[cu{min(driver[0], 13)}]'",
        )


def against_devices(facts: Facts) -> Iterator[Finding]:
    """Find devices that NVRTC doesn't compile for."""
    known = facts.compilers.architectures
    used = facts.compilers.nvrtc.used
    if not known or used is None:
        return
    for device in facts.driver.devices:
        major, minor = device.compute_capability
        if 10 * major + minor not in known:
            newer = 10 * major + minor > max(known)
            yield Finding(
                "device-unknown-to-nvrtc",
                "warning" if newer else "problem",
                f"NVRTC {used.version and _text(used.version)} does not know sm_{major}{minor} of "
                f"device {device.ordinal} ({device.name})",
                "install a newer NVRTC: pip install -U nvidia-cuda-nvrtc"
                if newer
                else "install an older NVRTC: pip install 'cudacore[cu12]'",
            )


def headers(facts: Facts) -> Iterator[Finding]:
    """Find headers that are missing, or of another version than NVRTC."""
    nvrtc = facts.compilers.nvrtc.used
    if nvrtc is None or nvrtc.version is None:
        return
    if facts.compilers.failure is not None:
        yield Finding(
            "nvrtc-fails",
            "problem",
            f"NVRTC {_text(nvrtc.version)} can be opened, but not used: "
            f"{facts.compilers.failure.text}",
            f"pip install --force-reinstall {_wheel('nvidia-cuda-nvrtc', nvrtc.version[0])}",
        )
        return
    wheel = _wheel("nvidia-cuda-runtime", nvrtc.version[0])
    used = next((one for one in facts.compilers.headers if one.used), None)
    others = ", ".join(
        f"{_text(one.version)} in {one.folder}" for one in facts.compilers.headers if not one.used
    )
    if used is None:
        there = f"; there are others: {others}" if others else ""
        yield Finding(
            "no-headers",
            "warning",
            f"no headers of CUDA {nvrtc.version[0]} were found, which programs may include{there}",
            f"pip install '{wheel}=={_text(nvrtc.version)}.*'",
        )
    elif used.version != nvrtc.version:
        yield Finding(
            "headers-of-another-version",
            "warning",
            f"the headers in {used.folder} are of CUDA {_text(used.version)}, but NVRTC is "
            f"{_text(nvrtc.version)}",
            f"pip install '{wheel}=={_text(nvrtc.version)}.*'",
        )


def linker(facts: Facts) -> Iterator[Finding]:
    """Find an nvJitLink that can't read what NVRTC makes for it."""
    nvrtc, nvjitlink = facts.compilers.nvrtc.used, facts.compilers.nvjitlink.used
    if nvrtc is None or nvjitlink is None or not nvrtc.version or not nvjitlink.version:
        return
    if nvjitlink.version < nvrtc.version:
        wheel = _wheel("nvidia-nvjitlink", nvrtc.version[0])
        yield Finding(
            "nvjitlink-older-than-nvrtc",
            "warning",
            f"nvJitLink {_text(nvjitlink.version)} is older than NVRTC {_text(nvrtc.version)}, "
            "whose LTO IR and PTX it may refuse",
            f"pip install -U '{wheel}>={_text(nvrtc.version)}'",
        )


CHECKS: tuple[Callable[[Facts], Iterator[Finding]], ...] = (
    missing,
    broken,
    several,
    bundled,
    against_driver,
    against_devices,
    headers,
    linker,
)
