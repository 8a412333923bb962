"""What can replace a gene of a panel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import names as names_of
from .._anndata import provenance, write
from ..criterion.panel import MIN_SCORE
from ..errors import NO_VALUE, InvalidValue, listed
from ._panel import find, substitutions

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
    min_score: float = MIN_SCORE,
    symbols: str | None = None,
    preserve: Preserve | Given | None = None,
    key_added: str = "glfs_substitutes",
    inplace: bool = True,
) -> pd.DataFrame | None:
    """Find the genes that can replace a gene of a panel.

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
        selection could not select (it excluded them, or a limit did) cannot be one either, nor
        genes with which its limits would not hold.
    min_score
        A substitute takes over at least this share of what the gene does.
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
        ``table``, up to `n` rows a gene, the best substitute first: ``gene``; ``substitute``, and
        ``""`` in the one row of a gene that has none; ``place``, 1 for the best, 0 for none;
        ``substitution_score``, by which they are ordered: how much of what the gene does for the
        panel the substitute does as well, where 1 is a copy of the gene (less its noise: above 1);
        ``loss``, what the panel loses without the gene, and ``loss_with_substitute``, what it loses
        when the substitute takes its place, both as a share of what all genes keep (below zero: the
        panel is better with the substitute).  ``irreplaceable``: genes that have no substitute.
        ``groups``, a row a gene: ``gene``; ``substitutes``: all its substitutes, the best first;
        ``n_substitutes``: how many.  ``made_of``, ``params`` and ``versions``.

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
    params = {"n": n, "min_score": min_score}
    checks.whole_number("n", n, at_least=1)
    checks.number("min_score", min_score)
    checks.keys(key_added=key_added)
    checks.flags(inplace=inplace)
    found = find(adata, panel, symbols=symbols, preserve=preserve)
    leaving = found.genes if genes is None else _leaving(adata, found, genes, symbols)
    lost, substitution_score = substitutions(adata, found, leaving, exclude, symbols=symbols)
    losses = pd.Series(found.basis.criterion.losses(found.genes), index=found.genes)[leaving]
    names = adata.var_names.to_numpy()
    order = np.argsort(-substitution_score, axis=1, kind="stable")
    n_offered = (substitution_score >= min_score).sum(axis=1)
    rows: list[tuple[Any, ...]] = []
    for place, (gene, loss) in enumerate(losses.items()):
        best = order[place, : min(n, n_offered[place])]
        if not len(best):
            rows.append((names[gene], "", 0, np.nan, loss, np.nan))
        for rank, other in enumerate(best, start=1):
            gains = substitution_score[place, other], loss, lost[place, other]
            rows.append((names[gene], names[other], rank, *gains))
    columns = ["gene", "substitute", "place", "substitution_score", "loss", "loss_with_substitute"]
    table = pd.DataFrame(rows, columns=columns)
    if not inplace:
        return table
    adata.uns[key_added] = {
        "table": table,
        "groups": _groups(names, leaving, order, n_offered),
        "irreplaceable": np.array(names[leaving[n_offered == 0]], dtype=object),
        "made_of": provenance.made_of(adata, found.layer, [found.named]),
        "params": write.parameters(params) | found.basis.record(),
        "versions": write.versions("glfs-bio", "numpy", "anndata"),
    }
    return None


def _leaving(adata: AnnData, found: Panel, genes: Any, symbols: str | None) -> Index:
    """Places of the genes to replace, which are of the panel."""
    named = names_of.panel(adata, genes, symbols=symbols, missing="raise", argument="genes")
    strange = np.setdiff1d(named.genes, found.genes)
    if len(strange):
        raise InvalidValue(
            "genes",
            NO_VALUE,
            "has genes that are not in the panel: {names}",
            "name genes of it",
            names=listed(adata.var_names[strange]),
        )
    return named.genes


def _groups(names: Any, leaving: Index, order: Index, n_substitutes: Array) -> pd.DataFrame:
    """A row a gene, with all its substitutes."""
    stand_in = [", ".join(names[row[:n]]) for row, n in zip(order, n_substitutes, strict=True)]
    return pd.DataFrame(
        {"gene": names[leaving], "substitutes": stand_in, "n_substitutes": n_substitutes}
    )
