# SPDX-License-Identifier: Apache-2.0
"""Compiled kernels in files."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

from cudacore import NotSupportedError
from cudacore.tile._entry import is_taken, plain_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cudacore.tile._kernel import kernel as Kernel  # noqa: N812 - the parameter has its name
    from cudacore.tile.compilation._signature import KernelSignature

_ARCHITECTURE = re.compile(r"sm_([0-9]{2,3})[af]?")


def export_kernel(
    kernel: Kernel,
    signatures: Sequence[KernelSignature],
    output_file: IO[bytes] | str | bytes | os.PathLike[str],
    *,
    gpu_code: str | None = None,
    output_format: Literal["cubin", "ptx", "cuda"],
    bytecode_version: str | None = None,
) -> None:
    """Compile a kernel for signatures, and write it to a file; no GPU is needed.

    Parameters
    ----------
    kernel : kernel
        The kernel.
    signatures : sequence of KernelSignature
        What to compile it for: one compiled kernel each, named by the signature's symbol or else
        by `mangle_kernel_name`.
    output_file : file, str, bytes or path
        A binary file or the name of one.
    gpu_code : str
        The architecture, such as ``"sm_90"``.
    output_format : {"cubin", "ptx", "cuda"}
        Machine code, PTX, or the generated CUDA C++.
    bytecode_version : None
        Tile IR bytecode doesn't exist here.

    Raises
    ------
    ValueError
        There are no signatures, or the format or the architecture is unknown.
    NotSupportedError
        Tile IR bytecode is asked for.
    TileError
        The kernel can't be compiled.

    Examples
    --------
    >>> import io
    >>> import cudacore.tile as ct
    >>> from cudacore.tile.compilation import CallingConvention, KernelSignature
    >>> from cudacore.tile.compilation import ScalarConstraint, export_kernel
    >>> @ct.kernel
    ... def nothing(x):
    ...     pass
    >>> convention = CallingConvention.cutile_python_v1()
    >>> signature = KernelSignature([ScalarConstraint(ct.int32)], convention)
    >>> file = io.BytesIO()
    >>> export_kernel(nothing, [signature], file, gpu_code="sm_90", output_format="ptx")
    >>> b".target sm_90" in file.getvalue()
    True
    """
    if str(output_format).startswith("tileir") or bytecode_version is not None:
        raise NotSupportedError("cudacore compiles tiles without Tile IR; it has no bytecode")
    if output_format not in {"cubin", "ptx", "cuda"}:
        raise ValueError(
            f"Unknown output format '{output_format}'; there are 'cubin', 'ptx' and 'cuda'"
        )
    if gpu_code is None:
        raise ValueError(f"gpu_code is required when output_format is '{output_format}'.")
    match = _ARCHITECTURE.fullmatch(gpu_code) if isinstance(gpu_code, str) else None
    if match is None:
        raise ValueError(f"gpu_code must be an architecture such as 'sm_90', not {gpu_code!r}")
    from cudacore.tile._kernel import kernel as tile_kernel  # noqa: PLC0415 - it imports this one

    if not isinstance(kernel, tile_kernel):
        raise TypeError(f"kernel must be a tile kernel, not {type(kernel).__name__}")
    _check_signatures(signatures)
    try:
        data = _compile(kernel, signatures, int(match[1]), output_format)
    except Exception as error:  # noqa: BLE001 - raised again
        from cudacore.tile._exception import without_frames  # noqa: PLC0415 - loaded when used

        raise without_frames(error) from error.__cause__
    if isinstance(output_file, (str, bytes, os.PathLike)):
        Path(os.fsdecode(output_file)).write_bytes(data)
    else:
        output_file.write(data)


def _check_signatures(signatures: Sequence[KernelSignature]) -> None:
    if hasattr(signatures, "calling_convention"):
        raise TypeError("signatures must be a sequence of KernelSignature; put this one in a list")
    if not all(hasattr(each, "calling_convention") for each in signatures):
        raise TypeError(
            "signatures must be a sequence of KernelSignature; KernelSignature.from_kernel_args("
            "kernel, kernel_args, calling_convention) makes one of arguments"
        )
    if not signatures:
        raise ValueError("there is no signature to compile the kernel for")


def _compile(
    kernel: Kernel,
    signatures: Sequence[KernelSignature],
    architecture: int,
    output_format: Literal["cubin", "ptx", "cuda"],
) -> bytes:
    from cudacore.tile._generate import generate, headers_of  # noqa: PLC0415 - a cycle
    from cudacore.tile._specialization import compile_source  # noqa: PLC0415 - a cycle

    named = [
        signature
        if signature.symbol
        else signature.with_mangled_symbol(plain_name(kernel.__name__))
        for signature in signatures
    ]
    symbols = [signature.symbol or "" for signature in named]
    for place, symbol in enumerate(symbols):
        if is_taken(symbol):
            raise ValueError(f"symbol {symbol!r} can't be the name of a kernel in CUDA C++")
        if symbol in symbols[:place]:
            raise ValueError(f"two of the signatures have the symbol {symbol!r}")
    source = "\n".join(
        generate(kernel, signature.parameters, architecture, signature.symbol or "").source
        for signature in named
    )
    if output_format == "cuda":
        return source.encode()
    headers = headers_of(source)
    return bytes(compile_source(kernel, source, architecture, headers, output_format).code)
