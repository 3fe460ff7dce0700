# SPDX-License-Identifier: Apache-2.0
"""What a device says about itself at one moment: tuples whose fields have names."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cudacore._public import public

if TYPE_CHECKING:
    from cudacore.system.typing import (
        CoolerControl,
        CoolerTarget,
        ThermalController,
        ThermalTarget,
    )


@public("cudacore.system")
class MemoryInfo(NamedTuple):
    """The memory of a device, in bytes (nvmlDeviceGetMemoryInfo)."""

    free: int
    """int: What can be allocated."""
    total: int
    """int: All of it."""
    used: int
    """int: What all processes together have allocated."""
    reserved: int
    """int: What the driver and the firmware keep."""


@public("cudacore.system")
class BAR1MemoryInfo(NamedTuple):
    """The window through which the host and other devices reach a device's memory, in bytes.

    Calls nvmlDeviceGetBAR1MemoryInfo.
    """

    free: int
    """int: What is not mapped."""
    total: int
    """int: All of it."""
    used: int
    """int: What is mapped."""


@public("cudacore.system")
class Utilization(NamedTuple):
    """How busy a device was during the last sample, of 1/6 s to 1 s, in percent of the time.

    Calls nvmlDeviceGetUtilizationRates.
    """

    gpu: int
    """int: When a kernel was running."""
    memory: int
    """int: When device memory was being read or written."""


@public("cudacore.system")
class PowerInfo(NamedTuple):
    """What a device draws, in milliwatts."""

    usage_mw: int
    """int: Now, or on average over the last second (nvmlDeviceGetPowerUsage)."""
    limit_mw: int
    """int: What it may draw by its settings (nvmlDeviceGetPowerManagementLimit)."""
    enforced_limit_mw: int
    """int: What it may draw by all limits (nvmlDeviceGetEnforcedPowerLimit)."""


@public("cudacore.system")
class EccInfo(NamedTuple):
    """Errors in a device's memories, and whether they are corrected."""

    is_enabled: bool
    """bool: Whether errors are corrected (nvmlDeviceGetEccMode)."""
    is_pending_enabled: bool
    """bool: The same, after the next reboot."""
    corrected: int
    """int: Errors that were corrected since the driver was loaded (nvmlDeviceGetTotalEccErrors)."""
    uncorrected: int
    """int: Errors that could not be corrected."""


@public("cudacore.system")
class ProcessInfo(NamedTuple):
    """A process that computes on a device (nvmlDeviceGetComputeRunningProcesses)."""

    pid: int
    """int: Its id, as the host sees it."""
    used_gpu_memory: int | None
    """None or int: The bytes of device memory that it uses; None if the driver can't tell."""
    gpu_instance_id: int | None
    """None or int: The MIG instance that it runs on; None on a device that is not split."""
    compute_instance_id: int | None
    """None or int: The compute instance; None on a device that is not split."""


@public("cudacore.system")
class DeviceAttributes(NamedTuple):
    """What a device, or a MIG part of one, consists of (nvmlDeviceGetAttributes)."""

    multiprocessor_count: int
    """int: The multiprocessors."""
    shared_copy_engine_count: int
    """int: The engines that copy memory."""
    shared_decoder_count: int
    """int: The video decoders."""
    shared_encoder_count: int
    """int: The video encoders."""
    shared_jpeg_count: int
    """int: The engines for JPEG."""
    shared_ofa_count: int
    """int: The engines for optical flow."""
    gpu_instance_slice_count: int
    """int: The slices of its GPU instance."""
    compute_instance_slice_count: int
    """int: The slices of its compute instance."""
    memory_size_mb: int
    """int: The memory, in MiB."""


@public("cudacore.system")
class RepairStatus(NamedTuple):
    """Repairs that the next reset makes (nvmlDeviceGetRepairStatus)."""

    channel_repair_pending: bool
    """bool: Of memory channels."""
    tpc_repair_pending: bool
    """bool: Of multiprocessors."""


@public("cudacore.system")
class CoolerInfo(NamedTuple):
    """A device's cooler (nvmlDeviceGetCoolerInfo)."""

    signal_type: CoolerControl | None
    """CoolerControl or None: How it is controlled, if at all."""
    target: list[CoolerTarget]
    """list[CoolerTarget]: What it cools."""


@public("cudacore.system")
class ClockOffsets(NamedTuple):
    """How much a clock is moved in a performance state, in MHz (nvmlDeviceGetClockOffsets)."""

    clock_offset_mhz: int
    """int: The offset now."""
    max_offset_mhz: int
    """int: The greatest possible."""
    min_offset_mhz: int
    """int: The least possible."""


@public("cudacore.system")
class ThermalSensor(NamedTuple):
    """A sensor, in degrees Celsius (nvmlDeviceGetThermalSettings)."""

    controller: ThermalController
    """ThermalController: What reads it."""
    default_min_temp: int
    """int: The least that it usually shows."""
    default_max_temp: int
    """int: The most that it usually shows."""
    current_temp: int
    """int: What it shows now."""
    target: ThermalTarget
    """ThermalTarget: What it measures."""


@public("cudacore.system")
class GpuDynamicPstatesUtilization(NamedTuple):
    """How busy a part of a device was in the last second (nvmlDeviceGetDynamicPstatesInfo)."""

    is_present: bool
    """bool: Whether the device has this part."""
    percentage: int
    """int: Percent of the time."""
    inc_threshold: int
    """int: Above this percentage, the device may become faster."""
    dec_threshold: int
    """int: Below this percentage, the device may become slower."""
