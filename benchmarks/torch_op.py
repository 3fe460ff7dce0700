# SPDX-License-Identifier: Apache-2.0
"""Times a call of an operator of PyTorch: made by torch_op, by PyTorch's own custom_op, or plain.

All three run the same body, which makes a tensor and launches a kernel. custom_op's launches on
the default stream, wherever PyTorch works; torch_op's on PyTorch's current stream and device.
The columns take turns, since the speed of a machine drifts: the difference is the median over all
turns.

    python benchmarks/torch_op.py [--json results.json]

Without a GPU, tests/pytorch/run.sh says how PyTorch's memory runs on the simulated device; there,
only the eager rows are measured.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import cudacore
import torch
from harness import Case, measure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SOURCE = """
__global__ void copy(const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i];
}
"""
SIZE = 256
#: How often the operator is called in a compiled function, and in a CUDA graph.
CALLS = 10
TURNS = 20
COLUMNS = ("plain", "custom_op", "torch_op")


def operators() -> dict[str, Callable[..., Any]]:
    """Return the same function as each column has it."""
    torch.cuda.init()
    launcher = cudacore.Program(SOURCE, "c++").compile().get_kernel("copy")[1, SIZE]

    def body(x: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        launcher(x, out, SIZE)
        return out

    body.__annotations__ = {"x": torch.Tensor, "return": torch.Tensor}
    theirs = torch.library.custom_op("cudacore_bench::custom_op", body, mutates_args=())
    theirs.register_fake(torch.empty_like)
    ours = cudacore.torch_op("cudacore_bench::torch_op", body)
    return {"plain": body, "custom_op": theirs, "torch_op": ours}


def chain(op: Callable[..., Any]) -> Callable[[torch.Tensor], torch.Tensor]:
    """Return a function that calls an operator several times."""

    def run(x: torch.Tensor) -> torch.Tensor:
        for _ in range(CALLS):
            x = op(x)
        return x

    return run


def captured(op: Callable[..., Any], x: torch.Tensor) -> torch.cuda.CUDAGraph:
    """Capture a chain."""
    chain(op)(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        chain(op)(x)
    return graph


def cases(ops: dict[str, Callable[..., Any]], x: torch.Tensor) -> Iterator[tuple[str, str, Case]]:
    """Yield the row, the column and what to time."""
    settle = torch.cuda.synchronize
    for column, op in ops.items():
        yield "eager", column, Case("op(x)", {"op": op, "x": x}, settle)
    gradient = x.clone().requires_grad_()
    for column in ("custom_op", "torch_op"):
        case = Case("op(x)", {"op": ops[column], "x": gradient}, settle)
        yield "eager, requires_grad", column, case
    if cudacore.simulator.is_enabled():
        return
    for column in ("custom_op", "torch_op"):
        compiled = torch.compile(chain(ops[column]), fullgraph=True)
        compiled(x)
        yield f"compiled, {CALLS} calls", column, Case("op(x)", {"op": compiled, "x": x}, settle)
    # PyTorch captures on a stream of its own: a plain launch goes to the stream of the process.
    graph = captured(ops["torch_op"], x)
    case = Case("graph.replay()", {"graph": graph}, settle)
    yield f"CUDA graph, {CALLS} calls", "torch_op", case


def turns(columns: dict[str, Case], batches: int) -> dict[str, list[float]]:
    """Time the columns of a row in turns; return the microseconds of each turn."""
    times: dict[str, list[float]] = {column: [] for column in columns}
    for _ in range(TURNS):
        for column, case in columns.items():
            result = measure(case, 50, max(1, batches // TURNS))
            times[column].append(float(result["median_ns"]) / 1e3)
    return times


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", type=Path, help="write all results")
    parser.add_argument("--batches", type=int, default=200)
    options = parser.parse_args()
    x = torch.empty(SIZE, device="cuda")
    x.copy_(torch.arange(float(SIZE)))
    rows: dict[str, dict[str, Case]] = {}
    for row, column, case in cases(operators(), x):
        rows.setdefault(row, {})[column] = case
    results = {row: turns(columns, options.batches) for row, columns in rows.items()}
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}; median, in microseconds")
    print(f"{'':24}" + "".join(f"{column:>12}" for column in COLUMNS) + f"{'difference':>12}")
    for row, times in results.items():
        cells = [
            f"{median(times[each]):12.2f}" if each in times else f"{'':12}" for each in COLUMNS
        ]
        extra = ""
        if "custom_op" in times and "torch_op" in times:
            pairs = zip(times["torch_op"], times["custom_op"], strict=True)
            extra = f"{median(ours - theirs for ours, theirs in pairs):12.2f}"
        print(f"{row:24}{''.join(cells)}{extra}")
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
