"""Panels side by side, by the same measures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .. import checks, options
from .._anndata import names, results, stale, summaries
from .._docs import documented
from .._progress import progress, tell
from ..criterion.panel import n_matched
from ..errors import MAPPING, NO_VALUE, InvalidType, InvalidValue, arg, call
from ..measures.labels import READINGS
from ._enrich import said_of
from ._evaluate import N_STEPS, AllGenes, Asked, Expressed, evaluated
from ._panel import Found, asked, basis_of, say_overridden

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from anndata import AnnData

    from .._anndata.names import Named
    from .._anndata.target import Preserve as Given
    from ..options import Preserve
    from ._panel import Basis

_FEWEST = 2


@documented
def compare_panels(
    adata: AnnData,
    panels: Mapping[str, Any],
    labels: str | None = None,
    *,
    readings: Sequence[str] = READINGS,
    domains: str | None = None,
    spatial: str | None = None,
    library_key: str | None = None,
    counts_layer: str | None = None,
    gene_sets: str | Path | Mapping[str, Collection[str]] | None = None,
    layer: str | None = None,
    symbols: str | None = None,
    preserve: Preserve | Given | None = None,
    key_added: str = "glfs_comparison",
    inplace: bool = True,
    random_state: int | None = 0,
) -> dict[str, pd.DataFrame] | None:
    """Evaluate several panels by the same measures, and count the genes that they share.

    Parameters
    ----------
    <adata>
    panels : dict of str to panel
        At least two panels by name.  Each is a list of gene names, one name, a file, or a key: of a
        selection, of a boolean column of ``.var``, or of a result of ``sc.tl.rank_genes_groups``.
    <labels> str, default None
    <readings>
    <domains, spatial, library_key>
    counts_layer : str, default None
        Layer of raw counts, or ``"X"``, for the share of the counts that each panel takes.
    <gene_sets> str, path or dict, default None
    <layer of a panel>
    <symbols>
    preserve : str, list, dict or Preserve, default None
        Target of all panels, as in :func:`~glfs_bio.pp.select_genes`.  None: the structure, by the
        parameters that the selections among the panels have in common.  If these differ, a target
        is needed, which is then evaluated by the structure of the matrix, or by the one that a
        :class:`~glfs_bio.Preserve` names.
    <key_added> "glfs_comparison"
    <inplace>
    random_state : int, default 0
        Seed of the clusters and the folds.

    Returns
    -------
    None, or with ``inplace=False`` a dict of the tables.  Written:

    ``.uns[key_added]["table"]`` : DataFrame, one row per panel
        All numbers of :func:`evaluate_panel`.
    ``.uns[key_added]["readings"]``, ``["n_labelled"]`` : dict of str, int
        With `labels`: how they were read, and of how many cells, as in :func:`evaluate_panel`;
        with `domains` ``["domain_readings"]`` and ``["n_in_domains"]``.
    ``.uns[key_added]["membership"]`` : DataFrame of bool, one row per gene of any panel
        Panels (columns) that have the gene.
    ``.uns[key_added]["shared"]`` : DataFrame of int, n_panels × n_panels
        Number of shared genes.
    ``.uns[key_added]["jaccard"]`` : DataFrame of float, n_panels × n_panels
        Jaccard index of the genes.
    ``.uns[key_added]["jaccard_with_substitutes"]`` : DataFrame of float, n_panels × n_panels
        Jaccard index, if a gene also matches its substitutes.
    <params and versions>

    See Also
    --------
    evaluate_panel : Evaluate one panel.
    glfs_bio.pl.comparison : Plot the table.
    glfs_bio.pl.upset : Plot the genes that panels share.

    Examples
    --------
    >>> import scanpy as sc, glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> panels = {"ours": ["CD3D", "CD79A", "NKG7"], "theirs": ["CD3D", "LYZ", "GNLY"]}
    >>> tables = glfs_bio.tl.compare_panels(adata, panels, inplace=False)
    >>> int(tables["shared"].loc["ours", "theirs"])
    1
    """
    params = {
        "labels": labels,
        "readings": readings,
        "domains": domains,
        "spatial": spatial,
        "library_key": library_key,
        "gene_sets": said_of(gene_sets),
        "random_state": random_state,
    }
    if not isinstance(panels, Mapping) or len(panels) < _FEWEST:
        raise InvalidType(
            "panels", NO_VALUE, f"must be a {MAPPING} of at least two panels by their names"
        )
    called = [str(name) for name in panels]
    if not all(one.strip() for one in called):
        raise InvalidValue("panels", NO_VALUE, "has a panel without a name", "name each of them")
    if len(set(called)) < len(called):
        twice = next(one for one in called if called.count(one) > 1)
        raise InvalidValue(
            "panels", NO_VALUE, f"has two panels called {twice!r}", "choose another name"
        )
    slashed = [one for one in called if "/" in one]
    if slashed:
        raise InvalidValue(
            "panels",
            NO_VALUE,
            f"has the name {slashed[0]!r} with a slash, which files cannot store",
            "choose another name",
        )
    results.key_for(adata, "comparison", key_added)
    checks.flags(inplace=inplace)
    inputs = Asked.of(
        *(adata, labels, readings, counts_layer, 0, 1, random_state),
        places=(domains, spatial, library_key),
        sets=(gene_sets, symbols),
    )
    named = {
        str(name): names.panel(adata, panel, symbols=symbols, missing="warn", argument="panels")
        for name, panel in panels.items()
    }
    basis = _basis(adata, named, symbols, preserve, layer)
    rows, found = {}, {}
    with progress() as bar:
        task = bar.add_task("the structure of the cells", total=N_STEPS * len(panels))
        all_genes = AllGenes.of(adata, basis.structure.spec, inputs)
        genes = [panel.genes for panel in named.values()]
        expressed = Expressed.of(adata, genes, basis.structure.spec.layer, inputs.counts)
        for name, panel in named.items():
            one = found[name] = Found(panel, basis)
            entry, _, _ = evaluated(
                adata,
                one,
                inputs,
                all_genes,
                expressed,
                lambda what, name=name: bar.update(  # type: ignore[misc]
                    task, advance=1, description=f"{name}: {what}"
                ),
            )
            rows[name] = {measure: value for measure, value in entry.items() if np.isscalar(value)}
    tables = {
        "table": pd.DataFrame(rows).T.rename_axis("panel"),
        "membership": _membership(adata, found),
        **_overlaps(found),
    }
    if not inplace:
        return tables
    entry = results.envelope(
        "comparison",
        params | basis.record(),
        stale.made_of(adata, basis.structure.spec.layer, named.values()),
        **inputs.said(),
        **tables,
    )
    results.store(adata, key_added, entry)
    tell(*summaries.comparison(entry))
    return None


def _basis(
    adata: AnnData,
    panels: Mapping[str, Named],
    symbols: str | None,
    preserve: Any,
    layer: str | None,
) -> Basis:
    """Return the criterion for all panels, by the structure that their selections have."""
    keys = [one.key for one in panels.values() if one.key is not None and one.key in adata.uns]
    for key in keys:
        stale.check_genes(adata, key, "panels")
    first = next(iter(keys), None)
    own = {key: results.request_of(adata, key).structure for key in keys}
    other = next((key for key in keys if own[key].record() != own[keys[0]].record()), None)
    replaced = {}
    if other is not None:
        layers = {one.layer for one in own.values()}
        if preserve is None:
            raise InvalidValue(
                "panels",
                NO_VALUE,
                f"has the selections {first!r} and {other!r}, which are of different structures",
                f"compare them by that of the matrix with {arg('preserve', 'structure')}, or by "
                f"one that use_rep of {call('Preserve')} names",
            )
        named = isinstance(preserve, options.Preserve) and preserve.use_rep is not None
        if layer is None and len(layers) > 1 and not named:
            raise InvalidValue(
                "panels",
                NO_VALUE,
                f"has the selections {first!r} and {other!r}, which are of different layers",
                f"name one for all with {arg('layer')}",
            )
        replaced["structure"] = options.StructureSpec(
            layer=next(iter(layers)) if layer is None else layer
        )
    preserve = "structure" if preserve is None else preserve
    request = asked(adata, first, symbols=symbols, preserve=preserve, layer=layer, **replaced)
    basis = basis_of(adata, request)
    say_overridden(adata, first, request)
    return basis


def _membership(adata: AnnData, panels: Mapping[str, Found]) -> pd.DataFrame:
    """Return which panels have each gene that any of them has, in the order of the cells' genes."""
    genes = np.unique(np.concatenate([one.genes for one in panels.values()]))
    return pd.DataFrame(
        {name: np.isin(genes, one.genes) for name, one in panels.items()},
        index=_index(adata.var_names[genes], "gene", panels),
    )


def _index(values: Iterable[str], name: str, panels: Mapping[str, Found]) -> pd.Index:
    """Return the index of a table with a column a panel: a name that a panel has is none."""
    return pd.Index(values, name=None if name in panels else name)


def _overlaps(panels: Mapping[str, Found]) -> dict[str, pd.DataFrame]:
    """Count the genes that each pair of panels shares, by name and by substitutes."""
    called = _index(panels, "panel", panels)
    shared = pd.DataFrame(0, index=called, columns=list(panels))
    matched = shared.copy()
    sizes = {name: len(one.genes) for name, one in panels.items()}
    stands_in = {name: one.measured.substitutes() for name, one in panels.items()}
    for first, one in panels.items():
        for second, other in panels.items():
            shared.loc[first, second] = len(np.intersect1d(one.genes, other.genes))
            either = stands_in[first] + stands_in[second]
            matched.loc[first, second] = n_matched(one.genes, other.genes, either)
    both = pd.DataFrame(
        {second: {first: sizes[first] + sizes[second] for first in panels} for second in panels}
    )
    return {
        "shared": shared,
        "jaccard": shared / (both - shared),
        "jaccard_with_substitutes": matched / (both - matched),
    }
