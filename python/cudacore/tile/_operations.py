# SPDX-License-Identifier: Apache-2.0
"""All that functions of the language mean in kernels: importing this registers it."""

from cudacore.tile import (
    _operation_array,
    _operation_atomic,
    _operation_operator,
    _operation_print,
    _operation_reduce,
)

__all__ = [
    "_operation_array",
    "_operation_atomic",
    "_operation_operator",
    "_operation_print",
    "_operation_reduce",
]
