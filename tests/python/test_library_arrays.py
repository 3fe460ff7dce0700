# SPDX-License-Identifier: Apache-2.0
"""Arrays of PyTorch, CuPy, JAX and numba where they are installed; a library that takes any."""

import ctypes
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from cudacore import Buffer, Device, Kernel, Stream
from foreign_arrays import CUDA_HOST, DEVICE_ARRAYS
from harness import ROOT, build

SOURCE = """
#include <cuda/std/complex>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

__global__ void scale(float* y, const float* x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i];
}
template <typename T> __global__ void take(const T* x) {}
__global__ void spin(long long cycles, float* x) {
  const long long start = clock64();
  while (clock64() - start < cycles) {}
  *x = 7;
}
"""

TYPES = ["__half", "__nv_bfloat16", "__nv_fp8_e4m3", "__nv_fp8_e5m2", "bool", "signed char",
         "unsigned char", "short", "int", "long long", "float", "double",
         "cuda::std::complex<float>", "cuda::std::complex<double>"]  # fmt: skip
gpu = pytest.mark.gpu_only(reason="the library needs a GPU")


@pytest.fixture(scope="module")
def scale(device: Device) -> Kernel:
    return build(SOURCE).get_kernel("scale")


@pytest.fixture(scope="module")
def normalize() -> Iterator[Callable[..., None]]:
    folder = str(ROOT / "tests" / "packaging" / "any_array")
    sys.path.insert(0, folder)
    import rows

    yield rows.normalize
    sys.path.remove(folder)


class TestLibrary:
    @pytest.mark.parametrize("array", DEVICE_ARRAYS)
    @pytest.mark.parametrize("strides", [(4, 1), (1, 4)])
    def test_arrays_of_each_protocol(
        self, normalize: Any, stream: Stream, pinned: Any, array: Any, strides: Any
    ) -> None:
        buffer: Buffer = pinned(64)
        whole = np.frombuffer((ctypes.c_char * 64).from_address(buffer.handle), np.float32)
        whole[:] = range(1, 17)
        view = np.lib.stride_tricks.as_strided(whole, (4, 4), [4 * stride for stride in strides])
        expected = view / view.sum(axis=1, keepdims=True)
        normalize(
            array(buffer.handle, (4, 4), strides=strides, device=(CUDA_HOST, 0)), stream=stream
        )
        stream.sync()
        np.testing.assert_allclose(view, expected, rtol=1e-6)

    @pytest.mark.parametrize("wrong", [np.float64, np.int32])
    def test_refusal_names_the_parameter(self, normalize: Any, pinned: Any, wrong: Any) -> None:
        array = DEVICE_ARRAYS[0](pinned(128).handle, (4, 4), wrong, device=(CUDA_HOST, 0))
        with pytest.raises(TypeError, match=r"normalize: argument 1 'a'.*its elements are"):
            normalize(array)

    @gpu
    @pytest.mark.parametrize("name", ["torch", "cupy", "numba.cuda"])
    def test_real_libraries(self, normalize: Any, name: str) -> None:
        library = pytest.importorskip(name)
        values = np.random.default_rng(1).random((100, 33), np.float32)
        expected = values / values.sum(axis=1, keepdims=True)
        if name == "torch":
            array = library.from_numpy(values).cuda()
        else:
            array = library.asarray(values) if name == "cupy" else library.to_device(values)
        normalize(array)
        result = array.copy_to_host() if name == "numba.cuda" else array
        result = result.cpu().numpy() if name == "torch" else result
        result = library.asnumpy(result) if name == "cupy" else result
        np.testing.assert_allclose(result, expected, rtol=1e-5)


class TestTorch:
    @pytest.fixture
    def torch(self) -> Any:
        return pytest.importorskip("torch")

    def test_cpu_tensor_is_told_where_it_lives(
        self, device: Device, torch: Any, scale: Kernel
    ) -> None:
        if device.properties.pageable_memory_access:
            pytest.skip("this device reads it")
        with pytest.raises(TypeError, match=r"'x' .*Tensor: it lives on the host"):
            scale[1, 1](0, torch.zeros(4), 1.0, 4)

    def test_what_does_not_fit_is_said_of_cpu_tensors_too(self, torch: Any, scale: Kernel) -> None:
        with pytest.raises(TypeError, match="argument 2 'x'"):
            scale[1, 1](0, torch.zeros(4, dtype=torch.float64), 1.0, 4)

    @gpu
    def test_launch(self, torch: Any, scale: Kernel) -> None:
        x = torch.arange(1000, dtype=torch.float32, device="cuda")
        y = torch.empty_like(x)
        scale[8, 128, torch.cuda.current_stream()](y, x, 3.0, 1000)
        assert torch.equal(y, 3 * x)
        parameter = torch.nn.Parameter(x)
        scale[8, 128](y, parameter, 2.0, 1000)
        assert torch.equal(y, 2 * x)

    @gpu
    def test_streams_are_ordered(self, device: Device, torch: Any, scale: Kernel) -> None:
        spin = build(SOURCE).get_kernel("spin")
        stream = device.create_stream()
        x = torch.zeros(1, device="cuda")
        y = torch.zeros(1, device="cuda")
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            spin[1, 1, side](100_000_000, x)
            scale[1, 1, stream](y, x, 2.0, 1)  # waits for the side stream
            z = y + 1  # waits for our stream
        torch.cuda.current_stream().wait_stream(side)
        assert z.item() == 15

    @gpu
    def test_memory_is_used_again_behind_the_launch(self, device: Device, torch: Any) -> None:
        spin = build(SOURCE).get_kernel("spin")
        stream = device.create_stream()
        for _ in range(20):
            x = torch.zeros(1 << 20, device="cuda")
            spin[1, 1, stream](10_000_000, x)
            del x
            again = torch.ones(1 << 20, device="cuda")
            torch.cuda.synchronize()
            assert again[0].item() == 1

    @gpu
    @pytest.mark.parametrize("name", TYPES)
    def test_types(self, torch: Any, name: str) -> None:
        types = dict(
            zip(
                TYPES,
                (torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2, torch.bool,
                 torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.float32,
                 torch.float64, torch.complex64, torch.complex128),
                strict=True,
            )
        )  # fmt: skip
        take = build(SOURCE, f"take<{name}>").get_kernel(f"take<{name}>")
        tensor = torch.zeros(8, device="cuda").to(types[name])
        take[1, 1](tensor)
        other = torch.float64 if types[name] != torch.float64 else torch.float32
        with pytest.raises(TypeError, match="its elements are float"):
            take[1, 1](tensor.to(other) if not tensor.is_complex() else tensor.real.to(other))

    @gpu
    def test_refusals(self, torch: Any, scale: Kernel) -> None:
        x = torch.zeros(8, 8, device="cuda")
        with pytest.raises(TypeError, match="it is not C-contiguous"):
            scale[1, 1](x, x.t(), 1.0, 1)
        with pytest.raises(TypeError, match=r"pass one element"):
            scale[1, 1](x, x, x[0, 0], 1)
        torch.cuda.synchronize()

    @gpu
    def test_pinned_tensor(self, torch: Any, scale: Kernel) -> None:
        x = torch.ones(16, pin_memory=True)
        scale[1, 32](x, x, 2.0, 16)
        torch.cuda.synchronize()
        assert x.tolist() == [2.0] * 16

    @gpu
    def test_graph_capture(self, torch: Any, scale: Kernel) -> None:
        x = torch.ones(16, device="cuda")
        y = torch.zeros(16, device="cuda")
        scale[1, 32](y, x, 1.0, 16)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            scale[1, 32, torch.cuda.current_stream()](y, x, 5.0, 16)
        x.fill_(2)
        graph.replay()
        torch.cuda.synchronize()
        assert y.tolist() == [10.0] * 16


@gpu
class TestCupy:
    @pytest.fixture
    def cupy(self) -> Any:
        return pytest.importorskip("cupy")

    def test_launch(self, cupy: Any, scale: Kernel) -> None:
        x = cupy.arange(1000, dtype=cupy.float32)
        y = cupy.empty_like(x)
        scale[8, 128](y, x, 3.0, 1000)
        assert cupy.array_equal(y, 3 * x)

    def test_other_stream(self, cupy: Any, device: Device, scale: Kernel) -> None:
        stream = device.create_stream()
        with cupy.cuda.Stream(non_blocking=True):
            x = cupy.random.default_rng(1).random(1 << 20, dtype=cupy.float32)
            y = cupy.empty_like(x)
            scale[1 << 12, 256, stream](y, x, 2.0, 1 << 20)
            assert cupy.array_equal(y, 2 * x)

    def test_refusals(self, cupy: Any, scale: Kernel) -> None:
        x = cupy.zeros((8, 8), cupy.float32)
        with pytest.raises(TypeError, match="it is not C-contiguous"):
            scale[1, 1](x, x.T, 1.0, 1)
        with pytest.raises(TypeError, match="its elements are float64, not float"):
            scale[1, 1](x, x.astype(cupy.float64), 1.0, 1)

    def test_managed_and_pinned(self, cupy: Any, scale: Kernel) -> None:
        with cupy.cuda.using_allocator(cupy.cuda.malloc_managed):
            x = cupy.ones(16, cupy.float32)
        cupyx = pytest.importorskip("cupyx")
        y = cupyx.zeros_pinned(16, np.float32)
        scale[1, 32](y, x, 4.0, 16)
        cupy.cuda.Device().synchronize()
        assert y.tolist() == [4.0] * 16


class TestJax:
    @pytest.fixture
    def jax(self) -> Any:
        return pytest.importorskip("jax")

    def test_array_on_the_host(self, jax: Any, device: Device, scale: Kernel) -> None:
        if device.properties.pageable_memory_access:
            pytest.skip("this device reads it")
        array = jax.device_put(np.ones(4, np.float32), jax.devices("cpu")[0])
        with pytest.raises(TypeError, match="argument 2 'x'"):
            scale[1, 1](0, array, 1.0, 4)

    @gpu
    def test_launch(self, jax: Any, device: Device, scale: Kernel, pinned: Any) -> None:
        x = jax.numpy.arange(16, dtype=jax.numpy.float32)
        out = pinned(64)
        scale[1, 32](out, x, 3.0, 16)
        device.sync()
        assert list((ctypes.c_float * 16).from_address(out.handle)) == [3.0 * i for i in range(16)]


@gpu
class TestNumba:
    def test_launch(self, scale: Kernel) -> None:
        cuda = pytest.importorskip("numba.cuda")
        x = cuda.to_device(np.arange(100, dtype=np.float32))
        y = cuda.device_array(100, np.float32)
        scale[1, 128](y, x, 3.0, 100)
        assert y.copy_to_host().tolist() == [3.0 * i for i in range(100)]
        pinned = cuda.pinned_array(100, np.float32)
        pinned[:] = 1
        scale[1, 128](y, pinned, 2.0, 100)
        assert y.copy_to_host().tolist() == [2.0] * 100
