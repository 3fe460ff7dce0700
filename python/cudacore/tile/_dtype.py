# SPDX-License-Identifier: Apache-2.0
"""The data types of the tile language: their objects, and how values of them combine."""

from __future__ import annotations

import math
from enum import IntEnum

from cudacore._public import public

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


class MismatchError(TypeError):
    """Data types that don't fit; a kernel's error says the same."""


class RangeError(ValueError):
    """A constant that a data type has no value for; a kernel's error says the same."""


class Category(IntEnum):
    """What a data type holds; of two categories that meet, the greater one wins."""

    BOOLEAN = 0
    INTEGER = 1
    FLOAT = 2
    RESTRICTED = 3  # floats that can be loaded, stored, cast and multiplied as matrices only


@public("cudacore.tile")
class DType:
    """A data type of the elements of an array or a tile.

    There is one object for each data type, among the names of :mod:`cudacore.tile`. Wherever a
    function takes a data type, NumPy's, PyTorch's and CuPy's do as well. In a kernel, a call makes
    a scalar of the type.

    Attributes
    ----------
    name : str
        For example ``"float32"``.
    bitwidth : int
        Bits of an element in memory.

    Examples
    --------
    >>> import cudacore.tile as ct
    >>> ct.float16.name, ct.float16.bitwidth
    ('float16', 16)
    """

    name: str
    bitwidth: int
    category: Category
    element: str  # its name in the text of a kernel
    signed: bool

    def __new__(cls) -> DType:  # noqa: PYI034
        """Refuse: there is one object for each data type."""
        raise TypeError("DType objects cannot be created")

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: data types don't change."""
        raise AttributeError(f"DType objects cannot be changed: {name}")

    def __reduce__(self) -> tuple[object, tuple[str]]:
        """Pickle and copy by name."""
        return named, (self.name,)

    def __repr__(self) -> str:
        """Give the name in brackets."""
        return f"<DType '{self.name}'>"

    def __str__(self) -> str:
        """Give the name."""
        return self.name

    def __call__(self, value: object = 0, /) -> NoReturn:  # noqa: ARG002
        """Make a scalar of this type, in a kernel."""
        raise RuntimeError(f"{self.name}() can only be called in a kernel")

    @property
    def __name__(self) -> str:
        """The name."""
        return self.name

    @property
    def is_boolean(self) -> bool:
        """Whether it is ``bool_``."""
        return self.category == Category.BOOLEAN

    @property
    def is_integer(self) -> bool:
        """Whether its elements are integers."""
        return self.category == Category.INTEGER

    @property
    def is_float(self) -> bool:
        """Whether its elements are floats, those without arithmetic among them."""
        return self.category >= Category.FLOAT

    @property
    def is_restricted(self) -> bool:
        """Whether it has no arithmetic besides matrix products."""
        return self.category == Category.RESTRICTED

    @property
    def python_type(self) -> type[bool | int | float]:
        """Python's type of its values."""
        return (bool, int, float, float)[self.category]

    @property
    def limits(self) -> tuple[int, int]:
        """The least and the greatest value of an integer type."""
        if self.signed:
            return -(1 << (self.bitwidth - 1)), (1 << (self.bitwidth - 1)) - 1
        return 0, (1 << self.bitwidth) - 1


_by_name: dict[str, DType] = {}


def named(name: str) -> DType:
    """Give the data type of a name; unpickling calls it."""
    return _by_name[name]


def _define(name: str, element: str, bits: int, category: Category, text: str) -> DType:
    dtype = object.__new__(DType)
    signed = category >= Category.FLOAT or (category == Category.INTEGER and element[0] == "i")
    members = {"name": name, "element": element, "bitwidth": bits, "category": category}
    dtype.__dict__.update(members, signed=signed, __doc__=text)
    _by_name[name] = dtype
    return dtype


def _integer(name: str, element: str, bits: int) -> DType:
    kind = "A signed" if element[0] == "i" else "An unsigned"
    return _define(name, element, bits, Category.INTEGER, f"{kind} integer of {bits} bits.")


bool_ = _define("bool_", "i1", 8, Category.BOOLEAN, "``True`` or ``False``, in a byte.")
uint8 = _integer("uint8", "u8", 8)
uint16 = _integer("uint16", "u16", 16)
uint32 = _integer("uint32", "u32", 32)
uint64 = _integer("uint64", "u64", 64)
int8 = _integer("int8", "i8", 8)
int16 = _integer("int16", "i16", 16)
int32 = _integer("int32", "i32", 32)
int64 = _integer("int64", "i64", 64)
float16 = _define(
    "float16", "f16", 16, Category.FLOAT, "A float of IEEE 754's half precision, 16 bits."
)
float32 = _define(
    "float32", "f32", 32, Category.FLOAT, "A float of IEEE 754's single precision, 32 bits."
)
float64 = _define(
    "float64", "f64", 64, Category.FLOAT, "A float of IEEE 754's double precision, 64 bits."
)
bfloat16 = _define(
    "bfloat16",
    "bf16",
    16,
    Category.FLOAT,
    "A float of 16 bits: 1 of sign, 8 of exponent, 7 of mantissa.",
)
tfloat32 = _define(
    "tfloat32",
    "tf32",
    32,
    Category.RESTRICTED,
    "A float in 32 bits, of which 1 of sign, 8 of exponent and 10 of mantissa count.",
)
float8_e4m3fn = _define(
    "float8_e4m3fn",
    "e4m3",
    8,
    Category.RESTRICTED,
    "A float of 8 bits: 1 of sign, 4 of exponent, 3 of mantissa; it has no infinities.",
)
float8_e5m2 = _define(
    "float8_e5m2",
    "e5m2",
    8,
    Category.RESTRICTED,
    "A float of 8 bits: 1 of sign, 5 of exponent, 2 of mantissa.",
)
float8_e8m0fnu = _define(
    "float8_e8m0fnu",
    "e8m0",
    8,
    Category.RESTRICTED,
    "A power of two in 8 bits of exponent: from 2**-127 to 2**127, and not a number.",
)
float8_e5m3fnu = _define(
    "float8_e5m3fnu",
    "e5m3",
    8,
    Category.RESTRICTED,
    "A float of 8 bits without a sign: 5 of exponent, 3 of mantissa.",
)
float4_e2m1fn = _define(
    "float4_e2m1fn",
    "e2m1",
    4,
    Category.RESTRICTED,
    "A float of 4 bits: 1 of sign, 2 of exponent, 1 of mantissa; finite only.",
)

default_int = int32
default_float = float32

_FOREIGN = {"bool": bool_, "half": float16, "float": float32, "double": float64}


def from_foreign(value: object) -> DType | None:
    """Give the data type that a data type of this language or another library names.

    Parameters
    ----------
    value : object
        A :class:`DType`, a NumPy dtype or scalar type (CuPy's and ml_dtypes' are these), a
        ``torch.dtype``, or an object of a library whose ``dtype`` is one of these.

    Returns
    -------
    DType or None
        None if it is something else.
    """
    if isinstance(value, DType):
        return value
    kind = type(value)
    library = kind.__module__.partition(".")[0]
    if library == "torch" and kind.__name__ == "dtype":
        name = str(value).rpartition(".")[2]
    elif library == "numpy" and isinstance(getattr(value, "name", None), str):
        name = value.name  # type: ignore[attr-defined]
    elif isinstance(value, type):
        if value.__module__.partition(".")[0] not in ("numpy", "ml_dtypes"):
            return None
        name = value.__name__
    elif library in ("jax", "jaxlib") and hasattr(value, "dtype"):
        return from_foreign(value.dtype)
    else:
        return None
    return _by_name.get(name) or _FOREIGN.get(name)


# The least and greatest exponent, the bits of the mantissa, whether there is a sign,
# and what there is besides finite numbers.
_FORMATS = {
    "f16": (-14, 15, 10, True, "ieee"),
    "bf16": (-126, 127, 7, True, "ieee"),
    "f32": (-126, 127, 23, True, "ieee"),
    "tf32": (-126, 127, 10, True, "ieee"),
    "e4m3": (-6, 8, 3, True, "nan"),
    "e5m2": (-14, 15, 2, True, "ieee"),
    "e2m1": (0, 2, 1, True, "finite"),
    "e5m3": (-14, 16, 3, False, "nan"),
}


def _overflow(value: float, element: str) -> float:
    _, greatest, bits, _, besides = _FORMATS[element]
    if besides == "ieee":
        return value
    if besides == "nan":
        return math.nan
    if math.isnan(value):
        raise RangeError("NaN cannot be represented in a finite-only float format")
    return math.copysign(math.ldexp(2.0 - 2.0**-bits, greatest), value)


def _round_exponent(value: float) -> float:
    """Round to a power of two, as float8_e8m0fnu holds them."""
    if value == 0.0:
        return 2.0**-127
    if not math.isfinite(value):
        return math.nan
    mantissa, exponent = math.frexp(value)
    exponent -= 1
    if exponent < -127:  # noqa: PLR2004
        return 2.0**-127
    exponent += mantissa >= 0.75  # noqa: PLR2004  # the mantissa is in [0.5, 1)
    return math.nan if exponent > 127 else 2.0**exponent  # noqa: PLR2004


def _round_float(value: float, element: str) -> float:  # noqa: PLR0911
    if element == "f64":
        return value
    signed = element in _FORMATS and _FORMATS[element][3]
    if not signed and math.copysign(1.0, value) < 0:
        raise RangeError("Negative values cannot be represented in an unsigned float format")
    if element == "e8m0":
        return _round_exponent(value)
    least, greatest, bits, _, besides = _FORMATS[element]
    if not math.isfinite(value):
        return _overflow(value, element)
    if value == 0.0:
        return value
    exponent = max(math.frexp(value)[1] - 1, least)
    if exponent > greatest:
        return _overflow(math.copysign(math.inf, value), element)
    rounded = math.ldexp(round(math.ldexp(value, bits - exponent)), exponent - bits)
    if rounded == 0.0:
        return math.copysign(0.0, value)
    taken = 2 if besides == "nan" else 1  # all ones are not a number there
    if abs(rounded) > math.ldexp(2.0 - taken * 2.0**-bits, greatest):
        return _overflow(math.copysign(math.inf, value), element)
    return rounded


def canonical(value: float, dtype: DType) -> bool | int | float:
    """Give the value that a constant has in a data type.

    Parameters
    ----------
    value : bool, int or float
        Integers wrap around; floats round to nearest even, and overflow to what the format has.
    dtype : DType
        The data type.

    Raises
    ------
    RangeError
        The type has nothing for it: a negative number for an unsigned float, or not a number for
        a type of finite numbers, or an infinity for an integer.
    """
    if dtype.is_boolean:
        return bool(value)
    if dtype.is_integer:
        if isinstance(value, float) and not math.isfinite(value):
            raise RangeError(f"cannot convert {value} to {dtype}")
        wrapped = int(value) & ((1 << dtype.bitwidth) - 1)
        negative = dtype.signed and wrapped >> (dtype.bitwidth - 1)
        return wrapped - (1 << dtype.bitwidth) if negative else wrapped
    try:
        value = float(value)
    except OverflowError:
        value = math.inf if value > 0 else -math.inf
    return _round_float(value, dtype.element)


def of_constant(value: object) -> DType:
    """Give the data type that a loosely typed constant takes if nothing else decides.

    Parameters
    ----------
    value : bool, int or float
        The constant.

    Raises
    ------
    RangeError
        An integer that fits no data type.
    MismatchError
        It is not a number.
    """
    if isinstance(value, bool):
        return bool_
    if isinstance(value, int):
        for dtype in (int32, int64, uint64):
            least, greatest = dtype.limits
            if least <= value <= greatest:
                return dtype
        raise RangeError(f"Constant {value} is out of range of any supported integer type")
    if isinstance(value, float):
        return float32
    raise MismatchError(f"Python value {value} of type {type(value)} is not supported.")
