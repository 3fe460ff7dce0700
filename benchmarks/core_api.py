# SPDX-License-Identifier: Apache-2.0
"""The rows for cuda.core's API: one program, which both cuda.core and cudacore run."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

from harness import Case, Rows, Setup, numbered
from kernels import (
    ARRAYS,
    GRAPH_KERNELS,
    LAUNCH_COUNTS,
    SAXPY,
    THREADS,
    empty_kernel,
    parameter_types,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

LAUNCH = "launch(stream, config, kernel{arguments})"
MEBIBYTE = 1 << 20
KIBIBYTE = 1 << 10


class Session:
    """A device, a stream and everything else that the rows share, in either library."""

    def __init__(self, api: ModuleType, make_argument: Callable[[str, Any], object]) -> None:
        self.api: Any = api
        self.make_argument = make_argument
        self.device = self.api.Device(0)
        self.device.set_current()
        self.stream = self.device.create_stream()
        self.memory = self.api.DeviceMemoryResource(self.device)
        self.buffer = self.memory.allocate(MEBIBYTE, stream=self.stream)
        self.options = self.api.ProgramOptions(arch=f"sm_{self.device.arch}")
        self.stream.sync()

    def kernel(self, types: tuple[str, ...]) -> Any:
        """Return the empty kernel with these parameters."""
        program = self.api.Program(empty_kernel(types), "c++", self.options)
        return program.compile("cubin").get_kernel("empty")

    def arguments(self, types: tuple[str, ...]) -> list[object]:
        """Return an argument for each parameter."""
        return [self.make_argument(kind, self.buffer) for kind in types]

    def launch(
        self, types: tuple[str, ...], statement: str, arguments: list[object] | None = None
    ) -> Case:
        """Return a case; `{arguments}` in the statement becomes `, a0, a1, ...`."""
        text, names = numbered(self.arguments(types) if arguments is None else arguments)
        return Case(
            statement.format(arguments=f", {text}" if text else ""),
            {
                "launch": self.api.launch,
                "LaunchConfig": self.api.LaunchConfig,
                "stream": self.stream,
                "config": self.api.LaunchConfig(grid=1, block=THREADS),
                "kernel": self.kernel(types),
                **names,
            },
            self.stream.sync,
        )

    def graph(self) -> Case:
        kernel = self.kernel(())
        config = self.api.LaunchConfig(grid=1, block=THREADS)
        builder = self.device.create_graph_builder().begin_building()
        for _ in range(GRAPH_KERNELS):
            self.api.launch(builder, config, kernel)
        graph = builder.end_building().complete()
        graph.upload(self.stream)
        names = {"graph": graph, "stream": self.stream}
        return Case("graph.launch(stream)", names, self.stream.sync)

    def alloc_free(self, memory: Any = None) -> Case:
        names = {"memory": memory or self.memory, "stream": self.stream}
        statement = f"memory.allocate({MEBIBYTE}, stream=stream).close()"
        return Case(statement, names, self.stream.sync)

    def event_record(self) -> Case:
        names = {"stream": self.stream, "event": self.device.create_event()}
        return Case("stream.record(event)", names, self.stream.sync)

    def event_elapsed(self) -> Case:
        timed = self.api.EventOptions(timing_enabled=True)
        start = self.device.create_event(timed)
        end = self.device.create_event(timed)
        self.stream.record(start)
        self.stream.record(end)
        end.sync()
        return Case("end - start", {"start": start, "end": end})

    def create(self, what: str) -> Case:
        return Case(f"device.create_{what}().close()", {"device": self.device}, self.stream.sync)

    def copy(self, *, to_device: bool) -> Case:
        host = self.api.LegacyPinnedMemoryResource().allocate(KIBIBYTE)
        device = self.memory.allocate(KIBIBYTE, stream=self.stream)
        self.stream.sync()
        names = {
            "target": device if to_device else host,
            "source": host if to_device else device,
            "stream": self.stream,
        }
        return Case("target.copy_from(source, stream=stream)", names, self.stream.sync)

    def compile(self) -> Case:
        names = {
            "Program": self.api.Program,
            "source": SAXPY,
            "options": self.options,
            "counter": count(),
        }
        statement = 'Program(source + str(next(counter)), "c++", options).compile("cubin")'
        return Case(statement, names)


def core_rows(session: Session) -> Rows:
    """Yield every row that cuda.core's API can run."""

    def launch(parameters: int, statement: str) -> Setup:
        return lambda: session.launch(parameter_types(parameters), statement)

    for parameters in LAUNCH_COUNTS:
        yield f"launch_{parameters}", launch(parameters, LAUNCH)
    yield "arrays_16", lambda: session.launch(ARRAYS, LAUNCH)
    new_config = f"launch(stream, LaunchConfig(grid=1, block={THREADS}), kernel{{arguments}})"
    yield "launch_new_config", launch(4, new_config)
    synchronous = "launch(stream, config, kernel{arguments}); stream.sync()"
    yield "launch_sync", launch(4, synchronous)
    yield "graph_20", session.graph
    yield "alloc_free", session.alloc_free
    yield "event_record", session.event_record
    yield "event_elapsed", session.event_elapsed
    yield "event_create", lambda: session.create("event")
    yield "stream_create", lambda: session.create("stream")
    yield "stream_sync", lambda: Case("stream.sync()", {"stream": session.stream})
    yield "copy_h2d", lambda: session.copy(to_device=True)
    yield "copy_d2h", lambda: session.copy(to_device=False)
    yield "compile", session.compile
