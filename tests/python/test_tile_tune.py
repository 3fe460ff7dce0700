# SPDX-License-Identifier: Apache-2.0
"""Searches for the fastest configuration of a tile kernel."""

import os
import subprocess
import sys
from functools import partial

import cudacore
import cudacore.tile as ct
import numpy as np
import pytest
from cudacore import NotSupportedError
from cudacore.tile import tune
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
            "cache": False,
        }
        return exhaustive_search(space, stream, **(arguments | changes))

    run.view = view
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
    assert all(not kernel._specializations for kernel in made)  # those with hints were compiled


def test_nothing_to_search(search):
    with pytest.raises(ValueError, match="Search space is empty"):
        search([])
    with pytest.raises(ValueError, match=r"No valid config found.*\nConfig: 3\nTile"):
        search([3, 5])
    with pytest.raises(NotSupportedError, match="no time limit"):
        search([64], single_run_timeout_sec=1.0)


@pytest.mark.parametrize("space", [{64, 128}, iter([64, 128]), {64: 1, 128: 2}.keys()])
def test_any_iterable_is_a_search_space(search, space):
    assert {one.config for one in search(space).successes} == {64, 128}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"grid_fn": lambda size: size}, "grid must be a tuple"),
        ({"hints_fn": lambda size: {"warps": size}}, "warps"),
        ({"args_fn": lambda size: (size,)}, "Kernel expects"),
        ({"kernel": lambda _: 3}, "kernel must be a tile kernel"),
    ],
)
def test_mistakes_of_the_call_are_raised_as_they_are(search, changes, message):
    with pytest.raises(TypeError, match=message):
        search([64, 128], **changes)


@pytest.fixture
def kept_search(search, tmp_path):
    before = cudacore.cache.info()
    cudacore.cache.set_folder(tmp_path)
    cudacore.cache.enable()
    yield partial(search, cache=True)
    cudacore.cache.set_folder(before.folder)
    if not before.is_enabled:
        cudacore.cache.disable()


def refuse_to_measure(*_, **__):
    raise AssertionError


def test_a_search_is_kept(kept_search, monkeypatch, capsys):
    first = kept_search([64, 3, 128])
    assert not first.is_cached
    monkeypatch.setattr(tune, "benchmark", refuse_to_measure)
    again = kept_search([64, 3, 128], quiet=False)
    assert again.is_cached
    assert (again.best, again.successes) == (first.best, first.successes)
    [(config, kind, message)] = again.failures
    assert (config, kind) == (3, first.failures[0][1])
    assert message == first.failures[0][2]
    assert capsys.readouterr().out.startswith("2 succeeded, 1 failed in an earlier search\n")


@ct.kernel
def count_by_two(x, size: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(x, (i,), ct.load(x, (i,), shape=(size,)) + 2)


@pytest.mark.parametrize(
    "changes",
    [
        {"space": [64]},
        {"grid_fn": lambda size: (size // 64,)},
        {"hints_fn": lambda size: {"occupancy": 16 + 0 * size}},
        {"hints_fn": lambda size: {"opt_level": 0 * size}},
        {"kernel": count_by_two},
        {"cache": False},
    ],
)
def test_another_search_is_another(kept_search, changes):
    space = [256, 512]
    assert not kept_search(space).is_cached
    assert kept_search(space).is_cached
    assert not kept_search(**({"space": space} | changes)).is_cached


def test_another_shape_is_another_search(kept_search, device, stream):
    kept_search([64, 128])
    smaller = device.allocate(2048, stream=stream).view(np.int32)
    again = kept_search([64, 128], args_fn=lambda size: (smaller, size))
    assert not again.is_cached


class Nameless:
    def __init__(self, size):
        self.size = size


def test_what_has_no_lasting_name_is_not_kept(kept_search):
    changes = {
        "grid_fn": lambda config: (1024 // config.size,),
        "args_fn": lambda config: (kept_search.func.view, config.size),
    }
    for _ in range(2):
        assert not kept_search([Nameless(64)], **changes).is_cached


def test_searches_are_forgotten(kept_search):
    kept_search([64])
    tune.clear_cache()
    assert not kept_search([64]).is_cached
    assert kept_search([64]).is_cached


class OwnError(Exception):
    pass


def test_kept_failures_have_their_types(kept_search):
    def refuse(size):
        if size == 128:
            raise OwnError("too large")
        return (1,)

    for is_cached in (False, True):
        result = kept_search([64, 128], grid_fn=refuse)
        assert result.is_cached == is_cached
        assert result.failures == ((128, OwnError, "too large"),)


@pytest.mark.parametrize("damage", [b"", b"{", b"[1]", b"{}", b"\xff"])
def test_damaged_entries_are_passed_over(kept_search, tmp_path, damage):
    kept_search([64])
    [entry] = [path for path in (tmp_path / "tuning" / "entries").rglob("*") if path.is_file()]
    entry.write_bytes(damage)
    assert not kept_search([64]).is_cached
    assert kept_search([64]).is_cached


def test_entries_that_are_pipes_are_passed_over(kept_search, tmp_path):
    kept_search([64])
    [entry] = [path for path in (tmp_path / "tuning" / "entries").rglob("*") if path.is_file()]
    entry.unlink()
    os.mkfifo(entry)
    assert not kept_search([64]).is_cached
    assert kept_search([64]).is_cached


def test_nothing_is_kept_while_the_program_cache_is_off(kept_search):
    cudacore.cache.disable()
    assert not kept_search([64]).is_cached
    assert not kept_search([64]).is_cached


PROCESS = """
import cudacore
import cudacore.tile as ct
import numpy as np


@ct.kernel
def count(x, size: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(x, (i,), ct.load(x, (i,), shape=(size,)) + 1)


device = cudacore.Device()
device.set_current()
stream = device.create_stream()
x = device.allocate(4096, stream=stream).view(np.int32)
result = ct.tune.exhaustive_search(
    [64, 128], stream, lambda size: (1024 // size,), count, lambda size: (x, size), quiet=True
)
print(result.is_cached, result.best.config, result.best.mean_us)
"""


def test_another_process_measures_nothing(tmp_path, device):
    program = tmp_path / "program.py"
    program.write_text(PROCESS)
    environment = os.environ | {
        "CUDACORE_CACHE_DIR": str(tmp_path / "cache"),
        "CUDACORE_CACHE": "1",
    }
    said = [
        subprocess.run(
            [sys.executable, str(program)],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.split()
        for _ in range(2)
    ]
    assert [each[0] for each in said] == ["False", "True"]
    assert said[0][1:] == said[1][1:]


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


@pytest.mark.multi_gpu
def test_what_is_found_is_kept_for_the_device_of_the_stream(kept_search, monkeypatch):
    other = cudacore.Device(1)
    stream = other.create_stream()
    view = other.allocate(4096, stream=stream).view(np.int32)
    asked = []
    facts = tune._tuning_cache.device_facts
    monkeypatch.setattr(
        tune._tuning_cache, "device_facts", lambda device: asked.append(device) or facts(device)
    )

    class Foreign:
        def __cuda_stream__(self):
            return 0, int(stream.handle)

    cudacore.Device(0).set_current()
    exhaustive_search(
        [64],
        Foreign(),
        lambda size: (ct.cdiv(1024, size),),
        count,
        lambda size: (view, size),
        quiet=True,
    )
    assert {device.device_id for device in asked} == {1}
