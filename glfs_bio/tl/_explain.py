"""The contribution of each gene of a panel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import columns, read, results, stale
from .._docs import documented
from .._progress import with_bar
from ..criterion.panel import MIN_SCORE
from ._panel import find, substitutions

if TYPE_CHECKING:
    from anndata import AnnData

    from .._anndata.names import Genes
    from .._anndata.target import Preserve as Given
    from .._typing import Array
    from ..criterion.panel import MeasuredPanel, Pairs
    from ..labels import Labels
    from ..options import Preserve
    from ._panel import Found

#: Genes that a direction of the structure, or what tells two labels apart, is named by.
_NAMED_BY = 3


@with_bar
@documented
def explain_panel(
    adata: AnnData,
    panel: Any = "glfs",
    labels: str | None = None,
    *,
    n_labels: int = 3,
    exclude: Genes | None = None,
    layer: str | None = None,
    use_raw: bool = False,
    symbols: str | None = None,
    preserve: Preserve | Given | None = None,
    key_added: str | None = None,
    inplace: bool = True,
) -> pd.DataFrame | None:
    """Explain each gene of a panel: contribution, supported cell types and substitute.

    Parameters
    ----------
    <adata>
    panel : str, list or path, default "glfs"
        <panel>
    <labels> str, default None
    n_labels : int, default 3
        Maximum number of labels to name per gene.
    exclude : str, pattern or list, default None
        Genes that cannot be a substitute, as in :func:`substitutes`.
    <layer of a panel>
    <use_raw>
    <symbols>
    <preserve>
    <key_added of a panel> explanation
    <inplace>

    Returns
    -------
    None, or with ``inplace=False`` the table.  Written:

    ``.uns[key_added]["table"]`` : DataFrame, one row per gene in the order of the panel
        - ``gene``: name of the gene
        - ``preserved``: preserved share of the genes up to this one
        - ``loss``: contribution, the preserved share that is lost without the gene
        - ``axis``: axis of the structure with the largest contribution, named by its genes
        - ``axis_share``: share of the contribution along this axis
        - ``substitute``: best substitute, or ``""``
        - ``substitution_score``: its score, see :func:`substitutes`; NaN without a substitute
        - ``loss_with_substitute``: preserved share that is lost with the substitute instead
        - ``supports``: with `labels`, the labels that the gene supports, with their shares
    ``.uns[key_added]["support"]`` : float, shape (n_genes, n_labels)
        Share of the contribution of each gene that falls on the cells of each label.
    ``.uns[key_added]["labels"]`` : str, shape (n_labels,)
        Labels of the columns of ``support``.
    ``.uns[key_added]["pairs"]`` : DataFrame, one row per pair of labels, the worst separated first
        ``label`` and ``other``; ``preserved``, the preserved share of the distance between their
        means; ``genes``, the genes with the largest contribution to it.
    <params and versions>

    See Also
    --------
    substitutes : List the substitutes of each gene.
    markers : Find the markers of each label in a panel.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=10)
    >>> table = glfs_bio.tl.explain_panel(adata, "glfs", "bulk_labels", inplace=False)
    >>> list(table.columns[:3])
    ['gene', 'preserved', 'loss']
    """
    checks.whole_number("n_labels", n_labels, at_least=1)
    key_added = results.key_for(adata, "explanation", key_added, results.key_of(adata, panel))
    checks.flags(inplace=inplace)
    layer = read.layer_or_raw(adata, layer, use_raw)
    known = None if labels is None else columns.labels(adata, labels, "labels")
    found = find(adata, panel, symbols=symbols, preserve=preserve, layer=layer)
    table, of_labels = explained(adata, found, known, n_labels, exclude=exclude, symbols=symbols)
    if not inplace:
        return table
    entry = results.envelope(
        "explanation",
        {"labels": labels, **found.basis.record()},
        stale.made_of(adata, found.layer, [found.named]),
        table=table,
        **of_labels,
    )
    results.store(adata, key_added, entry)
    return None


def explained(
    adata: AnnData,
    found: Found,
    known: Labels | None,
    n_labels: int,
    *,
    exclude: Genes | None,
    symbols: str | None,
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the table of :func:`explain_panel`, and what its record holds of labels."""
    with found.few_threads():
        criterion, genes = found.basis.criterion, found.genes
        names = adata.var_names.to_numpy()
        lost, substitution_score = substitutions(adata, found, genes, exclude, symbols=symbols)
        rows, best = np.arange(len(genes)), substitution_score.argmax(axis=1)
        score = substitution_score[rows, best]
        some = score >= MIN_SCORE
        axis, share = _axes(found.measured, names)
        table = pd.DataFrame(
            {
                "gene": names[genes],
                "preserved": found.preserved,
                "loss": criterion.losses(genes),
                "axis": axis,
                "axis_share": share,
                "substitute": np.where(some, names[best], ""),
                "substitution_score": np.where(some, score, np.nan),
                "loss_with_substitute": np.where(some, lost[rows, best], np.nan),
            }
        )
        if known is None:
            return table, {}
        table["supports"], of_labels = _supports(found, known, names[genes], n_labels)
    return table, of_labels


def _supports(
    found: Found, known: Labels, genes: Any, n_labels: int
) -> tuple[list[str], dict[str, Any]]:
    """Return the labels that each gene supports, as text, and the records of labels."""
    codes, categories = known
    names = np.array(known.names, dtype=object)
    of_sets = [codes[rows] for rows in found.basis.structure.rows]
    shares = found.measured.supports(of_sets, len(categories))
    cells = np.bincount(codes[codes >= 0], minlength=len(categories)) / max(len(codes), 1)
    apart = found.measured.pairs(of_sets, len(categories))
    texts = [_supported(row, cells, names, n_labels) for row in shares]
    return texts, {"support": shares, "labels": names, "pairs": _pairs(apart, genes, names)}


def _supported(shares: Array, cells: Array, categories: Any, most: int) -> str:
    """Return the labels with the largest share relative to their size, as text."""
    more = shares / np.maximum(cells, np.finfo(float).tiny)
    order = [code for code in np.argsort(-more)[:most] if more[code] > 1.0]
    return ", ".join(f"{categories[code]} ({100 * shares[code]:.0f} %)" for code in order)


def _pairs(apart: Pairs, genes: Any, labels: Any) -> pd.DataFrame:
    """Return one row per pair of labels, the worst separated first."""
    texts = []
    for work in apart.work:
        order = [gene for gene in np.argsort(-work)[:_NAMED_BY] if work[gene] > 0]
        texts.append(", ".join(f"{genes[gene]} ({100 * work[gene]:.0f} %)" for gene in order))
    table = pd.DataFrame(
        {
            "label": labels[apart.first],
            "other": labels[apart.second],
            "preserved": apart.preserved,
            "genes": texts,
        }
    )
    return table.sort_values("preserved", kind="stable", ignore_index=True)


def _axes(measured: MeasuredPanel, names: Any) -> tuple[list[str], Array]:
    """Return the axis with the largest contribution of each gene, named by genes, and its share."""
    shares = np.hstack(measured.losses_by_axis())
    of_genes = np.hstack([block.genes for block in measured.criterion.blocks])
    most = shares.argmax(axis=1)
    called = {
        axis: "/".join(names[np.argsort(-np.abs(of_genes[:, axis]))[:_NAMED_BY]])
        for axis in np.unique(most)
    }
    return [called[axis] for axis in most], shares[np.arange(len(most)), most]
