# SPDX-License-Identifier: Apache-2.0
"""cuTile's own tests and samples, run against cudacore.tile.

usage: cutile_suite.py CHECKOUT [PYTEST ARGUMENT ...]

CHECKOUT is a clone of NVIDIA/cutile-python. The interpreter must have cudacore, PyTorch and pytest.
Every import from ``cuda.tile`` is redirected to cudacore.tile. Tests that look at Tile IR, its
bytecode, its compiler, or the insides of cuTile are not counted: each ends in an error that says
so.

Without a GPU, run it as tests/pytorch/run.sh runs PyTorch, whose kernels then run on the host.
"""

import collections
import contextlib
import enum
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import sys
import tempfile
import threading
import types

import cudacore
import pytest
import torch
import torch.distributed._functional_collectives
import torch.testing
from cudacore import tile
from cudacore.tile import DType
from torch_on_host import OnHost, run_on_host

# What belongs to Tile IR, its compiler or cuTile's own insides, by file.
LEFT_OUT = {
    "test_ast_util.py": "insides",
    "test_bytecode.py": "bytecode",
    "test_bytecode_version_compat.py": "bytecode",
    "test_cache.py": "Tile IR's compiler",
    "test_check_dtype_support.py": "bytecode",
    "test_cli.py": "insides",
    "test_code_motion.py": "Tile IR",
    "test_coroutine_util.py": "insides",
    "test_dce.py": "Tile IR",
    "test_float_encoding.py": "bytecode",
    "test_function_debuginfo.py": "bytecode",
    "test_generate.py": "insides",
    "test_ir_types.py": "Tile IR",
    "test_loop_split.py": "Tile IR",
    "test_materialize_constants.py": "Tile IR",
    "test_propagate_divby.py": "Tile IR",
    "test_token_order.py": "Tile IR",
    "test_unhoist_partition_views.py": "Tile IR",
    "test_debug.py": "bytecode",
    "test_export_compat.py": "bytecode",
    "bench_": "benchmarks",
}

# Single tests of that kind.
LEFT_OUT_TESTS = {
    "test_launch_on_different_devices": "insides",
    "test_ir_checked_vs_unchecked": "Tile IR",
    "test_concurrent_launch[_cext._benchmark]": "insides",
}

# Those that take many minutes on the simulated device.
SLOW_TESTS = {"test_concurrent_launch"}

# Python runs this when it starts: tests start their own files as scripts.
CHILD = """
import sys
if any(word.startswith({tests!r}) for word in sys.orig_argv):
    sys.path.append({here!r})
    import cutile_suite
    cutile_suite.redirect_child()
"""


class MissingError(Exception):
    """A test used something of Tile IR or of cuTile's insides."""


def use(name: str) -> None:
    if running:
        raise MissingError(name)


running: list[bool] = []  # empty while pytest collects


class Missing(type):
    """The type of placeholders: attributes are placeholders too; calling one ends the test."""

    def __getattr__(cls, name: str) -> "Missing":
        if name.startswith("__"):
            raise AttributeError(name)
        return placeholder(f"{cls.__name__}.{name}")

    def __call__(cls, *_: object, **__: object) -> "Missing":
        use(cls.__name__)
        return cls

    def __iter__(cls):
        use(cls.__name__)
        return iter(())

    def __setattr__(cls, name: str, _: object) -> None:
        use(f"{cls.__name__}.{name}")

    def __getitem__(cls, _: object) -> "Missing":
        return cls

    def __instancecheck__(cls, _: object) -> bool:
        use(cls.__name__)
        return False

    def __lt__(cls, _: object) -> bool:
        return False

    __le__ = __gt__ = __ge__ = __lt__


def placeholder(name: str) -> Missing:
    return type.__new__(Missing, name, (), {})


class Version(enum.IntEnum):
    """Versions of Tile IR, of which none is missing here."""

    V_13_1 = 1
    V_13_2 = 2
    V_13_3 = 3
    V_13_4 = 4

    def major(self) -> int:
        return 13

    def minor(self) -> int:
        return int(self)

    def as_string(self) -> str:
        return f"13.{int(self)}"


def capability() -> tuple[int, int]:
    return tuple(cudacore.Device().compute_capability)


def insides() -> dict[str, dict[str, object]]:
    """What tests take from modules of cuTile that are not public, where cudacore has the same."""
    from cudacore.tile import (
        _dtype,
        _exception,
        _hints,
        _mode,
        _promotion,
        _specialization,
        compilation,
        tune,
    )
    from cudacore.tile.compilation import _constraint, _demangling, _mangling

    def to_dtype(value: object) -> object:
        if (found := _dtype.from_foreign(value)) is None:
            raise _dtype.MismatchError(f"{value} is not a dtype")
        return found

    def is_allowed(source: object, target: object) -> bool:
        try:
            _promotion.check_implicit(source, target)
        except TypeError:
            return False
        return True

    def demangle(symbol, groups, allowed_dataclasses, allowed_enums):
        return _demangling.demangle_kernel_name(
            symbol, dataclasses=allowed_dataclasses, enums=allowed_enums
        )

    class ExecutionError(_exception.TileCompilerExecutionError):
        def __init__(self, _code: int, log: str, *_: object) -> None:
            super().__init__(log)

    class LateError(_exception.TileCompilerTimeoutError):
        def __init__(self, message: str, *_: object) -> None:
            super().__init__(message)

    class Options(_hints.Hints):
        # In cuTile, this is a dataclass, and tests read a default of it.
        __dataclass_fields__ = types.MappingProxyType(
            {
                name: types.SimpleNamespace(default=hint)
                for name, hint in _hints.Hints().given().items()
            }
        )

        def opt_level_for_target(self, target: str) -> int:
            return self.resolve(target)["opt_level"]

        def hints_by_target(self) -> None:
            use("CompilerOptions.hints_by_target")

    return {
        "_exception": vars(_exception)
        | {
            "TypeCheckingError": _exception.TileTypeError,
            "TileCompilerExecutionError": ExecutionError,
            "TileCompilerTimeoutError": LateError,
        },
        "_datatype": vars(_dtype)
        | {
            "can_autocast_dtypes": is_allowed,
            "is_float": lambda dtype: dtype.is_float,
            "numeric_dtype_category": lambda dtype: dtype.category,
            "NumericDTypeCategory": types.SimpleNamespace(
                Integral=_dtype.Category.INTEGER, Float=_dtype.Category.FLOAT
            ),
            "_DTypePromotionImpl": types.SimpleNamespace(
                _order=list(dict.fromkeys(x for x in vars(_dtype).values() if isinstance(x, DType)))
            ),
        },
        "_numeric_semantics": vars(_mode),
        "_memory_model": vars(_mode),
        "_bytecode": {"BytecodeVersion": Version},
        "_bytecode.version": {"BytecodeVersion": Version},
        "_cext": {
            "CallingConvention": compilation.CallingConvention,
            "cconv_v3_enabled": lambda: True,
            "dev_features_enabled": lambda: False,
            "launch": tile.launch,
            "get_compute_capability": capability,
        },
        "_compile": {
            "get_sm_arch": lambda *_: "sm_{}{}".format(*capability()),
            "format_sm_arch": lambda major, minor: f"sm_{major}{minor}",
            "_get_max_supported_bytecode_version": lambda *_, **__: Version.V_13_4,
            "_SUPPORTED_VERSIONS": list(Version),
            "_find_compiler_bin": lambda: types.SimpleNamespace(path="none"),
            "compile_tile": _specialization.specialize,
        },
        "_compiler_options": {"CompilerOptions": Options},
        "_ir.typing_support": {"to_dtype": to_dtype},
        "_ir.cast_ops": {"_is_implicit_cast_ok": is_allowed},
        "tune": vars(tune),
        "compilation._signature": vars(_constraint),
        "compilation._name_mangling": vars(_mangling)
        | {"_mangle_string": _mangling.mangle_string, "_demangle_kernel_name": demangle}
        | vars(_demangling),
    }


class Redirect(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds ``cuda.tile`` and all below it in cudacore.tile, or makes placeholders."""

    def find_spec(self, name, path=None, target=None):
        if name == "cuda.tile" or name.startswith("cuda.tile."):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    @staticmethod
    def find(attribute: str) -> object:
        """Return what ``cuda.tile`` has: what is public, or a module."""
        if hasattr(tile, attribute):
            return getattr(tile, attribute)
        if attribute.startswith("__") or not attribute.startswith("_"):
            raise AttributeError(attribute)
        return importlib.import_module(f"cuda.tile.{attribute}")

    def create_module(self, spec):
        name = spec.name.removeprefix("cuda.tile").removeprefix(".")
        if not name:
            module = types.ModuleType(spec.name)
            module.__path__ = []
            module.__getattr__ = self.find
            return module
        known = insides()
        if name not in known and not name.startswith("_"):
            try:
                return importlib.import_module(f"cudacore.tile.{name}")
            except ModuleNotFoundError:
                pass
        module = types.ModuleType(spec.name)
        module.__path__ = []
        module.__dict__.update(
            (key, value) for key, value in known.get(name, {}).items() if not key.startswith("__")
        )

        def missing(attribute: str) -> Missing:
            if attribute.startswith("__"):  # inspect looks for __file__ in every module
                raise AttributeError(attribute)
            return placeholder(f"{spec.name}.{attribute}")

        module.__getattr__ = missing
        return module

    def exec_module(self, module):
        if module.__name__ == "cuda.tile._compile":
            # Tests replace compile_tile there to count compilations.
            from cudacore.tile import _specialization

            original = _specialization.specialize
            _specialization.specialize = lambda *given: module.compile_tile(*given)  # noqa: PLW0108 - looked up anew

            def compile_tile(kernel, constraints, architecture):
                if isinstance(architecture, tuple):  # as cuTile names it
                    architecture = 10 * architecture[0] + architecture[1]
                return original(kernel, constraints, architecture)

            module.compile_tile = compile_tile


def is_left_out(path: pathlib.Path) -> bool:
    return any(path.name.startswith(left) for left in LEFT_OUT)


class Plugin:
    """Counts what passes, fails, and lacks something."""

    def __init__(self) -> None:
        self.counts = collections.defaultdict(collections.Counter)
        self.missing = collections.Counter()
        self.simulated = cudacore.simulator.is_enabled()

    def pytest_addoption(self, parser) -> None:
        parser.addoption("--sample", type=int, help="run this many cases of each file")
        parser.addoption("--part", help="K/N: run each Nth case from the Kth, of N processes")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config, items) -> None:
        left = LEFT_OUT_TESTS.keys() | (SLOW_TESTS if self.simulated else set())
        items[:] = [
            item
            for item in items
            if not {item.originalname, item.name} & left and not is_left_out(item.path)
        ]
        part = config.getoption("--part")
        if part is not None:
            first, step = map(int, part.split("/"))
            items[:] = items[first - 1 :: step]
        most = config.getoption("--sample")
        if most is None:
            return
        by_file = collections.defaultdict(list)
        for item in items:
            by_file[item.path].append(item)
        items[:] = [
            item for cases in by_file.values() for item in cases[:: max(len(cases) // most, 1)]
        ]

    def pytest_ignore_collect(self, collection_path: pathlib.Path) -> bool | None:
        return True if is_left_out(collection_path) else None

    @pytest.hookimpl(hookwrapper=True)
    def pytest_collection(self):
        with OnHost() if self.simulated else contextlib.nullcontext():
            yield

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        running.append(True)
        with OnHost() if self.simulated else contextlib.nullcontext():
            yield
        running.pop()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        outcome = yield
        report = outcome.get_result()
        error = call.excinfo.value if call.excinfo else None
        seen = error
        while seen is not None:
            is_inside = isinstance(seen, AttributeError) and (seen.name or "").startswith("_")
            if isinstance(seen, MissingError) or is_inside or "without Tile IR" in str(seen):
                report.outcome = "skipped"
                report.longrepr = (str(item.path), 0, f"Skipped: {seen}")
                self.missing[str(seen)[:60]] += 1
                self.counts[item.path.name]["missing"] += 1
                return
            seen = seen.__cause__ or seen.__context__
        if report.when == "call" or report.outcome != "passed":
            self.counts[item.path.name][report.outcome] += 1

    def pytest_terminal_summary(self, terminalreporter):
        columns = ("passed", "failed", "missing", "skipped")
        total = collections.Counter()
        write = terminalreporter.write_line
        write(f"{'file':40}" + "".join(f"{column:>9}" for column in columns))
        for name in sorted(self.counts):
            total.update(self.counts[name])
            write(f"{name:40}" + "".join(f"{self.counts[name][c]:9}" for c in columns))
        counted = total["passed"] + total["failed"]
        share = 100 * total["passed"] / max(counted, 1)
        write(f"{'':40}" + "".join(f"{total[column]:9}" for column in columns))
        write(f"{total['passed']} of {counted} pass: {share:.1f} %")


def redirect() -> None:
    """Have every later import of ``cuda.tile`` find cudacore.tile."""
    try:
        importlib.import_module("cuda")  # NVIDIA's own packages, which others import
    except ModuleNotFoundError:
        spec = importlib.machinery.ModuleSpec("cuda", None, is_package=True)
        sys.modules["cuda"] = importlib.util.module_from_spec(spec)
    sys.meta_path.insert(0, Redirect())
    torch.cuda.init()
    importlib.import_module("cuda.tile")
    # A search that is timed anew runs its kernels, as tests expect.
    tile.tune.exhaustive_search.__kwdefaults__["cache"] = False
    if cudacore.simulator.is_enabled():
        threading.Thread.run = run_on_host


def redirect_child() -> None:
    """Do so in a process that a test starts: it runs wholly as a test does."""
    redirect()
    running.append(True)
    if cudacore.simulator.is_enabled():
        OnHost().__enter__()  # until the process ends


def main() -> int:
    checkout = pathlib.Path(sys.argv[1]).resolve()
    arguments = sys.argv[2:]
    if not any(re.match(r"[^-].*\.py", argument) for argument in arguments):
        arguments.append("test")
    os.chdir(checkout)
    sys.path.insert(0, str(checkout / "test"))
    redirect()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        settings = folder / "pytest.ini"
        settings.write_text("[pytest]\n")
        (folder / "sitecustomize.py").write_text(
            CHILD.format(tests=str(checkout), here=str(pathlib.Path(__file__).parent))
        )
        path = [name, *filter(None, [os.environ.get("PYTHONPATH")])]
        os.environ["PYTHONPATH"] = os.pathsep.join(path)
        return pytest.main(
            ["-c", str(settings), "--rootdir", str(checkout), *arguments], [Plugin()]
        )


if __name__ == "__main__":
    sys.exit(main())
