# SPDX-License-Identifier: Apache-2.0
"""Times tile kernels beside Triton, PyTorch and a copy, in one run on one GPU, and prints a table.

usage: tile.py [--rows PATTERN ...] [--hint NAME=N ...] [--json PATH]

Each time is the median of events around single launches, with the L2 cache flushed before each. All
results are compared with PyTorch's. A row that fails says why, and the exit status is 1. For each
--hint, such as num_worker_warps=8 or occupancy=2, our kernels run with it as well.
"""

from __future__ import annotations

import argparse
import ctypes
import fnmatch
import json
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import specification
import tile_kernels as ours
import torch
from columns import find_c_binary, run_c
from cudacore import tile as ct
from machine import describe_machine

if TYPE_CHECKING:
    from collections.abc import Callable

try:
    import tile_triton
    import triton
except ImportError:
    triton = None

BF16 = torch.bfloat16
SAMPLES = 30


@dataclass
class Row:
    """One line: what is done, the bytes or operations that count, and who does it."""

    name: str
    amount: float
    unit: str
    run: dict[str, Callable[[], object]]
    expected: Callable[[], torch.Tensor]
    result: torch.Tensor
    tolerance: float
    kernels: list[Any] = field(default_factory=list)


@dataclass
class Launch:
    grid: tuple[int, ...]
    kernel: ct.kernel
    arguments: tuple[object, ...]

    def __call__(self) -> None:
        ct.launch(torch.cuda.current_stream(), self.grid, self.kernel, self.arguments)

    def with_hint(self, hint: str) -> Launch:
        name, value = hint.split("=")
        return Launch(self.grid, self.kernel.replace_hints(**{name: int(value)}), self.arguments)


def launch(grid: tuple[int, ...], kernel: ct.kernel, *arguments: object) -> Launch:
    return Launch(grid, kernel, arguments)


def random(*shape: int, dtype: torch.dtype = BF16) -> torch.Tensor:
    return torch.randn(*shape, device="cuda", dtype=dtype)


def copy_of(moved: int) -> Callable[[], object]:
    """A copy that reads and writes as many bytes as a row counts."""
    source = torch.empty(moved // 2, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    return lambda: target.copy_(source)


def axpy_row() -> Row:
    n = 1 << 26
    x, start = random(n, dtype=torch.float32), random(n, dtype=torch.float32)
    y, other = start.clone(), torch.empty_like(x)
    run = {
        "cudacore": launch((n // 1024,), ours.axpy, x, y, 0.0, 1024),
        "PyTorch": lambda: torch.add(start, x, alpha=0.0, out=other),
        "copy": copy_of(12 * n),
    }
    if triton:
        run["Triton"] = lambda: tile_triton.axpy[(n // 1024,)](x, other, 0.0, n, SIZE=1024)
    return Row("axpy, 2^26 floats", 12 * n, "TB/s", run, lambda: start, y, 1e-6, [ours.axpy])


def row_wise(rows: int, columns: int) -> list[Row]:
    x, weight, bias = random(rows, columns), random(columns), random(columns)
    result, other = torch.empty_like(x), torch.empty_like(x)
    sums = torch.empty(rows, device="cuda")
    size = f"{rows}x{columns}"
    grid = (rows,)
    warps = 4 if columns <= 4096 else 16
    functional = torch.nn.functional
    made = [
        (
            "softmax",
            4,
            launch(grid, ours.softmax, x, result, columns),
            lambda: torch.softmax(x, 1, out=other),
            lambda: torch.softmax(x.float(), 1),
            lambda: tile_triton.softmax[grid](x, other, SIZE=columns, num_warps=warps),
            ours.softmax,
        ),
        (
            "layer norm",
            4,
            launch(grid, ours.layer_norm, x, weight, bias, result, columns),
            lambda: functional.layer_norm(x, (columns,), weight, bias),
            lambda: functional.layer_norm(x.float(), (columns,), weight.float(), bias.float()),
            lambda: tile_triton.layer_norm[grid](
                x, weight, bias, other, SIZE=columns, num_warps=warps
            ),
            ours.layer_norm,
        ),
        (
            "rms norm",
            4,
            launch(grid, ours.rms_norm, x, weight, result, columns),
            lambda: functional.rms_norm(x, (columns,), weight),
            lambda: functional.rms_norm(x.float(), (columns,), weight.float(), 1e-5),
            lambda: tile_triton.rms_norm[grid](x, weight, other, SIZE=columns, num_warps=warps),
            ours.rms_norm,
        ),
        (
            "sum of rows",
            2,
            launch(grid, ours.row_sum, x, sums, columns),
            lambda: torch.sum(x, 1),
            lambda: torch.sum(x.float(), 1),
            lambda: tile_triton.row_sum[grid](x, sums, SIZE=columns, num_warps=warps),
            ours.row_sum,
        ),
    ]
    table = []
    for name, width, mine, torches, expected, tritons, kernel in made:
        copy = copy_of(width * rows * columns)
        run: dict[str, Callable[[], object]] = {"cudacore": mine, "PyTorch": torches, "copy": copy}
        if triton:
            run["Triton"] = tritons
        target = sums if kernel is ours.row_sum else result
        table.append(
            Row(
                f"{name}, bf16 {size}",
                width * rows * columns,
                "TB/s",
                run,
                expected,
                target,
                2e-2,
                [kernel],
            )
        )
    return table


def transpose_row() -> Row:
    n = 8192
    x = random(n, n)
    result, other = torch.empty_like(x), torch.empty_like(x)
    run = {
        "cudacore": launch((n // 64, n // 64), ours.transpose, x, result, 64, 64),
        "PyTorch": lambda: other.copy_(x.t()),
        "copy": copy_of(4 * n * n),
    }
    if triton:
        run["Triton"] = lambda: tile_triton.transpose[(n // 64, n // 64)](
            x, other, n, n, R=64, C=64
        )
    name = f"transpose, bf16 {n}x{n}"
    return Row(name, 4 * n * n, "TB/s", run, lambda: x.t(), result, 0, [ours.transpose])


def gemm_rows() -> list[Row]:
    table = []
    for n, rows, columns, depth in (
        (4096, 128, 128, 64),
        (8192, 128, 128, 64),
        (4096, 128, 256, 64),
        (8192, 128, 256, 64),
    ):
        a, b = random(n, n), random(n, n)
        c = torch.empty_like(a)
        grid = (n // rows * (n // columns),)
        run = {
            "cudacore": launch(grid, ours.gemm, a, b, c, rows, columns, depth),
            "PyTorch": lambda a=a, b=b: a @ b,
        }
        name = f"GEMM bf16 {n}, {rows}x{columns}x{depth}"
        expected = lambda a=a, b=b: a @ b  # noqa: E731 - of this round's matrices
        table.append(Row(name, 2 * n**3, "TFLOP/s", run, expected, c, 2e-2, [ours.gemm]))
    return table


def attention_rows() -> list[Row]:
    batch, heads, length, width = 4, 16, 8192, 128
    q, k, v = (random(batch, heads, length, width) for _ in range(3))
    flat = [one.view(batch * heads, length, width) for one in (q, k, v)]
    table = []
    for causal in (False, True):
        result = torch.empty_like(q)
        last = result.view(batch * heads, length, width)
        grid = (length // 128, batch * heads)
        scale = width**-0.5
        mine = launch(grid, ours.attention, *flat, last, scale, width, 128, 64, causal)

        def flash(causal: bool = causal) -> torch.Tensor:
            from torch.nn.attention import SDPBackend, sdpa_kernel

            with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
                return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

        work = 4 * batch * heads * length**2 * width * (0.5 if causal else 1)
        name = "attention (4,16,8192,128)" + (", causal" if causal else "")
        run = {"cudacore": mine, "PyTorch": flash}
        table.append(Row(name, work, "TFLOP/s", run, flash, result, 2e-2, [ours.attention]))
    return table


def median_time(run: Callable[[], object], flush: torch.Tensor) -> float:
    """The median time of a launch in seconds."""
    for _ in range(3):
        run()
    times = []
    for _ in range(SAMPLES):
        flush.zero_()
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        run()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) / 1e3)
    return statistics.median(times)


def facts_of(kernel: ct.kernel) -> str:
    """Registers, spills and shared memory of what was compiled last."""
    compiled = list(kernel._specializations.values())[-1]
    attributes = compiled.kernel.attributes
    return (
        f"{attributes.num_regs} registers, {attributes.local_size_bytes} spilled, "
        f"{compiled.generated.shared_bytes + attributes.shared_size_bytes} shared, "
        f"{compiled.generated.threads} threads"
    )


def launch_cost() -> dict[str, float]:
    """Seconds for queueing a launch of three tensors, a float and a constant."""
    x, y, z = (torch.zeros(128, device="cuda") for _ in range(3))

    @ct.kernel
    def nothing(x, y, z, a, size: ct.Constant[int]):
        pass

    stream = torch.cuda.current_stream()
    arguments = (x, y, z, 1.0, 128)

    def launch_all() -> float:
        start = time.perf_counter()
        for _ in range(200):
            ct.launch(stream, (1,), nothing, arguments)
        return (time.perf_counter() - start) / 200

    launch_all()
    binary = find_c_binary(None)
    ways = {"cudacore": launch_all}
    if binary is not None:
        ways["C in this process"] = launch_in_c(binary, nothing, stream)
    batches = {who: [] for who in ways}
    for _ in range(50):
        for who, run in ways.items():
            torch.cuda.synchronize()
            batches[who].append(run())
    medians = {who: statistics.median(times) for who, times in batches.items()}
    return medians if binary is None else medians | c_launch_cost(binary)


def launch_in_c(binary: Path, kernel: ct.kernel, stream: torch.cuda.Stream) -> Callable[[], float]:
    """Return what times launches of what was compiled last, from C, in this process."""
    library = ctypes.CDLL(str(binary.with_name("libcudacore_bench_launch.so")))
    repeat = library.cudacore_repeat_launch
    repeat.restype = ctypes.c_double
    launch_kernel = ctypes.CDLL("libcuda.so.1").cuLaunchKernelEx
    compiled = list(kernel._specializations.values())[-1]
    threads, compiled = compiled.generated.threads, compiled.kernel
    zero = ctypes.c_uint64(0)  # any argument, since the kernel does nothing
    places = (ctypes.c_void_p * compiled.num_arguments)(
        *[ctypes.addressof(zero)] * compiled.num_arguments
    )
    function, queue = ctypes.c_void_p(int(compiled.handle)), ctypes.c_void_p(stream.cuda_stream)

    def launch_all(_kept: object = zero) -> float:
        seconds = repeat(launch_kernel, function, queue, places, threads, 200)
        if seconds < 0:
            raise RuntimeError("cuLaunchKernelEx failed")
        return seconds

    return launch_all


def c_launch_cost(binary: Path) -> dict[str, float]:
    """Seconds that the same launch takes in a program in C."""
    row = specification.Row("launch_tile", "launch of a tile kernel", 256, 200)
    return {"C": run_c([str(binary)], [row])[row.name]["median_ns"] / 1e9}


FIRST = """
import sys, time
import torch, cudacore
sys.path.insert(0, {folder!r})
cudacore.Device().set_current()
x = torch.zeros(1 << 16, device="cuda", dtype={dtype}).view(256, 256)
torch.cuda.synchronize()
start = time.perf_counter()
from cudacore import tile as ct
imported = time.perf_counter()
import tile_kernels as ours
defined = time.perf_counter()
arguments = {arguments}
stream = torch.cuda.current_stream()
begin = time.perf_counter()
ct.launch(stream, (1,), ours.{kernel}, arguments)
print(imported - start, defined - imported, time.perf_counter() - begin)
"""


def first_launch(kernel: str, arguments: str, dtype: str, cache: str) -> list[float]:
    """Seconds of the import, the module of kernels and the first launch in a new process."""
    import os

    script = FIRST.format(
        folder=str(Path(__file__).parent), kernel=kernel, arguments=arguments, dtype=dtype
    )
    environment = os.environ | {"CUDACORE_CACHE_DIR": cache}
    output = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True, env=environment
    ).stdout
    return [float(word) for word in output.split()]


def process_rows(report: dict[str, Any]) -> None:
    import tempfile

    for kernel, arguments, dtype in (
        ("axpy", "(x.flatten(), x.flatten(), 1.0, 1024)", "torch.float32"),
        ("gemm", "(x, x, x, 128, 128, 64)", "torch.bfloat16"),
    ):
        # Python keeps its byte code, and the system the libraries, before anything is timed.
        with tempfile.TemporaryDirectory() as cache:
            first_launch(kernel, arguments, dtype, cache)
        with tempfile.TemporaryDirectory() as cache:
            for name in ("compiled", "from the cache"):
                imported, defined, first = first_launch(kernel, arguments, dtype, cache)
                print(
                    f"{kernel}, first launch of a process, {name}: {first * 1e3:.1f} ms "
                    f"(import {imported * 1e3:.1f} ms, definitions {defined * 1e3:.1f} ms)",
                    flush=True,
                )
                report[f"{kernel} {name}"] = first


def all_rows() -> list[Callable[[], list[Row]]]:
    return [
        lambda: [axpy_row()],
        lambda: row_wise(16384, 4096),
        lambda: row_wise(8192, 16384),
        lambda: [transpose_row()],
        gemm_rows,
        attention_rows,
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", nargs="*", default=["*"])
    parser.add_argument("--hint", nargs="*", metavar="NAME=N", default=[])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    for key, value in describe_machine().items():
        print(f"{key}: {value}")
    flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    report: dict[str, Any] = {}
    failures = 0
    for make in all_rows():
        for row in make():
            if not any(fnmatch.fnmatch(row.name, pattern) for pattern in options.rows):
                continue
            cells, facts = {}, ""
            ours_run = row.run["cudacore"]
            if isinstance(ours_run, Launch):
                for hint in options.hint:
                    row.run[hint] = ours_run.with_hint(hint)
            for who, run in row.run.items():
                try:
                    seconds = median_time(run, flush)
                    cells[who] = row.amount / seconds / 1e12
                    if who == "cudacore":
                        facts = facts_of(row.kernels[0])
                        expected = row.expected().float()
                        error = (row.result.float() - expected).norm() / expected.norm()
                        if not error <= row.tolerance:
                            raise ArithmeticError(f"wrong by {error:.2e}")
                except Exception as error:
                    cells[who] = None
                    failures += who == "cudacore"
                    facts += f" {type(error).__name__}: {str(error).strip()[:300]}"
            report[row.name] = cells
            text = "  ".join(
                f"{who} {'failed' if value is None else format(value, '.2f')}"
                for who, value in cells.items()
            )
            print(f"{row.name:36} {row.unit:8} {text}  | {facts}", flush=True)
            torch.cuda.empty_cache()
    if any(fnmatch.fnmatch("launch", pattern) for pattern in options.rows):
        report["launch"] = launch_cost()
        costs = (f"{who} {seconds * 1e6:.2f}" for who, seconds in report["launch"].items())
        print(f"launch, us: {'  '.join(costs)}", flush=True)
        process_rows(report)
    if options.json:
        options.json.write_text(json.dumps(report, indent=2))
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
