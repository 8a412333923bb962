"""A classifier of a few genes, applied to other cells."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import classifier, read
from .._anndata.classifier import Classifier
from .._anndata.classifier_file import read_classifier
from ..errors import NO_VALUE, Caution, InvalidValue, naming, warn

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anndata import AnnData

    from .._anndata.names import Missing


def predict(
    adata: AnnData,
    model: Mapping[str, Any] | str | Path,
    *,
    layer: str | None = None,
    symbols: str | None = None,
    missing: Missing = "raise",
    unsure: float | None = None,
    key_added: str = "glfs_class",
) -> None:
    """Predict labels of other cells by a classifier of a few genes.

    Nothing is learnt here: coefficients of :func:`~glfs_bio.tl.classify` are applied to each cell
    on its own.  Cells must be prepared as those that were learnt from, by the same normalisation
    and logarithm.

    Parameters
    ----------
    adata
        Cells × genes, prepared in the same way.  It may be sparse, backed, zarr, or a dask array:
        only the genes of the classifier are used.  Genes are matched by name, in any order, and
        others are ignored.
    model
        ``.uns[key]`` of an object that :func:`~glfs_bio.tl.classify` classified, what
        :func:`~glfs_bio.io.read_classifier` returns, or a file of
        :func:`~glfs_bio.io.write_classifier`.
    layer
        Layer to use in place of ``.X``.
    symbols
        Column of ``.var`` where genes are looked for too, beside ``.var_names``.
    missing
        What to do where genes of the classifier are not there: ``"raise"`` an error, ``"warn"``, or
        ``"ignore"`` it.  Such genes are taken at their mean over the cells that were learnt from.
    unsure
        Cells with a smaller margin get no label: theirs is missing, as scanpy draws in grey and
        :func:`~glfs_bio.tl.classify` takes for no label.  None: every cell gets one.  The margin is
        1 in a typical cell that was learnt from, and 0 where two classes are equally likely.
    key_added
        Prefix of the columns written to ``.obs``, and key of ``.uns``.

    Returns
    -------
    None.  Written:

    ``.obs[f"{key_added}_predicted"]``
        Predicted label of every cell, categorical with all classes; missing where it is unsure.
    ``.obs[f"{key_added}_margin"]``
        Difference between the largest decision value and the second, over its median for the
        labelled cells that were learnt from.  It is no probability.  A cell of a type that the
        classifier does not know may have a large one.
    ``.obs[f"{key_added}_decision"]``
        Decision value for two classes, positive for the second.
    ``.obsm[f"{key_added}_decision"]``
        Decision values for more, one column a class in the order of ``.uns[key_added]["classes"]``.
    ``.uns[key_added]``
        The classifier, and ``prediction``: ``n_unsure``, ``unsure``, and ``absent``, the genes that
        are not there, where there are some.

    Raises
    ------
    KeyError
        Genes that are absent, all of them at once; an unknown layer or column.
    OSError
        No such file.
    TypeError, ValueError
        A parameter, matrix or model that cannot be used, or no gene of it in `adata`, which is left
        as it was.

    Warns
    -----
    UserWarning
        The matrix looks like raw counts; genes are absent and `missing` is ``"warn"``.

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
    checks.keys(key_added=key_added)
    if unsure is not None:
        checks.number("unsure", unsure)
    with naming(path="model"):
        record = read_classifier(model) if isinstance(model, str | Path) else model
    learnt = Classifier.of(record, "model")
    columns = learnt.columns(adata, symbols=symbols, missing=missing)
    data = read.row_matrix(adata, layer)
    if read.looks_like_counts(data):
        warn(
            Caution(
                "The matrix holds whole numbers, like raw counts: prepare it as the cells that "
                "were learnt from, or name a layer with {arg:layer}."
            )
        )
    decision = learnt.decision(data, columns)
    if not np.isfinite(decision).all():
        raise InvalidValue(
            "X" if layer is None else "layer",
            NO_VALUE if layer is None else layer,
            "has NaN or infinite values of genes of {arg:model}",
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
    adata.obs[f"{key_added}_predicted"] = pd.Categorical.from_codes(best, learnt.classes)
    adata.obs[f"{key_added}_margin"] = margin
    if decision.shape[1] == 1:
        adata.obs[f"{key_added}_decision"] = decision[:, 0]
    else:
        adata.obsm[f"{key_added}_decision"] = decision
    adata.uns[key_added] = {**record, "prediction": about}
