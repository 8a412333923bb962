"""The README does what it says: its blocks run in their order, in a folder of their own."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest
from matplotlib import pyplot as plt

README = Path(__file__).parents[1] / "README.md"


@pytest.mark.skipif(not README.exists(), reason="a source distribution may have none")
@pytest.mark.filterwarnings("ignore")
def test_blocks_run_in_their_order(quick_umaps, tmp_path, monkeypatch):
    text = README.read_text("utf-8")
    assert len(text.splitlines()) <= 126
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), quick_umaps():
        for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
            exec(compile(block, "README.md", "exec"), names)
    plt.close("all")
    assert printed.getvalue().strip() == re.search(r"```text\n(.*?)```", text, re.DOTALL)[1].strip()
    assert {path.name for path in tmp_path.iterdir()} == {"order.csv", "report.html"}
