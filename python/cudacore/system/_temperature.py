# SPDX-License-Identifier: Apache-2.0
"""The temperatures of a device."""

from __future__ import annotations

from cudacore._public import public
from cudacore.system._nvml import ask, code_of, member_of, number
from cudacore.system._readings import ThermalSensor
from cudacore.system.typing import TemperatureThresholds, ThermalController, ThermalTarget

_GPU_SENSOR = 0
_THRESHOLDS = {member: code for code, member in enumerate(TemperatureThresholds)}
_CONTROLLERS: dict[ThermalController, int] = {
    member: code
    for code, member in enumerate(ThermalController)
    if member is not ThermalController.UNKNOWN
}
_TARGETS = {
    ThermalTarget.NONE: 0,
    ThermalTarget.GPU: 1,
    ThermalTarget.MEMORY: 2,
    ThermalTarget.POWER_SUPPLY: 4,
    ThermalTarget.BOARD: 8,
    ThermalTarget.VCD_BOARD: 9,
    ThermalTarget.VCD_INLET: 10,
    ThermalTarget.VCD_OUTLET: 11,
    ThermalTarget.ALL: 15,
}


@public("cudacore.system")
class ThermalSettings(tuple[ThermalSensor, ...]):
    """The sensors of a device."""

    __slots__ = ()


@public("cudacore.system")
class Temperature:
    """The temperatures of a device, in degrees Celsius; `Device.temperature` makes it."""

    __slots__ = ("handle",)

    def __init__(self, handle: int) -> None:
        self.handle = handle

    def get_sensor(self) -> int:
        """Return the temperature of the chip (nvmlDeviceGetTemperature)."""
        return number("nvmlDeviceGetTemperature", self.handle, _GPU_SENSOR)

    def get_threshold(self, threshold_type: TemperatureThresholds | str) -> int:
        """Return a temperature at which the device does something.

        Calls nvmlDeviceGetTemperatureThreshold.

        Parameters
        ----------
        threshold_type : TemperatureThresholds or str
            Which one.

        Returns
        -------
        int
        """
        code = code_of(_THRESHOLDS, threshold_type, "Temperature.get_threshold: threshold_type")
        return number("nvmlDeviceGetTemperatureThreshold", self.handle, code)

    @property
    def margin(self) -> int:
        """int: How much warmer the device may become before it slows down.

        Calls nvmlDeviceGetMarginTemperature.
        """
        return number("nvmlDeviceGetMarginTemperature", self.handle)

    def get_thermal_settings(self, sensor_index: ThermalTarget | str) -> ThermalSettings:
        """Return the sensors of a part of the device (nvmlDeviceGetThermalSettings).

        Parameters
        ----------
        sensor_index : ThermalTarget or str
            What the sensors measure.

        Returns
        -------
        ThermalSettings
            A tuple of `ThermalSensor`.
        """
        code = code_of(_TARGETS, sensor_index, "Temperature.get_thermal_settings: sensor_index")
        return ThermalSettings(
            ThermalSensor(
                member_of(_CONTROLLERS, controller, ThermalController.UNKNOWN),
                least,
                most,
                current,
                member_of(_TARGETS, target, ThermalTarget.UNKNOWN),
            )
            for controller, least, most, current, target in ask(
                "nvmlDeviceGetThermalSettings", self.handle, code
            )
        )
