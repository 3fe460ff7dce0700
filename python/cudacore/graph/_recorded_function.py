# SPDX-License-Identifier: Apache-2.0
"""Functions that are recorded into graphs: what `cudacore.graph`, called, makes."""

from __future__ import annotations

import contextlib
import functools
import types
import warnings
from typing import Generic, NamedTuple, ParamSpec, TypeVar, overload

from cudacore import _core
from cudacore._integers import to_int
from cudacore._missing import HOW_TO_CAPTURE, MissingMember
from cudacore.graph._captured_libraries import CapturedLibraries, make_array_stand_in
from cudacore.graph._guards import find_guards, require_unchanged, uses_type
from cudacore.graph._no_collection import no_collection
from cudacore.graph._recorded_number import end_number_stand_ins, make_number_stand_in
from cudacore.graph._type_watch import TypeWatch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from cudacore.graph._guards import Guard

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")

#: CUresult of calls that fail because of a capture: CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED to
#: CUDA_ERROR_CAPTURED_EVENT.
_CAPTURE_ERRORS = range(900, 908)

_SPOILED = 901  # CUDA_ERROR_STREAM_CAPTURE_INVALIDATED

#: What code that looks at the types of its arguments raises: Python, ctypes, and numba.
_TYPE_ERRORS = {"ArgumentError", "TypeError", "TypingError"}

#: Flags of code that a call only begins: those of inspect, which takes long to import.
_LATER = (
    (0x20, "a generator"),
    (0x80, "a coroutine"),
    (0x100, "a coroutine"),
    (0x200, "an asynchronous generator"),
)


class Recording(NamedTuple):
    """One recording of a function."""

    arguments: tuple[str, ...]
    """What it is for: the kinds of arguments, and values that the function used."""
    nodes: int
    """How many nodes the graph has."""
    changing_nodes: int
    """How many of them take arguments, and change with these."""
    launches: int
    """How often it was launched."""


class RecordedFunction(Generic[_Parameters, _Result]):
    """A function that runs once for each kind of arguments, and is replayed afterwards.

    It comes from ``cudacore.graph(function)``, usually as a decorator.

    Attributes
    ----------
    __wrapped__ : function
        The function itself: calling that records nothing.
    """

    __wrapped__: Callable[_Parameters, _Result]
    if not TYPE_CHECKING:
        __enter__ = MissingMember("RecordedFunction.__enter__", HOW_TO_CAPTURE)

    def __init__(self, function: Callable[_Parameters, _Result], max_recordings: int) -> None:
        functools.update_wrapper(self, function, updated=())
        # A function's own attributes must not hide methods.
        own = {key: one for key, one in vars(function).items() if not hasattr(type(self), key)}
        self.__dict__.update(own)
        self._name = function.__qualname__
        self._max_recordings = max_recordings
        self._replay = _core._RecordedFunction.create(function, self._name, max_recordings)

    def __call__(self, /, *args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        result: Any = self._replay(*args, **kwargs)
        if result is NotImplemented:
            try:
                result = self._record(args, kwargs)
            except Exception as error:
                # Hide our own frames, so that the function's frames follow the caller's.
                trace = _trace_inside(self.__wrapped__, error)
                if trace is None and not isinstance(error, _core.CUDAError):
                    raise
                raise error.with_traceback(trace)  # noqa: B904 - it is the same one
        return result  # type: ignore[no-any-return]

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """Bind it to an object, as methods are."""
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        count = len(self._replay.recordings)
        return f"<recorded {self._name}, {count} recording{'s' * (count != 1)}>"

    def __reduce__(self) -> str:
        """Be found by name where it is unpickled, as functions are."""
        return self._name

    @property
    def recordings(self) -> tuple[Recording, ...]:
        """Tuple of Recording: What is recorded; the one that was used last is the first."""
        return tuple(Recording(*one) for one in self._replay.recordings)

    def clear(self) -> None:
        """Forget all recordings, for instance after changing what the function can't notice."""
        self._replay.clear()

    def _record(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Record a call, and launch the recording."""
        has_numbers = any(type(one) in (int, float) for one in (*args, *kwargs.values()))
        recorded = None
        watch = TypeWatch()
        try:
            make_number = make_number_stand_in if has_numbers and watch.is_possible() else None
            recorded = self._record_with(make_number, watch, args, kwargs)
        except Exception as error:
            # Code that looks at types may refuse what stands for a number.
            is_about_types = any(one.__name__ in _TYPE_ERRORS for one in type(error).__mro__)
            is_inside = _trace_inside(self.__wrapped__, error) is not None
            if not (is_about_types and has_numbers and is_inside) and not watch.has_noticed:
                raise
        while recorded is None:
            recorded = self._record_with(None, watch, args, kwargs)
        is_dropping, dead, result = recorded
        if dead:
            warnings.warn(
                f"{self._name} has been recorded {dead} times for objects that are gone, so that "
                "no call fits these recordings: a call that records costs more than one that "
                "doesn't. Make what it takes once, outside, or pass what is equal by value, such "
                "as numbers, tuples, or a frozen dataclass of these.",
                RuntimeWarning,
                stacklevel=4,
            )
        if is_dropping:
            text = "\n".join(f"  {', '.join(one.arguments)}" for one in self.recordings[:4])
            warnings.warn(
                f"{self._name} has been recorded for more than {self._max_recordings} kinds of "
                "arguments, and the recording that was used least recently is dropped: a call that "
                "records costs more than one that doesn't. Pass what changes as numbers that go "
                "to kernels as they are, or give graph() a larger max_recordings. The last "
                f"recordings are for:\n{text}",
                RuntimeWarning,
                stacklevel=4,
            )
        return result

    def _record_with(
        self,
        make_number: Callable[[float], Any] | None,
        watch: TypeWatch,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> tuple[bool, int, Any] | None:
        """Return None if the watch notices that numbers must be what they are."""
        names = tuple(kwargs)
        values = (*args, *kwargs.values())
        others = CapturedLibraries()
        function: Any = self.__wrapped__
        guards = find_guards(function, values)
        if uses_type(guards):
            make_number = None
        watched = contextlib.nullcontext() if make_number is None else watch
        with contextlib.ExitStack() as recorders:

            def capture() -> Any:
                recorder = self._replay.recorder(
                    values, names, self._labels(len(args), names), make_number, make_array_stand_in
                )
                recorders.callback(recorder.close)
                return recorder, *self._capture(recorder, others, watched, values, names, guards)

            recorder, definition, result = capture()
            second, second_definition = None, None
            if recorder.has_foreign_kernels(definition):
                # With other stand-ins, which shows what of their arguments are addresses.
                second, second_definition, _ = capture()
            if make_number is not None and watch.has_noticed:
                return None
            others.keep_pools(recorder)
            finished: tuple[bool, int, Any] = recorder.finish(
                definition, result, guards, second, second_definition
            )
        return finished

    def _capture(
        self,
        recorder: _core._Recorder,
        others: CapturedLibraries,
        watched: contextlib.AbstractContextManager[object],
        values: tuple[object, ...],
        names: tuple[str, ...],
        guards: list[Guard],
    ) -> tuple[_core._GraphDefinition, object]:
        """Run the function with stand-ins for the values, the last of which have names."""
        function: Any = self.__wrapped__
        objects = recorder.stand_ins
        count = len(values) - len(names)
        keywords = dict(zip(names, objects[count:], strict=True))
        builder = recorder.builder()
        try:
            with no_collection, builder, others.follow(builder.stream):
                recorder.begin()
                try:
                    with watched:
                        result = function(*objects[:count], **keywords)
                finally:
                    end_number_stand_ins(objects)
                recorder.end()
        except _core.CUDAError as error:
            builder.close()  # if it could not even begin
            is_refused = isinstance(error, _core.NotSupportedError)
            if not is_refused and error.code not in _CAPTURE_ERRORS:
                raise
            # The call that spoiled a capture is in the message; it may be one of another thread.
            noticed = "noticed at " if error.code == _SPOILED else ""
            msg = f"{self._name} cannot be recorded: {noticed}{_place(error, function)}: {error}"
            raise _core.NotSupportedError(msg) from error
        require_unchanged(self._name, guards, find_guards(function, values))
        return builder._definition, result

    def _labels(self, count: int, names: tuple[str, ...]) -> tuple[str, ...]:
        code = self.__wrapped__.__code__
        known = code.co_varnames[: code.co_argcount]
        positional = [
            f"argument {i + 1}" + (f" {known[i]!r}" if i < len(known) else "") for i in range(count)
        ]
        return (*positional, *(f"argument {name!r}" for name in names))


def _trace_inside(function: Any, error: BaseException) -> types.TracebackType | None:
    """Return the traceback of an error from a function's own frame on, if it was raised inside."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code is not function.__code__:
        trace = trace.tb_next
    return trace


def _place(error: BaseException, function: Any) -> str:
    """Return which line of a function, or of what it calls, an error comes from."""
    place = f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}"
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code is function.__code__:
            place = f"{function.__code__.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


@overload
def record(
    function: Callable[_Parameters, _Result], /, *, max_recordings: int = ...
) -> RecordedFunction[_Parameters, _Result]: ...
@overload
def record(
    function: None = None, /, *, max_recordings: int = ...
) -> Callable[[Callable[_Parameters, _Result]], RecordedFunction[_Parameters, _Result]]: ...
def record(function: Any = None, /, *, max_recordings: int = 32) -> Any:
    """Record a function that queues work on the current stream; the same as ``cudacore.graph()``.

    The function runs once for each kind of arguments, and what it queues becomes a graph. Later
    calls launch the graph with the addresses and numbers that they give, and run no Python. A
    function that launches kernels of other libraries runs twice.

    Of memory of a device, the size or the type, shape and strides count, its device, and the
    address modulo 16. Of an int or a float, the type alone counts, as long as the function does
    nothing but pass it to kernels; once it uses the value, that counts. Of everything else, the
    value counts. The current device and the objects in variables around the function count too.

    Parameters
    ----------
    function : function
        Returns None, arguments of its own, or a tuple of these. Without it, a decorator is made.
    max_recordings : int
        How many recordings are kept. For one more, the one that was used least recently is dropped,
        with a RuntimeWarning.

    Returns
    -------
    RecordedFunction
        Called during a capture, or by another recorded function, it just calls the function.

    Raises
    ------
    TypeError
        It is no function, or a generator or a coroutine. When it is called: an argument may change,
        such as a list, or the function returns something new.
    NotSupportedError
        When it is called: the function does what can't be recorded, such as waiting for the stream,
        or work on a stream that is not recorded. The message says in which line.
    RuntimeError
        When it is called: the function changes a variable around it.

    Examples
    --------
    >>> import cudacore as cc
    >>> from cudacore.graph import record
    >>> device = cc.Device()
    >>> device.set_current()
    >>> source = "__global__ void add(int* p, int v) { p[threadIdx.x] += v; }"
    >>> add = cc.Program(source, "c++").compile().get_kernel("add")
    >>> @record
    ... def add_twice(x, n):
    ...     add[1, 4](x, n)
    ...     add[1, 4](x, 10)
    >>> buffer = device.allocate(16)
    >>> buffer.fill(0)
    >>> add_twice(buffer, 1)
    >>> add_twice(buffer, 2)
    >>> memoryview(buffer.to_host()).cast("B").cast("i").tolist()
    [23, 23, 23, 23]
    >>> add_twice
    <recorded add_twice, 1 recording>
    """
    if function is None:
        return lambda given: record(given, max_recordings=max_recordings)
    if isinstance(function, RecordedFunction):
        msg = f"graph: {function._name} is recorded already"
        raise TypeError(msg)
    if isinstance(function, (staticmethod, classmethod, property)):
        msg = (
            f"graph: takes the function itself; write @graph below @{type(function).__name__}, "
            "next to the function"
        )
        raise TypeError(msg)
    if not isinstance(function, types.FunctionType):
        is_place = isinstance(function, (_core.Stream, _core.Device, _core.GraphBuilder))
        block = "; to capture a block: with device.create_graph_builder() as builder:"
        msg = f"graph: takes a Python function, not {_described(function)}{block * is_place}"
        raise TypeError(msg)
    for flag, kind in _LATER:
        if function.__code__.co_flags & flag:
            msg = (
                f"graph: {function.__qualname__} is {kind}, whose code runs after the call; record "
                "an ordinary function"
            )
            raise TypeError(msg)
    most = to_int(max_recordings, "graph: max_recordings", least=1)
    return RecordedFunction(function, most)


def _described(function: object) -> str:
    if isinstance(function, type):
        return f"the class {function.__name__}"
    return f"a {type(function).__name__}"
