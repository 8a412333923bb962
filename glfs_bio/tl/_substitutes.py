"""Genes that can replace a gene of a panel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import names as names_of
from .._anndata import read, results, stale
from .._docs import documented
from .._progress import with_bar
from ..criterion.panel import MIN_SCORE
from ..errors import NO_VALUE, InvalidValue, listed
from ._panel import find, substitutions

if TYPE_CHECKING:
    from anndata import AnnData

    from .._anndata.names import Genes
    from .._anndata.target import Preserve as Given
    from .._typing import Array, Index
    from ..options import Preserve
    from ._panel import Found


@with_bar
@documented
def substitutes(
    adata: AnnData,
    panel: Any = "glfs",
    genes: Any = None,
    n: int = 5,
    *,
    exclude: Genes | None = None,
    min_score: float = MIN_SCORE,
    layer: str | None = None,
    use_raw: bool = False,
    symbols: str | None = None,
    preserve: Preserve | Given | None = None,
    key_added: str | None = None,
    inplace: bool = True,
) -> pd.DataFrame | None:
    """Find the genes that can replace a gene of a panel, for example if its probes fail.

    The substitution score compares a substitute with a second measurement of the gene, given all
    other genes of the panel.  The best substitute is therefore not always the most correlated gene.

    Parameters
    ----------
    <adata>
    panel : str, list or path, default "glfs"
        <panel>
    genes : str or list, default None
        Genes of the panel to replace.  None: each gene, one at a time.
    n : int, default 5
        Maximum number of substitutes to list per gene.
    exclude : str, pattern or list, default None
        Genes that cannot be a substitute, as in :func:`~glfs_bio.pp.select_genes`.  Genes that the
        selection excluded, or with which its limits do not hold, cannot be one either.
    min_score : float, default 0.5
        Minimum substitution score of a substitute.
    <layer of a panel>
    <use_raw>
    <symbols>
    <preserve>
    <key_added of a panel> substitutes
    <inplace>

    Returns
    -------
    None, or with ``inplace=False`` the table.  Written:

    ``.uns[key_added]["table"]`` : DataFrame, at most `n` rows per gene, the best substitute first
        - ``gene``: gene to replace
        - ``substitute``: substitute, or ``""`` in the one row of a gene without any
        - ``place``: 1 for the best substitute; 0 without any
        - ``substitution_score``: 1 is as good as a second measurement of the gene
        - ``loss``: preserved share that is lost without the gene
        - ``loss_with_substitute``: preserved share that is lost with the substitute instead;
          negative if the panel is better with it
    ``.uns[key_added]["groups"]`` : DataFrame, one row per gene
        ``gene``; ``substitutes``, all its substitutes, the best first; ``n_substitutes``.
    ``.uns[key_added]["irreplaceable"]`` : str
        Genes without a substitute.
    <params and versions>

    See Also
    --------
    explain_panel : Explain each gene of a panel.

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
    key_added = results.key_for(adata, "substitutes", key_added, results.key_of(adata, panel))
    checks.flags(inplace=inplace)
    layer = read.layer_or_raw(adata, layer, use_raw)
    found = find(adata, panel, symbols=symbols, preserve=preserve, layer=layer)
    leaving = found.genes if genes is None else _leaving(adata, found, genes, symbols)
    with found.few_threads():
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
    entry = results.envelope(
        "substitutes",
        params | found.basis.record(),
        stale.made_of(adata, found.layer, [found.named]),
        table=table,
        groups=_groups(names, leaving, order, n_offered),
        irreplaceable=np.array(names[leaving[n_offered == 0]], dtype=object),
    )
    results.store(adata, key_added, entry)
    return None


def _leaving(adata: AnnData, found: Found, genes: Any, symbols: str | None) -> Index:
    """Places of the genes to replace, which are of the panel."""
    named = names_of.panel(adata, genes, symbols=symbols, missing="raise", argument="genes")
    strange = np.setdiff1d(named.genes, found.genes)
    if len(strange):
        raise InvalidValue(
            "genes",
            NO_VALUE,
            f"has genes that are not in the panel: {listed(adata.var_names[strange])}",
            "choose genes of the panel",
        )
    return named.genes


def _groups(names: Any, leaving: Index, order: Index, n_substitutes: Array) -> pd.DataFrame:
    """A row a gene, with all its substitutes."""
    stand_in = [", ".join(names[row[:n]]) for row, n in zip(order, n_substitutes, strict=True)]
    return pd.DataFrame(
        {"gene": names[leaving], "substitutes": stand_in, "n_substitutes": n_substitutes}
    )
