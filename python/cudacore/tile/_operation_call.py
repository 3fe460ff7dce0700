# SPDX-License-Identifier: Apache-2.0
"""What calls of functions of CUDA C++ do in a kernel."""

from __future__ import annotations

from cudacore.tile._cuda_text import with_macros_ended
from cudacore.tile._operand import (
    ArgumentError,
    broadcast,
    common_shape,
    convert,
    emit,
    refuse,
    shape_of,
    tile,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cudacore.tile._device_function import device_function
    from cudacore.tile._operand import Operand
    from cudacore.tile._scope import Scope
    from cudacore.tile._value import Tile


def call_device_function(scope: Scope, function: device_function, *args: object) -> Tile:
    """Call a function of CUDA C++ on each element of tiles, which broadcast."""
    name, wanted = function.name, len(function.parameters)
    if len(args) != wanted:
        refuse(f"{name}() takes {wanted} argument{'s' * (wanted != 1)}, got {len(args)}")
    operands: list[Operand] = []
    for place, (argument, dtype) in enumerate(zip(args, function.parameters, strict=True), 1):
        try:
            operand = tile(argument)
        except ArgumentError as error:
            refuse(f"Argument {place} of {name}(): {error}")
        operands.append(convert(scope, operand, dtype, f"Argument {place} of {name}()"))
    shape = common_shape(*map(shape_of, operands))
    _add_source(scope, function)
    return emit(
        scope,
        "call",
        *(broadcast(scope, operand, shape) for operand in operands),
        dtype=function.returns,
        shape=shape,
        attributes={"name": name},
    )


def _add_source(scope: Scope, function: device_function) -> None:
    sources = scope.builder.sources
    code = with_macros_ended(function.source)
    other = scope.builder.functions.setdefault(function.name, code)
    if other != code:
        file, line = sources[other]
        refuse(
            f"{function.name}() is defined twice by different CUDA C++, here at "
            f"{function.file}:{function.line} and at {file}:{line}"
        )
    sources.setdefault(code, (function.file, function.line))
