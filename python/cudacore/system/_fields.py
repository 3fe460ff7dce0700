# SPDX-License-Identifier: Apache-2.0
"""Values that NVML knows by number: its NVML_FI_* constants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudacore._public import public
from cudacore.system._exceptions import class_of
from cudacore.system._nvml import ask, small

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cudacore.system._field_ids import FieldId

_END = 2**32


def _named(field_id: int) -> FieldId | int:
    from cudacore.system._field_ids import FieldId  # noqa: PLC0415

    try:
        return FieldId(field_id)
    except ValueError:  # of a newer NVML
        return field_id


@public("cudacore.system")
class FieldValue:
    """A value that NVML knows by number; `Device.get_field_values` reads it."""

    __slots__ = ("_failure", "_value", "field_id", "latency_usec", "scope_id", "timestamp")

    field_id: FieldId | int
    """FieldId: Its number; an int if `FieldId` lacks it."""
    scope_id: int
    """int: Of which part of the device it is, such as of which link."""
    timestamp: int
    """int: When it was read, in microseconds since 1970."""
    latency_usec: int
    """int: How long reading it took, in microseconds."""

    def __init__(
        self, field_id: int, scope_id: int, answer: tuple[int, int, int, int | float]
    ) -> None:
        self.field_id = _named(field_id)
        self.scope_id = scope_id
        self.timestamp, self.latency_usec, self._failure, self._value = answer

    @property
    def value(self) -> int | float:
        """(int, float): The value. NvmlError: the device doesn't have it."""
        if self._failure:
            raise class_of(self._failure)(
                f"FieldValue.value: nvmlDeviceGetFieldValues gave no value for field "
                f"{self.field_id} of scope {self.scope_id}: result {self._failure}"
            )
        return self._value


@public("cudacore.system")
class FieldValues(tuple[FieldValue, ...]):
    """What `Device.get_field_values` returns."""

    __slots__ = ()

    def validate(self) -> None:
        """Raise the first error among the values.

        Raises
        ------
        NvmlError
            The device doesn't have one of them.
        """
        self.get_all_values()

    def get_all_values(self) -> list[int | float]:
        """Return all values.

        Returns
        -------
        list of int and float

        Raises
        ------
        NvmlError
            The device doesn't have one of them.
        """
        return [field.value for field in self]


def _pairs(field_ids: Iterable[int | tuple[int, int]], what: str) -> list[tuple[int, int]]:
    pairs = []
    for given in field_ids:
        field, scope = given if isinstance(given, tuple) else (given, 0)
        pairs.append((small(field, f"{what}: field", _END), small(scope, f"{what}: scope", _END)))
    return pairs


def read(handle: int, field_ids: Iterable[int | tuple[int, int]]) -> FieldValues:
    """Read values of a device (nvmlDeviceGetFieldValues)."""
    return FieldValues(
        FieldValue(field, scope, ask("nvmlDeviceGetFieldValues", handle, 1, field, scope))
        for field, scope in _pairs(field_ids, "Device.get_field_values")
    )


def clear(handle: int, field_ids: Iterable[int | tuple[int, int]]) -> None:
    """Set values of a device to 0 (nvmlDeviceClearFieldValues)."""
    for field, scope in _pairs(field_ids, "Device.clear_field_values"):
        ask("nvmlDeviceClearFieldValues", handle, 1, field, scope)
