# SPDX-License-Identifier: Apache-2.0
"""Launching: shapes, forms, streams, counts."""

import struct
from collections.abc import Callable
from typing import Any

import pytest
from cudacore import (
    Buffer,
    CUDAError,
    Device,
    Kernel,
    LaunchConfig,
    Launcher,
    ObjectCode,
    Stream,
    launch,
)
from harness import build, host_bytes

SOURCE = """
__global__ void shape(unsigned* out) {
  if (threadIdx.x + threadIdx.y + threadIdx.z + blockIdx.x + blockIdx.y + blockIdx.z) return;
  unsigned dynamic;
  asm("mov.u32 %0, %dynamic_smem_size;" : "=r"(dynamic));
  unsigned values[] = {gridDim.x,  gridDim.y,  gridDim.z, blockDim.x,
                       blockDim.y, blockDim.z, dynamic};
  for (int i = 0; i < 7; ++i) out[i] = values[i];
}
template <typename T> __global__ void fill(T* out, T value, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = value;
}
__global__ void shared_sum(int* out) {
  extern __shared__ int words[];
  unsigned bytes;
  asm("mov.u32 %0, %dynamic_smem_size;" : "=r"(bytes));
  words[bytes / 4 - 1] = 42;
  *out = words[bytes / 4 - 1];
}
namespace ns { __global__ void nothing() {} }
"""
CLUSTER = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void cluster(unsigned* out) {
  if (cg::this_grid().thread_rank() == 0) {
    out[0] = cg::this_cluster().num_blocks();
    out[1] = gridDim.x;
  }
}
"""
COOPERATIVE = """
#include <cooperative_groups.h>
__global__ void together(int* out) {
  atomicAdd(out, 1);
  cooperative_groups::this_grid().sync();
  if (blockIdx.x == 0 && threadIdx.x == 0) out[1] = out[0];
}
"""


@pytest.fixture(scope="module")
def code(device: Device) -> ObjectCode:
    return build(SOURCE, "fill<float>", "fill<int>")


@pytest.fixture(scope="module")
def shape(code: ObjectCode) -> Kernel:
    return code.get_kernel("shape")


@pytest.fixture
def words(pinned: Callable[[int], Buffer]) -> Buffer:
    return pinned(64)


def unpack(buffer: Buffer, count: int) -> tuple[int, ...]:
    return struct.unpack_from(f"<{count}I", host_bytes(buffer))


FORMS: dict[str, Callable[[Kernel, Stream, Buffer], object]] = {
    "launch": lambda k, s, b: launch(s, LaunchConfig(grid=(2, 3), block=(4, 5, 6)), k, b),
    "launch, dictionary": lambda k, s, b: launch(s, {"grid": (2, 3), "block": (4, 5, 6)}, k, b),
    "brackets": lambda k, s, b: k[(2, 3), (4, 5, 6), s](b),
    "brackets, lists": lambda k, s, b: k[[2, 3], [4, 5, 6], s, 0](b),
    "brackets, config": lambda k, _s, b: k.__getitem__(
        LaunchConfig(grid=(2, 3), block=(4, 5, 6)))(b),
    "bound": lambda k, s, b: [bound := k[(2, 3), (4, 5, 6), s], bound(b), bound(b)],
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_forms(shape: Kernel, stream: Stream, words: Buffer, form: str) -> None:
    with stream:
        FORMS[form](shape, stream, words)
    stream.sync()
    assert unpack(words, 7) == (2, 3, 1, 4, 5, 6, 0)


def test_launcher_tells_what_it_holds(shape: Kernel, stream: Stream) -> None:
    bound = shape[2, 64, stream, 128]
    assert isinstance(bound, Launcher)
    assert bound.kernel == shape
    assert bound.stream == stream
    assert bound.config == LaunchConfig(grid=2, block=64, shmem_size=128)
    assert shape[2, 64].stream is None
    assert "shape" in repr(bound)


def test_launcher_returns_none(code: ObjectCode, stream: Stream) -> None:
    assert code.get_kernel("nothing")[1, 1, stream]() is None  # type: ignore[func-returns-value]


def test_launcher_keeps_what_it_needs(stream: Stream, pinned: Callable[[int], Buffer]) -> None:
    bound = build("__global__ void one(int* p) { *p = 1; }").get_kernel("one")[1, 1, stream]
    out = pinned(4)
    bound(out)
    stream.sync()
    assert host_bytes(out) == b"\1\0\0\0"


def test_kernel_itself_cannot_be_called(shape: Kernel) -> None:
    with pytest.raises(TypeError):
        shape()  # type: ignore[operator]


@pytest.mark.parametrize("index", [1, (), (1,), (1, 1, None, 0, 0), "x", (1, "x"), (1.5, 1)])
def test_brackets_of_wrong_form(shape: Kernel, index: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        shape[index]


@pytest.mark.parametrize(
    ("stream", "config", "kernel"),
    [(1, None, None), (None, 5, None), (None, None, "kernel"), ("s", None, None)],
)
def test_launch_of_wrong_type(shape: Kernel, stream: Any, config: Any, kernel: Any) -> None:
    with pytest.raises(TypeError):
        launch(stream, config or LaunchConfig(), kernel or shape)


def test_launch_takes_no_keywords(shape: Kernel, stream: Stream) -> None:
    with pytest.raises(TypeError):
        launch(stream, LaunchConfig(), shape, out=None)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        shape[1, 1](out=None)  # type: ignore[call-arg]


def test_dictionary_with_unknown_field_is_named(shape: Kernel, stream: Stream) -> None:
    with pytest.raises(TypeError, match="blocks"):
        launch(stream, {"grid": 1, "blocks": 1}, shape, None)


@pytest.mark.parametrize("given", [(), (None, None), (None,) * 5])
def test_wrong_count_prints_the_signature(
    shape: Kernel, stream: Stream, given: tuple[None, ...]
) -> None:
    for call in (
        lambda: launch(stream, LaunchConfig(), shape, *given),
        lambda: shape[1, 1](*given),
    ):
        with pytest.raises(TypeError) as caught:
            call()
        assert "shape(unsigned int* out)" in str(caught.value)
        assert str(len(given)) in str(caught.value)


LIMITS = {
    "block": [((1025, 1, 1), "1024"), ((32, 33, 1), "1024"), ((1, 1, 65), "64")],
    "grid": [((1, 65536, 1), "65535"), ((1, 1, 65536), "65535"), (2**31, "2147483647")],
}


@pytest.mark.parametrize(
    ("field", "extent", "limit"),
    [(field, extent, limit) for field in LIMITS for extent, limit in LIMITS[field]],
)
def test_past_the_devices_limit_is_named(
    shape: Kernel, stream: Stream, field: str, extent: Any, limit: str
) -> None:
    with pytest.raises(ValueError, match=field) as caught:
        launch(stream, LaunchConfig(**{field: extent}), shape, None)
    assert limit in str(caught.value)
    assert "shape" in str(caught.value)
    assert stream.is_done


def test_too_much_shared_memory_names_the_limit(
    shape: Kernel, device: Device, stream: Stream, words: Buffer
) -> None:
    with pytest.raises(ValueError, match=str(device.properties.max_shared_memory_per_block_optin)):
        shape[1, 1, stream, 1 << 30](words)


@pytest.mark.parametrize("kib", [1, 47, 48, 49, 64, 96])
def test_large_shared_memory_is_opted_into(
    device: Device, stream: Stream, words: Buffer, kib: int
) -> None:
    size = min(kib * 1024, device.properties.max_shared_memory_per_block_optin)
    kernel = build(SOURCE).get_kernel("shared_sum")
    for _ in range(2):
        kernel[1, 1, stream, size](words)
    kernel[1, 1, stream, 1024](words)
    stream.sync()
    assert unpack(words, 1) == (42,)
    assert kernel.attributes.max_dynamic_shared_size_bytes >= min(size, 48 * 1024)


def test_largest_shared_memory(device: Device, stream: Stream, words: Buffer) -> None:
    size = device.properties.max_shared_memory_per_block_optin
    kernel = build(SOURCE).get_kernel("shared_sum")
    kernel[1, 1, stream, size](words)
    stream.sync()
    assert unpack(words, 1) == (42,)


def test_templates_and_plain_names(code: ObjectCode, stream: Stream, words: Buffer) -> None:
    code.get_kernel("fill<int>")[1, 16, stream](words, 7, 16)
    stream.sync()
    assert unpack(words, 16) == (7,) * 16
    code.get_kernel("fill<float>")[1, 16, stream](words, 7, 8)
    stream.sync()
    assert struct.unpack("<8f", host_bytes(words)[:32]) == (7.0,) * 8
    code.get_kernel("ns::nothing")[1, 1, stream]()


def test_uses_the_current_stream(
    shape: Kernel, stream: Stream, words: Buffer, gate: Any, pinned: Callable[[int], Buffer]
) -> None:
    shape[1, 1, stream](pinned(64))
    stream.sync()
    gate.hold(stream)
    with stream:
        shape[1, 1](words)
        launch(None, LaunchConfig(), shape, words)
    assert unpack(words, 7) == (0,) * 7
    gate.open()
    stream.sync()
    assert unpack(words, 7) == (1,) * 6 + (0,)


def test_any_object_with_a_stream(shape: Kernel, stream: Stream, words: Buffer) -> None:
    class Foreign:
        def __cuda_stream__(self) -> tuple[int, int]:
            return (0, stream.handle)

    launch(Foreign(), LaunchConfig(grid=3), shape, words)
    shape[3, 1, Foreign()](words)
    stream.sync()
    assert unpack(words, 1) == (3,)


def test_closed_stream_is_a_value_error(shape: Kernel, device: Device, words: Buffer) -> None:
    stream = device.create_stream()
    bound = shape[1, 1, stream]
    stream.close()
    for call in (lambda: launch(stream, LaunchConfig(), shape, words),
                 lambda: shape[1, 1, stream](words)):  # fmt: skip
        with pytest.raises(ValueError, match="closed"):
            call()
    bound.kernel[1, 1](words)


@pytest.mark.multi_gpu
def test_one_kernel_runs_on_every_device(code: ObjectCode, device: Device) -> None:
    kernel = code.get_kernel("fill<int>")
    for one in (device, Device(1)):
        stream = one.create_stream()
        with one.allocate(16, stream=stream) as buffer:
            kernel[1, 4, stream](buffer, 9, 4)
            host = bytearray(16)
            buffer.copy_to(host, stream=stream)
            stream.sync()
        assert struct.unpack("<4i", host) == (9,) * 4


class TestAttributes:
    def test_cluster_counts_the_grid_in_clusters(
        self, device: Device, stream: Stream, words: Buffer
    ) -> None:
        kernel = build(CLUSTER).get_kernel("cluster") if device.arch >= "90" else None
        if kernel is None:
            pytest.skip("clusters need compute capability 9.0")
        launch(stream, LaunchConfig(grid=3, cluster=2, block=32), kernel, words)
        stream.sync()
        assert unpack(words, 2) == (2, 6)

    def test_cluster_too_large_names_the_kernel(
        self, device: Device, shape: Kernel, stream: Stream, words: Buffer
    ) -> None:
        with pytest.raises((ValueError, CUDAError), match=r"shape.*cluster"):
            launch(stream, LaunchConfig(grid=1, cluster=1024, block=32), shape, words)

    def test_cooperative_grid_can_sync(self, stream: Stream, words: Buffer) -> None:
        kernel = build(COOPERATIVE).get_kernel("together")
        launch(stream, LaunchConfig(grid=4, block=64, is_cooperative=True), kernel, words)
        stream.sync()
        assert unpack(words, 2) == (256, 256)

    def test_cooperative_grid_too_large_says_so(
        self, device: Device, stream: Stream, words: Buffer
    ) -> None:
        kernel = build(COOPERATIVE).get_kernel("together")
        with pytest.raises((ValueError, RuntimeError), match=r"cooperative|together"):
            launch(stream, LaunchConfig(grid=10**6, block=64, is_cooperative=True), kernel, words)

    def test_programmatic_serialization(
        self, code: ObjectCode, stream: Stream, words: Buffer
    ) -> None:
        config = LaunchConfig(grid=1, block=16, programmatic_stream_serialization=True)
        for value in range(10):
            launch(stream, config, code.get_kernel("fill<int>"), words, value, 16)
        stream.sync()
        assert len(set(unpack(words, 16))) == 1

    @pytest.mark.parametrize("priority", [0, -1])
    def test_priority(self, shape: Kernel, stream: Stream, words: Buffer, priority: int) -> None:
        launch(stream, LaunchConfig(priority=priority), shape, words)
        stream.sync()
        assert unpack(words, 1) == (1,)


class TestCounts:
    @pytest.mark.parametrize("count", [0, 1, 2, 15, 16, 17, 64, 65, 255, 256])
    def test_every_argument_arrives_in_its_place(
        self, stream: Stream, pinned: Callable[[int], Buffer], count: int
    ) -> None:
        parameters = "".join(f", long a{i}" for i in range(count))
        stores = "".join(f"out[{i}] = a{i};" for i in range(count))
        kernel = build(f"__global__ void many(long* out{parameters}) {{ {stores} }}").get_kernel(
            "many"
        )
        assert kernel.num_arguments == count + 1
        values = [(-1) ** i * (2**40 + i) for i in range(count)]
        out = pinned(8 * count + 8)
        kernel[1, 1, stream](out, *values)
        stream.sync()
        assert struct.unpack_from(f"<{count}q", host_bytes(out)) == tuple(values)

    def test_mixed_sizes_are_laid_out_as_the_compiler_does(
        self, stream: Stream, pinned: Callable[[int], Buffer]
    ) -> None:
        source = """
        struct Odd { char a, b, c; };
        __global__ void mixed(double* out, char a, double b, bool c, short d, Odd e, long f,
                              float g) {
          double values[] = {(double)a, b, (double)c, (double)d, (double)e.c, (double)f, g};
          for (int i = 0; i < 7; ++i) out[i] = values[i];
        }"""
        out = pinned(56)
        build(source).get_kernel("mixed")[1, 1, stream](out, -1, 2.5, True, -3, b"\1\2\3", 5, 6.5)
        stream.sync()
        assert struct.unpack("<7d", host_bytes(out)) == (-1, 2.5, 1, -3, 3, 5, 6.5)
