# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/torch.md and docs/examples run."""

import re
import runpy
from typing import Any

from harness import ROOT


def test_page():
    page = ROOT / "docs" / "torch.md"
    text = page.read_text()
    namespace: dict[str, Any] = {"__name__": "page"}
    examples = list(re.finditer(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE))
    assert len(examples) >= 5
    for example in examples:
        line = text[: example.start(1)].count("\n")
        exec(compile("\n" * line + example[1], str(page), "exec"), namespace)


def test_example(capsys):
    runpy.run_path(str(ROOT / "docs" / "examples" / "torch_operator.py"), run_name="__main__")
    assert "agree with PyTorch" in capsys.readouterr().out
