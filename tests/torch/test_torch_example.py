# SPDX-License-Identifier: Apache-2.0
"""The example with PyTorch runs as its users run it, and checks its own results."""

import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parents[2] / "docs" / "examples" / "torch_operator.py"


def test_example(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, PROGRAM], check=False, capture_output=True, text=True, cwd=tmp_path
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.endswith("forward and backward agree with PyTorch\n")
