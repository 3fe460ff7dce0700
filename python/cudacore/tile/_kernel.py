# SPDX-License-Identifier: Apache-2.0
"""Kernels: functions that each block of a grid evaluates."""

from __future__ import annotations

import threading
from functools import cached_property
from types import FunctionType
from typing import TYPE_CHECKING, Any, NoReturn, overload

from cudacore._public import public
from cudacore.tile._hints import Hint, Hints

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cudacore._core import _TileLaunches
    from cudacore.tile._annotation import Annotation
    from cudacore.tile._specialization import Specialization
    from cudacore.tile.compilation._constraint import ParameterConstraint


class _ThisThread(threading.local):
    compiles = 0  # how many kernels it is in the middle of compiling


_this_thread = _ThisThread()


def is_compiling() -> bool:
    """Tell whether this thread is in the middle of compiling a kernel."""
    return _this_thread.compiles > 0


@public("cudacore.tile")
class kernel:  # noqa: N801 - it is used as a decorator
    """Make a kernel of a Python function, which `launch` has each block of a grid evaluate.

    The function is compiled when it is launched, once for each combination of what its arguments
    are: their types, the dimensions of arrays, whether strides are 1 and addresses, strides and
    lengths are multiples of 16, and the values of constants.

    Parameters
    ----------
    function : function
        The function. Without it, the result is a decorator.
    num_ctas : int or ByTarget, optional
        A power of two up to 16. It is checked and has no effect: one block of the device works on
        each block of the grid.
    occupancy : int or ByTarget, optional
        How many blocks should fit on a multiprocessor, 1 to 32, which limits the registers.
    opt_level : int or ByTarget
        0 to 3, by default 3: how much the device's assembler optimizes, its option ``-O``.
    num_worker_warps : int or ByTarget, optional
        How many warps a block has: 4 or 8.

    Raises
    ------
    TypeError
        `function` is not a Python function, or a hint is no int.
    ValueError
        A hint is out of range.

    Examples
    --------
    >>> import cudacore.tile as ct
    >>> @ct.kernel
    ... def add(x, y, result, size: ct.Constant[int]):
    ...     i = ct.bid(0)
    ...     total = ct.load(x, (i,), (size,)) + ct.load(y, (i,), (size,))
    ...     ct.store(result, (i,), total)
    """

    @overload
    def __new__(  # type: ignore[misc]
        cls,
        function: None = None,
        /,
        *,
        num_ctas: Hint = None,
        occupancy: Hint = None,
        opt_level: Hint = 3,
        num_worker_warps: Hint = None,
    ) -> Callable[[Callable[..., Any]], kernel]: ...
    @overload
    def __new__(
        cls,
        function: Callable[..., Any],
        /,
        *,
        num_ctas: Hint = None,
        occupancy: Hint = None,
        opt_level: Hint = 3,
        num_worker_warps: Hint = None,
    ) -> kernel: ...
    def __new__(cls, function: Any = None, /, **hints: Any) -> Any:
        """Return a kernel, or a decorator that makes one."""
        if function is None:
            checked = Hints(**hints)
            return lambda function: cls(function, **checked.given())
        return super().__new__(cls)

    def __init__(
        self,
        function: Callable[..., Any] | None = None,
        /,
        *,
        num_ctas: Hint = None,
        occupancy: Hint = None,
        opt_level: Hint = 3,
        num_worker_warps: Hint = None,
    ) -> None:
        if not isinstance(function, FunctionType):
            raise TypeError("`kernel` decorator must be applied to a Python function")
        # Loaded here, so that the first launch takes less: most kernels are launched.
        from cudacore.tile import _launch  # noqa: F401, PLC0415 - it imports this module

        self.function = function
        self.hints = Hints(
            num_ctas=num_ctas,
            occupancy=occupancy,
            opt_level=opt_level,
            num_worker_warps=num_worker_warps,
        )
        self._specializations: dict[tuple[object, ...], Specialization] = {}
        self._launches: _TileLaunches | None = None  # made by _known_launches()
        self._lock = threading.RLock()
        # Each is held while a specialization is compiled; launches of others don't wait for it.
        self._compiling: dict[tuple[object, ...], threading.RLock] = {}
        self.__name__ = function.__name__
        self.__qualname__ = function.__qualname__
        self.__module__ = function.__module__
        self.__doc__ = function.__doc__
        self.__wrapped__ = function

    @property
    def _pyfunc(self) -> FunctionType:
        return self.function

    @cached_property
    def parameters(self) -> Sequence[tuple[str, Annotation]]:
        """The names of the parameters, and what their annotations ask for."""
        from cudacore.tile._annotation import annotations_of  # noqa: PLC0415 - loaded when used

        return annotations_of(self.function)

    def _known_launches(self) -> _TileLaunches:
        """Return the launches that need nothing compiled."""
        if self._launches is not None:
            return self._launches
        from cudacore import _core  # noqa: PLC0415 - loaded when used
        from cudacore.tile._annotation import what_differs  # noqa: PLC0415 - loaded when used

        made = _core._TileLaunches.create(  # noqa: SLF001
            bytes(what_differs(wanted) for _, wanted in self.parameters)
        )
        with self._lock:
            if self._launches is None:
                self._launches = made
            return self._launches

    def replace_hints(self, **hints: Any) -> kernel:
        """Return a kernel of the same function with other hints, which is compiled anew.

        Parameters
        ----------
        **hints
            Those of `kernel` that change.

        Raises
        ------
        TypeError, ValueError
            As for `kernel`.

        Examples
        --------
        >>> import cudacore.tile as ct
        >>> @ct.kernel
        ... def twice(x, size: ct.Constant[int]):
        ...     i = ct.bid(0)
        ...     ct.store(x, i, 2 * ct.load(x, i, shape=size))
        >>> twice.replace_hints(occupancy=2, num_worker_warps=8)
        <tile kernel twice>
        """
        return kernel(self.function, **Hints(**{**self.hints.given(), **hints}).given())

    def _specialize(
        self, constraints: Sequence[ParameterConstraint], architecture: int
    ) -> Specialization:
        """Return what is compiled for constraints and an architecture, such as 90."""
        key = (architecture, *constraints)
        found = self._current(key)
        if found is not None:
            return found
        with self._lock:
            compiling = self._compiling.setdefault(key, threading.RLock())
        if not compiling.acquire(blocking=not _this_thread.compiles):
            # By another thread, which may wait for what this one compiles already.
            return self._compile(key, constraints, architecture)
        try:
            found = self._current(key)
            return self._compile(key, constraints, architecture) if found is None else found
        finally:
            compiling.release()
            with self._lock:
                if self._compiling.get(key) is compiling:
                    del self._compiling[key]

    def _compile(
        self,
        key: tuple[object, ...],
        constraints: Sequence[ParameterConstraint],
        architecture: int,
    ) -> Specialization:
        from cudacore.tile._specialization import specialize  # noqa: PLC0415 - loaded when used

        _this_thread.compiles += 1
        try:
            compiled = specialize(self, constraints, architecture)
        finally:
            _this_thread.compiles -= 1
        with self._lock:
            found = self._current(key)
            if found is None:
                found = self._specializations[key] = compiled
            return found

    def _current(self, key: tuple[object, ...]) -> Specialization | None:
        """Return what is compiled, unless what it was made from stands for something else now."""
        found = self._specializations.get(key)
        return found if found is not None and found.is_current() else None

    def cuda_source(self, args: Sequence[Any], *, architecture: int | None = None) -> str:
        """Return the CUDA C++ that the kernel becomes for these arguments.

        Parameters
        ----------
        args : sequence
            The arguments, as for `launch`.
        architecture : int, optional
            The compute capability, such as 90; by default that of the current device.

        Raises
        ------
        TileError
            The kernel can't be compiled.

        Examples
        --------
        >>> import cudacore
        >>> import cudacore.tile as ct
        >>> @ct.kernel
        ... def twice(x, size: ct.Constant[int]):
        ...     i = ct.bid(0)
        ...     ct.store(x, i, 2 * ct.load(x, i, shape=size))
        >>> x = cudacore.Device().allocate(1024).view("float32")
        >>> source = twice.cuda_source((x, 128), architecture=80)
        >>> print(source[source.index("extern") :])
        extern "C" __global__ void __launch_bounds__(...) twice(f32* v0, i32 v1, i32 v2) {
        ...
        """
        from cudacore import Device  # noqa: PLC0415 - loaded when used
        from cudacore.tile._generate import generate  # noqa: PLC0415 - loaded when used
        from cudacore.tile._launch_argument import describe_all  # noqa: PLC0415 - loaded when used
        from cudacore.tile._specialization import architecture_of  # noqa: PLC0415 - loaded when used

        if architecture is not None and not isinstance(architecture, int):
            raise TypeError(f"architecture must be an int, such as 90, not {architecture!r}")
        if architecture is None:
            architecture = architecture_of(Device())
        constraints = describe_all(self, args)
        try:
            return generate(self, constraints, architecture).source
        except Exception as error:  # noqa: BLE001 - raised again
            from cudacore.tile._exception import without_frames  # noqa: PLC0415 - loaded when used

            raise without_frames(error) from error.__cause__

    def __call__(self, *_: object, **__: object) -> NoReturn:
        """Refuse: a kernel is launched."""
        raise TypeError("Tile kernels cannot be called directly. Use launch() instead.")

    def __getitem__(self, _: object) -> NoReturn:
        """Refuse: the grid is an argument of the launch."""
        raise TypeError(
            f"Tile kernels have no subscript. Use launch(stream, grid, {self.__name__}, arguments)."
        )

    def __reduce__(self) -> str:
        """Be copied and pickled by name, as functions are."""
        return self.__qualname__

    def __repr__(self) -> str:
        return f"<tile kernel {self.__qualname__}>"
