"""Why a gene is in a panel, or is not."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import alike, columns, expression, read, results, stale
from .._anndata import names as names_of
from .._docs import documented
from .._progress import tell, with_bar
from ..measures.genes import imputed, predictors
from ..panel import adds_nothing
from ._panel import find, must_haves

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anndata import AnnData
    from numpy.typing import NDArray

    from .._anndata.target import Preserve as Given
    from .._typing import Array, Index
    from ..options import Preserve
    from ..solvers.constraints import Rows
    from ._panel import Found

#: Genes of the panel that a gene is predicted by, and the least share of R² of one.
_PREDICTORS, _LEAST = 3, 0.01
_LESS = "it adds less than the genes of the panel"


@with_bar
@documented
def explain_gene(
    adata: AnnData,
    genes: Any,
    panel: Any = "glfs",
    labels: str | None = None,
    *,
    n_labels: int = 3,
    layer: str | None = None,
    symbols: str | None = None,
    preserve: Preserve | Given | None = None,
    key_added: str | None = None,
    inplace: bool = True,
) -> pd.DataFrame | None:
    """Explain why a gene is in a panel, or is not: its rank, what predicts it, and its price.

    Parameters
    ----------
    <adata>
    genes : str, list or path
        Genes to explain: one name, names, a file, or a key, as of a panel.
    panel : str, list or path, default "glfs"
        <panel>
    <labels> str, default None
    n_labels : int, default 3
        Maximum number of labels to name per gene.
    <layer of a panel>
    <symbols>
    <preserve>
    <key_added of a panel> gene
    <inplace>

    Returns
    -------
    None, or with ``inplace=False`` the table.  Written:

    ``.uns[key_added]["table"]`` : DataFrame, one row per gene
        - ``gene``: name of the gene
        - ``summary``: the row in a sentence
        - ``selected``: whether it is in the panel
        - ``rank``: its rank in the selection; in another panel, the place where it stands, or would
          by what it adds; NaN if it was no candidate
        - ``why_not``: why it is not in the panel: what excluded it, limits that have no room for
          it, that it adds less, or, where the panel would be better with it in the place of
          another, that it was never the best next gene, or is not in the list; else ``""``
        - ``r2``: share of its structure that the panel predicts, or the other genes of the panel
        - ``predicted_by``: genes that account for most of it, with their shares
        - ``adds``: preserved share that it would add to the panel, or adds to its other genes
        - ``replaces``: gene in whose place it would cost least, whatever the constraints; not a
          gene that had to be in.  ``""`` for genes of the panel
        - ``price``: preserved share that is lost with it in that place; negative if the panel is
          better with it
        - ``expressed``: share of all cells that express it; NaN if the matrix has negative values
        - ``expressed_in``: with `labels`, as in :func:`explain_panel`
    ``.uns[key_added]["expression"]`` : DataFrame, one row per gene and label
        With `labels`, as in :func:`explain_panel`.
    ``.uns[key_added]["n_candidates"]`` : int
        Number of genes that could be selected.
    <params and versions>

    See Also
    --------
    explain_panel : Explain each gene of a panel.
    glfs_bio.pp.select_genes : Select genes, some of them with `include`.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=10)
    >>> table = glfs_bio.tl.explain_gene(adata, "LYZ", inplace=False)
    >>> bool(table["selected"][0]), table["predicted_by"][0].split(" ")[0]
    (False, 'CST3')
    """
    checks.whole_number("n_labels", n_labels, at_least=1)
    key_added = results.key_for(adata, "gene", key_added, results.key_of(adata, panel))
    checks.flags(inplace=inplace)
    known = None if labels is None else columns.labels(adata, labels, "labels", at_least=2)
    asked = names_of.panel(adata, genes, symbols=symbols, argument="genes").genes
    found = find(adata, panel, symbols=symbols, preserve=preserve, layer=layer)
    standing = _Standing.of(adata, found, symbols)
    where = expression.of_genes(adata, asked, known, found.layer)
    names = adata.var_names.to_numpy()
    rows = [standing.row(int(gene), names) for gene in asked]
    table = pd.DataFrame(rows)
    table["expressed"] = np.nan if where is None else where.shares
    more: dict[str, Any] = {}
    if known is not None:
        table["expressed_in"] = [
            "" if where is None else where.text(place, n_labels) for place in range(len(asked))
        ]
        if where is not None:
            more["expression"] = where.table(names[asked])
    table.insert(1, "summary", [_summary(row, standing) for row in table.to_dict("records")])
    if not inplace:
        return table
    entry = results.envelope(
        "gene",
        {"labels": labels, **found.basis.record()},
        stale.made_of(adata, found.layer, [found.named]),
        table=table,
        n_candidates=standing.n_candidates,
        **more,
    )
    results.store(adata, key_added, entry)
    tell(*table["summary"])
    return None


@dataclass(frozen=True)
class _Standing:
    """How the genes of the data stand to a panel."""

    found: Found
    #: Of every gene: its rank, NaN where it was no candidate; what it would add; why it is not in
    ranks: Array
    gains: Array
    obstacles: _Obstacles
    #: What is lost with each gene (columns) in the place of one of the panel; ∞ for must-haves
    lost: Array

    @classmethod
    def of(cls, adata: AnnData, found: Found, symbols: str | None) -> _Standing:
        """Compare all genes with a panel."""
        obstacles = _Obstacles.of(adata, found, symbols)
        with found.few_threads():
            gains = found.measured.gains()
            lost = found.measured.substitutions().lost
        lost[must_haves(adata, found.named)[found.genes]] = np.inf
        key = found.named.key
        if key is not None:
            ranks = adata.var[f"{key}_rank"].to_numpy(dtype=float)
        else:
            ranks = _ranks(found.genes, gains, obstacles.candidates)
        return cls(found, ranks, gains, obstacles, lost)

    @property
    def n_candidates(self) -> int:
        """Number of genes that have a rank."""
        return int(np.isfinite(self.ranks).sum())

    def row(self, gene: int, names: Any) -> dict[str, Any]:
        """Return what is to be said of a gene."""
        panel, sets = self.found.genes, self.found.basis.structure.sets
        place = np.flatnonzero(panel == gene)
        others = panel[panel != gene]
        shares = predictors(sets, others, np.array([gene]))[0]
        most = [one for one in np.argsort(-shares)[:_PREDICTORS] if shares[one] >= _LEAST]
        selected = len(place) > 0
        losses, best = self.lost[:, gene], int(self.lost[:, gene].argmin())
        may = not selected and bool(np.isfinite(losses[best]))
        gains = may and losses[best] < 0
        return {
            "gene": names[gene],
            "selected": selected,
            "rank": self.ranks[gene],
            "why_not": "" if selected else self.obstacles.of_gene(gene, gains=gains),
            "r2": float(imputed(sets, others).of_structure[gene]),
            "predicted_by": ", ".join(
                f"{names[others[one]]} ({100 * shares[one]:.0f} %)" for one in most
            ),
            "adds": float(self.found.losses[place[0]] if selected else self.gains[gene]),
            "replaces": names[panel[best]] if may else "",
            "price": float(losses[best]) if may else np.nan,
        }


@dataclass(frozen=True)
class _Obstacles:
    """Why genes cannot be in a panel."""

    found: Found
    #: Texts by row of ``.var``
    reasons: dict[int, str]
    candidates: NDArray[np.bool_]
    rows: Rows | None
    #: Whether each gene is of nearly one sequence with one of the panel.
    twins: NDArray[np.bool_]

    @classmethod
    def of(cls, adata: AnnData, found: Found, symbols: str | None) -> _Obstacles:
        """Find what excludes genes."""
        request, detection = found.basis.request, found.basis.detection
        reasons: dict[int, str] = {}

        def bar(genes: Iterable[int] | NDArray[Any], why: str) -> None:
            for gene in genes:
                reasons.setdefault(int(gene), why)

        bar(np.flatnonzero(read.controls(adata)), "it is a control")
        lookup = names_of.Lookup(adata, request.symbols)
        for item in names_of.together(adata, request.exclude, symbols=request.symbols) or ():
            bar(lookup.rows(item) or (), f"excluded {_by(item, lookup)}")
        ignore = found.basis.structure.spec.ignore
        ignored = names_of.not_to_choose(adata, None, ignore=ignore)
        bar(np.flatnonzero(ignored), "its variation is ignored")
        if detection.orderable is not None:
            bar(np.flatnonzero(~detection.orderable), "it cannot be ordered for the platform")
        rows = found.basis.limits(adata)
        if rows is not None:
            for gene in np.flatnonzero(~rows.allowed).tolist():
                bar([gene], f"ruled out by limits ({_blamed(rows, gene, 0.0 * rows.upper)})")
            single = ~rows.whole(np.ones(adata.n_vars, dtype=bool))
            bar(np.flatnonzero(single), "genes to select together with it are missing")
        constant = np.all([one.variance <= 0 for one in found.basis.structure.sets], axis=0)
        bar(np.flatnonzero(constant), "it does not vary")
        key = found.named.key
        candidates = ~np.isin(np.arange(adata.n_vars), list(reasons))
        if key is not None:
            candidates = adata.var[f"{key}_score"].notna().to_numpy()
            bar(np.flatnonzero(~candidates), "it was no candidate")
        return cls(found, reasons, candidates, rows, alike.beside(adata, found.genes, request))

    def of_gene(self, gene: int, *, gains: bool) -> str:
        """Return why a gene is not in the panel, which gains or not with it instead of another."""
        if gene in self.reasons:
            return self.reasons[gene]
        if self.twins[gene]:
            return "it is of nearly one sequence with a gene of the panel"
        if self.rows is not None:
            used = self.rows.sums(self.found.genes)
            if not self.rows.within(used)[gene]:
                return f"limits leave no room for it ({_blamed(self.rows, gene, used)})"
        if not gains:
            return _LESS
        request = self.found.basis.request
        if self.found.named.key is None:
            return "it is not in the list"
        if request.method == "glfs" and request.objective == "error":
            return "it was not the best next gene at any place"
        return "it ranks after the genes of the panel"


def _by(item: Any, lookup: names_of.Lookup) -> str:
    """How something in an argument names genes."""
    if isinstance(item, re.Pattern):
        return f"by the pattern {item.pattern}"
    if lookup.of(item):
        return "by name"
    return f"by the {'column' if item in lookup.flags else 'family'} {item}"


def _blamed(rows: Rows, gene: int, used: Array) -> str:
    """Names of the limits that a gene would break."""
    over = rows.sums([gene]) > rows.most - used
    return ", ".join(name for name, much in zip(rows.names, over, strict=True) if much)


def _ranks(panel: Index, gains: Array, candidates: NDArray[np.bool_]) -> Array:
    """Ranks of genes by what they add to a panel, after its own."""
    ranks = np.full(len(gains), np.nan)
    others = np.flatnonzero(candidates & ~np.isin(np.arange(len(gains)), panel))
    order = others[np.argsort(-gains[others], kind="stable")]
    ranks[panel] = np.arange(1, len(panel) + 1)
    ranks[order] = len(panel) + np.arange(1, len(order) + 1)
    return ranks


def _summary(row: dict[str, Any], standing: _Standing) -> str:
    """Return the row of a gene as a sentence."""
    gene, rank, share = row["gene"], row["rank"], _percent(row["adds"])
    losses = standing.found.losses
    said = []
    if row["selected"]:
        place = f", rank {rank:,.0f} of {len(losses):,}" if np.isfinite(rank) else ""
        said.append(f"{gene} is in the panel{place}")
    elif np.isfinite(rank):
        said.append(f"{gene} is rank {rank:,.0f} of {standing.n_candidates:,}")
        if row["why_not"] != _LESS:
            said[-1] += f", and {row['why_not']}"
    else:
        said.append(f"{gene} was no candidate, as {_as_reason(row['why_not'])}")
    if row["predicted_by"] and np.isfinite(row["r2"]):
        by = [one.rpartition(" (")[0] for one in row["predicted_by"].split(", ")]
        others = "others, first " if row["selected"] else ""
        said.append(f"{_percent(row['r2'])} of its structure is predicted by {others}{_and(by)}")
    if row["selected"]:
        nothing = bool(adds_nothing(np.append(losses, row["adds"]))[-1])
        said.append("without it nothing is lost" if nothing else f"without it {share} is lost")
    else:
        said.append(f"it would add {share}")
    if row["replaces"]:
        price = row["price"]
        said[-1] += (
            f", and {'lose' if price > 0 else 'gain'} {_percent(abs(price))} in the place of "
            f"{row['replaces']}"
        )
    first, *rest = said
    return f"{first}: {'; '.join(rest)}." if rest else f"{first}."


def _as_reason(why: str) -> str:
    return f"it is {why}" if why.startswith(("excluded", "ruled")) else why


def _percent(share: float) -> str:
    """Return a share as people read it."""
    digits = f"{100 * share:.0f}" if share >= 0.1 else f"{100 * share:.2g}"
    return f"{digits} %" if share >= 1e-6 else "nothing"  # noqa: RUF100


def _and(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
