# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/torch.md run."""

import re
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
