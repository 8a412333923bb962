"""Genes that can replace a gene of a panel."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import names as names_of
from .._anndata import results, stale
from .._docs import documented
from .._progress import with_bar
from ..criterion.panel import MIN_SCORE
from ._panel import find, free_for, of_panel, replacements

if TYPE_CHECKING:
    from anndata import AnnData

    from .._anndata.names import Genes
    from .._anndata.target import Preserve as Given
    from .._typing import Index
    from ..options import Preserve
    from ._panel import Replacements


@with_bar
@documented
def substitutes(
    adata: AnnData,
    panel: Any = "glfs",
    genes: Any = None,
    n: int = 3,
    *,
    exclude: Genes | None = None,
    min_score: float = MIN_SCORE,
    layer: str | None = None,
    symbols: str | None = None,
    preserve: Preserve | Given | None = None,
    key_added: str | None = None,
    inplace: bool = True,
) -> pd.DataFrame | None:
    """List the best substitutes of each gene of a panel, for example if its probes fail.

    The substitution score compares a substitute with a second measurement of the gene, given all
    other genes of the panel.  The best substitute is therefore not always the most correlated gene.
    Substitutes that score less than `min_score` are listed too, and flagged.  Each replaces one
    gene while all others stay; those that are ``joint`` may come together.

    Parameters
    ----------
    <adata>
    panel : str, list or path, default "glfs"
        <panel>
    genes : str or list, default None
        Genes of the panel to replace.  None: each gene, one at a time.
    n : int, default 3
        Maximum number of substitutes to list per gene.
    exclude : str, pattern or list, default None
        Genes that cannot be a substitute, as in :func:`~glfs_bio.pp.select_genes`.  Genes that the
        selection excluded, or with which its limits do not hold, cannot be one either.
    min_score : float, default 0.5
        Minimum substitution score of a substitute that is acceptable.
    <layer of a panel>
    <symbols>
    <preserve>
    <key_added of a panel> substitutes
    <inplace>

    Returns
    -------
    None, or with ``inplace=False`` the table.  Written:

    ``.uns[key_added]["table"]`` : DataFrame, at most `n` rows per gene, the best substitute first
        - ``gene``: gene to replace
        - ``substitute``: substitute; ``""`` in the one row of a gene that adds nothing, or that no
          gene can replace
        - ``place``: 1 for the best substitute; 0 without any
        - ``substitution_score``: 1 is as good as a second measurement of the gene; NaN without any
        - ``acceptable``: whether the score is at least `min_score`
        - ``loss``: preserved share that is lost without the gene
        - ``loss_with_substitute``: preserved share that is lost with the substitute instead;
          negative if the panel is better with it
        - ``joint``: whether it is one of those that may stand in their places all at once: any
          choice of one, or of the gene itself, for each place loses at most 0.5 % of what the panel
          preserves, see :func:`explain_panel`
    ``.uns[key_added]["joint_loss"]`` : float
        Share of what the panel preserves that any such choice loses at most; NaN where this is not
        known.
    ``.uns[key_added]["groups"]`` : DataFrame, one row per gene
        ``gene``; ``substitutes``, all that are acceptable, the best first; ``n_substitutes``.
    ``.uns[key_added]["irreplaceable"]`` : str, shape (n_names,)
        Genes without an acceptable substitute.
    ``.uns[key_added]["needless"]`` : str, shape (n_names,)
        Genes that add nothing and need no substitute: without one, less than 1 % of the
        mean loss of the panel's genes is lost.
    <params and versions>

    See Also
    --------
    replace_genes : Replace genes of a panel, several at once.
    explain_panel : Explain each gene of a panel.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=10)
    >>> table = glfs_bio.tl.substitutes(adata, "glfs", inplace=False)
    >>> len(table)
    30
    """
    params = {"n": n, "min_score": min_score}
    checks.whole_number("n", n, at_least=1)
    checks.number("min_score", min_score)
    key_added = results.key_for(adata, "substitutes", key_added, results.key_of(adata, panel))
    checks.flags(inplace=inplace)
    found = find(adata, panel, symbols=symbols, preserve=preserve, layer=layer)
    leaving = found.genes
    if genes is not None:
        named = names_of.named(adata, genes, symbols=symbols, argument="genes")
        leaving = of_panel(adata, found, named, "genes", symbols=symbols)
    barred = names_of.not_to_choose(adata, exclude, symbols=symbols)
    with found.few_threads():
        instead = replacements(adata, found, leaving, barred)
        listed = np.zeros_like(instead.may)
        for place in range(len(leaving)):
            best = instead.best(place, n)
            listed[place, best] = instead.may[place, best]
        free = free_for(adata, found, leaving, replace(instead, may=listed), anything=False)
    names = adata.var_names.to_numpy()
    table = listed_of(names, leaving, instead, n, min_score)
    joint = {
        (names[one.gene], names[other])
        for one in ([] if free is None else free.places)
        for other in one.others
    }
    table["joint"] = [
        pair in joint for pair in zip(table["gene"], table["substitute"], strict=True)
    ]
    if not inplace:
        return table
    groups = _groups(names, leaving, instead, min_score)
    none = (groups["n_substitutes"] == 0).to_numpy()
    entry = results.envelope(
        "substitutes",
        params | found.basis.record(),
        stale.made_of(adata, found.layer, [found.named]),
        table=table,
        joint_loss=np.nan if free is None else free.lost,
        groups=groups,
        irreplaceable=np.array(names[leaving[none & ~instead.needless]], dtype=object),
        needless=np.array(names[leaving[instead.needless]], dtype=object),
    )
    results.store(adata, key_added, entry)
    return None


def listed_of(
    names: Any, leaving: Index, instead: Replacements, n: int, min_score: float = MIN_SCORE
) -> pd.DataFrame:
    """Return up to `n` rows per gene, the best substitute first; a blank row without any."""
    rows: list[tuple[Any, ...]] = []
    for place, gene in enumerate(leaving):
        best, loss = instead.best(place, n), instead.loss[place]
        if not len(best):
            rows.append((names[gene], "", 0, np.nan, False, loss, np.nan))
        for rank, other in enumerate(best, start=1):
            score = instead.score[place, other]
            passed = bool(score >= min_score)
            lost = instead.lost[place, other]
            rows.append((names[gene], names[other], rank, score, passed, loss, lost))
    columns = ("gene", "substitute", "place", "substitution_score", "acceptable")
    return pd.DataFrame(rows, columns=[*columns, "loss", "loss_with_substitute"])


def _groups(names: Any, leaving: Index, instead: Replacements, min_score: float) -> pd.DataFrame:
    """A row a gene, with all its acceptable substitutes."""
    n_substitutes = (instead.score >= min_score).sum(axis=1)
    members = [names[instead.best(place, n)] for place, n in enumerate(n_substitutes)]
    return pd.DataFrame(
        {
            "gene": names[leaving],
            "substitutes": [", ".join(some) for some in members],
            "n_substitutes": n_substitutes,
        }
    )
