# SPDX-License-Identifier: Apache-2.0
"""Notebooks for tests: cells that run in the kernel that Jupyter runs."""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

#: A kernel that prints.
HELLO = '%%cuda --quiet\n__global__ void hello(int n) { printf("hello %d\\n", n); }'

#: A kernel that takes a given time, and one that ends when it is told to.
SPIN = """%%cuda --quiet
__device__ unsigned long long now() {
  unsigned long long time;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
  return time;
}
__global__ void spin(long long nanoseconds) {
  for (unsigned long long start = now(); now() - start < nanoseconds;);
}
__global__ void run_until(const volatile int* flag) {
  while (*flag == 0);
}
"""

#: Makes the flag that `run_until` waits for.
FLAG = """
import ctypes
flag = cudacore.LegacyPinnedMemoryResource().allocate(4)
word = ctypes.c_int.from_address(flag.handle)
word.value = 0
"""


class Shown(NamedTuple):
    """What a cell showed."""

    outputs: list[Any]

    def stream(self, name: str) -> str:
        return "".join(o.text for o in self.outputs if o.output_type == "stream" and o.name == name)

    @property
    def stdout(self) -> str:
        return self.stream("stdout")

    @property
    def stderr(self) -> str:
        return self.stream("stderr")

    @property
    def error(self) -> str:
        """The traceback as text; the cell must have failed."""
        [error] = [output for output in self.outputs if output.output_type == "error"]
        return plain("\n".join(error.traceback))

    @property
    def html(self) -> str:
        return "".join(o.data.get("text/html", "") for o in self.outputs if "data" in o)


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


class Notebook:
    """Runs cells one after the other."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def __call__(self, source: str) -> Shown:
        cells = self._client.nb.cells
        cells.append(nbformat.v4.new_code_cell(source))
        self._client.execute_cell(cells[-1], len(cells) - 1)
        return Shown(cells[-1].outputs)

    def works(self, source: str) -> Shown:
        shown = self(source)
        errors = [output for output in shown.outputs if output.output_type == "error"]
        assert errors == [], plain("\n".join(errors[0].traceback))
        return shown


@contextmanager
def kernel(
    folder: Path, notebook: Any = None, env: Mapping[str, str] | None = None, **options: Any
) -> Iterator[Any]:
    client = nbclient.NotebookClient(
        notebook or nbformat.v4.new_notebook(), timeout=60, kernel_name="python3",
        allow_errors=True, resources={"metadata": {"path": str(folder)}},
    )  # fmt: skip
    with client.setup_kernel(
        env={**os.environ, "IPYTHONDIR": str(folder / "ipython"), **(env or {})}, **options
    ):
        yield client


@contextmanager
def reading_kernel(folder: Path, notebook: Any = None, **options: Any) -> Iterator[Any]:
    """Start a kernel that reads descriptor 1, as ipykernel does without pytest."""
    with pytest.MonkeyPatch.context() as patch:
        # ipykernel looks at this variable.
        patch.delenv("PYTEST_CURRENT_TEST")
        with kernel(folder, notebook, **options) as client:
            yield client


def extended(client: Any) -> Notebook:
    """Load the extension."""
    notebook = Notebook(client)
    notebook.works("%load_ext cudacore\nimport cudacore\ndevice = cudacore.Device()")
    return notebook
