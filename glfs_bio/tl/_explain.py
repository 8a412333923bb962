"""Why each gene is in a panel, what can replace it, and why another gene is not in it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import columns, expression, results, summaries
from .._anndata import names as names_of
from .._anndata.tool import Result, tool
from ..criterion.panel import MIN_SCORE
from ..errors import Message, listed
from ._panel import find, must_haves, overridden, replacements
from ._standing import standing

if TYPE_CHECKING:
    from anndata import AnnData
    from numpy.typing import NDArray

    from .._anndata.names import Genes
    from .._anndata.target import Preserve as Target
    from .._typing import Array, Index
    from ..criterion.panel import MeasuredPanel, Pairs
    from ..labels import Labels
    from ..options import Preserve
    from ._panel import Found, Replacements

log = logging.getLogger(__name__)

#: Genes that a direction of the structure, or what tells two labels apart, is named by.
_NAMED_BY = 3
#: Most labels that a text names.
_LABELS = 3
#: State of the certificates of genes that had to be in, which are in every panel for that.
MUST_HAVE = "must-have"


@tool("explanation", summaries.explanation)
def explain_panel(
    adata: AnnData,
    panel: Any = "glfs",
    labels: str | None = None,
    *,
    genes: Any = None,
    n_substitutes: int = 3,
    exclude: Genes | None = None,
    layer: str | None = None,
    symbols: str | None = None,
    preserve: Preserve | Target | None = None,
    key_added: str | None = None,
    inplace: bool = True,
) -> Result:
    """Explain each gene of a panel: its role, what is lost without it, and what can replace it.

    With `genes` any gene is explained: its rank, what predicts it, and why it is not in the panel.
    A note names the genes that add nothing, such as must-haves that others replace.

    The substitution score compares a substitute with a second measurement of the gene, given all
    other genes of the panel.  The best substitute is therefore not always the most correlated gene.
    Each replaces one gene while all others stay.

    Parameters
    ----------
    <adata>
    panel : str, list or path, default "glfs"
        <panel>
    <labels> str, default None
    genes : str, list or path, default None
        Genes to explain that need not be in the panel: one name, names, a file, or a key, as of a
        panel.
    n_substitutes : int, default 3
        Maximum number of substitutes to list per gene.
    exclude : str, pattern or list, default None
        Genes that cannot be a substitute, as in :func:`~glfs_bio.pp.select_genes`.  Genes that the
        selection excluded, or with which its limits do not hold, cannot be one either.
    <layer of a panel>
    <symbols>
    <preserve>  Batches count as in the selection, and in their mean for a target that is named.
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
        - ``substitution_score``: its score, where 1 is as good as a second measurement of the gene;
          NaN without a substitute
        - ``acceptable``: whether the score is at least 0.5
        - ``loss_with_substitute``: preserved share that is lost with the substitute instead;
          negative if the panel is better with it
        - ``certificate`` and ``certificate_within``: those of the selection, see
          :func:`~glfs_bio.pp.select_genes`, if the panel is one that has them and the call replaces
          nothing of it; ``"must-have"`` for genes that had to be in
        - ``supports``: with `labels`, the labels whose cells express it more than others and on
          which at least 10 % of the contribution falls, and more than on other cells, with their
          shares
    ``.uns[key_added]["substitutes"]`` : DataFrame, at most `n_substitutes` rows per gene
        ``gene``; ``substitute``; ``rank``, 1 for the best substitute; ``substitution_score``,
        ``acceptable`` and ``loss_with_substitute`` as above.
    ``.uns[key_added]["genes"]`` : DataFrame, one row per gene of `genes`, if given; the table that
        is returned
        - ``gene``: name of the gene
        - ``selected``: whether it is in the panel
        - ``rank``: its rank in the selection; in another panel, the place where it stands, or would
          by what it adds; NaN if it was no candidate
        - ``why_not``: why it is not in the panel: what excluded it, limits that have no room for
          it, that it adds less, or, where the panel would be better with it in the place of
          another, that it was never the best next gene, or is not in the list; else ``""``
        - ``r2``: share of its structure that the panel predicts, or the other genes of the panel
        - ``predicted_by``: genes that account for most of it, with their shares
        - ``loss``: its contribution to the panel, as above; NaN for other genes
        - ``gain``: preserved share that it would add to the panel; NaN for genes of the panel
        - ``replaces``: gene in whose place it would cost least, whatever the constraints; not a
          gene that had to be in.  ``""`` for genes of the panel
        - ``price``: preserved share that is lost with it in that place; negative if the panel is
          better with it
        - ``expressed``, ``expressed_in``: as above
    ``.uns[key_added]["predictors"]`` : DataFrame, at most 3 rows per gene
        With `genes`: ``gene``; ``predictor``; ``share`` of the gene's structure.
    ``.uns[key_added]["n_candidates"]`` : int
        With `genes`: number of genes that could be selected.
    ``.uns[key_added]["expression"]`` : DataFrame, one row per gene and label
        With `labels`, of `genes` too: ``gene``; ``label``; ``share`` of the cells that express it;
        ``mean``; ``fold``, the mean of ``expm1`` compared with all other cells, of counts that of
        them.
    ``.uns[key_added]["support"]`` : float, shape (n_genes, n_labels)
        Share of the contribution of each gene of the panel that falls on the cells of each label.
    ``.uns[key_added]["labels"]`` : str, shape (n_labels,)
        Labels of the columns of ``support``.
    ``.uns[key_added]["pairs"]`` : DataFrame, one row per pair of labels, the worst separated first
        ``label`` and ``other``; ``preserved``, the preserved share of the distance between their
        means; ``genes``, the genes with the largest contribution to it.
    <params and versions>

    See Also
    --------
    extend_panel : Add genes to a panel, or replace several at once.
    prove_panel : Search for the best panel of this size.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=10)
    >>> table = glfs_bio.tl.explain_panel(adata, "glfs", "bulk_labels", inplace=False)
    >>> table.set_index("gene").loc["NKG7", "role"]
    'marker of CD56+ NK'
    >>> table = glfs_bio.tl.explain_panel(adata, genes="LYZ", inplace=False)
    >>> bool(table["selected"][0]), table["predicted_by"][0].split(" ")[0]
    (False, 'CST3')
    """
    checks.whole_number("n_substitutes", n_substitutes, at_least=1)
    groups = None if labels is None else columns.labels(adata, labels, "labels", at_least=2)
    rows = None
    if genes is not None:
        rows = names_of.panel(adata, genes, symbols=symbols, argument="genes").genes
    across = None if preserve is None else "mean"
    subject = find(adata, panel, symbols=symbols, preserve=preserve, layer=layer, across=across)
    barred = names_of.not_to_choose(adata, exclude, symbols=symbols)
    had_to = must_haves(adata, subject.named)
    why = explained(adata, subject, groups, barred=barred, had_to=had_to)
    content = {
        "table": why.table,
        "substitutes": _substitutes(adata, subject.genes, why.instead, n_substitutes),
        **why.of_labels,
    }
    if rows is None:
        return subject.result(adata, content)
    content |= standing(adata, subject, rows, why.instead.lost)
    where = expression.of_genes(adata, rows, groups, subject.layer)
    content["genes"] = content["genes"].assign(**_expressed(where, groups, len(rows)))
    if groups is not None and where is not None:
        tables = [content["expression"], where.table(adata.var_names.to_numpy()[rows])]
        content["expression"] = pd.concat(tables).drop_duplicates(
            ["gene", "label"], ignore_index=True
        )
    return subject.result(adata, content, returned="genes")


class Explanation(NamedTuple):
    """Why each gene of a panel is in it."""

    #: The table of :func:`explain_panel`
    table: pd.DataFrame
    #: What its record holds of labels
    of_labels: dict[str, Any]
    #: What can replace each gene, and where each is expressed
    instead: Replacements
    where: expression.Expression | None


def explained(
    adata: AnnData,
    panel: Found,
    groups: Labels | None,
    *,
    barred: NDArray[np.bool_],
    had_to: NDArray[np.bool_],
) -> Explanation:
    """Explain each gene: some rows of ``.var`` are no substitutes, some had to be in the panel."""
    genes, names = panel.genes, adata.var_names.to_numpy()
    where = expression.of_genes(adata, genes, groups, panel.layer)
    with panel.few_threads():
        instead = replacements(adata, panel, barred)
        axis, axis_share = _axes(panel.measured, names)
        preserved = panel.preserved
        supports = None if groups is None else _Supports.of(adata, panel, groups, where)
    table = pd.DataFrame({"gene": names[genes]})
    table["role"] = _roles(axis, instead.needless, had_to[genes], supports, where)
    table = table.assign(**_expressed(where, groups, len(genes)))
    table = table.assign(preserved=preserved, loss=instead.loss, axis=axis, axis_share=axis_share)
    best = _substitutes(adata, genes, instead, 1).set_index("gene").reindex(names[genes])
    table = table.assign(
        substitute=best["substitute"].fillna("").to_numpy(),
        substitution_score=best["substitution_score"].to_numpy(),
        acceptable=best["acceptable"].eq(True).to_numpy(),
        loss_with_substitute=best["loss_with_substitute"].to_numpy(),
    )
    table = table.assign(**_certificates(adata, panel, had_to))
    _warn_of_needless(names[genes], instead.needless, had_to[genes])
    if supports is None:
        return Explanation(table, {}, instead, where)
    table["supports"] = [
        "" if needless else supports.text(gene) for gene, needless in enumerate(instead.needless)
    ]
    of_labels: dict[str, Any] = {
        "support": supports.shares,
        "labels": np.array(supports.labels, dtype=object),
        "pairs": _pairs(supports.apart, names[genes], np.array(supports.labels, dtype=object)),
    }
    if where is not None:
        of_labels["expression"] = where.table(names[genes])
    return Explanation(table, of_labels, instead, where)


def _expressed(
    where: expression.Expression | None, groups: Labels | None, n_genes: int
) -> dict[str, Any]:
    """Return the columns that say where genes are expressed."""
    shares: dict[str, Any] = {"expressed": np.nan if where is None else where.shares}
    if groups is None:
        return shares
    texts = [where.text(gene, _LABELS) if where is not None else "" for gene in range(n_genes)]
    return shares | {"expressed_in": texts}


def _substitutes(adata: AnnData, genes: Index, instead: Replacements, n: int) -> pd.DataFrame:
    """Return at most `n` substitutes of each gene of a panel, the best first."""
    names = adata.var_names.to_numpy()
    pairs = [(row, gene) for row in range(len(genes)) for gene in instead.best(row, n)]
    rows, others = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    table = pd.DataFrame({"gene": names[genes[rows]], "substitute": names[others]})
    score = instead.score[rows, others]
    return table.assign(
        rank=table.groupby("gene").cumcount() + 1,
        substitution_score=score,
        acceptable=score >= MIN_SCORE,
        loss_with_substitute=instead.lost[rows, others],
    )


def _certificates(adata: AnnData, panel: Found, had_to: NDArray[np.bool_]) -> dict[str, Any]:
    """Return what the selection says of its genes; nothing where the call replaces its request."""
    key = panel.named.key
    if key is None or "tolerance" not in adata.uns.get(key, ()):
        return {}
    if overridden(results.request_of(adata, key), panel.basis.request):
        return {}
    states = {name: adata.var[f"{key}_{name}"].astype(str) for name in results.CERTIFICATES}
    return {name: certified(state, had_to)[panel.genes] for name, state in states.items()}


def certified(states: pd.Series, had_to: NDArray[np.bool_]) -> NDArray[Any]:
    """Return certificates in which genes that had to be in do not count as indispensable."""
    return np.where(had_to, MUST_HAVE, states.to_numpy(dtype=object))


def _warn_of_needless(names: Array, needless: NDArray[np.bool_], had_to: NDArray[np.bool_]) -> None:
    """Name the genes that add nothing."""
    genes = [
        f"{name} (must-have)" if forced else name
        for name, forced in zip(names[needless], had_to[needless], strict=True)
    ]
    if genes:
        log.warning(Message(f"Genes that add nothing to the panel: {listed(genes, len(genes))}."))


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
        cls, adata: AnnData, panel: Found, groups: Labels, where: expression.Expression | None
    ) -> Self:
        """Return what a panel does for labels."""
        genes, codes, n_labels = panel.genes, groups.codes, len(groups.categories)
        above = (
            where.above
            if where is not None
            else expression.above(adata, genes, groups, panel.layer)
        )
        of_sets = [codes[rows] for rows in panel.basis.structure.rows]
        return cls(
            labels=groups.names,
            cells=np.bincount(codes[codes >= 0], minlength=n_labels) / max(len(codes), 1),
            shares=panel.measured.supports(of_sets, n_labels),
            above=above,
            apart=panel.measured.pairs(of_sets, n_labels),
        )

    def text(self, gene: int) -> str:
        """Return the labels that a gene supports more than others, the largest share first."""
        shares = self.shares[gene]
        is_named = self.above[gene] & (shares >= expression.LEAST) & (shares > self.cells)
        order = [code for code in np.argsort(-shares, kind="stable") if is_named[code]]
        return ", ".join(
            f"{self.labels[code]} ({100 * shares[code]:.0f} %)" for code in order[:_LABELS]
        )

    def separated_by(self, gene: int) -> str:
        """Return the pair of labels that a gene separates most, as text, or ``""``."""
        work = np.nan_to_num(self.apart.work[:, gene])
        if not len(work) or work.max() < expression.LEAST:
            return ""
        pair = int(work.argmax())
        first, second = self.apart.first[pair], self.apart.second[pair]
        return f"separates {self.labels[first]} from {self.labels[second]}"


def _roles(
    axes: list[str],
    needless: NDArray[np.bool_],
    had_to: NDArray[np.bool_],
    supports: _Supports | None,
    where: expression.Expression | None,
) -> list[str]:
    """Return what each gene does for the panel, in a few words."""
    roles = []
    for gene, axis in enumerate(axes):
        label = "" if where is None else where.marker_of(gene)
        pair = "" if supports is None else supports.separated_by(gene)
        role = f"marker of {label}" if label else pair or f"axis {axis}"
        role = "adds nothing" if needless[gene] else role
        roles.append(f"{MUST_HAVE}, {role}" if had_to[gene] else role)
    return roles


def _pairs(pairs: Pairs, genes: Array, labels: Array) -> pd.DataFrame:
    """Return one row per pair of labels, the worst separated first."""
    texts = []
    for work in pairs.work:
        order = [gene for gene in np.argsort(-work)[:_NAMED_BY] if work[gene] > 0]
        texts.append(", ".join(f"{genes[gene]} ({100 * work[gene]:.0f} %)" for gene in order))
    table = pd.DataFrame(
        {
            "label": labels[pairs.first],
            "other": labels[pairs.second],
            "preserved": pairs.preserved,
            "genes": texts,
        }
    )
    return table.sort_values("preserved", kind="stable", ignore_index=True)


def _axes(measured: MeasuredPanel, names: Array) -> tuple[list[str], Array]:
    """Return the axis with the largest contribution of each gene, named by genes, and its share."""
    shares = np.hstack(measured.losses_by_axis())
    of_genes = np.hstack([block.genes for block in measured.criterion.blocks])
    largest = shares.argmax(axis=1)
    titles = {
        axis: "/".join(names[np.argsort(-np.abs(of_genes[:, axis]))[:_NAMED_BY]])
        for axis in np.unique(largest)
    }
    return [titles[axis] for axis in largest], shares[np.arange(len(largest)), largest]
