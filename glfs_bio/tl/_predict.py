"""Prediction of labels by a classifier of a few genes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import classifier, read, results
from .._anndata.classifier import Classifier
from .._anndata.classifier_file import read_classifier
from .._docs import documented
from .._progress import with_bar
from ..errors import NO_VALUE, Caution, InvalidValue, arg, naming, warn

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anndata import AnnData

    from .._anndata.names import Missing


@with_bar
@documented
def predict(
    adata: AnnData,
    model: Mapping[str, Any] | str | Path,
    *,
    layer: str | None = None,
    use_raw: bool = False,
    symbols: str | None = None,
    missing: Missing = "raise",
    unsure: float | None = None,
    key_added: str = "glfs_class",
) -> None:
    """Predict the labels of cells by a classifier of a few genes.

    The coefficients of :func:`~glfs_bio.tl.classify` are applied to each cell; nothing is learnt.
    Prepare the cells as the training cells, with the same normalisation and logarithm.

    Parameters
    ----------
    adata : AnnData
        Cells × genes, prepared as the training cells: in memory, backed, zarr or dask.  Genes are
        matched by name, and other genes are ignored.
    model : dict, str or path
        ``.uns[key]`` of an object of :func:`~glfs_bio.tl.classify`, a result of
        :func:`~glfs_bio.io.read_classifier`, or a file of :func:`~glfs_bio.io.write_classifier`.
    <layer>
    <use_raw>
    <symbols>
    missing : {"raise", "warn", "ignore"}, default "raise"
        Action if a gene of the classifier is missing.  With ``"warn"`` and ``"ignore"`` such genes
        have their mean over the training cells.
    unsure : float, default None
        Minimum margin of a predicted label; cells below it get a missing label.  None: all cells
        get a label.  The margin of a typical training cell is 1.
    key_added : str, default "glfs_class"
        Prefix of the columns in ``.obs``, and key of ``.uns``.

    Returns
    -------
    None.  Written beside what :func:`~glfs_bio.tl.classify` writes into ``.uns``:

    ``.obs[f"{key_added}_predicted"]`` : category
        Predicted label; missing below `unsure`.
    ``.obs[f"{key_added}_margin"]`` : float
        Difference between the largest and the second decision value, relative to its median over
        the labelled training cells.  It is not a probability, and it can be large for an unknown
        cell type.
    ``.obs[f"{key_added}_decision"]`` : float
        With two classes: decision value, positive for the second.
    ``.obsm[f"{key_added}_decision"]`` : float, shape (n_cells, n_classes)
        With more classes: decision values, in the order of ``.uns[key_added]["classes"]``.
    ``.uns[key_added]["prediction"]`` : dict
        ``unsure``, the argument; ``n_unsure``, the number of cells without a label; ``absent``,
        missing genes, if any.  The other keys are those of the classifier.

    Warns
    -----
    UserWarning
        If the matrix looks like raw counts, or if genes are missing and `missing` is ``"warn"``.

    See Also
    --------
    classify : Train a classifier.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> known, new = adata[::2].copy(), adata[1::2].copy()
    >>> glfs_bio.tl.classify(known, "louvain", n_genes=20)
    >>> glfs_bio.tl.predict(new, known.uns["glfs_class"], unsure=0.1)
    >>> bool((new.obs["glfs_class_predicted"] == new.obs["louvain"]).mean() > 0.6)
    True
    """
    read.check(adata)
    results.key_for(adata, "class", key_added)
    if unsure is not None:
        checks.number("unsure", unsure)
    with naming(path="model"):
        record = read_classifier(model) if isinstance(model, str | Path) else model
    learnt = Classifier.of(record, "model")
    columns = learnt.columns(adata, symbols=symbols, missing=missing)
    layer = read.layer_or_raw(adata, layer, use_raw)
    data = read.row_matrix(adata, layer)
    if read.looks_like_counts(data):
        warn(
            Caution(
                "The matrix looks like raw counts (whole numbers): prepare it as the training "
                f"cells, or name a layer with {arg('layer')}."
            )
        )
    decision = learnt.decision(data, columns)
    if not np.isfinite(decision).all():
        raise InvalidValue(
            "X" if layer is None else "layer",
            NO_VALUE if layer is None else layer,
            f"has NaN or infinite values of genes of {arg('model')}",
            "remove or impute these first",
        )
    margin = classifier.margins(decision) / learnt.typical_margin
    best = classifier.best(decision)
    about: dict[str, Any] = {"unsure": "None" if unsure is None else float(unsure), "n_unsure": 0}
    if unsure is not None:
        best[margin < unsure] = -1
        about["n_unsure"] = int((margin < unsure).sum())
    if (columns < 0).any():
        about["absent"] = learnt.genes[columns < 0]

    adata.obs.drop(columns=f"{key_added}_decision", errors="ignore", inplace=True)
    adata.obsm.pop(f"{key_added}_decision", None)
    obs = {
        f"{key_added}_predicted": pd.Categorical.from_codes(best, learnt.classes),
        f"{key_added}_margin": margin,
    }
    obsm = {}
    if decision.shape[1] == 1:
        obs[f"{key_added}_decision"] = decision[:, 0]
    else:
        obsm[f"{key_added}_decision"] = decision
    results.store(
        adata, key_added, {**record, "kind": "class", "prediction": about}, obs=obs, obsm=obsm
    )
