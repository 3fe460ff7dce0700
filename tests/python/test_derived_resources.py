# SPDX-License-Identifier: Apache-2.0
"""Memory resources whose __init__ is called late, twice or never, and classes derived this way."""

import copy
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from cudacore import (
    Buffer,
    Device,
    DeviceMemoryResource,
    LegacyPinnedMemoryResource,
    MemoryPoolAttributes,
    MemoryResource,
    SynchronousMemoryResource,
)

READ = ("device_id", "is_managed", "is_host_accessible", "handle", "attributes", "is_closed")


@pytest.fixture(autouse=True)
def own_resource(device: Device) -> Iterator[None]:
    before = device.memory_resource
    yield
    device.memory_resource = before


def unmade(kind: type[MemoryResource]) -> Any:
    return kind.__new__(kind)


@pytest.mark.parametrize("name", READ)
def test_properties_of_what_was_never_initialised(name: str) -> None:
    with pytest.raises(
        ValueError, match="__init__ of this .*DeviceMemoryResource was never called"
    ):
        getattr(unmade(DeviceMemoryResource), name)


CALLS: dict[str, Callable[[Any, Device], object]] = {
    "allocate": lambda one, _: one.allocate(4),
    "deallocate": lambda one, _: one.deallocate(0, 0),
    "set": lambda one, device: setattr(device, "memory_resource", one),
    "from_handle": lambda one, _: Buffer.from_handle(0, 0, mr=one),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "kind", [DeviceMemoryResource, LegacyPinnedMemoryResource, SynchronousMemoryResource]
)
def test_calls_with_what_was_never_initialised(
    device: Device, kind: type[MemoryResource], call: str
) -> None:
    with pytest.raises(ValueError, match="was never called"):
        CALLS[call](unmade(kind), device)
    device.allocate(4).close()


def test_use_before_super_init(device: Device) -> None:
    class Early(DeviceMemoryResource):
        def __init__(self, of: Device) -> None:
            self.refused: list[str] = []
            for use in (lambda: self.device_id, lambda: setattr(of, "memory_resource", self)):
                with pytest.raises(ValueError, match="__init__ of this Early") as caught:
                    use()
                self.refused.append(str(caught.value))
            super().__init__(of)

    early = Early(device)
    assert len(early.refused) == 2
    assert early.device_id == device.device_id
    device.memory_resource = early
    device.allocate(4).close()


def test_init_called_again_by_its_own_argument(device: Device) -> None:
    resource = unmade(DeviceMemoryResource)
    inner: list[Buffer] = []

    class Ordinal:
        def __index__(self) -> int:
            resource.__init__(device)
            inner.append(resource.allocate(8))
            return device.device_id

    resource.__init__(Ordinal())
    assert inner[0].memory_resource is resource
    resource.allocate(4).close()
    inner.pop().close()


class Forgetful(DeviceMemoryResource):
    def __init__(self) -> None:
        pass


class Wrong(DeviceMemoryResource):
    def __init__(self) -> None:
        MemoryResource.__init__(self)


def test_init_that_calls_no_other() -> None:
    text = r"^Forgetful.__init__ must call that of cudacore.DeviceMemoryResource, as super\(\)"
    with pytest.raises(TypeError, match=text):
        Forgetful()
    with pytest.raises(TypeError, match=r"MemoryResource.__init__ does not make a Wrong"):
        Wrong()
    any_type: Any = DeviceMemoryResource
    with pytest.raises(TypeError, match=r"MemoryResource.__init__: self must be .* not int"):
        any_type.__init__(3)


class Mine(MemoryResource):
    is_device_accessible = True
    is_host_accessible = False
    device_id: Any = 0

    def __init__(self) -> None:  # calling MemoryResource's own is optional
        pass


def test_class_of_two_resources(device: Device) -> None:
    class Both(Mine, DeviceMemoryResource):
        def __init__(self) -> None:
            DeviceMemoryResource.__init__(self, device)

    both = Both()
    DeviceMemoryResource.allocate(both, 4).close()
    with pytest.raises(ValueError, match="was never called"):
        DeviceMemoryResource.allocate(unmade(Both), 4)


@pytest.mark.parametrize("wrong", [5, None, int, object, [], list])
def test_new_of_what_is_no_resource(wrong: Any) -> None:
    with pytest.raises(TypeError, match="expected MemoryResource or a class derived from it"):
        MemoryResource.__new__(wrong)


def test_attributes_are_made_by_a_pool_alone(device: Device) -> None:
    any_type: Any = MemoryPoolAttributes
    for make in (any_type, lambda: any_type.__new__(any_type)):
        with pytest.raises(TypeError, match="not made directly: use the attributes of a pool"):
            make()
    attributes = DeviceMemoryResource(device, {}).attributes
    assert attributes.used_mem_current == 0  # keeps the pool
    attributes.release_threshold = 4096
    assert attributes.release_threshold == 4096


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_are_refused(device: Device, protocol: int) -> None:
    pool = DeviceMemoryResource(device)
    for one in (pool, pool.attributes, LegacyPinnedMemoryResource(), Mine()):
        with pytest.raises(TypeError, match=r"pickle"):
            pickle.dumps(one, protocol)
        for copies in (copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match=r"pickle"):
                copies(one)
        with pytest.raises(TypeError, match=r"pickle"):
            one.__reduce__()


class Rebuilt(Mine):
    def __reduce__(self) -> tuple[type, tuple[()]]:
        return Rebuilt, ()


def test_own_class_may_be_pickled() -> None:
    assert isinstance(pickle.loads(pickle.dumps(Rebuilt(), 0)), Rebuilt)


def test_answers_of_the_wrong_type() -> None:
    resource = Mine()
    resource.device_id = "0"
    with pytest.raises(TypeError, match=r"^Mine.device_id must be an int of 32 bits, not str"):
        _ = Buffer.from_handle(0, 0, mr=resource).device_id
