# SPDX-License-Identifier: Apache-2.0
"""LaunchConfig: the shape of a launch, a value that needs no device."""

from typing import Any

import numpy as np
import pytest
from cudacore import LaunchConfig

DIMS = ("grid", "block", "cluster")


@pytest.mark.parametrize("field", DIMS)
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (7, (7, 1, 1)),
        ((7,), (7, 1, 1)),
        ((7, 3), (7, 3, 1)),
        ((7, 3, 2), (7, 3, 2)),
        ([7, 3], (7, 3, 1)),
        (np.int64(7), (7, 1, 1)),
        ((np.uint8(7), 3), (7, 3, 1)),
        (np.array([7, 3]), (7, 3, 1)),
        (np.array(7), (7, 1, 1)),
        (2**31 - 1, (2**31 - 1, 1, 1)),
    ],
    ids=str,
)
def test_dimensions(field: str, given: Any, expected: tuple[int, int, int]) -> None:
    assert getattr(LaunchConfig(**{field: given}), field) == expected


@pytest.mark.parametrize("field", DIMS)
@pytest.mark.parametrize("how", ["constructor", "replacement"])
@pytest.mark.parametrize(
    ("given", "error"),
    [
        (0, ValueError),
        (-1, (ValueError, OverflowError)),
        ((1, 0), ValueError),
        ((1, 1, -1), (ValueError, OverflowError)),
        ((), ValueError),
        ((1, 1, 1, 1), ValueError),
        (2**32, (ValueError, OverflowError)),
        (2**100, (ValueError, OverflowError)),
        (1.5, TypeError),
        ("1", TypeError),
        ((1, 2.5), TypeError),
        (np.ones(4, int), ValueError),
        (np.ones(0, int), ValueError),
        (np.ones((2, 2), int), TypeError),
        (np.ones(2), TypeError),
        pytest.param(object(), TypeError, id="object"),
    ],
    ids=str,
)
def test_bad_dimensions_name_the_field(
    field: str, how: str, given: Any, error: type[Exception] | tuple[type[Exception], ...]
) -> None:
    uses = {
        "constructor": lambda: LaunchConfig(**{field: given}),
        "replacement": lambda: LaunchConfig().__replace__(**{field: given}),
    }
    with pytest.raises(error, match=field):
        uses[how]()


def test_defaults() -> None:
    config = LaunchConfig()
    assert config.grid == config.block == (1, 1, 1)
    assert config.cluster is None
    assert config.shmem_size == 0
    assert config.is_cooperative is False
    assert config.programmatic_stream_serialization is False
    assert config.priority is None


def test_order_of_arguments_is_cuda_cores() -> None:
    config = LaunchConfig(8, 2, 128, 16, True, True, -1)
    assert config == LaunchConfig(
        grid=8, cluster=2, block=128, shmem_size=16, is_cooperative=True,
        programmatic_stream_serialization=True, priority=-1,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("shmem_size", -1, (ValueError, OverflowError)),
        ("shmem_size", 1.5, TypeError),
        ("shmem_size", "1", TypeError),
        ("is_cooperative", "yes", TypeError),
        ("programmatic_stream_serialization", "yes", TypeError),
        ("priority", 1.5, TypeError),
        ("priority", "high", TypeError),
    ],
)
def test_bad_field_is_named(field: str, value: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=field):
        LaunchConfig(**{field: value})
    with pytest.raises(error, match=field):
        LaunchConfig().__replace__(**{field: value})


CHANGES = {"grid": 2, "cluster": 2, "block": 2, "shmem_size": 1, "is_cooperative": True,
           "programmatic_stream_serialization": True, "priority": 0}  # fmt: skip


@pytest.mark.parametrize("field", CHANGES)
def test_every_field_counts_for_equality(field: str) -> None:
    changed = LaunchConfig(**{field: CHANGES[field]})
    assert changed != LaunchConfig()
    assert changed == LaunchConfig(**{field: CHANGES[field]})
    assert hash(changed) == hash(LaunchConfig(**{field: CHANGES[field]}))
    before = LaunchConfig()
    assert before.__replace__(**{field: CHANGES[field]}) == changed
    assert before == LaunchConfig()


@pytest.mark.parametrize("field", CHANGES)
def test_never_changes(field: str) -> None:
    config = LaunchConfig()
    with pytest.raises(AttributeError, match=rf"LaunchConfig\.{field} .* copy\.replace"):
        setattr(config, field, CHANGES[field])
    with pytest.raises(AttributeError):
        delattr(config, field)
    assert config == LaunchConfig()


def test_is_not_equal_to_anything_else() -> None:
    assert LaunchConfig() != (1, 1)
    assert len({LaunchConfig(grid=1), LaunchConfig(grid=(1, 1, 1)), LaunchConfig(grid=2)}) == 2


def test_unknown_field_is_named() -> None:
    with pytest.raises(TypeError, match="no_such_field"):
        LaunchConfig(no_such_field=1)  # type: ignore[call-arg]


def test_repr_makes_it_again() -> None:
    config = LaunchConfig(grid=(2, 3), block=128, shmem_size=64)
    assert eval(repr(config), {"LaunchConfig": LaunchConfig}) == config


def test_whole_floats_are_ints() -> None:
    assert LaunchConfig(grid=(64 / 16, 2.0), block=8.0) == LaunchConfig(grid=(4, 2), block=8)
