"""What must not be in the sources, and what names in the data must not do."""

from __future__ import annotations

import ast
from pathlib import Path

import glfs_bio
from glfs_bio import io
from glfs_bio._anndata import results

PACKAGE = Path(glfs_bio.__file__).parent
MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "subprocess", "pty"}
CALLS = {"eval", "exec", "compile", "__import__", "system", "popen", "load_module", "extractall"}


def runs_what_is_read(node):
    """Whether a node of a source could run what stands in data."""
    if isinstance(node, ast.Import):
        return any(name.name.split(".")[0] in MODULES for name in node.names)
    if isinstance(node, ast.ImportFrom):
        return node.level == 0 and node.module.split(".")[0] in MODULES
    if not isinstance(node, ast.Call):
        return False
    for keyword in node.keywords:
        if keyword.arg == "allow_pickle" and ast.unparse(keyword.value) != "False":
            return True
    called = ast.unparse(node.func)
    is_pattern = called == "re.compile"
    calls = called.split(".")[-1] in CALLS and not is_pattern
    return calls or any(keyword.arg == "shell" for keyword in node.keywords)


def test_no_pickle_no_eval_no_shell():
    wrong = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if runs_what_is_read(node)
    ]
    assert not wrong


EVIL = "<script>alert('x')</script>\"'&{{7*7}}{% raw %}"


def test_a_report_escapes_every_name(pbmc, tmp_path, monkeypatch, quick_umaps):
    """Names from the data that are markup, wherever the report shows a name."""
    pixel = "data:image/png;base64," + "A" * 40
    monkeypatch.setattr(io._report, "picture", lambda *_: pixel)
    glfs_bio.pp.select_genes(pbmc, 5)
    pbmc.var_names = [f"{EVIL}{gene}" for gene in pbmc.var_names]
    pbmc.obs[EVIL] = pbmc.obs["bulk_labels"]
    glfs_bio.tl.enrich(pbmc, {EVIL: pbmc.var_names[:40], "b": pbmc.var_names[40:]})
    entry = {**pbmc.uns["glfs"], EVIL: EVIL}
    entry["params"][EVIL] = EVIL
    results.store(pbmc, "glfs", entry)  # who writes such names can write their seal
    with quick_umaps():
        io.write_report(pbmc, tmp_path / "r.html", labels=EVIL, title=EVIL)
    text = (tmp_path / "r.html").read_text("utf-8")
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text
    assert "49{%" not in text  # nor is a name a template
    assert text.count("<script") == 1
    assert "javascript:" not in text.lower()
