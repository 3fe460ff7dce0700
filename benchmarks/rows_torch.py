# SPDX-License-Identifier: Apache-2.0
"""PyTorch: kernels by torch.cuda._compile_kernel; memory and streams come from its pools."""

from __future__ import annotations

import torch
from harness import Case, Rows, Setup, numbered
from kernels import ARRAYS, FLOAT, GRAPH_KERNELS, INT, THREADS, empty_kernel, parameter_types

MEBIBYTE = 1 << 20
KIBIBYTE = 1 << 10


class Session:
    """The current stream."""

    def __init__(self) -> None:
        self.device = torch.device("cuda", 0)
        self.stream = torch.cuda.Stream(self.device)
        torch.cuda.set_stream(self.stream)
        self.settle = self.stream.synchronize

    def launch(self, types: tuple[str, ...]) -> Case:
        # It passes each float as a C float, so there is no row with a double.
        values = {"float*": torch.zeros(256, device=self.device), "int": INT, "float": FLOAT}
        text, names = numbered([values[kind] for kind in types])
        kernel = torch.cuda._compile_kernel(empty_kernel(types), "empty")  # noqa: SLF001
        names |= {"kernel": kernel}
        statement = f"kernel((1, 1, 1), ({THREADS}, 1, 1), [{text}])"
        return Case(statement, names, self.settle)

    def graph(self) -> Case:
        kernel = torch.cuda._compile_kernel(empty_kernel(()), "empty")  # noqa: SLF001
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=self.stream):
            for _ in range(GRAPH_KERNELS):
                kernel((1, 1, 1), (THREADS, 1, 1), [])
        return Case("replay()", {"replay": graph.replay}, self.settle)

    def alloc_free(self) -> Case:
        names = {"empty": torch.empty, "device": self.device, "uint8": torch.uint8}
        return Case(f"empty({MEBIBYTE}, dtype=uint8, device=device)", names, self.settle)

    def event_record(self) -> Case:
        names = {"event": torch.cuda.Event(), "stream": self.stream}
        return Case("event.record(stream)", names, self.settle)

    def event_elapsed(self) -> Case:
        start = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        start.record(self.stream)
        end.record(self.stream)
        end.synchronize()
        return Case("start.elapsed_time(end)", {"start": start, "end": end})

    def stream_create(self) -> Case:
        names = {"Stream": torch.cuda.Stream, "device": self.device}
        return Case("Stream(device)", names, self.settle)

    def copy(self, *, to_device: bool) -> Case:
        device = torch.zeros(KIBIBYTE, dtype=torch.uint8, device=self.device)
        host = torch.zeros(KIBIBYTE, dtype=torch.uint8, pin_memory=True)
        names = {
            "target": device if to_device else host,
            "source": host if to_device else device,
        }
        return Case("target.copy_(source, non_blocking=True)", names, self.settle)


def rows() -> Rows:
    """Yield the name and the setup of each row."""
    session = Session()

    def launch(types: tuple[str, ...]) -> Setup:
        return lambda: session.launch(types)

    for parameters in (0, 1, 4):
        yield f"launch_{parameters}", launch(parameter_types(parameters))
    yield "arrays_16", launch(ARRAYS)
    yield "tensors_16", launch(ARRAYS)
    yield "graph_20", session.graph
    yield "alloc_free", session.alloc_free
    yield "alloc_free_caching", session.alloc_free
    yield "event_record", session.event_record
    yield "event_elapsed", session.event_elapsed
    yield "stream_create", session.stream_create
    yield "stream_sync", lambda: Case("stream.synchronize()", {"stream": session.stream})
    yield "copy_h2d", lambda: session.copy(to_device=True)
    yield "copy_d2h", lambda: session.copy(to_device=False)
