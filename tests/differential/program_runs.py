# SPDX-License-Identifier: Apache-2.0
"""The parts of programs: a module of CUDA C++, and the runs of its kernels."""

import functools
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .items import Output
from .program_inputs import array, width_of

FOLDER = Path(__file__).parent / "programs"

#: From the input arrays, as bytes, to the output arrays; None if unknown.
Reference = Callable[[list[bytes]], list[bytes | None]]


@dataclass(frozen=True)
class Run:
    """A launch of a kernel, whose parameters point to the inputs and then to the outputs.

    An array is written ``kind*count``. An output may have a tolerance: ``f32*128~1e-6~1e-38``
    (relative and absolute), or ``f32*128~nan`` for the same bits, but with any NaN.
    """

    kernel: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    block: int | tuple[int, ...] = 128
    grid: int = 1
    cluster: int = 0
    cooperative: bool = False
    shared: int = 0
    reference: Reference | None = field(default=None, compare=False, repr=False)
    #: How many units in the last place the result may differ from `reference`.
    ulps: float = 0

    @property
    def name(self) -> str:
        shape = f" in clusters of {self.cluster}" if self.cluster else ""
        return f"{self.kernel} of {', '.join(self.inputs)}{shape}"

    @functools.cached_property
    def arrays(self) -> list[Output]:
        """Return the outputs, one after another."""
        arrays: list[Output] = []
        offset = 0
        for text in self.outputs:
            shape, _, bound = text.partition("~")
            kind, _, count = shape.rpartition("*")
            relative, _, absolute = bound.partition("~")
            mode = "bits"
            if relative == "nan":
                mode = f"nan.{kind}"
            elif relative:
                mode = f"approx.{kind}:{relative}:{absolute or 0}"
            output = Output(offset, width_of(kind), int(count), mode)
            arrays.append(output)
            offset += (output.width * output.count + 15) // 16 * 16
        return arrays

    @functools.cached_property
    def kinds(self) -> list[str]:
        return [text.partition("*")[0] for text in self.outputs]

    @property
    def size(self) -> int:
        last = self.arrays[-1]
        return (last.offset + last.width * last.count + 15) // 16 * 16

    def input_bytes(self) -> list[bytes]:
        return [array(*_split(text), slot) for slot, text in enumerate(self.inputs)]

    @functools.cached_property
    def digest(self) -> int:
        inputs = [zlib.crc32(data) for data in self.input_bytes()]
        launch = (self.grid, self.block, self.cluster, self.cooperative, self.shared)
        return zlib.crc32(repr((self.kernel, inputs, self.outputs, launch)).encode())


def _split(text: str) -> tuple[str, int]:
    kind, _, count = text.rpartition("*")
    return kind, int(count)


@dataclass(frozen=True)
class Module:
    """A module: ``programs/<file>.cu``, or another text, compiled by NVRTC."""

    name: str
    runs: tuple[Run, ...]
    file: str = ""
    text: str = ""
    arch: str = "sm_90"
    options: tuple[tuple[str, object], ...] = ()
    #: What it tests, for the report.
    subject: str = ""

    @functools.cached_property
    def source(self) -> str:
        return self.text or (FOLDER / f"{self.file or self.name}.cu").read_text()

    @functools.cached_property
    def kernels(self) -> list[str]:
        return list(dict.fromkeys(run.kernel for run in self.runs))

    @functools.cached_property
    def digest(self) -> int:
        shared = [path.read_text() for path in sorted(FOLDER.glob("*.cuh"))]
        parts = (self.source, shared if "cub_types.cuh" in self.source else [], self.arch)
        return zlib.crc32(repr((*parts, self.options, sorted(self.kernels))).encode())


def module(name: str, runs: Sequence[Run], **more: object) -> Module:
    return Module(name, tuple(runs), **more)  # type: ignore[arg-type]
