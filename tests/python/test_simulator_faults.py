# SPDX-License-Identifier: Apache-2.0
"""Kernels that fail on the simulated device: each error says where. All in other processes."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest
from harness import environment, run

UNASKED: dict[str, str | None] = {"CUDACORE_DRIVER": None, "CUDA_VISIBLE_DEVICES": None}

PRELUDE = """
import json, sys
import cudacore
from cudacore import *
cudacore.simulator.enable(memory="256 MiB")
device = Device()
stream = device.create_stream()
buffer = device.allocate(128, stream=stream)
def say(use):
    try:
        use()
        return "", "", ""
    except Exception as error:
        return type(error).__name__, getattr(error, "name", ""), str(error)
def build(source, name):
    options = ProgramOptions(name="bad.cu", lineinfo=True)
    return Program(source, "c++", options).compile().get_kernel(name)
"""


class Fault(NamedTuple):
    source: str
    launch: str
    code: str
    says: str


#: A kernel with the entry's name; the failing line is marked. AT stands for its position.
FAULTS = {
    "write": Fault(
        """__global__ void write(int* p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  p[i] = n;  // here
}""",
        "[2, 24, stream](buffer, 1)",
        "ILLEGAL_ADDRESS",
        r"kernel 'write\(int\*, int\)', block \(1,0,0\), thread \(8,0,0\): st\.global\.u32 AT "
        r"writes 4 bytes at 0x\w+, which is just past the end of a live allocation of 128 bytes",
    ),
    "read": Fault(
        """__global__ void read(int* p, int n) {
  if (threadIdx.x == 5)
    p[0] = p[n];  // here
}""",
        "[1, 32, stream](buffer, 100)",
        "ILLEGAL_ADDRESS",
        r"'read\(int\*, int\)', block \(0,0,0\), thread \(5,0,0\): ld\.global\S* AT reads 4 bytes "
        r"at 0x\w+, which is .*allocation of 128 bytes",
    ),
    "update": Fault(
        """__global__ void update(int* p, int n) {
  atomicAdd(p + n, 1);  // here
}""",
        "[1, 1, stream](buffer, -1)",
        "ILLEGAL_ADDRESS",
        r"'update\(int\*, int\)', block \(0,0,0\), thread \(0,0,0\): (atom|red)\.global\S* AT "
        r"updates 4 bytes at 0x",
    ),
    "shared": Fault(
        """__global__ void shared(int* p, int n) {
  __shared__ int s[32];
  s[threadIdx.x + n] = n;  // here
  __syncthreads();
  p[threadIdx.x] = s[31 - threadIdx.x];
}""",
        "[1, 32, stream](buffer, 1)",
        "ILLEGAL_ADDRESS",
        r"thread \(31,0,0\): st\.shared\S* AT writes 4 bytes at shared address 0x\w+, which is "
        r"just past the end of the shared memory of the block of 128 bytes",
    ),
    "dynamic": Fault(
        """__global__ void dynamic(int* p) {
  extern __shared__ int s[];
  s[threadIdx.x] = 1;  // here
  __syncthreads();
  *p = s[0];
}""",
        "[1, 1, stream](buffer)",
        "ILLEGAL_ADDRESS",
        r"st\.shared\S* AT writes 4 bytes at shared address 0x\w+, but there is no shared memory "
        r"of the block: the launch's shmem_size is 0",
    ),
    "local": Fault(
        """__global__ void local(int* p, int n) {
  volatile int a[32];
  a[n] = n;  // here
  *p = a[1];
}""",
        "[1, 1, stream](buffer, 1 << 20)",
        "ILLEGAL_ADDRESS",
        r"st\.\S*local\S* AT writes 4 bytes at local address 0x\w+, which is \d+ bytes past the "
        r"end of the local memory of the thread",
    ),
    "after_free": Fault(
        "__global__ void after_free(int* p) { *p = 1; }  // here",
        "[1, 1, stream](address)",
        "ILLEGAL_ADDRESS",
        r"AT writes 4 bytes at 0x\w+, which is in freed memory: it was 0 bytes into an allocation "
        r"of 4096 bytes",
    ),
    "tile": Fault(
        # On one line, because compilers differ in which line of a statement they name.
        "__global__ void tile(unsigned* p) {\n  unsigned a[8];\n"
        '  asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.global.f16 '
        '{%0, %1, %2, %3, %4, %5, %6, %7}, [%8], 16;" : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), '
        '"=r"(a[3]), "=r"(a[4]), "=r"(a[5]), "=r"(a[6]), "=r"(a[7]) : "l"(p));  // here\n'
        "  *p = a[0];\n}",
        "[1, 32, stream](buffer)",
        "ILLEGAL_ADDRESS",
        r"'tile\(unsigned int\*\)', block \(0,0,0\), thread \(0,0,0\): wmma\.load\S* AT reads 32 "
        r"bytes at 0x\w+, which is just past the end of a live allocation of 128 bytes",
    ),
    "null": Fault(
        "__global__ void null(int* p) { *p = 1; }  // here",
        "[1, 1, stream](None)",
        "ILLEGAL_ADDRESS",
        r"AT writes 4 bytes at 0x0, which is a null pointer",
    ),
    "misaligned": Fault(
        "__global__ void misaligned(char* p) { *(int*)(p + 1) = 1; }  // here",
        "[1, 1, stream](buffer)",
        "MISALIGNED_ADDRESS",
        r"AT writes 4 bytes at 0x\w+, which is not a multiple of 4",
    ),
    "constant": Fault(
        """__constant__ int table[4];
__global__ void constant(int* volatile* p, int n) {
  *p = table + n;
  **p = n;  // here
}""",
        "[1, 1, stream](buffer, 1)",
        "ILLEGAL_ADDRESS",
        r"AT writes 4 bytes at 0x\w+, which .*constant",
    ),
    "asserts": Fault(
        """#include <cuda/std/cassert>
__global__ void asserts(int n) {
  assert(n == 3);
}""",
        "[2, 2, stream](4)",
        "ASSERT",
        r"bad\.cu:3: .*block: \[\d,0,0\], thread: \[\d,0,0\] Assertion `n == 3` failed",
    ),
    "traps": Fault(
        """__global__ void traps(int n) {
  if (threadIdx.x == n) __trap();  // here
}""",
        "[1, 32, stream](7)",
        "LAUNCH_FAILED",
        r"'traps\(int\)', block \(0,0,0\), thread \(7,0,0\): trap AT ends the kernel",
    ),
    "endless": Fault(
        """__device__ __noinline__ int f(volatile int* p, int n) {
  int a[64];
  a[n & 63] = *p;
  return f(p, n + 1) + a[*p];  // here
}
__global__ void endless(int* p) { *p = f(p, 0); }""",
        "[1, 1, stream](buffer)",
        "LAUNCH_FAILED",
        r"'endless\(int\*\)', block \(0,0,0\), thread \(0,0,0\): call\S* AT of "
        r"f\(int volatile\*, int\) overflows the stack of 1024 bytes, at a depth of \d+ calls",
    ),
    "stranger": Fault(
        """__global__ void stranger(int* p) {
  if (threadIdx.x < 8) p[threadIdx.x] = __shfl_xor_sync(0x7f, p[0], 1);  // here
}""",
        "[1, 32, stream](buffer)",
        "ILLEGAL_INSTRUCTION",
        r"'stranger\(int\*\)', block \(0,0,0\), thread \(7,0,0\): shfl\.sync\S* AT is run by this "
        r"lane, which its mask 0x0000007f does not name",
    ),
    "deadlock": Fault(
        """__global__ void deadlock(int n) {
  if (threadIdx.x < 32)
    asm volatile("barrier.sync 1, 64;");  // here
  else
    asm volatile("barrier.sync 2, 64;");
}""",
        "[1, 64, stream](1)",
        "LAUNCH_TIMEOUT",
        r"'deadlock\(int\)': every thread waits: block \(0,0,0\), warp 0, lanes 0xffffffff at "
        r"barrier\.sync AT for barrier 1, where 32 threads of 64 have arrived; "
        r"block \(0,0,0\), warp 1",
    ),
}


def expected(fault: Fault) -> str:
    """Return the expected message, with AT replaced by the marked line."""
    lines = fault.source.splitlines()
    marked = [number for number, line in enumerate(lines, 1) if line.endswith("// here")]
    return fault.says.replace("AT ", rf"at PTX line \d+ \(\S*bad\.cu:{sum(marked)}\) ")


@pytest.mark.parametrize("name", FAULTS)
def test_says_where(name: str) -> None:
    fault = FAULTS[name]
    script = (
        PRELUDE
        + f"""
freed = device.allocate(4096, stream=stream)
address = int(freed.handle)
freed.close()
stream.sync()
kernel = build({fault.source!r}, {name!r})
def use():
    kernel{fault.launch}
    stream.sync()
print(json.dumps([say(use), say(stream.sync), say(lambda: device.allocate(64)),
                  say(lambda: kernel{fault.launch})]))
print(device.context.is_lost, unraisable_errors())
"""
    )
    result = run(script, env=UNASKED)
    assert result.returncode == 0, result.stderr
    *_, answers, state = result.stdout.splitlines()
    (kind, code, text), *later = json.loads(answers)
    assert (kind, code) == ("LaunchError", "CUDA_ERROR_" + fault.code)
    said = text + result.stdout + result.stderr if name == "asserts" else text
    assert re.search(expected(fault), said, re.DOTALL), said
    assert name in text
    assert "restart it, or call cudacore.simulator.reset()" in text
    assert "compute-sanitizer" not in text
    for kind, _, text in later:
        assert kind == "ContextLostError"
        assert name in text
    assert state == "True 0"


def test_without_lineinfo_the_ptx_line_remains() -> None:
    script = (
        PRELUDE
        + """
kernel = Program("__global__ void k(int* p) { *p = 1; }", "c++").compile().get_kernel("k")
kernel[1, 1, stream](8)
print(say(stream.sync)[2])
"""
    )
    result = run(script, env=UNASKED)
    assert re.search(r"at PTX line \d+ writes 4 bytes at 0x8", result.stdout), result.stdout


def test_inlined_code_names_its_call_too() -> None:
    source = """__device__ __forceinline__ void set(int* p) { *p = 1; }
__device__ __forceinline__ void set_twice(int* p) {
  set(p);
}
__global__ void k(int* p) {
  set_twice(p);
}
"""
    script = PRELUDE + f"build({source!r}, 'k')[1, 1, stream](8)\nprint(say(stream.sync)[2])\n"
    result = run(script, env=UNASKED)
    assert re.search(
        r"PTX line \d+ \(\S*bad\.cu:1, inlined at \S*bad\.cu:6\) writes 4 bytes at 0x8",
        result.stdout,
    ), result.stdout


def test_tile_kernels_name_the_line_of_python(tmp_path: Path) -> None:
    module = tmp_path / "bad_tiles.py"
    module.write_text(
        """import cudacore.tile as ct


@ct.kernel
def copy(x, y):
    values = ct.load(x, 7, shape=128, check_bounds=False)
    ct.store(y, 0, values)
"""
    )
    script = f"""{PRELUDE}
sys.path.insert(0, {str(tmp_path)!r})
import numpy as np, bad_tiles
from cudacore import tile
x = buffer.view(np.float32)
tile.launch(stream, (1,), bad_tiles.copy, (x, x))
print(say(stream.sync)[2])
"""
    result = run(script, env=UNASKED)
    place = rf"\(.*tile/\w+\.cuh:\d+, inlined at {re.escape(str(module))}:6\) reads"
    assert re.search(place, result.stdout), result.stdout + result.stderr


@pytest.mark.parametrize(
    "statement",
    [
        "ct.atomic_add(x, 2**20, 1.0, check_bounds=False)",
        "ct.atomic_xchg(x, places, 1.0, check_bounds=False)",
        "ct.atomic_max(y, places, 1, check_bounds=False)",
        "ct.atomic_cas(y, places, 1, 2, check_bounds=False)",
    ],
)
def test_atomics_of_tile_kernels_name_the_line_of_python(tmp_path: Path, statement: str) -> None:
    module = tmp_path / "bad_atomics.py"
    module.write_text(
        f"""import cudacore.tile as ct


@ct.kernel
def change(x, y):
    places = 2**20 + ct.arange(64, dtype=ct.int32)
    {statement}
"""
    )
    script = f"""{PRELUDE}
sys.path.insert(0, {str(tmp_path)!r})
import numpy as np, bad_atomics
from cudacore import tile
x = buffer.view(np.float32)
tile.launch(stream, (1,), bad_atomics.change, (x, buffer.view(np.int32)))
print(say(stream.sync)[2])
"""
    result = run(script, env=UNASKED)
    place = rf"PTX line \d+ \({re.escape(str(module))}:7\)"
    assert re.search(place, result.stdout), result.stdout + result.stderr


def test_the_ptx_line_is_the_line() -> None:
    script = (
        PRELUDE
        + """
code = Program("__global__ void k(int* p) { *p = 1; }", "c++").compile("ptx")
code.get_kernel("k")[1, 1, stream](None)
line = int(say(stream.sync)[2].split("PTX line ")[1].split()[0])
print(code.code.decode().splitlines()[line - 1])
"""
    )
    assert "st.global" in run(script, env=UNASKED).stdout


def test_freed_between_launches_is_caught_in_its_order() -> None:
    script = (
        PRELUDE
        + """
kernel = build("__global__ void k(int* p) { *p = 1; }", "k")
memory = device.allocate(64, stream=stream)
address = int(memory.handle)
kernel[1, 1, stream](address)
memory.close(stream)
stream.sync()
print("fine")
kernel[1, 1, stream](address)
print(say(stream.sync)[2])
"""
    )
    fine, late = run(script, env=UNASKED).stdout.splitlines()
    assert fine == "fine"
    assert "freed memory" in late


def test_other_devices_are_lost_too() -> None:
    script = (
        PRELUDE.replace("enable(", "enable(2, ")
        + """
bad = build("__global__ void k(int* p) { *p = 1; }", "k")
other = Device(1).create_stream()
memory = Device(1).allocate(64, stream=other)
bad[1, 1, stream](None)
print(say(stream.sync)[0])
print(say(lambda: bad[1, 1, other](memory))[0])
print(Device(1).context.is_lost)
"""
    )
    said = run(script, env=UNASKED).stdout.split()
    assert said == ["LaunchError", "ContextLostError", "True"]


@pytest.mark.parametrize("body", ["", "__nanosleep(100);", "__nanosleep(1000000);"])
def test_kernel_that_runs_too_long_tells_where_it_stands(body: str) -> None:
    script = (
        PRELUDE
        + f"""
kernel = build('''__global__ void k(volatile int* p) {{
  if (blockIdx.x == 1 && threadIdx.x >= 32) __syncthreads();
  while (*p == 0) {{
    {body}
  }}
}}''', "k")
short = build("__global__ void k(int* p) {{ *p = 0; }}", "k")
short[1, 1, stream](buffer)
stream.sync()
kernel[2, 64, stream](buffer)
print(json.dumps([say(stream.sync), say(stream.sync)]))
print(device.context.is_lost, unraisable_errors())
"""
    )
    result = run(script, env=UNASKED | {"CUDACORE_SIMULATOR_TIMEOUT": "0.3"})
    said, state = result.stdout.splitlines()
    (kind, code, text), (later, _, _) = json.loads(said)
    assert (kind, code, later) == ("LaunchError", "CUDA_ERROR_LAUNCH_TIMEOUT", "ContextLostError")
    assert "'k(int volatile*)' has run for more than the 0.3 s that" in text
    assert "CUDACORE_SIMULATOR_TIMEOUT" in text
    for block, warp in ((0, 0), (0, 1), (1, 0)):
        assert re.search(
            rf"block \({block},0,0\), warp {warp}, lanes 0xffffffff at \S+ at PTX line \d+ "
            r"\(\S*bad\.cu:[34]\)",
            text,
        ), text
    assert re.search(r"block \(1,0,0\), warp 1, lanes 0xffffffff at bar\S* at .*bad\.cu:2", text)
    assert state == "True 0"


@pytest.mark.parametrize("body", ["", "__nanosleep(100);", "__nanosleep(1000000);"])
def test_kernel_that_never_ends_answers_ctrl_c(body: str) -> None:
    script = (
        PRELUDE
        + f"""
kernel = build("__global__ void k(volatile int* p) {{ while (*p == 0) {{ {body} }} }}", "k")
buffer.fill(0, stream=stream)
stream.sync()
kernel[4, 64, stream](buffer)
print("waits", flush=True)
stream.sync()
"""
    )
    with subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(UNASKED),
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "waits\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        begin = time.perf_counter()
        try:
            _, errors = process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        assert time.perf_counter() - begin < 2
    assert process.returncode == -signal.SIGINT
    assert errors.rstrip().endswith("KeyboardInterrupt")
