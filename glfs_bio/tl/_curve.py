"""How many genes: what panels of every size keep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import columns, constraints, names, provenance, read, write
from ..errors import NO_VALUE, InvalidValue
from ..measures.cells import coordinates
from ..measures.labels import label_scores
from ..selection import best_panel
from ._panel import basis_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anndata import AnnData

    from .._anndata.columns import Labels
    from .._anndata.names import Genes
    from .._anndata.target import Preserve as Given
    from .._typing import Index, Matrix
    from ..options import Limits, Preserve

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
    symbols: str | None = None,
    preserve: Preserve | Given | None = None,
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
    include, exclude, limits, symbols
        As in :func:`~glfs_bio.pp.select_genes`.
    preserve
        What the panel should preserve: what :func:`~glfs_bio.pp.select_genes` takes, or a
        :class:`~glfs_bio.Preserve`.  None: the structure.
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
        the structure that it adds; ``preserved``; ``optimality``, at least; and with `labels`
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
        "max_genes": max_genes,
        "labels": labels,
        "sizes": sizes,
        "include": include,
        "exclude": exclude,
        "limits": limits,
        "symbols": symbols,
    }
    checks.whole_number("max_genes", max_genes, at_least=1)
    checks.keys(key_added=key_added)
    checks.flags(inplace=inplace)
    _check_sizes(sizes, max_genes, labels)
    known = None if labels is None else columns.labels(adata, labels, "labels")
    basis = basis_of(adata, symbols=symbols, preserve=preserve)
    layer = basis.structure.parameters.layer
    choice = names.choose(adata, include, exclude, symbols=symbols)
    candidates = np.flatnonzero(choice.allowed)
    if max_genes > len(candidates):
        raise InvalidValue(
            "max_genes",
            max_genes,
            "is more than the {n} genes to choose from",
            "ask for fewer",
            n=len(candidates),
        )
    ranking = best_panel(
        basis.criterion,
        max_genes,
        include=np.flatnonzero(choice.included),
        candidates=candidates,
        rows=constraints.rows(adata, limits, layer=layer, allowed=choice.allowed),
    )
    order = candidates[ranking.order[: ranking.n_selected]]
    preserved = ranking.info["preserved"]
    table = pd.DataFrame(
        {
            "n_genes": np.arange(1, len(order) + 1),
            "gene": adata.var_names[order],
            "adds": np.diff(preserved, prepend=0.0),
            "preserved": preserved,
            "optimality": ranking.info["optimality"],
        }
    )
    if known is not None:
        data = read.matrix(adata, layer)
        _predict(table, data, order, known, _SIZES if sizes is None else sizes)
    if not inplace:
        return table
    adata.uns[key_added] = {
        "table": table,
        "made_of": provenance.made_of(adata, layer),
        "params": write.parameters(params) | basis.record(),
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
    table: pd.DataFrame, data: Matrix, order: Index, known: Labels, sizes: Sequence[int]
) -> None:
    """Write how well labels are predicted by panels of some sizes."""
    table["accuracy"] = table["macro_f1"] = np.nan
    for size in sizes:
        if size <= len(order):
            found = label_scores(coordinates(data, order[:size]), known.codes, known.names)
            table.loc[size - 1, ["accuracy", "macro_f1"]] = found.accuracy, found.macro_f1
