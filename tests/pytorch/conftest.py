# SPDX-License-Identifier: Apache-2.0
"""Tests with real PyTorch: the options and fixtures of tests/python, and PyTorch's own tensors.

Without a GPU, PyTorch runs on the simulated device, by the CUDA runtime that comes with it: its
memory, copies and streams work, and so do cudacore's kernels, but none of PyTorch's own. run.sh
sets this up.
"""

import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from cudacore import simulator

PYTHON_TESTS = Path(__file__).parents[1] / "python"
sys.path.insert(0, str(PYTHON_TESTS))


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("conftest_of_python", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


shared = load(PYTHON_TESTS / "conftest.py")


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.register(shared)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    # PyTorch's compiler uses what PyTorch has deprecated, and gives advice.
    config.addinivalue_line("filterwarnings", "ignore::Warning:torch")
    if os.environ["CUDACORE_DRIVER"] == "simulator":
        runtime = Path(simulator.driver_folder()) / "libcudart.so.13"
        if str(runtime) not in os.environ.get("LD_PRELOAD", ""):
            raise pytest.UsageError(f"without a GPU, run tests/pytorch/run.sh {sys.executable}")


@pytest.fixture(autouse=True)
def _torch_is_ready(device: object) -> None:
    """Make PyTorch's context current, as its first use does."""
    import torch

    torch.cuda.init()


@pytest.fixture
def on_device() -> Callable[..., object]:
    """Makes a tensor on the device, with copies alone."""
    import torch

    def make(values: object, index: int = 0, *, requires_grad: bool = False) -> torch.Tensor:
        host = torch.as_tensor(values, dtype=torch.float32)
        made = torch.empty(host.shape, device=f"cuda:{index}")
        made.copy_(host)
        return made.requires_grad_(requires_grad)

    return make
