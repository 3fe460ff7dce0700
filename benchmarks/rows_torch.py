# SPDX-License-Identifier: Apache-2.0
"""PyTorch: everything except user-defined kernels; its memory and its streams come from pools."""

from __future__ import annotations

import torch
from harness import Case, Rows

MEBIBYTE = 1 << 20
KIBIBYTE = 1 << 10


class Session:
    """The current stream."""

    def __init__(self) -> None:
        self.device = torch.device("cuda", 0)
        self.stream = torch.cuda.Stream(self.device)
        torch.cuda.set_stream(self.stream)
        self.settle = self.stream.synchronize

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
    yield "alloc_free", session.alloc_free
    yield "event_record", session.event_record
    yield "event_elapsed", session.event_elapsed
    yield "stream_create", session.stream_create
    yield "stream_sync", lambda: Case("stream.synchronize()", {"stream": session.stream})
    yield "copy_h2d", lambda: session.copy(to_device=True)
    yield "copy_d2h", lambda: session.copy(to_device=False)
