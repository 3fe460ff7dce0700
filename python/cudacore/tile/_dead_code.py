# SPDX-License-Identifier: Apache-2.0
"""Removal of operations whose results nothing uses."""

from collections.abc import Iterable, Iterator
from typing import TypeVar

from cudacore.tile._text import TERMINATORS, Builder, Operation, Region, Value

_EFFECTS = frozenset(
    (
        *("store", "store_at", "atomic", "atomic_cas", "print", "assert", "call"),
        *("grid_wait", "grid_launch_dependents", "return", "break", "continue", "loop"),
    )
)


def remove_dead_code(builder: Builder) -> None:
    """Remove what computes nothing that reaches memory, among it what loops needlessly carry."""
    _Liveness(builder).remove()


class _Liveness:
    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.live: set[Value] = set()
        self.effects: dict[int, bool] = {}
        self.changed = True

    def remove(self) -> None:
        while self.changed:
            self.changed = False
            self._mark(self.builder.body, None)
        self._sweep(self.builder.body)

    def _use(self, values: Iterable[Value | int]) -> None:
        for each in values:
            value = self.builder.final(each)
            if isinstance(value, Value) and value not in self.live:
                self.live.add(value)
                self.changed = True

    def _has_effect(self, operation: Operation) -> bool:
        """Return whether an operation does something besides giving results."""
        known = self.effects.get(id(operation))
        if known is None:
            known = operation.name in _EFFECTS or any(
                self._has_effect(each) for region in operation.regions for each in _all(region)
            )
            self.effects[id(operation)] = known
        return known

    def _mark(self, region: Region, owner: "Operation | _If | None") -> None:
        """Mark what is used, from the last operation to the first."""
        for operation in reversed(list(_all(region))):
            if operation.name in TERMINATORS:
                self._mark_end(operation, owner)
            elif self._has_effect(operation) or any(r in self.live for r in operation.results):
                self._mark_operation(operation, owner)

    def _mark_operation(self, operation: Operation, owner: "Operation | _If | None") -> None:
        self._use(operation.operands)
        carried = operation.groups.get("iter", ())
        for key, values in operation.groups.items():
            if key != "iter":
                self._use(values)
        is_loop = operation.name in ("for", "loop")
        if operation.name in ("reduce", "scan"):
            for each in operation.regions:
                self._use(v for inner in _all(each) for v in inner.operands)
        # Jumps within an if belong to the loop around it.
        for region in operation.regions:
            self._mark(
                region, operation if is_loop or operation.name != "if" else _If(operation, owner)
            )
        if is_loop:
            for start, parameter in zip(carried, _parameters(operation), strict=True):
                if parameter in self.live:
                    self._use((start,))

    def _mark_end(self, end: Operation, owner: "Operation | _If | None") -> None:
        target = _target_of(end, owner)
        if target is None:
            return
        if target.name in ("for", "loop"):
            pairs = zip(end.operands, _parameters(target), target.results, strict=True)
            for operand, parameter, result in pairs:
                if result in self.live or parameter in self.live:
                    # A carried value is kept whole: parameter, result, and what each end gives.
                    self._use((operand, parameter, result))
        else:
            for operand, result in zip(end.operands, target.results, strict=False):
                if result in self.live:
                    self._use((operand,))

    def _sweep(self, region: Region, owner: "Operation | _If | None" = None) -> None:
        kept = []
        for operation in region.operations:
            operation.before = [each for each in operation.before if each.results[0] in self.live]
            if operation.name in TERMINATORS:
                self._sweep_end(operation, owner)
            elif not self._has_effect(operation) and not any(
                result in self.live for result in operation.results
            ):
                continue
            kept.append(operation)
        region.operations = kept
        for operation in kept:
            is_loop = operation.name in ("for", "loop")
            inner = _If(operation, owner) if operation.name == "if" else operation
            for each in operation.regions:
                self._sweep(each, inner)
            if is_loop:
                self._sweep_loop(operation)
            elif operation.name == "if":
                operation.results = tuple(r for r in operation.results if r in self.live)

    def _sweep_end(self, end: Operation, owner: "Operation | _If | None") -> None:
        target = _target_of(end, owner)
        if target is not None and target.name in ("for", "loop", "if"):
            pairs = zip(end.operands, target.results, strict=True)
            end.operands = tuple(o for o, result in pairs if result in self.live)

    def _sweep_loop(self, operation: Operation) -> None:
        keep = [result in self.live for result in operation.results]
        count = len(operation.regions[0].arguments) - len(keep)
        arguments = operation.regions[0].arguments
        carried = _kept(arguments[count:], keep)
        operation.regions[0].arguments = (*arguments[:count], *carried)
        if "iter" in operation.groups:
            operation.groups["iter"] = _kept(operation.groups["iter"], keep)
            if not operation.groups["iter"]:
                del operation.groups["iter"]
        operation.results = _kept(operation.results, keep)


_Kept = TypeVar("_Kept")


class _If:
    """An if, with what is around it, which jumps within it belong to."""

    def __init__(self, operation: Operation, around: "Operation | _If | None") -> None:
        self.operation = operation
        self.around = around


def _target_of(end: Operation, owner: "Operation | _If | None") -> Operation | None:
    """Return what a region's last operation gives its operands to; None for a return."""
    target = owner
    if end.name in ("break", "continue"):
        while isinstance(target, _If):
            target = target.around
    elif isinstance(target, _If):
        target = target.operation
    return target if isinstance(target, Operation) and end.name != "return" else None


def _kept(values: tuple[_Kept, ...], keep: list[bool]) -> tuple[_Kept, ...]:
    return tuple(value for value, kept in zip(values, keep, strict=True) if kept)


def _parameters(loop: Operation) -> tuple[Value, ...]:
    count = len(loop.results)
    arguments = loop.regions[0].arguments
    return arguments[len(arguments) - count :]


def _all(region: Region) -> Iterator[Operation]:
    """Yield the operations of a region, with those that are printed before others."""
    for operation in region.operations:
        yield from operation.before
        yield operation
