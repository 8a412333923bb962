"""From a request about an object of cells × genes to a panel: each part read, then ranked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .. import codec
from ..errors import InvalidValue, naming
from ..selection import answerable, rank_genes
from . import names, platform, read, results, target
from .constraints import within
from .structure import structure_of

if TYPE_CHECKING:
    import pandas as pd
    from anndata import AnnData

    from ..options import Request
    from ..selection import Candidates


def select(
    adata: AnnData, request: Request, key: str, *, recorded: Request | None = None, keep: bool
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the columns of ``.var`` and the envelope of the panel that a request asks for.

    `adata` stays as it is, but for a structure that is to be kept.  `recorded` is the request in
    the names of another object; None: this one.
    """
    read.unique_names(adata)
    spec = request.structure
    genes = names.choose(
        adata,
        request.include,
        request.exclude,
        symbols=request.symbols,
        missing=request.missing,
    )
    inputs = read.inputs(adata, spec)
    candidates = candidates_of(adata, request, genes)
    wanted = target.resolve(adata, request)
    answerable(request, candidates, wanted, adata.shape, one_set=inputs.batch is None)
    cells = None
    if request.ranker.by_criterion:
        cells = structure_of(adata, spec, inputs, keep=keep).sets
        free = request.n_genes is None and wanted is None
        free &= candidates.rows is None or not candidates.rows.budget
        if free and not any(one.has_structure for one in cells):
            raise InvalidValue(
                "n_genes",
                None,
                "needs a structure above the noise, which these cells do not have",
                "give a number, or check that the matrix is log-normalised and has enough cells",
            )
    with naming(batch="batch_key"):
        panel = rank_genes(
            inputs.data,
            request,
            candidates=candidates,
            target=wanted,
            graph=inputs.graph,
            representation=inputs.representation,
            batch=inputs.batch,
            cells=cells,
        )
    frame = results.columns_of(panel, candidates, adata.var_names, key)
    asked = request if recorded is None else recorded
    asked = replace(asked, platform=platform.recorded(asked.platform, frame, key))
    missing = {"missing": codec.storable(candidates.missing)} if candidates.missing else {}
    return frame, results.selected(panel, asked, **missing)


def candidates_of(adata: AnnData, request: Request, genes: Candidates) -> Candidates:
    """Return what platform and limits leave of some genes to choose from, and ask of a panel."""
    spec = request.structure
    detection = platform.of_genes(adata, request.platform, spec.layer, request.symbols)
    return within(adata, replace(genes, detection=detection), request)
