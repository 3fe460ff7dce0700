# SPDX-License-Identifier: Apache-2.0
"""The names of the tile language, and the limit of its compiler."""

import pickle
import threading
import traceback
from enum import Enum
from types import ModuleType
from typing import Any

import cudacore.graph
import cudacore.texture
import cudacore.tile as ct
import pytest
from cudacore import Device
from cudacore.tile._compiler_timeout import compiled_in_time


@pytest.mark.parametrize("name", ct.__all__)
def test_name(name: str) -> None:
    assert getattr(ct, name) is not None
    assert name in dir(ct)


@pytest.mark.parametrize("module", [ct, ct.compilation, ct.tune, cudacore.graph, cudacore.texture])
def test_completion_offers_what_is_public(module: ModuleType) -> None:
    assert dir(module) == sorted(module.__all__)


CLASSES = [
    pytest.param(module, name, id=f"{module.__name__}.{name}")
    for module in (ct, ct.compilation, ct.tune)
    for name in module.__all__
    if isinstance(getattr(module, name), type) and not issubclass(getattr(module, name), Enum)
]


@pytest.mark.parametrize(("module", "name"), CLASSES)
def test_class_says_where_it_is(module: ModuleType, name: str) -> None:
    found = getattr(module, name)
    assert (found.__module__, found.__qualname__) == (module.__name__, name)
    assert pickle.loads(pickle.dumps(found)) is found


@ct.kernel
def wrong(x: Any) -> None:
    outer(x)


def outer(x: Any) -> None:
    for _ in range(2):
        inner(x)


def inner(x: Any) -> None:
    ct.load(x, (0, 0), (4,))


def test_errors_of_kernels_show_no_frames_of_the_compiler(device: Device) -> None:
    stream = device.create_stream()
    x = device.allocate(64, stream=stream).view("float32")
    for call in (
        lambda: ct.launch(stream, (1,), wrong, (x,)),
        lambda: wrong.cuda_source((x,)),
    ):
        with pytest.raises(ct.TileTypeError, match="in outer") as caught:
            call()
        frames = traceback.extract_tb(caught.value.__traceback__)
        assert [frame.name for frame in frames[-1:]] in (["launch"], ["cuda_source"])
        shown = "".join(traceback.format_exception(caught.value))
        assert "cudacore.tile.TileTypeError" in shown
        assert "_evaluate" not in shown


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
