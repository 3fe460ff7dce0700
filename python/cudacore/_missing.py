# SPDX-License-Identifier: Apache-2.0
"""Members that classes of other libraries have, but not cudacore's: the error says what to do."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType
    from typing import NoReturn

# What PyTorch, CuPy or numba call a member, and what to write here.
RENAMED = {
    "Buffer": {
        "copy_to_host": "buffer.to_host(dtype, shape)",
        "cpu": "buffer.to_host(dtype, shape)",
        "data_ptr": "buffer.handle",
        "dtype": "buffer.view(dtype, shape).dtype",
        "free": "buffer.close()",
        "get": "buffer.to_host(dtype, shape)",
        "nbytes": "buffer.size",
        "numpy": "buffer.to_host(dtype, shape)",
        "shape": "buffer.view(dtype, shape).shape",
    },
    "Device": {
        "empty": "device.allocate(nbytes).view(dtype, shape)",
        "get_attribute": "device.properties",
        "register_host": "cudacore.register_host(array)",
        "synchronize": "device.sync()",
        "use": "device.set_current()",
        "zeros": "device.allocate(nbytes), and fill it with buffer.fill(0)",
    },
    "Event": {
        "elapsed_time": "end - start",
        "query": "event.is_done",
        "record": "stream.record(event)",
        "synchronize": "event.sync()",
        "wait": "stream.wait(event)",
    },
    "Graph": {"replay": "graph.launch(stream)"},
    "GraphBuilder": {"launch": "cudacore.launch(builder, config, kernel, *args)"},
    "StridedMemoryView": {
        "cpu": "np.from_dlpack(view, device='cpu')",
        "get": "np.from_dlpack(view, device='cpu')",
        "numpy": "np.from_dlpack(view, device='cpu')",
        "to_host": "np.from_dlpack(view, device='cpu')",
        "tolist": "np.from_dlpack(view, device='cpu').tolist()",
    },
    "Stream": {
        "begin_capture": "with stream.create_graph_builder() as builder:",
        "query": "stream.is_done",
        "record_event": "stream.record()",
        "synchronize": "stream.sync()",
        "use": "with stream:",
        "wait_event": "stream.wait(event)",
        "wait_stream": "stream.wait(other)",
    },
}


def error(text: str) -> AttributeError:
    """Make an error to which Python adds no suggestion."""
    return AttributeError(text, name=None, obj=None)


# Of a class that no `with` block takes.
HOW_TO_CAPTURE = "to capture, write `with device.create_graph_builder() as builder:`"


class MissingMember:
    """Replaces a member that a class lacks, so that finding other members costs nothing."""

    def __init__(self, name: str, why: str) -> None:
        self.__doc__ = f"cudacore has no {name}: {why}"

    def __get__(self, instance: object, owner: type) -> NoReturn:
        raise error(self.__doc__ or "")


def members_of(instance: object) -> list[str]:
    """List what an object has, for `dir`; leave out the placeholders."""
    missing = {
        name
        for owner in type(instance).__mro__
        for name, member in vars(owner).items()
        if isinstance(member, MissingMember)
    }
    return [name for name in object.__dir__(instance) if name not in missing]


def add_members(module: ModuleType) -> None:
    """Add the placeholders to the classes of a module."""
    for owner, name, why in _placeholders():
        kind = getattr(module, owner)
        kind.__dir__ = members_of
        setattr(kind, name, MissingMember(f"{owner}.{name}", why))


def _placeholders() -> Iterator[tuple[str, str, str]]:
    for owner, renamed in RENAMED.items():
        for name, code in renamed.items():
            yield owner, name, f"write `{code}`"
