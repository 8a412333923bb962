"""How any genes stand to a panel: their rank, what predicts them, and why they are not in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._anndata import alike, read
from .._anndata import names as names_of
from ..measures.genes import imputed, predictors
from ._panel import must_haves

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anndata import AnnData
    from numpy.typing import NDArray

    from .._typing import Array, Index
    from ..solvers.constraints import Rows
    from ._panel import Found

#: Genes of the panel that a gene is predicted by, and the least share of R² of one.
_PREDICTORS, _LEAST = 3, 0.01


def standing(adata: AnnData, panel: Found, genes: Index, lost: Array) -> dict[str, Any]:
    """Return how genes stand to a panel: tables of them and of what predicts each.

    `lost` is what is lost with each gene (columns) in the place of one of the panel.
    """
    names, sets = adata.var_names.to_numpy(), panel.basis.structure.sets
    obstacles = _Obstacles.of(adata, panel)
    ranks = _ranks(adata, panel, obstacles.reasons)
    lost = np.where(must_haves(adata, panel.named)[panel.genes, None], np.inf, lost)
    with panel.few_threads():
        gains = panel.measured.gains()
        r2 = imputed(sets, panel.genes).of_structure
    losses = dict(zip(panel.genes.tolist(), panel.losses, strict=True))
    rows, of_panel = [], []
    for gene in genes.tolist():
        predicting = panel.genes[panel.genes != gene]
        selected, best = gene in panel.genes, int(lost[:, gene].argmin())
        price = np.nan if selected or np.isinf(lost[best, gene]) else float(lost[best, gene])
        shares = predictors(sets, predicting, np.array([gene]))[0]
        order = [column for column in np.argsort(-shares)[:_PREDICTORS] if shares[column] >= _LEAST]
        of_panel += [(names[gene], names[predicting[column]], shares[column]) for column in order]
        texts = [f"{names[predicting[column]]} ({100 * shares[column]:.0f} %)" for column in order]
        rows.append(
            {
                "gene": names[gene],
                "selected": selected,
                "rank": ranks[gene],
                "why_not": "" if selected else obstacles.of_gene(gene, would_gain=price < 0),
                "r2": float(imputed(sets, predicting).of_structure[gene] if selected else r2[gene]),
                "predicted_by": ", ".join(texts),
                "loss": losses.get(gene, np.nan),
                "gain": np.nan if selected else float(gains[gene]),
                "replaces": "" if np.isnan(price) else names[panel.genes[best]],
                "price": price,
            }
        )
    return {
        "genes": pd.DataFrame(rows),
        "predictors": pd.DataFrame(of_panel, columns=["gene", "predictor", "share"]),
        "n_candidates": int(np.isfinite(ranks).sum()),
    }


def _ranks(adata: AnnData, panel: Found, reasons: dict[int, str]) -> Array:
    """Return the ranks of all genes: of the selection, or by what they add to the panel."""
    if panel.named.key is not None:
        return np.asarray(adata.var[f"{panel.named.key}_rank"], dtype=float)
    ranks = np.full(adata.n_vars, np.nan)
    outside = np.setdiff1d(np.arange(adata.n_vars), [*panel.genes, *reasons])
    outside = outside[np.argsort(-panel.measured.gains()[outside], kind="stable")]
    order = np.append(panel.genes, outside)
    ranks[order] = np.arange(1, len(order) + 1)
    return ranks


@dataclass(frozen=True)
class _Obstacles:
    """Why genes are not in a panel."""

    panel: Found
    #: Texts by row of ``.var``, of genes that cannot be in it
    reasons: dict[int, str]
    rows: Rows | None
    #: Whether each gene is of nearly one sequence with one of the panel
    twins: NDArray[np.bool_]

    @classmethod
    def of(cls, adata: AnnData, panel: Found) -> _Obstacles:
        """Return what excludes genes; of several reasons the first."""
        request, basis = panel.basis.request, panel.basis
        lookup = names_of.Lookup(adata, request.symbols)
        ignored = names_of.not_to_choose(adata, None, ignore=basis.structure.spec.ignore)
        constant = np.all([cells.variance <= 0 for cells in basis.structure.sets], axis=0)
        rows = basis.limits(adata)
        groups: list[tuple[Iterable[int], str]] = [
            (np.flatnonzero(read.controls(adata)), "it is a control")
        ]
        for item in names_of.together(adata, request.exclude, symbols=request.symbols) or ():
            groups.append((lookup.rows(item) or (), f"it is excluded {_by(item, lookup)}"))
        groups.append((np.flatnonzero(ignored), "its variation is ignored"))
        if basis.detection.orderable is not None:
            dark = np.flatnonzero(~basis.detection.orderable)
            groups.append((dark, "it cannot be ordered for the platform"))
        if rows is not None:
            for gene in np.flatnonzero(~rows.allowed).tolist():
                limits = _exceeded(rows, gene, np.zeros_like(rows.upper))
                groups.append(([gene], f"it is ruled out by limits ({limits})"))
        groups.append((np.flatnonzero(constant), "it does not vary"))
        if panel.named.key is not None:
            untested = adata.var[f"{panel.named.key}_score"].isna()
            groups.append((np.flatnonzero(untested), "it was no candidate"))
        reasons: dict[int, str] = {}
        for genes, reason in groups:
            for gene in genes:
                reasons.setdefault(int(gene), reason)
        return cls(panel, reasons, rows, alike.beside(adata, panel.genes, request))

    def of_gene(self, gene: int, *, would_gain: bool) -> str:
        """Return why a gene is not in the panel, which may gain with it in the place of another."""
        if gene in self.reasons:
            return self.reasons[gene]
        if self.twins[gene]:
            return "it is of nearly one sequence with a gene of the panel"
        if self.rows is not None:
            used = self.rows.sums(self.panel.genes)
            if not self.rows.within(used)[gene]:
                return f"limits leave no room for it ({_exceeded(self.rows, gene, used)})"
        if not would_gain:
            return "it adds less than the genes of the panel"
        if self.panel.named.key is None:
            return "it is not in the list"
        if self.panel.basis.request.ranker.by_criterion:
            return "it was not the best next gene at any place"
        return "it ranks after the genes of the panel"


def _by(item: Any, lookup: names_of.Lookup) -> str:
    """Return how an item of an argument names genes."""
    if isinstance(item, re.Pattern):
        return f"by the pattern {item.pattern}"
    if lookup.of(item):
        return "by name"
    return f"by the {'column' if item in lookup.flags else 'family'} {item}"


def _exceeded(rows: Rows, gene: int, used: Array) -> str:
    """Return the names of the limits that a gene would break."""
    over = rows.sums([gene]) > rows.most - used
    return ", ".join(np.array(rows.names, dtype=object)[over])
