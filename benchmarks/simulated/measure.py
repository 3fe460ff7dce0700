# SPDX-License-Identifier: Apache-2.0
"""Runs kernels on the simulated device in this process, as configured by the environment.

Prints JSON: for each kernel, the number of thread instructions, if counted, and seconds, both by
the clock and of processor time, which other programs on the machine disturb less.
"""

from __future__ import annotations

import ctypes
import json
import os
import random
import sys
from array import array
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any, NamedTuple

import cudacore
from cudacore import Buffer, Device, Kernel, ObjectCode, Program, ProgramOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SOURCE = Path(__file__).with_name("kernels.cu")
PRODUCTS = Path(__file__).with_name("products.cu")
COUNTING = os.environ.get("CUDACORE_SIMULATOR_COUNT") == "1"


class Work(NamedTuple):
    """A launch with some hundred million thread instructions, and how to check its result."""

    name: str
    run: Callable[[], object]
    check: Callable[[], bool]


class Bench:
    def __init__(self) -> None:
        self.device = Device()
        self.device.set_current()
        self.stream = self.device.create_stream()
        self.code = self.compile()

    def compile(self) -> ObjectCode:
        options = ProgramOptions(arch="sm_90")
        names = ("matmul<16>", "matmul<32>")
        return Program(SOURCE.read_text(), "c++", options).compile("ptx", names)

    def kernel(self, name: str) -> Kernel:
        return self.code.get_kernel(name)

    def upload(self, values: array[float] | array[int]) -> Buffer:
        buffer = self.device.allocate(len(values) * values.itemsize, stream=self.stream)
        buffer.copy_from(values, stream=self.stream)
        return buffer

    def download(self, buffer: Buffer, code: str) -> array[Any]:
        values: array[Any] = array(code, bytes(buffer.size))
        buffer.copy_to(values, stream=self.stream)
        self.stream.sync()
        return values

    def matmul(self, tile: int, n: int) -> Work:
        rng = random.Random(1)
        host_a, host_b = (array("f", (rng.random() for _ in range(n * n))) for _ in range(2))
        a, b = self.upload(host_a), self.upload(host_b)
        c = self.device.allocate(4 * n * n, stream=self.stream)
        kernel = self.kernel(f"matmul<{tile}>")
        launcher = kernel[(n // tile, n // tile), (tile, tile), self.stream]

        def check() -> bool:
            out = self.download(c, "f")
            for _ in range(50):
                row, column = rng.randrange(n), rng.randrange(n)
                exact = sum(host_a[row * n + k] * host_b[k * n + column] for k in range(n))
                if abs(out[row * n + column] - exact) > 1e-4 * exact:
                    return False
            return True

        return Work(f"matmul_{tile}", lambda: launcher(n, a, b, c), check)

    def saxpy(self, n: int) -> Work:
        x, y = self.upload(array("f", [2.0]) * n), self.upload(array("f", [1.0]) * n)
        launcher = self.kernel("saxpy")[256, 256, self.stream]
        runs = 0

        def run() -> None:
            nonlocal runs
            runs += 1
            launcher(n, 0.5, x, y)

        return Work("saxpy", run, lambda: set(self.download(y, "f")) == {1.0 + runs})

    def reduce(self, n: int, blocks: int = 256) -> Work:
        x = self.upload(array("f", [1.0]) * n)
        sums = self.device.allocate(4 * blocks, stream=self.stream)
        launcher = self.kernel("reduce")[blocks, 256, self.stream]
        return Work(
            "reduce",
            lambda: launcher(n, x, sums),
            lambda: sum(self.download(sums, "f")) == n,
        )

    def mandelbrot(self, width: int, height: int, limit: int) -> Work:
        counts = self.device.allocate(4 * width * height, stream=self.stream)
        shape = ((width + 31) // 32, (height + 7) // 8)
        launcher = self.kernel("mandelbrot")[shape, (32, 8), self.stream]

        def check() -> bool:
            out = self.download(counts, "i")
            return bool(out[height // 2 * width + width * 2 // 3] == limit and out[0] == 1)

        return Work("mandelbrot", lambda: launcher(width, height, limit, counts), check)

    def search(self, n: int, keys: int) -> Work:
        rng = random.Random(2)
        wanted = array("i", (rng.randrange(2 * n) for _ in range(keys)))
        data = self.upload(array("i", range(0, 2 * n, 2)))
        asked = self.upload(wanted)
        places = self.device.allocate(4 * keys, stream=self.stream)
        launcher = self.kernel("search")[keys // 256, 256, self.stream]
        return Work(
            "search",
            lambda: launcher(n, data, asked, places),
            lambda: list(self.download(places, "i")) == [(key + 1) // 2 for key in wanted],
        )

    def works(self) -> Iterator[Work]:
        yield self.saxpy(1 << 23)
        yield self.reduce(1 << 23)
        yield self.matmul(16, 512)
        yield self.matmul(32, 512)
        yield self.mandelbrot(1024, 1024, 256)
        yield self.search(1 << 20, 1 << 19)

    def products(self, repeats: int) -> dict[str, object]:
        """Return the multiply-adds of the matrix instructions, by operand type."""
        names = tuple(f"mma<{name}>" for name in ("F16", "Bf16", "Tf32", "S8"))
        options = ProgramOptions(arch="sm_90")
        code = Program(PRODUCTS.read_text(), "c++", options).compile("ptx", names)
        blocks, steps, n = 8, 1024, 256
        sums = self.device.allocate(4 * 128 * blocks, stream=self.stream)
        result: dict[str, object] = {}
        # Each sum has steps / 4 products: 1 * 0.5, or 2 * 3.
        for name, depth, a, b, kind, each in (
            ("F16", 16, 0x3C003C00, 0x38003800, "f", 0.5),
            ("Bf16", 16, 0x3F803F80, 0x3F003F00, "f", 0.5),
            ("Tf32", 8, 0x3F800000, 0x3F000000, "f", 0.5),
            ("S8", 32, 0x02020202, 0x03030303, "i", 6),
        ):
            launcher = code.get_kernel(f"mma<{name}>")[blocks, 128, self.stream]
            work = Work(
                f"mma {name.lower()}",
                partial(launcher, steps, a, b, sums),
                partial(self.holds, sums, kind, steps // 4 * depth * each),
            )
            timed = self.time(work, repeats)
            result[work.name] = {**timed, "multiply_adds": blocks * 4 * steps * 16 * 8 * depth}
        ones, halves = (self.upload(array("H", [bits] * (n * n))) for bits in (0x3C00, 0x3800))
        product = self.device.allocate(4 * n * n, stream=self.stream)
        launcher = code.get_kernel("wmma_matmul")[(n // 16, n // 16), 32, self.stream]
        work = Work(
            "wmma f16, loads too",
            partial(launcher, n, ones, halves, product),
            partial(self.holds, product, "f", n / 2),
        )
        result[work.name] = {**self.time(work, repeats), "multiply_adds": n**3}
        return result

    def holds(self, buffer: Buffer, code: str, value: float) -> bool:
        """Return whether all elements have this value."""
        return set(self.download(buffer, code)) == {value}

    def time(self, work: Work, repeats: int) -> dict[str, object]:
        work.run()
        self.stream.sync()
        before = instructions()
        seconds = processor = float("inf")
        for _ in range(repeats):
            start, start_processor = perf_counter(), process_time()
            work.run()
            self.stream.sync()
            seconds = min(seconds, perf_counter() - start)
            processor = min(processor, process_time() - start_processor)
        counted = (instructions() - before) // repeats if COUNTING else None
        return {
            "seconds": seconds,
            "processor_seconds": processor,
            "instructions": counted,
            "right": work.check(),
        }

    def launch_microseconds(self, launches: int = 20000) -> float:
        launcher = self.kernel("empty")[1, 32, self.stream]
        best = float("inf")
        for _ in range(5):
            start = perf_counter()
            for _ in range(launches):
                launcher()
            self.stream.sync()
            best = min(best, perf_counter() - start)
        return 1e6 * best / launches

    def growth(self) -> list[tuple[int, float]]:
        """Return the nanoseconds per thread, from a million threads to a billion."""
        buffer = self.device.allocate(1 << 20, stream=self.stream)
        kernel = self.kernel("touch")
        out = []
        for exponent in range(6, 10):
            threads = 10**exponent
            start = perf_counter()
            kernel[(threads + 255) // 256, 256, self.stream](threads, buffer)
            self.stream.sync()
            out.append((threads, 1e9 * (perf_counter() - start) / threads))
        return out

    def live_allocations(self, threads: int = 1 << 18) -> list[tuple[int, float]]:
        """Return the nanoseconds for a load through a pointer, with ever more live allocations."""
        out = self.device.allocate(4 * threads, stream=self.stream)
        kernel = self.kernel("follow")
        buffers: list[Buffer] = []
        result = []
        for exponent in range(1, 6):
            while len(buffers) < 10**exponent:
                buffers.append(self.device.allocate(256, stream=self.stream))
                buffers[-1].fill(1, stream=self.stream)
            pointers = self.upload(array("Q", (int(buffer.handle) for buffer in buffers)))
            launcher = kernel[threads // 256, 256, self.stream]
            best = float("inf")
            for _ in range(5):
                start = process_time()
                launcher(len(buffers), pointers, out)
                self.stream.sync()
                best = min(best, process_time() - start)
            if set(self.download(out, "i")) != {0x01010101}:
                raise RuntimeError("loads through pointers: a result is wrong")
            result.append((len(buffers), 1e9 * best / threads))
        return result

    def load_megabytes_per_second(self) -> float:
        """Return how fast PTX is loaded into the context: parsed, linked, decoded."""
        body = "".join(
            f"template __global__ void part<{i}>(float*, const float*, int);\n" for i in range(300)
        )
        source = LOADED + body
        text = Program(source, "c++", ProgramOptions(arch="sm_90")).compile("ptx").code
        driver = ctypes.CDLL(cudacore.driver_library()[1])
        best = float("inf")
        for _ in range(5):
            module = ctypes.c_void_p()
            start = perf_counter()
            status = driver.cuModuleLoadData(ctypes.byref(module), text + b"\0")
            best = min(best, perf_counter() - start)
            if status:
                raise RuntimeError(f"cuModuleLoadData: {status}")
            driver.cuModuleUnload(module)
        return len(text) / best / 1e6


LOADED = """
template <int n> __global__ void part(float* out, const float* in, int count) {
  __shared__ float tile[256];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = i; k < count; k += n + 1) sum += sqrtf(in[k]) * n + in[k + n] / (k + 1);
  tile[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x < n % 256) out[i] = tile[255 - threadIdx.x] + __shfl_xor_sync(~0u, sum, n % 32);
}
"""


def instructions() -> int:
    """Return how many thread instructions this process has run, if it counts them."""
    if not COUNTING:
        return 0
    function = ctypes.CDLL(cudacore.driver_library()[1]).cudacoreSimulatorThreadInstructions
    function.restype = ctypes.c_uint64
    return int(function())


def main(what: str) -> None:
    """Print the measurements: "kernels", "products" or "others"."""
    bench = Bench()
    if what == "kernels":
        repeats = 1 if COUNTING else 9
        result: dict[str, object] = {work.name: bench.time(work, repeats) for work in bench.works()}
    elif what == "products":
        result = bench.products(9)
    else:
        result = {
            "launch_us": bench.launch_microseconds(),
            "load_mb_s": bench.load_megabytes_per_second(),
            "small_matmul": bench.time(bench.matmul(32, 32), 20),
            "small_reduce": bench.time(bench.reduce(4096, 4), 20),
            "live": bench.live_allocations(),
            "growth": bench.growth(),
        }
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
