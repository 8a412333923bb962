"""Why each gene is in a panel, what can replace it, and why another gene is not in it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import columns, expression, read, results, summaries
from .._anndata import names as names_of
from .._anndata.tool import Result, tool
from ..data.threads import few_threads
from ..errors import listed, note
from ..measures.genes import imputed, predictors
from ..solvers.panel import adds_nothing
from ._panel import are_varying, find, find_substitutes, must_haves, overridden, with_shares

if TYPE_CHECKING:
    from anndata import AnnData
    from numpy.typing import NDArray

    from .._anndata.expression import Expression
    from .._anndata.names import Genes
    from .._anndata.target import Preserve as Target
    from .._typing import Array, Index
    from ..criterion.panel import MeasuredPanel, Pairs
    from ..options import Preserve
    from ..solvers.constraints import Rows
    from ._panel import GenePanel

#: Genes that a direction of the structure, or what tells two labels apart, is named by.
_NAMED_BY = 3
#: Genes of the panel that a gene is predicted by, and the least share of R² of one.
_PREDICTORS, _LEAST = 3, 0.01
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
    <labels>
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
    <preserve>
        Batches count as in the selection, and in their mean for a target that is named.
    <key_added by a panel> _explanation
    <inplace>

    Returns
    -------
    None, or with ``inplace=False`` the table.  Written:

    ``.uns[key_added]["table"]`` : DataFrame, one row per gene in the order of the panel
        - ``gene``: name of the gene
        - ``role``: what it does for the panel: ``marker of`` a label, as ``per_type`` of
          :class:`~glfs_bio.Limits` counts markers; ``separates`` two labels; ``highest in`` one;
          without labels ``axis``, which follows; or ``adds nothing``.  Genes that had to be in are
          ``must-have``.
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
    ``.uns[key_added]["genes"]`` : DataFrame, one row per gene of `genes`, which is returned
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
        them.  Share and fold are NaN where the matrix has negative values.
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
    must_have, names = must_haves(adata, subject.named), adata.var_names.to_numpy()
    of_panel, is_must_have = names[subject.genes], must_have[subject.genes]
    where = expression.of_genes(adata, subject.genes, groups, subject.basis.layer)
    with few_threads(subject.basis.criterion.rank):
        substitutes, lost = find_substitutes(adata, subject, barred, n_substitutes)
        axis, axis_share = _axes(subject.measured, names)
        roles = [f"axis {title}" for title in axis]
        if groups is not None:
            of_sets = [groups.codes[cells] for cells in subject.basis.structure.rows]
            pairs = subject.measured.pairs(of_sets, len(groups.names))
            roles = [_role(gene, pairs, where) for gene in range(len(of_panel))]
    needless = adds_nothing(subject.losses)
    best = substitutes[substitutes["rank"] == 1].drop(columns="rank")
    table = pd.DataFrame({"gene": of_panel, "role": np.where(needless, "adds nothing", roles)})
    table.loc[is_must_have, "role"] = f"{MUST_HAVE}, " + table["role"]
    table = table.assign(**_expressed(where), preserved=subject.preserved, loss=subject.losses)
    table = table.assign(axis=axis, axis_share=axis_share).merge(best, how="left", on="gene")
    table["substitute"] = table["substitute"].fillna("")
    table["acceptable"] = table["acceptable"].eq(True)
    table = table.assign(**_certificates(adata, subject, must_have))
    if needless.any():
        texts = of_panel + np.where(is_must_have, " (must-have)", "").astype(object)
        note(f"Genes that add nothing to the panel: {listed(texts[needless], len(texts))}.")
    content: dict[str, Any] = {"table": table, "substitutes": substitutes}
    if groups is not None:
        label_names = np.array(groups.names, dtype=object)
        content |= {"labels": label_names, "pairs": _pairs(pairs, of_panel, label_names)}
        if adata.n_obs:
            shares = subject.measured.supports(of_sets, len(groups.names))
            table["supports"] = np.where(needless, "", _supports(shares, where))
            content["support"] = shares
        content["expression"] = where.table(of_panel)
    if rows is not None:
        where = expression.of_genes(adata, rows, groups, subject.basis.layer)
        content |= _standing(adata, subject, rows, lost)
        content["genes"] = content["genes"].assign(**_expressed(where))
        if groups is not None:
            both = pd.concat([content["expression"], where.table(names[rows])])
            content["expression"] = both.drop_duplicates(["gene", "label"], ignore_index=True)
    return subject.result(adata, content, returned="table" if rows is None else "genes")


def _expressed(where: Expression) -> dict[str, Any]:
    """Return the columns that say where genes are expressed."""
    expressed: dict[str, Any] = {"expressed": where.shares[:, 0]}
    if where.labels:
        expressed["expressed_in"] = [where.text(k, _LABELS) for k in range(len(where.shares))]
    return expressed


def _certificates(adata: AnnData, panel: GenePanel, must_have: NDArray[np.bool_]) -> dict[str, Any]:
    """Return what the selection says of its genes; nothing where the call replaces its request."""
    key = panel.named.key
    is_certified = key is not None and "tolerance" in adata.uns.get(key, ())
    if not is_certified or overridden(results.request_of(adata, str(key)), panel.basis.request):
        return {}
    states = {name: results.read_column(adata, key, name) for name in results.CERTIFICATES}
    return {name: certified(state, must_have)[panel.genes] for name, state in states.items()}


def certified(states: pd.Series, must_have: NDArray[np.bool_]) -> NDArray[Any]:
    """Return certificates in which genes that had to be in do not count as indispensable."""
    return np.where(must_have, MUST_HAVE, states.to_numpy(dtype=object))


def _role(gene: int, pairs: Pairs, where: Expression) -> str:
    """Return the label that a gene marks, else the two it separates most, else where it is most."""
    if where.marker_of(gene):
        return f"marker of {where.marker_of(gene)}"
    work = np.nan_to_num(pairs.work[:, gene])
    pair = int(work.argmax())
    first, second = where.labels[pairs.first[pair]], where.labels[pairs.second[pair]]
    if work[pair] >= expression.LEAST:
        return f"separates {first} from {second}"
    return f"highest in {where.labels[where.means[gene, 1:].argmax()]}"


def _supports(shares: Array, where: Expression) -> NDArray[Any]:
    """Return the labels that each gene supports and that express it more than others."""
    by_chance = where.sizes[1:] / where.sizes[0]
    is_supported = where.above & (shares >= expression.LEAST) & (shares > by_chance)
    texts = []
    for of_gene, is_shown in zip(shares, is_supported, strict=True):
        order = [code for code in np.argsort(-of_gene, kind="stable") if is_shown[code]]
        texts.append(with_shares(where.labels, of_gene, order[:_LABELS]))
    return np.array(texts, dtype=object)


def _pairs(pairs: Pairs, genes: Array, labels: Array) -> pd.DataFrame:
    """Return one row per pair of labels, the worst separated first."""
    texts = []
    for work in pairs.work:
        order = [gene for gene in np.argsort(-work)[:_NAMED_BY] if work[gene] > 0]
        texts.append(with_shares(genes, work, order))
    ends = {"label": labels[pairs.first], "other": labels[pairs.second]}
    table = pd.DataFrame({**ends, "preserved": pairs.preserved, "genes": texts})
    return table.sort_values("preserved", kind="stable", ignore_index=True)


def _axes(measured: MeasuredPanel, names: Array) -> tuple[list[str], Array]:
    """Return the axis with the largest contribution of each gene, named by genes, and its share."""
    shares = np.hstack(measured.losses_by_axis())
    of_genes = np.hstack([block.genes for block in measured.criterion.error_blocks])
    largest = shares.argmax(axis=1)
    titles = {
        axis: "/".join(names[np.argsort(-np.abs(of_genes[:, axis]))[:_NAMED_BY]])
        for axis in np.unique(largest)
    }
    return [titles[axis] for axis in largest], shares[np.arange(len(largest)), largest]


def _standing(adata: AnnData, panel: GenePanel, genes: Index, lost: Array) -> dict[str, Any]:
    """Return tables of genes and of what predicts each; `lost` is that of the substitutes."""
    names, sets = adata.var_names.to_numpy(), panel.basis.structure.sets
    limits = panel.basis.limits(adata)
    reasons = _reasons(adata, panel, limits)
    ranks = _ranks(adata, panel, reasons)
    are_alike = names_of.are_alike(adata, panel.genes, panel.basis.request)
    for twin in np.flatnonzero(are_alike).tolist():
        reasons.setdefault(twin, "it is of nearly one sequence with a gene of the panel")
    selected = np.isin(genes, panel.genes)
    lost = np.where(must_haves(adata, panel.named)[panel.genes, None], np.inf, lost)[:, genes]
    best, price = lost.argmin(axis=0), lost.min(axis=0)
    price = np.where(np.isinf(price), np.nan, price)
    r2, predicted_by, predicting_pairs, why_not = [], [], [], []
    with few_threads(panel.basis.criterion.rank):
        gains = panel.measured.gains()[genes]
        r2_outside = imputed(sets, panel.genes)
        for gene, is_in, would_gain in zip(genes.tolist(), selected, price < 0, strict=True):
            predicting = panel.genes[panel.genes != gene]
            r2.append((imputed(sets, predicting) if is_in else r2_outside)[gene])
            shares = predictors(sets, predicting, np.array([gene]))[0]
            order = [k for k in np.argsort(-shares)[:_PREDICTORS] if shares[k] >= _LEAST]
            predicted_by.append(with_shares(names[predicting], shares, order))
            predicting_pairs += [(names[gene], names[predicting[k]], shares[k]) for k in order]
            reason = reasons.get(gene) or _why_not(panel, gene, limits, would_gain=would_gain)
            why_not.append("" if is_in else reason)
    losses = pd.Series(panel.losses, panel.genes).reindex(genes).to_numpy()
    replaces = np.where(np.isnan(price), "", names[panel.genes[best]])
    table = pd.DataFrame({"gene": names[genes], "selected": selected, "rank": ranks[genes]})
    table = table.assign(why_not=why_not, r2=r2, predicted_by=predicted_by, loss=losses)
    table = table.assign(gain=np.where(selected, np.nan, gains), replaces=replaces, price=price)
    of_panel = pd.DataFrame(predicting_pairs, columns=["gene", "predictor", "share"])
    return {"genes": table, "predictors": of_panel, "n_candidates": int(np.isfinite(ranks).sum())}


def _ranks(adata: AnnData, panel: GenePanel, reasons: dict[int, str]) -> Array:
    """Return the ranks of all genes: of the selection, or by what they add to the panel."""
    if panel.named.key is not None:
        return np.asarray(results.read_column(adata, panel.named.key, "rank"))
    ranks = np.full(adata.n_vars, np.nan)
    outside = np.setdiff1d(np.arange(adata.n_vars), [*panel.genes, *reasons])
    outside = outside[np.argsort(-panel.measured.gains()[outside], kind="stable")]
    order = np.append(panel.genes, outside)
    ranks[order] = np.arange(1, len(order) + 1)
    return ranks


def _reasons(adata: AnnData, panel: GenePanel, rows: Rows | None) -> dict[int, str]:
    """Return why genes cannot be in a panel, by rows of ``.var``; of several reasons the first."""
    request, basis = panel.basis.request, panel.basis
    lookup = names_of.Lookup(adata, request.symbols)
    groups: list[tuple[Any, str]] = [(read.controls(adata), "it is a control")]
    for item in names_of.together(adata, request.exclude, symbols=request.symbols) or ():
        how = f"by the {'column' if item in lookup.flags else 'family'} {item}"
        if isinstance(item, re.Pattern):
            how = f"by the pattern {item.pattern}"
        elif lookup.of(item):
            how = "by name"
        groups.append((lookup.mask([item], "exclude", "ignore")[0], f"it is excluded {how}"))
    ignored = names_of.not_to_choose(adata, None, ignore=basis.structure.spec.ignore)
    groups.append((ignored, "its variation is ignored"))
    if basis.detection.orderable is not None:
        groups.append((~basis.detection.orderable, "it cannot be ordered for the platform"))
    if rows is not None:
        for gene in np.flatnonzero(~rows.allowed).tolist():
            over = _exceeded(rows, gene, np.zeros_like(rows.upper))
            groups.append((np.arange(adata.n_vars) == gene, f"it is ruled out by limits ({over})"))
    groups.append((~are_varying(basis.criterion), "it does not vary"))
    if panel.named.key is not None:
        scores = results.read_column(adata, panel.named.key, "score")
        groups.append((scores.isna(), "it was no candidate"))
    reasons: dict[int, str] = {}
    for genes, reason in reversed(groups):
        reasons |= dict.fromkeys(np.flatnonzero(genes).tolist(), reason)
    return reasons


def _why_not(panel: GenePanel, gene: int, rows: Rows | None, *, would_gain: bool) -> str:
    """Return why a gene that can be in a panel is not, though it may gain in place of another."""
    if rows is not None and not rows.within(rows.sums(panel.genes))[gene]:
        return f"limits leave no room for it ({_exceeded(rows, gene, rows.sums(panel.genes))})"
    if not would_gain:
        return "it adds less than the genes of the panel"
    if panel.named.key is None:
        return "it is not in the list"
    if panel.basis.request.ranker.by_criterion:
        return "it was not the best next gene at any place"
    return "it ranks after the genes of the panel"


def _exceeded(rows: Rows, gene: int, used: Array) -> str:
    """Return the names of the limits that a gene would break."""
    over = rows.sums([gene]) > rows.most - used
    return ", ".join(np.compress(over, rows.names))
