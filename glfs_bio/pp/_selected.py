"""A selection from one object by the arguments of ``select_genes``."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import checks
from .._anndata import columns, constraints, names, read, write
from .._anndata.target import seen_by, shares, wanted
from ..data.matrix import RowMatrix
from ..errors import InvalidValue
from ..methods import OBJECTIVES, Method, Question
from ..selection import Options, rank_genes
from ._structure import kept as kept_structure

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from anndata import AnnData
    from numpy.typing import NDArray

    from ..solvers.constraints import Rows

_OF_OPTIONS = (
    "method",
    "lambda1",
    "standardize",
    "n_comps",
    "n_neighbors",
    "random_state",
)


def selected(adata: AnnData, params: Mapping[str, Any]) -> tuple[pd.DataFrame, dict[str, Any]]:
    """What is written of every gene, and what is recorded; `adata` is left as it is.

    Raises
    ------
    KeyError, TypeError, ValueError
        As :func:`~glfs_bio.pp.select_genes`.
    """
    options = Options(
        objective=_objective(params["objective"], params["lam"]),
        **{name: params[name] for name in _OF_OPTIONS},
    )
    checks.seed(options.random_state)
    read.unique_names(adata)
    called = {name: params[name] for name in ("symbols", "missing")}
    genes = names.choose(
        adata,
        *(params[name] for name in ("mask_var", "include", "exclude")),
        **called,
    )
    given = read.inputs(
        adata,
        **{
            name: params[name]
            for name in ("layer", "batch_key", "use_rep", "neighbors_key", "n_comps")
        },
    )
    n_genes = params["n_genes"]
    rows = constraints.rows(
        adata,
        params["limits"],
        **{name: params[name] for name in ("layer", "counts_layer", "cost", "budget")},
        allowed=genes.allowed,
    )
    if rows is not None:
        genes = constraints.narrowed(adata, genes, rows, n_genes)
        rows = _of_several_genes(rows, genes.allowed)
    fails = None
    if params["failure"] is not None:
        fails = columns.probabilities(adata, params["failure"], "failure")
    seen = np.flatnonzero(genes.seen)
    kept = wanted(adata, params["preserve"], params["cell_weights"], **called)
    if kept is not None:
        kept = seen_by(adata, kept, seen)

    detected = None
    if params["detection"] is not None:
        detected = shares(adata, params["detection"], params["layer"])

    cells = kept_structure(adata, params, given, seen) if options.ranker.by_criterion else None
    ranking = rank_genes(
        given.data if genes.seen.all() else RowMatrix(given.data, genes=seen),
        Question(
            n_genes,
            include=np.flatnonzero(genes.included[seen]),
            candidates=np.flatnonzero(genes.allowed[seen]),
            rows=None if rows is None else rows.only(seen),
            failure=None if fails is None else fails[seen],
            wanted=kept,
            across=params["across"],
            detection=None if detected is None else detected[seen],
        ),
        options,
        graph=given.graph,
        representation=given.representation,
        provisional=given.provisional,
        batch=given.batch,
        cells=cells,
    )
    key = params["key_added"]
    frame = write.table(ranking, genes, adata.var_names, key)
    if detected is not None:
        frame[f"{key}_detection"] = detected
        params = {**params, "detection": f"{key}_detection"}
    entry = write.record(ranking, params)
    entry["reused"]["structure"] = cells is not None
    if genes.missing:
        entry["missing"] = write.storable(genes.missing)
    return frame, entry


def _objective(given: str | Method, lam: Any) -> Method:
    """The objective, with λ where it is given beside it."""
    objective = OBJECTIVES.resolve("objective", given)
    if lam is None:
        return objective
    if "lam" not in {field.name for field in fields(objective)}:
        raise InvalidValue(
            "lam",
            lam,
            "is no option of {arg:objective}, which is {name}",
            "leave it out, or choose another",
            name=objective.name,
        )
    return replace(objective, lam=lam)  # type: ignore[call-arg]


def _of_several_genes(rows: Rows, allowed: NDArray[np.bool_]) -> Rows | None:
    """The limits; None where a panel may have all genes that they leave, at once and alike."""
    weighed = rows.budget or rows.lower.any() or (rows.priority[allowed] != 1.0).any()
    return rows if weighed or not rows.hold(allowed.astype(float)) else None
