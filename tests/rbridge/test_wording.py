"""What Python says, in the words of R."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import glfs_bio
from glfs_bio.rbridge import _wording

PACKAGE = Path(glfs_bio.__file__).parent
#: What R does not call.
LEFT_OUT = {"cli", "datasets", "demo", "io", "pl", "rbridge", "_enrich.py", "_panel_umap.py"}
#: Words that tell an R user nothing.
FOREIGN = re.compile(
    r"\badata\b|AnnData|\bsc\.|scanpy|glfs_bio\.|re\.compile|astype|dtype|\bdict\b|ndarray|pandas"
    r"|\.(obs|obsm|obsp|uns|var|varm|layers)\b|(?<!')\b(None|True|False)\b(?!')"
)


def texts(path):
    """Messages of a module, with an ellipsis for what they quote."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        said = None
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "msg":
            said = node.value
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in {
            *("warnings.warn", "log.warning", "ValueError", "TypeError", "KeyError"),
        }:
            said = node.args[0] if node.args else None
        if isinstance(said, ast.JoinedStr):
            yield "".join(
                part.value if isinstance(part, ast.Constant) else quoted(part)
                for part in said.values
            )
        elif isinstance(said, ast.Constant) and isinstance(said.value, str):
            yield said.value.replace("%r", "'…'").replace("%s", "…")


def quoted(part):
    expression = ast.unparse(part.value)
    if expression.endswith("dtype"):
        return "float64"
    if expression == "writer":
        return "tl.classify"
    return "'…'" if part.conversion == ord("r") else "…"


def modules():
    return [
        path
        for path in PACKAGE.rglob("*.py")
        if not LEFT_OUT & set(path.relative_to(PACKAGE).parts)
        or path == PACKAGE / "io" / "_classifier.py"
    ]


def test_no_message_speaks_of_python():
    found = {text: _wording.for_r(text) for path in modules() for text in texts(path)}
    assert len(found) > 150
    foreign = {old: new for old, new in found.items() if FOREIGN.search(new)}
    assert not foreign


@pytest.mark.parametrize(
    ("python", "r"),
    [
        (
            "The matrix holds whole numbers, like raw counts: run sc.pp.normalize_total and "
            "sc.pp.log1p first, or name a logarithmised layer.",
            "The matrix holds whole numbers, like raw counts: run scuttle::logNormCounts() first, "
            "or name a logarithmised matrix with assay=.",
        ),
        (
            "use_rep='X_pca' is not in adata.obsm: X_umap; or use 'X'.",
            "use_rep='PCA' is not in reducedDims(x): UMAP; or use 'X'.",
        ),
        (
            "groupby='type': 'unknown' is a class like the others. If it means that the label is "
            "missing, make it so: adata.obs['type'] = adata.obs['type'].astype('category')"
            ".cat.remove_categories(['unknown']).",
            "labels='type': 'unknown' is a class like the others. If it means that the label is "
            "missing, make it so: x[['type']][x[['type']] %in% c('unknown')] <- NA.",
        ),
        (
            "key='k' is not in adata.uns: run glfs_bio.tl.classify first.",
            "key='k' is not in metadata(x): run glfs_classify() first.",
        ),
        (
            "there is no selection under key='k'. Run glfs_bio.pp.select_genes(adata, ..., "
            "key_added='k') first.",
            "there is no selection under key='k'. Run glfs_select_genes(x, key_added='k') first.",
        ),
        ("n_jobs=0 must be an integer, or None.", "n_jobs=0 must be an integer, or NULL."),
        (
            "subset='None' must be True or False, not str.",
            "subset='None' must be TRUE or FALSE, not string.",
        ),
        (
            "select_genes() got an unexpected keyword argument 'nope'",
            "glfs_select_genes() has no argument 'nope'",
        ),
        (
            "neighbors_key='k' is not in adata.uns: run sc.pp.neighbors(adata, key_added='k').",
            "neighbors_key='k': x has no colPair 'k_connectivities'.",
        ),
    ],
)  # fmt: skip
def test_in_the_words_of_r(python, r):
    assert _wording.for_r(python, "classify") == r
