"""The target platform out of an AnnData object: a number of each gene for what a user says."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from anndata import AnnData

from ..criterion.platform import Detection
from ..errors import (
    BOOLEAN,
    MAPPING,
    NO_VALUE,
    VAR,
    VAR_NAMES,
    InvalidType,
    InvalidValue,
    NotFound,
    arg,
    call,
    listed,
    naming,
)
from ..vendors.forecast import bits
from ..vendors.forms import read_panel
from . import columns, names, read

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._typing import Array
    from ..data.matrix import RowMatrix
    from ..options import Platform

#: Cells that are added to those that express a gene, and to those that do not.
_HALF = 0.5
#: Columns of a table of efficiencies that are read.
_OF_TABLE = ("efficiency", "spread", "off_target")


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
            "name a codebook of MERSCOPE, or give a table",
        )
    return replace(given, codebook=panel.codebook)


def of_genes(
    adata: AnnData, given: Platform | None, layer: str | None, symbols: str | None = None
) -> Detection:
    """Read what a platform is to the genes of an object."""
    if given is None:
        return Detection()
    given = with_codewords(given)
    orderable = None if given.genes is None else _orderable(adata, given, symbols)
    words = off_target = efficiency = spread = failure = None
    if given.codebook is not None:
        words, known = bits(given.codebook, adata.var_names)
        orderable = known if orderable is None else orderable & known
    share = given.off_target
    if share is None and isinstance(given.efficiency, pd.DataFrame):
        share = _of_table(adata, given.efficiency).get("off_target")
    if share is not None:
        off_target = columns.probabilities(adata, share, "off_target")
        if given.max_off_target is not None:
            few = off_target <= given.max_off_target
            orderable = few if orderable is None else orderable & few
    if given.efficiency is not None:
        efficiency, spread = _efficiency(adata, given, layer, orderable)
    if given.failure is not None:
        failure = columns.probabilities(adata, given.failure, "failure")
    worst = given.case == "worst"
    detection = Detection(efficiency, spread, failure, off_target, worst, orderable, words)
    if detection.worst and not detection.varies:
        raise InvalidValue(
            "case", given.case, "is of draws, which do not differ", "give a spread, or a failure"
        )
    return detection


def _orderable(adata: AnnData, given: Platform, symbols: str | None) -> NDArray[np.bool_]:
    """Whether each gene is listed, or has as many probes as it needs."""
    genes, least = given.genes, given.min_probes
    if isinstance(genes, str) and genes in adata.var:
        column = adata.var[genes]
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
    if isinstance(genes, str | Path):
        if not Path(genes).is_file():
            raise NotFound(
                "platform",
                NO_VALUE,
                f"names {str(genes)!r} for its genes, neither a column of {VAR} "
                f"({listed(adata.var.columns)}) nor a file",
                "name one of these, or give names as a list",
            )
        genes = read_panel(genes)
    if isinstance(genes, pd.Series):
        genes = genes.to_dict()
    if isinstance(genes, Mapping):
        genes = [gene for gene, n_probes in genes.items() if least is None or n_probes >= least]
    elif least is not None:
        raise InvalidValue("min_probes", least, "needs numbers of probes, and the genes have none")
    if not isinstance(genes, Collection) or not all(isinstance(gene, str) for gene in genes):
        raise InvalidType(
            "platform",
            NO_VALUE,
            f"must have genes as names, a file, a column of {VAR}, or a {MAPPING} of numbers",
        )
    wanted, lookup = set(genes), names.Lookup(adata, symbols)
    rows = [row for name, of_name in lookup.by_name.items() if name in wanted for row in of_name]
    found = np.zeros(adata.n_vars, dtype=bool)
    found[rows] = True
    if not found.any():
        some = list(wanted)[:20]
        raise InvalidValue(
            "platform",
            NO_VALUE,
            f"has no gene that is in {lookup.where}, but {listed(some)}",
            f"name genes as they are named there{lookup.hints(some)}",
        )
    return found


def _efficiency(
    adata: AnnData, given: Platform, layer: str | None, orderable: NDArray[np.bool_] | None
) -> tuple[Array, Array | None]:
    """Efficiency of each gene, and the standard deviation of its logarithm."""
    efficiency, spread = given.efficiency, given.spread
    if isinstance(efficiency, AnnData):
        found = shares(adata, efficiency, layer)
    elif isinstance(efficiency, pd.DataFrame):
        own = _of_table(adata, efficiency)
        found = columns.numbers(adata, own["efficiency"], "efficiency", needed=orderable)
        if spread is None and "spread" in own:
            spread = own["spread"]
    else:
        found = columns.numbers(adata, efficiency, "efficiency", needed=orderable)
    if isinstance(spread, Mapping):
        spread = dict.fromkeys(adata.var_names, 0.0) | dict(spread)
    if spread is None:
        return found, None
    return found, columns.numbers(adata, spread, "spread", needed=orderable)


def _of_table(adata: AnnData, table: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Columns of a table of efficiencies, of the genes that are in the data."""
    if "efficiency" not in table or not table.index.is_unique:
        raise InvalidValue(
            "efficiency",
            NO_VALUE,
            "is a table without a column 'efficiency', or with a gene twice",
            f"give that of {call('tl.estimate_efficiency')}",
        )
    there = table[table.index.isin(adata.var_names)]
    if there.empty:
        raise InvalidValue(
            "efficiency",
            NO_VALUE,
            f"has no gene of {VAR_NAMES}",
            "give genes the same names, such as symbols",
        )
    kept = [name for name in _OF_TABLE if name in table]
    return {str(name): there[name].to_dict() for name in kept}


def shares(adata: AnnData, given: AnnData, layer: str | None) -> Array:
    """What a platform detects of each gene as a share of that in `adata`, from 0 to 1.

    From cells that it measured: with a Poisson count in each cell, a gene that a share s of the
    cells expresses has ``−log(1 − s)`` molecules in the mean.  The share is that mean there over
    the mean here, 0 for a gene that is not there, and at most 1, as the noise here is not only that
    of counting.
    """
    read.unique_names(given)
    places = given.var_names.get_indexer(adata.var_names)
    there = places >= 0
    if not there.any():
        raise InvalidValue(
            "efficiency",
            NO_VALUE,
            f"has no gene of {VAR_NAMES}",
            "give genes the same names, such as symbols",
        )
    found = np.zeros(adata.n_vars)
    here = _molecules(read.row_matrix(adata, layer), "adata")
    elsewhere = _molecules(read.row_matrix(given), "efficiency")
    found[there] = elsewhere[places[there]] / here[there]
    return np.minimum(found, 1.0)


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
