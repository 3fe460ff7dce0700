# SPDX-License-Identifier: Apache-2.0
"""Random tile kernels, and the functions of the language as NumPy computes them."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

#: Blocks of the grid, and elements that each has in memory of its own.
BLOCKS, OWN = 3, 64
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
FLOATS = ("float16", "float32", "float64")
# Floats are small whole numbers, so that nothing is rounded.
_LARGEST = 16


class Host:
    """The functions of the language on NumPy's arrays, for one block."""

    float16, float32, float64 = np.float16, np.float32, np.float64
    int8, int16, int32, int64 = np.int8, np.int16, np.int32, np.int64
    uint8, uint16, uint32, uint64 = np.uint8, np.uint16, np.uint32, np.uint64
    bool_ = np.bool_
    where, minimum, maximum = map(staticmethod, (np.where, np.minimum, np.maximum))
    reshape, permute = map(staticmethod, (np.reshape, np.transpose))
    broadcast_to, cat, full = map(staticmethod, (np.broadcast_to, np.concatenate, np.full))

    def __init__(self, block: int) -> None:
        self.block = block

    def bid(self, _: int) -> int:
        return self.block

    @staticmethod
    def kernel(**_: Any) -> Any:
        return lambda function: function

    @staticmethod
    def arange(count: int, dtype: Any) -> Any:
        return np.arange(count, dtype=dtype)

    @staticmethod
    def load(x: Any, index: Any, shape: Any, **_: Any) -> Any:
        result = np.zeros(shape, x.dtype)
        starts = [i * extent for i, extent in zip(index, shape, strict=True)]
        inside = x[tuple(slice(s, s + n) for s, n in zip(starts, shape, strict=True))]
        result[tuple(slice(n) for n in inside.shape)] = inside
        return result

    @staticmethod
    def store(x: Any, index: Any, tile: Any) -> None:
        place = tuple(slice(i * n, (i + 1) * n) for i, n in zip(index, tile.shape, strict=True))
        x[place] = tile[tuple(slice(n) for n in x[place].shape)]

    @staticmethod
    def gather(x: Any, index: Any, *, padding_value: Any) -> Any:
        inside = (index >= 0) & (index < len(x))
        return np.where(inside, x[np.where(inside, index, 0)], padding_value).astype(x.dtype)

    @staticmethod
    def extract(x: Any, index: Any, shape: Any) -> Any:
        places = (slice(i * n, (i + 1) * n) for i, n in zip(index, shape, strict=True))
        return x[tuple(places)]

    @staticmethod
    def sum(x: Any, axis: int | None = None) -> Any:
        return np.sum(x, axis=axis, dtype=np.int32 if x.dtype == np.bool_ else x.dtype)

    @staticmethod
    def cumsum(x: Any, axis: int, *, reverse: bool) -> Any:
        if reverse:
            return np.flip(np.cumsum(np.flip(x, axis), axis=axis, dtype=x.dtype), axis)
        return np.cumsum(x, axis=axis, dtype=x.dtype)

    @staticmethod
    def max(x: Any, axis: int) -> Any:
        return np.max(x, axis=axis)

    @staticmethod
    def min(x: Any, axis: int) -> Any:
        return np.min(x, axis=axis)

    @staticmethod
    def argmax(x: Any, axis: int) -> Any:
        return np.argmax(x, axis=axis).astype(np.int32)

    @staticmethod
    def mma(x: Any, y: Any, acc: Any) -> Any:
        return (x.astype(acc.dtype) @ y.astype(acc.dtype) + acc).astype(acc.dtype)

    class PaddingMode:
        ZERO = None


@dataclass
class Program:
    """A kernel; its arrays are ``a`` and ``b``, ``memory``, and one for each result."""

    warps: int = 4
    inputs: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)
    results: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    @property
    def source(self) -> str:
        names = ["x0", "x1", "line", "memory", *(f"result{i}" for i in range(len(self.results)))]
        decorator = f"@ct.kernel(num_worker_warps={self.warps})"
        head = f"{decorator}\ndef k({', '.join(names)}, n, m):\n"
        return head + "\n".join(self.lines) + "\n"


class _Author:
    """Writes a kernel, statement by statement; knows the type of each variable."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.program = Program()
        self.depth = 1
        self.types: dict[str, tuple[str, tuple[int, ...]]] = {}
        self.count = 0

    def one_of(self, *choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    def line(self, text: str) -> None:
        self.program.lines.append("    " * self.depth + text)

    def name(self) -> str:
        self.count += 1
        return f"t{self.count}"

    def shape(self) -> tuple[int, ...]:
        rank = self.one_of(1, 2, 2, 3)
        return tuple(
            self.one_of(*((1, 2, 4, 8, 16) if rank < 3 else (1, 2, 4))) for _ in range(rank)
        )

    def let(self, text: str, dtype: str, shape: tuple[int, ...]) -> str:
        """Assign to a new variable; floats are kept small."""
        name = self.name()
        self.line(f"{name} = {text}")
        if dtype in FLOATS:
            self.line(f"{name} = ct.minimum(ct.maximum({name}, -{_LARGEST}.0), {_LARGEST}.0)")
        self.types[name] = dtype, shape
        return name

    def any(self) -> str:
        return self.one_of(*reversed(self.types))

    def cast(self, name: str, dtype: str) -> str:
        """Give an expression of another data type, in whose range the numbers are."""
        own = self.types[name][0]
        if own == dtype:
            return name
        if own in INTEGERS and dtype in FLOATS:
            return f"({name} % {_LARGEST}).astype(ct.{dtype})"
        if own in FLOATS and dtype.startswith("uint"):
            return f"(({name} * {name}) % 100.0).astype(ct.{dtype})"
        return f"{name}.astype(ct.{dtype})"

    def like(self, name: str, dtype: str, shape: tuple[int, ...]) -> str:
        """Give an expression with the elements of a variable in another shape."""
        own = self.types[name][1]
        text = self.cast(name, dtype)
        if own == shape:
            return text
        size, wanted = math.prod(own), math.prod(shape)
        if size == wanted:
            return f"ct.reshape({text}, {shape})"
        if size < wanted:
            flat = f"ct.reshape({text}, (1, {size}))"
            wide = f"ct.broadcast_to({flat}, ({wanted // size}, {size}))"
            return f"ct.reshape({wide}, {shape})"
        part = self.one_of(0, size // wanted - 1)
        flat = f"ct.reshape({text}, ({size},))"
        return f"ct.reshape(ct.extract({flat}, ({part},), ({wanted},)), {shape})"

    def arithmetic(self, name: str) -> str:  # noqa: PLR0911
        """Give an expression of the type of a variable."""
        dtype, shape = self.types[name]
        other = self.like(self.any(), dtype, shape)
        if dtype == "bool_":
            return f"{name} {self.one_of('&', '|', '^', '==')} {other}"
        signs = ["+", "-", "*"] + ([] if dtype in FLOATS else ["&", "|", "^"])
        kind = self.one_of("sign", "extreme", "divide", "where", "constant", "abs")
        if kind == "sign":
            return f"{name} {self.one_of(*signs)} {other}"
        if kind == "extreme":
            return f"ct.{self.one_of('minimum', 'maximum')}({name}, {other})"
        if kind == "divide":
            divisor = self.name()
            self.line(f"{divisor} = {other}")
            safe = f"ct.where({divisor} == 0, ct.full({shape}, 3, ct.{dtype}), {divisor})"
            return f"{name} {self.one_of('//', '%')} {safe}"
        if kind == "where":
            condition = (
                f"{name} {self.one_of('<', '<=', '>', '!=')} ct.full({shape}, 2, ct.{dtype})"
            )
            return f"ct.where({condition}, {name}, {other})"
        if kind == "constant":
            return f"{name} {self.one_of(*signs)} {self.one_of(1, 2, 5)}"
        return f"abs({name})" if dtype[0] != "u" else f"~{name}"

    def elementwise(self) -> None:
        name = self.any()
        self.let(self.arithmetic(name), *self.types[name])

    def compared(self) -> None:
        name = self.any()
        dtype, shape = self.types[name]
        if dtype != "bool_":
            other = self.like(self.any(), dtype, shape)
            self.let(f"{name} {self.one_of('<', '>=', '==')} {other}", "bool_", shape)

    def converted(self) -> None:
        name = self.any()
        dtype = self.one_of(*INTEGERS, *FLOATS, "bool_")
        self.let(self.cast(name, dtype), dtype, self.types[name][1])

    def permuted(self) -> None:
        name = self.any()
        dtype, shape = self.types[name]
        axes = tuple(self.draw(st.permutations(range(len(shape)))))
        self.let(f"ct.permute({name}, {axes})", dtype, tuple(shape[axis] for axis in axes))

    def reshaped(self) -> None:
        name = self.any()
        dtype, shape = self.types[name]
        size, result = math.prod(shape), []
        for _ in range(self.one_of(0, 1, 2)):
            result.append(self.one_of(*(2**i for i in range(size.bit_length()))))
            size //= result[-1]
        self.let(f"ct.reshape({name}, {(*result, size)})", dtype, (*result, size))

    def joined(self) -> None:
        name = self.any()
        dtype, shape = self.types[name]
        axis = self.one_of(*range(len(shape)))
        if math.prod(shape) <= 128:
            other = self.like(self.any(), dtype, shape)
            extents = (*shape[:axis], 2 * shape[axis], *shape[axis + 1 :])
            self.let(f"ct.cat(({name}, {other}), {axis})", dtype, extents)

    def reduced(self) -> None:
        name = self.any()
        dtype, shape = self.types[name]
        axis = self.one_of(*range(len(shape)))
        rest = shape[:axis] + shape[axis + 1 :] or (1,)
        function = self.one_of("sum", "max", "min", "argmax")
        if dtype == "bool_":
            function = "sum"
        given = {"argmax": "int32"}.get(function, "int32" if dtype == "bool_" else dtype)
        self.let(f"ct.reshape(ct.{function}({name}, {axis}), {rest})", given, rest)

    def scanned(self) -> None:
        name = self.any()
        dtype, shape = self.types[name]
        axis = self.one_of(*range(len(shape)))
        if dtype != "bool_":
            backward = self.one_of(False, True)
            self.let(f"ct.cumsum({name}, {axis}, reverse={backward})", dtype, shape)

    def product(self) -> None:
        m, n, k = (self.one_of(2, 4, 8, 16) for _ in range(3))
        dtype, sums = self.one_of(("float16", "float32"), ("float32", "float32"), ("int8", "int32"))
        x, y = self.like(self.any(), dtype, (m, k)), self.like(self.any(), dtype, (k, n))
        self.let(f"ct.mma({x}, {y}, {self.like(self.any(), sums, (m, n))})", sums, (m, n))

    def kept(self) -> None:
        """Store to the block's own memory, and perhaps load from it in another shape."""
        size = self.one_of(1, 4, 16, OWN)
        text = self.like(self.any(), "int32", (1, size))
        self.line(f"ct.store(memory, (ct.bid(0), {self.one_of(0, OWN // size - 1)}), {text})")
        self.fetched()

    def fetched(self) -> None:
        size = self.one_of(2, 8, 32)
        place = self.one_of(0, OWN // size - 1)
        self.let(f"ct.load(memory, (ct.bid(0), {place}), (1, {size}))", "int32", (1, size))

    def gathered(self) -> None:
        name = self.any()
        index = f"({self.cast(name, 'int32')} % 40 - 5)"
        shape = self.types[name][1]
        self.let(f"ct.gather(line, {index}, padding_value=7)", "int32", shape)

    def changed(self, name: str) -> None:
        """Assign to a variable a value of its own type."""
        dtype = self.types[name][0]
        self.line(f"{name} = {self.arithmetic(name)}")
        if dtype in FLOATS:
            self.line(f"{name} = ct.minimum(ct.maximum({name}, -{_LARGEST}.0), {_LARGEST}.0)")

    def condition(self) -> str:
        if self.one_of(True, False):
            return f"{self.one_of('n', 'm', 'ct.bid(0)')} {self.one_of('<', '==')} 2"
        name = self.any()
        return (
            f"ct.sum(({name} != {name} * 0).astype(ct.int32)) > 2"
            if (self.types[name][0] != "bool_")
            else f"ct.sum({name}) > 2"
        )

    def branch(self) -> None:
        name = self.any()
        self.line(f"if {self.condition()}:")
        known = dict(self.types)
        self.inside(lambda: self.changed(name))
        self.types = dict(known)
        if self.one_of(True, False):
            self.line("else:")
            self.inside(lambda: self.changed(name))
            self.types = known

    def inside(self, *statements: Any) -> None:
        self.depth += 1
        for statement in statements:
            statement()
        self.depth -= 1

    def loop(self) -> None:
        names = {self.any(), self.any()}
        known = dict(self.types)
        index = self.name()
        form = self.one_of("for", "for", "while")
        if form == "for":
            bounds = self.one_of("n", "m", "n, m", "0, 5, 2", "0, 7, m + 1")
            self.line(f"for {index} in range({bounds}):")
        else:
            self.line(f"{index} = 0")
            self.line(f"while {index} < m:")

        def leave() -> None:
            if self.one_of(True, False, False):
                self.line(f"if {index} == {self.one_of(1, 2)} and {self.condition()}:")
                self.inside(lambda: self.line(self.one_of("break", "continue")))

        def body() -> None:
            if form == "while":
                self.line(f"{index} = {index} + 1")
            for name in sorted(names):
                self.one_of(self.elementwise, self.kept, self.reshaped, leave)()
                self.changed(name)
                if self.types[name][0] == "int32":
                    self.line(f"{name} = {name} + {index}")

        self.inside(body)
        self.types = known

    def write(self) -> Program:
        """Write a whole kernel."""
        self.program.warps = self.one_of(4, 8)
        for number in range(2):
            shape, dtype = self.shape(), self.one_of("int32", *INTEGERS, *FLOATS)
            whole = (BLOCKS * shape[0] - self.one_of(0, 1), *shape[1:])
            self.program.inputs.append((dtype, whole))
            index = "(ct.bid(0)" + ", 0" * (len(shape) - 1) + ",)"
            load = f"ct.load(x{number}, {index}, {shape}, padding_mode=ct.PaddingMode.ZERO)"
            self.let(load, dtype, shape)
        statements = (
            *(self.elementwise, self.compared, self.converted, self.permuted, self.reshaped),
            *(self.joined, self.reduced, self.scanned, self.product, self.kept, self.gathered),
            *(self.branch, self.loop, self.loop, self.fetched),
        )
        for _ in range(self.one_of(*range(3, 10))):
            self.one_of(*statements)()
        for number, (name, (dtype, shape)) in enumerate(self.types.items()):
            self.program.results.append((dtype, (BLOCKS, *shape)))
            index = "(ct.bid(0)" + ", 0" * len(shape) + ")"
            text = f"ct.reshape({name}, {(1, *shape)})"
            self.line(f"ct.store(result{number}, {index}, {text})")
        return self.program


@st.composite
def programs(draw: Any) -> Program:
    """Draw a kernel."""
    return _Author(draw).write()
