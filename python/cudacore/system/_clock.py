# SPDX-License-Identifier: Apache-2.0
"""A clock of a device."""

from __future__ import annotations

from cudacore._public import public
from cudacore.system._nvml import ask, code_of, number, small
from cudacore.system._readings import ClockOffsets
from cudacore.system.typing import ClockId, ClockType

TYPES = {ClockType.GRAPHICS: 0, ClockType.SM: 1, ClockType.MEMORY: 2, ClockType.VIDEO: 3}
_IDS = {ClockId.CURRENT: 0, ClockId.CUSTOMER_BOOST_MAX: 3}
STATES = 16


@public("cudacore.system")
class ClockInfo:
    """A clock of a device; `Device.get_clock` makes it."""

    __slots__ = ("_type", "handle")

    def __init__(self, handle: int, clock_type: ClockType | str) -> None:
        self.handle = handle
        self._type = code_of(TYPES, clock_type, "Device.get_clock: clock_type")

    def get_current_mhz(self, clock_id: ClockId | str = ClockId.CURRENT) -> int:
        """Return the clock now, in MHz (nvmlDeviceGetClock).

        Parameters
        ----------
        clock_id : ClockId or str
            Which value.

        Returns
        -------
        int
        """
        code = code_of(_IDS, clock_id, "ClockInfo.get_current_mhz: clock_id")
        return number("nvmlDeviceGetClock", self.handle, self._type, code)

    def get_max_mhz(self) -> int:
        """Return the highest clock, in MHz (nvmlDeviceGetMaxClockInfo)."""
        return number("nvmlDeviceGetMaxClockInfo", self.handle, self._type)

    def get_max_customer_boost_mhz(self) -> int:
        """Return the highest clock that users may set, in MHz.

        Calls nvmlDeviceGetMaxCustomerBoostClock.
        """
        return number("nvmlDeviceGetMaxCustomerBoostClock", self.handle, self._type)

    def get_min_max_clock_of_pstate_mhz(self, pstate: int) -> tuple[int, int]:
        """Return the lowest and highest clock in a performance state, in MHz.

        Calls nvmlDeviceGetMinMaxClockOfPState.

        Parameters
        ----------
        pstate : int
            The state, from 0, the fastest, to 15.

        Returns
        -------
        tuple of int
        """
        state = small(pstate, "ClockInfo: pstate", STATES)
        least, most = ask("nvmlDeviceGetMinMaxClockOfPState", self.handle, self._type, state)
        return least, most

    def get_offsets(self, pstate: int) -> ClockOffsets:
        """Return how much the clock is moved in a performance state (nvmlDeviceGetClockOffsets).

        Parameters
        ----------
        pstate : int
            The state, from 0, the fastest, to 15.

        Returns
        -------
        ClockOffsets
        """
        state = small(pstate, "ClockInfo: pstate", STATES)
        return ClockOffsets(*ask("nvmlDeviceGetClockOffsets", self.handle, self._type, state))
