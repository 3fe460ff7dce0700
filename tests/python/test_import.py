# SPDX-License-Identifier: Apache-2.0
"""What `import cudacore` costs and what it must not touch."""

import importlib.metadata
import re
import sys

import cudacore
import pytest
from harness import run_cleanly

BUDGET_MS = 20

HEAVY = ("numpy", "ctypes", "subprocess", "asyncio", "inspect", "importlib.metadata", "pickle",
         "typing_extensions", "dataclasses", "tempfile", "re", "enum", "typing")  # fmt: skip


def test_import_is_quick() -> None:
    # Measures processor time, and takes the best of several runs, so that it passes on a busy
    # machine.
    script = """
        import time
        start = time.process_time()
        import cudacore
        print((time.process_time() - start) * 1e3)
    """
    assert min(float(run_cleanly(script)) for _ in range(7)) <= BUDGET_MS


@pytest.mark.parametrize("module", HEAVY)
def test_import_loads_no(module: str) -> None:
    script = """
        import sys
        before = set(sys.modules)
        import cudacore
        print(sys.argv[1] in set(sys.modules) - before)
    """
    assert run_cleanly(script, module).strip() == "False"


@pytest.mark.parametrize("library", ["libcuda", "libnvrtc", "libnvJitLink", "libcudart"])
def test_import_opens_no(library: str) -> None:
    script = """
        import cudacore, sys
        with open("/proc/self/maps") as maps:
            print(sum(sys.argv[1] + ".so" in line for line in maps))
    """
    assert run_cleanly(script, library) == "0\n"


def test_import_starts_no_thread() -> None:
    script = """
        import os
        import cudacore
        print(len(os.listdir("/proc/self/task")))
    """
    assert run_cleanly(script) == "1\n"


def test_requires_no_package() -> None:
    required = importlib.metadata.requires("cudacore") or []
    assert [line for line in required if "extra ==" not in line] == []


@pytest.mark.parametrize("extra", ["cu12", "cu13"])
def test_extra_brings_compilers_and_headers(extra: str) -> None:
    required = [line for line in importlib.metadata.requires("cudacore") or [] if extra in line]
    for package in ("cuda-nvrtc", "nvjitlink", "nvfatbin", "cuda-runtime", "cuda-cccl"):
        assert any(line.startswith(f"nvidia-{package}") for line in required), package


def test_version() -> None:
    assert cudacore.__version__ == importlib.metadata.version("cudacore")
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", cudacore.__version__)


def test_all_is_sorted_and_complete() -> None:
    assert len(set(cudacore.__all__)) == len(cudacore.__all__)
    assert all(hasattr(cudacore, name) for name in cudacore.__all__)
    public = {
        name
        for name, value in vars(cudacore._core).items()
        if isinstance(value, type) and value.__module__ == "cudacore" and not name.startswith("_")
    }
    assert public <= set(cudacore.__all__)


@pytest.mark.parametrize("name", cudacore.__all__)
def test_public_name_says_it_is_of_cudacore(name: str) -> None:
    module = getattr(getattr(cudacore, name), "__module__", "cudacore")
    assert module == "cudacore" or not isinstance(getattr(cudacore, name), type)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="older ones cannot run code in another")
def test_other_interpreters_of_the_process_are_refused() -> None:
    # Before 3.13 the module is private, and isolated interpreters refuse cudacore automatically.
    script = """
try:
    import _xxsubinterpreters as interpreters
    made = interpreters.create(isolated=False)
except ImportError:
    import _interpreters as interpreters
    made = interpreters.create("legacy")
import cudacore
try:
    failed = interpreters.run_string(made, "import cudacore")
    print(failed and failed.msg)
except Exception as error:
    print(error)
interpreters.destroy(made)
print(cudacore.Device())
"""
    said, device = run_cleanly(script).splitlines()
    assert "in the main interpreter" in said
    assert device.startswith("<Device 0")


@pytest.mark.parametrize(
    "name", ["cudacore.benchmark", "cudacore.cache", "cudacore.utils.InMemoryProgramCache"]
)
def test_what_loads_later_is_kept(name: str) -> None:
    script = """
        import sys
        import cudacore, cudacore.utils
        path, _, last = sys.argv[1].rpartition(".")
        module = sys.modules[path]
        before = last in vars(module)
        found = getattr(module, last)
        print(before, vars(module)[last] is found)
    """
    assert run_cleanly(script, name) == "False True\n"
