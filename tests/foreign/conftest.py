# SPDX-License-Identifier: Apache-2.0
"""Fixtures for the foreign programs. None of the programs may import cudacore."""

from collections.abc import Iterator

import pytest
from cuda.core import Device, Program, ProgramOptions, Stream


@pytest.fixture
def device() -> Iterator[Device]:
    device = Device(0)
    device.set_current()
    yield device
    Device(0).set_current()


@pytest.fixture
def stream(device: Device) -> Iterator[Stream]:
    stream = device.create_stream()
    yield stream
    stream.close()


@pytest.fixture
def compile_ptx(device: Device):
    """Compiles CUDA C++ to PTX, the code that a simulated device loads."""

    def compile_(source: str, names: tuple[str, ...] = (), **options):
        chosen = ProgramOptions(std="c++17", arch=f"sm_{device.arch}", **options)
        return Program(source, code_type="c++", options=chosen).compile(
            "ptx", name_expressions=names
        )

    return compile_
