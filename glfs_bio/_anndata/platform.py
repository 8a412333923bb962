"""The target platform out of an AnnData object: its numbers of genes, and its spillover."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from anndata import AnnData
from scipy import sparse

from ..cells import noise
from ..cells.cells import StructureSpec, build_cells
from ..criterion.platform import AS_REFERENCE, Detection
from ..data.matrix import RowMatrix, doubled, with_values
from ..errors import InvalidValue, NotFound, listed, naming, note, short, within
from ..measures.genes import sums
from ..options import FEWEST_CELLS, neighbor_frequencies
from ..vendors.forecast import N_NEIGHBORS, Spillover, bits
from ..vendors.genes import PanelFile, read_panel
from . import columns, names, read
from .expression import members, of_all_genes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._typing import Array
    from ..labels import Labels
    from ..options import Platform
    from .expression import Expression

#: Cells that are added to those that express a gene, and to those that do not.
_HALF = 0.5
#: Columns of a table of efficiencies that are read.
_OF_TABLE = ("efficiency", "spread", "off_target", "signal")
#: Columns that say which section a cell is in, by precedence.
_SECTIONS = ("library_id", "section", "sample")


def recorded(platform: Platform, detection: Detection, key: str) -> Platform:
    """Return a platform for a record: with columns of ``.var`` for what it has of each gene."""
    platform = with_codewords(platform)
    written = [name for name in _OF_TABLE if getattr(detection, name) is not None]
    fields: dict[str, Any] = {name: f"{key}_{name}" for name in written}
    if platform.genes is not None:
        fields |= {"genes": f"{key}_orderable", "min_probes": None}
    return replace(platform, **fields)


def with_codewords(platform: Platform) -> Platform:
    """The same platform with the codewords in place of the name of their file."""
    if not isinstance(platform.codebook, str):
        return platform
    with naming(path="codebook"):
        panel = read_panel(platform.codebook)
    if panel.codebook is None:
        raise InvalidValue(f"`codebook={short(platform.codebook)}` has no codewords: give a table")
    return replace(platform, codebook=panel.codebook)


def of_genes(
    adata: AnnData, platform: Platform | None, layer: str | None, symbols: str | None = None
) -> Detection:
    """Read what a platform is to the genes of an object."""
    if platform is None:
        return AS_REFERENCE
    platform, lookup = with_codewords(platform), names.Lookup(adata, symbols)
    values, number = _values(lookup, platform), partial(columns.numbers, lookup)
    numbers: dict[str, Any] = {}
    conditions = [] if platform.genes is None else [_orderable(lookup, platform)]
    if platform.codebook is not None:
        numbers["codewords"], is_coded = bits(lookup.by_row(platform.codebook), adata.n_vars)
        conditions.append(is_coded)
    if "off_target" in values:
        share = number(values.pop("off_target"), "off_target", most=1.0, unnamed=0.0)
        numbers["off_target"] = share
        if platform.max_off_target is not None:
            conditions.append(share <= platform.max_off_target)
    orderable = np.logical_and.reduce(conditions) if conditions else None
    for name, value in values.items():
        most = 1.0 if name == "failure" else np.inf
        unnamed = np.nan if name == "efficiency" else 0.0
        numbers[name] = number(value, name, orderable, most=most, unnamed=unnamed)
    if isinstance(platform.efficiency, AnnData):
        numbers |= _measured(lookup, platform.efficiency, layer, with_signal="signal" not in values)
    lookup.note_renamed("platform")
    return Detection(**numbers, orderable=orderable, named=platform.is_instrument)


def _orderable(lookup: names.Lookup, platform: Platform) -> NDArray[np.bool_]:
    """Whether each gene is listed, or has as many probes as it needs."""
    genes, least, var = platform.genes, platform.min_probes, lookup.adata.var
    if isinstance(genes, str) and genes in var:
        is_flag = pd.api.types.is_bool_dtype(var[genes])
        if is_flag != (least is None) or not pd.api.types.is_numeric_dtype(var[genes]):
            remedy = "name a `boolean` column, or one of numbers of probes with `min_probes`"
            raise InvalidValue(f"`platform` names {genes!r} for its genes: {remedy}")
        return np.asarray(var[genes].to_numpy(dtype=float, na_value=0.0) >= (least or 1))
    table = _listed(genes)
    if least is not None:
        if "n_probes" not in table:
            raise InvalidValue(f"`min_probes={short(least)}` needs numbers of probes of the genes")
        table = table[table["n_probes"] >= least]
    is_orderable = np.zeros(lookup.n_genes, dtype=bool)
    for rows in lookup.of_file(table):
        is_orderable[list(rows)] = True
    if not is_orderable.any():
        lookup.report("platform", list(table["gene"]))
    return is_orderable


def _listed(genes: Any) -> pd.DataFrame:
    """What is given of genes that can be ordered: ``gene``, ``id``, and ``n_probes`` if known."""
    if isinstance(genes, str) and not Path(genes).is_file():
        raise NotFound(f"`platform` names {genes!r}: name a file or column of `adata.var`")
    called = names.names_in([*genes] if isinstance(genes, Mapping) else genes, "platform")
    if isinstance(called, PanelFile):
        return called.table.rename(columns={"n_probe_sets": "n_probes"})
    table = pd.DataFrame({"gene": called, "id": ""}, dtype=object)
    return table.assign(n_probes=genes.values()) if isinstance(genes, Mapping) else table


def _values(lookup: names.Lookup, platform: Platform) -> dict[str, Any]:
    """Return what fields of a platform, or else columns of its table, have for the genes."""
    table, values = platform.efficiency, dict[str, Any]()
    if isinstance(table, pd.DataFrame):
        if "efficiency" not in table or not table.index.is_unique:
            raise InvalidValue("`efficiency` needs a column 'efficiency', and each gene once")
        rows = table[[bool(lookup.of(str(name))) for name in table.index]]
        if rows.empty:
            lookup.report("efficiency", list(map(str, table.index)))
        values = {name: rows[name].to_dict() for name in _OF_TABLE if name in table}
    for name in (*_OF_TABLE, "failure"):
        value = getattr(platform, name)
        if not (value is None or isinstance(value, pd.DataFrame | AnnData)):
            values[name] = value
    return values


def _measured(
    lookup: names.Lookup, cells: AnnData, layer: str | None, *, with_signal: bool
) -> dict[str, Array]:
    """Return what cells that a platform measured say of each gene, 0 for a gene not there.

    ``"efficiency"`` is what the platform detects as a share of that in the data, from 0 to 1.  With
    a Poisson count in each cell, a gene that a share s of the cells expresses has ``−log(1 − s)``
    molecules in the mean; the share is that mean there over the mean here, and at most 1.
    ``"signal"`` is the structure in units of noise.
    """
    measured = {}
    with naming(adata="efficiency", X="efficiency"):
        read.unique_names(cells)
        detected = _molecules(of_all_genes(cells, None, None))
    by_row = lookup.by_row({name: column for column, name in enumerate(cells.var_names)})
    if not by_row:
        lookup.report("efficiency", list(cells.var_names))
    rows, shared = list(by_row), list(by_row.values())
    if len(rows) < lookup.n_genes:
        note(f"`efficiency` has {len(rows)} of {lookup.n_genes} genes: it is 0 for the others.")
    with naming(X="X" if layer is None else "layer"):
        molecules = _molecules(of_all_genes(lookup.adata, None, layer))
    measured["efficiency"] = np.minimum(detected[shared] / molecules[rows], 1.0)
    with naming(adata="efficiency", X="efficiency"):
        signal = signal_of(cells) if with_signal else None
    if signal is not None:
        measured["signal"] = signal[shared]
    elif with_signal:
        note(f"`efficiency` has fewer than {FEWEST_CELLS} cells with counts: no signal.")
    table = pd.DataFrame(measured, rows).reindex(range(lookup.n_genes), fill_value=0.0)
    return {str(name): column.to_numpy() for name, column in table.items()}


def signal_of(adata: AnnData, layer: str | None = None) -> Array | None:
    """Return the structure of genes of a platform's cells in units of noise; None of few cells."""
    data = _logarithmised(adata, layer)
    if data.shape[0] < FEWEST_CELLS:
        return None
    cells = build_cells(data, StructureSpec())[0]
    return noise.signal(cells.variance, cells.residuals)


def _logarithmised(adata: AnnData, layer: str | None = None) -> RowMatrix:
    """Return a layer as it is, or logarithms of its counts, of cells that have any."""
    rows = read.row_matrix(adata, layer)
    totals = sums(rows)
    cells = np.flatnonzero(totals > 0)  # those without counts say nothing
    sample = cells[: read.FIRST_ROWS]
    state = read.state(rows.first(int(sample.max(initial=-1)) + 1)[sample])
    if state not in ("counts", "normalised"):
        return rows
    factors = np.ones(len(totals))
    if state == "counts":
        factors[cells] = totals[cells] / np.median(totals[cells])
    counts = doubled(rows.loaded())
    if not sparse.issparse(counts):
        return RowMatrix(np.log1p(counts / factors[:, None]), cells)
    factors = np.repeat(factors, np.diff(counts.indptr))
    return RowMatrix(with_values(counts, np.log1p(counts.data / factors)), cells)


def _molecules(expression: Expression) -> Array:
    """Return ``−log(1 − s)`` for the share s of cells that express each gene."""
    n_cells = expression.sizes[0]
    if expression.negative:
        raise InvalidValue("`X` has negative values: use counts, or logarithms of them")
    n_expressing = np.rint(expression.shares[:, 0] * n_cells)
    return np.asarray(-np.log1p(-(n_expressing + _HALF) / (n_cells + 2.0 * _HALF)))


def spillover_of(platform: Platform, share: float, name: str, labels: Labels) -> Spillover:
    """Return the spillover of a platform for labels, which are read from column `name`."""
    sizes = np.bincount(labels.codes[labels.codes >= 0], minlength=len(labels.names))
    neighbors = np.tile(sizes / sizes.sum(), (len(sizes), 1))
    if platform.spillover_to is not None:
        table = _neighbor_table(platform.spillover_to, name)
        counts = table.reindex(columns=labels.names).fillna(0.0)
        shared = counts[(counts.sum(axis=1) > 0) & counts.index.isin(labels.names)]
        if shared.empty:
            raise InvalidValue(f"`spillover_to` has {listed(table.index)}: name types of `labels`")
        of_others = [label for label in table if label not in labels.names]
        if of_others:
            note(f"`spillover_to`: {listed(of_others)} are no types here.")
        missing = [label for label in labels.names if label not in shared.index]
        if missing:
            note(f"`spillover_to`: {listed(missing)} get random cells as neighbours.")
        rows = [labels.names.index(label) for label in shared.index]
        neighbors[rows] = shared.div(shared.sum(axis=1), axis=0)
    return Spillover(share, neighbors)


def _neighbor_table(neighbors: Any, labels: str) -> pd.DataFrame:
    """Return frequencies of neighbouring types, rows and columns by type."""
    if isinstance(neighbors, str):
        raise InvalidValue(f"`spillover_to={short(neighbors)}` is no table: give `platform` again")
    if hasattr(neighbors, "n_obs"):
        with within("spillover_to"):
            neighbors = neighbor_frequencies(neighbor_counts(neighbors, labels))
    return pd.DataFrame.from_dict(neighbors, orient="index").fillna(0.0)


def neighbor_counts(spatial: AnnData, labels: str) -> pd.DataFrame:
    """Count pairs of neighbours by their types, shape (n_types, n_types)."""
    cell_labels = columns.labels(spatial, labels)
    if columns.COORDINATES not in spatial.obsm and columns.GRAPH not in spatial.uns:
        raise NotFound(f"`spillover_to` lacks {columns.COORDINATES!r}: give positions or a table")
    section = next((name for name in _SECTIONS if name in spatial.obs), None)
    with naming(spatial="spillover_to", library_key="spillover_to"):
        pairs = columns.neighbours(spatial, None, section, N_NEIGHBORS) != 0
    of_type = sparse.csr_array(members(cell_labels.codes, len(cell_labels.names))[:, 1:])
    counts = (of_type.T @ pairs @ of_type).toarray()
    if not counts.any():
        raise InvalidValue("`spillover_to` has no two cells with a label that are neighbours")
    return pd.DataFrame(counts, index=cell_labels.names, columns=cell_labels.names)
