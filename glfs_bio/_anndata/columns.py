"""Labels of the cells, their neighbours in space, and numbers of genes, out of an object."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from .. import checks
from ..cells.graph import check_coordinates
from ..errors import InvalidType, InvalidValue, NotFound, listed, naming, note, short, subject
from ..labels import Labels, as_numbers, batch_names, coded, is_whole
from ..measures import labels as by_panel
from ..measures import space
from ..measures.cells import N_NEIGHBORS
from . import expression, read
from .read import find

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anndata import AnnData
    from numpy.typing import NDArray
    from scipy import sparse

    from .._typing import Array
    from .names import Lookup

log = logging.getLogger(__name__)

#: Where squidpy keeps coordinates and its graph, in ``.obsm`` and ``.uns``.
COORDINATES, GRAPH = "spatial", "spatial_neighbors"
#: What an argument with a number for each gene may be; documentation shows it.
PerGene = str | Mapping[str, float] | float


def labels(
    adata: AnnData, name: str, argument: str = "labels", *, at_least: Literal[1, 2] = 1
) -> Labels:
    """Return a column of ``.obs`` as labels, `at_least` so many; messages call it `argument`.

    Of cells that were left out there are names alone, of the column whose types were kept.
    """
    if adata.n_obs == 0:
        of_cells = expression.moments(adata)
        if name != str(of_cells["column"]):
            read.need_cells(adata, argument, name)
        return Labels(np.empty(0, dtype=np.intp), np.array(of_cells["labels"], dtype=object))
    cell_labels, none = coded(find(adata, "obs", name, argument), argument, name)
    if len(cell_labels.names) < at_least:
        raise InvalidValue(f"`{argument}={short(name)}` needs {at_least} labels: choose another")
    if none:
        note(f"`{argument}={short(name)}`: {sum(none.values())} without a label ({listed(none)}).")
    return cell_labels


def large(adata: AnnData, name: str, least: int) -> Labels:
    """Return a column of ``.obs`` as labels, without those of few cells, which are said."""
    cell_labels = labels(adata, name)
    is_large = np.bincount(cell_labels.codes[cell_labels.codes >= 0]) >= least
    names = np.array(cell_labels.names, dtype=object)
    if not is_large.any():
        raise InvalidValue(f"`labels={short(name)}` has no type of {least} cells: merge types")
    if not is_large.all():
        note(f"`labels={short(name)}`: types of few cells left out: {listed(names[~is_large])}.")
    codes = np.append(np.where(is_large, np.cumsum(is_large) - 1, -1), -1)
    return Labels(codes[cell_labels.codes], names[is_large])


def labels_or_numbers(adata: AnnData, name: str, argument: str, instead: str) -> Labels | Array:
    """Return a column of ``.obs`` as labels, or as decimal numbers; whole ones are refused."""
    if adata.n_obs == 0:
        return labels(adata, name, argument)
    column = find(adata, "obs", name, argument)
    kind = column.dtype
    if kind.kind in "mMc" or isinstance(kind, pd.PeriodDtype):  # times, and complex numbers
        raise InvalidType(f"`{argument}={short(name)}` is {kind}: convert it to labels or numbers")
    values = as_numbers(column)
    if values is None:
        return labels(adata, name, argument, at_least=2)
    if is_whole(values) and not np.isnan(values).all():
        text = f"`{argument}={short(name)}` has whole numbers"
        raise InvalidType(f"{text}: use `.astype('category')`, or {instead}")
    return values


def log_labels(labels: NDArray[Any], cv: int | None) -> None:
    """Log which values are classes, and those of few cells for `cv` folds (None: none)."""
    classes, counts = np.unique(labels.astype(str), return_counts=True)
    texts = [f"{name!r} ({n})" for name, n in zip(classes.tolist(), counts, strict=True)]
    log.info(f"`labels` has {len(classes)} classes: {', '.join(texts)}.")
    most = int(counts.max())
    if cv is not None and 1 < most < cv:
        note(f"`labels` has at most {most} cells in a class: {most} folds are used.")
    few = np.array(texts)[counts < max(min(most, cv or 2), 2)]
    if len(few):
        note(f"`labels` has classes of few labelled cells, single ones in no test: {listed(few)}.")


def log_few(labels: Labels, readings: Sequence[str]) -> None:
    """Log labels of too few cells to be predicted."""
    codes, names = labels.codes, np.array(labels.names, dtype=object)
    sizes = np.bincount(codes[codes >= 0], minlength=len(names))
    if sizes.max() < 2:
        note("`labels` has no label of two cells, and none can be predicted.")
        return
    texts = []
    for reading in readings:
        few = names[sizes < by_panel.fewest(reading, codes)]
        if len(few):
            texts.append(f"{by_panel.describe_reading(reading, codes)}: {listed(few)}")
    if texts:
        note(f"`labels` has labels of too few cells to be predicted well ({'; '.join(texts)}).")


def neighbours(
    adata: AnnData, spatial: str | None, library_key: str | None, n_neighbors: int = N_NEIGHBORS
) -> sparse.csr_array:
    """Return neighbours in space, of squidpy or by coordinates, none across sections or regions."""
    checks.texts(spatial=spatial, library_key=library_key, or_none=True)
    read.need_cells(adata, "spatial", spatial)
    if spatial is None:
        spatial = GRAPH if GRAPH in adata.uns else COORDINATES
    if library_key is None:
        attributes = adata.uns.get("spatialdata_attrs")
        library_key = attributes.get("region_key") if isinstance(attributes, Mapping) else None
    section = np.zeros(adata.n_obs, dtype=np.intp)
    if library_key is not None:
        column = find(adata, "obs", library_key, "library_key")
        sections = batch_names(column, "library_key", library_key)
        section = np.unique(sections, return_inverse=True)[1]
    if spatial in adata.obsm:
        positions = find(adata, "obsm", spatial, "spatial")
        positions = check_coordinates(positions, adata.n_obs, "spatial")
        return space.neighbours(positions, section, n_neighbors)
    if spatial in adata.uns:
        with naming(neighbors_key="spatial"):
            return space.within(read.graph(adata, spatial), section)
    spaces = listed(read.own_names(adata, "obsm"))
    text = f"{subject('spatial', spatial)} is no `graph of adata.uns`, nor in `adata.obsm`"
    raise NotFound(f"{text}, which has {spaces}: name one, or add coordinates")


def numbers(
    genes: Lookup,
    per_gene: PerGene,
    argument: str,
    needed: NDArray[np.bool_] | None = None,
    *,
    most: float = np.inf,
    unnamed: float = np.nan,
) -> Array:
    """Return numbers per gene from 0 to `most`; all, or those `needed`, must have one."""
    if isinstance(per_gene, str):
        column = find(genes.adata, "var", per_gene, argument)
    elif isinstance(per_gene, Mapping):
        genes.report(argument, [str(name) for name in per_gene if not genes.of(str(name))])
        by_row = pd.Series(genes.by_row(per_gene), dtype=object)
        column = by_row.reindex(range(genes.n_genes), fill_value=unnamed)
    else:
        checks.number(argument, per_gene)
        column = pd.Series(float(per_gene), index=range(genes.n_genes))
    try:
        values = np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    except (TypeError, ValueError):
        raise InvalidType(f"`{argument}` must hold numbers, and has dtype {column.dtype}") from None
    is_bad = ~(np.isfinite(values) & (values >= 0) & (values <= most))
    refused = is_bad if needed is None else is_bad & needed
    if refused.any():
        limit = "" if np.isinf(most) else f" and at most {most:g}"
        names = listed(genes.adata.var_names[refused])
        raise InvalidValue(f"`{argument}` needs finite numbers ≥ 0{limit} for {names}")
    return np.where(is_bad, 0.0, values)
