"""How many genes: what panels of every size keep."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import columns, constraints, names, read, write
from ..errors import NO_VALUE, InvalidValue
from ..measures.cells import coordinates
from ..measures.labels import label_scores
from ..selection import best_panel
from ._structure import preserving, structure_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anndata import AnnData

    from .._anndata.columns import Labels
    from .._anndata.names import Genes, Missing
    from .._anndata.structure import Structure
    from .._anndata.target import Preserve
    from .._typing import Index
    from ..limits import Limits

#: Sizes at which labels are predicted, where none are given.
_SIZES = (5, 10, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200, 300, 400, 500)


def curve(
    adata: AnnData,
    max_genes: int = 200,
    labels: str | None = None,
    *,
    sizes: Sequence[int] | None = None,
    include: Genes | None = None,
    exclude: Genes | None = None,
    limits: Limits | None = None,
    counts_layer: str | None = None,
    cost: str | Mapping[str, float] | float | None = None,
    budget: float | None = None,
    symbols: str | None = None,
    missing: Missing = "raise",
    preserve: Preserve = "structure",
    cell_weights: str | None = None,
    structure_key: str = "glfs_structure",
    key_added: str = "glfs_curve",
    inplace: bool = True,
) -> pd.DataFrame | None:
    """Say what panels of 1, 2, … genes keep, so that a size can be chosen.

    Panels are nested: one choice of `max_genes` genes gives all sizes.

    Parameters
    ----------
    adata
        Cells × genes, logarithmised.
    max_genes
        Genes of the largest panel.
    labels
        Column of ``.obs`` with labels of the cells: how well they are predicted, too.
    sizes
        Sizes at which labels are predicted.  None: some from 5 to `max_genes`.
    include, exclude, limits, counts_layer, cost, budget, symbols, missing
        As in :func:`~glfs_bio.pp.select_genes`.
    preserve, cell_weights
        What the panels are to keep, as in :func:`~glfs_bio.pp.select_genes`.
    structure_key
        Where :func:`~glfs_bio.pp.structure` kept the structure; computed where it is not there.
    key_added
        Key of ``.uns``.
    inplace
        Write to `adata`; otherwise return the table.  There is no `copy`: to keep an object, pass
        ``adata.copy()``.

    Returns
    -------
    None, or with `inplace=False` the table.  Written:

    ``.uns[key_added]``
        ``table``, one row a size: ``n_genes``; ``gene``, which is added; ``adds``, the share of
        the structure that it adds; ``kept``; ``of_best_possible``, at least; and with `labels`
        ``accuracy`` and ``macro_f1`` of leave-one-out prediction from the 15 nearest cells, NaN at
        other sizes than `sizes`.  ``params`` and ``versions``.

    Raises
    ------
    KeyError, TypeError, ValueError
        A parameter, gene or matrix that cannot be used; limits that no panel meets.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> table = glfs_bio.tl.curve(adata, 20, inplace=False)
    >>> bool((table["adds"] > 0).all())
    True
    """
    params: dict[str, Any] = {
        name: value for name, value in locals().items() if name not in {"adata", "inplace"}
    }
    checks.whole_number("max_genes", max_genes, at_least=1)
    checks.keys(key_added=key_added)
    checks.flags(inplace=inplace)
    _check_sizes(sizes, max_genes, labels)
    known = None if labels is None else columns.labels(adata, labels, "labels")
    structure = preserving(
        adata,
        partial(structure_of, adata, None, structure_key),
        preserve,
        cell_weights,
        symbols=symbols,
        missing=missing,
    )
    seen = np.zeros(adata.n_vars, dtype=bool)
    seen[structure.genes] = True
    choice = names.choose(adata, seen, include, exclude, symbols=symbols, missing=missing)
    candidates = np.flatnonzero(choice.allowed[structure.genes])
    if max_genes > len(candidates):
        raise InvalidValue(
            "max_genes",
            max_genes,
            "is more than the {n} genes to choose from",
            "ask for fewer",
            n=len(candidates),
        )
    rows = constraints.rows(
        adata,
        limits,
        layer=structure.layer,
        counts_layer=counts_layer,
        cost=cost,
        budget=budget,
        allowed=choice.allowed,
    )
    ranking = best_panel(
        structure.criterion,
        max_genes,
        include=np.flatnonzero(choice.included[structure.genes]),
        candidates=candidates,
        rows=None if rows is None else rows.only(structure.genes),
    )
    order = structure.genes[candidates[ranking.order[: ranking.n_selected]]]
    kept = ranking.info["kept"]
    table = pd.DataFrame(
        {
            "n_genes": np.arange(1, len(order) + 1),
            "gene": adata.var_names[order],
            "adds": np.diff(kept, prepend=0.0),
            "kept": kept,
            "of_best_possible": ranking.info["of_best_possible"],
        }
    )
    if known is not None:
        _predict(table, adata, structure, order, known, _SIZES if sizes is None else sizes)
    if not inplace:
        return table
    adata.uns[key_added] = {
        "table": table,
        "params": write.parameters(params),
        "versions": write.versions("glfs-bio", "numpy", "scikit-learn", "anndata"),
    }
    return None


def _check_sizes(sizes: Sequence[int] | None, max_genes: int, labels: str | None) -> None:
    """Refuse sizes at which no labels are predicted."""
    if sizes is None:
        return
    for size in sizes:
        checks.whole_number("sizes", size, at_least=1)
        if size > max_genes:
            raise InvalidValue(
                "sizes",
                NO_VALUE,
                "has {size}, more than {arg:max_genes={most}}",
                "raise that, or leave {size} out",
                size=size,
                most=max_genes,
            )
    if labels is None:
        raise InvalidValue(
            "sizes", NO_VALUE, "is for labels", "name their column with {arg:labels}"
        )


def _predict(
    table: pd.DataFrame,
    adata: AnnData,
    structure: Structure,
    order: Index,
    known: Labels,
    sizes: Sequence[int],
) -> None:
    """Write how well labels are predicted by panels of some sizes."""
    data = read.matrix(adata, structure.layer)
    table["accuracy"] = table["macro_f1"] = np.nan
    for size in sizes:
        if size <= len(order):
            found = label_scores(coordinates(data, order[:size]), known.codes, known.names)
            table.loc[size - 1, ["accuracy", "macro_f1"]] = found.accuracy, found.macro_f1
