"""Gene sets in the GMT format: name, description and genes on one line, separated by tabs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.metadata import version
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np

from .. import checks
from .._anndata import read, results
from .._docs import documented
from .._files import as_path, check_target, replacing
from ..errors import NO_VALUE, VAR_NAMES, InvalidType, InvalidValue, NotFound, arg, listed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from anndata import AnnData

    #: The argument that it comes from, its name, its description and its genes.
    GeneSet = tuple[str, str, str, Iterable[str]]


@documented
def write_gmt(
    adata: AnnData,
    path: str | Path,
    *,
    key: str | Iterable[str] | None = "glfs",
    groups: Mapping[str, Iterable[str]] | None = None,
    thresholds: float | Iterable[float] = (),
    stability_key: str = "glfs_stability",
    symbols: str | None = None,
    overwrite: bool = False,
) -> None:
    """Write selections as gene sets to a GMT file.

    Parameters
    ----------
    <adata with a selection>
    path : str or path
        File to write.
    key : str or list of str, default "glfs"
        Keys of selections, each a gene set with the best gene first.  None: only `groups` and
        `thresholds`.
    groups : dict of str to list, default None
        Further gene sets: genes of ``.var_names`` by name.
    thresholds : float or list of float, default ()
        Frequencies in (0, 1].  Each gives a gene set ``f"{stability_key}_{threshold:g}"`` of the
        genes with at least this frequency in :func:`~glfs_bio.tl.stability`, the most frequent
        first.
    stability_key : str, default "glfs_stability"
        Key of the stability.
    symbols : str, default None
        Column of ``.var`` with the names to write; genes without a name are left out.  None:
        ``.var_names``.
    <overwrite>

    See Also
    --------
    read_gmt : Read gene sets.

    Examples
    --------
    >>> import scanpy as sc, tempfile, pathlib, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "panels.gmt"
    ...     glfs_bio.io.write_gmt(adata, path, groups={"T cells": ["CD3D", "CD3E"]})
    ...     sets = glfs_bio.io.read_gmt(path)
    >>> list(sets)
    ['glfs', 'T cells']
    """
    path = as_path(path)
    check_target(path, overwrite=overwrite)
    for name, value, kinds in (
        ("key", key, Iterable | None),
        ("groups", groups, Mapping | None),
        ("thresholds", thresholds, Iterable | Real),
    ):
        if not isinstance(value, kinds):
            raise InvalidType(name, value, f"cannot be a {type(value).__name__}")
    checks.texts(stability_key=stability_key)
    keys = [] if key is None else [key] if isinstance(key, str) else list(key)
    cuts = [thresholds] if isinstance(thresholds, int | float) else list(thresholds)
    called = read.symbols(adata, symbols)
    lines: dict[str, str] = {}
    for argument, name, description, genes in [
        *_selections(adata, keys),
        *_groups(adata, groups or {}),
        *_frequent(adata, cuts, stability_key),
    ]:
        if name in lines:
            raise InvalidValue(argument, name, "names two gene sets", "give each a name of its own")
        named = dict.fromkeys(called.loc[list(genes)].dropna())
        if not named:
            raise InvalidValue(argument, name, "is a gene set without a gene that has a name")
        fields = [name, description, *named]
        if wrong := [
            field
            for field in fields
            if not field.strip() or field != field.strip() or not field.isprintable()
        ]:
            raise InvalidValue(
                argument,
                name,
                f"has the name {wrong[0]!r}, which is empty, or has blanks around it, or a tab",
                "rename it",
            )
        lines[name] = "\t".join(fields)
    if not lines:
        raise InvalidValue(
            "key", key, "leaves nothing to write", f"give {arg('groups')} or {arg('thresholds')}"
        )
    with replacing(path, overwrite=overwrite) as target:
        target.write_text("".join(f"{line}\n" for line in lines.values()), encoding="utf-8")


def _selections(adata: AnnData, keys: list[str]) -> Iterator[GeneSet]:
    description = f"selected by glfs-bio {version('glfs-bio')}"
    for key in keys:
        yield "key", key, description, results.ranked(adata, key).index


def _groups(adata: AnnData, groups: Mapping[str, Iterable[str]]) -> Iterator[GeneSet]:
    for group, genes in groups.items():
        if not isinstance(genes, Iterable):
            raise InvalidType("groups", genes, f"must be a list of gene names for {group!r}")
        members = [genes] if isinstance(genes, str) else list(genes)
        if unknown := [gene for gene in members if gene not in adata.var_names]:
            raise NotFound(
                "groups",
                NO_VALUE,
                f"has genes in {group!r} that are not in {VAR_NAMES}",
                f"leave out {listed(unknown)}",
            )
        yield "groups", str(group), "group of genes", members


def _frequent(adata: AnnData, thresholds: list[float], key: str) -> Iterator[GeneSet]:
    for threshold in thresholds:
        checks.number("thresholds", threshold, above=0.0)
        if threshold > 1:
            raise InvalidValue("thresholds", threshold, "must be in (0, 1], a share of resamples")
        frequency = results.frequency(adata, key)
        genes = frequency[frequency >= threshold - np.finfo(float).eps].index
        if genes.empty:
            raise InvalidValue(
                "thresholds",
                threshold,
                "leaves no gene",
                f"the largest frequency is {float(frequency.max()):g}",
            )
        description = f"selected in at least {threshold:g} of resamples"
        yield "thresholds", f"{key}_{threshold:g}", description, genes
