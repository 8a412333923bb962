"""Classification by a few genes on AnnData."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import classifier, columns, names, read, selection, write
from ..data.matrix import RowMatrix, moments
from ..errors import Caution, InvalidValue, listed, naming, warn
from ..estimators._glfs_laprls import SELECTORS, GLFSLapRLSClassifier, default_selector
from ..estimators._laprls import LapRLSClassifier
from ..laprls import check_classes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anndata import AnnData
    from numpy.typing import NDArray

    from .._anndata.names import Genes
    from .._typing import Index


def classify(
    adata: AnnData,
    labels: str,
    *,
    train: NDArray[np.bool_] | str | None = None,
    n_genes: int | Sequence[int] | None = None,
    graph: Literal["auto", "classes", "neighbors", "labels"] = "auto",
    lambda1: float = 0.1,
    lambda2: float = 10.0,
    n_comps: int | Literal["auto"] | None = "auto",
    include: Genes | None = None,
    exclude: Genes | None = None,
    symbols: str | None = None,
    batch_key: str | None = None,
    layer: str | None = None,
    cv: int = 10,
    key_added: str = "glfs_class",
    random_state: int | None = 0,
) -> None:
    """Predict a column of labels from a few genes.

    Genes are selected by :class:`~glfs_bio.GLFS` and cells classified by
    :class:`~glfs_bio.LapRLSClassifier` on these.  Cells whose label is missing get one: they take
    part as unlabelled cells, which are in the nearest-neighbour graph of the classifier and not in
    its squared error.  Cells outside `train` take no part at all before they are classified.

    Parameters
    ----------
    adata
        Cells × genes, logarithmised.  ``adata.X`` is never changed.
    labels
        Column of ``.obs`` with the labels, missing where they are not known.
    train
        Cells to learn from: boolean array, or name of a boolean column of ``.obs``.  None: all.
    n_genes
        Number of genes; or numbers to choose from by cross-validation, all selection inside the
        folds and ties going to fewer genes.  None: 1 to 30.
    graph
        What the selection keeps.  ``"classes"``: the graph of every two cells of one label, by
        :class:`~glfs_bio.estimators.SupervisedGLFS` with the paper's objective.  ``"neighbors"``:
        the structure of the cells, labelled or not, by :class:`~glfs_bio.GLFS`, so that labels are
        used by the classifier only.  ``"labels"``: the differences of the labels on that graph, by
        ``GLFS(preserve="labels")``.  ``"auto"``: ``"classes"`` up to 400 cells to learn from, where
        two classes have at least four, and ``"labels"`` otherwise.  With five labels a type among
        thousands of cells the classifier made fewest errors with ``"labels"``; with some dozens or
        hundreds of cells, all with a label, with ``"classes"``.
    lambda1, lambda2
        λ1 and λ2 of the classifier.
    n_comps
        Principal components that span the subspace of the cells in the selection.  None: full rank;
        ``"auto"``: full rank up to 100 cells, 50 components above.
    include, exclude
        Genes that must be, or cannot be, among those of the classifier: as in
        :func:`~glfs_bio.pp.select_genes`.  Excluded genes take no part at all, as if they were not
        there.
    symbols
        Column of ``.var`` where the names of `include` and `exclude` are looked for too.  The
        symbols of the genes are kept with the classifier.
    batch_key
        Column of ``.obs`` with the batch of every cell.  Genes that only separate batches gain
        nothing: every batch has its own subspace and graph, and with
        ``graph="classes"`` genes are centred within each batch, whose cells are joined to those of
        their label in the same batch.
    layer
        Layer to use in place of ``.X``.
    cv
        Number of stratified folds, where the number of genes is chosen.  There are fewer where the
        largest class has fewer labelled cells.  A class with fewer cells than folds is in as many
        test folds as it has cells.  A class with one cell is learnt from, and is in no test fold
        and not in the graph of the classes.  Such classes are logged.
    key_added
        Prefix of the columns written to ``.obs`` and ``.var``, and key of ``.uns``.
    random_state
        Seed of the folds and of the principal components.

    Returns
    -------
    None.  Written:

    ``.obs[f"{key_added}_predicted"]``
        Predicted label of every cell, categorical.
    ``.obs[f"{key_added}_margin"]``
        How clear the prediction is: the difference between the largest decision value and the
        second, over its median for the labelled cells.  0 is undecided, 1 as clear as in a typical
        cell that was learnt from.  It is no probability: least squares gives none.
    ``.obs[f"{key_added}_decision"]``
        Decision value for two classes, positive for the second.
    ``.obsm[f"{key_added}_decision"]``
        Decision values for more, one column a class in the order of ``.uns[key_added]["classes"]``.
    ``.var[f"{key_added}_weight"]``
        β ≥ 0 of GLFS; 0 for genes that were not to choose from.  With ``graph="classes"`` the
        classifier weights a gene by β times its variance, otherwise by its variance.
    ``.var[f"{key_added}_selected"]``
        Whether the gene is used.
    ``.var[f"{key_added}_coef"]``, ``.varm[f"{key_added}_coef"]``
        w of LapRLS for two classes, and for more; 0 for genes that are not used.
    ``.uns[key_added]``
        The classifier, which :func:`~glfs_bio.tl.predict` applies to other cells:
        ``classes``, ``genes`` (the best first), ``symbols`` of these where `symbols` is given,
        ``coef`` (w, shape (n_genes, n_classes), or (n_genes, 1) for two classes), ``intercept``
        (b − 1/2), ``gene_means``, ``typical_margin``.  About it: ``params``, ``n_genes``,
        ``n_labelled``, ``n_unlabelled``; ``lam`` (λ) with ``graph="classes"``; ``tried``,
        ``n_folds`` and ``cv_errors`` (out of ``n_tested``) where the number was chosen;
        ``test_errors`` and ``n_test`` where labels are known outside `train`; ``versions``.

    Raises
    ------
    KeyError
        An unknown column, layer or gene.
    TypeError, ValueError
        A parameter or matrix that cannot be used, fewer than two classes, or no two classes with
        two labelled cells where the graph of the classes needs them; `adata` is left as it was.

    Warns
    -----
    UserWarning
        Cells outside `train` have a label that no cell of `train` has.

    Examples
    --------
    >>> import anndata, numpy as np, glfs_bio.tl
    >>> rng = np.random.default_rng(0)
    >>> label = np.repeat(["B", "T"], 30).astype(object)
    >>> X = rng.normal(size=(60, 20))
    >>> X[30:, 3] += 8.0
    >>> label[::4] = None
    >>> adata = anndata.AnnData(X, obs={"label": label})
    >>> glfs_bio.tl.classify(adata, "label", n_genes=1)
    >>> adata.obs["glfs_class_predicted"].iloc[[0, 59]].tolist()
    ['B', 'T']
    """
    params = {
        "labels": labels,
        "train": train,
        "n_genes": n_genes,
        "graph": graph,
        "lambda1": lambda1,
        "lambda2": lambda2,
        "n_comps": n_comps,
        "include": include,
        "exclude": exclude,
        "symbols": symbols,
        "batch_key": batch_key,
        "layer": layer,
        "cv": cv,
        "key_added": key_added,
        "random_state": random_state,
    }
    read.unique_names(adata)
    _check_parameters(params)
    data = read.matrix(adata, layer)
    batch = read.batches(adata, batch_key)
    chosen = names.choose(adata, include, exclude, symbols=symbols)
    called = selection.names(adata, symbols) if symbols else None
    if n_genes is not None:
        checks.whole_numbers("n_genes", n_genes, at_most=int(chosen.allowed.sum()))
    codes, categories = columns.labels(adata, labels, "labels")
    learn = read.mask(adata, "obs", train, "train")
    genes = np.flatnonzero(chosen.allowed)
    known = learn & (codes >= 0)
    folds = cv if n_genes is None or np.ndim(n_genes) else None
    _check_labels(categories[codes[known]], labels, folds)
    model = GLFSLapRLSClassifier(
        n_genes,
        selector=default_selector(
            codes[learn], graph=graph, n_comps=n_comps, random_state=random_state
        ),
        classifier=LapRLSClassifier(lambda1=lambda1, lambda2=lambda2),
        cv=cv,
        random_state=random_state,
    )
    with naming(y="labels", batch="batch_key"):
        model.fit(
            data[learn][:, genes],
            codes[learn],
            batch=None if batch is None else batch[learn],
            include=np.flatnonzero(chosen.included[genes]) if chosen.included.any() else None,
        )
    decision = model.decision_function(data[:, genes])
    predicted = model.predict(data[:, genes])
    margins = classifier.margins(decision.reshape(len(decision), -1))
    typical = float(np.median(margins[known])) or 1.0
    report = _report(model, params, categories, adata.var_names[genes])
    used = genes[model.genes_]
    if called is not None:
        report["symbols"] = called.fillna("").to_numpy(dtype=object)[used]
    measured = RowMatrix(data[learn][:, used])
    report["gene_means"], report["typical_margin"] = moments(measured)[0].mean, typical
    report |= _tested(predicted, codes, ~learn & (codes >= 0), model.classes_, categories)
    _store(adata, key_added, model, genes, decision, predicted, categories)
    adata.obs[f"{key_added}_margin"] = margins / typical
    adata.uns[key_added] = report


def _check_parameters(params: dict[str, Any]) -> None:
    """Refuse parameters of :func:`classify` that are out of range on their own."""
    checks.one_of("graph", params["graph"], ("auto", *SELECTORS))
    checks.keys(key_added=params["key_added"])
    checks.number("lambda1", params["lambda1"])
    checks.number("lambda2", params["lambda2"], above=0.0)
    checks.whole_number("cv", params["cv"], at_least=2)
    checks.seed(params["random_state"])
    if isinstance(params["n_comps"], str):
        checks.one_of("n_comps", params["n_comps"], ("auto",))


def _check_labels(known: NDArray[Any], labels: str, folds: int | None) -> None:
    """Refuse labels of the cells to learn from that leave nothing to tell apart; log the others."""
    if not len(known):
        raise InvalidValue(
            "labels",
            labels,
            "has no label in the cells to learn from",
            "fill some in, or learn from others",
        )
    check_classes(known.astype(str), name="labels")
    columns.log_labels(known, folds)


def _tested(
    predicted: NDArray[Any],
    codes: Index,
    held_out: NDArray[np.bool_],
    classes: Index,
    categories: NDArray[Any],
) -> dict[str, int]:
    """Errors among the cells that were not learnt from, where there are some with a label."""
    unseen = np.setdiff1d(codes[held_out], classes)
    if len(unseen):
        warn(
            Caution(
                "{arg:labels}: {names} occurs outside {arg:train} only and cannot be predicted; "
                "these cells count as errors.",
                names=listed(map(repr, categories[unseen])),
            )
        )
    if not held_out.any():
        return {}
    errors = int(np.sum(predicted[held_out] != codes[held_out]))
    return {"n_test": int(held_out.sum()), "test_errors": errors}


def _report(
    model: GLFSLapRLSClassifier, params: dict[str, Any], categories: NDArray[Any], names: pd.Index
) -> dict[str, Any]:
    report = {
        "params": {name: _plain(value) for name, value in params.items()},
        "classes": categories[model.classes_].astype(str).astype(object),
        "genes": names[model.genes_].to_numpy(dtype=object),
        "n_genes": model.n_genes_,
        "n_labelled": model.n_labelled_,
        "n_unlabelled": model.n_samples_ - model.n_labelled_,
        "coef": model.classifier_.coef_.T.copy(),
        "intercept": model.classifier_.intercept_,
        "versions": write.versions(),
    }
    if hasattr(model.selector_, "lambda_"):
        report["lam"] = model.selector_.lambda_
    if hasattr(model, "cv_errors_"):
        report["tried"], report["cv_errors"] = model.tried_, model.cv_errors_
        report["n_folds"], report["n_tested"] = model.n_folds_, model.n_tested_
    return report


def _store(
    adata: AnnData,
    key: str,
    model: GLFSLapRLSClassifier,
    genes: NDArray[np.intp],
    decision: NDArray[np.float64],
    predicted: NDArray[Any],
    categories: NDArray[Any],
) -> None:
    for place, name in ((adata.obs, "decision"), (adata.var, "coef")):
        if f"{key}_{name}" in place:
            del place[f"{key}_{name}"]
    adata.obsm.pop(f"{key}_decision", None)
    adata.varm.pop(f"{key}_coef", None)

    adata.obs[f"{key}_predicted"] = pd.Categorical.from_codes(predicted, categories)
    weight, selected = np.zeros(adata.n_vars), np.zeros(adata.n_vars, dtype=bool)
    weight[genes] = model.selector_.weights_
    selected[genes[model.genes_]] = True
    adata.var[f"{key}_weight"], adata.var[f"{key}_selected"] = weight, selected
    coef = np.zeros((adata.n_vars, len(model.classifier_.coef_)))
    coef[genes[model.genes_]] = model.classifier_.coef_.T
    if decision.ndim == 1:
        adata.obs[f"{key}_decision"], adata.var[f"{key}_coef"] = decision, coef[:, 0]
    else:
        adata.obsm[f"{key}_decision"], adata.varm[f"{key}_coef"] = decision, coef


def _plain(value: Any) -> Any:
    """What files can hold."""
    if not isinstance(value, str) and np.ndim(value) == 1:
        array = np.asarray(value)
        if array.dtype.kind in "biuf":
            return array
    return write.storable(value)
