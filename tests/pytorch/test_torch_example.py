# SPDX-License-Identifier: Apache-2.0
"""The example with PyTorch, and the page for users of load_inline, run as their users run them."""

import re
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
PROGRAM = DOCS / "examples" / "torch_operator.py"


def test_example(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, PROGRAM], check=False, capture_output=True, text=True, cwd=tmp_path
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.endswith("forward and backward agree with PyTorch\n")


def test_page_for_users_of_load_inline() -> None:
    text = (DOCS / "coming-from" / "load_inline.md").read_text()
    pattern = r"^<!-- not run: needs PyTorch -->\n```python\n(.*?)^```"
    (program,) = re.findall(pattern, text, re.DOTALL | re.MULTILINE)
    exec(program, {"__name__": "page"})
