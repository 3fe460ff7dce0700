# SPDX-License-Identifier: Apache-2.0
"""What a kernel is compiled for."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cudacore._public import public
from cudacore.tile.compilation._calling_convention import CallingConvention
from cudacore.tile.compilation._constraint import (
    ArrayConstraint,
    DataclassConstraint,
    ListConstraint,
    ParameterConstraint,
    ParameterConstraintLike,
    TupleConstraint,
    to_constraint,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@public("cudacore.tile.compilation")
@dataclass(frozen=True, init=False)
class KernelSignature:
    """What a kernel is compiled for: a constraint for each parameter of its Python function.

    Parameters
    ----------
    parameters : sequence
        For each parameter a constraint; a constant stands for a `ConstantConstraint`, a tuple for a
        `TupleConstraint`.
    calling_convention : CallingConvention
        Which of the constraints are possible, and how arguments are passed.
    symbol : str, optional
        The name of the compiled kernel; if None, it is made from the function's name and the
        constraints.

    Raises
    ------
    TypeError, ValueError
        A constraint is none, or not possible with this convention; or alias groups make no sense.

    Examples
    --------
    >>> import cudacore.tile as ct
    >>> from cudacore.tile.compilation import CallingConvention, KernelSignature, ScalarConstraint
    >>> signature = KernelSignature(
    ...     [ScalarConstraint(ct.float32), 16], CallingConvention.cutile_python_v1()
    ... )
    >>> signature.with_mangled_symbol("scale").symbol
    'scale_Kt1_Sf32_I16'
    """

    parameters: tuple[ParameterConstraint, ...]
    calling_convention: CallingConvention
    symbol: str | None

    def __init__(
        self,
        parameters: Sequence[ParameterConstraintLike],
        calling_convention: CallingConvention,
        symbol: str | None = None,
    ) -> None:
        if symbol is not None and not isinstance(symbol, str):
            raise TypeError(f"`symbol` must be a string, got {type(symbol)}")
        if not isinstance(calling_convention, CallingConvention):
            raise TypeError(f"Unsupported calling convention {calling_convention}")
        constraints = tuple(to_constraint(parameter) for parameter in parameters)
        _check_alias_groups(constraints)
        for constraint in constraints:
            _check_convention(constraint, calling_convention)
        object.__setattr__(self, "parameters", constraints)
        object.__setattr__(self, "calling_convention", calling_convention)
        object.__setattr__(self, "symbol", symbol)

    def with_symbol(self, symbol: str | None) -> KernelSignature:
        """Return the same signature with another symbol.

        Examples
        --------
        >>> import cudacore.tile as ct
        >>> from cudacore.tile import compilation
        >>> number = compilation.ScalarConstraint(ct.float32)
        >>> convention = compilation.CallingConvention.cutile_python_v1()
        >>> signature = compilation.KernelSignature([number], convention)
        >>> signature.with_symbol("scale").symbol
        'scale'
        """
        return dataclasses.replace(self, symbol=symbol)

    def with_mangled_symbol(self, function_name: str) -> KernelSignature:
        """Return the same signature with the symbol that `mangle_kernel_name` makes.

        Examples
        --------
        >>> import cudacore.tile as ct
        >>> from cudacore.tile import compilation
        >>> number = compilation.ScalarConstraint(ct.float32)
        >>> convention = compilation.CallingConvention.cutile_python_v1()
        >>> signature = compilation.KernelSignature([number], convention)
        >>> signature.with_mangled_symbol("scale").symbol
        'scale_Kt1_Sf32'
        """
        from cudacore.tile.compilation._mangling import mangle_kernel_name  # noqa: PLC0415 - a cycle

        return self.with_symbol(mangle_kernel_name(function_name, self))

    @staticmethod
    def from_kernel_args(
        kernel: Any,
        kernel_args: Sequence[Any],
        calling_convention: CallingConvention,
        *,
        symbol: str | None = None,
    ) -> KernelSignature:
        """Return the signature that `launch` would compile a kernel for.

        It assumes what happens to hold for these arguments, such as an address that is a multiple
        of 16 bytes, so use it to try things out. From version 2 of the convention on, an extent of
        1 is taken as a constant, unless the parameter's annotation says which extents are.

        Parameters
        ----------
        kernel : kernel
            The kernel.
        kernel_args : sequence
            Its arguments, as for `launch`.
        calling_convention : CallingConvention
            The calling convention.
        symbol : str, optional
            The name of the compiled kernel; if None, the mangled one.

        Examples
        --------
        >>> import cudacore
        >>> import cudacore.tile as ct
        >>> from cudacore.tile.compilation import CallingConvention, KernelSignature
        >>> @ct.kernel
        ... def fill(x, value: float, size: ct.Constant[int]):
        ...     ct.store(x, ct.bid(0), ct.full((size,), value, x.dtype))
        >>> x = cudacore.Device().allocate(1024).view("float32")
        >>> convention = CallingConvention.cutile_python_v1()
        >>> signature = KernelSignature.from_kernel_args(fill, (x, 0.5, 128), convention)
        >>> [type(each).__name__ for each in signature.parameters]
        ['ArrayConstraint', 'ScalarConstraint', 'ConstantConstraint']
        """
        from cudacore.tile._launch_argument import describe_all  # noqa: PLC0415 - a cycle

        if not isinstance(calling_convention, CallingConvention):
            kind = type(calling_convention).__name__
            raise TypeError(
                f"calling_convention must be a CallingConvention, not {kind}; the order is "
                "from_kernel_args(kernel, kernel_args, calling_convention)"
            )
        constraints = describe_all(
            kernel, tuple(kernel_args), infer_ones=calling_convention.version > 1
        )
        signature = KernelSignature(constraints, calling_convention, symbol)
        return signature if symbol is not None else signature.with_mangled_symbol(kernel.__name__)


def alias_groups_of(
    parameters: Sequence[ParameterConstraint],
) -> Iterator[tuple[type, tuple[str, ...]]]:
    """Yield the alias groups of each array and list, in order, with the class of its constraint."""
    for parameter in parameters:
        if isinstance(parameter, (ArrayConstraint, ListConstraint)):
            yield type(parameter), parameter.alias_groups
        if isinstance(parameter, ListConstraint):
            yield from alias_groups_of([parameter.element])
        elif isinstance(parameter, TupleConstraint):
            yield from alias_groups_of(parameter.items)
        elif isinstance(parameter, DataclassConstraint):
            yield from alias_groups_of(parameter.fields)


def _check_alias_groups(parameters: Sequence[ParameterConstraint]) -> None:
    users: dict[str, list[type]] = {}
    for kind, groups in alias_groups_of(parameters):
        for group in groups:
            if groups.count(group) > 1:
                raise ValueError(
                    f"Alias group `{group}` occurs more than once in the group list {list(groups)}"
                )
            users.setdefault(group, []).append(kind)
    for group, kinds in users.items():
        for kind in kinds:
            if kind is not kinds[0]:
                raise ValueError(
                    f"Alias group `{group}` is used in two constraints of different types "
                    f"{kinds[0].__name__} and {kind.__name__}. This is currently unsupported "
                    "(e.g., list storage is not allowed to alias an array)."
                )
        if len(kinds) == 1:
            raise ValueError(
                f"Alias group `{group}` is mentioned only once, and is therefore redundant. To "
                "specify that an array or a list may not alias any other object, use an empty "
                "tuple of alias groups."
            )


def _check_convention(constraint: ParameterConstraint, convention: CallingConvention) -> None:
    """Refuse what a calling convention lacks."""

    def require(version: int, what: str) -> None:
        if convention.version < version:
            raise ValueError(
                f"{what} are not supported by calling convention {convention.name}; version >= "
                f"{version} is required"
            )

    if isinstance(constraint, ArrayConstraint):
        if any(length is not None for length in constraint.shape_constant):
            require(2, "Static array shapes")
    elif isinstance(constraint, ListConstraint):
        _check_convention(constraint.element, convention)
    elif isinstance(constraint, TupleConstraint):
        require(2, "Tuple parameters")
        for item in constraint.items:
            _check_convention(item, convention)
    elif isinstance(constraint, DataclassConstraint):
        require(3, "Dataclass parameters")
        for field in constraint.fields:
            _check_convention(field, convention)
