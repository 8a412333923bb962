"""Classification of cells by a few genes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import classifier, columns, names, read, results
from .._docs import documented
from .._progress import with_bar
from ..data.matrix import RowMatrix, moments
from ..errors import Caution, InvalidValue, arg, listed, naming, warn
from ..estimators._glfs_laprls import (
    SELECTORS,
    GLFSLapRLSClassifier,
    default_classifier,
    default_selector,
)
from ..labels import check_classes
from ..options import Request, StructureSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anndata import AnnData
    from numpy.typing import NDArray

    from .._anndata.names import Genes
    from .._typing import Index


@with_bar
@documented
def classify(
    adata: AnnData,
    labels: str,
    *,
    train: NDArray[np.bool_] | str | None = None,
    n_genes: int | Sequence[int] | None = None,
    graph: Literal["auto", "classes", "neighbors", "labels"] = "auto",
    lambda1: float | None = None,
    lambda2: float = 10.0,
    n_comps: int | Literal["auto"] | None = "auto",
    include: Genes | None = None,
    exclude: Genes | None = None,
    ignore: Genes | None = None,
    symbols: str | None = None,
    batch_key: str | None = None,
    layer: str | None = None,
    use_raw: bool = False,
    cv: int = 10,
    key_added: str = "glfs_class",
    random_state: int | None = 0,
) -> None:
    """Classify cells by a few genes.

    :class:`~glfs_bio.GLFS` selects the genes, and :class:`~glfs_bio.LapRLSClassifier` classifies
    the cells by them.  Cells without a label are unlabelled data: they belong to the graph of the
    classifier, that of nearest neighbours, and not to its squared error.  Cells outside `train` are
    only predicted.

    Parameters
    ----------
    <unchanged adata>
    labels : str
        Column of ``.obs`` with the labels; missing, −1 or a text like ``"nan"`` for unlabelled
        cells.
    train : bool array or str, default None
        Cells to learn from, or a boolean column of ``.obs``.  None: all.
    n_genes : int or list of int, default None
        Number of genes, or numbers among which cross-validation chooses, with the selection inside
        the folds and ties for fewer genes.  None: 1 to 30.
    graph : {"auto", "classes", "neighbors", "labels"}, default "auto"
        Selection of the genes:

        - ``"classes"``: :class:`~glfs_bio.estimators.SupervisedGLFS` on the graph of the classes,
          with the objective of the original GLFS
        - ``"neighbors"``: ``GLFS()``, the structure of the cells; labels are used by the classifier
          only
        - ``"labels"``: ``GLFS(preserve="labels")``, separated labels on the graph of the neighbours
        - ``"auto"``: ``"classes"`` for at most 400 cells to learn from, if two classes have at
          least four; otherwise ``"labels"``
    lambda1 : float, default None
        Weight λ1 of the graph in the classifier.  None: 1 for the graph of the classes, which it
        has if all of at most 400 cells to learn from have a label and the genes are selected on
        that graph; otherwise 0.1 for that of nearest neighbours.
    lambda2 : float, default 10.0
        Weight λ2 of ``‖w‖²`` in the classifier.
    n_comps : int, None or "auto", default "auto"
        Number of principal components in the selection.  None: full rank.  ``"auto"``: full rank
        for at most 100 cells, otherwise 50.
    include, exclude, ignore : str, pattern or list, default None
        Genes that must, or cannot, be selected, as in :func:`~glfs_bio.pp.select_genes`.  Excluded
        and ignored genes are not used at all.
    symbols : str, default None
        Column of ``.var`` with gene names for `include` and `exclude`.  The classifier stores the
        symbols of its genes.
    batch_key : str, default None
        Column of ``.obs`` with the batch; genes that only separate batches gain nothing.  With
        ``graph="classes"`` genes are centred within each batch.
    <layer>
    <use_raw>
    cv : int, default 10
        Number of stratified folds; at most the number of labelled cells of the largest class.  A
        class with fewer cells is tested in as many folds as it has cells; a class with one cell in
        none.
    key_added : str, default "glfs_class"
        Prefix of the columns in ``.obs`` and ``.var``, and key of ``.uns``.
    random_state : int, default 0
        Seed of the folds and the principal components.

    Returns
    -------
    None.  Written:

    ``.obs[f"{key_added}_predicted"]`` : category
        Predicted label.
    ``.obs[f"{key_added}_margin"]`` : float
        Difference between the largest and the second decision value, relative to its median over
        the labelled cells; 0 is undecided.  It is not a probability.
    ``.obs[f"{key_added}_decision"]`` : float
        With two classes: decision value, positive for the second.
    ``.obsm[f"{key_added}_decision"]`` : float, shape (n_cells, n_classes)
        With more classes: decision values.
    ``.var[f"{key_added}_weight"]`` : float
        β ≥ 0 of the selection.
    ``.var[f"{key_added}_selected"]`` : bool
        Genes of the classifier.
    ``.var[f"{key_added}_coef"]`` : float
        With two classes: coefficients w; 0 for other genes.
    ``.varm[f"{key_added}_coef"]`` : float, shape (n_vars, n_classes)
        With more classes: coefficients.
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
    ``.uns[key_added]["test_errors"]`` : int
        Errors among the ``n_test`` labelled cells outside `train`, if any.
    ``.uns[key_added]["lam"]`` : float
        λ of the selection, with ``graph="classes"``.
    ``.uns[key_added]["symbols"]`` : str, shape (n_genes,)
        With `symbols`: those of the genes.
    ``.uns[key_added]["gene_means"]`` : float, shape (n_genes,)
        Means over the training cells.
    ``.uns[key_added]["typical_margin"]`` : float
        Median margin of the labelled training cells.
    ``.uns[key_added]["n_genes"]``, ``["n_labelled"]``, ``["n_unlabelled"]`` : int
        Number of genes, and of training cells with and without a label.
    ``.uns[key_added]["n_folds"]``, ``["n_tested"]``, ``["n_cross_validated"]`` : int
        Number of folds, of cells in test folds, and of cells that the folds are parts of: of more
        than 10,000 training cells so many are drawn at random, of every label its share, and at
        least `cv`, or all that it has.
    ``.uns[key_added]["params"]`` : dict
        Arguments of the call.

    Warns
    -----
    UserWarning
        If a label occurs only outside `train`.

    See Also
    --------
    predict : Predict the labels of other cells.
    glfs_bio.io.write_classifier : Write the classifier to a file.

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
    layer = read.layer_or_raw(adata, layer, use_raw)
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
        "ignore": ignore,
        "symbols": symbols,
        "batch_key": batch_key,
        "layer": layer,
        "cv": cv,
        "key_added": key_added,
        "random_state": random_state,
    }
    read.unique_names(adata)
    _check_parameters(params)
    data = read.row_matrix(adata, layer)
    batch = read.batches(adata, batch_key)
    spec = StructureSpec(ignore=ignore)
    ignored = names.settled(adata, Request(symbols=symbols, structure=spec)).structure.ignore
    chosen = names.choose(adata, include, exclude, ignore=ignored, symbols=symbols)
    called = read.symbols(adata, symbols) if symbols else None
    if n_genes is not None:
        checks.whole_numbers("n_genes", n_genes, at_most=int(chosen.allowed.sum()))
    codes, categories = columns.labels(adata, labels, "labels")
    learn = read.mask(adata, "obs", train, "train")
    genes = chosen.genes
    known = learn & (codes >= 0)
    folds = cv if n_genes is None or np.ndim(n_genes) else None
    _check_labels(categories[codes[known]], labels, folds)
    selector = default_selector(
        codes[learn], graph=graph, n_comps=n_comps, random_state=random_state
    )
    model = GLFSLapRLSClassifier(
        n_genes,
        selector=selector,
        classifier=default_classifier(codes[learn], selector, lambda1=lambda1, lambda2=lambda2),
        cv=cv,
        random_state=random_state,
    )
    with naming(y="labels", batch="batch_key"):
        every = learn.all() and len(genes) == adata.n_vars
        part = data if every else RowMatrix(data, np.flatnonzero(learn), genes)
        model.fit(
            part,
            codes[learn],
            batch=None if batch is None else batch[learn],
            include=np.flatnonzero(chosen.included[genes]) if chosen.included.any() else None,
        )
    values = RowMatrix(data, genes=genes[model.genes_]).loaded()
    decision = model.classifier_.decision_function(values)
    by_class = decision.reshape(len(decision), -1)
    predicted, margins = model.classes_[classifier.best(by_class)], classifier.margins(by_class)
    typical = float(np.median(margins[known])) or 1.0
    report = _report(model, params, categories, adata.var_names[genes])
    used = genes[model.genes_]
    if called is not None:
        report["symbols"] = called.fillna("").to_numpy(dtype=object)[used]
    report["gene_means"] = moments(RowMatrix(values, np.flatnonzero(learn)))[0]
    report["typical_margin"] = typical
    report |= _tested(predicted, codes, ~learn & (codes >= 0), model.classes_, categories)
    of_cells = {"predicted": pd.Categorical.from_codes(predicted, categories)}
    _store(
        adata, key_added, report, model, genes, decision, of_cells | {"margin": margins / typical}
    )


def _check_parameters(params: dict[str, Any]) -> None:
    """Refuse parameters of :func:`classify` that are out of range on their own."""
    checks.one_of("graph", params["graph"], ("auto", *SELECTORS))
    checks.keys(key_added=params["key_added"])
    if params["lambda1"] is not None:
        checks.number("lambda1", params["lambda1"])
    checks.number("lambda2", params["lambda2"], above=0.0)
    checks.whole_number("cv", params["cv"], at_least=2)
    checks.seed(params["random_state"])
    if isinstance(params["n_comps"], str):
        checks.one_of("n_comps", params["n_comps"], ("auto",))


def _check_labels(known: NDArray[Any], labels: str, folds: int | None) -> None:
    """Refuse training labels with fewer than two classes; log the others."""
    if not len(known):
        raise InvalidValue(
            "labels",
            labels,
            "is missing for all training cells",
            "add labels, or train on other cells",
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
    """Return the errors among labelled cells outside the training cells."""
    unseen = np.setdiff1d(codes[held_out], classes)
    if len(unseen):
        warn(
            Caution(
                f"{arg('labels')}: {listed(map(repr, categories[unseen]))} occurs outside "
                f"{arg('train')} only and cannot be predicted; these cells count as errors."
            )
        )
    if not held_out.any():
        return {}
    errors = int(np.sum(predicted[held_out] != codes[held_out]))
    return {"n_test": int(held_out.sum()), "test_errors": errors}


def _report(
    model: GLFSLapRLSClassifier, params: dict[str, Any], categories: NDArray[Any], names: pd.Index
) -> dict[str, Any]:
    report = results.envelope(
        "class",
        params,
        classes=categories[model.classes_].astype(str).astype(object),
        genes=names[model.genes_].to_numpy(dtype=object),
        n_genes=model.n_genes_,
        n_labelled=model.n_labelled_,
        n_unlabelled=model.n_samples_ - model.n_labelled_,
        coef=model.classifier_.coef_.T.copy(),
        intercept=model.classifier_.intercept_,
    )
    if hasattr(model.selector_, "lambda_"):
        report["lam"] = model.selector_.lambda_
    if hasattr(model, "cv_errors_"):
        report["tried"], report["cv_errors"] = model.tried_, model.cv_errors_
        for name in ("n_folds", "n_tested", "n_cross_validated"):
            report[name] = getattr(model, f"{name}_")
    return report


def _store(
    adata: AnnData,
    key: str,
    report: dict[str, Any],
    model: GLFSLapRLSClassifier,
    genes: NDArray[np.intp],
    decision: NDArray[np.float64],
    of_cells: dict[str, Any],
) -> None:
    for place, name in ((adata.obs, "decision"), (adata.var, "coef")):
        if f"{key}_{name}" in place:
            del place[f"{key}_{name}"]
    adata.obsm.pop(f"{key}_decision", None)
    adata.varm.pop(f"{key}_coef", None)

    weight, selected = np.zeros(adata.n_vars), np.zeros(adata.n_vars, dtype=bool)
    weight[genes] = model.selector_.weights_
    selected[genes[model.genes_]] = True
    coef = np.zeros((adata.n_vars, len(model.classifier_.coef_)))
    coef[genes[model.genes_]] = model.classifier_.coef_.T
    obs, var = of_cells, {"weight": weight, "selected": selected}
    arrays: dict[str, Any] = {}
    if decision.ndim == 1:
        obs, var = obs | {"decision": decision}, var | {"coef": coef[:, 0]}
    else:
        arrays = {"obsm": {f"{key}_decision": decision}, "varm": {f"{key}_coef": coef}}
    named = [{f"{key}_{name}": one for name, one in part.items()} for part in (obs, var)]
    results.store(adata, key, report, obs=named[0], var=named[1], **arrays)
