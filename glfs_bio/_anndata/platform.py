"""The target platform out of an AnnData object: a number of each gene for what a user says."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from anndata import AnnData
from scipy import sparse

from ..cells import noise
from ..cells.cells import build_problems
from ..criterion.platform import Detection
from ..data.matrix import RowMatrix, doubled, with_values
from ..errors import (
    BOOLEAN,
    MAPPING,
    NO_VALUE,
    VAR,
    InvalidType,
    InvalidValue,
    NotFound,
    Refusal,
    arg,
    call,
    listed,
    naming,
    note,
)
from ..measures.genes import sums
from ..options import FEWEST_CELLS, StructureSpec
from ..vendors.forecast import bits
from ..vendors.forms import PanelFile, read_panel
from . import columns, names, read

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._typing import Array, Matrix
    from ..options import Platform

#: Cells that are added to those that express a gene, and to those that do not.
_HALF = 0.5
#: Columns of a table of efficiencies that are read.
_OF_TABLE = ("efficiency", "spread", "off_target", "signal")


def recorded(given: Platform, frame: pd.DataFrame, key: str) -> Platform:
    """Return a platform for a record: with columns of ``.var`` for what it has of each gene."""
    given = with_codewords(given)
    found: dict[str, Any] = {
        name: f"{key}_{name}" for name in _OF_TABLE if f"{key}_{name}" in frame
    }
    if given.genes is not None:
        found |= {"genes": f"{key}_orderable", "min_probes": None}
    return replace(given, **found)


def with_codewords(given: Platform) -> Platform:
    """The same platform with the codewords in place of the name of their file."""
    if not isinstance(given.codebook, str):
        return given
    with naming(path="codebook"):
        panel = read_panel(given.codebook)
    if panel.codebook is None:
        raise InvalidValue(
            "codebook",
            given.codebook,
            f"has no codewords, being a file of the form {panel.form}",
            "name a codebook, or give a table",
        )
    return replace(given, codebook=panel.codebook)


def of_genes(
    adata: AnnData, given: Platform | None, layer: str | None, symbols: str | None = None
) -> Detection:
    """Read what a platform is to the genes of an object."""
    if given is None:
        return Detection()
    given, lookup = with_codewords(given), names.Lookup(adata, symbols)
    orderable = None if given.genes is None else _orderable(lookup, given)
    told = _told(lookup, given)
    words = off_target = efficiency = spread = failure = signal = None
    if given.codebook is not None:
        words, known = bits(lookup.by_row(given.codebook), adata.n_vars)
        orderable = known if orderable is None else orderable & known
    if "off_target" in told:
        share = told["off_target"]
        off_target = columns.numbers(lookup, share, "off_target", most=1.0, unnamed=0.0)
        if given.max_off_target is not None:
            few = off_target <= given.max_off_target
            orderable = few if orderable is None else orderable & few
    if "efficiency" in told:
        efficiency = columns.numbers(lookup, told["efficiency"], "efficiency", needed=orderable)
    elif given.efficiency is not None:
        efficiency = shares(lookup, given.efficiency, layer)
    if "spread" in told:
        spread = columns.numbers(lookup, told["spread"], "spread", needed=orderable, unnamed=0.0)
    if "signal" in told:
        signal = columns.numbers(lookup, told["signal"], "signal", unnamed=0.0)
    elif isinstance(given.efficiency, AnnData):
        signal = _signal(lookup, given.efficiency)
    if given.failure is not None:
        failure = columns.numbers(lookup, given.failure, "failure", most=1.0, unnamed=0.0)
    detection = Detection(
        efficiency=efficiency,
        spread=spread,
        failure=failure,
        off_target=off_target,
        signal=signal,
        worst=given.case == "worst",
        orderable=orderable,
        codewords=words,
        named=given.is_instrument,
    )
    if detection.worst and not detection.varies:
        raise InvalidValue(
            "case", given.case, "is of draws, which do not differ", "give a spread, or a failure"
        )
    return detection


def _orderable(lookup: names.Lookup, given: Platform) -> NDArray[np.bool_]:
    """Whether each gene is listed, or has as many probes as it needs."""
    genes, least = given.genes, given.min_probes
    var = lookup.adata.var
    if isinstance(genes, str) and genes in var:
        column = var[genes]
        if pd.api.types.is_bool_dtype(column) and least is None:
            return np.asarray(column.to_numpy(dtype=bool, na_value=False))
        if least is None or not pd.api.types.is_numeric_dtype(column):
            raise InvalidValue(
                "platform",
                NO_VALUE,
                f"names {genes!r} for its genes, which must be a {BOOLEAN} column of {VAR}, or "
                f"one of numbers of probes with {arg('min_probes')}",
            )
        return np.asarray(column.to_numpy(dtype=float, na_value=0.0) >= least)
    table = _listed(genes, list(var.columns))
    n_probes = table.get("n_probes")
    if least is not None:
        if n_probes is None:
            raise InvalidValue(
                "min_probes", least, "needs numbers of probes, and the genes have none"
            )
        table = table[n_probes >= least]
    found = np.zeros(lookup.n_genes, dtype=bool)
    for rows in lookup.of_file(table):
        found[list(rows)] = True
    if not found.any():
        some = list(table["gene"][:20])
        raise InvalidValue(
            "platform",
            NO_VALUE,
            f"has no gene that is in {lookup.where}, but {listed(some)}",
            f"name genes as they are named there{lookup.hints(some)}",
        )
    return found


def _listed(genes: Any, var_columns: list[str]) -> pd.DataFrame:
    """What is given of genes that can be ordered: ``gene``, ``id``, and ``n_probes`` if known."""
    if isinstance(genes, str | Path):
        if not Path(genes).is_file():
            raise NotFound(
                "platform",
                NO_VALUE,
                f"names {str(genes)!r} for its genes, neither a column of {VAR} "
                f"({listed(var_columns)}) nor a file",
                "name one of these, or give names as a list",
            )
        with naming(path="platform"):
            genes = read_panel(genes)
    if isinstance(genes, PanelFile):
        return genes.table.rename(columns={"n_probe_sets": "n_probes"})
    if isinstance(genes, pd.Series):
        genes = genes.to_dict()
    if not isinstance(genes, Collection) or not all(isinstance(gene, str) for gene in genes):
        raise InvalidType(
            "platform",
            NO_VALUE,
            f"must have genes as names, a file, a column of {VAR}, or a {MAPPING} of numbers",
        )
    table = pd.DataFrame({"gene": list(genes), "id": ""}, dtype=object)
    return table.assign(n_probes=genes.values()) if isinstance(genes, Mapping) else table


def _told(lookup: names.Lookup, given: Platform) -> dict[str, Any]:
    """Return what fields of a platform, or else columns of its table, say of each gene."""
    found: dict[str, Any] = {}
    if isinstance(given.efficiency, pd.DataFrame):
        found |= _of_table(lookup, given.efficiency)
    for name in _OF_TABLE:
        value = getattr(given, name)
        if not (value is None or isinstance(value, pd.DataFrame | AnnData)):
            found[name] = value
    return found


def _of_table(lookup: names.Lookup, table: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Columns of a table of efficiencies, of the genes that are in the data."""
    if "efficiency" not in table or not table.index.is_unique:
        raise InvalidValue(
            "efficiency",
            NO_VALUE,
            "is a table without a column 'efficiency', or with a gene twice",
            f"give that of {call('tl.estimate_efficiency')}",
        )
    there = table[[bool(lookup.of(str(name))) for name in table.index]]
    if there.empty:
        raise _no_gene(lookup)
    kept = [name for name in _OF_TABLE if name in table]
    return {str(name): there[name].to_dict() for name in kept}


def _no_gene(lookup: names.Lookup) -> InvalidValue:
    return InvalidValue(
        "efficiency",
        NO_VALUE,
        f"has no gene of {lookup.where}",
        "give genes the same names, such as symbols",
    )


def shares(lookup: names.Lookup, given: AnnData, layer: str | None) -> Array:
    """What a platform detects of each gene as a share of that in the data, from 0 to 1.

    From cells that it measured: with a Poisson count in each cell, a gene that a share s of the
    cells expresses has ``−log(1 − s)`` molecules in the mean.  The share is that mean there over
    the mean here, 0 for a gene that is not there, and at most 1, as the noise here is not only that
    of counting.
    """
    try:
        read.unique_names(given)
    except Refusal as refusal:
        raise refusal.within("efficiency") from None
    places = lookup.by_row({name: place for place, name in enumerate(given.var_names)})
    if not places:
        raise _no_gene(lookup)
    there = list(places)
    here = _molecules(read.row_matrix(lookup.adata, layer), "adata")
    with naming(X="efficiency"):
        elsewhere = _molecules(read.row_matrix(given), "efficiency")
    if len(there) < lookup.n_genes:
        note(
            f"{arg('efficiency')} has {len(there)} of {lookup.n_genes} genes, and the platform "
            "counts as blind to the others."
        )
    found = np.zeros(lookup.n_genes)
    found[there] = elsewhere[list(places.values())] / here[there]
    return np.minimum(found, 1.0)


def _signal(lookup: names.Lookup, given: AnnData) -> Array | None:
    """Structure of each gene in units of noise, in cells of a platform; 0 for a gene not there."""
    places = lookup.by_row({name: place for place, name in enumerate(given.var_names)})
    found = np.zeros(lookup.n_genes)
    with naming(X="efficiency"):
        there = signal_of(given)
    if there is None:
        note(
            f"{arg('efficiency')} has fewer than {FEWEST_CELLS} cells with counts, which "
            "hardly show the structure of genes: only their efficiencies are estimated."
        )
        return None
    found[list(places)] = there[list(places.values())]
    return found


def signal_of(adata: AnnData, layer: str | None = None) -> Array | None:
    """Structure of each gene of a platform's cells in units of noise, shape (n_vars,).

    None: there are too few cells.
    """
    data = _logarithmised(adata, layer)
    if data.shape[0] < FEWEST_CELLS:
        return None
    cells = build_problems(data, StructureSpec())[0]
    return noise.signal(cells.variance, cells.residuals)


def _logarithmised(adata: AnnData, layer: str | None = None) -> RowMatrix:
    """Log expression: a layer as it is, or what scanpy makes of counts, without cells that have
    none.
    """
    rows = read.row_matrix(adata, layer)
    totals = sums(rows)
    cells = np.flatnonzero(totals > 0)  # those without counts say nothing
    some = cells[: read.FIRST_ROWS]
    found = read.state(rows.first(int(some.max(initial=-1)) + 1)[some]) if len(some) else None
    if found not in ("counts", "normalised"):
        return rows
    factors = np.ones(len(totals))
    if found == "counts":
        factors[cells] = totals[cells] / np.median(totals[cells])
    return RowMatrix(logarithms(rows.loaded(), factors), cells)


def logarithms(counts: Matrix, factors: Array) -> Matrix:
    """Return ``log1p(x / factor)`` of the values of each cell."""
    counts = doubled(counts)
    if not sparse.issparse(counts):
        return np.log1p(counts / factors[:, None])
    return with_values(counts, np.log1p(counts.data / np.repeat(factors, np.diff(counts.indptr))))


def _molecules(data: RowMatrix, name: str) -> Array:
    """``−log(1 − s)`` for the share s of cells that express each gene."""
    if read.least(data) < 0:
        raise InvalidValue(
            name,
            NO_VALUE,
            "has negative values, so that cells that express a gene cannot be told",
            "use counts, or logarithms of them",
        )
    share = (read.n_cells_with(data) + _HALF) / (data.shape[0] + 2.0 * _HALF)
    return np.asarray(-np.log1p(-share))
