# SPDX-License-Identifier: Apache-2.0
"""The arguments of a launch: what a kernel is compiled for, and what it is passed."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

from cudacore import Buffer, CUDAError
from cudacore.tile import _dtype
from cudacore.tile._annotation import Annotation, AnyLength, Leaf
from cudacore.tile._dtype import from_foreign
from cudacore.tile.compilation._constraint import (
    ArrayConstraint,
    ConstantConstraint,
    DataclassConstraint,
    ListConstraint,
    ParameterConstraint,
    ScalarConstraint,
    TupleConstraint,
    field_names,
    is_constant,
)
from cudacore.utils import StridedMemoryView

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cudacore.tile._kernel import kernel

_DEEPEST = 32
# Launches are told apart by the same numbers in src/bindings/tile_arguments.cpp.
_ALIGNMENT = 16
_MOST_DIMENSIONS = 64

_CUDA_DEVICE = 2  # of DLPack
_LARGEST_FLOAT = float.fromhex("0x1.fffffep127")  # as float32


class Arguments:
    """All arguments of one launch.

    Attributes
    ----------
    constraints
        What the kernel is compiled for, one for each parameter.
    passed
        What the compiled kernel is passed, in order.
    tables
        For each list of arrays: where its table's address stands in `passed`, and the table.
    arrays
        All arrays, also those of tuples, dataclasses and lists.
    views
        Of the same. They keep memory that only what an array exports owns.
    device
        The device that the arrays are on; None if they are on none.
    has_records
        Whether dataclasses are among them, which other launches can't be compared by.
    """

    def __init__(self, *, infer_ones: bool = False) -> None:
        self._infer_ones = infer_ones
        self.constraints: list[ParameterConstraint] = []
        self.passed: list[int | float | bool] = []
        self.tables: list[tuple[int, list[int]]] = []
        self.arrays: list[object] = []
        self.views: list[StridedMemoryView] = []
        self.device: int | None = None
        self.has_records = False

    def add(self, value: object, annotation: Annotation) -> None:
        """Add the argument for the next parameter."""
        what = f"kernel argument #{len(self.constraints)}"
        self.constraints.append(self._describe(what, value, annotation, 0))

    def _describe(
        self, what: str, value: object, annotation: Annotation, depth: int
    ) -> ParameterConstraint:
        if depth == _DEEPEST:
            raise RecursionError(f"Argument nesting exceeds maximum depth of {_DEEPEST}")
        if type(value) is tuple:
            return TupleConstraint(
                [
                    self._describe(f"item #{index} of {what}", item, wanted, depth + 1)
                    for index, (item, wanted) in enumerate(
                        zip(value, _for_items(what, value, annotation), strict=True)
                    )
                ]
            )
        if not isinstance(annotation, Leaf):
            raise TypeError(
                f"Invalid {what}: Received a non-tuple argument for a parameter annotated as a "
                "tuple"
            )
        if hasattr(type(value), "__dataclass_fields__"):
            self.has_records = True
            return DataclassConstraint(
                type(value),
                [
                    self._describe(
                        f"field '{name}' of {what}", getattr(value, name), annotation, depth + 1
                    )
                    for name in field_names(type(value))
                ],
            )
        annotation.require_one()
        if annotation.constant:
            return _constant(what, value)
        return self._runtime(what, value, annotation)

    def _runtime(self, what: str, value: object, annotation: Leaf) -> ParameterConstraint:
        kind = type(_number_behind(value))
        if kind is bool or kind is int or kind is float:
            if annotation.array or annotation.list:
                raise TypeError(
                    f"Invalid {what}: ArrayAnnotation/IndexedWithInt64 can only be applied to an "
                    "array or a list-of-array parameter."
                )
            return self._number(what, value, annotation)
        if annotation.scalar:
            raise TypeError(
                f"Invalid {what}: ScalarAnnotation/ScalarInt64 can only be applied to a "
                "non-constant scalar parameter."
            )
        if isinstance(value, list):
            return self._list(what, value, annotation)
        if isinstance(value, tuple):
            raise TypeError(
                f"Invalid {what}: '{kind.__name__}' is a subclass of 'tuple'. Only plain tuples "
                "are accepted."
            )
        if annotation.list:
            raise TypeError(
                f"Invalid {what}: ListAnnotation can only be applied to a list of arrays."
            )
        view = self._view(what, value)
        constraint = _describe_array(what, value, view, annotation.array, self._infer_ones)
        self.passed += [view.ptr, *view.shape, *strides_of(view)]
        return constraint

    def _number(self, what: str, given: Any, annotation: Leaf) -> ScalarConstraint:
        value = _number_behind(given)
        if isinstance(value, bool):
            dtype = _dtype.bool_
        elif isinstance(value, float):
            dtype = _dtype.float32
            if _LARGEST_FLOAT < abs(value) < math.inf:
                raise OverflowError(f"Invalid {what}: {value} doesn't fit {dtype}")
        else:
            dtype = _dtype.int32 if annotation.scalar is None else annotation.scalar.dtype
            least, most = dtype.limits
            if not least <= value <= most:
                hint = "; annotate it with ScalarInt64" if dtype is _dtype.int32 else ""
                raise OverflowError(f"Invalid {what}: {value} doesn't fit {dtype}{hint}")
        if annotation.scalar is not None and annotation.scalar.dtype is not dtype:
            raise TypeError(
                f"Invalid {what}: it is annotated as {annotation.scalar.dtype}, and {value!r} is "
                f"{dtype}"
            )
        self.passed.append(given)
        return ScalarConstraint(dtype)

    def _view(self, what: str, value: object) -> StridedMemoryView:
        if is_constant(value):
            raise TypeError(
                f"Invalid {what}: Objects of type '{type(value).__name__}' are only accepted for "
                "parameters annotated as Constant."
            )
        if isinstance(value, Buffer):
            raise TypeError(
                f"Invalid {what}: A Buffer has no data type and no shape; pass a view of it, such "
                "as buffer.view(np.float32, shape)"
            )
        try:
            view = StridedMemoryView.from_any_interface(value, -1)
        except (BufferError, TypeError) as error:
            raise TypeError(
                f"Invalid {what}: Objects of type '{type(value).__name__}' are not supported."
            ) from error
        except RuntimeError as error:  # of PyTorch, for tensors without memory
            if isinstance(error, CUDAError):
                raise
            reason = str(error).partition("\n")[0]
            raise TypeError(
                f"Invalid {what}: '{type(value).__name__}' shows no memory: {reason}"
            ) from error
        if not view.is_device_accessible:
            copied = "copy it, as by device.to_device(array).view(array.dtype, array.shape)"
            advice = copied if view.shape else "pass a number by .item()"
            raise ValueError(f"Invalid {what}: Input array is not on a CUDA device; {advice}")
        if len(view.shape) > _MOST_DIMENSIONS:
            raise TypeError(
                f"Invalid {what}: Input array exceeds max supported dimensions: {_MOST_DIMENSIONS}"
            )
        self.arrays.append(value)
        self.views.append(view)
        if view.__dlpack_device__()[0] == _CUDA_DEVICE:
            if self.device is not None and view.device_id != self.device:
                raise ValueError(
                    f"Invalid {what}: it is on device {view.device_id}, and an argument before it "
                    f"on device {self.device}"
                )
            self.device = view.device_id
        return view

    def _list(self, what: str, value: list[object], annotation: Leaf) -> ListConstraint:
        if not value:
            raise TypeError(f"Invalid {what}: Empty lists are not supported as kernel arguments")
        wanted = annotation.list.element if annotation.list else annotation.array
        views = []
        for index, item in enumerate(value):
            if is_constant(item) or isinstance(item, (list, tuple)):
                raise TypeError(
                    f"Invalid {what}: Expected list items to be arrays, got "
                    f"'{type(item).__name__}' at #{index}"
                )
            views.append(self._view(f"item #{index} of {what}", item))
        elements = [
            _describe_array(what, item, view, wanted, self._infer_ones)
            for item, view in zip(value, views, strict=True)
        ]
        for element in elements:
            if element.dtype is not elements[0].dtype:
                raise TypeError(f"Invalid {what}: Arrays in list vary in data type")
            if element.ndim != elements[0].ndim:
                raise TypeError(f"Invalid {what}: Arrays in list vary in rank")
        table: list[int] = []
        for view in views:
            table += [view.ptr, *view.shape, *strides_of(view)]
        self.tables.append((len(self.passed), table))
        self.passed += [0, len(views)]
        return ListConstraint(
            _common(what, elements, wanted), alias_groups=(), elements_may_alias=False
        )


def describe_all(
    of: kernel, values: Sequence[object], *, infer_ones: bool = False
) -> list[ParameterConstraint]:
    """Return what a kernel is compiled for if it is launched with these arguments."""
    return arguments_of(of, values, infer_ones=infer_ones).constraints


def arguments_of(of: kernel, values: Sequence[object], *, infer_ones: bool = False) -> Arguments:
    """Look at all arguments of a launch; perhaps take extents of 1 as constants.

    Raises
    ------
    TypeError, ValueError, OverflowError
        One is not possible; the message names which.
    """
    parameters = of.parameters
    if len(values) != len(parameters):
        plural = "" if len(parameters) == 1 else "s"
        were = "was" if len(values) == 1 else "were"
        raise TypeError(
            f"Kernel expects {len(parameters)} argument{plural} but {len(values)} {were} given"
            + _what_lacks(of, len(values))
        )
    arguments = Arguments(infer_ones=infer_ones)
    for (_, annotation), value in zip(parameters, values, strict=True):
        arguments.add(value, annotation)
    return arguments


def _what_lacks(of: kernel, given: int) -> str:
    """Name the parameters of a kernel that get no argument."""
    names = [name for name, _ in of.parameters[given:]]
    if not names:
        return ""
    function = of.function
    defaults = function.__defaults__ or function.__kwdefaults__
    advice = " (defaults of kernels are not used)" if defaults else ""
    return f": {', '.join(names)} {'is' if len(names) == 1 else 'are'} missing{advice}"


def _for_items(what: str, value: tuple[object, ...], annotation: Annotation) -> list[Annotation]:
    if isinstance(annotation, Leaf):
        return [annotation] * len(value)
    if isinstance(annotation, AnyLength):
        return [annotation.each] * len(value)
    if len(annotation.items) != len(value):
        raise TypeError(
            f"Invalid {what}: Received a tuple of length {len(value)} for a parameter annotated "
            f"as a tuple of length {len(annotation.items)}"
        )
    return list(annotation.items)


def _number_behind(value: Any) -> Any:
    """Return the number that stands for an argument of a recorded function, or what is given.

    Unlike other uses, this doesn't make the recording one for that number.
    """
    return value._value if _is_recorded(value) else value  # noqa: SLF001


def _is_recorded(value: object) -> bool:
    module = sys.modules.get("cudacore.graph._recorded_number")
    return module is not None and issubclass(
        type(value),
        module._RecordedNumber,  # noqa: SLF001 - imported only where functions are recorded
    )


def _constant(what: str, value: Any) -> ConstantConstraint:
    if _is_recorded(value):
        value = value._fix()  # noqa: SLF001
    if not is_constant(value):
        dtype = from_foreign(value)
        if dtype is None:
            advice = (
                " Pass a number of Python, as by int() or .item()."
                if hasattr(value, "item")
                else ""
            )
            raise TypeError(
                f"Invalid {what}: Could not interpret object of type '{type(value).__name__}' as a "
                f"constant.{advice}"
            )
        value = dtype
    return ConstantConstraint(value)


def strides_of(view: StridedMemoryView) -> tuple[int, ...]:
    """Return the strides of a view in elements.

    Those of elements in C order are such that they say no more than that.
    """
    in_order, step = [], 1
    for length in reversed(view.shape):
        in_order.append(step)
        step *= length
    in_order.reverse()
    given = view.strides
    if given is None or step == 0:
        return tuple(in_order)
    axes = zip(view.shape, given, in_order, strict=True)
    is_in_order = all(length == 1 or stride == wanted for length, stride, wanted in axes)
    return tuple(in_order) if is_in_order else given


def _describe_array(
    what: str, value: object, view: StridedMemoryView, annotation: Any, infer_ones: bool
) -> ArrayConstraint:
    # Its own data type, since NumPy lacks some.
    dtype = from_foreign(getattr(value, "dtype", None)) or from_foreign(view.dtype)
    if dtype is None:
        raise TypeError(f"Invalid {what}: Unsupported array dtype {view.dtype}")
    index_dtype = _dtype.int32 if annotation is None else annotation.index_dtype
    shape, strides = list(view.shape), strides_of(view)
    for text, numbers in (("shape", shape), ("stride", strides)):
        for number in numbers:
            if number > index_dtype.limits[1]:
                raise OverflowError(
                    f"Invalid {what}: {text} is too big: {number} doesn't fit {index_dtype}; "
                    "annotate the parameter with IndexedWithInt64"
                )
            if number < 0:
                raise ValueError(f"Invalid {what}: Negative strides are currently not supported")
    size = max(dtype.bitwidth // 8, 1)
    if view.ptr % size:
        raise ValueError(
            f"Invalid {what}: The address {view.ptr:#x} is not a multiple of the {size} bytes that "
            f"an element of {dtype} takes"
        )
    ndim = len(shape)
    static_shape = _axes(what, annotation, "static_shape_dims", ndim)
    static_strides = _axes(what, annotation, "static_stride_dims", ndim)
    # Static strides that are asked for replace those that are found.
    constants = [
        stride if axis in static_strides or (not static_strides and stride == 1) else None
        for axis, stride in enumerate(strides)
    ]
    lengths = [
        length
        if axis in static_shape or (infer_ones and not static_shape and length == 1)
        else None
        for axis, length in enumerate(shape)
    ]
    factor = max(_ALIGNMENT // size, 1)
    return ArrayConstraint(
        dtype,
        ndim,
        index_dtype=index_dtype,
        stride_lower_bound_incl=0,
        alias_groups=(),
        may_alias_internally=False,
        stride_constant=constants,
        shape_constant=lengths,
        stride_divisible_by=[
            factor if constant is None and stride % factor == 0 else 1
            for stride, constant in zip(strides, constants, strict=True)
        ],
        shape_divisible_by=[
            _ALIGNMENT if constant is None and length % _ALIGNMENT == 0 else 1
            for length, constant in zip(shape, lengths, strict=True)
        ],
        base_addr_divisible_by=_ALIGNMENT if view.ptr % _ALIGNMENT == 0 else size,
    )


def _axes(what: str, annotation: Any, field: str, ndim: int) -> set[int]:
    axes: set[int] = set()
    for axis in () if annotation is None else getattr(annotation, field):
        if not -ndim <= axis < ndim:
            raise ValueError(
                f"Invalid {what}: {field} contains axis {axis} but array rank is {ndim}"
            )
        if axis % ndim in axes:
            raise ValueError(f"Invalid {what}: {field} contains duplicate axis {axis}")
        axes.add(axis % ndim)
    return axes


def _common(what: str, elements: list[ArrayConstraint], annotation: Any) -> ArrayConstraint:
    """Return what holds for all arrays of a list."""
    first = elements[0]

    def equal(field: str) -> list[int | None]:
        values = list(zip(*(getattr(element, field) for element in elements), strict=True))
        return [each[0] if all(value == each[0] for value in each) else None for each in values]

    for field, name in (("shape_constant", "shape"), ("stride_constant", "stride")):
        axes = _axes(what, annotation, f"static_{name}_dims", first.ndim)
        for axis in axes:
            if equal(field)[axis] is None:
                raise ValueError(
                    f"Invalid {what}: Arrays in list vary in static {name} at axis {axis}"
                )
    strides = equal("stride_constant")

    def factors(field: str, constants: list[int | None]) -> list[int]:
        values = zip(*(getattr(element, field) for element in elements), strict=True)
        return [
            1 if constant is not None else min(each)
            for each, constant in zip(values, constants, strict=True)
        ]

    lengths = equal("shape_constant")
    return ArrayConstraint(
        first.dtype,
        first.ndim,
        index_dtype=first.index_dtype,
        stride_lower_bound_incl=0,
        alias_groups=(),
        may_alias_internally=False,
        stride_constant=strides,
        shape_constant=lengths,
        stride_divisible_by=factors("stride_divisible_by", strides),
        shape_divisible_by=factors("shape_divisible_by", lengths),
        base_addr_divisible_by=min(element.base_addr_divisible_by for element in elements),
    )
