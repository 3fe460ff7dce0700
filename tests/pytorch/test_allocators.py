# SPDX-License-Identifier: Apache-2.0
"""cudacore's memory for PyTorch and other libraries, and PyTorch's for cudacore."""

import ctypes
import gc
import re

import cudacore
import pytest
import torch
from cudacore import Device, OutOfMemoryError, allocators
from harness import run_cleanly
from resources import Own, small_pool

PYTORCH_ASKS_NVML = "where memory is short, PyTorch asks NVML for what is not simulated"


@pytest.fixture(scope="module")
def own() -> Own:
    return Own()


class Functions:
    """What PyTorch calls, for one set of resources."""

    def __init__(self, *resources, is_pool):
        slot = cudacore._core._torch_slot(list(resources), is_pool)
        library = ctypes.CDLL(cudacore._core.__file__)
        self.allocate = library[f"cudacore_torch_allocate_{slot}"]
        self.allocate.restype = ctypes.c_void_p
        self.allocate.argtypes = [ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p]
        self.free = library["cudacore_torch_free"]
        self.free.restype = None
        self.free.argtypes = [ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p]
        self.record_stream = library["cudacore_torch_record_stream"]
        self.record_stream.restype = None
        self.record_stream.argtypes = [ctypes.c_void_p, ctypes.c_void_p]


@pytest.fixture(scope="module")
def functions(own: Own) -> Functions:
    return Functions(own, is_pool=False)


@pytest.fixture(scope="module")
def functions_of_a_pool() -> Functions:
    return Functions(small_pool(), is_pool=True)


def test_allocator_of_pytorch():
    said = run_cleanly("""
        import torch
        from cudacore import DeviceMemoryResource, DeviceMemoryResourceOptions, allocators
        pool = DeviceMemoryResource(0, DeviceMemoryResourceOptions(max_size=64 << 20))
        allocator = allocators.torch_allocator(pool)
        assert allocators.torch_allocator(pool) is allocator
        torch.cuda.memory.change_current_allocator(allocator)

        x = torch.empty(1000, device="cuda")
        assert pool.attributes.used_mem_current >= 4000
        assert x.copy_(torch.arange(1000.0)).cpu().tolist() == list(range(1000))
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            y = torch.empty(1000, device="cuda").copy_(x)
        y.record_stream(torch.cuda.current_stream())
        x.record_stream(stream)
        del x, y
        torch.cuda.synchronize()
        assert pool.attributes.used_mem_current == 0
        assert torch.empty(0, device="cuda").numel() == 0
        try:
            torch.empty(1 << 40, device="cuda")
        except RuntimeError as error:
            print(error)
        torch.empty(10, device="cuda")
    """)
    assert "out of memory" in said
    assert "4 TiB" in said


@pytest.mark.multi_gpu
def test_allocator_of_pytorch_on_two_devices():
    said = run_cleanly("""
        import sys, torch
        from cudacore import DeviceMemoryResource, allocators
        first = DeviceMemoryResource(0)
        resources = [first] if len(sys.argv) == 1 else [first, DeviceMemoryResource(1)]
        torch.cuda.memory.change_current_allocator(allocators.torch_allocator(*resources))
        try:
            print(torch.empty(10, device="cuda:1").device)
        except RuntimeError as error:
            print(error)
    """)
    assert said.startswith("PyTorch asked for memory of device 1, for which its allocator has no")


def test_pool_of_pytorch():
    memory = small_pool()
    pool = allocators.torch_pool(memory)
    with torch.cuda.use_mem_pool(pool):
        x = torch.empty(1000, device="cuda")
    used = memory.attributes.used_mem_current
    assert used >= 4000
    y = torch.empty(1000, device="cuda")
    assert memory.attributes.used_mem_current == used
    assert y.copy_(x.copy_(torch.arange(1000.0))).cpu().tolist() == list(range(1000))
    del x, pool
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.synchronize()
    assert memory.attributes.used_mem_current == 0


def test_pool_of_pytorch_refuses_python(own):
    with pytest.raises(TypeError, match="torch_pool: .*Own is written in Python"):
        allocators.torch_pool(own)


@pytest.mark.gpu_only(reason=PYTORCH_ASKS_NVML)
def test_pool_of_pytorch_where_memory_is_short():
    with (
        torch.cuda.use_mem_pool(allocators.torch_pool(small_pool())),
        pytest.raises(torch.OutOfMemoryError),
    ):
        torch.empty(1 << 40, device="cuda")


def test_pool_where_memory_is_short(functions_of_a_pool):
    """PyTorch frees what it has cached, and tries again: nothing is reported."""
    before = cudacore.unraisable_errors()
    assert functions_of_a_pool.allocate(1 << 40, 0, None) is None
    assert cudacore.unraisable_errors() == before


def test_pool_of_another_device(functions_of_a_pool, capfd):
    before = cudacore.unraisable_errors()
    assert functions_of_a_pool.allocate(100, 1, None) is None
    assert re.search("no resource|no device 1", capfd.readouterr().err)
    assert cudacore.unraisable_errors() == before + 1


def test_nothing_is_allocated_for_nothing(own, functions):
    assert functions.allocate(0, 0, None) is None
    functions.free(None, 0, 0, None)
    functions.record_stream(None, None)
    assert own.live == {}


def test_freed_memory_that_was_not_allocated(functions, capfd):
    before = cudacore.unraisable_errors()
    functions.free(4096, 100, 0, None)
    assert "it freed memory that cudacore did not give it" in capfd.readouterr().err
    functions.record_stream(4096, None)
    assert cudacore.unraisable_errors() == before + 1


def test_release_waits_for_the_recorded_streams(device, stream, gate, functions):
    other = device.create_stream()
    pointer = functions.allocate(100, 0, stream.handle)
    gate.hold(other)
    for _ in range(2):
        functions.record_stream(pointer, other.handle)
        functions.record_stream(pointer, stream.handle)
    functions.free(pointer, 100, 0, stream.handle)
    assert not stream.is_done
    gate.open()
    stream.sync()
    other.close()


def test_slots_run_out():
    said = run_cleanly("""
        from cudacore import DeviceMemoryResource, DeviceMemoryResourceOptions, allocators
        pools = [DeviceMemoryResource(0, DeviceMemoryResourceOptions()) for _ in range(17)]
        for pool in pools[:16]:
            allocators.torch_allocator(pool)
        allocators.torch_allocator(pools[3])
        try:
            allocators.torch_allocator(pools[16])
        except ValueError as error:
            print(error)
    """)
    assert "PyTorch can have 16 allocators of cudacore" in said


@pytest.mark.parametrize(
    "make",
    [allocators.torch_allocator, allocators.torch_pool, allocators.cupy_allocator],
    ids=lambda make: make.__name__,
)
def test_wrong_resources(make):
    with pytest.raises(TypeError, match=f"{make.__name__} needs a MemoryResource"):
        make()
    with pytest.raises(TypeError, match=f"{make.__name__}: expected a MemoryResource, not int"):
        make(0)
    pool = small_pool()
    closed = small_pool()
    closed.close()
    with pytest.raises(ValueError, match=f"{make.__name__}: <DeviceMemoryResource .*> is closed"):
        make(closed)
    with pytest.raises(ValueError, match="several resources are for the same device"):
        make(pool, small_pool())
    host = Own()
    host.is_device_accessible = False
    with pytest.raises(ValueError, match="kernels can't reach the memory of <"):
        make(host)
    anywhere = Own()
    anywhere.device_id = -1
    with pytest.raises(ValueError, match="several resources are for the same device"):
        make(pool, anywhere)


@pytest.mark.parametrize("make", [allocators.torch_allocator, allocators.torch_pool])
def test_pytorchs_memory_for_pytorch(make):
    with pytest.raises(TypeError, match=f"{make.__name__}: <Torch.*> is PyTorch's own memory"):
        make(allocators.TorchMemoryResource(0))
    behind = Own()
    behind.upstream = allocators.TorchMemoryResource(0)
    with pytest.raises(TypeError, match=f"{make.__name__}: <.*Own.*> is PyTorch's own memory"):
        make(behind)


def test_allocator_with_a_resource_that_raises():
    """PyTorch raises what the resource raised, without its traceback."""
    said = run_cleanly("""
        import torch
        from cudacore import MemoryResource, allocators

        class Failing(MemoryResource):
            is_device_accessible, is_host_accessible, device_id = True, False, 0

            def allocate(self, size, *, stream=None):
                raise LookupError("mine")

        torch.cuda.memory.change_current_allocator(allocators.torch_allocator(Failing()))
        try:
            torch.empty(1000, device="cuda")
        except RuntimeError as error:
            print(str(error).partition("Exception raised from")[0])
    """)
    assert said.splitlines()[0] == "LookupError: mine"
    assert "At:" not in said


def test_pytorch_without_cuda(monkeypatch):
    monkeypatch.setattr(torch.backends.cuda, "is_built", lambda: False)
    for make in (allocators.TorchMemoryResource, lambda: allocators.torch_pool(small_pool())):
        with pytest.raises(ImportError, match=r"allocators\.Torch.* needs a PyTorch .* CUDA|_pool"):
            make()


def test_library_is_missing():
    said = run_cleanly("""
        import sys
        from cudacore import DeviceMemoryResource, allocators

        class Missing:
            def find_spec(self, name, path=None, target=None):
                if name in ("torch", "cupy", "rmm"):
                    raise ModuleNotFoundError(f"No module named {name!r}", name=name)

        sys.meta_path.insert(0, Missing())
        pool = DeviceMemoryResource(0)
        for make, *resources in (
            (allocators.torch_allocator, pool), (allocators.torch_pool, pool),
            (allocators.TorchMemoryResource,), (allocators.cupy_allocator, pool),
            (allocators.CupyMemoryResource,), (allocators.rmm_resource, pool),
            (allocators.RmmMemoryResource,),
        ):
            try:
                make(*resources)
            except ImportError as error:
                print(error)
    """)
    assert said.splitlines() == [
        "cudacore.allocators.torch_allocator needs PyTorch: pip install torch",
        "cudacore.allocators.torch_pool needs PyTorch: pip install torch",
        "cudacore.allocators.TorchMemoryResource needs PyTorch: pip install torch",
        "cudacore.allocators.cupy_allocator needs CuPy: pip install cupy-cuda13x",
        "cudacore.allocators.CupyMemoryResource needs CuPy: pip install cupy-cuda13x",
        "cudacore.allocators.rmm_resource needs RMM: pip install rmm-cu13",
        "cudacore.allocators.RmmMemoryResource needs RMM: pip install rmm-cu13",
    ]


def test_importing_imports_no_library():
    script = """
        import sys
        from cudacore import allocators
        print([name for name in ("torch", "cupy", "rmm", "numpy") if name in sys.modules])
    """
    assert run_cleanly(script) == "[]\n"


def test_pytorchs_memory(stream):
    resource = allocators.TorchMemoryResource()
    before = torch.cuda.memory_allocated()
    assert repr(resource) == "<TorchMemoryResource of device 0>"
    with resource.allocate(1000, stream=stream) as buffer:
        assert (buffer.size, buffer.device_id, buffer.memory_resource) == (1000, 0, resource)
        assert torch.cuda.memory_allocated() > before
        buffer.fill(7, stream=stream)
        assert set(buffer.to_host(stream=stream).tolist()) == {7}
    assert torch.cuda.memory_allocated() == before
    assert not resource._live


def test_pytorchs_memory_of_no_size(stream):
    resource = allocators.TorchMemoryResource(Device(0))
    with resource.allocate(0, stream=stream) as buffer:
        assert (buffer.handle, buffer.size) == (0, 0)


def test_pytorchs_memory_on_streams_of_all_kinds(device):
    resource = allocators.TorchMemoryResource()
    theirs = torch.cuda.Stream()
    for stream in (None, theirs, cudacore.LEGACY_DEFAULT_STREAM, device.default_stream):
        resource.allocate(10, stream=stream).close()
    with device.create_stream() as ours:
        resource.allocate(10).close()
    assert not resource._live
    ours.close()


def test_pytorchs_memory_is_reused_after_other_streams(device, stream, gate):
    """PyTorch hands the memory out again at once, for work on the stream of the allocation."""
    resource = allocators.TorchMemoryResource()
    other = device.create_stream()
    buffer = resource.allocate(100, stream=stream)
    gate.hold(other)
    buffer.close(other)
    assert not stream.is_done
    gate.open()
    stream.sync()
    other.close()


@pytest.mark.parametrize(
    ("size", "error", "message"),
    [
        (-1, ValueError, r"size must lie in 0 .. 2\*\*63 - 1, not -1"),
        ("5", TypeError, "size must be an int, not str"),
        (2.5, TypeError, "size must be an int, not float"),
        (True, TypeError, "size must be an int, not bool"),
    ],
)
def test_wrong_sizes_take_no_memory(size, error, message):
    before = torch.cuda.memory_allocated()
    with pytest.raises(error, match=message):
        allocators.TorchMemoryResource().allocate(size)
    assert torch.cuda.memory_allocated() == before


def test_memory_is_given_back_where_no_buffer_can_be_made(monkeypatch):
    class NoBuffer:
        @staticmethod
        def from_handle(*_args, **_kwargs):
            raise MemoryError("no buffer")

    resource = allocators.TorchMemoryResource()
    before = torch.cuda.memory_allocated()
    monkeypatch.setattr("cudacore.allocators._foreign_resource.Buffer", NoBuffer)
    with pytest.raises(MemoryError, match="no buffer"):
        resource.allocate(1000)
    assert torch.cuda.memory_allocated() == before


def test_memory_that_cannot_be_given_back_is_kept(stream):
    resource = allocators.TorchMemoryResource()
    before = torch.cuda.memory_allocated()
    buffer = resource.allocate(1000, stream=stream)
    address = buffer.handle
    with pytest.raises(TypeError):
        resource.deallocate(address, 1000, stream="wrong")
    assert torch.cuda.memory_allocated() > before
    buffer.close()
    assert torch.cuda.memory_allocated() == before
    with pytest.raises(ValueError, match=f"deallocate: {address:#x} is not allocated from"):
        resource.deallocate(address, 1000)


def test_devices_allocate_pytorchs_memory(device):
    resource = allocators.TorchMemoryResource()
    before = device.memory_resource
    device.memory_resource = resource
    try:
        with device.allocate(100) as buffer:
            assert buffer.memory_resource is resource
    finally:
        device.memory_resource = before


@pytest.mark.multi_gpu
def test_pytorchs_memory_of_another_device():
    resource = allocators.TorchMemoryResource(1)
    with resource.allocate(100) as buffer:
        assert buffer.device_id == 1
        assert torch.cuda.memory_allocated(1) > 0
    assert torch.cuda.memory_allocated(1) == 0


@pytest.mark.gpu_only(reason=PYTORCH_ASKS_NVML)
def test_pytorch_has_too_little_memory():
    with pytest.raises(OutOfMemoryError, match="CUDA out of memory"):
        allocators.TorchMemoryResource().allocate(1 << 44)
