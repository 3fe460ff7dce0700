# SPDX-License-Identifier: Apache-2.0
"""A fixture for pytest: the simulated device, fresh for each test.

In a ``conftest.py``::

    pytest_plugins = ["cudacore.testing"]

pytest is imported by this module alone.
"""

from collections.abc import Iterator

import pytest

import cudacore

__all__ = ["simulated_device"]


@pytest.fixture
def simulated_device() -> Iterator[cudacore.Device]:
    """Give the first simulated device, current; after the test everything made on it ends.

    Its settings come from ``CUDACORE_SIMULATOR_DEVICES`` and the like, or from an earlier
    `cudacore.simulator.enable`. A test whose kernel fails does no harm to the next one.
    """
    if not cudacore.simulator.is_enabled():
        cudacore.simulator.enable()
    device = cudacore.Device(0)
    device.set_current()
    try:
        yield device
    finally:
        cudacore.simulator.reset()
