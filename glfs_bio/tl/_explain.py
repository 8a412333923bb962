"""Why each gene is in a panel: its role, where it is expressed, and its contribution."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import columns, expression, results, stale
from .._anndata import names as names_of
from .._docs import documented
from .._progress import with_bar
from ..errors import Message, listed
from ..solvers.certificate import TOLERANCE
from ._panel import find, free_for, must_haves, overridden, replacements
from ._substitutes import listed_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anndata import AnnData
    from numpy.typing import NDArray

    from .._anndata.names import Genes
    from .._anndata.target import Preserve as Given
    from .._typing import Array, Index
    from ..criterion.panel import MeasuredPanel, Pairs
    from ..labels import Labels
    from ..options import Preserve
    from ..solvers.places import FreePlaces
    from ._panel import Found, Replacements

log = logging.getLogger(__name__)

#: Genes that a direction of the structure, or what tells two labels apart, is named by.
_NAMED_BY = 3
#: Stands for all genes among those that may be in a place.
ANY_GENE = "any gene"


@with_bar
@documented
def explain_panel(
    adata: AnnData,
    panel: Any = "glfs",
    labels: str | None = None,
    *,
    n_labels: int = 3,
    tolerance: float = TOLERANCE,
    exclude: Genes | None = None,
    layer: str | None = None,
    symbols: str | None = None,
    preserve: Preserve | Given | None = None,
    key_added: str | None = None,
    inplace: bool = True,
) -> pd.DataFrame | None:
    """Explain each gene of a panel: where it is expressed, its role, and what is lost without it.

    A note names the genes that add nothing, such as must-haves that the others replace.  For places
    that are free, ``alternatives`` has the genes that may stand there.

    Parameters
    ----------
    <adata>
    panel : str, list or path, default "glfs"
        <panel>
    <labels> str, default None
    n_labels : int, default 3
        Maximum number of labels to name per gene.
    tolerance : float, default 0.005
        Share of what the panel preserves that ``alternatives`` may lose, all together.
    exclude : str, pattern or list, default None
        Genes that cannot be a substitute, as in :func:`substitutes`.
    <layer of a panel>
    <symbols>
    <preserve>
    <key_added of a panel> explanation
    <inplace>

    Returns
    -------
    None, or with ``inplace=False`` the table.  Written:

    ``.uns[key_added]["table"]`` : DataFrame, one row per gene in the order of the panel
        - ``gene``: name of the gene
        - ``role``: what it does for the panel: ``marker of`` a label, as ``per_type`` of
          :class:`~glfs_bio.Limits` counts markers; ``separates`` two labels; else ``axis``, which
          follows; or ``adds nothing``.  Genes that had to be in are ``must-have``.
        - ``expressed``: share of all cells that express it; NaN if the matrix has negative values
        - ``expressed_in``: with `labels`, those of which at least 10 % of the cells express it, the
          largest share first, with the mean there compared with all other cells
        - ``preserved``: preserved share of the genes up to this one
        - ``loss``: contribution, the preserved share that is lost without the gene
        - ``axis``: axis of the structure with the largest contribution, named by its genes
        - ``axis_share``: share of the contribution along this axis
        - ``substitute``: best substitute; ``""`` if the gene adds nothing, or none can replace it
        - ``substitution_score``: its score, see :func:`substitutes`; NaN without a substitute
        - ``acceptable``: whether the score is at least 0.5
        - ``loss_with_substitute``: preserved share that is lost with the substitute instead
        - ``alternatives``: up to 10 genes that may stand in its place, the best first, or
          ``any gene``, with which its place may also stay empty, or hold a gene of nearly one
          sequence with another; ``""`` if the place is not free.
          Any choice of one gene for each place, or of the gene itself, all at once, loses at most
          `tolerance`: this is proven, not sampled.  No gene is offered for two places.  Genes that
          had to be in, and genes that limits tie together, stay; the choices are within the limits.
          Panels for ``across="worst"``, and for a platform with failures or a spread, have none.
        - ``certificate`` and ``certificate_within``: those of the selection, see
          :func:`~glfs_bio.pp.select_genes`, if the panel is one that has them and the call replaces
          nothing of it
        - ``supports``: with `labels`, the labels whose cells express it more than others and on
          which at least 10 % of the contribution falls, and more than on other cells, with their
          shares
    ``.uns[key_added]["tolerance"]`` : float
        `tolerance`.
    ``.uns[key_added]["joint_loss"]`` : float
        Share of what the panel preserves that any choice of ``alternatives`` loses at most; NaN
        for panels that have none offered.
    ``.uns[key_added]["expression"]`` : DataFrame, one row per gene and label
        With `labels`: ``gene``; ``label``; ``share`` of the cells that express it; ``mean``;
        ``fold``, the mean of ``expm1`` compared with all other cells, of counts that of them.
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
    explain_gene : Explain why a gene is in a panel, or is not.
    substitutes : List the substitutes of each gene.
    markers : Find the markers of each label in a panel.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=10)
    >>> table = glfs_bio.tl.explain_panel(adata, "glfs", "bulk_labels", inplace=False)
    >>> table.set_index("gene").loc["NKG7", "role"]
    'marker of CD56+ NK'
    """
    checks.whole_number("n_labels", n_labels, at_least=1)
    checks.share("tolerance", tolerance)
    key_added = results.key_for(adata, "explanation", key_added, results.key_of(adata, panel))
    checks.flags(inplace=inplace)
    known = None if labels is None else columns.labels(adata, labels, "labels", at_least=2)
    found = find(adata, panel, symbols=symbols, preserve=preserve, layer=layer)
    barred = names_of.not_to_choose(adata, exclude, symbols=symbols)
    had_to = must_haves(adata, found.named)
    why = explained(
        adata, found, known, n_labels, barred=barred, had_to=had_to, tolerance=tolerance
    )
    if not inplace:
        return why.table
    entry = results.envelope(
        "explanation",
        {"labels": labels, "tolerance": tolerance, **found.basis.record()},
        stale.made_of(adata, found.layer, [found.named]),
        table=why.table,
        tolerance=tolerance,
        joint_loss=np.nan if why.free is None else why.free.lost,
        **why.of_labels,
    )
    results.store(adata, key_added, entry)
    return None


class Explanation(NamedTuple):
    """Why each gene of a panel is in it."""

    #: The table of :func:`explain_panel`
    table: pd.DataFrame
    #: What its record holds of labels
    of_labels: dict[str, Any]
    #: What can replace each gene, and where each is expressed
    instead: Replacements
    where: expression.Expression | None
    #: Which genes may stand where, all at once; None where this is not known
    free: FreePlaces | None


def explained(
    adata: AnnData,
    found: Found,
    known: Labels | None,
    n_labels: int,
    *,
    barred: NDArray[np.bool_],
    had_to: NDArray[np.bool_],
    tolerance: float = TOLERANCE,
    stay: Index | None = None,
) -> Explanation:
    """Explain each gene: some rows of ``.var`` are no substitutes, some had to be in the panel.

    Others `stay` where they are, as what the panel is added to.
    """
    genes, names = found.genes, adata.var_names.to_numpy()
    where = expression.of_genes(adata, genes, known, found.layer)
    with found.few_threads():
        instead = replacements(adata, found, genes, barred)
        fixed = had_to if stay is None else had_to | np.isin(np.arange(adata.n_vars), stay)
        free = free_for(adata, found, genes, instead, tolerance, stay=fixed)
        axis, share = _axes(found.measured, names)
        preserved = found.preserved
        supports = None if known is None else _Supports.of(adata, found, known, where)
    best = listed_of(names, genes, instead, 1)
    table = pd.DataFrame({"gene": names[genes]})
    table["role"] = _roles(axis, instead.needless, had_to[genes], supports, where)
    table["expressed"] = np.nan if where is None else where.shares
    if known is not None:
        table["expressed_in"] = [
            "" if where is None else where.text(place, n_labels) for place in range(len(genes))
        ]
    table = table.assign(preserved=preserved, loss=instead.loss, axis=axis, axis_share=share)
    of_best = ["substitute", "substitution_score", "acceptable", "loss_with_substitute"]
    table[of_best] = best[of_best]
    table["alternatives"] = _alternatives(genes, free, names)
    table = table.assign(**_certificates(adata, found))
    idle = genes[instead.needless]
    _tell_of_needless(names[idle], had_to[idle])
    if supports is None:
        return Explanation(table, {}, instead, where, free)
    table["supports"] = [
        "" if needless else supports.text(place, n_labels)
        for place, needless in enumerate(instead.needless)
    ]
    of_labels: dict[str, Any] = {
        "support": supports.shares,
        "labels": np.array(supports.labels, dtype=object),
        "pairs": _pairs(supports.apart, names[genes], np.array(supports.labels, dtype=object)),
    }
    if where is not None:
        of_labels["expression"] = where.table(names[genes])
    return Explanation(table, of_labels, instead, where, free)


def _alternatives(genes: Index, free: FreePlaces | None, names: Any) -> list[str]:
    """Which genes may stand in each place, all at once, as text."""
    found = {
        place.gene: ANY_GENE if place.anything else ", ".join(names[place.others])
        for place in (() if free is None else free.places)
    }
    return [found.get(int(gene), "") for gene in genes]


def _certificates(adata: AnnData, found: Found) -> dict[str, Any]:
    """What the selection says of its genes; nothing where the call evaluates them otherwise."""
    key = found.named.key
    if key is None or "tolerance" not in adata.uns.get(key, ()):
        return {}
    if overridden(results.request_of(adata, key), found.basis.request):
        return {}
    columns = {name: adata.var[f"{key}_{name}"] for name in results.CERTIFICATES}
    return {name: column.astype(str).to_numpy()[found.genes] for name, column in columns.items()}


def _tell_of_needless(genes: NDArray[Any], had_to: NDArray[np.bool_]) -> None:
    """Name the genes that add nothing."""
    if len(genes):
        named = [
            f"{gene} (must-have)" if forced else gene
            for gene, forced in zip(genes, had_to, strict=True)
        ]
        log.warning(Message(f"Genes that add nothing to the panel: {listed(named, len(named))}."))


class _Supports(NamedTuple):
    """Which labels each gene of a panel supports, and which it separates."""

    labels: list[str]
    #: Share of all cells of each label
    cells: Array
    #: Share of each gene's contribution on the cells of each label, shape (n_genes, n_labels)
    shares: Array
    #: Whether the cells of a label express a gene more than others: its absence supports none
    above: NDArray[np.bool_]
    apart: Pairs

    @classmethod
    def of(
        cls, adata: AnnData, found: Found, known: Labels, where: expression.Expression | None
    ) -> Self:
        """Return what a panel does for labels."""
        genes = found.genes
        above = expression.above(adata, genes, known, found.layer) if where is None else where.above
        codes, n_labels = known.codes, len(known.categories)
        of_sets = [codes[rows] for rows in found.basis.structure.rows]
        return cls(
            known.names,
            np.bincount(codes[codes >= 0], minlength=n_labels) / max(len(codes), 1),
            found.measured.supports(of_sets, n_labels),
            above,
            found.measured.pairs(of_sets, n_labels),
        )

    def text(self, gene: int, most: int) -> str:
        """Return the labels that a gene supports more than others, the largest share first."""
        shares = self.shares[gene]
        order = [
            code
            for code in np.argsort(-shares, kind="stable")
            if self.above[gene, code]
            and shares[code] >= expression.LEAST
            and shares[code] > self.cells[code]
        ]
        return ", ".join(
            f"{self.labels[code]} ({100 * shares[code]:.0f} %)" for code in order[:most]
        )

    def separated_by(self, gene: int) -> str:
        """Return the pair of labels that a gene separates most, as text, or ``""``."""
        work = np.nan_to_num(self.apart.work[:, gene])
        if not len(work) or work.max() < expression.LEAST:
            return ""
        pair = int(work.argmax())
        one, other = self.apart.first[pair], self.apart.second[pair]
        return f"separates {self.labels[one]} from {self.labels[other]}"


def _roles(
    axis: Sequence[str],
    needless: NDArray[np.bool_],
    had_to: NDArray[np.bool_],
    supports: _Supports | None,
    where: expression.Expression | None,
) -> list[str]:
    """What each gene does for the panel, in a few words."""
    roles = []
    for place, along in enumerate(axis):
        marked = "" if where is None else where.marker_of(place)
        apart = "" if supports is None else supports.separated_by(place)
        role = f"marker of {marked}" if marked else apart or f"axis {along}"
        role = "adds nothing" if needless[place] else role
        roles.append(f"must-have, {role}" if had_to[place] else role)
    return roles


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
