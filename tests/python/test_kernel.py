# SPDX-License-Identifier: Apache-2.0
"""Kernel: names, signature, attributes, occupancy."""

import gc
from typing import Any

import pytest
from cudacore import (
    Device,
    Kernel,
    LaunchConfig,
    MaxPotentialBlockSizeOccupancyResult,
    ObjectCode,
    Signature,
    Stream,
)
from harness import build, host_bytes, ptx

SOURCE = """
template <typename T> __global__ void axpy(T a, const T* x, T* y, size_t n) {
  extern __shared__ char bytes[];
  size_t i = threadIdx.x;
  bytes[i] = 0;
  if (i < n) y[i] += a * x[i];
}
namespace ns { __global__ void inside(int* out) { *out = 5; } }
__global__ void fixed() { __shared__ volatile int words[100]; words[threadIdx.x] = 1; }
"""


@pytest.fixture(scope="module")
def code(device: Device) -> ObjectCode:
    return build(SOURCE, "axpy<float>", "axpy<double>")


@pytest.fixture(scope="module")
def axpy(code: ObjectCode) -> Kernel:
    return code.get_kernel("axpy<float>")


def test_describes_itself(axpy: Kernel) -> None:
    assert axpy.name == "axpy<float>"
    assert axpy.handle != 0
    assert str(axpy.signature) == "axpy<float>(float a, float const* x, float* y, unsigned long n)"
    assert "axpy<float>" in repr(axpy)


@pytest.mark.parametrize(
    "name", ["axpy<float>", "axpy< float >", b"axpy<float>", "axpy<double>", "ns::inside", "inside"]
)
def test_is_found_by_name(code: ObjectCode, name: str | bytes) -> None:
    assert code.get_kernel(name).handle != 0


def test_symbol_and_name_are_one_kernel(code: ObjectCode, axpy: Kernel) -> None:
    twin = code.get_kernel(code.symbol_mapping["axpy<float>"])
    assert twin == axpy
    assert hash(twin) == hash(axpy)
    assert axpy != code.get_kernel("axpy<double>")
    assert axpy != "axpy<float>"


def test_unknown_name_lists_what_there_is(code: ObjectCode) -> None:
    with pytest.raises(ValueError, match="nothing_like_it") as caught:
        code.get_kernel("nothing_like_it")
    for name in code.kernels:
        assert name in str(caught.value)


def test_ambiguous_name_lists_the_candidates(code: ObjectCode) -> None:
    with pytest.raises(ValueError, match="axpy<double>"):
        code.get_kernel("axpy")


def test_has_no_public_constructor() -> None:
    with pytest.raises(TypeError, match=r"get_kernel|from_handle"):
        Kernel()


def test_arguments(axpy: Kernel) -> None:
    assert axpy.num_arguments == 4
    info = axpy.arguments_info
    assert [(one.offset, one.size) for one in info] == [(0, 4), (8, 8), (16, 8), (24, 8)]
    assert [one.name for one in info] == ["a", "x", "y", "n"]


@pytest.mark.parametrize(
    ("name", "at_least"),
    [("max_threads_per_block", 32), ("shared_size_bytes", 400), ("const_size_bytes", 0),
     ("local_size_bytes", 0), ("num_regs", 1), ("ptx_version", 50), ("binary_version", 50)],
)  # fmt: skip
def test_attributes_to_read(code: ObjectCode, name: str, at_least: int) -> None:
    attributes = code.get_kernel("fixed").attributes
    assert getattr(attributes, name) >= at_least
    with pytest.raises(AttributeError):
        setattr(attributes, name, 1)


def test_flags(axpy: Kernel) -> None:
    assert axpy.attributes.cache_mode_ca is False
    assert axpy.attributes.cluster_size_must_be_set is False


@pytest.mark.parametrize(
    ("name", "value"),
    [("max_dynamic_shared_size_bytes", 50_000), ("preferred_shared_memory_carveout", 50),
     ("non_portable_cluster_size_allowed", True), ("cluster_scheduling_policy_preference", 1)],
)  # fmt: skip
def test_attributes_to_set(name: str, value: int, device: Device) -> None:
    kernel = build(SOURCE, "axpy<float>").get_kernel("axpy<float>")
    setattr(kernel.attributes, name, value)
    assert getattr(kernel.attributes, name) == value
    assert getattr(kernel.attributes[device], name) == value
    assert getattr(kernel.attributes[device.device_id], name) == value


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [("max_dynamic_shared_size_bytes", 1 << 30, ValueError),
     ("max_dynamic_shared_size_bytes", -1, (ValueError, OverflowError)),
     ("max_dynamic_shared_size_bytes", "1", TypeError),
     ("preferred_shared_memory_carveout", 1000, ValueError)],
)  # fmt: skip
def test_bad_attribute_is_refused(axpy: Kernel, name: str, value: Any, error: Any) -> None:
    with pytest.raises(error):
        setattr(axpy.attributes, name, value)


def test_attributes_of_a_device_that_is_not_there(axpy: Kernel) -> None:
    with pytest.raises(ValueError, match="1000"):
        axpy.attributes[1000]


class TestOccupancy:
    def test_blocks_per_multiprocessor(self, axpy: Kernel, device: Device) -> None:
        count = axpy.occupancy.max_active_blocks_per_multiprocessor(1024, 0)
        assert 1 <= count <= device.properties.max_blocks_per_multiprocessor
        assert axpy.occupancy.max_active_blocks_per_multiprocessor(1024, 40_000) <= count

    def test_block_size(self, axpy: Kernel) -> None:
        result = axpy.occupancy.max_potential_block_size(0, 0)
        assert isinstance(result, MaxPotentialBlockSizeOccupancyResult)
        assert result.max_block_size % 32 == 0
        assert result.min_grid_size >= 1
        assert axpy.occupancy.max_potential_block_size(0, 64).max_block_size <= 64

    def test_block_size_with_a_python_function(self, axpy: Kernel, device: Device) -> None:
        asked: list[int] = []
        most = device.properties.max_shared_memory_per_block

        def needed(block_size: int) -> int:
            asked.append(block_size)
            return 0 if block_size <= 128 else most * 2

        result = axpy.occupancy.max_potential_block_size(needed, 0)
        assert 0 < result.max_block_size <= 128
        assert asked
        assert all(isinstance(size, int) for size in asked)

    def test_function_agrees_with_a_constant(self, axpy: Kernel) -> None:
        occupancy = axpy.occupancy
        assert occupancy.max_potential_block_size(
            lambda _: 1024, 0
        ) == occupancy.max_potential_block_size(1024, 0)

    def test_error_of_the_function_goes_through(self, axpy: Kernel) -> None:
        def broken(_block_size: int) -> int:
            raise LookupError("mine")

        with pytest.raises(LookupError, match="mine"):
            axpy.occupancy.max_potential_block_size(broken, 0)

    @pytest.mark.parametrize("answer", [None, "1", 1.5, -1])
    def test_wrong_answer_of_the_function(self, axpy: Kernel, answer: Any) -> None:
        with pytest.raises((TypeError, ValueError, OverflowError)):
            axpy.occupancy.max_potential_block_size(lambda _: answer, 0)

    @pytest.mark.parametrize("shared", ["1", None, 1.5])
    def test_shared_memory_of_wrong_type(self, axpy: Kernel, shared: Any) -> None:
        with pytest.raises(TypeError):
            axpy.occupancy.max_potential_block_size(shared, 0)

    def test_shared_memory_left(self, axpy: Kernel, device: Device) -> None:
        left = axpy.occupancy.available_dynamic_shared_memory_per_block(1, 128)
        assert 0 < left <= device.properties.max_shared_memory_per_multiprocessor

    def test_clusters(self, axpy: Kernel, device: Device, stream: Stream) -> None:
        if device.compute_capability < (9, 0):
            pytest.skip("clusters need compute capability 9.0")
        config = LaunchConfig(grid=4, cluster=2, block=128)
        assert axpy.occupancy.max_active_clusters(config, stream=stream) >= 1
        assert axpy.occupancy.max_potential_cluster_size(config, stream=stream) >= 2
        assert axpy.occupancy.max_active_clusters(config) >= 1


class TestSignature:
    def test_may_be_declared(self, code: ObjectCode, stream: Stream, pinned: Any) -> None:
        kernel = code.get_kernel("inside", signature="(int* result)")
        assert kernel.signature[0].name == "result"
        result = pinned(4)
        kernel[1, 1, stream](result)
        stream.sync()
        assert host_bytes(result) == b"\5\0\0\0"

    @pytest.mark.parametrize("declared", ["(int, int)", "()", "(int)", "(float* a, float b)"])
    def test_that_contradicts_the_driver_is_refused(self, code: ObjectCode, declared: str) -> None:
        with pytest.raises(ValueError, match="inside"):
            code.get_kernel("inside").with_signature(declared)

    def test_may_be_an_object(self, code: ObjectCode) -> None:
        kernel = code.get_kernel("inside").with_signature(Signature("(float* out)"))
        assert kernel == code.get_kernel("inside")
        assert kernel.signature[0].type == "float*"

    def test_of_a_borrowed_handle_has_sizes(self, axpy: Kernel) -> None:
        borrowed = Kernel.from_handle(axpy.handle)
        assert [one.size for one in borrowed.arguments_info] == [4, 8, 8, 8]
        assert borrowed == axpy


def test_from_handle_keeps_its_module(device: Device, stream: Stream, pinned: Any) -> None:
    code = build("__global__ void five(int* out) { *out = 5; }")
    kernel = Kernel.from_handle(code.get_kernel("five").handle, code)
    del code
    gc.collect()
    result = pinned(4)
    kernel[1, 1, stream](result)
    device.sync()
    assert host_bytes(result) == b"\5\0\0\0"


def test_from_handle_finds_the_module(device: Device, stream: Stream, pinned: Any) -> None:
    code = build("__global__ void eight(int* out) { *out = 8; }")
    kernel = Kernel.from_handle(code.get_kernel("eight").handle)
    del code
    gc.collect()
    result = pinned(4)
    kernel[1, 1, stream](result)
    device.sync()
    assert host_bytes(result) == b"\x08\0\0\0"


def test_kernel_keeps_its_library(stream: Stream, pinned: Any) -> None:
    kernel = build("__global__ void six(int* out) { *out = 6; }").get_kernel("six")
    gc.collect()
    result = pinned(4)
    kernel[1, 1, stream](result)
    stream.sync()
    assert host_bytes(result) == b"\6\0\0\0"


BAD_PTX = b".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { nonsense; }\n"


@pytest.mark.parametrize(
    ("kind", "module"),
    [("cubin", b"\x7fELF garbage"), ("ptx", BAD_PTX), ("fatbin", b"no fatbin"), ("cubin", b"")],
)
def test_corrupt_code_is_refused_by_name(device: Device, kind: str, module: bytes) -> None:

    def load() -> Kernel:
        make = getattr(ObjectCode, f"from_{kind}")
        return make(module, name="the damaged one").get_kernel("k")

    with pytest.raises((ValueError, RuntimeError), match="the damaged one"):
        load()


def test_ptx_that_the_driver_refuses_says_why(device: Device) -> None:
    text = ptx("__global__ void k() {}").code.decode().replace(".version 9", ".version 99")
    text = text.replace(".version 8", ".version 99")
    code = ObjectCode.from_ptx(text.encode())
    with pytest.raises(RuntimeError) as caught:
        code.get_kernel("k")
    assert "cubin" in str(caught.value)


def test_lto_ir_must_be_linked_first(device: Device) -> None:
    with pytest.raises((ValueError, RuntimeError), match="Linker"):
        ObjectCode.from_ltoir(b"something").get_kernel("k")
