"""The package stays within the budget of CONTRIBUTING, which only falls."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import anndata as ad
import numpy as np
import pytest
from scipy import sparse

import glfs_bio

PACKAGE = Path(glfs_bio.__file__).parent
CONTRIBUTING = PACKAGE.parent / "CONTRIBUTING.md"
ROW = re.compile(r"^\| (package|default call): ([a-z ]+) \| ([\d,]+) \|$", re.MULTILINE)


def code_lines(text):
    """Lines that are neither documentation nor comments nor blank nor imports."""
    without = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            without |= set(range(node.lineno, node.end_lineno + 1))
        body = getattr(node, "body", None)
        first = body[0] if isinstance(body, list) and body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            without |= set(range(first.lineno, first.end_lineno + 1))
    lines = enumerate(text.splitlines(), start=1)
    return sum(bool(x.strip()) and x.strip()[0] != "#" for i, x in lines if i not in without)


def of_package():
    texts = [path.read_text("utf-8") for path in PACKAGE.rglob("*.py")]
    nodes = [node for text in texts for node in ast.walk(ast.parse(text))]
    return {
        "files": len(texts),
        "lines": sum(len(text.splitlines()) for text in texts),
        "lines of code": sum(map(code_lines, texts)),
        "classes": sum(isinstance(node, ast.ClassDef) for node in nodes),
    }


def of_default_call():
    rng = np.random.default_rng(0)
    rates = rng.gamma(2.0, 1.0, (4, 150))[rng.integers(4, size=240)]
    counts = rng.poisson(rates).astype(np.float32)
    adata = ad.AnnData(sparse.csr_matrix(np.log1p(counts)))
    glfs_bio.pp.select_genes(adata.copy(), 20)  # what the first call compiles
    files, functions, classes = [], set(), set()

    def look(frame, event, _):
        code = frame.f_code
        if event != "call" or code.co_name.startswith("<"):
            return
        owner = frame.f_locals.get("self", frame.f_locals.get("cls"))
        kind = owner if isinstance(owner, type) else type(owner)
        if kind.__module__.startswith("glfs_bio"):
            classes.add(kind)
        if code.co_filename.startswith(str(PACKAGE)):
            files.append(code.co_filename)
            functions.add((code.co_filename, code.co_qualname))

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        glfs_bio.pp.select_genes(adata, 20)
    finally:
        sys.setprofile(before)
    moves = [name != last for last, name in zip([None, *files], files, strict=False)]
    return {
        "files": len(set(files)),
        "functions": len(functions),
        "classes": len(classes),
        "changes of file": sum(moves),
    }


@pytest.mark.parametrize(
    ("whole", "measure"), [("package", of_package), ("default call", of_default_call)]
)
def test_the_budget_holds(whole, measure):
    rows = ROW.findall(CONTRIBUTING.read_text("utf-8"))
    most = {what: int(n.replace(",", "")) for part, what, n in rows if part == whole}
    over = {what: f"{n} of {most[what]}" for what, n in measure().items() if n > most[what]}
    assert not over
