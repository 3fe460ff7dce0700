# SPDX-License-Identifier: Apache-2.0
"""Exceptions that the caller's own code raises inside a call are passed on, including Ctrl-C."""

import mmap
import sys
from collections.abc import Callable
from typing import Any

import cudacore
import pytest
from cudacore import Buffer, Device, MemoryResource, ObjectCode, Program, ProgramOptions, Stream
from harness import ARCH, run

KINDS = [ZeroDivisionError, TypeError, ValueError, KeyboardInterrupt]


def having(name: str, kind: type[BaseException]) -> Any:
    """Make an object whose attribute raises when it is read."""

    def read(_self: object) -> object:
        raise kind("mine")

    mapping = {"__getitem__": read} if name == "keys" else {}
    return type("Hostile", (), {name: property(read), **mapping})()


def answering(name: str, kind: type[BaseException]) -> Any:
    """Make an object whose method raises when it is called."""

    def answer(*_: object) -> object:
        raise kind("mine")

    return type("Hostile", (), {name: answer})()


Call = Callable[[Device, Stream, Any], object]


def show(device: Device, **arguments: Any) -> object:
    return cudacore.LegacyPinnedMemoryResource().allocate(16).__dlpack__(**arguments)


#: What raises, and a call that meets it.
CALLS: dict[str, tuple[Callable[..., object], str, Call]] = {
    "wait": (having, "__cuda_stream__", lambda _, stream, x: stream.wait(x)),
    "create_stream": (having, "__cuda_stream__", lambda device, _, x: device.create_stream(x)),
    "compile": (having, "write", lambda *given: Program(" ", "c++").compile(logs=given[2])),
    "from_cubin": (having, "__fspath__", lambda *given: ObjectCode.from_cubin(given[2])),
    "include_path": (having, "__fspath__", lambda *given: ProgramOptions(include_path=given[2])),
    "mapping": (having, "keys", lambda *given: Program(" ", "c++", given[2])),
    "symbol_mapping": (
        having, "keys", lambda *given: ObjectCode.from_ptx(b" ", symbol_mapping=given[2])),
    "copy": (answering, "__bool__", lambda device, _, x: show(device, copy=x)),
    "max_version": (answering, "__index__", lambda device, _, x: show(device, max_version=(x, 0))),
    "dl_device": (answering, "__index__", lambda device, _, x: show(device, dl_device=(1, x))),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CALLS)
def test_calls(device: Device, stream: Stream, name: str, kind: type[BaseException]) -> None:
    make, member, call = CALLS[name]
    with pytest.raises(kind, match="^mine$"):
        call(device, stream, make(member, kind))


@pytest.mark.skipif(sys.version_info < (3, 12), reason="__buffer__ is new in Python 3.12")
@pytest.mark.parametrize("kind", [*KINDS, BufferError])
def test_host_memory(device: Device, kind: type[BaseException]) -> None:
    with pytest.raises(kind, match="^mine$"):
        device.to_device(answering("__buffer__", kind))


def test_host_memory_that_is_gone(device: Device) -> None:
    gone = mmap.mmap(-1, 16)
    gone.close()
    with pytest.raises(ValueError, match="mmap closed"):
        device.to_device(gone)
    view = memoryview(b"1234")
    view.release()
    with pytest.raises(ValueError, match="released memoryview"):
        device.to_device(view)
    with pytest.raises(TypeError, match="must be C-contiguous; this memoryview is not"):
        device.to_device(memoryview(b"1234")[::2])


class Raising(MemoryResource):
    is_device_accessible = True
    is_host_accessible = False
    device_id = 0

    def __init__(self, raised: BaseException) -> None:
        super().__init__()
        self.raised = raised

    def allocate(self, size: int, *, stream: Any = None) -> Buffer:
        return Buffer.from_handle(4096, size, mr=self, stream=stream)

    def deallocate(self, *_: object, **__: object) -> None:
        raise self.raised


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_end_of_a_buffer(stream: Stream, kind: type[BaseException]) -> None:
    before = cudacore.unraisable_errors()
    buffer = Raising(kind("mine")).allocate(4, stream=stream)
    with pytest.raises(kind, match="mine"):
        buffer.close()
    assert buffer.is_closed
    with pytest.raises(kind, match="mine"), Raising(kind("mine")).allocate(4, stream=stream):
        pass
    assert cudacore.unraisable_errors() == before


def test_end_that_no_call_asks_for() -> None:
    result = run(
        """
        import cudacore

        class Raising(cudacore.MemoryResource):
            is_device_accessible, is_host_accessible, device_id = True, False, 0

            def deallocate(self, *_, **__):
                raise self.raised

        for raised, closes in ((KeyboardInterrupt("mine"), False), (ValueError("mine"), True)):
            resource = Raising()
            resource.raised = raised
            buffer = cudacore.Buffer.from_handle(4096, 4, mr=resource)
            if closes:
                buffer.close()
            del buffer
        print(cudacore.unraisable_errors())
        """
    )
    assert (result.returncode, result.stdout) == (0, "2\n")
    assert result.stderr.count("was not released") == 2


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_log_of_a_failing_compilation(kind: type[BaseException]) -> None:
    class Logs:
        def write(self, _text: str) -> None:
            raise kind("mine")

    with pytest.raises(kind, match="mine"):
        Program("#error no", "c++", {"arch": ARCH}).compile("ptx", logs=Logs())
