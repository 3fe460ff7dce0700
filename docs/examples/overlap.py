# SPDX-License-Identifier: Apache-2.0
"""Overlap: while one stream computes, the other copies. Needs pinned host memory."""

import numpy as np
from cudacore import Device, EventOptions, PinnedMemoryResource, Program

SOURCE = """
__global__ void logistic(float* values, int n, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = values[i];
  for (int round = 0; round < rounds; ++round) x = 3.5f * x * (1 - x);
  values[i] = x;
}
"""
CHUNK, CHUNKS, ROUNDS = 1 << 16, 16, 100
logistic = Program(SOURCE, "c++", {"fma": False}).compile().get_kernel("logistic")

device = Device()
host = PinnedMemoryResource().allocate(CHUNK * CHUNKS * 4)  # copies don't wait for the CPU
values = np.frombuffer(host, "float32")  # the same memory


def run(streams):
    """Send all chunks through the streams in turn; return the milliseconds that this takes."""
    parts = [device.allocate(CHUNK * 4, stream=stream) for stream in streams]
    timing = EventOptions(timing_enabled=True)
    begin = streams[0].record(options=timing)
    for stream in streams[1:]:
        stream.wait(begin)
    for chunk in range(CHUNKS):
        stream, part = streams[chunk % len(streams)], parts[chunk % len(streams)]
        there = host[chunk * CHUNK * 4 : (chunk + 1) * CHUNK * 4]
        with stream:  # copies and launches in this block go to the stream
            part.copy_from(there)
            logistic[CHUNK // 256, 256](part, CHUNK, ROUNDS)
            part.copy_to(there)
    for stream in streams[1:]:
        streams[0].wait(stream)
    end = streams[0].record(options=timing)
    end.sync()
    return end - begin


initial = np.random.default_rng(0).random(values.size, "float32")
expected = initial.copy()
for _ in range(ROUNDS):
    expected = np.float32(3.5) * expected * (1 - expected)

for count in (1, 2):
    values[:] = initial
    elapsed = run([device.create_stream() for _ in range(count)])
    np.testing.assert_array_equal(values, expected)
    title = "1 stream" if count == 1 else f"{count} streams"
    print(f"{title}: {elapsed:.3f} ms; the result agrees with NumPy")
