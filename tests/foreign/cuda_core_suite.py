# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's own tests of cuda.core, run against cudacore.

usage: cuda_core_suite.py CHECKOUT [PYTEST ARGUMENT ...]

CHECKOUT is a clone of NVIDIA/cuda-python. The interpreter must have cudacore, cuda-bindings, numpy
and pytest. Every import from ``cuda.core`` is redirected to cudacore. The class of an error must
match, but not its wording, nor that of a repr. Tests of features that cudacore lacks, of internals
of cuda.core, or of what the simulated device cannot run are not counted: each ends in an error
that says so.
"""

import collections
import ctypes
import enum
import importlib
import importlib.abc
import importlib.machinery
import os
import pathlib
import re
import sys
import types

import cudacore
import pytest

# Files, and individual tests, about features that cudacore lacks, internals that no user of
# cuda.core sees, or the wording of messages.
LEFT_OUT = {
    "cython": "insides",
    "example_tests": "examples need CuPy",
    "graph/test_graph_builder.py::"
    "test_capture_tail_discovery_failure_preserves_callback_attachment": "leaves a capture open",
    "graph/test_graph_definition_lifetime.py::"
    "test_pending_cleanup_is_safe_during_python_shutdown": "its process imports NVIDIA's package",
    "test_build_hooks.py": "insides",
    "memory_ipc": "counted alone: one test waits long for another",
    "test_checkpoint.py": "its processes import NVIDIA's package",
    "test_cuda_utils.py": "insides",
    "test_enum_coverage.py": "insides",
    "test_helpers.py": "insides",
    "test_managed_memory_warning.py": "insides",
    "test_memory_peer_access_utils.py": "insides",
    "test_multiprocessing_warning.py": "insides",
    "test_optional_dependency_imports.py": "insides",
    "test_program_cache_multiprocess.py": "its processes import NVIDIA's package",
    "test_rlcompleter_patch.py": "insides",
    "test_strided_layout.py": "insides",
    "test_launcher.py::test_to_native_launch_config_cluster_branch": "insides",
    "test_memory.py::test_mempool_attributes_repr": "words",
    "test_memory.py::test_package_contents": "insides",
    "test_memory.py::test_strided_memory_view_not_in_top_level_namespace": "insides",
    "test_memory.py::test_top_level_namespace_excludes_known_leaks": "insides",
    "test_object_protocols.py::test_repr_format": "words",
    "test_utils_enum_explanations_helpers.py": "insides",
}
# What the errors of such tests contain.
REASONS = {
    "libNVVM": "NVVM IR",
    "cannot run on the simulated device": "machine code on the simulated device",
    "CUDA_ERROR_NO_BINARY_FOR_GPU": "machine code on the simulated device",
}
PRIVATE_NAME = re.compile(r"_.*")


class MissingError(Exception):
    """A test used something that cudacore lacks."""


def reason_of(error: BaseException) -> str | None:
    """Return why a test that ended in this error is not counted; None if it is."""
    text = str(error)
    if isinstance(error, MissingError):
        return text
    if isinstance(error, AttributeError) and PRIVATE_NAME.fullmatch(error.name or ""):
        return f"insides: {error.name}"
    if isinstance(error, ModuleNotFoundError) and "cuda.bindings" in text:
        return text  # a newer cuda.bindings, or one built from source
    if isinstance(error, ModuleNotFoundError) and "cuda.core._" in text:
        return f"insides: {error.name}"
    for part, reason in REASONS.items():
        if part in text:
            return reason
    return None if error.__context__ is None else reason_of(error.__context__)


modules: set[str] = set()  # of the checkout's cuda.core
used: list[str] = []  # placeholders that the running test used
running: list[bool] = []  # empty while pytest collects


def use(name: str) -> None:
    if running:
        used.append(name)
        raise MissingError(name)


class Missing(type):
    """The type of placeholders: attributes are placeholders too; calling one ends the test."""

    def __getattr__(cls, name: str) -> "Missing":
        if name == "__args__":
            use(cls.__name__)  # of a type that typing.Literal makes
        if name.startswith("__"):
            raise AttributeError(name)
        return stand_in(f"{cls.__name__}.{name}")

    def __call__(cls, *_: object, **__: object) -> "Missing":
        use(cls.__name__)
        return cls

    def __instancecheck__(cls, instance: object) -> bool:
        use(cls.__name__)
        return False

    def __iter__(cls):
        use(cls.__name__)
        return iter(())

    def __getitem__(cls, _: object) -> "Missing":
        use(cls.__name__)
        return cls

    def __len__(cls) -> int:
        use(cls.__name__)
        return 0

    def __rsub__(cls, _: object) -> "Missing":
        use(cls.__name__)
        return cls


def stand_in(name: str) -> Missing:
    return type.__new__(Missing, name, (), {})


def handle_return(result: tuple, *_: object) -> object:
    error, *values = result
    if error.name == "cudaErrorNotSupported":
        use("the CUDA runtime on the simulated device")
    if error:
        raise cudacore.CUDAError(repr(error))
    return values[0] if len(values) == 1 else tuple(values) or None


def bindings(name: str) -> types.ModuleType:
    return importlib.import_module(f"cuda.bindings.{name}")


# The few private names that the tests themselves use.
PRIVATE = {
    "_SynchronousMemoryResource": lambda: cudacore.SynchronousMemoryResource,
    "_decide_nvjitlink_or_driver": lambda: lambda: False,
    "_tls": types.SimpleNamespace,
    "_can_load_generated_ptx": lambda: lambda: True,
    "DLDeviceType": lambda: enum.IntEnum(
        "DLDeviceType", {"kDLCPU": 1, "kDLCUDA": 2, "kDLCUDAHost": 3, "kDLCUDAManaged": 13}
    ),
    "NVRTCError": lambda: cudacore.CompileError,
    "binding_version": lambda: lambda: (*cudacore.system.get_user_mode_driver_version(), 0),
    "driver": lambda: bindings("driver"),
    "driver_version": lambda: lambda: (*cudacore.system.get_user_mode_driver_version(), 0),
    "handle_return": lambda: handle_return,
    "nvrtc": lambda: bindings("nvrtc"),
}
PLACES = [cudacore, cudacore.graph, cudacore.texture, cudacore.typing, cudacore.utils]


class CudaCore(types.ModuleType):
    """``cuda.core`` or one of its modules."""

    __path__: tuple[str, ...] = ()

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            if name == "__version__":
                return cudacore.__version__
            raise AttributeError(name)
        if f"{self.__name__}.{name}" in modules:
            raise AttributeError(name)  # Python then imports it
        if self.__name__.startswith("cuda.core.system"):
            return getattr(cudacore.system, name, None) or stand_in(name)
        for place in PLACES:
            if name in place.__all__:
                return getattr(place, name)
        value = PRIVATE[name]() if name in PRIVATE else stand_in(name)
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: object) -> None:
        """A test that patches cuda.core's internals is not counted either."""
        if running and not isinstance(value, types.ModuleType) and not name.startswith("__"):
            used.append(f"{self.__name__}.{name}")
        super().__setattr__(name, value)


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, *_):
        if name not in modules:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return CudaCore(spec.name)

    def exec_module(self, module):
        pass


class Tally:
    """Counts tests: passed, failed, skipped, or about something missing."""

    def __init__(self, root: pathlib.Path) -> None:
        self.root = root
        self.outcomes: dict[str, dict[str, str]] = collections.defaultdict(dict)
        self.missing: collections.Counter[str] = collections.Counter()

    def pytest_ignore_collect(self, collection_path: pathlib.Path) -> bool | None:
        return os.path.relpath(collection_path, self.root) in LEFT_OUT or None

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        def is_left_out(item: pytest.Item) -> bool:
            test = item.nodeid.rpartition("tests/")[2].partition("[")[0]
            return test in LEFT_OUT

        config.hook.pytest_deselected(items=[item for item in items if is_left_out(item)])
        items[:] = [item for item in items if not is_left_out(item)]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self):
        used.clear()
        running.append(True)
        try:
            return (yield)
        finally:
            running.pop()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo):
        report = yield
        if call.excinfo is not None and (reason := reason_of(call.excinfo.value)):
            used.append(reason)
        self.count(item, report)
        return report

    def count(self, item: pytest.Item, report: pytest.TestReport) -> None:
        outcomes = self.outcomes[item.path.relative_to(self.root).as_posix()]
        if used and (report.failed or report.when == "call"):
            self.missing[used[0]] += outcomes.get(item.nodeid) != "missing"
            outcomes[item.nodeid] = report.outcome = "missing"
        elif (not report.passed or report.when == "call") and (
            outcomes.get(item.nodeid, "passed") == "passed"
        ):
            outcomes[item.nodeid] = report.outcome

    def pytest_report_teststatus(self, report):
        return ("missing", "m", "MISSING") if report.outcome == "missing" else None

    def pytest_terminal_summary(self, terminalreporter) -> None:
        write = terminalreporter.write_line
        write(f"\n{'file':24}" + "".join(f"{word:>9}" for word in COLUMNS))
        total: collections.Counter[str] = collections.Counter()
        for path, outcomes in sorted(self.outcomes.items()):
            counts = collections.Counter(outcomes.values())
            total.update(counts)
            write(f"{path:24}" + "".join(f"{counts[word]:9}" for word in COLUMNS))
        write(f"{'':24}" + "".join(f"{total[word]:9}" for word in COLUMNS))
        counted = total["passed"] + total["failed"]
        write(
            f"{total['passed']} of {counted} pass: {100 * total['passed'] / max(counted, 1):.1f} %"
        )
        write("\nNot counted, by what cudacore lacks:")
        for name, count in self.missing.most_common():
            write(f"{count:5} {name}")


COLUMNS = ("passed", "failed", "missing", "skipped")


def raises(*args, match=None, **kwargs):
    """Ignore what a message must match: cudacore has its own messages."""
    return raises_as_told(*args, **kwargs)


raises_as_told = pytest.raises


def redirect(root: pathlib.Path) -> None:
    """Let this process import cudacore as cuda.core, and the tests' own modules."""
    for source in (root / "cuda" / "core").rglob("*.py*"):
        name = source.relative_to(root).with_suffix("")
        modules.add(".".join(name.parts).removesuffix(".__init__"))
    if cudacore.simulator.is_enabled():
        # cuda.bindings requests libcuda.so.1 by name, and gets the one that is loaded.
        ctypes.CDLL(cudacore.simulator.driver_folder() + "/libcuda.so.1")
    sys.meta_path.insert(0, Finder())
    # numba-cuda imports cuda.core itself, an earlier one; tests that need it do without.
    sys.modules["numba.cuda"] = None  # type: ignore[assignment]
    bindings("nvjitlink").nvJitLinkError = cudacore.LinkError
    sys.path.insert(0, str(root / "tests"))


def core_of(checkout: str) -> pathlib.Path:
    return pathlib.Path(checkout).resolve() / "cuda_core"


def main(checkout: str, arguments: list[str]) -> int:
    tests = core_of(checkout) / "tests"
    redirect(core_of(checkout))
    pytest.raises = raises
    options = ["-c", str(tests.parent / "pytest.ini"), "-p", "no:cacheprovider", "--tb=short"]
    return int(pytest.main([*options, str(tests), *arguments], plugins=[Tally(tests)]))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2:]))
if __name__ == "__mp_main__":  # a process that a test has started
    redirect(core_of(sys.argv[1]))
