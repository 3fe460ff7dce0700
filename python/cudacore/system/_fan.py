# SPDX-License-Identifier: Apache-2.0
"""A fan of a device."""

from __future__ import annotations

from cudacore._public import public
from cudacore.system._nvml import ask, number, small
from cudacore.system.typing import FanControlPolicy

_MOST_PERCENT = 1000


@public("cudacore.system")
class FanInfo:
    """A fan of a device; `Device.get_fan` makes it."""

    __slots__ = ("_fan", "handle")

    def __init__(self, handle: int, fan: int) -> None:
        self.handle = handle
        self._fan = fan

    @property
    def speed(self) -> int:
        """int: The intended speed, in percent of the highest (nvmlDeviceGetFanSpeed_v2).

        Setting it stops the control by temperature (nvmlDeviceSetFanSpeed_v2); only root may.
        """
        return number("nvmlDeviceGetFanSpeed_v2", self.handle, self._fan)

    @speed.setter
    def speed(self, speed: int) -> None:
        percent = small(speed, "FanInfo.speed", _MOST_PERCENT)
        ask("nvmlDeviceSetFanSpeed_v2", self.handle, self._fan, percent)

    @property
    def speed_rpm(self) -> int:
        """int: The intended rotations per minute (nvmlDeviceGetFanSpeedRPM)."""
        return number("nvmlDeviceGetFanSpeedRPM", self.handle, self._fan)

    @property
    def target_speed(self) -> int:
        """int: The speed that the driver aims at, in percent (nvmlDeviceGetTargetFanSpeed)."""
        return number("nvmlDeviceGetTargetFanSpeed", self.handle, self._fan)

    @property
    def min_max_speed(self) -> tuple[int, int]:
        """(int, int): The lowest and highest speed, in percent (nvmlDeviceGetMinMaxFanSpeed)."""
        least, most = ask("nvmlDeviceGetMinMaxFanSpeed", self.handle)
        return least, most

    @property
    def control_policy(self) -> FanControlPolicy:
        """FanControlPolicy: Who decides about the speed (nvmlDeviceGetFanControlPolicy_v2)."""
        is_manual = number("nvmlDeviceGetFanControlPolicy_v2", self.handle, self._fan)
        return FanControlPolicy.MANUAL if is_manual else FanControlPolicy.TEMPERATURE_CONTROLLED

    def set_default_speed(self) -> None:
        """Let the temperature control the speed again (nvmlDeviceSetDefaultFanSpeed_v2)."""
        ask("nvmlDeviceSetDefaultFanSpeed_v2", self.handle, self._fan)
