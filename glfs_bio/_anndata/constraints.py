"""Limits on a panel, out of an AnnData object: from what a user says to rows over its genes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..criterion.platform import AS_REFERENCE, Detection
from ..errors import InvalidValue, NotFound, caution, listed, naming, note, quoted, short
from ..options import MEASURES, Limits
from ..solvers.constraints import Row, Rows, check
from ..vendors.genes import read_markers
from . import columns, read
from .expression import members, of_all_genes
from .names import Lookup

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from anndata import AnnData
    from numpy.typing import NDArray

    from .._typing import Array, Index
    from ..labels import Labels
    from ..options import Request
    from ..solvers.constraints import Mask
    from ..solvers.panel import Panel, Problem
    from .expression import Expression

#: A gene that limits rule out is named if it alone preserves this share; so many are.
_STRONG, _SAID = 0.01, 3


def within(adata: AnnData, problem: Problem, request: Request) -> Problem:
    """Return the candidates that platform and limits leave, with rows where limits bind."""
    problem = _orderable(adata, problem)
    limit_rows = rows(adata, request, allowed=problem.allowed, detection=problem.detection)
    if limit_rows is None:
        return problem
    out = ruled_out(limit_rows, problem)
    names = [f"{adata.var_names[row]} ({out[row]})" for row in out if problem.included[row]]
    if names:
        raise InvalidValue(f"`include` has genes that limits rule out: {listed(names)}: omit them")
    include, candidates = np.flatnonzero(problem.included), np.flatnonzero(problem.allowed)
    check(limit_rows, request.n_genes, include=include, candidates=candidates)
    problem = replace(problem, ruled_out=out, allowed=problem.allowed & limit_rows.allowed)
    n_allowed = int(problem.allowed.sum())
    if request.n_genes is not None and request.n_genes > n_allowed:
        text = f"is more than the {n_allowed} genes within {listed(limit_rows.limits)}: relax these"
        raise InvalidValue(f"`n_genes={short(request.n_genes)}` {text}")
    priority = limit_rows.priority[problem.allowed]
    weighed = limit_rows.budget or limit_rows.lower.any() or (priority != 1.0).any()
    binds = weighed or not limit_rows.hold(problem.allowed.astype(float))
    return replace(problem, limits=limit_rows) if binds else problem


def ruled_out(rows: Rows, problem: Problem) -> dict[int, str]:
    """Candidates that a limit rules out on their own, with these limits."""
    out = np.flatnonzero(problem.allowed & ~rows.allowed)
    over = rows.matrix[:, out].toarray() > rows.most[:, None]
    return {
        int(gene): ", ".join(dict.fromkeys(rows.limits[row] for row in np.flatnonzero(by)))
        for gene, by in zip(out, over.T, strict=True)
    }


def name_ruled_out(adata: AnnData, panel: Panel) -> Panel:
    """Return the same panel with the names of the genes that limits rule out, and log these."""
    if "ruled_out" not in panel.info:
        return panel
    table = panel.info["ruled_out"]
    table = table.assign(gene=adata.var_names[table["gene"]].astype(object))
    strong = table[table["preserved"] >= _STRONG].head(_SAID)
    if len(strong):
        texts = [f"{row.gene} ({row.limit}; {row.preserved:.0%})" for row in strong.itertuples()]
        note(f"`limits` rule out genes that alone would preserve much: {listed(texts)}.")
    return replace(panel, info=panel.info | {"ruled_out": table})


def _orderable(adata: AnnData, problem: Problem) -> Problem:
    """The same candidates without those that cannot be ordered."""
    orderable = problem.detection.orderable
    if orderable is None:
        return problem
    out = problem.included & ~orderable
    if out.any():
        raise InvalidValue(f"`include` has {listed(adata.var_names[out])}: they cannot be ordered")
    if not (problem.allowed & orderable).any():
        raise InvalidValue("`platform` leaves no gene to choose from: correct its genes")
    return replace(problem, allowed=problem.allowed & orderable)


def rows(
    adata: AnnData,
    request: Request,
    *,
    allowed: NDArray[np.bool_] | None = None,
    detection: Detection = AS_REFERENCE,
) -> Rows | None:
    """Return limits as rows over all genes, for costs of those `allowed`; None without limits."""
    limits = request.limits
    if limits is None or limits == Limits():
        return None
    genes = Lookup(adata, request.symbols)
    limits = with_lists(genes, limits)
    priority = np.ones(adata.n_vars)
    if isinstance(limits.priority, Mapping):
        priority = _replaced(priority, genes, limits.priority, "priority")
    elif limits.priority is not None:
        priority = columns.numbers(genes, limits.priority, "priority", allowed)
    limit_rows = list(_groups(genes, limits))
    if limits.budget is not None and limits.cost is not None:
        costs = columns.numbers(genes, limits.cost, "cost", allowed)
        limit_rows.append(_upper("budget", "", costs, float(limits.budget)))
    labels = None if limits.groupby is None else columns.labels(adata, limits.groupby, "groupby")
    quantities: dict[str, Array] = {}
    if limits.counts_layer is not None:
        quantities["counts"] = _counted(genes, limits, labels, detection)
        limit_rows += _totals(quantities["counts"], limits, labels, detection)
    of_types = []
    measured = {MEASURES[name][0] for name in limits.expression or ()}
    if limits.per_type is not None or measured - {"counts"}:
        expression = of_all_genes(adata, labels, request.structure.layer)
        quantities |= {"mean": expression.means, "cells": expression.shares}
        of_types = _of_types(expression, limits.per_type, allowed)
    limit_rows += [*_of_single_genes(quantities, limits), *of_types]
    genes.note_renamed("limits")
    return Rows.of(limit_rows, adata.n_vars, priority, budget=limits.budget is not None)


def with_lists(lookup: Lookup, limits: Limits) -> Limits:
    """Return limits with the lists of genes of a file, by their names in the data."""
    path, adata = limits.groups, lookup.adata
    if not isinstance(path, str) or path in adata.var or not Path(path).suffix:
        return limits
    with naming(path="groups"):
        lists = read_markers(path)
    groups: dict[str, list[str]] = {group: [] for group in lists}
    for group, genes in lists.items():
        for gene in genes:
            groups[group] += list(adata.var_names[list(lookup.of(gene))]) or [gene]
    return replace(limits, groups=groups)


def _upper(limit: str, of: str, values: Array, upper: float) -> Row:
    """Return a row for a sum over all genes, of all cells or `of` some, that has a maximum."""
    genes = np.flatnonzero(values)
    limit = f"{limit} ≤ {upper:g}"
    return Row(limit, limit + of, genes, values[genes], upper=upper)


def _number(limit: str, name: str, genes: Index, least: int | None, most: int | None = None) -> Row:
    """Return a row for the number of genes of a set."""
    upper = np.inf if most is None else float(most)
    return Row(limit, f"{limit} ({name})", genes, np.ones(len(genes)), float(least or 0), upper)


def _of_single_genes(quantities: Mapping[str, Array], limits: Limits) -> Iterator[Row]:
    """Return a row for every limit on single genes: a panel holds none that it rules out."""
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


def _counted(genes: Lookup, limits: Limits, labels: Labels | None, detection: Detection) -> Array:
    """Return mean counts that the platform detects, shape (n_genes, 1 + n_types)."""
    counts = read.counts(genes.adata, str(limits.counts_layer))
    cells = np.ones((genes.adata.n_obs, 1))
    if labels is not None:
        cells = members(labels.codes, len(labels.categories))
    means = counts.weighted_sums(cells) / cells.sum(axis=0)
    if detection.efficiency is not None:
        means *= detection.efficiency[:, None]
    if limits.expected_counts is not None:
        means[:, 0] = _replaced(means[:, 0], genes, limits.expected_counts, "expected_counts")
    if not (np.isfinite(means).all() and (means >= 0).all()):
        raise InvalidValue("`counts_layer` has negative or infinite values: name raw counts")
    return np.asarray(means)


def _totals(
    means: Array, limits: Limits, labels: Labels | None, detection: Detection
) -> Iterator[Row]:
    """Yield rows for the mean total of counts, over all cells, those of a type, and bits."""
    totals: Mapping[str, Any] = limits.total_counts or {}
    if "cell" in totals:
        yield _upper("total_counts['cell']", "", means[:, 0], totals["cell"])
    if "bit" in totals:
        if detection.codewords is None:
            raise InvalidValue("`total_counts['bit']` needs a `platform` with a codebook: give one")
        for bit, load in enumerate(detection.codewords.T * means[:, 0], start=1):
            yield _upper("total_counts['bit']", f" (bit {bit})", load, totals["bit"])
    if labels is None or "type" not in totals:
        return
    of_types = totals["type"]
    if not isinstance(of_types, Mapping):
        of_types = dict.fromkeys(labels.names, of_types)
    limit = "total_counts['type']"
    for name, total in of_types.items():
        if name not in labels.names:
            raise NotFound(f"`{limit}` has no type {quoted(name)}: use {listed(labels.names)}")
        counts = means[:, 1 + labels.names.index(name)]
        yield _upper(limit, f" ({name})", counts, total)._replace(limit=limit)


def _groups(genes: Lookup, limits: Limits) -> Iterator[Row]:
    """Return a row for every group of which a panel has so many genes at least, or at most."""
    if limits.groups is None:
        return
    groups = _lists(genes, limits.groups)
    ranges: Any = limits.per_group
    if not isinstance(ranges, Mapping):
        ranges = dict.fromkeys(groups, ranges)
    if strange := [name for name in ranges if name not in groups]:
        raise NotFound(f"`per_group` has {listed(strange)}: choose from {listed(groups)}")
    for name, (least, most) in ranges.items():
        if not least and len(groups[name]) <= most:
            continue
        if most is None:
            limit = f"per_group ≥ {least}"
        else:
            limit = f"{least} ≤ per_group ≤ {most}" if least else f"per_group ≤ {most}"
        yield _number(limit, name, groups[name], least, most)


def _lists(genes: Lookup, groups: str | Mapping[str, Collection[str]]) -> dict[str, Index]:
    """Return rows of the genes in lists by name, or in a column of ``.var``."""
    if isinstance(groups, Mapping):
        return _listed(genes, groups, "groups")
    column = read.find(genes.adata, "var", groups, "groups")
    names = column.astype(str)
    names = names.where(column.notna() & (names != ""))
    return {str(name): rows for name, rows in names.groupby(names).indices.items()}


def _of_types(expression: Expression, per_type: int | None, allowed: Mask | None) -> list[Row]:
    """Return a row for the markers of each type; one with fewer `allowed` markers needs these."""
    if per_type is None:
        return []
    markers = [np.flatnonzero(expression.marked == k) for k in range(len(expression.labels))]
    if not any(map(len, markers)):
        raise InvalidValue(f"`per_type={short(per_type)}` finds no marker: list some in `groups`")
    rows, few = [], []
    for name, genes in zip(expression.labels, markers, strict=True):
        least = min(per_type, len(genes) if allowed is None else int(allowed[genes].sum()))
        rows.append(_number(f"per_type ≥ {per_type}", name, genes, least))
        if least < per_type:
            few.append(f"{name} ({least})")
    if few:
        text = f"types with fewer markers need these: {listed(few)}: merge types, or use `groups`"
        caution(f"`per_type={short(per_type)}`: {text}.")
    return rows


def _replaced(values: Array, genes: Lookup, by_name: Mapping[str, float], argument: str) -> Array:
    """Return values in which genes have those of a dict; names that the data lack are said."""
    _listed(genes, {"": by_name}, argument)
    for row, value in genes.by_row(by_name).items():
        values[row] = value
    return values


def _listed(genes: Lookup, lists: Mapping[Any, Collection[str]], argument: str) -> dict[str, Index]:
    """Rows of the genes in lists; names that are not in the data are said, once."""
    names = {str(gene) for members in lists.values() for gene in members}
    absent = sorted(name for name in names if not genes.of(name))
    if len(absent) == len(names):
        genes.report(argument, absent)
    if absent:
        text = f"`{argument}` has genes that are missing in {genes.where}"
        note(f"{text}: {listed(absent)}{genes.hints(absent)}.")
    return {
        str(name): np.unique([row for gene in of_name for row in genes.of(str(gene))]).astype(int)
        for name, of_name in lists.items()
    }
