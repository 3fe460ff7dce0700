# SPDX-License-Identifier: Apache-2.0
"""inspect.signature and help work on everything public, and agree with the stub."""

import ast
import inspect
import pydoc
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

import cudacore
import cudacore.simulator
import cudacore.system
import cudacore.typing
import pytest
from cudacore import Device
from cudacore._missing import MissingMember
from harness import PACKAGE

MODULES = (cudacore, cudacore.simulator, cudacore.system, cudacore.typing)

Kind = inspect._ParameterKind


class Parameter(NamedTuple):
    name: str
    kind: Kind
    default: object = inspect.Parameter.empty


class Case(NamedTuple):
    name: str
    found: Any
    declared: list[ast.FunctionDef] | list[str]
    takes_self: bool


def stub_of(module: str) -> ast.Module:
    """Return the stub of the extension, or the source of a Python module, which is its own stub."""
    path = PACKAGE / ("_core.pyi" if module in {"cudacore", "cudacore._core"} else "")
    if path == PACKAGE:
        path = PACKAGE / f"{module.rpartition('.')[2]}.py"
    if not path.exists():
        path = path.with_suffix("") / "__init__.py"
    return ast.parse(path.read_text())


def declared_in(body: list[ast.stmt], name: str) -> list[ast.FunctionDef]:
    return [node for node in body if isinstance(node, ast.FunctionDef) and node.name == name]


def classes_of(module: str, name: str) -> Iterator[ast.ClassDef]:
    """Yield a class of a stub, and its bases in method resolution order."""
    (node,) = [
        node
        for node in stub_of(module).body
        if isinstance(node, ast.ClassDef) and node.name == name
    ]
    yield node
    for base in node.bases:
        if isinstance(base, ast.Name) and any(
            isinstance(other, ast.ClassDef) and other.name == base.id
            for other in stub_of(module).body
        ):
            yield from classes_of(module, base.id)


def constructor_of(module: str, name: str) -> list[ast.FunctionDef] | list[str]:
    for node in classes_of(module, name):
        if any(isinstance(base, ast.Name) and base.id == "NamedTuple" for base in node.bases):
            fields = [field for field in node.body if isinstance(field, ast.AnnAssign)]
            return [ast.unparse(field.target) for field in fields]
        if found := declared_in(node.body, "__init__") or declared_in(node.body, "__new__"):
            return found
    return []


def members_of(cls: type, module: str) -> Iterator[Case]:
    for base in cls.__mro__:
        if not base.__module__.startswith("cudacore"):
            continue
        for name, raw in vars(base).items():
            if isinstance(raw, MissingMember):
                continue
            is_static = isinstance(raw, staticmethod)
            member = getattr(base, name)
            special = name.startswith("_")
            if isinstance(raw, type) or not callable(member) or name in {"__init__", "__new__"}:
                continue
            declared = [
                found
                for node in classes_of(module, cls.__name__)
                for found in declared_in(node.body, name)
            ]
            if special and not declared:  # what object has, and what pickle uses
                continue
            yield Case(f"{cls.__name__}.{name}", member, declared, not is_static)


def cases() -> Iterator[Case]:
    for module in MODULES:
        for name in module.__all__:
            found = getattr(module, name)
            if isinstance(found, ModuleType) or not callable(found):
                continue
            if not found.__module__.startswith("cudacore"):  # an alias of Python's own
                continue
            if module is cudacore and not hasattr(cudacore._core, name):  # has no stub
                continue
            if name in getattr(module, "_LATER", ()) and module is not cudacore:  # nor has this
                continue
            if isinstance(found, type):
                constructor = constructor_of(module.__name__, name)
                yield Case(name, found, constructor, takes_self=True)
                yield from members_of(found, module.__name__)
            else:
                declared = declared_in(stub_of(module.__name__).body, found.__name__)
                yield Case(name, found, declared, takes_self=False)


CASES = {case.name: case for case in cases()}


def parameters_of(node: ast.FunctionDef, takes_self: bool) -> list[Parameter]:
    empty = inspect.Parameter.empty
    arguments = node.args
    by_place = [(arg, Kind.POSITIONAL_ONLY) for arg in arguments.posonlyargs]
    by_place += [(arg, Kind.POSITIONAL_OR_KEYWORD) for arg in arguments.args]
    defaults = [empty] * (len(by_place) - len(arguments.defaults))
    defaults += [ast.literal_eval(value) for value in arguments.defaults]
    found = [
        Parameter(arg.arg, kind, default)
        for (arg, kind), default in zip(by_place, defaults, strict=True)
    ][takes_self:]
    if arguments.vararg:
        found.append(Parameter(arguments.vararg.arg, Kind.VAR_POSITIONAL))
    for arg, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        default = empty if value is None else ast.literal_eval(value)
        found.append(Parameter(arg.arg, Kind.KEYWORD_ONLY, default))
    if arguments.kwarg:
        found.append(Parameter(arguments.kwarg.arg, Kind.VAR_KEYWORD))
    return found


def declared_parameters(case: Case) -> list[Parameter]:
    """Return what a stub declares; for overloads, each parameter with the default that one of them
    has."""
    if isinstance(case.declared[0], str):
        return [Parameter(str(name), Kind.POSITIONAL_OR_KEYWORD) for name in case.declared]
    forms = [parameters_of(node, case.takes_self) for node in case.declared]
    assert len({tuple(part[:2] for part in form) for form in forms}) == 1
    empty = inspect.Parameter.empty
    return [
        max(parts, key=lambda part: part.default is not empty) for parts in zip(*forms, strict=True)
    ]


def shown_parameters(case: Case) -> list[Parameter]:
    shown = list(inspect.signature(case.found).parameters.values())
    is_bound = isinstance(case.found, type) or inspect.ismethod(case.found)  # as a class method is
    skipped = case.takes_self and not is_bound
    return [Parameter(each.name, each.kind, each.default) for each in shown[skipped:]]


def test_the_public_callables_are_found() -> None:
    assert len(CASES) > 120
    assert {"Device", "Device.allocate", "Buffer.close", "launch", "get_num_devices"} <= set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_signature_equals_the_stub(name: str) -> None:
    case = CASES[name]
    if not case.declared and case.found.__module__ == "cudacore.typing":
        assert inspect.signature(case.found)  # those of Enum and Protocol
        return
    assert case.declared, f"the stub lacks {name}"
    if name in {"MemoryResource", "GraphMemoryResource"} and sys.version_info < (3, 11):
        pytest.skip("inspect does not look at a __new__ of C++ yet")
    assert shown_parameters(case) == declared_parameters(case)


@pytest.mark.parametrize("name", CASES)
def test_documentation_leaves_the_signature_out(name: str) -> None:
    assert "\n--\n" not in (CASES[name].found.__doc__ or "")
    # What help() shows.
    text = pydoc.render_doc(CASES[name].found, renderer=pydoc.plaintext)
    assert "(...)" not in text.splitlines()[2]


def test_bound_methods_leave_self_out(device: Device) -> None:
    stream = device.create_stream()
    buffer = device.allocate(4, stream=stream)
    assert str(inspect.signature(device.sync)) == "()"
    assert str(inspect.signature(stream.wait)) == "(event_or_stream)"
    assert str(inspect.signature(stream.add_callback)) == "(callback, *args)"
    assert str(inspect.signature(buffer.copy_to)) == "(dst=None, *, stream=None, options=None)"
    assert str(inspect.signature(device.memory_resource.allocate)) == "(size, *, stream=None)"


def test_launchers_show_what_they_take(device: Device) -> None:
    from harness import build

    launcher = build("__global__ void f(int n) {}").get_kernel("f")[1, 1]
    assert str(inspect.signature(launcher)) == "(*args)"
    launcher(1)
    launcher.__call__(2)
    with pytest.raises(TypeError, match="keyword"):
        launcher(n=1)
    device.sync()


def test_help_shows_signatures() -> None:
    text = pydoc.render_doc(cudacore.Device, renderer=pydoc.plaintext)
    assert "Device(device_id=None)" in text
    assert "create_stream(self, obj=None, options=None)" in text
    assert "allocate(self, /, size, *, stream=None)" in text


@pytest.mark.parametrize("name", [name for name in cudacore.__all__ if name[0].isupper()])
def test_help_names_no_internals(name: str) -> None:
    text = pydoc.render_doc(getattr(cudacore, name), renderer=pydoc.plaintext)
    assert "pybind11_detail" not in text


def test_star_import_binds_no_module() -> None:
    import typing

    names: dict[str, object] = {"typing": typing}
    exec("from cudacore import *", names)
    assert names["typing"] is typing
    modules = [name for name, value in names.items() if isinstance(value, ModuleType)]
    assert modules == ["typing"]
    assert names["Device"] is Device
    assert {"simulator", "system", "typing"} <= set(dir(cudacore))
    assert cudacore.typing is sys.modules["cudacore.typing"]
