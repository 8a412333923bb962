"""Genes of nearly one sequence, of which a panel needs one: probes cannot tell them apart.

The file ``nearly_identical.tsv`` lists them by sets: products of recent duplications, by their
symbols of HGNC and MGI, whose probes and short reads are known to be taken for one another.  It was
put together by hand, not from sequences, and is not complete.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from . import names, read

if TYPE_CHECKING:
    from anndata import AnnData
    from numpy.typing import NDArray

    from .._typing import Index
    from ..options import Limits, Request
    from ..solvers.panel import Candidates

_FILE = "nearly_identical.tsv"


@cache
def _sets() -> dict[str, str]:
    """Return the set of each symbol and Ensembl id, called by its first gene."""
    rows = list(names.members(_FILE))
    set_of_symbol = {row["symbol"]: row["family"] for row in rows}
    return set_of_symbol | {row["ensembl_id"]: row["family"] for row in rows if row["ensembl_id"]}


def set_of(name: str) -> str | None:
    """Return the set that a symbol or an Ensembl id is in, by the name of its first gene."""
    return _sets().get(name.partition(".")[0] if name.startswith("ENS") else name)


def sets(adata: AnnData, limits: Limits | None, symbols: str | None) -> dict[str, Index]:
    """Return rows of which a panel holds one, by set; none where limits say otherwise."""
    if limits is not None and limits.nearly_identical:
        return {}
    rows_of_set = defaultdict(list)
    for column in dict.fromkeys((None, symbols)):
        for row, name in enumerate(read.symbols(adata, column).fillna("")):
            rows_of_set[set_of(name)].append(row)
    return {name: np.unique(rows).astype(np.intp) for name, rows in rows_of_set.items() if name}


def one_of_each_set(adata: AnnData, genes: Candidates, request: Request) -> Candidates:
    """Return candidates of which one of each set enters."""
    among = sets(adata, request.limits, request.symbols)
    candidates = {name: rows[genes.allowed[rows]] for name, rows in among.items()}
    return replace(genes, alike={name: rows for name, rows in candidates.items() if len(rows) > 1})


def are_like(adata: AnnData, panel: Index, request: Request) -> NDArray[np.bool_]:
    """Return whether each gene is like one of a panel."""
    is_alike = np.zeros(adata.n_vars, dtype=bool)
    for rows in sets(adata, request.limits, request.symbols).values():
        is_alike[rows] = np.isin(rows, panel).any()
    return is_alike
