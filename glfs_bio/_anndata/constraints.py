"""Limits on a panel, out of an AnnData object: from what a user says to rows over its genes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..criterion.platform import AS_REFERENCE, Detection
from ..errors import InvalidValue, NotFound, caution, listed, naming, note, quoted, short
from ..options import MEASURES, Limits
from ..solvers.constraints import Row, Rows, check
from ..vendors.genes import read_markers
from . import columns, read
from .expression import FOLD, Profiles, Types, are_logarithms, marked
from .names import Lookup

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from anndata import AnnData
    from numpy.typing import NDArray

    from .._typing import Array, Index
    from ..options import Request
    from ..solvers.panel import Candidates, Panel

#: A gene that limits rule out is named if it alone preserves this share; so many are.
_STRONG, _SAID = 0.01, 3


def within(adata: AnnData, genes: Candidates, request: Request) -> Candidates:
    """Return the candidates that platform and limits leave, with what limits ask of a panel.

    `rows` is None where a panel may have all of these genes, at once and alike.
    """
    genes = _orderable(adata, genes)
    layer = request.structure.layer
    limit_rows = rows(
        adata,
        request.limits,
        layer=layer,
        allowed=genes.allowed,
        detection=genes.detection,
        symbols=request.symbols,
    )
    if limit_rows is None:
        return genes
    genes = replace(genes, ruled_out=ruled_out(limit_rows, genes))
    genes = narrowed(adata, genes, limit_rows, request.n_genes)
    priority = limit_rows.priority[genes.allowed]
    weighed = limit_rows.budget or limit_rows.lower.any() or (priority != 1.0).any()
    binds = weighed or not limit_rows.hold(genes.allowed.astype(float))
    return replace(genes, rows=limit_rows) if binds else genes


def ruled_out(rows: Rows, genes: Candidates) -> dict[int, str]:
    """Candidates that a limit rules out on their own, with these limits."""
    out = np.flatnonzero(genes.allowed & ~rows.allowed)
    over = rows.columns(out) > rows.most[:, None]
    return {
        int(gene): ", ".join(dict.fromkeys(rows.limits[row] for row in np.flatnonzero(by)))
        for gene, by in zip(out, over.T, strict=True)
    }


def name_ruled_out(adata: AnnData, panel: Panel) -> Panel:
    """The same panel with the names of the genes that limits rule out."""
    table = panel.info["ruled_out"]
    table = table.assign(gene=adata.var_names[table["gene"]].astype(object))
    return replace(panel, info=panel.info | {"ruled_out": table})


def say_ruled_out(table: pd.DataFrame) -> None:
    """Log the strongest genes that limits rule out."""
    strong = table[table["preserved"] >= _STRONG].head(_SAID)
    if len(strong):
        texts = [f"{row.gene} ({row.limit}; {row.preserved:.0%})" for row in strong.itertuples()]
        note(f"`limits` rule out genes that alone would preserve much: {listed(texts)}.")


def _orderable(adata: AnnData, genes: Candidates) -> Candidates:
    """The same candidates without those that cannot be ordered."""
    orderable = genes.detection.orderable
    if orderable is None:
        return genes
    out = genes.included & ~orderable
    if out.any():
        raise InvalidValue(
            "`include` has genes that cannot be ordered for the `platform`: "
            f"{listed(adata.var_names[out])}: leave them out, or correct its genes"
        )
    if not (genes.allowed & orderable).any():
        raise InvalidValue("`platform` leaves no gene to choose from: correct its genes")
    return replace(genes, allowed=genes.allowed & orderable)


def rows(
    adata: AnnData,
    limits: Limits | None,
    *,
    layer: str | None = None,
    allowed: NDArray[np.bool_] | None = None,
    detection: Detection = AS_REFERENCE,
    symbols: str | None = None,
) -> Rows | None:
    """Return limits as rows over all genes of `adata`; None where there are none."""
    if limits is None or limits == Limits():
        return None
    genes = Lookup(adata, symbols)
    limits = with_lists(genes, limits)
    may = np.ones(adata.n_vars, dtype=bool) if allowed is None else allowed
    priority = _priority(genes, limits, may)
    limit_rows = list(_groups(genes, limits))
    if limits.budget is not None and limits.cost is not None:
        costs = columns.numbers(genes, limits.cost, "cost", needed=may)
        limit_rows.append(_upper("budget", "", costs, float(limits.budget)))
    types = _types(adata, limits.groupby)
    quantities: dict[str, Array] = {}
    if limits.counts_layer is not None:
        quantities["counts"] = _counted(genes, limits, types, detection)
        limit_rows += _totals(quantities["counts"], limits, types, detection)
    markers: dict[str, Index] = {}
    per_type = limits.per_type
    if per_type is not None or _needs_matrix(limits):
        data = read.row_matrix(adata, layer)
        unlog = per_type is not None and are_logarithms(data)
        profiles = Profiles.of(data, types, unlog=unlog)
        quantities |= {"mean": profiles.means, "cells": profiles.shares}
        if per_type is not None:
            of_type = marked(profiles, types)
            markers = {name: np.flatnonzero(of_type == k) for k, name in enumerate(types.names)}
            _warn_of_few(markers, per_type)
    limit_rows += _of_single_genes(quantities, limits)
    for name, rows_of_type in markers.items():
        least = min(per_type or 0, len(rows_of_type))
        limit_rows.append(_number(f"per_type ≥ {per_type}", name, rows_of_type, least=least))
    genes.note_renamed("limits")
    return Rows.of(limit_rows, adata.n_vars, priority, budget=limits.budget is not None)


def with_lists(lookup: Lookup, limits: Limits) -> Limits:
    """The same limits with lists of genes in place of the name of their file, by their names in the
    data where they are there.
    """
    name, adata = limits.groups, lookup.adata
    if not isinstance(name, str) or name in adata.var or not Path(name).suffix:
        return limits
    with naming(path="groups"):
        lists = read_markers(name)
    groups = {
        group: [name for gene in genes for name in [*adata.var_names[[*lookup.of(gene)]]] or [gene]]
        for group, genes in lists.items()
    }
    return replace(limits, groups=groups)


def narrowed(adata: AnnData, genes: Candidates, rows: Rows, n_genes: int | None) -> Candidates:
    """The same choice of genes without those that a limit rules out on their own."""
    fits = rows.allowed
    out = genes.included & ~fits
    if out.any():
        nothing = np.zeros(len(rows.names))
        blamed = rows.only(np.flatnonzero(out)).refused(nothing) > 0
        limits = ", ".join(name for name, guilty in zip(rows.names, blamed, strict=True) if guilty)
        raise InvalidValue(
            f"`include` has genes that limits rule out ({limits}): {listed(adata.var_names[out])}: "
            "leave them out, or relax the limits"
        )
    check(
        rows,
        n_genes,
        include=np.flatnonzero(genes.included),
        candidates=np.flatnonzero(genes.allowed),
    )
    allowed = genes.allowed & fits
    if n_genes is not None and n_genes > allowed.sum():
        raise InvalidValue(
            f"`n_genes={short(n_genes)}` is more than the {int(allowed.sum())} candidate genes "
            f"within the limits ({', '.join(dict.fromkeys(rows.limits))}): reduce it, or relax the "
            "limits"
        )
    return replace(genes, allowed=allowed)


def _upper(limit: str, of: str, values: Array, upper: float) -> Row:
    """Return a row for a sum over all genes, of all cells or `of` some, that has a maximum."""
    genes = np.flatnonzero(values)
    limit = f"{limit} ≤ {upper:g}"
    return Row(limit, limit + of, genes, values[genes], upper=upper)


def _number(
    limit: str, name: str, genes: Index, *, least: int | None, most: int | None = None
) -> Row:
    """Return a row for the number of genes of a set."""
    upper = np.inf if most is None else float(most)
    values = np.ones(len(genes))
    return Row(limit, f"{limit} ({name})", genes, values, lower=float(least or 0), upper=upper)


def _of_single_genes(quantities: Mapping[str, Array], limits: Limits) -> Iterator[Row]:
    """Return a row for every limit on single genes: of the genes it rules out a panel holds none.

    `quantities` of genes over all cells and in each type, shape (n_genes, 1 + n_types).
    """
    ranges: Mapping[str, Any] = limits.expression or {}
    for name, (quantity, in_type) in MEASURES.items():
        if name not in ranges:
            continue
        least, most = ranges[name]
        values = quantities[quantity]
        values = values[:, 1:].max(axis=1) if in_type else values[:, 0]
        for sign, bound, is_out in (("≥", least, np.less), ("≤", most, np.greater)):
            if bound is not None:
                limit = f"expression[{name!r}] {sign} {bound:g}"
                genes = np.flatnonzero(is_out(values, bound))
                yield Row(limit, limit, genes, np.ones(len(genes)), upper=0.0)


def _counted(genes: Lookup, limits: Limits, types: Types, detection: Detection) -> Array:
    """Mean counts that the platform detects of each gene, shape (n_genes, 1 + n_types)."""
    counts = read.counts(genes.adata, str(limits.counts_layer))
    means = counts.weighted_sums(types.members()) / types.sizes
    if detection.efficiency is not None:
        means *= detection.efficiency[:, None]
    if limits.expected_counts is not None:
        expected = _numbers(genes, limits.expected_counts, "expected_counts")
        means[list(expected), 0] = list(expected.values())
    if not (np.isfinite(means).all() and (means >= 0).all()):
        raise InvalidValue(
            "`counts_layer` has values that are negative or not finite: name a layer of raw counts"
        )
    return np.asarray(means)


def _totals(means: Array, limits: Limits, types: Types, detection: Detection) -> Iterator[Row]:
    """Rows for the mean total of the panel's counts, over all cells, those of a type, and bits."""
    totals: Mapping[str, Any] = limits.total_counts or {}
    if "cell" in totals:
        yield _upper("total_counts['cell']", "", means[:, 0], totals["cell"])
    if "bit" in totals:
        if detection.codewords is None:
            raise InvalidValue(
                f"`total_counts['bit']={short(totals['bit'])}` needs a `platform` with a codebook: "
                "give one"
            )
        for bit, load in enumerate(detection.codewords.T * means[:, 0], start=1):
            yield _upper("total_counts['bit']", f" (bit {bit})", load, totals["bit"])
    if "type" not in totals:
        return
    of_types = totals["type"]
    if not isinstance(of_types, Mapping):
        of_types = dict.fromkeys(types.names, of_types)
    for name, total in of_types.items():
        if str(name) not in types.names:
            raise NotFound(
                f"`total_counts['type']` has the type {quoted(name)}, which is missing in column "
                f"{limits.groupby!r} of `adata.obs`: choose from {listed(types.names)}"
            )
        of_type = means[:, 1 + types.names.index(str(name))]
        limit = "total_counts['type']"
        yield _upper(limit, f" ({name})", of_type, total)._replace(limit=limit)


def _groups(genes: Lookup, limits: Limits) -> Iterator[Row]:
    """Return a row for every group of which a panel has so many genes at least, or at most.

    A group of fewer genes than its maximum has none.
    """
    if limits.groups is None:
        return
    groups = _lists(genes, limits.groups)
    ranges: Any = limits.per_group
    if not isinstance(ranges, Mapping):
        ranges = dict.fromkeys(groups, ranges)
    if strange := [name for name in ranges if name not in groups]:
        raise NotFound(
            f"`per_group` has groups that are missing in `groups`: {listed(strange)}: choose from "
            f"{listed(groups)}"
        )
    for name, (least, most) in ranges.items():
        if not least and len(groups[name]) <= most:
            continue
        if most is None:
            limit = f"per_group ≥ {least}"
        else:
            limit = f"{least} ≤ per_group ≤ {most}" if least else f"per_group ≤ {most}"
        yield _number(limit, name, groups[name], least=least, most=most)


def _lists(genes: Lookup, groups: str | Mapping[str, Collection[str]]) -> dict[str, Index]:
    """Return rows of the genes in lists by name, or in a column of ``.var``."""
    if isinstance(groups, Mapping):
        return _listed(genes, groups, "groups")
    column = read.find(genes.adata, "var", groups, "groups")
    names = column.astype(str).to_numpy()
    members = np.flatnonzero(column.notna().to_numpy() & (names != ""))
    by_name = pd.Series(members).groupby(names[members])
    return {str(name): rows.to_numpy() for name, rows in by_name}


def _warn_of_few(markers: Mapping[str, Index], per_type: int) -> None:
    """Say which types have fewer markers than a panel should have of each; refuse none at all."""
    few = [f"{name} ({len(genes)})" for name, genes in markers.items() if len(genes) < per_type]
    meaning = f"genes of {FOLD:g} times the mean of each other type that are off in other cells"
    if not any(map(len, markers.values())):
        raise InvalidValue(
            f"`per_type={short(per_type)}` finds no marker of any type: {meaning}: merge types "
            "that are alike, or list their markers in `groups`"
        )
    if few:
        caution(
            f"`per_type={short(per_type)}`: these types have fewer markers, {meaning}, and need "
            f"no more: {listed(few)}. Merge types that are alike, or list their markers in "
            "`groups`."
        )


def _types(adata: AnnData, groupby: str | None) -> Types:
    """All cells, and those of each type in a column of ``.obs``."""
    if groupby is None:
        return Types.of(np.full(adata.n_obs, -1), [])
    labels = columns.labels(adata, groupby, "groupby")
    return Types.of(labels.codes, labels.names)


def _needs_matrix(limits: Limits) -> bool:
    """Return whether a limit is on the expression of single genes, not on their counts."""
    return any(MEASURES[name][0] != "counts" for name in limits.expression or ())


def _priority(genes: Lookup, limits: Limits, may: NDArray[np.bool_]) -> Array:
    """The factor of every gene."""
    factors = np.ones(genes.n_genes)
    if limits.priority is None:
        return factors
    if isinstance(limits.priority, Mapping):
        by_row = _numbers(genes, limits.priority, "priority")
        factors[list(by_row)] = list(by_row.values())
        return factors
    return columns.numbers(genes, limits.priority, "priority", needed=may, otherwise=1.0)


def _numbers(genes: Lookup, numbers: Mapping[str, float], argument: str) -> dict[int, float]:
    """Return numbers by row; names that are not in the data are said, once."""
    _listed(genes, {"": numbers}, argument)
    return genes.by_row(numbers)


def _listed(genes: Lookup, lists: Mapping[Any, Collection[str]], argument: str) -> dict[str, Index]:
    """Rows of the genes in lists; names that are not in the data are said, once."""
    names = {str(gene) for members in lists.values() for gene in members}
    absent = sorted(name for name in names if not genes.of(name))
    if len(absent) == len(names):
        genes.report(argument, absent)
    if absent:
        note(
            f"{len(absent)} genes of `{argument}` are missing in {genes.where}: "
            f"{listed(absent)}{genes.hints(absent)}."
        )
    return {
        str(name): np.unique([row for gene in members for row in genes.of(str(gene))]).astype(
            np.intp
        )
        for name, members in lists.items()
    }
