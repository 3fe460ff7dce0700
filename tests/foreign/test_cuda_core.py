# SPDX-License-Identifier: Apache-2.0
"""cuda.core from PyPI, used as in its documentation."""

import ctypes

import numpy as np
import pytest
from cuda.core import (
    Device,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    EventOptions,
    Kernel,
    LaunchConfig,
    Linker,
    LinkerOptions,
    ObjectCode,
    Program,
    ProgramOptions,
    Stream,
    StreamOptions,
    launch,
    system,
)
from cuda.core.utils import args_viewable_as_strided_memory
from programs import SCALE, pinned

SAXPY = r"""
template <typename T>
__global__ void saxpy(T a, const T* x, const T* y, T* out, size_t n) {
  for (size_t i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += gridDim.x * blockDim.x) {
    out[i] = a * x[i] + y[i];
  }
}"""
COUNT = 10_007


def test_every_property_of_a_device_can_be_read(device):
    names = [name for name in dir(device.properties) if not name.startswith("_")]
    values = {name: getattr(device.properties, name) for name in names}

    assert len(values) > 100
    assert values["warp_size"] == 32
    assert values["max_threads_per_block"] == 1024
    assert values["multiprocessor_count"] > 0
    assert values["memory_pools_supported"]


def test_a_device_says_what_it_is(device):
    assert "simulated" in device.name
    assert device.arch == "90"
    assert tuple(device.compute_capability) == (9, 0)
    assert len(device.uuid.replace("-", "")) == 32
    assert device.context is not None


def test_the_system_tells_its_devices(device):
    assert system.get_num_devices() == 2
    assert system.get_user_mode_driver_version() >= (13, 0)
    for number, managed in enumerate(system.Device.get_all_devices()):
        its = Device(number)
        assert managed.index == number
        assert managed.name == its.name
        assert managed.uuid.removeprefix("GPU-") == its.uuid
        assert managed.cuda_compute_capability == tuple(its.compute_capability)
        assert managed.pci_info.bus == its.properties.pci_bus_id
        assert managed.memory_info.total == 1 << 30


def test_what_the_management_library_does_not_tell_is_not_found():
    with pytest.raises(Exception, match="not found"):
        _ = system.Device(index=0).utilization


def test_devices_are_two_and_peers():
    first, second = devices = Device.get_all_devices()
    for device in devices:
        device.set_current()

    assert first.uuid != second.uuid
    assert first.can_access_peer(second)
    assert second.can_access_peer(first)


def test_memory_of_a_peer_is_read_once_its_pool_lets_it(compile_ptx):
    first, second = Device.get_all_devices()
    second.set_current()
    pool = DeviceMemoryResource(second, DeviceMemoryResourceOptions(max_size=1 << 20))
    theirs = second.create_stream()
    buffer = pool.allocate(128, stream=theirs)
    buffer.fill(b"\x00\x00\x80\x3f", stream=theirs)
    theirs.sync()
    pool.peer_accessible_by = [first.device_id]

    first.set_current()
    ours = first.create_stream()
    kernel = compile_ptx(SCALE).get_kernel("scale")
    launch(ours, LaunchConfig(grid=1, block=32), kernel, buffer, np.float32(3))
    target, values = pinned(32, np.float32)
    target.copy_from(buffer, stream=ours)
    ours.sync()

    assert pool.peer_accessible_by == (first.device_id,) or first.device_id in {
        int(getattr(peer, "device_id", peer)) for peer in pool.peer_accessible_by
    }
    np.testing.assert_array_equal(values, np.float32(3))


@pytest.mark.parametrize("nonblocking", [True, False])
def test_a_stream_has_its_options(device, nonblocking):
    stream = device.create_stream(options=StreamOptions(nonblocking=nonblocking, priority=0))

    assert stream.is_nonblocking is nonblocking
    assert stream.priority == 0
    assert stream.device == device
    assert Stream.from_handle(int(stream.handle)).handle == stream.handle
    stream.sync()
    stream.close()


def test_a_stream_of_high_priority(device):
    stream = device.create_stream(options=StreamOptions(priority=-1))

    assert stream.priority == -1


def test_one_stream_waits_for_another(device, stream, compile_ptx):
    other = device.create_stream()
    kernel = compile_ptx(
        """extern "C" __global__ void slow(int* x) {
             for (int i = 0; i < 20000; ++i) atomicAdd(x, 1);
           }"""
    ).get_kernel("slow")
    buffer, values = pinned(1, np.int32)
    values[0] = 0
    one = LaunchConfig(grid=1, block=1)
    launch(stream, one, kernel, buffer)
    other.wait(stream.record())
    launch(other, one, kernel, buffer)
    other.sync()

    assert values[0] == 40000


def test_events_tell_time_and_order(device, stream, compile_ptx):
    timed = EventOptions(timing_enabled=True)
    kernel = compile_ptx(SCALE).get_kernel("scale")
    buffer, _ = pinned(32, np.float32)
    start = stream.record(options=timed)
    launch(stream, LaunchConfig(grid=1, block=32), kernel, buffer, np.float32(2))
    end = stream.record(options=timed)
    end.sync()

    assert start.is_done
    assert end.is_done
    assert end - start >= 0
    assert start.is_timing_enabled
    untimed = device.create_event()
    assert not untimed.is_timing_enabled
    stream.record(untimed)
    with pytest.raises(RuntimeError, match="timing"):
        untimed - start


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_saxpy(device, stream, compile_ptx, dtype):
    name = f"saxpy<{'float' if dtype is np.float32 else 'double'}>"
    code = compile_ptx(SAXPY, (name,))
    kernel = code.get_kernel(name)
    (x, xs), (y, ys), (out, outs) = (pinned(COUNT, dtype) for _ in range(3))
    rng = np.random.default_rng(0)
    xs[:] = rng.random(COUNT)
    ys[:] = rng.random(COUNT)
    config = LaunchConfig(grid=16, block=128)
    there = device.memory_resource.allocate(out.size, stream=stream)
    launch(stream, config, kernel, dtype(2), x, y, there, np.uint64(COUNT))
    there.copy_to(out, stream=stream)
    stream.sync()

    np.testing.assert_allclose(outs, 2 * xs + ys, rtol=1e-6)
    assert code.code_type == "ptx"
    assert name in code.symbol_mapping


def test_ptx_from_elsewhere(device, stream, tmp_path, compile_ptx):
    code = compile_ptx(SCALE).code
    file = tmp_path / "scale.ptx"
    file.write_bytes(code)
    buffer, values = pinned(8, np.float32)
    values[:] = 1
    for given in (code, str(file)):
        kernel = ObjectCode.from_ptx(given).get_kernel("scale")
        launch(stream, LaunchConfig(grid=1, block=8), kernel, buffer, np.float32(3))
        stream.sync()

    np.testing.assert_array_equal(values, np.float32(9))


def test_a_kernel_tells_its_attributes_arguments_and_occupancy(stream, compile_ptx):
    kernel = compile_ptx(
        """extern "C" __global__ void __launch_bounds__(256) k(float* x, char c, double d) {
             __shared__ float tile[256];
             tile[threadIdx.x] = d + c;
             __syncthreads();
             x[threadIdx.x] = tile[255 - threadIdx.x];
           }"""
    ).get_kernel("k")

    attributes = kernel.attributes
    assert attributes.max_threads_per_block == 256
    assert attributes.shared_size_bytes == 1024
    assert attributes.num_regs > 0
    assert attributes.ptx_version > 0
    assert kernel.num_arguments == 3
    assert [(a.offset, a.size) for a in kernel.arguments_info] == [(0, 8), (8, 1), (16, 8)]
    occupancy = kernel.occupancy
    assert occupancy.max_active_blocks_per_multiprocessor(256, 0) >= 1
    assert 0 < occupancy.max_potential_block_size(0, 0).max_block_size <= 256
    assert occupancy.available_dynamic_shared_memory_per_block(1, 256) > 0
    assert Kernel.from_handle(int(kernel.handle)).num_arguments == 3


def test_dynamic_shared_memory(stream, compile_ptx):
    kernel = compile_ptx(
        """extern "C" __global__ void reverse(int* x) {
             extern __shared__ int tile[];
             tile[threadIdx.x] = x[threadIdx.x];
             __syncthreads();
             x[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
           }"""
    ).get_kernel("reverse")
    buffer, values = pinned(512, np.int32)
    values[:] = np.arange(512)
    launch(stream, LaunchConfig(grid=1, block=512, shmem_size=2048), kernel, buffer)
    stream.sync()

    np.testing.assert_array_equal(values, np.arange(512)[::-1])


def test_a_cluster_reads_its_other_blocks_shared_memory(stream, compile_ptx):
    # Without cooperative groups, whose headers come with the toolkit.
    kernel = compile_ptx(
        r"""extern "C" __global__ void neighbours(unsigned* out) {
              __shared__ unsigned mine;
              unsigned rank, size, remote, value;
              asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
              asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
              if (threadIdx.x == 0) mine = blockIdx.x + 100;
              asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
                           ::: "memory");
              unsigned address = (unsigned)__cvta_generic_to_shared(&mine);
              asm("mapa.shared::cluster.u32 %0, %1, %2;"
                  : "=r"(remote) : "r"(address), "r"((rank + 1) % size));
              asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(remote));
              if (threadIdx.x == 0) out[blockIdx.x] = value;
              asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
                           ::: "memory");
            }"""
    ).get_kernel("neighbours")
    buffer, values = pinned(8, np.uint32)
    config = LaunchConfig(grid=2, cluster=4, block=32)
    launch(stream, config, kernel, buffer)
    stream.sync()

    np.testing.assert_array_equal(values, [101, 102, 103, 100, 105, 106, 107, 104])
    assert kernel.occupancy.max_active_clusters(config, stream=stream) >= 1


def test_a_cooperative_launch(stream, compile_ptx):
    kernel = compile_ptx(
        """extern "C" __global__ void meet(unsigned* count, unsigned* seen) {
             __threadfence();
             atomicAdd(count, 1u);
             while (atomicAdd(count, 0u) < gridDim.x) {}
             seen[blockIdx.x] = *count;
           }"""
    ).get_kernel("meet")
    buffer, values = pinned(9, np.uint32)
    values[:] = 0
    launch(
        stream,
        LaunchConfig(grid=8, block=1, is_cooperative=True),
        kernel,
        buffer,
        int(buffer.handle) + 4,
    )
    stream.sync()

    np.testing.assert_array_equal(values, np.full(9, 8))


def test_arguments_of_every_kind(stream, compile_ptx):
    kernel = compile_ptx(
        """extern "C" __global__ void sum(double* out, bool a, signed char b, short c, int d,
                                          long long e, float f, double g, unsigned char h) {
             *out = g + a + b + c + d + e + f + h;
           }"""
    ).get_kernel("sum")
    buffer, values = pinned(1, np.float64)
    launch(
        stream,
        LaunchConfig(grid=1, block=1),
        kernel,
        buffer,
        True,
        np.int8(-2),
        ctypes.c_short(300),
        np.int32(-40000),
        np.int64(1 << 40),
        np.float32(0.5),
        ctypes.c_double(0.25),
        np.uint8(255),
    )
    stream.sync()

    assert values[0] == 1 - 2 + 300 - 40000 + (1 << 40) + 0.5 + 0.25 + 255


def test_a_decorated_function_takes_arrays(stream):
    @args_viewable_as_strided_memory((0,))
    def shape(array):
        return array.view(-1).shape

    assert shape(np.zeros((3, 5))) == (3, 5)


def test_linked_ptx_of_two_sources(stream, compile_ptx):
    """nvJitLink makes PTX from LTO IR; from PTX it would make a cubin."""
    main, other = (
        Program(
            source,
            "c++",
            ProgramOptions(arch="sm_90", relocatable_device_code=True, link_time_optimization=True),
        ).compile("ltoir")
        for source in (
            """extern __device__ int twice(int);
               extern "C" __global__ void k(int* x) { *x = twice(*x); }""",
            "__device__ int twice(int x) { return 2 * x; }",
        )
    )
    options = LinkerOptions(arch="sm_90", link_time_optimization=True, ptx=True)
    kernel = Linker(main, other, options=options).link("ptx").get_kernel("k")
    buffer, values = pinned(1, np.int32)
    values[0] = 21
    launch(stream, LaunchConfig(grid=1, block=1), kernel, buffer)
    stream.sync()

    assert values[0] == 42


def test_machine_code_is_refused(device):
    code = Program(SCALE, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")

    with pytest.raises(Exception, match="NO_BINARY_FOR_GPU"):
        code.get_kernel("scale")


def test_a_kernel_that_is_not_there(compile_ptx):
    with pytest.raises(Exception, match="NOT_FOUND"):
        compile_ptx(SCALE).get_kernel("missing")


@pytest.mark.parametrize(
    "config",
    [LaunchConfig(grid=1, block=1025), LaunchConfig(grid=1, block=1, shmem_size=1 << 20)],
    ids=["threads", "shared memory"],
)
def test_a_launch_past_the_limits(stream, compile_ptx, config):
    buffer, _ = pinned(1, np.float32)

    with pytest.raises(Exception, match="INVALID_VALUE"):
        launch(stream, config, compile_ptx(SCALE).get_kernel("scale"), buffer, np.float32(1))
    stream.sync()


def test_a_graph_runs_each_time_it_is_launched(device, stream, compile_ptx):
    kernel = compile_ptx(SCALE).get_kernel("scale")
    buffer, values = pinned(8, np.float32)
    values[:] = 1
    config = LaunchConfig(grid=1, block=8)
    builder = device.create_graph_builder().begin_building()
    launch(builder, config, kernel, buffer, np.float32(3))
    left, right = builder.split(2)
    launch(left, config, kernel, buffer, np.float32(5))
    joined = type(builder).join(left, right)
    graph = joined.end_building().complete()
    assert (values == 1).all()

    for _ in range(2):
        graph.launch(stream)
    stream.sync()

    assert (values == 15 * 15).all()
