"""Preserved structure against panel size."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks
from .._anndata import alike, columns, constraints, names, read, results, stale, summaries
from .._docs import documented
from .._progress import tell, with_bar
from ..data.matrix import RowMatrix
from ..errors import NO_VALUE, InvalidValue, arg, naming
from ..labels import Labels
from ..measures import labels as readers
from ..measures.cells import coordinates
from ..selection import best_panel
from ._panel import asked, basis_of, preserved_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anndata import AnnData

    from .._anndata.names import Genes
    from .._anndata.target import Preserve as Given
    from .._typing import Matrix
    from ..options import Limits, Preserve

log = logging.getLogger(__name__)

#: Sizes at which labels are predicted, where none are given.
_SIZES = (5, 10, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200, 300, 400, 500)


@with_bar
@documented
def curve(
    adata: AnnData,
    max_genes: int = 200,
    labels: str | None = None,
    *,
    sizes: Sequence[int] | None = None,
    readings: Sequence[str] = readers.READINGS,
    include: Genes | None = None,
    exclude: Genes | None = None,
    limits: Limits | None = None,
    layer: str | None = None,
    symbols: str | None = None,
    preserve: Preserve | Given | None = None,
    key_added: str = "glfs_curve",
    inplace: bool = True,
) -> pd.DataFrame | None:
    """Compute the preserved structure for every panel size, to choose a size.

    Panels are nested: one selection of `max_genes` genes gives all sizes.

    Parameters
    ----------
    <adata>
    max_genes : int, default 200
        Number of genes of the largest panel.
    labels : str, default None
        Column of ``.obs`` with labels to predict from the panels.
    sizes : list of int, default None
        Panel sizes for the prediction of labels.  None: sizes from 5 to `max_genes`.
    <readings>
    include : str, pattern or list, default None
        Genes that must be selected, as in :func:`~glfs_bio.pp.select_genes`.
    exclude : str, pattern or list, default None
        Genes that cannot be added, as in :func:`~glfs_bio.pp.select_genes`.
    limits : Limits, default None
        Constraints, as in :func:`~glfs_bio.pp.select_genes`.
    <layer>
    <symbols>
    <preserve>
    <key_added> "glfs_curve"
    <inplace>

    Returns
    -------
    None, or with ``inplace=False`` the table.  Written:

    ``.uns[key_added]["table"]`` : DataFrame, one row per size
        ``n_genes``, the size; ``gene``, the gene that is added; ``adds``, the share of the target
        that it adds; ``preserved``, the preserved share; ``optimality``, its lower bound relative
        to the best panel.  With `labels`, ``accuracy`` and ``macro_f1`` of the nearest cells, and
        ``accuracy_laprls`` and ``macro_f1_laprls``, as in :func:`evaluate_panel`; NaN for sizes
        that are not in `sizes`.
    ``.uns[key_added]["readings"]``, ``["n_labelled"]`` : dict of str, int
        With `labels`: how they were read, and of how many cells.  Of more than 100,000 cells so
        many are read, evenly over their order, by nearest cells too.
    <params and versions>

    Raises
    ------
    ValueError
        If constraints are infeasible.

    See Also
    --------
    glfs_bio.pp.select_genes : Select a panel of one size.
    glfs_bio.pl.curve : Plot the table.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> table = glfs_bio.tl.curve(adata, 20, inplace=False)
    >>> bool((table["adds"] > 0).all())
    True
    """
    params: dict[str, Any] = {
        "max_genes": max_genes,
        "labels": labels,
        "sizes": sizes,
        "readings": readings,
        "include": include,
        "exclude": exclude,
        "limits": limits,
        "symbols": symbols,
    }
    checks.whole_number("max_genes", max_genes, at_least=1)
    results.key_for(adata, "curve", key_added)
    checks.flags(inplace=inplace)
    _check_sizes(sizes, max_genes, labels)
    known, readings = columns.read_by(adata, labels, readings)
    request = asked(adata, symbols=symbols, preserve=preserve, layer=layer, limits=limits)
    basis = basis_of(adata, request)
    spec = basis.structure.spec
    layer = spec.layer
    genes = names.choose(adata, include, exclude, ignore=spec.ignore, symbols=symbols)
    candidates = genes.genes
    if max_genes > len(candidates):
        raise InvalidValue(
            "max_genes",
            max_genes,
            f"is more than the {len(candidates)} candidate genes",
            "ask for fewer",
        )
    rows = constraints.rows(adata, limits, layer=layer, allowed=genes.allowed, symbols=symbols)
    genes = alike.apart(adata, replace(genes, rows=rows), basis.request)
    panel = best_panel(basis.criterion, max_genes, genes)
    order = candidates[panel.order[: panel.n_selected]]
    table = pd.DataFrame(
        {
            "n_genes": np.arange(1, len(order) + 1),
            "gene": adata.var_names[order],
            "adds": np.diff(panel.preserved, prepend=0.0),
            "preserved": preserved_by(basis.criterion, order),
            "optimality": panel.optimality,
        }
    )
    table.loc[table["preserved"].isna(), ["adds", "optimality"]] = np.nan
    said = {}
    if known is not None:
        cells = readers.cells_read(known.codes)  # by every reading, as there are several panels
        said = columns.said(known, readings, sampled=readings)
        known = Labels(known.codes[cells], known.categories)
        said["n_labelled"] = int(np.sum(known.codes >= 0))
        data = RowMatrix(read.row_matrix(adata, layer), cells, order).loaded()
        _predict(table, data, known, _SIZES if sizes is None else sizes, readings)
    if not inplace:
        return table
    entry = results.envelope(
        "curve", params | basis.record(), stale.made_of(adata, layer), **said, table=table
    )
    results.store(adata, key_added, entry)
    tell(summaries.curve(table))
    return None


def _check_sizes(sizes: Sequence[int] | None, max_genes: int, labels: str | None) -> None:
    """Refuse sizes at which no labels are predicted."""
    if sizes is None:
        return
    for size in sizes:
        checks.whole_number("sizes", size, at_least=1)
        if size > max_genes:
            raise InvalidValue(
                "sizes",
                NO_VALUE,
                f"has {size}, more than {arg('max_genes', max_genes)}",
                f"raise that, or leave {size} out",
            )
    if labels is None:
        raise InvalidValue(
            "sizes", NO_VALUE, "needs labels", f"name their column with {arg('labels')}"
        )


def _predict(
    table: pd.DataFrame,
    data: Matrix,
    known: Labels,
    sizes: Sequence[int],
    readings: Sequence[str],
) -> None:
    """Write how well labels are predicted by panels of some sizes."""
    measured = ("accuracy", "macro_f1")
    table[[readers.suffixed(name, reading) for reading in readings for name in measured]] = np.nan
    for done, size in enumerate(sizes):
        fields = {"stage": "predicting labels", "n_done": done, "n_all": len(sizes)}
        log.info("labels are predicted by %d genes", size, extra=fields)
        if size <= data.shape[1]:
            panel = data[:, :size]
            values = readers.standardised(panel)
            with naming(codes="labels"):
                found = readers.scores_by(
                    readings, coordinates(panel), values, known.codes, known.names
                )
            for reading, scores in found.items():
                for name in measured:
                    table.loc[size - 1, readers.suffixed(name, reading)] = getattr(scores, name)
