# SPDX-License-Identifier: Apache-2.0
"""numba's side of docs/coming-from/numba.md runs, on numba's own simulator."""

import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "coming-from" / "numba.md"


def test_numba() -> None:
    pattern = r"^<!-- not run: needs numba -->\n```python\n(.*?)^```"
    programs = re.findall(pattern, PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert len(programs) == 2
    result = subprocess.run(
        [sys.executable, "-c", "\n".join(programs)], check=False, capture_output=True, text=True,
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"},
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
