# SPDX-License-Identifier: Apache-2.0
"""A device's NVLinks, MIG parts and InfoROM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudacore._public import public
from cudacore.system._exceptions import NotFoundError, NotSupportedError
from cudacore.system._nvml import ask, code_of, is_enabled, number, small, text
from cudacore.system.typing import InforomObject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cudacore.system._device import Device

_NVLINK_VERSIONS = ((1, 0), (2, 0), (2, 2), (3, 0), (3, 1), (4, 0), (5, 0), (6, 0))
_OBJECTS = {member: code for code, member in enumerate(InforomObject)}


@public("cudacore.system")
class NvlinkInfo:
    """An NVLink of a device; `Device.get_nvlink` makes it."""

    __slots__ = ("_device", "_link")

    #: The most links that NVML knows; `Device.get_nvlink_count` tells how many a device has.
    max_links = 18

    def __init__(self, device: Device, link: int) -> None:
        self._device = device
        self._link = link

    @property
    def version(self) -> tuple[int, int]:
        """(int, int): (major, minor) of the link (nvmlDeviceGetNvLinkVersion).

        NotSupportedError: the link has none, or one that is newer than this library.
        """
        version = number("nvmlDeviceGetNvLinkVersion", self._device.handle, self._link)
        if not 1 <= version <= len(_NVLINK_VERSIONS):
            raise NotSupportedError(
                f"NvlinkInfo.version: NVML calls the version of link {self._link} {version}, which "
                "is none that is known"
            )
        return _NVLINK_VERSIONS[version - 1]

    @property
    def state(self) -> bool:
        """bool: Whether the link is active (nvmlDeviceGetNvLinkState)."""
        return is_enabled("nvmlDeviceGetNvLinkState", self._device.handle, self._link)


@public("cudacore.system")
class MigInfo:
    """How a device is split into parts (MIG); `Device.mig` makes it."""

    __slots__ = ("_device",)

    def __init__(self, device: Device) -> None:
        self._device = device

    @property
    def is_mig_device(self) -> bool:
        """bool: Whether the device is such a part (nvmlDeviceIsMigDeviceHandle)."""
        return is_enabled("nvmlDeviceIsMigDeviceHandle", self._device.handle)

    @property
    def mode(self) -> bool:
        """bool: Whether the device is split (nvmlDeviceGetMigMode).

        Setting it (nvmlDeviceSetMigMode) needs root, and may take effect only after a reset.
        """
        current, _ = ask("nvmlDeviceGetMigMode", self._device.handle)
        return bool(current)

    @mode.setter
    def mode(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(f"MigInfo.mode is a {type(mode).__name__}: give a bool")
        ask("nvmlDeviceSetMigMode", self._device.handle, int(mode))

    @property
    def pending_mode(self) -> bool:
        """bool: Whether the device will be split after a reset (nvmlDeviceGetMigMode)."""
        _, pending = ask("nvmlDeviceGetMigMode", self._device.handle)
        return bool(pending)

    @property
    def device_count(self) -> int:
        """int: The most parts that the device can have (nvmlDeviceGetMaxMigDeviceCount)."""
        return number("nvmlDeviceGetMaxMigDeviceCount", self._device.handle)

    @property
    def parent(self) -> Device:
        """Device: The device of which this is a part.

        Calls nvmlDeviceGetDeviceHandleFromMigDeviceHandle.
        """
        handle = number("nvmlDeviceGetDeviceHandleFromMigDeviceHandle", self._device.handle)
        return type(self._device).from_handle(handle)

    def get_device_by_index(self, index: int) -> Device:
        """Return a part of the device (nvmlDeviceGetMigDeviceHandleByIndex).

        Parameters
        ----------
        index : int
            From 0 up to, but not including, `device_count`. There may be gaps.

        Returns
        -------
        Device

        Raises
        ------
        NotFoundError
            There is no part of this index.
        """
        place = small(index, "MigInfo.get_device_by_index: index", 2**31)
        handle = number("nvmlDeviceGetMigDeviceHandleByIndex", self._device.handle, place)
        return type(self._device).from_handle(handle)

    def get_all_devices(self) -> Iterator[Device]:
        """Yield all parts of the device.

        Yields
        ------
        Device
        """
        for index in range(self.device_count):
            if (device := self._device_if_any(index)) is not None:
                yield device

    def _device_if_any(self, index: int) -> Device | None:
        try:
            return self.get_device_by_index(index)
        except NotFoundError:
            return None


@public("cudacore.system")
class InforomInfo:
    """What is stored on a device's board; `Device.inforom` makes it."""

    __slots__ = ("handle",)

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def get_version(self, inforom: InforomObject | str) -> str:
        """Return the version of a part of the InfoROM (nvmlDeviceGetInforomVersion).

        Parameters
        ----------
        inforom : InforomObject or str
            The part.

        Returns
        -------
        str
        """
        code = code_of(_OBJECTS, inforom, "InforomInfo.get_version: inforom")
        return text("nvmlDeviceGetInforomVersion", self.handle, code)

    @property
    def image_version(self) -> str:
        """str: The version of all of the InfoROM (nvmlDeviceGetInforomImageVersion)."""
        return text("nvmlDeviceGetInforomImageVersion", self.handle)

    @property
    def configuration_checksum(self) -> int:
        """int: A checksum of the device's settings (nvmlDeviceGetInforomConfigurationChecksum)."""
        return number("nvmlDeviceGetInforomConfigurationChecksum", self.handle)

    def validate(self) -> None:
        """Read all of the InfoROM and verify its checksums (nvmlDeviceValidateInforom).

        Raises
        ------
        CorruptedInforomError
            They are wrong.
        """
        ask("nvmlDeviceValidateInforom", self.handle)

    @property
    def bbx_flush_time(self) -> tuple[int, int]:
        """(int, int): When the black box was last written, and for how many microseconds.

        Calls nvmlDeviceGetLastBBXFlushTime.
        """
        timestamp, microseconds = ask("nvmlDeviceGetLastBBXFlushTime", self.handle)
        return timestamp, microseconds

    @property
    def board_part_number(self) -> str:
        """str: The part number of the board (nvmlDeviceGetBoardPartNumber)."""
        return text("nvmlDeviceGetBoardPartNumber", self.handle)
