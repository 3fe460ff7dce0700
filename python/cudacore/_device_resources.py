# SPDX-License-Identifier: Apache-2.0
"""Options of green contexts and their resources, and what they mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cudacore._integers import is_int
from cudacore._options import read_options
from cudacore._public import public
from cudacore.typing import WorkqueueSharingScopeType

if TYPE_CHECKING:
    from cudacore.typing import DeviceResourcesType

__all__ = ["ContextOptions", "SMResourceOptions", "WorkqueueResourceOptions"]


@public("cudacore")
@dataclass
class SMResourceOptions:
    """How multiprocessors are split; see `SMResource.split`.

    Each field is one value for all groups, or a sequence with a value for each group. The number of
    groups is the length of ``count``; it is 1 if that is an int or None.

    Parameters
    ----------
    count : int, None, or a sequence of them
        How many multiprocessors a group has; None or 0 for as many as there are.
    coscheduled_sm_count : int, None, or a sequence of them
        How many of them must be neighbors, for clusters; None for the device's default.
    preferred_coscheduled_sm_count : int, None, or a sequence of them
        How many should be neighbors, if possible.
    backfill : bool, or a sequence of them
        Whether ``count`` matters more than neighbors.

    Raises
    ------
    TypeError
        A value is not an int, or not a bool.
    ValueError
        A number is negative.

    Examples
    --------
    >>> cudacore.SMResourceOptions(count=(16, 8)).count
    (16, 8)
    """

    count: int | Sequence[int | None] | None = None
    coscheduled_sm_count: int | Sequence[int | None] | None = None
    preferred_coscheduled_sm_count: int | Sequence[int | None] | None = None
    backfill: bool | Sequence[bool] = False


@public("cudacore")
@dataclass
class WorkqueueResourceOptions:
    """What is set of queues; see `WorkqueueResource.configure`.

    Parameters
    ----------
    sharing_scope : WorkqueueSharingScopeType, str or None
        Which contexts share the queues: ``"device_ctx"``, all of the device, or
        ``"green_ctx_balanced"``, none of those that say the same, if possible.
    concurrency_limit : int or None
        How many streams are expected to have work at once, at least 1.

    Raises
    ------
    ValueError
        There is no such scope, or the limit is less than 1.
    TypeError
        The limit is not an int.

    Examples
    --------
    >>> cudacore.WorkqueueResourceOptions(concurrency_limit=4).concurrency_limit
    4
    """

    sharing_scope: WorkqueueSharingScopeType | str | None = None
    concurrency_limit: int | None = None

    def __post_init__(self) -> None:
        scopes = tuple(scope.value for scope in WorkqueueSharingScopeType)
        if self.sharing_scope is not None and self.sharing_scope not in scopes:
            text = f"{self.sharing_scope!r} is not a valid WorkqueueSharingScopeType. Must be "
            raise ValueError(text + " or ".join(map(repr, scopes)))
        limit = self.concurrency_limit
        if limit is None:
            return
        if not is_int(limit):
            text = f"concurrency_limit must be an int or None, not {type(limit).__name__}"
            raise TypeError(text)
        if limit < 1:
            raise ValueError(f"concurrency_limit must be >= 1, not {limit}")


@public("cudacore")
@dataclass
class ContextOptions:
    """What a green context is made of; see `Device.create_context`.

    Parameters
    ----------
    resources : sequence of SMResource or WorkqueueResource
        Multiprocessors from one split, and perhaps queues.

    Examples
    --------
    >>> groups, _ = cudacore.Device().resources.sm.split({"count": 8})
    >>> len(cudacore.ContextOptions(resources=groups).resources)
    1
    """

    resources: DeviceResourcesType | None = None


def _is_sequence(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _one_for_each(options: SMResourceOptions, field: str, groups: int) -> list[Any]:
    value = getattr(options, field)
    if not _is_sequence(value):
        return [value] * groups
    if not _is_sequence(options.count):
        raise ValueError(f"SMResourceOptions.{field} is a sequence, but count is scalar")
    if len(value) != groups:
        text = f"SMResourceOptions.{field} has {len(value)} values, but count has"
        raise ValueError(f"{text} a value for each of the groups: expected {groups}")
    return list(value)


def _check_number(value: object, field: str) -> None:
    if value is None:
        return
    if not is_int(value):
        text = f"SMResourceOptions.{field} must be an int, None, or a sequence of them"
        raise TypeError(f"{text}, not {type(value).__name__}")
    if value < 0:  # type: ignore[operator]
        raise ValueError(f"SMResourceOptions.{field} must be non-negative, not {value}")


def split_groups(options: Any) -> list[tuple[int | None, int | None, int | None, bool]]:
    """Return the fields of each group that `SMResource.split` makes."""
    given = read_options(SMResourceOptions, options, "SMResource.split")
    counts = list(given.count) if _is_sequence(given.count) else [given.count]  # type: ignore[arg-type]
    if not counts:
        raise ValueError("SMResourceOptions.count must have a value for at least one group")
    others = ("coscheduled_sm_count", "preferred_coscheduled_sm_count", "backfill")
    columns = [counts, *(_one_for_each(given, field, len(counts)) for field in others)]
    fields = ("count", "coscheduled_sm_count", "preferred_coscheduled_sm_count")
    for field, column in zip(fields, columns[:3], strict=True):
        for value in column:
            _check_number(value, field)
    for value in columns[3]:
        if not isinstance(value, bool):
            text = f"a bool, or a sequence of them, not {type(value).__name__}"
            raise TypeError(f"SMResourceOptions.backfill must be {text}")
    return list(zip(*columns, strict=True))


def workqueue_settings(options: Any) -> tuple[int | None, int | None]:
    """Return the driver's number of the scope, and the limit, that `configure` is given."""
    given = read_options(WorkqueueResourceOptions, options, "WorkqueueResource.configure")
    given.__post_init__()  # the fields may have been set since
    scopes = [scope.value for scope in WorkqueueSharingScopeType]
    scope = None if given.sharing_scope is None else scopes.index(given.sharing_scope)
    return scope, given.concurrency_limit


def context_resources(options: Any) -> list[Any]:
    """Return the resources that `Device.create_context` is given."""
    given = read_options(ContextOptions, options, "Device.create_context").resources
    if given is None:
        return []
    if not _is_sequence(given):
        text = "ContextOptions.resources must be a sequence of SMResource or WorkqueueResource"
        raise TypeError(f"{text}, not {type(given).__name__}")
    return list(given)
