"""Labels of the cells, and a number for each gene, out of an AnnData object."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from .. import checks
from ..errors import InvalidType, InvalidValue, listed, note, short, subject
from ..labels import Labels, as_numbers, coded, is_whole, n_folds
from ..measures import cells
from ..measures import labels as by_panel
from ..measures.cells import N_NEIGHBORS
from .read import find

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anndata import AnnData
    from numpy.typing import NDArray

    from .._typing import Array
    from .names import Lookup

log = logging.getLogger(__name__)

#: What an argument with a number for each gene may be; documentation shows it.
PerGene = str | Mapping[str, float] | float

#: Texts that often stand for a missing label, and are one where somebody means it.
_MISSING = frozenset(
    (
        *("", "?", "-", "-1", "na", "n/a", "nan", "none", "null", "missing", "not assigned"),
        *("not available", "unassigned", "unclassified", "undefined", "undetermined", "unknown"),
        *("unlabeled", "unlabelled", "unsure"),
    )
)


def labels(
    adata: AnnData, name: str, argument: str = "labels", *, at_least: Literal[1, 2] = 1
) -> Labels:
    """Return a column of ``.obs`` as labels, of which there must be one, or two.

    `argument` is what messages call the column.
    """
    cell_labels, none = coded(find(adata, "obs", name, argument), argument, name)
    if not len(cell_labels.categories):
        raise InvalidValue(
            f"`{argument}={short(name)}` has no label for any cell: choose another column"
        )
    if len(cell_labels.categories) < at_least:
        raise InvalidValue(
            f"`{argument}={short(name)}` has one label, {listed(cell_labels.names)}, and two are "
            "needed: choose another column"
        )
    if none:
        note(
            f"`{argument}={short(name)}`: {sum(none.values())} cells have {listed(none)}, and "
            "count as cells without a label."
        )
    return cell_labels


def labels_or_numbers(adata: AnnData, name: str, argument: str, instead: str) -> Labels | Array:
    """Return a column of ``.obs`` as labels, or as numbers, NaN where they are missing.

    Whole numbers may be either, and are refused: `instead` says what to do with numbers.
    """
    column = find(adata, "obs", name, argument)
    kind = column.dtype
    of_time = pd.api.types.is_datetime64_any_dtype(kind), pd.api.types.is_timedelta64_dtype(kind)
    if any(of_time) or isinstance(kind, pd.PeriodDtype) or pd.api.types.is_complex_dtype(kind):
        raise InvalidType(
            f"`{argument}={short(name)}` has dtype {kind}, which is neither labels nor real "
            "numbers: convert it to one of these"
        )
    values = as_numbers(column)
    if values is None:
        return labels(adata, name, argument, at_least=2)
    if is_whole(values) and not np.isnan(values).all():
        raise InvalidType(
            f"`{argument}={short(name)}` holds whole numbers, which may be labels or measurements: "
            f"convert labels with `.astype('category')`, and {instead}"
        )
    return values


def log_labels(labels: NDArray[Any], cv: int | None) -> None:
    """Log which values are classes, those that may mean a missing label, and those with few cells.

    `cv` is the number of folds that is asked for; None: none.
    """
    classes, counts = np.unique(labels.astype(str), return_counts=True)
    sizes = ", ".join(f"{name} ({n})" for name, n in zip(classes, counts, strict=True))
    log.info(f"`labels` has {len(classes)} classes: {sizes}.")
    suspect = [name for name in classes.tolist() if name.strip().casefold() in _MISSING]
    if suspect:
        note(
            f"`labels`: {listed(map(repr, suspect))} is used as a class. If it stands for a "
            "missing label, set the label of these cells to missing."
        )
    alone = classes[counts == 1]
    if len(alone):
        note(
            f"`labels`: {listed(map(repr, alone.tolist()))} has one labelled cell, which is "
            "used for training only: it is in no test fold and not in the graph of the classes."
        )
    if cv is not None and counts.max() > 1:
        _log_folds(classes, counts, cv)


def log_neighbors(n_cells: int) -> None:
    """Log where cells are compared by fewer nearest cells than usual."""
    if cells.n_neighbors_of(n_cells) < N_NEIGHBORS:
        note(
            f"The nearest {cells.n_neighbors_of(n_cells)} of {n_cells} cells are compared, "
            f"instead of {N_NEIGHBORS}."
        )


def log_few(labels: Labels, readings: Sequence[str]) -> None:
    """Log where labels are predicted by fewer cells than usual, or cannot be."""
    codes, names = labels.codes, np.array(labels.names, dtype=object)
    sizes = np.bincount(codes[codes >= 0], minlength=len(names))
    if sizes.max() < 2:
        note("`labels` has no label of two cells, and none can be predicted.")
        return
    k = by_panel.n_neighbors_of(codes)
    if k < N_NEIGHBORS and "knn" in readings:
        note(
            f"`labels` has small groups: labels are predicted from the nearest {k} cells, "
            f"instead of {N_NEIGHBORS}."
        )
    few = {
        by_panel.describe_reading(reading, codes): names[sizes < by_panel.fewest(reading, codes)]
        for reading in readings
    }
    texts = [f"{called}: {listed(group)}" for called, group in few.items() if len(group)]
    if texts:
        note(
            "`labels` has labels of too few cells to be predicted well by any panel "
            f"({'; '.join(texts)}): their recall says little."
        )


def numbers(
    genes: Lookup,
    per_gene: PerGene,
    argument: str,
    *,
    needed: NDArray[np.bool_] | None = None,
    most: float = np.inf,
    otherwise: float = 0.0,
    unnamed: float = np.nan,
) -> Array:
    """Return numbers per gene of an argument, shape (n_vars,), from 0 to `most`.

    The argument is one for all, a column of ``.var``, or a dict by name.

    Each of the genes `needed` (None: all) must have one; `otherwise` is that of the rest, and
    `unnamed` that of genes that a dict does not name.
    """
    adata = genes.adata
    if isinstance(per_gene, str):
        values = _of_column(find(adata, "var", per_gene, argument), argument, per_gene)
    elif isinstance(per_gene, Mapping):
        values = _of_column(_by_row(genes, per_gene, argument, unnamed), argument)
    else:
        checks.number(argument, per_gene)
        values = np.full(adata.n_vars, float(per_gene))
    may = np.ones(adata.n_vars, dtype=bool) if needed is None else needed
    bad = np.zeros(adata.n_vars, dtype=bool)
    for wrong, problem in (
        (~np.isfinite(values), "no finite number"),
        (values < 0, "a number below 0"),
        (values > most, f"a number above {most:g}"),
    ):
        bad |= wrong
        if (may & wrong).any():
            raise InvalidValue(
                f"`{argument}` has {problem} for {int((may & wrong).sum())} genes "
                f"({listed(adata.var_names[may & wrong])}): correct these, or remove the genes"
            )
    return np.where(bad, otherwise, values)


def _by_row(genes: Lookup, of_names: Mapping[Any, Any], argument: str, unnamed: float) -> pd.Series:
    """Return the value of each row, out of those of names; names that no gene has are refused."""
    strange = [str(name) for name in of_names if not genes.of(str(name))]
    if strange:
        genes.report(argument, strange)
    by_row = genes.by_row(of_names)
    return pd.Series([by_row.get(row, unnamed) for row in range(genes.n_genes)], dtype=object)


def _log_folds(classes: NDArray[Any], counts: NDArray[np.intp], cv: int) -> None:
    """Log how many folds there are, and classes with fewer cells."""
    number = n_folds(counts, cv)
    if number < cv:
        note(
            f"`labels`: the largest class has {int(counts.max())} labelled cells, and {number} "
            f"folds are used instead of `cv={short(cv)}`."
        )
    few = classes[(counts > 1) & (counts < number)]
    if len(few):
        note(
            f"`labels`: {listed(map(repr, few.tolist()))} has fewer labelled cells than folds "
            f"({number}), and is in as many test folds as it has cells."
        )


def _of_column(values: pd.Series, argument: str, name: str | None = None) -> Array:
    """Return a column as numbers, NaN where it is empty."""
    try:
        return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))
    except (TypeError, ValueError):
        raise InvalidType(
            f"{subject(argument, name)} must hold numbers, and has dtype {values.dtype}"
        ) from None
