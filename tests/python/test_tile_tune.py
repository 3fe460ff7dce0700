# SPDX-License-Identifier: Apache-2.0
"""Searches for the fastest configuration of a tile kernel."""

import cudacore.tile as ct
import numpy as np
import pytest
from cudacore import NotSupportedError
from cudacore.tile.tune import Measurement, TuningResult, exhaustive_search


@ct.kernel
def count(x, size: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(x, (i,), ct.load(x, (i,), shape=(size,)) + 1)


@pytest.fixture
def search(device, stream):
    view = device.allocate(4096, stream=stream).view(np.int32)

    def run(space, **changes):
        arguments = {
            "grid_fn": lambda size: (ct.cdiv(1024, size),),
            "kernel": count,
            "args_fn": lambda size: (view, size),
            "quiet": True,
        }
        return exhaustive_search(space, stream, **(arguments | changes))

    return run


def test_times_all_and_names_the_fastest(search, capsys):
    result = search([64, 128, 256], quiet=False)
    assert [one.config for one in result.successes] == [64, 128, 256]
    assert result.best == min(result.successes, key=lambda one: one.mean_us)
    assert all(one.mean_us > 0 and one.num_samples == 30 for one in result.successes)
    assert capsys.readouterr().out.startswith("3 succeeded, 0 failed\n")


def test_goes_on_after_failures(search):
    result = search([64, 3, 128])
    assert [one.config for one in result.successes] == [64, 128]
    [(config, kind, message)] = result.failures
    assert config == 3
    assert issubclass(kind, ct.TileError)
    assert "3" in message
    assert "1 failed:\n    3: " in str(result)


def test_hints_and_kernels_by_configuration(search):
    made = []

    def choose(size):
        made.append(ct.kernel(count.function))
        return made[-1]

    search([64, 128], kernel=choose, hints_fn=lambda size: {"occupancy": size // 64})
    assert len(made) == 2
    assert all(not kernel._variants for kernel in made)  # those with hints were compiled


def test_nothing_to_search(search):
    with pytest.raises(ValueError, match="Search space is empty"):
        search([])
    with pytest.raises(ValueError, match=r"No valid config found.*\nConfig: 3\nTile"):
        search([3, 5])
    with pytest.raises(NotSupportedError, match="no time limit"):
        search([64], single_run_timeout_sec=1.0)


def test_long_tables_are_cut():
    def measurement(place):
        return Measurement(
            config=f"c{place}", mean_us=float(place), num_samples=5, error_margin_us=0.1
        )

    every = [measurement(place) for place in range(1, 31)]
    failures = [(place, ValueError, "x" * 100) for place in range(12)]
    result = TuningResult(best=every[0], successes=every, failures=failures)
    text = result.summary(top_k=3, bottom_k=2)
    assert "* c1 " in text
    assert "    ... 25 more not shown" in text
    assert "  c30" in text
    assert "  c4 " not in text
    assert "    ... 9 more not shown" in text
    assert "x" * 57 + "..." in text
    assert text.endswith("Use .successes and .failures for full results.")
