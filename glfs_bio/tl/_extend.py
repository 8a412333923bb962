"""The best genes to add to a panel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import columns, constraints, names, read, write
from .._anndata.names import Choice
from ..criterion.panel import MeasuredPanel
from ..errors import InvalidValue
from ..selection import best_panel
from ._structure import judged

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anndata import AnnData
    from numpy.typing import NDArray

    from .._anndata.columns import Labels
    from .._anndata.names import Genes, Missing
    from .._anndata.target import Detection, Preserve
    from .._typing import Array, Index
    from ..limits import Limits
    from ..selection import Ranking
    from ._structure import Judged


def extend_panel(
    adata: AnnData,
    panel: Any,
    n_extra: int | None = None,
    *,
    labels: str | None = None,
    exclude: Genes | None = None,
    limits: Limits | None = None,
    counts_layer: str | None = None,
    cost: str | Mapping[str, float] | float | None = None,
    budget: float | None = None,
    failure: str | Mapping[str, float] | float | None = None,
    symbols: str | None = None,
    missing: Missing = "warn",
    preserve: Preserve | None = None,
    cell_weights: str | None = None,
    detection: Detection | None = None,
    structure_key: str = "glfs_structure",
    key_added: str = "glfs_extended",
    inplace: bool = True,
    random_state: int | None = 0,
) -> pd.DataFrame | None:
    """Find the genes that add most to a panel, such as one of a catalogue.

    The genes of the panel stay.  Each further gene is the one that lowers most the error of the
    genes before it, as in :func:`~glfs_bio.pp.select_genes` with `include`.

    Parameters
    ----------
    adata
        Cells × genes, logarithmised.
    panel
        Names of genes, a file of them, the key of a selection, or the name of a boolean column of
        ``.var``.
    n_extra
        Genes to add.  None: the fewest with which the panel keeps 80 % of the structure (at most
        500 genes in all), or with `budget` as many as it affords.
    labels
        Column of ``.obs`` with labels of the cells: which of them each gene that is added serves.
    exclude
        Genes that cannot be added, as in :func:`~glfs_bio.pp.select_genes`.
    limits, counts_layer, cost, budget, failure
        As in :func:`~glfs_bio.pp.select_genes`.  Sums (totals, families, genes per type, the
        budget) are those of the whole panel; limits on single genes hold for those that are added.
        Names that are not in the data cost nothing.
    symbols
        Column of ``.var`` with names that genes may be given by.
    missing
        What to do about names that are not in the data: ``"raise"``, ``"warn"`` or ``"ignore"``.
        They stay in the panel, and count for nothing.
    preserve, cell_weights
        What the panel is to keep, as in :func:`~glfs_bio.pp.select_genes`.  None: what a selection
        was made for, and the structure for other panels.
    detection
        How much of each gene the assay detects that will measure the panel, as in
        :func:`~glfs_bio.pp.select_genes`.  None: what a selection was made for.
    structure_key
        Where :func:`~glfs_bio.pp.structure` kept the structure; computed where it is not there.
    key_added
        Prefix of the columns written to ``.var``, and key of ``.uns``.
    inplace
        Write to `adata`; otherwise return the table of the genes that are added.  There is no
        `copy`: to keep an object, pass ``adata.copy()``.
    random_state
        Seed of `failure`.

    Returns
    -------
    None, or with `inplace=False` the table.  Written: what :func:`~glfs_bio.pp.select_genes`
    writes, with ``.var[f"{key_added}_included"]`` for the genes of the panel, so that all that
    takes the key of a selection takes this one; and in ``.uns[key_added]``

    ``added``
        The table, one row a gene, in the order in which they are added: ``gene``; ``adds``, the
        share of the structure that it adds to the genes before it; ``kept``, what is kept with it;
        with `labels` ``serves``, the label whose cells gain most in proportion to their number.
    ``absent``
        Names of the panel that are not in the data, if any.

    Raises
    ------
    KeyError, TypeError, ValueError
        A parameter, gene or matrix that cannot be used; limits that no panel meets; `adata` is
        left as it was.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> added = glfs_bio.tl.extend_panel(adata, ["CD3D", "LYZ", "NKG7"], 5, inplace=False)
    >>> list(added.columns)
    ['gene', 'adds', 'kept']
    """
    checks.whole_number("n_extra", n_extra, at_least=1, or_none=True)
    checks.keys(key_added=key_added)
    checks.flags(inplace=inplace)
    checks.seed(random_state)
    read.unique_names(adata)
    fails = None if failure is None else columns.probabilities(adata, failure, "failure")
    known = None if labels is None else columns.labels(adata, labels, "labels")
    excluded = names.gene_mask(adata, exclude, "exclude", symbols=symbols, missing=missing)
    found = judged(
        adata,
        panel,
        symbols=symbols,
        missing=missing,
        structure_key=structure_key,
        preserve=preserve,
        cell_weights=cell_weights,
        detection=detection,
    )
    structure = found.structure
    choice = _choice(found, excluded)
    candidates = np.flatnonzero(choice.allowed[structure.genes])
    if n_extra is not None and n_extra > len(candidates) - len(found.panel):
        raise InvalidValue(
            "n_extra",
            n_extra,
            "is more than the {n} genes that could be added",
            "ask for fewer",
            n=len(candidates) - len(found.panel),
        )
    rows = constraints.rows(
        adata,
        limits,
        layer=structure.layer,
        counts_layer=counts_layer,
        cost=cost,
        budget=budget,
        allowed=choice.allowed,
    )
    ranking = best_panel(
        structure.criterion,
        None if n_extra is None else len(found.panel) + n_extra,
        include=np.sort(found.panel),
        candidates=candidates,
        rows=None if rows is None else rows.only(structure.genes).sparing(found.panel),
        failure=None if fails is None else fails[structure.genes],
        random_state=random_state,
    )
    order = candidates[ranking.order[: ranking.n_selected]]
    added = _added(adata, found, order, ranking.info["kept"], known)
    if not inplace:
        return added
    params = {
        **structure.params,
        "n_genes": ranking.n_selected,
        "include": list(adata.var_names[found.named.genes]),
        "exclude": exclude,
        "symbols": symbols,
        "limits": limits,
        "counts_layer": counts_layer,
        "cost": cost,
        "budget": budget,
        "failure": failure,
    }
    _store(adata, found, choice, ranking, added, params, key_added)
    return None


def _choice(found: Judged, excluded: NDArray[np.bool_]) -> Choice:
    """The genes of the structure, of which those of the panel are in."""
    included, seen = np.zeros_like(excluded), np.zeros_like(excluded)
    included[found.named.genes] = True
    seen[found.structure.genes] = True
    return Choice(seen, seen & (~excluded | included), included, [])


def _added(
    adata: AnnData, found: Judged, order: Index, kept: Array, known: Labels | None
) -> pd.DataFrame:
    """A row a gene that is added, in the order in which they are."""
    structure, size = found.structure, len(found.panel)
    added = pd.DataFrame(
        {
            "gene": adata.var_names[structure.genes[order[size:]]],
            "adds": np.diff(kept)[size - 1 :],
            "kept": kept[size:],
        }
    )
    if known is not None:
        codes, categories = known
        of_sets = [codes[own] for own in structure.cells]
        shares = MeasuredPanel(structure.criterion, order).supports(of_sets, len(categories))[size:]
        cells = np.bincount(codes[codes >= 0], minlength=len(categories))
        added["serves"] = categories[(shares / np.maximum(cells, 1)).argmax(axis=1)].astype(str)
    return added


def _store(
    adata: AnnData,
    found: Judged,
    choice: Choice,
    ranking: Ranking,
    added: pd.DataFrame,
    params: dict[str, Any],
    key: str,
) -> None:
    """Write what a selection writes, and the table."""
    frame = write.table(ranking, choice, adata.var_names, key)
    detection = found.structure.criterion.detection
    if detection is not None:
        frame[f"{key}_detection"] = 0.0
        frame.iloc[found.structure.genes, -1] = detection
        params = {**params, "detection": f"{key}_detection"}
    entry = {
        **write.record(ranking, params),
        "method": "glfs",
        "objective": "error",
        "reused": dict(found.structure.reused),
        "added": added,
    }
    if found.named.absent:
        entry["absent"] = np.array(found.named.absent, dtype=object)
    write.store(adata, frame, entry, key)
