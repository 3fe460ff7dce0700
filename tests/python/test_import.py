# SPDX-License-Identifier: Apache-2.0
"""What `import cudacore` costs and what it must not touch."""

import importlib.metadata
import pickle
import re
import sys
from pathlib import Path
from types import ModuleType

import cudacore
import cudacore.allocators
import cudacore.utils
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


def test_dir_names_everything_once() -> None:
    names = cudacore.__dir__()
    assert len(set(names)) == len(names)
    assert {"torch_op", "benchmark", "allocators", "system", *cudacore.__all__} <= set(names)


def test_importing_all_names_imports_no_library() -> None:
    script = """
        import sys
        from cudacore import *
        print(benchmark.__name__, torch_op.__name__, {"numpy", "torch"} & set(sys.modules))
    """
    assert run_cleanly(script) == "benchmark torch_op set()\n"


PUBLIC = [
    (module, name)
    for module in (cudacore, cudacore.allocators, cudacore.utils)
    for name in module.__all__
    if callable(getattr(module, name))
]


@pytest.mark.parametrize(
    ("module", "name"), PUBLIC, ids=[f"{module.__name__}.{name}" for module, name in PUBLIC]
)
def test_public_name_says_where_it_is(module: ModuleType, name: str) -> None:
    value = getattr(module, name)
    assert value.__module__ == module.__name__
    assert pickle.loads(pickle.dumps(value)) is value


def test_pickled_names_are_imported_when_they_are_needed() -> None:
    from cudacore.allocators import TorchMemoryResource
    from cudacore.utils import make_program_cache_key

    names = (TorchMemoryResource, make_program_cache_key, cudacore.torch_op, cudacore.make_fatbin)
    script = """
        import pickle, sys
        print([value.__name__ for value in pickle.loads(bytes.fromhex(sys.argv[1]))])
    """
    assert run_cleanly(script, pickle.dumps(names).hex()) == (
        "['TorchMemoryResource', 'make_program_cache_key', 'torch_op', 'make_fatbin']\n"
    )


USES = {
    "numpy": "_host.element_type('float32')",
    "numpy ": "_host.make_array(4, None, None)",
    "ml_dtypes": "_host.element_type('bfloat16')",
    "matplotlib": "plot.histogram(None, None)",
    "torch": "cudacore.torch_op('a::b')",
    "cupy": "cudacore.allocators.CupyMemoryResource()",
    "rmm": "cudacore.allocators.RmmMemoryResource()",
}


@pytest.mark.parametrize("library", USES)
@pytest.mark.parametrize("error", ["ImportError('lib.so')", "ModuleNotFoundError('x', name='x')"])
def test_error_of_a_broken_library_comes_through(library: str, error: str, tmp_path: Path) -> None:
    package = tmp_path / library.strip()
    package.mkdir()
    (package / "__init__.py").write_text(f"raise {error}")
    script = f"""
        import sys
        sys.path.insert(0, sys.argv[1])
        import cudacore
        from cudacore import _host
        from cudacore._benchmark import plot
        try:
            {USES[library]}
        except ImportError as error:
            print(repr(error))
    """
    said = run_cleanly(script, str(tmp_path)).strip()
    assert said == repr(eval(error))


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
