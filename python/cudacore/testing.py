# SPDX-License-Identifier: Apache-2.0
"""A fixture for pytest: the simulated device, fresh for each test.

In a ``conftest.py``::

    pytest_plugins = ["cudacore.testing"]

No other module of cudacore imports pytest.
"""

from collections.abc import Iterator

import pytest

import cudacore

__all__ = ["simulated_device"]


def __dir__() -> list[str]:
    return __all__


@pytest.fixture
def simulated_device() -> Iterator[cudacore.Device]:
    """Return the first simulated device, made current; reset the simulator after the test.

    Its settings come from ``CUDACORE_SIMULATOR_DEVICES`` and the like, or from an earlier
    `cudacore.simulator.enable`. A test whose kernel fails does not affect the next one.
    """
    if not cudacore.simulator.is_enabled():
        cudacore.simulator.enable()
    device = cudacore.Device(0)
    device.set_current()
    try:
        yield device
    finally:
        cudacore.simulator.reset()
