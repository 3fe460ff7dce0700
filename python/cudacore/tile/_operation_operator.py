# SPDX-License-Identifier: Apache-2.0
"""What Python's operators and builtin functions do with tiles in a kernel."""

from __future__ import annotations

import operator
from typing import Any

from cudacore.tile._dtype import MismatchError
from cudacore.tile._operand import Operand, data_type, is_loose, lift
from cudacore.tile._operation import implements
from cudacore.tile._operation_arithmetic import (
    arithmetic,
    bitwise,
    compare,
    divide,
    power,
    shift,
)
from cudacore.tile._operation_math import logical_not, positive, unary
from cudacore.tile._operation_product import matmul

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cudacore.tile._scope import Scope


def _register(function: Callable[..., Any], evaluate: Callable[..., Any], name: str) -> None:
    @implements(function)
    def binary(scope: Scope, x: object, y: object) -> Operand:
        result: Operand = evaluate(scope, name, x, y)
        return result


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod"):
    _register(getattr(operator, _name), arithmetic, _name)
_register(min, arithmetic, "min")
_register(max, arithmetic, "max")
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _register(getattr(operator, _name), compare, _name)
_register(operator.and_, bitwise, "and")
_register(operator.or_, bitwise, "or")
_register(operator.xor, bitwise, "xor")
_register(operator.lshift, shift, "shl")
_register(operator.rshift, shift, "shr")

implements(operator.pow)(power)
implements(divmod)(divide)
implements(operator.matmul)(matmul)
implements(operator.pos)(positive)
implements(operator.not_)(logical_not)


@implements(operator.neg)
def negative(scope: Scope, x: object) -> Operand:
    """Change the sign."""
    return unary(scope, "neg", x)


@implements(operator.invert)
def invert(scope: Scope, x: object) -> Operand:
    """Flip all bits; of a constant boolean, Python would give an integer."""
    value = lift(x)
    if is_loose(value) and data_type(value).is_boolean:  # type: ignore[arg-type]
        raise MismatchError("`~` on boolean constant is not supported, please use ct.bitwise_not")
    return unary(scope, "not", x)
