# SPDX-License-Identifier: Apache-2.0
"""What a Python name holds while a kernel is evaluated. All of it is immutable.

Besides these, plain tuples and dicts of them.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from cudacore.tile._dataclass import dataclass

if TYPE_CHECKING:
    import ast
    from inspect import Signature

    from cudacore.tile._globals import Globals
    from cudacore.tile._text import Value


class DType(Protocol):
    """A data type of the language, as far as values know it."""

    @property
    def name(self) -> str:
        """Its name in Python, as in ``float32``."""

    @property
    def element(self) -> str:
        """Its name in the text, as in ``f32``."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A value known while compiling.

    Without a dtype, a number is loosely typed: an int has any precision, a float that of a double,
    and what it meets gives it a type. What is no number has no dtype either: strings, None, enums,
    data types, `slice`, `...`, modules, types and functions of Python.
    """

    value: Any
    dtype: "DType | None" = None


@dataclass(frozen=True, slots=True)
class Tile:
    """A scalar (whose shape is empty) or a tile that the device computes."""

    value: "Value"
    dtype: "DType"

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents, each a power of two."""
        return self.value.type.shape


@dataclass(frozen=True, slots=True)
class Array:
    """An array in global memory; extents and strides are counted in elements.

    Attributes
    ----------
    pointer
        The address of the first element.
    shape, strides
        A scalar tile or a constant each, of the type that indices are computed in.
    index_dtype
        The type that indices are computed in, int32 or int64.
    """

    pointer: "Value"
    dtype: "DType"
    shape: "tuple[Tile | Constant, ...]"
    strides: "tuple[Tile | Constant, ...]"
    index_dtype: "DType"

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return len(self.shape)


@dataclass(frozen=True, slots=True)
class TiledView:
    """An array cut into tiles of one shape."""

    array: Array
    tile_shape: tuple[int, ...]
    padding_mode: Any
    traversal_steps: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RawArrayMemory:
    """The elements of an array by their distance from its first."""

    pointer: "Value"
    dtype: "DType"


@dataclass(frozen=True, slots=True)
class Slice:
    """A slice ``start:stop:step`` in a subscript; None is the constant None."""

    start: object
    stop: object
    step: object


@dataclass(frozen=True, slots=True)
class IndexSlice:
    """``length`` elements from ``start`` on, as advanced indexing takes them."""

    start: object
    length: int


@dataclass(frozen=True, slots=True)
class List:
    """A list of arrays that differ in address, extents and strides.

    In memory it is a table of int64, `1 + 2 * ndim` numbers an array: the address, the extents, the
    strides (in elements).

    Attributes
    ----------
    table
        The address of the table, a ``ptr<i64>``.
    length
        How many arrays there are.
    shape, strides
        What is the same for all arrays and known while compiling; None elsewhere.
    alignment
        What divides all addresses, in bytes.
    """

    table: "Value"
    length: "Tile | Constant"
    dtype: "DType"
    ndim: int
    index_dtype: "DType"
    shape: tuple[int | None, ...] = ()
    strides: tuple[int | None, ...] = ()
    alignment: int = 1


@dataclass(frozen=True, slots=True)
class Range:
    """``range(start, stop, step)``, with scalars of one dtype or constants."""

    start: "Tile | Constant"
    stop: "Tile | Constant"
    step: "Tile | Constant"
    dtype: "DType | None"


@dataclass(frozen=True, slots=True)
class FormattedString:
    """An f-string: text, and values with their format (None is the default)."""

    pieces: tuple[str | tuple[object, str | None], ...]


@dataclass(frozen=True, slots=True)
class Record:
    """An instance of a frozen dataclass."""

    type: type
    fields: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class BoundMethod:
    """A function of Python, bound to the object it is a method of."""

    bound: object
    function: Callable[..., Any]

    def __str__(self) -> str:
        """Name the method, as messages show it."""
        return f"<method {self.function.__name__}>"


@dataclass(frozen=True, slots=True)
class Function:
    """A lambda or a function defined within a kernel or a helper, with what it sees around it."""

    name: str | None
    node: "ast.FunctionDef | ast.Lambda"
    signature: "Signature"
    defaults: Mapping[str, object]
    environment: tuple[Any, ...]  # the functions around it, outermost first
    globals: "Globals"
    filename: str

    def __str__(self) -> str:
        """Name the function, as messages show it."""
        return f"<function {self.name or '<lambda>'} of line {self.node.lineno}>"


@dataclass(frozen=True, slots=True)
class Undefined:
    """What a name holds where not every path has given it a value; using it is an error."""

    message: str
