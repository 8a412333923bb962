"""What a panel is to preserve, out of an AnnData object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from .. import checks
from ..criterion.criterion import (
    Target,
    TermOfCells,
    expression_matrix,
    genes_matrix,
    label_matrix,
    structure_matrix,
    value_matrix,
)
from ..criterion.error import Evidence
from ..data.matrix import check_indices
from ..errors import InvalidType, InvalidValue, NotFound, listed, note, quoted, short
from ..labels import Labels
from ..vendors import sheets
from ..vendors.genes import ENDINGS, read_markers
from . import columns, names, read
from .expression import of_all_genes

if TYPE_CHECKING:
    from anndata import AnnData

    from .._typing import Array
    from ..criterion.criterion import EvidenceOf, Term
    from ..options import Request

#: What ``preserve=`` may be; documentation shows it.
Preserve = str | Iterable[str] | Mapping[str, float]

STRUCTURE, EXPRESSION = "structure", "expression"
_OF_ALL_GENES: dict[str, Term] = {STRUCTURE: structure_matrix, EXPRESSION: expression_matrix}
_MEASUREMENTS = "put measurements into `adata.obsm`, which holds numbers only"
#: Labels with fewer cells than this are named in a message.
_FEW_CELLS = 3
#: Numbers that the evidence for pairs of labels may have: a gigabyte.
_MOST_EVIDENCE = 2**27


def resolve(adata: AnnData, request: Request) -> Target | None:
    """Return what a request asks for; None where it is the structure, all cells counting alike."""
    if request.is_plain:
        return None
    preserve, cell_weights = request.preserve, request.cell_weights
    checks.texts(cell_weights=cell_weights, or_none=True)
    shares = list(preserve.items()) if isinstance(preserve, Mapping) else [(preserve, 1.0)]
    if not shares:
        raise InvalidValue("`preserve` is empty: name a target")
    terms = []
    for source, share in shares:
        if isinstance(preserve, Mapping) and not isinstance(source, str):
            raise InvalidType(f"`preserve` has {quoted(source)}: name a column, a space or a file")
        checks.number("preserve", share, above=0.0)
        terms.append((_term(adata, source, request), float(share)))
    largest = max(share for _, share in terms)
    terms = [(term, share / largest) for term, share in terms]
    weights = None if cell_weights is None else _weights(adata, cell_weights)
    return Target(tuple(terms), weights, _evidence(adata, request, terms[0][0]))


def sources(request: Request) -> dict[str, str]:
    """Strings of a request that may name something of the cells, with their arguments."""
    preserve, limits = request.preserve, request.limits
    shares = preserve if isinstance(preserve, Mapping) else [preserve]
    arguments = {"cell_weights": request.cell_weights, "groupby": limits and limits.groupby}
    pairs = [(name, "preserve") for name in shares]
    pairs += [(name, argument) for argument, name in arguments.items()]
    names = {name: argument for name, argument in pairs if isinstance(name, str)}
    return {name: argument for name, argument in names.items() if name not in _OF_ALL_GENES}


def out_of_file(adata: AnnData, request: Request) -> Any:
    """What a request preserves, with the genes of a file in place of its path."""
    preserve = request.preserve
    if isinstance(preserve, str) and (preserve in adata.obs or preserve in adata.obsm):
        return preserve
    return names.out_of_file(adata, preserve, symbols=request.symbols)


def _term(adata: AnnData, source: Any, request: Request) -> Term:
    if isinstance(source, str):
        if source in _OF_ALL_GENES:
            return _OF_ALL_GENES[source]
        if source in adata.obs and source in adata.obsm:
            text = "is in `adata.obs` and in `adata.obsm`: rename one"
            raise InvalidValue(f"`preserve={short(source)}` {text}")
        if source in adata.obs:
            return _of_column(adata, source)
        if source in adata.obsm:
            return _of_space(adata, source)
        stored = source in adata.var or f"{source}_selected" in adata.var
        if not stored and sheets.ending(Path(source)) not in ENDINGS:
            spaces = [key for key in adata.obsm if key not in adata.uns]  # no structures
            choices = f"{listed([*adata.obs, *spaces])}, or list genes"
            raise NotFound(f"`preserve={short(source)}` is unknown: choose from {choices}")
        if not stored and source.lower().endswith(".gmt"):
            sets = read_markers(source).values()
            source = tuple(dict.fromkeys(gene for genes in sets for gene in genes))
    symbols, missing = request.symbols, request.missing
    panel = names.panel(adata, source, symbols=symbols, missing=missing, argument="preserve")
    ignored = adata.var_names[panel.genes].intersection(request.structure.ignore or ())
    if len(ignored):
        raise InvalidValue(f"`preserve` has genes that `ignore` has too: {listed(ignored)}")
    return partial(genes_matrix, panel.genes)


def _of_column(adata: AnnData, name: str) -> Term:
    """Labels, or a number a cell."""
    values = columns.labels_or_numbers(adata, name, "preserve", _MEASUREMENTS)
    if isinstance(values, np.ndarray):
        return _of_numbers(values[:, None], name)
    n_cells = np.bincount(values.codes[values.codes >= 0])
    few = [values.names[code] for code in np.flatnonzero(n_cells < _FEW_CELLS)]
    if few:
        note(f"`preserve` has labels of one or two cells, too few for a mean: {listed(few)}.")
    return TermOfCells(values.codes, label_matrix)


def _evidence(adata: AnnData, request: Request, term: Any) -> EvidenceOf | None:
    """Return R of labels on an instrument of which no cells are given; None: F is all."""
    name, platform, spec = request.preserve, request.platform, request.structure
    is_label = isinstance(term, TermOfCells) and term.matrix is label_matrix
    if isinstance(name, Mapping) or not is_label or platform is None or not platform.is_unseen:
        return None
    labels = Labels(term.values, np.arange(term.values.max(initial=-1) + 1))
    types = of_all_genes(adata, labels, spec.layer)
    is_large = len(types.sizes) ** 2 * adata.n_vars > _MOST_EVIDENCE
    if is_large or request.cell_weights is not None or spec.batch_key is not None:
        text = f"`preserve={short(name)}` takes few labels, without `batch_key` or `cell_weights`"
        raise InvalidValue(f"{text}: give the labels a weight (`{{{name!r}: 1}}`)")
    silent = read.controls(adata) | adata.var_names.isin(spec.ignore or ())
    counts = np.where(silent[:, None], 0.0, np.maximum(types.linear, 0.0))
    moments = np.array([types.means, types.variances, counts])[:, :, 1:]
    return partial(Evidence.of_types, types.sizes[1:], moments)


def _of_space(adata: AnnData, name: str) -> Term:
    """All columns of a matrix with a row a cell."""
    read.need_cells(adata, "preserve", name)
    values = adata.obsm[name]
    check_indices(values, "preserve", name)
    values = values.toarray() if sparse.issparse(values) else np.asarray(values)
    if values.dtype.kind not in "fiub":
        raise InvalidType(f"`preserve={short(name)}` must hold numbers, not {values.dtype}")
    return _of_numbers(values.reshape(adata.n_obs, -1).astype(float), name)


def _of_numbers(values: Array, name: str) -> TermOfCells:
    complete = values[np.isfinite(values).all(axis=1)]
    varies = len(complete) > 0 and (np.ptp(complete, axis=0) > 0).any()
    if np.isinf(values).any() or not varies:
        raise InvalidValue(f"`preserve={short(name)}` is infinite or constant: name another target")
    return TermOfCells(values, value_matrix)


def _weights(adata: AnnData, name: str) -> Array:
    """Of each cell: numbers as they are, or the same sum for each label."""
    read.need_cells(adata, "cell_weights", name)
    values = columns.labels_or_numbers(adata, name, "cell_weights", "divide weights by their sum")
    if isinstance(values, np.ndarray):
        if not (np.isfinite(values).all() and values.min() >= 0 and values.any()):
            raise InvalidValue(f"`cell_weights={short(name)}` must be finite, ≥ 0 and not all 0")
        return values
    is_labelled = values.codes >= 0
    codes, weights = values.codes[is_labelled], np.ones(adata.n_obs)
    n_cells = np.bincount(codes)
    weights[is_labelled] = len(codes) / (len(n_cells) * n_cells[codes])
    return weights
