"""Classification of cells by a few genes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import columns, names, read, results
from .._docs import documented
from ..data.matrix import RowMatrix
from ..errors import InvalidValue, naming
from ..estimators import GLFSLapRLSClassifier
from ..labels import check_classes
from ..options import Request, public
from ..selection import check_n_cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anndata import AnnData

    from .._anndata.names import Genes
    from .._typing import Array, Index

#: Attributes of the estimator that are recorded; the last four where it was cross-validated.
_FITTED = ("n_genes", "n_labelled", "tried", "cv_errors", "n_folds", "n_tested")


@public
@documented
def classify(
    adata: AnnData,
    labels: str,
    n_genes: int | Sequence[int] | None = None,
    *,
    new: AnnData | None = None,
    include: Genes | None = None,
    exclude: Genes | None = None,
    batch_key: str | None = None,
    layer: str | None = None,
    key_added: str = "glfs_class",
    random_state: int | None = 0,
) -> None:
    """Classify cells by a few genes, and predict the labels of new cells.

    :class:`~glfs_bio.estimators.GLFSLapRLSClassifier` selects the genes and classifies the cells by
    them; used on arrays, it has further options, and joblib or skops keep it in a file.  Cells
    without a label belong to the graph of nearest neighbours, and not to the squared error.

    Parameters
    ----------
    <unchanged adata>
    labels : str
        Column of ``.obs`` with the labels; missing, −1 or a text like ``"nan"`` for unlabelled
        cells.
    n_genes : int or list of int, default None
        Number of genes, or numbers among which 10-fold cross-validation chooses, with the selection
        inside the folds and ties for fewer genes.  None: 1 to 30.
    new : AnnData, default None
        Cells × genes whose labels are predicted, normalised like `adata`.  Nothing is learnt from
        them.  Genes are matched by name, and those that `new` lacks cannot be selected.
    include, exclude : str, pattern or list, default None
        Genes that must, or cannot, be selected, as in :func:`~glfs_bio.pp.select_genes`.  Excluded
        genes are not used at all.
    <batch_key>
    <layer>
    key_added : str, default "glfs_class"
        Prefix of the columns in ``.obs`` and ``.var``, and key of ``.obsm`` and ``.uns``.
    random_state : int, default 0
        Seed of the folds and the principal components.

    Returns
    -------
    None.  Written, to `new` too, except ``.var``:

    ``.obs[f"{key_added}_predicted"]`` : category
        Predicted label.
    ``.obs[f"{key_added}_margin"]`` : float
        Difference between the largest and the second decision value, relative to its median over
        the labelled cells of `adata`; 0 is undecided.  It is not a probability, and it can be large
        for an unknown cell type.
    ``.obsm[f"{key_added}_decision"]`` : float, shape (n_cells, n_classes)
        Decision values; the label has the largest.
    ``.var[f"{key_added}_weight"]`` : float
        β ≥ 0 of the selection.
    ``.var[f"{key_added}_selected"]`` : bool
        Genes of the classifier.
    ``.uns[key_added]["genes"]`` : str, shape (n_genes,)
        Genes of the classifier, the best first.
    ``.uns[key_added]["classes"]`` : str, shape (n_classes,)
        Labels, in the order of the decision values.
    ``.uns[key_added]["coef"]`` : float, shape (n_genes, n_classes), or (n_genes, 1)
        Coefficients w.
    ``.uns[key_added]["intercept"]`` : float, shape (n_classes,), or (1,)
        b − 1/2.
    ``.uns[key_added]["cv_errors"]`` : int, shape (n_tried,)
        Errors out of ``n_tested`` for each number in ``tried``, if cross-validation chose the
        number.
    ``.uns[key_added]["n_genes"]``, ``["n_labelled"]``, ``["n_folds"]``, ``["n_tested"]`` : int
        Number of genes, of cells with a label, of folds, and of cells in them.
    <params>

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> known, new = adata[::2].copy(), adata[1::2].copy()
    >>> glfs_bio.tl.classify(known, "louvain", n_genes=20, new=new)
    >>> bool((new.obs["glfs_class_predicted"] == new.obs["louvain"]).mean() > 0.6)
    True
    """
    params: dict[str, Any] = {"labels": labels, "n_genes": n_genes, "random_state": random_state}
    params |= {"include": include, "exclude": exclude, "batch_key": batch_key, "layer": layer}
    read.unique_names(adata)
    checks.keys(key_added=key_added)
    checks.seed(random_state)
    data = read.row_matrix(adata, layer)
    check_n_cells(adata.n_obs)
    read.warn_of_state(adata, data)
    batch = read.batches(adata, batch_key)
    codes, categories = columns.labels(adata, labels, "labels")
    classes = categories[codes[codes >= 0]].astype(str)
    check_classes(classes, name="labels")
    chosen = names.choose(adata, Request(include=include, exclude=exclude))
    shared = np.ones(adata.n_vars, dtype=bool)
    if new is not None:
        with naming(adata="new", X="new", layer="new"):
            read.unique_names(new)
            data_of_new = read.row_matrix(new, layer)
        read.warn_of_state(new, data_of_new)
        shared = adata.var_names.isin(new.var_names)
    genes = np.flatnonzero(chosen.allowed & shared)
    if not len(genes) or (chosen.included & ~shared).any():
        raise InvalidValue("`new` lacks genes of `include`, or all: use the names of `adata`")
    if n_genes is not None:
        checks.whole_numbers("n_genes", n_genes, at_most=len(genes))
    model = GLFSLapRLSClassifier(n_genes, random_state=random_state)
    columns.log_labels(classes, model.cv if n_genes is None or np.ndim(n_genes) else None)
    candidates = data if len(genes) == adata.n_vars else RowMatrix(data, genes=genes)
    with naming(y="labels", batch="batch_key"):
        model.fit(candidates, codes, batch=batch, include=np.flatnonzero(chosen.included[genes]))
    panel = adata.var_names[genes[model.genes_]]
    fitted = {name: getattr(model, f"{name}_") for name in _FITTED if hasattr(model, f"{name}_")}
    fitted["genes"] = panel.to_numpy(dtype=object)
    fitted["classes"] = categories.astype(str).astype(object)
    fitted |= {"coef": model.classifier_.coef_.T.copy(), "intercept": model.classifier_.intercept_}
    entry = results.envelope("class", params, **fitted)
    decision = _decision(model, data, genes[model.genes_])
    typical = float(np.median(_margin(decision)[codes >= 0])) or 1.0
    if new is not None:
        with naming(X="new"):
            of_new = _decision(model, data_of_new, new.var_names.get_indexer(panel))
        results.store(new, key_added, entry, **_of_cells(key_added, of_new, categories, typical))
    weight = np.zeros(adata.n_vars)
    weight[genes] = model.selector_.weights_
    var = {f"{key_added}_weight": weight, f"{key_added}_selected": adata.var_names.isin(panel)}
    of_cells = _of_cells(key_added, decision, categories, typical)
    results.store(adata, key_added, entry, var=var, **of_cells)


def _decision(model: GLFSLapRLSClassifier, data: RowMatrix, genes: Index) -> Array:
    """Return decision values, shape (n_cells, n_classes)."""
    decision = model.classifier_.decision_function(RowMatrix(data, genes=genes).loaded())
    return decision if decision.ndim == 2 else np.column_stack([-decision, decision])


def _margin(decision: Array) -> Array:
    """Return the largest decision value of each cell less the second."""
    second, first = np.partition(decision, -2, axis=1)[:, -2:].T
    return np.asarray(first - second)


def _of_cells(key: str, decision: Array, classes: Any, typical: float) -> dict[str, Any]:
    """Return the columns and the array of cells with these decision values."""
    predicted = pd.Categorical.from_codes(decision.argmax(axis=1), classes)
    obs = {f"{key}_predicted": predicted, f"{key}_margin": _margin(decision) / typical}
    return {"obs": obs, "obsm": {f"{key}_decision": decision}}
