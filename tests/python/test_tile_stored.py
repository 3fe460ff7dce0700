# SPDX-License-Identifier: Apache-2.0
"""Tile kernels that an earlier process has compiled: found again, or noticed to have changed."""

import importlib
import linecache
import subprocess
import sys
import threading
import types
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cached_programs import folder
from cudacore import Device, Stream, cache
from cudacore.tile import _early_load, _generate
from harness import environment, run_cleanly

np = pytest.importorskip("numpy")

import cudacore.tile as ct  # noqa: E402

__all__ = ["folder"]  # a fixture

NAMES = ("stored_kernels", "stored_helpers", "stored_settings")

KERNELS = """
import contextlib
import dataclasses
import enum
import math
from types import SimpleNamespace

import cudacore.tile as ct
import stored_helpers
import stored_settings as settings
from stored_helpers import Config, Mode, Pair, first, later

SCALE = 1
ZERO = 0


def own(x):
    return x * SCALE


@contextlib.contextmanager
def within(x):
    yield x


def make(captured, default):
    def inner(x, extra=default):
        return x + captured + extra

    @ct.kernel
    def compute(y, size: ct.Constant[int]):
        total = own(1) + inner(0) + first(2) + stored_helpers.second(0) + settings.ADDED
        total += Config.number + Pair(3).one + Pair(0).twice() + Mode.SLOW.value
        total += ct.static_eval(settings.STATIC * 2) + int(math.floor(1.5)) + Config.named.one
        with within(ZERO) as more:
            total += more
        for i in ct.static_iter(range(settings.TURNS)):
            total += i
        y_ = ct.full((size,), total, settings.DTYPE)
        ct.store(y, ct.bid(0), ct.astype(y_, y.dtype))

    return compute


compute = make(captured=10, default=100)
"""

HELPERS = """
import dataclasses
import enum
import cudacore.tile as ct
import stored_settings

BASE = 0


def later(x):
    return x + 1


def first(x):
    return later(x) + BASE


@ct.function
def second(x, more=5):
    return x + more + stored_settings.deep(x)


@dataclasses.dataclass(frozen=True)
class Pair:
    one: int
    two: int = 7

    def twice(self):
        return self.two * 2


class Config:
    number = 1000
    named = Pair(4)


class Mode(enum.Enum):
    FAST = 1
    SLOW = 2000
"""

SETTINGS = """
import cudacore.tile as ct

ADDED = 20
STATIC = 30
TURNS = 3
DTYPE = ct.float32


def deep(x):
    return x + 40
"""

FILES = dict(zip(NAMES, (KERNELS, HELPERS, SETTINGS), strict=True))


class Program:
    """Modules with a kernel, which are written and imported anew, as another process would."""

    def __init__(self, place: Path, patch: pytest.MonkeyPatch, stream: Stream) -> None:
        self.place = place
        self.stream = stream
        self.evaluations = 0
        patch.syspath_prepend(place)
        patch.setattr(sys, "dont_write_bytecode", True)
        original = _generate.generate

        def generate(*given: object) -> object:
            self.evaluations += 1
            return original(*given)  # type: ignore[arg-type]

        patch.setattr(_generate, "generate", generate)

    def load(self, files: dict[str, str]) -> types.ModuleType:
        for name, text in files.items():
            (self.place / f"{name}.py").write_text(text)
        for name in NAMES:
            sys.modules.pop(name, None)
        linecache.clearcache()
        importlib.invalidate_caches()
        return importlib.import_module(NAMES[0])

    def run(self, kernel: "ct.kernel", size: int = 8) -> tuple[float, bool]:
        """Launch it; return what it stores, and whether it was evaluated."""
        before = self.evaluations
        buffer = Device().allocate(32, stream=self.stream)
        ct.launch(self.stream, (1,), kernel, (buffer.view(np.float32), size))
        numbers = np.zeros(8, np.float32)
        buffer.copy_to(numbers, stream=self.stream)
        self.stream.sync()
        return float(numbers[0]), self.evaluations > before

    def outcome(self, **files: str) -> tuple[float, bool]:
        return self.run(self.load(files).compute)


@pytest.fixture
def program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, device: Device, stream: Stream
) -> Iterator[Program]:
    assert device
    yield Program(tmp_path, monkeypatch, stream)
    for name in NAMES:
        sys.modules.pop(name, None)


RESULT = 1 + 110 + 3 + 45 + 20 + 1000 + 3 + 14 + 2000 + 60 + 1 + 4 + 3


def edited(name: str, old: str, new: str) -> dict[str, str]:
    name = f"stored_{name}"
    assert FILES[name].count(old) == 1
    return {**FILES, name: FILES[name].replace(old, new)}


CHANGES = {
    "kernel": (edited("kernels", "total = own(1)", "total = own(2)"), 1),
    "global": (edited("kernels", "SCALE = 1", "SCALE = 2"), 1),
    "helper": (edited("kernels", "return x * SCALE", "return x + SCALE"), 1),
    "argument of a context": (edited("kernels", "ZERO = 0", "ZERO = 9"), 9),
    "context": (edited("kernels", "yield x", "yield 8"), 8),
    "captured": (edited("kernels", "captured=10", "captured=11"), 1),
    "captured default": (edited("kernels", "default=100", "default=101"), 1),
    "helper of another module": (edited("helpers", "return later(x)", "return 2 * later(x)"), 3),
    "helper of a helper": (edited("helpers", "return x + 1\n", "return x + 3\n"), 2),
    "helper's global": (edited("helpers", "BASE = 0", "BASE = 4"), 4),
    "helper's default": (edited("helpers", "more=5", "more=6"), 1),
    "third module": (edited("settings", "return x + 40", "return x + 41"), 1),
    "attribute of a module": (edited("settings", "ADDED = 20", "ADDED = 21"), 1),
    "static expression": (edited("settings", "STATIC = 30", "STATIC = 31"), 2),
    "static loop": (edited("settings", "TURNS = 3", "TURNS = 4"), 3),
    "type of a number": (edited("settings", "ADDED = 20", "ADDED = 20.5"), 0.5),
    "data type": (edited("settings", "ct.float32", "ct.float16"), 0),
    "class": (edited("helpers", "number = 1000", "number = 1001"), 1),
    "object of a class": (edited("helpers", "Pair(4)", "Pair(5)"), 1),
    "dataclass": (edited("helpers", "two: int = 7", "two: int = 8"), 2),
    "method": (edited("helpers", "self.two * 2", "self.two * 3"), 7),
    "enumeration": (edited("helpers", "SLOW = 2000", "SLOW = 2002"), 2),
    "place in the file": (edited("kernels", "SCALE = 1\n", "SCALE = 1\n\n"), 0),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_noticed(program: Program, change: str) -> None:
    assert program.outcome(**FILES) == (RESULT, True)
    assert program.outcome(**FILES) == (RESULT, False)
    files, more = CHANGES[change]
    result, evaluated = program.outcome(**files)
    assert evaluated
    assert result == pytest.approx(RESULT + more, abs=2)
    assert change == "data type" or result == RESULT + more
    assert program.outcome(**files) == (result, False)
    assert program.outcome(**FILES) == (RESULT, False)


@pytest.mark.parametrize(
    "files",
    [
        edited("kernels", "compute = make(", "UNUSED = 1\n\n\ncompute = make("),
        edited("helpers", "BASE = 0", "BASE = 0\nUNUSED = 0"),
        edited("settings", "ADDED = 20", "ADDED = 20\nUNUSED = []"),
    ],
)
def test_what_is_not_read_may_change(program: Program, files: dict[str, str]) -> None:
    assert program.outcome(**FILES) == (RESULT, True)
    # Lines of helpers are in the binary, so those below them move.
    moves = files["stored_kernels"] == KERNELS
    assert program.outcome(**files) == (RESULT, moves)
    assert program.outcome(**files) == (RESULT, False)


PATCHES: dict[str, Callable[[types.ModuleType], object]] = {
    "global": lambda module: setattr(module, "SCALE", 2),
    "attribute": lambda module: setattr(module.settings, "ADDED", 21),
    "function": lambda module: setattr(module.stored_helpers, "later", lambda x: x + 2),
    "builtin": lambda module: setattr(module, "int", lambda _: 2),
    "function of the language": lambda module: setattr(
        module, "ct", types.SimpleNamespace(**vars(ct))
    ),
}


@pytest.mark.parametrize("patch", PATCHES)
def test_what_is_patched_is_noticed(program: Program, patch: str) -> None:
    assert program.outcome(**FILES) == (RESULT, True)
    module = program.load(FILES)
    PATCHES[patch](module)
    try:
        result, evaluated = program.run(module.compute)
    except ct.TileError:
        assert patch == "function of the language"
    else:
        assert (result, evaluated) == (RESULT + 1, True)
    assert program.outcome(**FILES) == (RESULT, False)


def test_many_configurations(program: Program) -> None:
    kinds = [edited("settings", "ADDED = 20", f"ADDED = {number}") for number in range(12)]
    for number, files in enumerate(kinds):
        assert program.outcome(**files) == (RESULT - 20 + number, True)
    # The last eight are kept.
    assert [program.outcome(**files)[1] for files in kinds[4:]] == [False] * 8
    assert program.outcome(**kinds[3]) == (RESULT - 17, True)


def test_the_language_patched(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    assert program.outcome(**FILES) == (RESULT, True)
    module = program.load(FILES)
    monkeypatch.setattr(ct, "full", lambda shape, _, dtype: ct.zeros(shape, dtype))
    assert program.run(module.compute) == (0, True)


def test_arguments_and_hints(program: Program) -> None:
    kernel = program.load(FILES).compute
    assert program.run(kernel) == (RESULT, True)
    kernel = program.load(FILES).compute
    assert program.run(kernel, 4) == (RESULT, True)
    assert program.run(kernel, 8) == (RESULT, False)
    hinted = kernel.replace_hints(num_worker_warps=8)
    assert program.run(hinted) == (RESULT, True)


SIMPLE = """
import os
import cudacore.tile as ct

{around}

@ct.kernel
def compute(y, size: ct.Constant[int]):
    ct.store(y, ct.bid(0), ct.full((size,), {value}, ct.float32))
"""


@pytest.mark.parametrize(
    ("around", "value"),
    [
        ("", "ct.static_eval(int(os.environ['STORED']))"),
        ("def number():\n    return int(os.environ['STORED'])", "ct.static_eval(number())"),
        ("class Now:\n    def __len__(self):\n        return int(os.environ['STORED'])\n", ""),
    ],
)
def test_code_that_runs_while_compiling_runs_each_time(
    program: Program, monkeypatch: pytest.MonkeyPatch, around: str, value: str
) -> None:
    value = value or "ct.static_eval(len(Now()))"
    text = SIMPLE.format(around=around, value=value)
    for number in (3, 4):
        monkeypatch.setenv("STORED", str(number))
        for _ in range(2):
            assert program.outcome(stored_kernels=text) == (number, True)


@pytest.mark.parametrize(
    ("around", "value"),
    [
        ("import stored_settings", "stored_settings.number()"),  # a function in no file
        ("from stored_settings import number", "number()"),
    ],
)
def test_functions_that_are_no_file(program: Program, around: str, value: str) -> None:
    settings = "exec('def number():\\n    return 5')\n"
    text = SIMPLE.format(around=around, value=value)
    with pytest.raises(ct.TileSyntaxError):
        program.outcome(stored_settings=settings, stored_kernels=text)


@pytest.mark.parametrize(
    "captured",
    ["Odd()", "Odd", "Wild", "[Wild]", "{1: Odd()}", "object()", "np.zeros(3)", "{1, 2}", "loop"],
)
def test_odd_objects(program: Program, captured: str) -> None:
    around = f"""
import numpy as np

class Odd:
    def __getattribute__(self, name):
        raise ValueError(name)

class Meta(type):
    def __getattribute__(self, name):
        raise ValueError(name)

class Wild(metaclass=Meta):
    pass

loop = []
loop.append(loop)

def make(captured):
    @ct.kernel
    def compute(y, size: ct.Constant[int]):
        if size < 0:
            captured
        ct.store(y, ct.bid(0), ct.full((size,), 2, ct.float32))
    return compute

def later():
    return make({captured})
"""
    text = SIMPLE.format(around=around, value="1") + "\ncompute = later()\n"
    for _ in range(2):
        assert program.outcome(stored_kernels=text)[0] == 2


def test_recursive_closures(program: Program) -> None:
    around = """
def make():
    def even(n):
        return True if n == 0 else odd(n - 1)

    def odd(n):
        return False if n == 0 else even(n - 1)

    return even

even = make()
"""
    text = SIMPLE.format(around=around, value="1 if even(4) else 2")
    assert program.outcome(stored_kernels=text) == (1, True)
    assert program.outcome(stored_kernels=text) == (1, False)
    other = text.replace("return False", "return 0 == 0")
    assert program.outcome(stored_kernels=other) == (1, True)


def test_source_of_cuda(program: Program) -> None:
    around = 'more = ct.device_function("__device__ float more(float x) { return x + 1; }")'
    text = SIMPLE.format(around=around, value="more(1.0)")
    assert program.outcome(stored_kernels=text) == (2, True)
    assert program.outcome(stored_kernels=text) == (2, False)
    assert program.outcome(stored_kernels=text.replace("x + 1", "x + 2")) == (3, True)


def test_damaged_entries(program: Program, folder: Path) -> None:
    assert program.outcome(**FILES) == (RESULT, True)
    for path in folder.rglob("*"):
        if path.is_file() and len(path.name) > 60:  # not the size, nor the list of compilers
            content = path.read_bytes()
            path.write_bytes(content[: len(content) // 2])
    assert program.outcome(**FILES) == (RESULT, True)
    assert program.outcome(**FILES) == (RESULT, False)


def test_without_the_cache(program: Program) -> None:
    cache.disable()
    assert program.outcome(**FILES) == (RESULT, True)
    assert program.outcome(**FILES) == (RESULT, True)
    cache.enable()
    assert program.outcome(**FILES) == (RESULT, True)
    assert program.outcome(**FILES) == (RESULT, False)


def test_nvrtc_is_loaded_early(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    loads = []

    def load() -> None:
        loads.append(threading.current_thread().name)
        raise RuntimeError("no NVRTC")

    monkeypatch.setattr(_early_load._core, "nvrtc_library", load)
    for text, count in ((FILES, 1), (FILES, 1), (edited("settings", "TURNS = 3", "TURNS = 4"), 1)):
        program.outcome(**text)
        assert loads == ["loader of NVRTC"] * count
    text = SIMPLE.format(around="", value="ct.static_eval(int(os.environ.get('STORED', 2)))")
    for _ in range(2):  # what is evaluated each time
        assert program.outcome(stored_kernels=text) == (2, True)
        assert len(loads) == 2


LAUNCH = """
import sys
import numpy as np
from cudacore import Device
sys.path.insert(0, sys.argv[1])
device = Device()
device.set_current()
stream = device.create_stream()
buffer = device.allocate(32, stream=stream)
import cudacore.tile as ct
from stored_kernels import compute
before = set(sys.modules)
ct.launch(stream, (1,), compute, (buffer.view(np.float32), 8))
loaded = set(sys.modules) - before
numbers = np.zeros(8, np.float32)
buffer.copy_to(numbers, stream=stream)
stream.sync()
print(int(numbers[0]), *sorted(loaded))
"""

#: What a kernel is compiled by.
HEAVY = ("_compile", "_evaluate", "_exception", "_generate", "_operations", "_text", "_value")


def test_another_process_does_not_load_the_compiler(tmp_path: Path, folder: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / f"{name}.py").write_text(text)
    env = {"CUDACORE_CACHE_DIR": str(folder), "CUDACORE_CACHE": None}
    heavy = {f"cudacore.tile.{name}" for name in HEAVY} | {"cudacore._tile", "ast", "inspect"}
    first, second = (run_cleanly(LAUNCH, str(tmp_path), env=env).split() for _ in range(2))
    assert first[0] == second[0] == str(RESULT)
    assert heavy & set(first)
    assert not {*heavy, "json", "dataclasses"} & set(second)


def test_processes_at_once(tmp_path: Path, folder: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / f"{name}.py").write_text(text)
    env = environment({"CUDACORE_CACHE_DIR": str(folder), "CUDACORE_CACHE": None})
    command = [sys.executable, "-c", LAUNCH, str(tmp_path)]
    running = [
        subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    results = [each.communicate(timeout=120)[0].split()[0] for each in running]
    assert results == [str(RESULT)] * 2
    third = run_cleanly(LAUNCH, str(tmp_path), env=env).split()
    assert third[0] == str(RESULT)
    assert "cudacore.tile._evaluate" not in third
