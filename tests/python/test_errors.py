# SPDX-License-Identifier: Apache-2.0
"""The exceptions: their base classes, their attributes and their messages."""

import copy
import pickle
import sys
from collections.abc import Callable
from typing import Any

import cudacore
import pytest
from cudacore import (
    CompileError,
    CUDAError,
    Device,
    LibraryNotFoundError,
    MemoryResource,
    Program,
    Stream,
)
from harness import ARCH, run_cleanly

BASES: dict[str, tuple[type[BaseException], ...]] = {
    "CUDAError": (RuntimeError,),
    "OutOfMemoryError": (CUDAError, MemoryError),
    "InvalidValueError": (CUDAError, ValueError),
    "NotSupportedError": (CUDAError,),
    "LaunchError": (CUDAError,),
    "ContextLostError": (CUDAError,),
    "ForkedProcessError": (CUDAError,),
    "LibraryNotFoundError": (CUDAError,),
    "DriverNotFoundError": (LibraryNotFoundError,),
    "CompileError": (CUDAError,),
    "LinkError": (CUDAError,),
}


@pytest.mark.parametrize("name", BASES)
def test_hierarchy(name: str) -> None:
    error = getattr(cudacore, name)
    assert all(issubclass(error, base) for base in BASES[name])
    assert error.__module__ == "cudacore"
    assert error.__doc__


def test_no_other_error_is_public() -> None:
    public = {name for name in cudacore.__all__ if name.endswith("Error")}
    assert public == set(BASES)


@pytest.mark.parametrize("name", BASES)
def test_errors_are_told_apart(name: str) -> None:
    error = getattr(cudacore, name)
    others = [getattr(cudacore, other) for other in BASES if other != name]
    assert [other for other in others if issubclass(error, other)] == [
        base for base in (CUDAError, LibraryNotFoundError)
        if base is not error and issubclass(error, base)
    ]  # fmt: skip


@pytest.fixture
def refused() -> CompileError:
    with pytest.raises(CompileError) as caught:
        Program("int x = ;", "c++", {"arch": ARCH}).compile("ptx")
    return caught.value


def test_attributes(refused: CompileError) -> None:
    assert refused.code == 6
    assert refused.name == "NVRTC_ERROR_COMPILATION"
    assert refused.function == "nvrtcCompileProgram"
    assert "expected an expression" in refused.log


def test_message_says_call_and_code(refused: CompileError) -> None:
    message = str(refused)
    assert refused.function in message
    assert refused.name in message
    assert refused.args == (message,)


@pytest.mark.parametrize("again", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
def test_survives_pickling(refused: CompileError, again: object) -> None:
    twin = again(refused)  # type: ignore[operator]
    assert type(twin) is CompileError
    assert str(twin) == str(refused)
    assert (twin.code, twin.name, twin.function, twin.log) == (
        refused.code, refused.name, refused.function, refused.log)  # fmt: skip


@pytest.mark.parametrize("name", BASES)
def test_can_be_raised_from_python(name: str) -> None:
    error = getattr(cudacore, name)
    with pytest.raises(error, match="by hand"):
        raise error("by hand")


def test_unraisable_errors_are_counted() -> None:
    assert cudacore.unraisable_errors() == 0


PROGRAM: Any = Program
DEVICE: Any = Device

#: Calls for which cuda.core raises the second class.
OF_BOTH: dict[str, tuple[Callable[[], object], type[Exception], type[Exception]]] = {
    "TypeAndBufferError": (
        lambda: DEVICE().allocate(4).__dlpack__(dl_device="cpu"), TypeError, BufferError,
    ),
    "TypeAndRuntimeError": (Stream, TypeError, RuntimeError),
    "TypeAndValueError": (
        lambda: DEVICE().create_stream().wait(3), TypeError, ValueError,
    ),
    "ValueAndRuntimeError": (lambda: PROGRAM("a", "cuda"), ValueError, RuntimeError),
    "NotImplementedAndTypeError": (
        lambda: MemoryResource().allocate(1), NotImplementedError, TypeError,
    ),
}  # fmt: skip


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("name", OF_BOTH)
def test_error_of_both_classes_is_pickled(name: str) -> None:
    call, ours, theirs = OF_BOTH[name]
    with pytest.raises(ours) as caught:
        call()
    assert isinstance(caught.value, theirs)
    kind = type(caught.value)
    assert (kind.__module__, kind.__qualname__) == ("cudacore._core", name)
    assert getattr(sys.modules["cudacore._core"], name) is kind
    twin = pickle.loads(pickle.dumps(caught.value))
    assert type(twin) is kind
    assert str(twin) == str(caught.value)


def test_error_of_both_classes_leaves_a_worker() -> None:
    script = """
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor
        import cudacore
        if __name__ == "__main__":
            spawn = multiprocessing.get_context("spawn")
            with ProcessPoolExecutor(1, mp_context=spawn) as pool:
                print(repr(pool.submit(cudacore.Program, "a", "cuda").exception()))
    """
    assert "code_type must be" in run_cleanly(script)
