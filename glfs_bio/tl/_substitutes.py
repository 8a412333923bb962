"""What can replace a gene of a panel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import names as names_of
from .._anndata import write
from ..criterion.panel import SHARE
from ..errors import NO_VALUE, InvalidValue, listed
from ._panel import closed, find

if TYPE_CHECKING:
    from anndata import AnnData

    from .._anndata.names import Genes
    from .._anndata.target import Preserve as Given
    from .._typing import Array, Index
    from ..options import Preserve
    from ._panel import Panel


def substitutes(
    adata: AnnData,
    panel: Any = "glfs",
    genes: Any = None,
    n: int = 5,
    *,
    exclude: Genes | None = None,
    share: float = SHARE,
    symbols: str | None = None,
    preserve: Preserve | Given | None = None,
    key_added: str = "glfs_substitutes",
    inplace: bool = True,
) -> pd.DataFrame | None:
    """Find the genes that replace a gene of a panel.

    A gene may fail: no probes fit it, or its supplier has none.  A substitute does for the panel
    what the gene did, beside all the other genes of the panel.  It need not be the gene that is
    most correlated: what the rest of the panel shows already needs no second gene.

    Parameters
    ----------
    adata
        Cells × genes, logarithmised.
    panel
        Names of genes, one name, a file of them, or the key of a selection, of a boolean column of
        ``.var``, or of what ``sc.tl.rank_genes_groups`` wrote: the first 10 genes of each group.
    genes
        Genes of the panel to replace: names.  None: each of them, one at a time.
    n
        Substitutes to list for each gene.
    exclude
        Genes that cannot be a substitute, as in :func:`~glfs_bio.pp.select_genes`.  Genes that a
        selection could not select (it excluded them, or a limit did) cannot be one either.
    share
        A substitute stands in for a gene if it takes over at least this share.
    symbols
        Column of ``.var`` with names that genes may be given by.
    preserve
        What the panel should preserve: what :func:`~glfs_bio.pp.select_genes` takes, or a
        :class:`~glfs_bio.Preserve`.  None: what a selection was made for, and the structure for
        other panels.
    key_added
        Key of ``.uns``.
    inplace
        Write to `adata`; otherwise return the table.  There is no `copy`: to keep an object, pass
        ``adata.copy()``.

    Returns
    -------
    None, or with `inplace=False` the table.  Written:

    ``.uns[key_added]``
        ``table``, `n` rows a gene, the best substitute first: ``gene``; ``substitute``; ``place``,
        1 for the best; ``taken_over``, by which they are ordered: how much of what the gene does
        for the panel the substitute does as well, where 1 is a copy of the gene (less its noise:
        above 1); ``stands_in``, whether that is at least `share`; ``loss``, what the panel loses
        without the gene, and ``lost``, what it loses when the substitute takes its place, both as
        a share of what all genes keep (below zero: the panel is better with the substitute).
        ``groups``, a row a gene: ``gene``; ``stand_in``: all genes that stand in for it, the best
        first; ``n_stand_in``: how many.  ``params`` and ``versions``.

    Raises
    ------
    KeyError, TypeError, ValueError
        A parameter, gene or matrix that cannot be used; a gene that is not in the panel.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=10)
    >>> table = glfs_bio.tl.substitutes(adata, "glfs", n=1, inplace=False)
    >>> len(table)
    10
    """
    params = {"n": n, "share": share}
    checks.whole_number("n", n, at_least=1)
    checks.number("share", share)
    checks.keys(key_added=key_added)
    checks.flags(inplace=inplace)
    found = find(adata, panel, symbols=symbols, preserve=preserve)
    leaving = found.genes if genes is None else _leaving(adata, found, genes, symbols)
    barred = closed(adata, found, exclude, symbols=symbols)
    criterion = found.basis.criterion
    lost, taken_over = found.measured.substitutions(leaving)
    taken_over[:, barred] = -np.inf
    losses = pd.Series(criterion.losses(found.genes), index=found.genes)[leaving].to_numpy()
    names = adata.var_names.to_numpy()
    order = np.argsort(-taken_over, axis=1, kind="stable")
    best = order[:, : min(n, np.sum(~barred))]
    table = pd.DataFrame(
        {
            "gene": np.repeat(names[leaving], best.shape[1]),
            "substitute": names[best].ravel(),
            "place": np.tile(np.arange(1, best.shape[1] + 1), len(leaving)),
            "taken_over": np.take_along_axis(taken_over, best, axis=1).ravel(),
            "stands_in": np.take_along_axis(taken_over, best, axis=1).ravel() >= share,
            "loss": np.repeat(losses, best.shape[1]),
            "lost": np.take_along_axis(lost, best, axis=1).ravel(),
        }
    )
    if not inplace:
        return table
    adata.uns[key_added] = {
        "table": table,
        "groups": _groups(names, leaving, order, (taken_over >= share).sum(axis=1)),
        "panel": np.array(adata.var_names[found.genes], dtype=object),
        "params": write.parameters(params) | found.basis.record(),
        "versions": write.versions("glfs-bio", "numpy", "anndata"),
    }
    return None


def _leaving(adata: AnnData, found: Panel, genes: Any, symbols: str | None) -> Index:
    """Places of the genes to replace, which are of the panel."""
    asked = names_of.panel(adata, genes, symbols=symbols, missing="raise", argument="genes")
    strange = np.setdiff1d(asked.genes, found.genes)
    if len(strange):
        raise InvalidValue(
            "genes",
            NO_VALUE,
            "has genes that are not in the panel: {names}",
            "name genes of it",
            names=listed(adata.var_names[strange]),
        )
    return asked.genes


def _groups(names: Any, leaving: Index, order: Index, n_stand_in: Array) -> pd.DataFrame:
    """A row a gene, with all genes that stand in for it."""
    stand_in = [", ".join(names[row[:n]]) for row, n in zip(order, n_stand_in, strict=True)]
    return pd.DataFrame({"gene": names[leaving], "stand_in": stand_in, "n_stand_in": n_stand_in})
