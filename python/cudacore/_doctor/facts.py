# SPDX-License-Identifier: Apache-2.0
"""What the doctor knows of a machine: gathered once, and judged by the checks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from cudacore._text import count_text, size_text

Version: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class Failure:
    """Why a library or a device cannot be used."""

    text: str
    name: str = ""  # the driver's name of the error, such as CUDA_ERROR_NO_DEVICE
    kind: str = ""  # the class of the exception, such as DriverNotFoundError


@dataclass(frozen=True)
class Copy:
    """One copy of a library that is on the machine."""

    place: str  # loaded, wheel, conda, loader, toolkit, or the package that bundles it
    path: str
    version: Version | None = None
    error: str = ""  # why it can't be opened


@dataclass(frozen=True)
class Library:
    """A library that cudacore opens."""

    name: str
    used: Copy | None = None
    failure: Failure | None = None  # if none is used
    copies: tuple[Copy, ...] = ()


@dataclass(frozen=True)
class Headers:
    """A folder with CUDA's headers."""

    folder: str
    version: Version
    used: bool = False


@dataclass(frozen=True)
class Compilers:
    """The libraries that make code, and the headers that they read."""

    nvrtc: Library = Library("NVRTC")
    nvjitlink: Library = Library("nvJitLink")
    nvfatbin: Library = Library("nvFatbin")
    architectures: tuple[int, ...] = ()  # that NVRTC compiles for
    headers: tuple[Headers, ...] = ()
    failure: Failure | None = None  # of an NVRTC that can be opened


@dataclass(frozen=True)
class DeviceFacts:
    """A device that the driver shows."""

    ordinal: int
    name: str
    compute_capability: Version
    memory_bytes: int = 0
    compute_mode: int = 0  # CUcomputemode: 0 default, 2 prohibited, 3 exclusive
    failure: Failure | None = None  # what a first use of it raised


@dataclass(frozen=True)
class Driver:
    """The driver in use, and the devices that it shows."""

    library: Library = Library("driver")
    simulated: bool = False
    devices: tuple[DeviceFacts, ...] = ()


@dataclass(frozen=True)
class Management:
    """What NVML says, which doesn't heed CUDA_VISIBLE_DEVICES."""

    library: Library = Library("NVML")
    driver_version: str = ""  # such as 580.65.06
    devices: int = 0
    mig_devices: int = 0  # of these, how many are split
    mig_instances: int = 0


@dataclass(frozen=True)
class Machine:
    """What the files of the system say."""

    in_container: bool = False
    is_wsl: bool = False
    kernel_driver: str = ""  # the version of the loaded module
    pci_gpus: int = 0
    device_files: dict[str, bool] = field(default_factory=dict)  # whether each can be opened


@dataclass(frozen=True)
class CacheFacts:
    """The program cache on disk."""

    folder: str
    is_enabled: bool = True
    is_writable: bool = True
    entries: int = 0
    size_bytes: int = 0
    max_size_bytes: int = 2**30
    problem: str = ""  # why it can't be used
    settings_problem: str = ""  # what is wrong with the variables
    checked: int = 0  # how many entries were read
    damaged: tuple[str, ...] = ()  # what is wrong with each of them that can't be used

    @property
    def keeps_nothing(self) -> bool:
        """Whether the largest size is less than one block, which the smallest entry takes."""
        return self.max_size_bytes < 4096  # noqa: PLR2004

    def __str__(self) -> str:
        state = "" if self.is_enabled else ", switched off"
        entries = count_text(self.entries, "entry", "entries")
        return f"{self.folder or 'no folder'}, {entries}, {size_text(self.size_bytes)}{state}"


@dataclass(frozen=True)
class Facts:
    """Everything that the checks look at."""

    driver: Driver = Driver()
    compilers: Compilers = Compilers()
    management: Management = Management()
    machine: Machine = Machine()
    simulator: Library = Library("simulated device")
    cache: CacheFacts | None = None
    environment: dict[str, str] = field(default_factory=dict)
    missing_folders: tuple[str, ...] = ()  # that variables name, and that don't exist
    failures: dict[str, str] = field(default_factory=dict)  # what could not be found out, and why


@dataclass(frozen=True)
class Finding:
    """What a check has to say."""

    id: str
    severity: str  # problem, warning or note
    text: str
    cure: str
