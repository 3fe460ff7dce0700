# SPDX-License-Identifier: Apache-2.0
"""A device as seen by NVML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudacore import _core
from cudacore._public import public
from cudacore.system import _fields
from cudacore.system._clock import ClockInfo
from cudacore.system._events import DEVICE_EVENTS, DeviceEvents
from cudacore.system._exceptions import NotFoundError
from cudacore.system._fan import FanInfo
from cudacore.system._links import InforomInfo, MigInfo, NvlinkInfo
from cudacore.system._nvml import (
    ENABLED,
    ask,
    code_of,
    is_enabled,
    members_of,
    number,
    places_of,
    small,
    text,
)
from cudacore.system._pci import PciInfo
from cudacore.system._readings import (
    BAR1MemoryInfo,
    CoolerInfo,
    DeviceAttributes,
    EccInfo,
    GpuDynamicPstatesUtilization,
    MemoryInfo,
    PowerInfo,
    ProcessInfo,
    RepairStatus,
    Utilization,
)
from cudacore.system._temperature import Temperature
from cudacore.system.typing import (
    AddressingMode,
    AffinityScope,
    ClocksEventReasons,
    ClockType,
    ComputeMode,
    CoolerControl,
    CoolerTarget,
    DeviceArch,
    EventType,
    GpuTopologyLevel,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from typing_extensions import Self

_BRANDS = (
    *("Unknown", "Quadro", "Tesla", "NVS", "GRID", "GeForce", "Titan", "NVIDIA vApps"),
    *("NVIDIA VPC", "NVIDIA VCS", "NVIDIA VWS", "NVIDIA Cloud Gaming", "Quadro RTX", "NVIDIA RTX"),
    *("NVIDIA", "GeForce RTX", "Titan RTX"),
)
_REASONS: dict[ClocksEventReasons, int] = {
    member: 1 << bit
    for bit, member in enumerate(ClocksEventReasons, -1)
    if member is not ClocksEventReasons.NONE
}
_COMPUTE_MODES = tuple(ComputeMode)
_ADDRESSING_MODES = {1: AddressingMode.HMM, 2: AddressingMode.ATS}
_SCOPES = {AffinityScope.NODE: 0, AffinityScope.SOCKET: 1}
_SIGNALS = {1: CoolerControl.TOGGLE, 2: CoolerControl.VARIABLE}
_TARGETS = {member: 1 << bit for bit, member in enumerate(CoolerTarget)}
LEVELS = {member: 10 * rank for rank, member in enumerate(GpuTopologyLevel)}
_STATES = 16
_STATE_BYTES = 64
_NOT_TOLD = 2**64 - 1
_NO_INSTANCE = 2**32 - 1
_CORRECTED, _UNCORRECTED = 0, 1
_SINCE_LOADING = 0
_NVLINK_COUNT = 91
_PREFIXES = ("GPU-", "MIG-")


def _name(value: bytes | str, what: str) -> str:
    text = value.decode() if isinstance(value, bytes) else value
    if not isinstance(text, str):
        raise TypeError(f"Device: {what} must be a str, not {type(value).__name__}")
    if "\0" in text:  # where NVML would stop reading
        raise ValueError(f"Device: {what} has a null character: {text!r}")
    return text


def _by_uuid(uuid: str) -> int:
    """Find a device. CUDA's uuids lack the prefix that NVML's have."""
    if uuid.startswith(_PREFIXES):
        return number("nvmlDeviceGetHandleByUUID", uuid)
    whole, part = _PREFIXES
    try:
        return number("nvmlDeviceGetHandleByUUID", whole + uuid)
    except NotFoundError as error:
        try:
            return number("nvmlDeviceGetHandleByUUID", part + uuid)
        except _core.CUDAError:
            raise error from None


@public("cudacore.system")
class Device:
    """A device as seen by NVML, the driver's management library.

    Nothing here makes a CUDA context. `cudacore.Device` is what runs kernels; `to_cuda_device` and
    `cudacore.Device.to_system_device` lead from one to the other.

    Give exactly one parameter.

    Parameters
    ----------
    index : int
        The place in NVML's order, from 0 up to, but not including, `get_device_count`. It is not
        that of CUDA, and may change when the machine starts anew.
    uuid : str or bytes
        As `uuid` or `cudacore.Device.uuid` give it.
    pci_bus_id : str or bytes
        The place on the PCI bus, such as ``0000:41:00.0``.

    Raises
    ------
    ValueError
        None or several of these were given, or ``index`` is out of range.
    NotFoundError
        There is no such device.
    cudacore.system.LibraryNotFoundError
        There is no NVML.
    """

    __slots__ = ("handle",)

    def __init__(
        self,
        index: int | None = None,
        *,
        uuid: bytes | str | None = None,
        pci_bus_id: bytes | str | None = None,
    ) -> None:
        if sum(given is not None for given in (index, uuid, pci_bus_id)) != 1:
            raise ValueError(
                "system.Device takes one of index, uuid and pci_bus_id: system.Device(index=0)"
            )
        if index is not None:
            place = small(index, "Device: index", self.get_device_count())
            self.handle = number("nvmlDeviceGetHandleByIndex_v2", place)
        elif uuid is not None:
            self.handle = _by_uuid(_name(uuid, "uuid"))
        elif pci_bus_id is not None:
            place_on_bus = _name(pci_bus_id, "pci_bus_id")
            self.handle = number("nvmlDeviceGetHandleByPciBusId_v2", place_on_bus)

    @classmethod
    def from_handle(cls, handle: int) -> Self:
        device = cls.__new__(cls)
        device.handle = handle
        return device

    def __repr__(self) -> str:
        return f"<cudacore.system.Device {self.uuid} ({self.name})>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self.uuid == other.uuid

    def __hash__(self) -> int:
        return hash(self.uuid)

    @classmethod
    def get_device_count(cls) -> int:
        """Return the number of devices (nvmlDeviceGetCount_v2).

        Those that ``CUDA_VISIBLE_DEVICES`` hides are included.
        """
        return number("nvmlDeviceGetCount_v2")

    @classmethod
    def get_all_devices(cls) -> Iterator[Self]:
        """Yield all devices, in the order of their indices.

        Yields
        ------
        Device
        """
        for index in range(cls.get_device_count()):
            yield cls(index=index)

    @classmethod
    def get_all_devices_with_cpu_affinity(cls, cpu_index: int) -> Iterator[Self]:
        """Yield the devices that are near a processor (nvmlSystemGetTopologyGpuSet).

        Parameters
        ----------
        cpu_index : int
            The processor.

        Yields
        ------
        Device
        """
        what = "Device.get_all_devices_with_cpu_affinity: cpu_index"
        for handle in ask("nvmlSystemGetTopologyGpuSet", small(cpu_index, what, 2**31)):
            yield cls.from_handle(handle)

    def to_cuda_device(self) -> _core.Device:
        """Return the device that runs kernels, found by its uuid.

        Returns
        -------
        cudacore.Device

        Raises
        ------
        NotFoundError
            CUDA doesn't show it: ``CUDA_VISIBLE_DEVICES`` hides it, or it is split into parts.
        """
        for device in _core.Device.get_all_devices():
            if device.uuid == self.uuid_without_prefix:
                return device
        raise NotFoundError(
            f"Device.to_cuda_device: CUDA shows no device {self.uuid}. CUDA_VISIBLE_DEVICES may "
            "hide it, or it is split into MIG devices"
        )

    @property
    def index(self) -> int:
        """int: The place in NVML's order (nvmlDeviceGetIndex)."""
        return number("nvmlDeviceGetIndex", self.handle)

    @property
    def uuid(self) -> str:
        """str: ``GPU-`` or ``MIG-`` and 8-4-4-4-12 hexadecimal digits (nvmlDeviceGetUUID)."""
        return text("nvmlDeviceGetUUID", self.handle)

    @property
    def uuid_without_prefix(self) -> str:
        """str: The digits alone, as `cudacore.Device.uuid` has them."""
        return self.uuid[len("GPU-") :]

    @property
    def pci_bus_id(self) -> str:
        """str: Such as ``00000000:41:00.0`` (nvmlDeviceGetPciInfoExt)."""
        return self.pci_info.bus_id

    @property
    def pci_info(self) -> PciInfo:
        """PciInfo: The place on the PCI bus, and the link (nvmlDeviceGetPciInfoExt)."""
        return PciInfo(self.handle)

    @property
    def name(self) -> str:
        """str: Such as ``NVIDIA H200`` (nvmlDeviceGetName)."""
        return text("nvmlDeviceGetName", self.handle)

    @property
    def brand(self) -> str:
        """str: Such as ``GeForce RTX``, or ``Unknown`` (nvmlDeviceGetBrand)."""
        brand = number("nvmlDeviceGetBrand", self.handle)
        return _BRANDS[brand] if 0 <= brand < len(_BRANDS) else _BRANDS[0]

    @property
    def serial(self) -> str:
        """str: The serial number of the board (nvmlDeviceGetSerial)."""
        return text("nvmlDeviceGetSerial", self.handle)

    @property
    def arch(self) -> DeviceArch:
        """DeviceArch: The architecture (nvmlDeviceGetArchitecture)."""
        code = number("nvmlDeviceGetArchitecture", self.handle)
        return DeviceArch(code) if code in set(DeviceArch) else DeviceArch.UNKNOWN

    @property
    def cuda_compute_capability(self) -> tuple[int, int]:
        """(int, int): (major, minor) (nvmlDeviceGetCudaComputeCapability)."""
        major, minor = ask("nvmlDeviceGetCudaComputeCapability", self.handle)
        return major, minor

    @property
    def module_id(self) -> int:
        """int: The place on the baseboard, or 0 (nvmlDeviceGetModuleId)."""
        return number("nvmlDeviceGetModuleId", self.handle)

    @property
    def minor_number(self) -> int:
        """int: The number of its file, ``/dev/nvidia0`` (nvmlDeviceGetMinorNumber)."""
        return number("nvmlDeviceGetMinorNumber", self.handle)

    @property
    def numa_node_id(self) -> int:
        """int: Its own NUMA node, on machines where it is one (nvmlDeviceGetNumaNodeId)."""
        return number("nvmlDeviceGetNumaNodeId", self.handle)

    @property
    def attributes(self) -> DeviceAttributes:
        """DeviceAttributes: What it consists of (nvmlDeviceGetAttributes_v2)."""
        return DeviceAttributes(*ask("nvmlDeviceGetAttributes_v2", self.handle))

    @property
    def is_c2c_enabled(self) -> bool:
        """bool: Whether it is linked chip to chip (nvmlDeviceGetC2cModeInfoV)."""
        return is_enabled("nvmlDeviceGetC2cModeInfoV", self.handle)

    @property
    def addressing_mode(self) -> AddressingMode | None:
        """AddressingMode or None: How it reaches the memory of malloc, if it does.

        Calls nvmlDeviceGetAddressingMode.
        """
        return _ADDRESSING_MODES.get(number("nvmlDeviceGetAddressingMode", self.handle))

    @property
    def is_persistence_mode_enabled(self) -> bool:
        """bool: Whether the driver stays ready while nobody uses the device.

        Calls nvmlDeviceGetPersistenceMode. Only root may set it (nvmlDeviceSetPersistenceMode).
        """
        return is_enabled("nvmlDeviceGetPersistenceMode", self.handle)

    @is_persistence_mode_enabled.setter
    def is_persistence_mode_enabled(self, enabled: bool) -> None:
        if not isinstance(enabled, bool):
            raise TypeError(
                f"Device.is_persistence_mode_enabled is a {type(enabled).__name__}: give a bool"
            )
        ask("nvmlDeviceSetPersistenceMode", self.handle, int(enabled))

    @property
    def compute_mode(self) -> ComputeMode:
        """ComputeMode: Which processes may use it (nvmlDeviceGetComputeMode)."""
        return _COMPUTE_MODES[number("nvmlDeviceGetComputeMode", self.handle)]

    @property
    def is_display_connected(self) -> bool:
        """bool: Whether a display is plugged in (nvmlDeviceGetDisplayMode)."""
        return is_enabled("nvmlDeviceGetDisplayMode", self.handle)

    @property
    def is_display_active(self) -> bool:
        """bool: Whether a display is set up, plugged in or not (nvmlDeviceGetDisplayActive)."""
        return is_enabled("nvmlDeviceGetDisplayActive", self.handle)

    @property
    def memory_info(self) -> MemoryInfo:
        """MemoryInfo: Its memory, in bytes, for all processes (nvmlDeviceGetMemoryInfo_v2)."""
        return MemoryInfo(*ask("nvmlDeviceGetMemoryInfo_v2", self.handle))

    @property
    def bar1_memory_info(self) -> BAR1MemoryInfo:
        """BAR1MemoryInfo: The window through which others reach its memory, in bytes.

        Calls nvmlDeviceGetBAR1MemoryInfo.
        """
        return BAR1MemoryInfo(*ask("nvmlDeviceGetBAR1MemoryInfo", self.handle))

    @property
    def utilization(self) -> Utilization:
        """Utilization: How busy it is, in percent (nvmlDeviceGetUtilizationRates)."""
        return Utilization(*ask("nvmlDeviceGetUtilizationRates", self.handle))

    @property
    def power(self) -> PowerInfo:
        """PowerInfo: What it draws and may draw, in milliwatts (nvmlDeviceGetPowerUsage)."""
        return PowerInfo(
            number("nvmlDeviceGetPowerUsage", self.handle),
            number("nvmlDeviceGetPowerManagementLimit", self.handle),
            number("nvmlDeviceGetEnforcedPowerLimit", self.handle),
        )

    @property
    def total_energy_mj(self) -> int:
        """int: What it has consumed since the driver was loaded, in millijoules.

        Calls nvmlDeviceGetTotalEnergyConsumption.
        """
        return number("nvmlDeviceGetTotalEnergyConsumption", self.handle)

    @property
    def ecc(self) -> EccInfo:
        """EccInfo: Errors in its memories, and what becomes of them (nvmlDeviceGetEccMode)."""
        current, pending = ask("nvmlDeviceGetEccMode", self.handle)
        corrected, uncorrected = (
            number("nvmlDeviceGetTotalEccErrors", self.handle, kind, _SINCE_LOADING)
            for kind in (_CORRECTED, _UNCORRECTED)
        )
        return EccInfo(current == ENABLED, pending == ENABLED, corrected, uncorrected)

    @property
    def repair_status(self) -> RepairStatus:
        """RepairStatus: Repairs that the next reset makes (nvmlDeviceGetRepairStatus)."""
        channel, tpc = ask("nvmlDeviceGetRepairStatus", self.handle)
        return RepairStatus(bool(channel), bool(tpc))

    @property
    def temperature(self) -> Temperature:
        """Temperature: Its temperatures (nvmlDeviceGetTemperature)."""
        return Temperature(self.handle)

    @property
    def cooler(self) -> CoolerInfo:
        """CoolerInfo: Its cooler (nvmlDeviceGetCoolerInfo)."""
        signal, target = ask("nvmlDeviceGetCoolerInfo", self.handle)
        return CoolerInfo(_SIGNALS.get(signal), members_of(_TARGETS, target))

    @property
    def num_fans(self) -> int:
        """int: How many fans it has (nvmlDeviceGetNumFans)."""
        return number("nvmlDeviceGetNumFans", self.handle)

    def get_fan(self, fan: int = 0) -> FanInfo:
        """Return a fan.

        Parameters
        ----------
        fan : int
            From 0 up to, but not including, `num_fans`.

        Returns
        -------
        FanInfo

        Raises
        ------
        ValueError
            It doesn't have this fan.
        """
        return FanInfo(self.handle, small(fan, "Device.get_fan: fan", self.num_fans))

    def get_clock(self, clock_type: ClockType | str) -> ClockInfo:
        """Return a clock.

        Parameters
        ----------
        clock_type : ClockType or str
            Which one.

        Returns
        -------
        ClockInfo
        """
        return ClockInfo(self.handle, clock_type)

    @property
    def is_auto_boosted_clocks_enabled(self) -> tuple[bool, bool]:
        """(bool, bool): Whether clocks rise by themselves, and whether they do by default.

        Calls nvmlDeviceGetAutoBoostedClocksEnabled.
        """
        current, usual = ask("nvmlDeviceGetAutoBoostedClocksEnabled", self.handle)
        return current == ENABLED, usual == ENABLED

    @property
    def current_clock_event_reasons(self) -> list[ClocksEventReasons]:
        """list[ClocksEventReasons]: Why its clocks are what they are.

        Calls nvmlDeviceGetCurrentClocksEventReasons.
        """
        bits = number("nvmlDeviceGetCurrentClocksThrottleReasons", self.handle)
        return members_of(_REASONS, bits)

    @property
    def supported_clock_event_reasons(self) -> list[ClocksEventReasons]:
        """list[ClocksEventReasons]: What `current_clock_event_reasons` can say.

        Calls nvmlDeviceGetSupportedClocksEventReasons.
        """
        bits = number("nvmlDeviceGetSupportedClocksThrottleReasons", self.handle)
        return members_of(_REASONS, bits)

    @property
    def performance_state(self) -> int | None:
        """None or int: From 0, the fastest, to 15, if known (nvmlDeviceGetPerformanceState)."""
        state = number("nvmlDeviceGetPerformanceState", self.handle)
        return state if state < _STATES else None

    @property
    def supported_pstates(self) -> list[int]:
        """list[int]: The performance states that it has.

        Calls nvmlDeviceGetSupportedPerformanceStates.
        """
        states = ask("nvmlDeviceGetSupportedPerformanceStates", self.handle, _STATE_BYTES)
        return [state for state in states if state < _STATES]

    @property
    def dynamic_pstates_info(self) -> tuple[GpuDynamicPstatesUtilization, ...]:
        """tuple[GpuDynamicPstatesUtilization, ...]: How busy its parts are.

        Calls nvmlDeviceGetDynamicPstatesInfo.
        """
        return tuple(
            GpuDynamicPstatesUtilization(bool(is_present), *rest)
            for is_present, *rest in ask("nvmlDeviceGetDynamicPstatesInfo", self.handle)
        )

    @property
    def compute_running_processes(self) -> list[ProcessInfo]:
        """list[ProcessInfo]: The processes with a CUDA context on it.

        Calls nvmlDeviceGetComputeRunningProcesses_v3.
        """
        return [
            ProcessInfo(
                pid,
                None if used == _NOT_TOLD else used,
                None if gpu == _NO_INSTANCE else gpu,
                None if compute == _NO_INSTANCE else compute,
            )
            for pid, used, gpu, compute in ask(
                "nvmlDeviceGetComputeRunningProcesses_v3", self.handle
            )
        ]

    def get_nvlink_count(self) -> int:
        """Return how many NVLinks it has (nvmlDeviceGetFieldValues)."""
        return int(self.get_field_values([_NVLINK_COUNT])[0].value)

    def get_nvlink(self, link: int) -> NvlinkInfo:
        """Return an NVLink.

        Parameters
        ----------
        link : int
            From 0 up to, but not including, `get_nvlink_count`.

        Returns
        -------
        NvlinkInfo

        Raises
        ------
        ValueError
            It doesn't have this link.
        """
        return NvlinkInfo(self, small(link, "Device.get_nvlink: link", self.get_nvlink_count()))

    def get_nvlinks(self) -> Iterator[NvlinkInfo]:
        """Yield all NVLinks.

        Yields
        ------
        NvlinkInfo
        """
        for link in range(self.get_nvlink_count()):
            yield NvlinkInfo(self, link)

    def get_topology_nearest_gpus(self, level: GpuTopologyLevel | str) -> Iterator[Self]:
        """Yield the devices that have something in common with this one.

        Calls nvmlDeviceGetTopologyNearestGpus.

        Parameters
        ----------
        level : GpuTopologyLevel or str
            What they have in common.

        Yields
        ------
        Device
        """
        code = code_of(LEVELS, level, "Device.get_topology_nearest_gpus: level")
        for handle in ask("nvmlDeviceGetTopologyNearestGpus", self.handle, code):
            yield self.from_handle(handle)

    def get_memory_affinity(self, scope: AffinityScope | str = AffinityScope.NODE) -> list[int]:
        """Return the NUMA nodes that are near (nvmlDeviceGetMemoryAffinity).

        Parameters
        ----------
        scope : AffinityScope or str
            What is near.

        Returns
        -------
        list of int
        """
        code = code_of(_SCOPES, scope, "Device.get_memory_affinity: scope")
        return places_of(ask("nvmlDeviceGetMemoryAffinity", self.handle, code))

    def get_cpu_affinity(self, scope: AffinityScope | str = AffinityScope.NODE) -> list[int]:
        """Return the processors that are near (nvmlDeviceGetCpuAffinityWithinScope).

        Parameters
        ----------
        scope : AffinityScope or str
            What is near.

        Returns
        -------
        list of int
        """
        code = code_of(_SCOPES, scope, "Device.get_cpu_affinity: scope")
        return places_of(ask("nvmlDeviceGetCpuAffinityWithinScope", self.handle, code))

    def set_cpu_affinity(self) -> None:
        """Bind the calling thread to the processors that are near (nvmlDeviceSetCpuAffinity)."""
        ask("nvmlDeviceSetCpuAffinity", self.handle)

    def clear_cpu_affinity(self) -> None:
        """Let the calling thread run on all processors again (nvmlDeviceClearCpuAffinity)."""
        ask("nvmlDeviceClearCpuAffinity", self.handle)

    @property
    def mig(self) -> MigInfo:
        """MigInfo: How it is split into parts (nvmlDeviceGetMigMode)."""
        return MigInfo(self)

    @property
    def inforom(self) -> InforomInfo:
        """InforomInfo: What is stored on its board (nvmlDeviceGetInforomVersion)."""
        return InforomInfo(self.handle)

    def get_field_values(self, field_ids: Iterable[int | tuple[int, int]]) -> _fields.FieldValues:
        """Read values that NVML knows by number, its ``NVML_FI_*`` constants.

        Calls nvmlDeviceGetFieldValues.

        Parameters
        ----------
        field_ids : iterable of int, or of tuple of int
            The numbers; with a scope, such as the number of a link, where a field has one.

        Returns
        -------
        FieldValues
            A tuple of `FieldValue`. If the device doesn't have one, its ``value`` raises an error.
        """
        return _fields.read(self.handle, field_ids)

    def clear_field_values(self, field_ids: Iterable[int | tuple[int, int]]) -> None:
        """Set such values to 0 (nvmlDeviceClearFieldValues).

        Parameters
        ----------
        field_ids : iterable of int, or of tuple of int
            As for `get_field_values`.
        """
        _fields.clear(self.handle, field_ids)

    def get_supported_event_types(self) -> list[EventType]:
        """Return what `register_events` can record (nvmlDeviceGetSupportedEventTypes)."""
        return members_of(DEVICE_EVENTS, number("nvmlDeviceGetSupportedEventTypes", self.handle))

    def register_events(self, events: EventType | str | Iterable[EventType | str]) -> DeviceEvents:
        """Record what happens to it, from now on (nvmlDeviceRegisterEvents).

        Parameters
        ----------
        events : EventType, str or iterable of these
            What to record.

        Returns
        -------
        DeviceEvents
            Its ``wait`` returns the events.

        Raises
        ------
        cudacore.system.NotSupportedError
            It can't record one of these.
        """
        return DeviceEvents(self, events)


def system_device(uuid: str) -> Device:
    """Return the device with a uuid of CUDA's, for `cudacore.Device.to_system_device`."""
    return Device(uuid=uuid)
