# SPDX-License-Identifier: Apache-2.0
"""Objects that have been closed, as keys and in comparisons."""

from collections.abc import Callable

import pytest
from cudacore import Buffer, Device, Event, Stream

MAKE: dict[str, Callable[[Device, Stream], Buffer | Event | Stream]] = {
    "buffer": lambda device, stream: device.allocate(64, stream=stream),
    "event": lambda _, stream: stream.record(),
    "stream": lambda device, _: device.create_stream(),
}


@pytest.mark.parametrize("kind", MAKE)
def test_closed_one_keeps_its_hash_and_equals_itself_alone(
    device: Device, stream: Stream, kind: str
) -> None:
    one, other = MAKE[kind](device, stream), MAKE[kind](device, stream)
    before = hash(one)
    names = {one: "one"}
    one.close()
    other.close()
    assert hash(one) == before
    assert names[one] == "one"
    assert one == one  # noqa: PLR0124
    assert one != other
