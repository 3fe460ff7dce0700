# SPDX-License-Identifier: Apache-2.0
"""Compilations through the program cache, for its tests."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cudacore import ObjectCode, Program, cache
from harness import ARCH

SOURCE = "__global__ void fill(int* p, int v) { p[threadIdx.x] = v; }"
VALUE = "__global__ void value(int* p) { *p = VALUE; }\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Iterator[Path]:
    """Give each test an empty cache."""
    before = cache.info()
    cache.set_folder(tmp_path / "cache")
    cache.enable()
    yield tmp_path / "cache"
    assert before.folder is not None
    cache.set_folder(before.folder)
    cache.set_max_size(before.max_size)
    if not before.is_enabled:
        cache.disable()


def outcome(work: Callable[[], Any]) -> tuple[str, Any]:
    """Return what the cache did for a compilation, and the result."""
    before = cache.info()
    result = work()
    after = cache.info()
    changed = [
        name
        for name in ("hits", "misses", "uncacheable")
        if getattr(after, name) != getattr(before, name)
    ]
    return " ".join(changed), result


def compile_ptx(source: str, *names: str, **options: object) -> ObjectCode:
    return Program(source, "c++", {"arch": ARCH, **options}).compile("ptx", names)


def done(source: str, *names: str, **options: object) -> str:
    """Return what the cache did for one compilation to PTX."""
    return outcome(lambda: compile_ptx(source, *names, **options))[0]


def value_of(code: ObjectCode) -> int:
    """Return the constant that the kernel of VALUE stores."""
    lines = code.code.decode().splitlines()
    return int(
        next(line.split()[-1].rstrip(";") for line in lines if "mov" in line and ", %" not in line)
    )
