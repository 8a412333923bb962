"""Classification by a few genes on AnnData."""

from __future__ import annotations

import warnings
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from .._anndata import labels, read
from ..core import checks
from ..estimators._glfs import GLFS
from ..estimators._glfs_laprls import GLFSLapRLSClassifier
from ..estimators._laprls import LapRLSClassifier
from ..estimators._supervised import SupervisedGLFS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anndata import AnnData
    from numpy.typing import NDArray

GRAPHS = {"classes": SupervisedGLFS, "neighbors": GLFS}

#: Up to so many samples the problem is taken as it stands, without principal components.
_FULL_RANK = 400
_COMPONENTS = 50
_VERSIONS = ("glfs-bio", "numpy", "scipy", "scikit-learn", "anndata")


def classify(
    adata: AnnData,
    groupby: str,
    *,
    train: NDArray[np.bool_] | str | None = None,
    n_genes: int | Sequence[int] | None = None,
    graph: Literal["classes", "neighbors"] = "classes",
    lambda1: float = 0.1,
    lambda2: float = 10.0,
    n_comps: int | Literal["auto"] | None = "auto",
    mask_var: NDArray[np.bool_] | str | None = None,
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
    groupby
        Column of ``.obs`` with the labels, missing where they are not known.
    train
        Cells to learn from: boolean array, or name of a boolean column of ``.obs``.  None: all.
    n_genes
        Number of genes; or numbers to choose from by cross-validation, all selection inside the
        folds and ties going to fewer genes.  None: 1 to 30.
    graph
        What the selection keeps.  ``"classes"``: the graph of every two cells of one label, by
        :class:`~glfs_bio.estimators.SupervisedGLFS` with the paper's objective.  ``"neighbors"``:
        the structure of the cells, by :class:`~glfs_bio.GLFS`, so that labels are used by the
        classifier only.
    lambda1, lambda2
        λ1 and λ2 of the classifier.
    n_comps
        Principal components that span the subspace of the cells in the selection.  None: full rank;
        ``"auto"``: full rank up to 400 cells, 50 components above.
    mask_var
        Genes to choose from: boolean array, or name of a boolean column of ``.var``.
    layer
        Layer to use in place of ``.X``.
    cv
        Number of stratified folds.
    key_added
        Prefix of the columns written to ``.obs`` and ``.var``, and key of ``.uns``.
    random_state
        Seed of the folds and of the principal components.

    Returns
    -------
    None.  Written:

    ``.obs[f"{key_added}_predicted"]``
        Predicted label of every cell, categorical.
    ``.obs[f"{key_added}_decision"]``
        Decision value for two classes, positive for the second.
    ``.obsm[f"{key_added}_decision"]``
        Decision values for more, one column a class in the order of ``.uns[key_added]["classes"]``.
    ``.var[f"{key_added}_weight"]``
        β ≥ 0 of GLFS; 0 for genes that were not to choose from.  With ``graph="classes"`` the
        classifier weights a gene by β times its variance, with ``"neighbors"`` by its variance.
    ``.var[f"{key_added}_selected"]``
        Whether the gene is used.
    ``.var[f"{key_added}_coef"]``, ``.varm[f"{key_added}_coef"]``
        w of LapRLS for two classes, and for more; 0 for genes that are not used.
    ``.uns[key_added]``
        ``params``, ``classes``, ``genes`` (the best first), ``n_genes``, ``n_labelled``,
        ``n_unlabelled``, ``intercept`` (b − 1/2); ``lam`` (λ) with ``graph="classes"``;
        ``tried`` and ``cv_errors`` (out of ``n_labelled``) where the number was chosen;
        ``test_errors`` and ``n_test`` where labels are known outside `train`; ``versions``.

    Raises
    ------
    KeyError
        An unknown column or layer.
    TypeError, ValueError
        A parameter or matrix that cannot be used, fewer than two classes, a class with one cell or
        with fewer than folds; `adata` is left as it was.

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
    params = {name: value for name, value in locals().items() if name != "adata"}
    read.check(adata)
    checks.one_of("graph", graph, GRAPHS)
    checks.keys(key_added=key_added)
    checks.number("lambda1", lambda1)
    checks.number("lambda2", lambda2, above=0.0)
    checks.whole_number("cv", cv, at_least=2)
    checks.seed(random_state)
    if isinstance(n_comps, str):
        checks.one_of("n_comps", n_comps, ("auto",))
    read.unique_names(adata)
    data = read.matrix(adata, layer)
    tested = read.mask(adata.var, mask_var, "mask_var")
    if n_genes is not None:
        checks.whole_numbers("n_genes", n_genes, at_most=int(tested.sum()))
    codes, categories = labels.codes(adata, groupby)
    learn = read.mask(adata.obs, train, "train")
    genes = np.flatnonzero(tested)
    if n_comps == "auto":
        n_comps = None if learn.sum() <= _FULL_RANK else _COMPONENTS
    known = learn & (codes >= 0)
    if not known.any():
        msg = f"groupby={groupby!r} has no label in the {learn.sum()} cells to learn from."
        raise ValueError(msg)
    folds = cv if n_genes is None or np.ndim(n_genes) else None
    labels.check(categories[codes[known]], groupby, folds)

    model = GLFSLapRLSClassifier(
        n_genes,
        selector=GRAPHS[graph](n_comps=n_comps, random_state=random_state),
        classifier=LapRLSClassifier(lambda1=lambda1, lambda2=lambda2),
        cv=cv,
        random_state=random_state,
    ).fit(data[learn][:, genes], codes[learn])
    decision = model.decision_function(data[:, genes])
    predicted = model.predict(data[:, genes])

    held_out = ~learn & (codes >= 0)
    unseen = np.setdiff1d(codes[held_out], model.classes_)
    if len(unseen):
        warnings.warn(
            f"groupby={groupby!r}: {', '.join(map(repr, categories[unseen]))} occurs outside train "
            "only and cannot be predicted; these cells count as errors.",
            UserWarning,
            stacklevel=2,
        )
    report = _report(model, params, categories, adata.var_names[genes])
    if held_out.any():
        report["n_test"] = int(held_out.sum())
        report["test_errors"] = int(np.sum(predicted[held_out] != codes[held_out]))
    _store(adata, key_added, model, genes, decision, predicted, categories)
    adata.uns[key_added] = report


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
        "intercept": model.classifier_.intercept_,
        "versions": {package: version(package) for package in _VERSIONS},
    }
    if hasattr(model.selector_, "lambda_"):
        report["lam"] = model.selector_.lambda_
    if hasattr(model, "cv_errors_"):
        report["tried"], report["cv_errors"] = model.tried_, model.cv_errors_
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
    if value is None:
        return "None"
    return value if isinstance(value, str | int | float | np.number) else np.asarray(value)
