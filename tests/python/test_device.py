# SPDX-License-Identifier: Apache-2.0
"""Device: its properties, and what is made from it."""

import pickle
import re
import threading
from pathlib import Path

import cudacore
import pytest
from cudacore import Buffer, ComputeCapability, Context, Device, MemoryResource, Stream
from harness import PACKAGE, run_cleanly

STUB = (PACKAGE / "_core.pyi").read_text()
PROPERTIES = dict(
    re.findall(
        r"def (\w+)\(self\) -> (int|bool)",
        STUB[STUB.index("class DeviceProperties") : STUB.index("class ExternalMemory:")],
    )
)


def test_without_argument_is_the_current_one(device: Device) -> None:
    assert Device() == device
    assert Device(None).device_id == 0


def test_is_one_object_for_each_thread(device: Device) -> None:
    assert Device(0) is device or Device(0) is Device(0)
    seen: list[Device] = []
    thread = threading.Thread(target=lambda: seen.append(Device(0)))
    thread.start()
    thread.join()
    assert seen == [device]


def test_may_be_made_from_a_device_or_an_index(device: Device) -> None:
    assert Device(device) == device
    assert Device(int(device)) == device
    assert [0, 1][device] == 0
    assert hash(Device(0)) == hash(device)
    assert device != 0


def test_all_devices(device: Device) -> None:
    devices = Device.get_all_devices()
    assert devices[0] == device
    assert [one.device_id for one in devices] == list(range(len(devices)))
    assert len(devices) == cudacore.system.get_num_devices() == cudacore.num_devices()


@pytest.mark.parametrize("index", [-1, 1000, 2**40])
def test_device_that_is_not_there_says_how_many_are(device: Device, index: int) -> None:
    with pytest.raises((ValueError, OverflowError), match=rf"\b{cudacore.num_devices()}\b"):
        Device(index)


@pytest.mark.parametrize("index", ["0", 0.0, b"0", [0]])
def test_device_of_wrong_type(device: Device, index: object) -> None:
    with pytest.raises(TypeError):
        Device(index)  # type: ignore[arg-type]


def test_identity(device: Device) -> None:
    assert device.name
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", device.uuid)
    assert re.fullmatch(r"[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.\d", device.pci_bus_id)


def test_compute_capability(device: Device) -> None:
    major, minor = device.compute_capability
    assert device.compute_capability == ComputeCapability(major, minor)
    assert device.arch == f"{major}{minor}"
    assert device.properties.compute_capability_major == major
    assert device.properties.compute_capability_minor == minor


def test_there_are_143_properties(device: Device) -> None:
    names = [name for name in dir(device.properties) if not name.startswith("_")]
    assert sorted(names) == sorted(PROPERTIES)
    assert len(names) == 143


@pytest.mark.parametrize("name", PROPERTIES)
def test_property_has_its_type(device: Device, name: str) -> None:
    value = getattr(device.properties, name)
    assert type(value).__name__ == PROPERTIES[name]
    assert getattr(device.properties, name) == value


def test_properties_make_sense(device: Device) -> None:
    properties = device.properties
    assert properties.warp_size == 32
    assert properties.max_threads_per_block >= 1024
    assert properties.multiprocessor_count >= 1
    assert properties.max_grid_dim_x == 2**31 - 1
    assert properties.max_shared_memory_per_block_optin >= properties.max_shared_memory_per_block
    assert properties.unified_addressing is True
    assert f"{properties.pci_bus_id:02x}:" in device.pci_bus_id.lower()


def test_properties_cannot_be_set(device: Device) -> None:
    with pytest.raises(AttributeError):
        device.properties.warp_size = 1  # type: ignore[misc]


def test_memory_info(device: Device) -> None:
    info = device.mem_info
    assert 0 < info.free <= info.total
    assert info == (info.free, info.total)


def test_sync_waits(device: Device, gate: object, stream: Stream) -> None:
    gate.hold(stream)  # type: ignore[attr-defined]
    assert not stream.is_done
    threading.Timer(0.05, gate.open).start()  # type: ignore[attr-defined]
    device.sync()
    assert stream.is_done


def test_set_current_returns_the_context_before_where_one_is_given(device: Device) -> None:
    assert device.set_current() is None
    assert device.set_current(device.context) == device.context


@pytest.mark.parametrize("context", [1, "context", object()])
def test_set_current_of_wrong_type(device: Device, context: object) -> None:
    with pytest.raises(TypeError):
        device.set_current(context)  # type: ignore[arg-type]


def test_context(device: Device) -> None:
    assert isinstance(device.context, Context)
    assert device.context == device.context
    assert device.context.device == device


def test_default_stream(device: Device) -> None:
    assert device.default_stream.device == device
    device.default_stream.sync()


def test_allocate(device: Device, stream: Stream) -> None:
    with device.allocate(1024, stream=stream) as buffer:
        assert isinstance(buffer, Buffer)
        assert (buffer.size, buffer.device_id) == (1024, device.device_id)
        assert buffer.memory_resource is device.memory_resource
    with device.allocate(16) as buffer:
        assert buffer.size == 16


def test_memory_resource_is_shared_and_can_be_changed(device: Device) -> None:
    usual = device.memory_resource
    assert Device(0).memory_resource is usual
    mine = cudacore.DeviceMemoryResource(device, {"max_size": 1 << 24})
    device.memory_resource = mine
    try:
        assert Device(0).memory_resource is mine
        with device.allocate(64) as buffer:
            assert buffer.memory_resource is mine
    finally:
        device.memory_resource = usual


@pytest.mark.parametrize("resource", [None, 1, object()])
def test_memory_resource_of_wrong_type(device: Device, resource: MemoryResource) -> None:
    with pytest.raises(TypeError):
        device.memory_resource = resource


def test_cannot_reach_itself_as_a_peer(device: Device) -> None:
    assert device.can_access_peer(device) is False


@pytest.mark.multi_gpu
def test_peers_agree(device: Device) -> None:
    peer = Device(1)
    assert device.can_access_peer(peer) == device.can_access_peer(1) == peer.can_access_peer(device)


@pytest.mark.multi_gpu
def test_work_on_two_devices_needs_no_set_current(device: Device) -> None:
    for one in (device, Device(1), device):
        stream = one.create_stream()
        with one.allocate(64, stream=stream) as buffer:
            buffer.fill(7, stream=stream)
            host = bytearray(64)
            buffer.copy_to(host, stream=stream)
            stream.sync()
        assert host == bytes([7]) * 64
        assert stream.device == one


def test_pickles_by_its_number(device: Device) -> None:
    assert pickle.loads(pickle.dumps(device)) == device


def test_repr(device: Device) -> None:
    assert "Device" in repr(device)
    assert str(device.device_id) in repr(device)


def test_no_attribute_can_be_invented(device: Device) -> None:
    with pytest.raises(AttributeError):
        device.no_such_attribute = 1  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("environment", "expected"), [("", "0"), ("0", "1")], ids=["hidden", "shown"]
)
def test_visible_devices(device: Device, environment: str, expected: str) -> None:
    script = """
        import cudacore
        try:
            print(cudacore.system.get_num_devices())
        except cudacore.DriverNotFoundError:
            print(0)
    """
    output = run_cleanly(script, env={"CUDA_VISIBLE_DEVICES": environment})
    assert output.strip() == expected


def test_versions(device: Device) -> None:
    assert cudacore.system.get_user_mode_driver_version() >= (12, 0)
    assert cudacore.system.get_user_mode_driver_version() == cudacore.driver_library()[0]
    assert Path(cudacore.driver_library()[1]).name.startswith("libcuda")
    assert cudacore.system.get_nvrtc_version() == cudacore.nvrtc_library()[0]
    assert cudacore.system.get_nvjitlink_version() == cudacore.nvjitlink_library()[0]


def current_device() -> int:
    """Return the ordinal of the current device."""
    return Device().device_id


@pytest.mark.multi_gpu
def test_with_makes_a_device_current_for_a_while(device: Device) -> None:
    device.set_current()
    with Device(1) as other:
        assert other is Device(1)
        assert current_device() == 1
        with device:
            assert current_device() == 0
            with other, other:
                assert current_device() == 1
            assert current_device() == 0
        assert current_device() == 1
        device.set_current()  # changes made inside end with the block
    assert current_device() == 0


@pytest.mark.multi_gpu
def test_with_restores_after_an_error(device: Device) -> None:
    device.set_current()
    with pytest.raises(LookupError), Device(1):
        raise LookupError
    assert current_device() == 0


@pytest.mark.multi_gpu
def test_with_is_of_one_thread(device: Device) -> None:
    device.set_current()
    seen: list[int] = []
    with Device(1):
        thread = threading.Thread(target=lambda: seen.append(current_device()))
        thread.start()
        thread.join()
    assert seen == [0]


@pytest.mark.multi_gpu
def test_with_leaves_a_thread_as_it_was(device: Device) -> None:
    """If no context was current before, none is afterwards."""
    said = run_cleanly("""
        import ctypes, cudacore
        path = cudacore.driver_library()[1]
        driver = ctypes.CDLL(path)
        context = ctypes.c_void_p(1)
        with cudacore.Device(1):
            pass
        assert driver.cuCtxGetCurrent(ctypes.byref(context)) == 0
        print(context.value)
    """)
    assert said.strip() == "None"


@pytest.mark.multi_gpu
def test_exit_without_enter_is_refused(device: Device) -> None:
    with pytest.raises(RuntimeError, match="device 0"):
        device.__exit__(None, None, None)
    with Device(1), pytest.raises(RuntimeError, match="reverse order"):
        device.__exit__(None, None, None)


def test_properties_can_be_read_at_a_glance(device: Device) -> None:
    text = str(device.properties)
    lines = text.splitlines()
    assert lines[0] == f"device 0 ({device.name})"
    assert f"  warp_size: {device.properties.warp_size}" in lines
    assert f"  managed_memory: {device.properties.managed_memory}" in lines
    assert len(lines) == 1 + len(PROPERTIES)
    assert repr(device.properties) == "<DeviceProperties of device 0>"
