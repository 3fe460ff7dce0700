# SPDX-License-Identifier: Apache-2.0
"""Kernels compiled for what their arguments are.

A *specialization* is a kernel compiled for one combination of constraints (what is known of the
arguments: see `compilation`) and one architecture. Launches whose arguments meet the same
constraints share it, and the program cache keeps the source that it is made of. What `tune`
searches is something else: *configurations*, for each of which its caller has a kernel, a grid and
arguments.
"""

from __future__ import annotations

from contextlib import nullcontext

import cudacore
from cudacore import LaunchConfig
from cudacore.tile._compiler_timeout import compiled_in_time
from cudacore.tile._declaration import declaration
from cudacore.tile._fingerprint import PLAIN
from cudacore.tile._stored_source import (
    GeneratedSource,
    find_source,
    is_known,
    key_of_source,
    store_source,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal

    from cudacore import Device, Kernel, ObjectCode, ProgramOptions
    from cudacore.tile._kernel import kernel
    from cudacore.tile.compilation._constraint import ParameterConstraint

_USUAL_LEVEL = 3  # of ptxas, which need not be told


class Specialization:
    """A kernel that is compiled for one combination of constraints and one architecture.

    Attributes
    ----------
    kernel
        The kernel of the device.
    generated
        The CUDA C++, and how the kernel is launched.
    watched
        Names of modules, and what they stood for when the kernel was compiled.
    """

    def __init__(self, kernel: Kernel, generated: GeneratedSource) -> None:
        self.kernel = kernel
        self.generated = generated
        self.watched = generated.watched

    def is_current(self) -> bool:
        """Return whether what the kernel's function has read outside of it means the same."""
        if any(not _is_same(names.get(name), thing) for names, name, thing in self.watched):
            return False
        # Launches compare identities, which change where a cell of a notebook runs again.
        self.watched = tuple((names, name, names[name]) for names, name, _ in self.watched)
        return True

    def config(self, grid: tuple[int, int, int], is_dependent: bool) -> LaunchConfig | None:
        """Return how to launch it, perhaps before the kernel in front ends; None: empty grid."""
        if 0 in grid:
            return None
        return LaunchConfig(
            grid=grid,
            block=self.generated.threads,
            shmem_size=self.generated.shared_bytes,
            programmatic_stream_serialization=is_dependent,
        )


def _is_same(one: object, other: object) -> bool:
    return one is other or (type(one) is type(other) and type(one) in PLAIN and one == other)


def specialize(
    of: kernel, constraints: Sequence[ParameterConstraint], architecture: int
) -> Specialization:
    """Compile a kernel for constraints and an architecture.

    What an earlier process has generated is taken from the program cache if nothing that it
    depends on has changed.
    """
    key = key_of_source(of, constraints, architecture)
    found = None if key is None else find_source(key)
    if found is None:
        found = _generate(of, constraints, architecture, key)
    code = compile_source(of, found.source, architecture, found.headers)
    made = code.get_kernel(found.entry, signature=declaration(of, constraints))
    return Specialization(made, found)


def _generate(
    of: kernel, constraints: Sequence[ParameterConstraint], architecture: int, key: bytes | None
) -> GeneratedSource:
    """Evaluate the kernel's function, and keep what it becomes for later processes."""
    from cudacore.tile._early_load import nvrtc_loaded_beside  # noqa: PLC0415 - rarely needed
    from cudacore.tile._reads import Reads  # noqa: PLC0415 - loaded with stored sources

    reads = Reads()
    # What is stored beside may have become the same CUDA C++, which needs no compiler.
    is_new = key is not None and not is_known(key)
    with reads.noted(), nvrtc_loaded_beside() if is_new else nullcontext():
        from cudacore.tile._generate import generate, headers_of  # noqa: PLC0415 - takes long

        generated = generate(of, constraints, architecture)
    made = GeneratedSource.of(generated, headers_of(generated.source), reads.watched)
    if key is not None and key == key_of_source(of, constraints, architecture):
        store_source(key, made, reads)
    return made


def compile_source(
    of: kernel,
    source: str,
    architecture: int,
    headers: Mapping[str, str],
    format: Literal["ptx", "cubin"] | None = None,  # noqa: A002
) -> ObjectCode:
    """Compile generated CUDA C++ by NVRTC, or take it from the program cache."""
    from cudacore import Program  # noqa: PLC0415 - loaded when used

    options = options_of(of, architecture, headers)
    program = Program(source, "c++", options)
    try:
        return compiled_in_time(lambda: program.compile(format) if format else program.compile())
    except cudacore.CompileError as error:
        # These are imported when something is wrong: each takes its time.
        from cudacore.tile._cuda_fault import fault_of_user  # noqa: PLC0415
        from cudacore.tile._exception import TileInternalError, TileSyntaxError  # noqa: PLC0415

        place = fault_of_user(source, str(error), lambda text: _compiles(text, options))
        if place is not None:
            message = f"NVRTC refused CUDA C++ that {of.__name__} calls: {error}"
            raise TileSyntaxError(message, place) from error
        raise TileInternalError(
            f"NVRTC refused the generated code of {of.__name__}: {error}"
        ) from error


def _compiles(source: str, options: ProgramOptions) -> bool:
    """Tell whether NVRTC takes a source."""
    from cudacore import Program  # noqa: PLC0415 - loaded when used

    try:
        Program(source, "c++", options).compile("ptx")
    except cudacore.CompileError:
        return False
    return True


def options_of(
    of: kernel, architecture: int, headers: Mapping[str, str] | None = None
) -> ProgramOptions:
    """Return what the device compiler is told about a kernel."""
    from cudacore import ProgramOptions  # noqa: PLC0415 - loaded when used

    target = f"sm_{architecture}"
    level = of.hints.resolve(target).get("opt_level", _USUAL_LEVEL)
    return ProgramOptions(
        name=f"{of.__name__}.cu",
        arch=target,
        lineinfo=True,
        headers=headers,
        device_as_default_execution_space=True,
        ptxas_options=None if level == _USUAL_LEVEL else f"-O{level}",
    )


def architecture_of(device: Device) -> int:
    """Return the compute capability of a device, such as 90."""
    major, minor = device.compute_capability
    return 10 * major + minor
