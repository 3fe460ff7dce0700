# SPDX-License-Identifier: Apache-2.0
"""The rows: their names, how often they are timed, and which row of C is the baseline."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from kernels import LAUNCH_COUNTS, TUPLE_COUNTS

# How many buffers are alive beside the one that is timed.
LIVE_COUNTS = (100, 10_000, 1_000_000)

# The name of a peer on the command line: the module with its rows, and what a user imports.
PEERS = {
    "cudacore": ("rows_cudacore", "cudacore"),
    "cuda.core": ("rows_cuda_core", "cuda.core"),
    "cupy": ("rows_cupy", "cupy"),
    "torch": ("rows_torch", "torch"),
    "numba": ("rows_numba", "numba.cuda"),
    "triton": ("rows_triton", "triton"),
}


@dataclass(frozen=True)
class Row:
    """One line of the table; timed `batches` times over `batch` calls each."""

    name: str
    title: str
    batch: int
    batches: int
    c_row: str = ""

    @property
    def floor(self) -> str:
        """The row of the C program that this one is compared with."""
        return self.c_row or self.name


def _launches() -> list[Row]:
    def plural(count: int) -> str:
        return f"{count} argument" + ("" if count == 1 else "s")

    rows = [Row(f"launch_{n}", f"launch, {plural(n)}", 256, 200) for n in LAUNCH_COUNTS]
    rows += [
        Row(f"launch_{n}_bound", f"kept kernel[...], {plural(n)}", 256, 200, f"launch_{n}")
        for n in LAUNCH_COUNTS
    ]
    rows += [
        Row(f"launch_{n}_tuple", f"kept kernel[...](*kept tuple), {n}", 256, 200, f"launch_{n}")
        for n in TUPLE_COUNTS
    ]
    return rows


ROWS: tuple[Row, ...] = (
    *_launches(),
    Row("launch_4_subscript", "kernel[...](...), 4 arguments", 256, 200, "launch_4"),
    Row("launch_new_config", "launch, 4, new LaunchConfig", 256, 200),
    Row("launch_library_kernel", "launch, 4, by CUkernel (C only)", 256, 200),
    Row("arrays_16", "launch, 16 arrays of its own", 256, 200),
    Row("tensors_16", "launch, 16 PyTorch tensors", 256, 200, "arrays_16"),
    Row("cupy_arrays_16", "launch, 16 CuPy arrays", 256, 200, "arrays_16"),
    Row("launch_sync", "launch, 4, + stream sync", 64, 200),
    Row("graph_20", "graph of 20 kernels, launch", 32, 200),
    Row("recorded_1000", "1,000 kernels, recorded, new args", 2, 100),
    Row("recorded_1000_launched", "the same, launched one by one", 2, 50, "recorded_1000"),
    Row("alloc_free", "allocate + free 1 MiB", 256, 200),
    Row("alloc_free_caching", "the same, caching pool", 256, 200, "alloc_free"),
    *(
        Row(f"alloc_free_beside_{n}", f"allocate + free beside {n:,}", 256, 200, "alloc_free")
        for n in LIVE_COUNTS
    ),
    Row("event_record", "event record", 256, 200),
    Row("event_elapsed", "event elapsed", 256, 200),
    Row("event_create", "event create + destroy", 256, 200),
    Row("stream_create", "stream create + destroy", 16, 50),
    Row("stream_sync", "stream sync, idle", 256, 200),
    Row("copy_h2d", "copy 1 KiB pinned -> device", 128, 200),
    Row("copy_d2h", "copy 1 KiB device -> pinned", 128, 200),
    Row("compile", "NVRTC compile, warm", 1, 25),
    Row("import", "import, over bare Python", 1, 15),
    Row("cold", "cold process to first result", 1, 5),
    Row("cached", "cooperative groups, cached, process", 1, 15),
)

PROCESS_ROWS = ("import", "cold", "cached")


def chosen_rows(patterns: list[str], *, quick: bool) -> list[Row]:
    """Return the rows whose names match, with fewer batches if `quick`.

    Raises
    ------
    ValueError
        If a pattern matches no row.
    """
    for pattern in patterns:
        if not any(fnmatchcase(row.name, pattern) for row in ROWS):
            names = ", ".join(row.name for row in ROWS)
            raise ValueError(f"no row matches {pattern!r}; there are {names}")
    rows = [
        row
        for row in ROWS
        if not patterns or any(fnmatchcase(row.name, pattern) for pattern in patterns)
    ]
    if not quick:
        return rows
    return [
        Row(row.name, row.title, row.batch, max(row.batches // 5, min(row.batches, 3)), row.c_row)
        for row in rows
    ]


def to_text(rows: list[Row]) -> str:
    """Return the rows as `name:batch:batches`, joined by commas, for the workers and C."""
    return ",".join(f"{row.name}:{row.batch}:{row.batches}" for row in rows)
