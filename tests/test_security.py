"""What must not be in the sources, and what names in the data must not do."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import glfs_bio
from glfs_bio import io

SOURCES = sorted(Path(glfs_bio.__file__).parent.rglob("*.py"))
MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "subprocess", "pty"}
CALLS = {"eval", "exec", "compile", "__import__", "system", "popen", "load_module", "extractall"}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_no_pickle_no_eval_no_shell(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            assert not {name.name.split(".")[0] for name in node.names} & MODULES
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            assert node.module.split(".")[0] not in MODULES
        elif isinstance(node, ast.Call):
            assert not (isinstance(node.func, ast.Name) and node.func.id in CALLS)
            if isinstance(node.func, ast.Attribute) and node.func.attr in CALLS:
                assert isinstance(node.func.value, ast.Name)  # re.compile is a pattern
                assert node.func.value.id == "re"
            for keyword in node.keywords:
                assert keyword.arg != "shell"
                if keyword.arg == "allow_pickle":
                    assert isinstance(keyword.value, ast.Constant)
                    assert keyword.value.value is False


EVIL = "<script>alert('x')</script>\"'&{{7*7}}{% raw %}"


@pytest.fixture
def evil(pbmc, monkeypatch):
    """Names from the data that are markup, wherever the report shows a name."""
    monkeypatch.setattr(io._sections, "picture", lambda *_, **__: "data:,")
    glfs_bio.pp.select_genes(pbmc, 5)
    genes = pbmc.var_names.to_list()
    for i in range(len(genes)):
        genes[i] = f"{EVIL}{genes[i]}"
    pbmc.var_names = genes
    pbmc.obs[EVIL] = pbmc.obs["bulk_labels"]
    glfs_bio.tl.enrich(pbmc, {EVIL: genes[:40], "b": genes[40:]})
    pbmc.uns["glfs"]["params"][EVIL] = EVIL
    pbmc.uns["glfs"][EVIL] = EVIL
    return pbmc


def test_a_report_escapes_every_name(evil, tmp_path):
    io.write_report(evil, tmp_path / "r.html", labels=EVIL, title=EVIL)
    text = (tmp_path / "r.html").read_text("utf-8")
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text
    assert "49{%" not in text  # nor is a name a template
    assert text.count("<script") == 1
    assert "javascript:" not in text.lower()


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd"])
def test_names_of_genes_are_never_paths(pbmc, tmp_path, name):
    glfs_bio.pp.select_genes(pbmc, 5)
    best = pbmc.var["glfs_rank"].idxmin()
    pbmc.var_names = [name if gene == best else gene for gene in pbmc.var_names]
    folder = tmp_path / "out"
    folder.mkdir()
    io.write_gene_list(pbmc, folder / "genes.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert [path.name for path in folder.iterdir()] == ["genes.txt"]
    assert name in (folder / "genes.txt").read_text("utf-8")
