# SPDX-License-Identifier: Apache-2.0
"""From constraints to a compiled kernel."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import cudacore
from cudacore import LaunchConfig, Program, ProgramOptions, _tile
from cudacore.tile._compile import compile_to_text
from cudacore.tile._compiler_timeout import compiled_in_time
from cudacore.tile._entry import entry_name
from cudacore.tile._exception import (
    TileInternalError,
    TileSyntaxError,
    TileUnsupportedFeatureError,
)
from cudacore.tile._parameter import (
    ArrayParameter,
    ConstantParameter,
    ListParameter,
    RecordParameter,
    ScalarParameter,
    TupleParameter,
)
from cudacore.tile._source_function import place_of_error
from cudacore.tile.compilation._constraint import (
    ArrayConstraint,
    DataclassConstraint,
    ListConstraint,
    ScalarConstraint,
    TupleConstraint,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cudacore import Kernel, ObjectCode, Stream
    from cudacore._tile import Generated
    from cudacore.tile._kernel import kernel
    from cudacore.tile._parameter import Parameter
    from cudacore.tile.compilation._constraint import ParameterConstraint

_OLDEST = 75
_USUAL_LEVEL = 3  # of ptxas, which need not be told
_HINTS = {
    "num_ctas": "ctas",
    "occupancy": "occupancy",
    "opt_level": "opt_level",
    "num_worker_warps": "warps",
}


@dataclass
class Compiled:
    """A kernel that is compiled for one combination of arguments and one architecture."""

    kernel: Kernel
    generated: Generated

    def config(self, grid: tuple[int, int, int], is_dependent: bool) -> LaunchConfig | None:
        """Return how to launch it, perhaps before the kernel in front ends; None: empty grid."""
        if 0 in grid:
            return None
        return LaunchConfig(
            grid=grid,
            block=self.generated.threads,
            cluster=self.generated.cluster if self.generated.cluster > 1 else None,
            shmem_size=self.generated.shared_bytes,
            programmatic_stream_serialization=is_dependent,
        )


def compile_variant(
    of: kernel, constraints: Sequence[ParameterConstraint], architecture: int
) -> Compiled:
    """Compile a kernel for constraints and an architecture."""
    generated = generate(of, constraints, architecture)
    code = compile_source(of, generated.source, architecture)
    return Compiled(code.get_kernel(generated.entry), generated)


def generate(
    of: kernel, constraints: Sequence[ParameterConstraint], architecture: int, symbol: str = ""
) -> Generated:
    """Evaluate the kernel's function, and print CUDA C++.

    Raises
    ------
    TileError
        The kernel can't be compiled.
    """
    if architecture < _OLDEST:
        raise TileUnsupportedFeatureError(
            f"tile kernels need compute capability {_OLDEST // 10}.{_OLDEST % 10}, and this device "
            f"has {architecture // 10}.{architecture % 10}"
        )
    hints = of.hints.resolve(f"sm_{architecture}")
    parameters = [_parameter(constraint) for constraint in constraints]
    text = compile_to_text(
        of.function,
        parameters,
        {_HINTS[name]: hint for name, hint in hints.items()},
        symbol or entry_name(of.__name__),
    )
    try:
        return _tile.generate(text, arch=architecture)
    except _tile.Error as error:
        raise TileUnsupportedFeatureError(error.message, text.place(error.text_line)) from None


def _parameter(constraint: ParameterConstraint) -> Parameter:
    """Return what the evaluator is told about an argument."""
    if isinstance(constraint, ScalarConstraint):
        return ScalarParameter(constraint.dtype)
    if isinstance(constraint, ArrayConstraint):
        return ArrayParameter(
            constraint.dtype,
            constraint.ndim,
            constraint.index_dtype,
            constraint.shape_constant,
            constraint.stride_constant,
            constraint.shape_divisible_by,
            constraint.stride_divisible_by,
            constraint.base_addr_divisible_by,
        )
    if isinstance(constraint, ListConstraint):
        element = constraint.element
        return ListParameter(
            element.dtype,
            element.ndim,
            element.index_dtype,
            element.shape_constant,
            element.stride_constant,
            element.base_addr_divisible_by,
        )
    if isinstance(constraint, TupleConstraint):
        return TupleParameter(tuple(_parameter(item) for item in constraint.items))
    if isinstance(constraint, DataclassConstraint):
        names = [field.name for field in dataclasses.fields(constraint.cls)]
        fields = zip(names, map(_parameter, constraint.fields), strict=True)
        return RecordParameter(constraint.cls, dict(fields))
    return ConstantParameter(constraint.value)


def compile_source(
    of: kernel,
    source: str,
    architecture: int,
    format: Literal["ptx", "cubin"] | None = None,  # noqa: A002
) -> ObjectCode:
    """Compile generated CUDA C++ by NVRTC, or take it from the program cache."""
    program = Program(source, "c++", options_of(of, architecture))
    try:
        return compiled_in_time(lambda: program.compile(format) if format else program.compile())
    except cudacore.CompileError as error:
        place = place_of_error(source, str(error))
        if place is not None:
            message = f"NVRTC refused CUDA C++ that {of.__name__} calls: {error}"
            raise TileSyntaxError(message, place) from error
        raise TileInternalError(
            f"NVRTC refused the generated code of {of.__name__}: {error}"
        ) from error


def options_of(of: kernel, architecture: int) -> ProgramOptions:
    """Return what the device compiler is told about a kernel."""
    target = f"sm_{architecture}"
    level = of.hints.resolve(target).get("opt_level", _USUAL_LEVEL)
    return ProgramOptions(
        name=f"{of.__name__}.cu",
        arch=target,
        lineinfo=True,
        headers=_tile.headers(),
        device_as_default_execution_space=True,
        ptxas_options=None if level == _USUAL_LEVEL else f"-O{level}",
    )


def architecture_of(stream: Stream) -> int:
    """Return the compute capability of a stream's device, such as 90."""
    major, minor = stream.device.compute_capability
    return 10 * major + minor


def current_architecture() -> int:
    """Return the compute capability of the current device, such as 90."""
    major, minor = cudacore.Device().compute_capability
    return 10 * major + minor
