# SPDX-License-Identifier: Apache-2.0
"""The names of the tile language, and the limit of its compiler."""

import threading

import cudacore.tile as ct
import pytest
from cudacore.tile._compiler_timeout import compiled_in_time


@pytest.mark.parametrize("name", ct.__all__)
def test_name(name: str) -> None:
    assert getattr(ct, name) is not None
    assert name in dir(ct)


def test_what_is_missing() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        ct.nothing


def test_timeout() -> None:
    release = threading.Event()
    with (
        ct.compiler_timeout(0.01),
        pytest.raises(
            ct.TileCompilerTimeoutError, match=r"Compiling took longer than 0\.01 seconds"
        ),
    ):
        compiled_in_time(release.wait)
    release.set()
    assert compiled_in_time(lambda: 7) == 7
    with ct.compiler_timeout(60):
        assert compiled_in_time(lambda: 7) == 7
        with pytest.raises(ZeroDivisionError):
            compiled_in_time(lambda: 1 // 0)


@pytest.mark.parametrize("limit", [0, -1.5, float("nan")])
def test_refused_timeouts(limit: float) -> None:
    with pytest.raises(ValueError, match="must be positive"), ct.compiler_timeout(limit):
        pass
