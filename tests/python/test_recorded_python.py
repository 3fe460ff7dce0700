# SPDX-License-Identifier: Apache-2.0
"""Recorded functions: what their Python does with numbers, variables and objects."""

import copy
import ctypes
import functools
import gc
import math
import operator
import pickle
import sys
import types
import weakref
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from typing import Any

import cudacore
import numpy as np
import pytest
from cudacore import Device
from cudacore.graph._recorded_number import end_number_stand_ins, make_number_stand_in
from cudacore.graph._type_watch import TypeWatch
from harness import run_cleanly
from recorded_kernels import (
    COUNT,
    Calls,
    Kernels,
    calls,
    current,
    first,
    ints,
    kernels,
    new,
    record,
)

__all__ = ["calls", "current", "kernels"]  # fixtures

BINARY = [
    operator.add,
    operator.and_,
    divmod,
    operator.eq,
    operator.floordiv,
    operator.ge,
    operator.gt,
    operator.le,
    operator.lshift,
    operator.lt,
    operator.mod,
    operator.mul,
    operator.ne,
    operator.or_,
    pow,
    operator.rshift,
    operator.sub,
    operator.truediv,
    operator.xor,
]
OTHERS: list[Any] = [
    2,
    5,
    5.0,
    2.5,
    True,
    5 + 0j,
    Decimal(5),
    Fraction(5, 2),
    np.int32(5),
    np.float32(2.5),
    np.arange(3, 7),
    "a",
    None,
]


def outcome(function: Any, *args: Any) -> object:
    try:
        result = function(*args)
    except (TypeError, ValueError, ArithmeticError) as error:
        return type(error)
    if isinstance(result, np.ndarray):
        return result.dtype, result.tolist()
    return type(result), repr(result)


@pytest.mark.parametrize("value", [5, 2, 2.5, -5])
@pytest.mark.parametrize("function", BINARY, ids=lambda one: one.__name__)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_operators(function: Any, value: float) -> None:
    number = make_number_stand_in(value)
    for other in (*OTHERS, make_number_stand_in(5)):
        plain = other if not hasattr(other, "_fix") else 5
        assert outcome(function, number, other) == outcome(function, value, plain), other
        assert outcome(function, other, number) == outcome(function, plain, value), other


@pytest.mark.parametrize("value", [5, 2.5])
def test_other_uses(value: float) -> None:
    number: Any = make_number_stand_in(value)
    assert number in (1.0, float(value), 3)
    assert [0.0, float(value)].index(number) == 1
    assert {float(value): "found"}[number] == "found"
    for made in (copy.copy(number), copy.deepcopy([number])[0], pickle.loads(pickle.dumps(number))):
        assert type(made) is type(value)
        assert made == value
    assert math.floor(number) == math.floor(value)
    assert f"{number:6} {number!r} {number}" == f"{value:6} {value!r} {value}"


def test_a_number_that_is_used_too_late(device: Device, kernels: Kernels) -> None:
    kept: list[Any] = []
    holder = type("Holder", (), {})

    @record
    def step(x: Any, n: Any) -> None:
        holder.n = n
        kernels["add"][1, 1](x, n)

    step(new(device), 5)
    kept.append(holder.n)
    assert str(kept[0]) == repr(kept[0]) == f"{kept[0]}" == "5"
    for use in (int, bool, hash, lambda n: n + 1, lambda n: n == 5):
        with pytest.raises(RuntimeError, match="used after the recording"):
            use(kept[0])


def test_ended_numbers_are_shown_in_errors(device: Device) -> None:
    @record
    def refuses(x: Any, n: Any) -> None:
        raise KeyError(n)

    with pytest.raises(KeyError) as caught:
        refuses(new(device), 5)
    assert str(caught.value) == "5"
    end_number_stand_ins((1, "a"))  # others are left alone


def test_branches_take_the_plain_way(device: Device, kernels: Kernels) -> None:
    @record
    def step(x: Any, n: Any) -> None:
        if n == 1.0:
            kernels["add"][1, 1](x, 100)
        elif n in (np.int32(2), np.int32(3)):
            kernels["add"][1, 1](x, 200)
        else:
            kernels["add"][1, 1](x, 1)

    results = []
    for n in (1, 2, 3, 4):
        x = new(device)
        step(x, n)
        results.append(first(x))
    assert results == [100, 200, 200, 1]


def test_functions_that_ask_for_the_type(device: Device, kernels: Kernels) -> None:
    @record
    def step(x: Any, n: Any) -> None:
        kernels["add"][1, 1](x, 100 if type(n) is float else 1)

    x, y = new(device), new(device)
    step(x, 1.5)
    step(y, 1)
    assert (first(x), first(y)) == (100, 1)


ASKS = """
asks = type
def of_argument(n): return n if type(n) is int else 100
def of_alias(n): return n if asks(n) is int else 100
def of_items(*numbers): return sum(n if type(n) is int else 100 for n in numbers)
def of_default(n, asks=type): return n if asks(n) is int else 100
def of_found(n, holder): holder.n = n; return of_holder(holder)
def of_holder(holder): n = holder.n; return n if type(n) is int else 100
class Slots: __slots__ = ("n", "unset")
def of_slots(n): s = Slots(); s.n = n; return in_slots(s)
def in_slots(s): n = s.n; return n if type(n) is int else 100
def of_view(n): return in_view({1: n}.values())
def in_view(values): return sum(n if type(n) is int else 100 for n in values)
def of_iterator(n): return in_view(zip_first(zip([n, 0.5], [1, 2])))
def zip_first(pairs): return [next(iter(pairs))[0]]
def of_many(n): return in_many([0.5] * 100_000 + [n])
def in_many(values): return values[-1] if type(values[-1]) is int else 100
class Raises:
    @property
    def __dict__(self): raise ValueError("not for you")
def of_raises(n):
    try: in_raises(Raises())
    except ValueError: pass
    return of_argument(n)
def in_raises(x): return type(x)
def of_profiler(n):
    import sys
    sys.setprofile(None)
    return of_argument(n)
def refuses(n):
    if type(n) is not int: raise ValueError("not an int")
    return n
"""


@pytest.mark.parametrize(
    "name",
    [
        *("of_argument", "of_alias", "of_items", "of_default", "of_found", "of_slots", "of_view"),
        *("of_iterator", "of_many", "of_raises", "of_profiler", "refuses"),
    ],
)
def test_code_of_other_modules_that_asks_for_the_type(
    device: Device, kernels: Kernels, name: str
) -> None:
    other = types.ModuleType("other")
    exec(ASKS, vars(other))
    helper = getattr(other, name)
    more = (types.SimpleNamespace(),) if name == "of_found" else ()

    @record
    def step(x: Any, n: Any) -> None:
        kernels["add"][1, 1](x, helper(n, *more))

    x = new(device)
    step(x, 5)
    step(x, 6)
    assert first(x) == 11
    assert sys.getprofile() is None


def test_another_name_of_type(device: Device, kernels: Kernels, calls: Calls) -> None:
    asks = type

    @record
    def step(x: Any, n: Any) -> None:
        calls()
        kernels["add"][1, 1](x, n if asks(n) is int else 100)

    x = new(device)
    step(x, 5)
    assert (first(x), calls.count) == (5, 1)


def test_code_that_uses_type_for_something_else(device: Device, kernels: Kernels) -> None:
    other = types.ModuleType("other")
    exec("def of(x): return type(x)", vars(other))
    helper = vars(other)["of"]
    looked: list[str] = []

    @record
    def step(x: Any, n: Any) -> None:
        helper(x)
        kernels["add"][1, 1](x, n)

    x = new(device)
    sys.setprofile(lambda frame, *_: looked.append(frame.f_code.co_name))
    try:
        step(x, 5)
    finally:
        sys.setprofile(None)
    step(x, 6)
    assert (first(x), len(step.recordings)) == (11, 1)
    assert "of" in looked


def test_libraries_that_refuse_what_stands_for_a_number(
    device: Device, kernels: Kernels, calls: Calls
) -> None:
    library = ctypes.CDLL(None)

    @record
    def step(x: Any, n: Any) -> None:
        calls()
        kernels["add"][1, 1](x, library.abs(n))

    x = new(device)
    step(x, -5)
    step(x, -5)
    assert first(x) == 10
    assert calls.count == 2  # once more with plain numbers


def test_callbacks_get_the_number(device: Device, kernels: Kernels) -> None:
    seen: Any = type("Seen", (), {"all": []})

    @record
    def step(x: Any, n: Any) -> None:
        kernels["add"][1, 1](x, n)
        cudacore.current_stream().add_callback(seen.all.append, n)

    x = new(device)
    for n in (1, 2, 1):
        step(x, n)
    cudacore.current_stream().sync()
    assert seen.all == [1, 2, 1]
    assert first(x) == 4


class TestVariables:
    @staticmethod
    def step_with(kernels: Kernels, namespace: dict[str, Any], source: str) -> Any:
        """A function in a module of its own."""
        namespace |= {"add": kernels["add"], "functools": functools, "__name__": "module_of_test"}
        exec(source, namespace)
        return record(namespace["step"])

    @pytest.mark.parametrize(
        "case",
        [
            ("", "table={'n': 5}", "table['n']", "step.__defaults__[0]['n'] = 7"),
            ("", "*, n=[5]", "n[0]", "step.__kwdefaults__['n'][0] = 7"),
            ("", "*, n=5", "n", "step.__kwdefaults__['n'] = 7"),
            ("t = {'a': [5]}", "", "t['a'][0]", "t['a'][0] = 7"),
            ("t = [[5]]", "", "t[0][0]", "t[0][0] = 7"),
            ("t = OrderedDict(n=5)", "", "t['n']", "t['n'] = 7"),
            ("n = 5\nt = [lambda: n]", "", "t[0]()", "n = 7"),
            ("n = 5", "get=lambda: n", "get()", "n = 7"),
            ("n = 5\nget = functools.partial(lambda k: n + k, 0)", "", "get()", "n = 7"),
            ("n = 5\nclass A:\n @staticmethod\n def get(): return n", "", "A.get()", "n = 7"),
            ("n = 5\nclass A:\n @property\n def n(self): return n\na = A()", "", "a.n", "n = 7"),
        ],
    )
    def test_that_change(
        self, device: Device, kernels: Kernels, case: tuple[str, str, str, str]
    ) -> None:
        around, parameters, value, change = case
        namespace: dict[str, Any] = {"OrderedDict": OrderedDict}
        source = f"{around}\ndef step(x, {parameters}): add[1, 1](x, {value})"
        step = self.step_with(kernels, namespace, source)
        x = new(device)
        step(x)
        exec(change, namespace)
        step(x)
        assert first(x) == 12

    def test_under_a_decorator_of_another_module(self, device: Device, kernels: Kernels) -> None:
        def decorate(function: Any) -> Any:
            space: dict[str, Any] = {"function": function, "functools": functools}
            source = (
                "@functools.wraps(function)\ndef wrapper(*args, **kw): return function(*args, **kw)"
            )
            exec(source, space)
            return space["wrapper"]

        namespace: dict[str, Any] = {"decorate": decorate, "n": 5}
        source = "@decorate\ndef step(x): add[1, 1](x, n)"
        step = self.step_with(kernels, namespace, source)
        x = new(device)
        step(x)
        namespace["n"] = 7
        step(x)
        assert first(x) == 12

    def test_defaults_that_the_function_changes(self, device: Device, kernels: Kernels) -> None:
        source = "def step(x, log=[]): log.append(1); add[1, 1](x, len(log))"
        with pytest.raises(RuntimeError, match="changes '__defaults__'"):
            self.step_with(kernels, {}, source)(new(device))

    def test_objects_whose_attributes_raise(self, device: Device, kernels: Kernels) -> None:
        class Proxy:
            def __getattribute__(self, name: str) -> Any:
                raise LookupError(name)

        step = self.step_with(kernels, {"proxy": Proxy()}, "def step(x): proxy; add[1, 1](x, 1)")
        x = new(device)
        step(x)
        step(x)
        assert first(x) == 2

    def test_objects_that_are_gone(self, device: Device, kernels: Kernels) -> None:
        namespace: dict[str, Any] = {"weights": new(device)}
        step = self.step_with(kernels, namespace, "def step(x): add[1, 1](x, 1); weights.fill(0)")
        x = new(device)
        kept = namespace["weights"]
        for _ in range(5):
            step(x)
            namespace["weights"] = new(device)
        step(x)
        assert len(step.recordings) == 2  # of the last, and of the one that is kept
        namespace["weights"] = kept
        step(x)
        assert len(step.recordings) == 2
        assert first(x) == 7

    def test_owners_of_methods_that_are_gone(self, device: Device, kernels: Kernels) -> None:
        class Layer:
            @record
            def forward(self, x: Any) -> None:
                kernels["add"][1, 1](x, 1)

        x = new(device)
        layers = [Layer() for _ in range(4)]
        for layer in layers:
            layer.forward(x)
        ended = [weakref.ref(layer) for layer in layers]
        del layer, layers
        Layer().forward(x)
        gc.collect()
        assert [one() for one in ended] == [None] * 4

    def test_keys_that_are_no_strings(self) -> None:
        program = """
            import cudacore
            device = cudacore.Device()
            device.set_current()
            source = "__global__ void add(int* p, int v) { *p += v; }"
            add = cudacore.Program(source, "c++").compile().get_kernel("add")
            class Key:
                armed = 0
                def __hash__(self): return hash("number")
                def __eq__(self, other):
                    if Key.armed == 1:
                        Key.armed = 0
                        f.clear()
                    if Key.armed == 2:
                        raise ValueError
                    return False
            globals()[Key()] = 1
            number = 1
            @cudacore.graph
            def f(x, k): add[1, 1](x, number)
            x = device.allocate(4)
            x.fill(0)
            for k in "abcdefgh": f(x, k)
            Key.armed = 1
            f(x, "a")
            Key.armed = 2
            try:
                f(x, "a")
            except ValueError:
                Key.armed = 0
                f(x, "a")
            print(x.to_host()[0])
        """
        assert run_cleanly(program) == "10\n"


class TestObjects:
    def test_what_a_view_is_of(self, device: Device, kernels: Kernels) -> None:
        pool = device.allocate(1 << 20)
        view = pool[:64].view("int32", 16)[8:12]

        @record
        def clears_more(v: Any) -> None:
            v.exporting_obj.fill(0)

        @record
        def clears(x: Any) -> None:
            x.view("int32", 4).exporting_obj.fill(0)

        with pytest.raises(cudacore.NotSupportedError, match="exporting_obj"):
            clears_more(view)
        assert view.exporting_obj.handle == pool.handle
        x = new(device, 7)
        clears(x)
        assert ints(x) == [0] * COUNT

    def test_addresses_in_packed_records(self, device: Device) -> None:
        table = device.allocate(12)
        record_type = np.dtype([("n", "<i4"), ("p", "<u8")])

        @record
        def step(x: Any) -> None:
            table.copy_from(np.array([(3, x.handle)], record_type))

        with pytest.raises(cudacore.NotSupportedError, match="address of an argument"):
            step(new(device))

    def test_host_memory_that_is_used_again(self, device: Device) -> None:
        @record
        def step(x: Any, y: Any) -> None:
            staging = np.full(COUNT, 1, np.int32)
            x.copy_from(staging)
            staging[:] = 2
            y.copy_from(staging)

        with pytest.raises(cudacore.NotSupportedError, match="use another array for each copy"):
            step(new(device), new(device))
        assert not step.recordings

    def test_host_memory_is_read_by_each_replay(self, device: Device) -> None:
        staging = np.full(COUNT, 1, np.int32)

        @record
        def step(x: Any) -> None:
            x.copy_from(staging)

        x = new(device)
        step(x)
        staging[:] = 2
        step(x)
        assert first(x) == 2

    def test_equal_buffers(self, device: Device, kernels: Kernels) -> None:
        @record
        def step(x: Any, y: Any) -> None:
            if x == y:
                return
            y.fill(0)

        buffer, other = new(device, 9), new(device, 9)
        step(buffer[:16], buffer[:16])
        assert first(buffer) == 9
        step(buffer[:16], other[:16])
        assert (first(buffer), first(other)) == (9, 0)
        assert len(step.recordings) == 2

    def test_arguments_that_are_closed(self, device: Device) -> None:
        @record
        def step(x: Any) -> None:
            x.fill(1)
            x.close()

        x = new(device)
        with pytest.raises(cudacore.NotSupportedError, match="closes its argument 1"):
            step(x)
        assert not x.is_closed

    def test_deep_tuples(self, device: Device) -> None:
        value: Any = ()
        for _ in range(100_000):
            value = (value,)
        with pytest.raises(RecursionError):
            record(lambda given: given)(value)

    def test_returned_tuple(self, device: Device) -> None:
        given = (1, 2)
        assert record(lambda t: t)(given) is given
        assert record(lambda t, u: (u, t))(given, "a") == ("a", given)

    def test_objects_made_for_each_call(self, device: Device, kernels: Kernels) -> None:
        class Scale:
            def factor(self) -> int:
                return 3

        @record
        def step(x: Any, get: Any, some: range) -> None:
            for _ in some:
                kernels["add"][1, 1](x, get())

        x, scale = new(device), Scale()
        for _ in range(3):
            step(x, scale.factor, range(2))
        assert len(step.recordings) == 1
        assert first(x) == 18
        step(x, scale.factor, range(3))
        step(x, Scale().factor, range(3))
        assert len(step.recordings) == 3

    def test_a_parameter_named_self(self, device: Device, kernels: Kernels) -> None:
        @record
        def step(self: Any) -> None:
            kernels["add"][1, 1](self, 1)

        x = new(device)
        step(self=x)
        step(self=x)
        assert first(x) == 2

    @pytest.mark.parametrize("kind", [dict, OrderedDict])
    def test_dicts_are_no_arguments(self, device: Device, kind: type) -> None:
        with pytest.raises(TypeError, match="may change"):
            record(lambda given: given)(kind())


def test_recordings_that_others_drop(device: Device, kernels: Kernels) -> None:
    @record
    def step(x: Any, n: Any) -> None:
        kernels["add"][1, 1](x, n)

    def work(_: int) -> list[int]:
        results = []
        device.set_current()
        with device.create_stream():
            for _ in range(20):
                x = new(device)
                step(x, 1)
                step.clear()
                results.append(first(x))
        return results

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(4))) == [[1] * 20] * 4


def test_the_current_device_counts(kernels: Kernels, calls: Calls) -> None:
    if len(cudacore.Device.get_all_devices()) < 2:
        pytest.skip("there is one device")
    devices = [Device(0), Device(1)]

    @record
    def step(x: Any) -> None:
        kernels["add"][1, 1](x, 1 + 100 * Device().device_id)

    devices[0].set_current()
    x = new(devices[0])
    step(x)
    try:
        devices[1].set_current()
        step(x)
    finally:
        devices[0].set_current()
    step(x)
    cudacore.current_stream().sync()
    assert first(x) == 103
    assert len(step.recordings) == 2


def test_variables_that_another_thread_assigns_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    assigned = 0

    def assign() -> None:
        nonlocal assigned
        assigned = 7

    def look() -> object:
        return type, assigned

    def assign_elsewhere(*_: object) -> bool:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(assign).result()
        return False

    monkeypatch.setattr(TypeWatch, "_has_stand_in", assign_elsewhere)
    with TypeWatch():
        look()
    assert assigned == 7
