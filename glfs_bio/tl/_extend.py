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
from ..options import Platform
from ..selection import best_panel
from ._panel import find

if TYPE_CHECKING:
    from anndata import AnnData
    from numpy.typing import NDArray

    from .._anndata.columns import Labels
    from .._anndata.names import Genes
    from .._anndata.target import Preserve as Given
    from .._typing import Array, Index
    from ..options import Limits, Preserve
    from ..ranking import Ranking
    from ._panel import Basis, Panel


def extend_panel(
    adata: AnnData,
    panel: Any,
    n_extra: int | None = None,
    *,
    labels: str | None = None,
    exclude: Genes | None = None,
    limits: Limits | None = None,
    platform: Platform | None = None,
    symbols: str | None = None,
    preserve: Preserve | Given | None = None,
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
        Names of genes, one name, a file of them, or the key of a selection, of a boolean column of
        ``.var``, or of what ``sc.tl.rank_genes_groups`` wrote: the first 10 genes of each group.
    n_extra
        Genes to add.  None: the fewest with which the panel keeps 90 % of the structure (at most
        500 genes in all), or with `budget` as many as it affords.
    labels
        Column of ``.obs`` with labels of the cells: which of them each gene that is added serves.
    exclude
        Genes that cannot be added, as in :func:`~glfs_bio.pp.select_genes`.
    limits, platform
        As in :func:`~glfs_bio.pp.select_genes`.  Sums (totals, families, genes per type, the
        budget) are those of the whole panel; limits on single genes hold for those that are added.
        Names that are not in the data cost nothing, stay in the panel, and count for nothing.
        Without a platform that of a selection counts.
    symbols
        Column of ``.var`` with names that genes may be given by.
    preserve
        What the panel should preserve: what :func:`~glfs_bio.pp.select_genes` takes, or a
        :class:`~glfs_bio.Preserve`.  None: what a selection was made for, and the structure for
        other panels.
    key_added
        Prefix of the columns written to ``.var``, and key of ``.uns``.
    inplace
        Write to `adata`; otherwise return the table of the genes that are added.  There is no
        `copy`: to keep an object, pass ``adata.copy()``.
    random_state
        Seed of failures of the platform.

    Returns
    -------
    None, or with `inplace=False` the table.  Written: what :func:`~glfs_bio.pp.select_genes`
    writes, with ``.var[f"{key_added}_included"]`` for the genes of the panel, so that all that
    takes the key of a selection takes this one; and in ``.uns[key_added]``

    ``table``
        The table, one row a gene, in the order in which they are added: ``gene``; ``adds``, the
        share of the structure that it adds to the genes before it; ``preserved``, what is preserved
        with it; with `labels` ``supports``, the label whose cells gain most in proportion to their
        number.
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
    ['gene', 'adds', 'preserved']
    """
    checks.whole_number("n_extra", n_extra, at_least=1, or_none=True)
    checks.keys(key_added=key_added)
    checks.flags(inplace=inplace)
    checks.seed(random_state)
    read.unique_names(adata)
    known = None if labels is None else columns.labels(adata, labels, "labels")
    excluded = names.gene_mask(adata, exclude, "exclude", symbols=symbols, missing="warn")
    found = find(adata, panel, symbols=symbols, preserve=preserve, platform=platform)
    basis, choice = found.basis, _choice(found, excluded)
    candidates = np.flatnonzero(choice.allowed)
    if n_extra is not None and n_extra > len(candidates) - len(found.genes):
        raise InvalidValue(
            "n_extra",
            n_extra,
            "is more than the {n} genes that could be added",
            "ask for fewer",
            n=len(candidates) - len(found.genes),
        )
    rows = constraints.rows(
        adata,
        limits,
        layer=basis.structure.parameters.layer,
        allowed=choice.allowed,
    )
    ranking = best_panel(
        basis.criterion,
        None if n_extra is None else len(found.genes) + n_extra,
        include=np.sort(found.genes),
        candidates=candidates,
        rows=None if rows is None else rows.sparing(found.genes),
        failure=basis.failure,
        random_state=random_state,
    )
    order = candidates[ranking.order[: ranking.n_selected]]
    added = _added(adata, found, order, ranking.info["preserved"], known)
    if not inplace:
        return added
    own = basis.structure.parameters
    params = {
        "n_genes": ranking.n_selected,
        "preserve": basis.preserve.target,
        "cell_weights": basis.preserve.cell_weights,
        "include": list(adata.var_names[found.genes]),
        "exclude": exclude,
        "limits": limits,
        "platform": _platform(basis, platform, key_added),
        "batch_key": own.batch_key,
        "use_rep": own.use_rep if own.stored_key is None else own.stored_key,
        "neighbors_key": own.neighbors_key,
        "n_comps": own.n_comps,
        "layer": own.layer,
        "symbols": symbols,
        "random_state": random_state,
    }
    _store(adata, found, choice, ranking, added, params, key_added)
    return None


def _platform(basis: Basis, given: Platform | None, key: str) -> Platform | None:
    """The platform, with its detection efficiencies in a column of ``.var``."""
    if basis.criterion.detection is None:
        return given
    return Platform(f"{key}_detection", None if given is None else given.failure)


def _choice(found: Panel, excluded: NDArray[np.bool_]) -> Choice:
    """All genes but those excluded, of which those of the panel are in."""
    included = np.zeros_like(excluded)
    included[found.genes] = True
    return Choice(~excluded | included, included, [])


def _added(
    adata: AnnData, found: Panel, order: Index, preserved: Array, known: Labels | None
) -> pd.DataFrame:
    """A row a gene that is added, in the order in which they are."""
    basis, size = found.basis, len(found.genes)
    added = pd.DataFrame(
        {
            "gene": adata.var_names[order[size:]],
            "adds": np.diff(preserved)[size - 1 :],
            "preserved": preserved[size:],
        }
    )
    if known is not None:
        codes, categories = known
        of_sets = [codes[own] for own in basis.structure.rows]
        shares = MeasuredPanel(basis.criterion, order).supports(of_sets, len(categories))[size:]
        cells = np.bincount(codes[codes >= 0], minlength=len(categories))
        added["supports"] = categories[(shares / np.maximum(cells, 1)).argmax(axis=1)].astype(str)
    return added


def _store(
    adata: AnnData,
    found: Panel,
    choice: Choice,
    ranking: Ranking,
    added: pd.DataFrame,
    params: dict[str, Any],
    key: str,
) -> None:
    """Write what a selection writes, and the table."""
    frame = write.table(ranking, choice, adata.var_names, key)
    detection = found.basis.criterion.detection
    if detection is not None:
        frame[f"{key}_detection"] = detection
    entry = {
        "params": write.parameters(params),
        **write.record(ranking),
        "method": "glfs",
        "objective": "error",
        "structure": found.basis.structure.parameters.record(),
        "table": added,
    }
    if found.named.absent:
        entry["absent"] = np.array(found.named.absent, dtype=object)
    write.store(adata, frame, entry, key)
