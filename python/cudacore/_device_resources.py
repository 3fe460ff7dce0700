# SPDX-License-Identifier: Apache-2.0
"""Options of green contexts and their resources, and what they mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any

from cudacore._core import SMResource, WorkqueueResource
from cudacore._integers import to_int
from cudacore._options import Options, optional, read_options, to_bool, to_member
from cudacore._public import public
from cudacore.typing import WorkqueueSharingScopeType

if TYPE_CHECKING:
    from collections.abc import Callable

    from cudacore.typing import DeviceResourcesType

__all__ = ["ContextOptions", "SMResourceOptions", "WorkqueueResourceOptions"]

_MOST = 2**32 - 1


def _is_sequence(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _one_or_each(check: Callable[[Any, str], object]) -> Callable[[Any, str], object]:
    """Make a check of one value for all groups, or of a sequence with a value for each."""

    def check_all(value: Any, what: str) -> object:
        if not _is_sequence(value):
            return check(value, what)
        return tuple(check(item, f"{what}[{i}]") for i, item in enumerate(value))

    return check_all


_to_count = _one_or_each(optional(partial(to_int, least=0, most=_MOST)))


def _to_counts(value: Any, what: str) -> object:
    counts = _to_count(value, what)
    if counts == ():
        raise ValueError(f"{what} must have a value for at least one group")
    return counts


def _to_resources(value: Any, what: str) -> tuple[SMResource | WorkqueueResource, ...]:
    if not _is_sequence(value):
        text = f"{what} must be a sequence of SMResource or WorkqueueResource"
        raise TypeError(f"{text}, not {type(value).__name__}")
    resources = tuple(value)
    for i, resource in enumerate(resources):
        if not isinstance(resource, (SMResource, WorkqueueResource)):
            text = f"{what}[{i}] must be an SMResource or a WorkqueueResource"
            advice = (
                "; SMResource.split() returns a list of groups and the rest: "
                "give resources=groups or resources=[groups[0]]"
            )
            hint = advice if isinstance(resource, (list, tuple)) else ""
            raise TypeError(f"{text}, not {type(resource).__name__}{hint}")
    return resources


@public("cudacore")
@dataclass
class SMResourceOptions(
    Options,
    checks={
        "count": _to_counts,
        "coscheduled_sm_count": _to_count,
        "preferred_coscheduled_sm_count": _to_count,
        "backfill": _one_or_each(to_bool),
    },
):
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
        A number is negative or exceeds 32 bits, or ``count`` has none.

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
class WorkqueueResourceOptions(
    Options,
    checks={
        "sharing_scope": optional(partial(to_member, kind=WorkqueueSharingScopeType)),
        "concurrency_limit": optional(partial(to_int, least=1, most=_MOST)),
    },
):
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
        There is no such scope, or the limit is less than 1 or exceeds 32 bits.
    TypeError
        The limit is not an int.

    Examples
    --------
    >>> cudacore.WorkqueueResourceOptions(concurrency_limit=4).concurrency_limit
    4
    """

    sharing_scope: WorkqueueSharingScopeType | str | None = None
    concurrency_limit: int | None = None


@public("cudacore")
@dataclass
class ContextOptions(Options, checks={"resources": optional(_to_resources)}):
    """What a green context is made of; see `Device.create_context`.

    Parameters
    ----------
    resources : sequence of SMResource or WorkqueueResource
        Multiprocessors from one split, and perhaps queues.

    Raises
    ------
    TypeError
        They are something else.

    Examples
    --------
    >>> groups, _ = cudacore.Device().resources.sm.split({"count": 8})
    >>> len(cudacore.ContextOptions(resources=groups).resources)
    1
    """

    resources: DeviceResourcesType | None = None


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


def split_groups(options: Any) -> list[tuple[int | None, int | None, int | None, bool]]:
    """Return the fields of each group that `SMResource.split` makes."""
    given = read_options(SMResourceOptions, options, "SMResource.split")
    groups = len(given.count) if isinstance(given.count, tuple) else 1
    columns = [_one_for_each(given, field.name, groups) for field in fields(SMResourceOptions)]
    return list(zip(*columns, strict=True))


def workqueue_settings(options: Any) -> tuple[int | None, int | None]:
    """Return the driver's number of the scope, and the limit, that `configure` is given."""
    given = read_options(WorkqueueResourceOptions, options, "WorkqueueResource.configure")
    scopes = list(WorkqueueSharingScopeType)
    scope = None if given.sharing_scope is None else scopes.index(given.sharing_scope)  # type: ignore[arg-type]
    return scope, given.concurrency_limit


def context_resources(options: Any) -> list[Any]:
    """Return the resources that `Device.create_context` is given."""
    given = read_options(ContextOptions, options, "Device.create_context")
    return list(given.resources or ())
