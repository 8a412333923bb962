"""Enrichment of gene sets in a selection, through gseapy."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control

from .. import checks, codec
from .._anndata import names, read, results
from .._anndata.tool import Result, tool
from ..checks import needs
from ..errors import InvalidValue, caution, listed, naming, short
from ..vendors.genes import said_of, sets_of, within

if TYPE_CHECKING:
    from pathlib import Path

    from anndata import AnnData

#: Smallest and largest gene set; GSEA's own for a ranked list.
_SIZES: dict[str, tuple[int, float]] = {"ora": (1, np.inf), "prerank": (15, 500)}
#: Of a ranked list: permutations, and the seed of their order.
_PERMUTATIONS, _SEED = 1000, 0


@tool("enrichment")
def enrich(
    adata: AnnData,
    gene_sets: str | Path | Mapping[str, Collection[str]],
    *,
    key: str = "glfs",
    method: Literal["ora", "prerank"] = "ora",
    background: Collection[str] | None = None,
    symbols: str | None = None,
    min_size: int | None = None,
    key_added: str | None = None,
    inplace: bool = True,
) -> Result:
    """Find the gene sets that are enriched in a selection.

    Over-representation is tested by the one-sided hypergeometric test [1]_ against the background:
    the candidate genes of the selection, not the genome.  Gene names are compared exactly, and
    p-values are adjusted over all tested sets.  A selection avoids co-expressed genes: a few genes
    can stand for a large set.

    Parameters
    ----------
    <adata with a selection>
    gene_sets : str, path or dict
        GMT file, or dict of set names to genes, such as ``gseapy.get_library(name, organism)``
        returns.
    <key>
    method : {"ora", "prerank"}, default "ora"
        - ``"ora"``: over-representation
        - ``"prerank"``: GSEA on the scores of all candidate genes [2]_, by their order alone, as
          with the weight 0 (``"classic"``), in 1,000 permutations.  Sets have at most 500 genes.
    background : list of str, default None
        Genes from which the selection could have been drawn, for ``"ora"``, such as those that
        some cells express: genes that no cell expresses make p-values too small.  None: the
        candidate genes, with a warning if no cell expresses one.
    symbols : str, default None
        Column of ``.var`` with the names that `gene_sets` uses.  Genes without a name are left out.
        None: ``.var_names``.
    min_size : int, default None
        Minimum number of genes of a set in the background.  None: 1 for ``"ora"``, 15 for
        ``"prerank"``.
    key_added : str, default None
        Key of ``.uns``.  None: ``f"{key}_enrichment"``.
    <inplace>

    Returns
    -------
    None, or with ``inplace=False`` the table.  Written:

    ``.uns[key_added]["table"]`` : DataFrame, one row per tested set, the most significant first
        - ``n_overlap``: number of selected genes in the set (``"ora"``)
        - ``n_set``: number of genes of the set in the background
        - ``odds_ratio``: with 1/2 added to each count; NaN without overlap (``"ora"``)
        - ``es``, ``nes``: enrichment score, and normalised (``"prerank"``)
        - ``pvals``: p-value
        - ``pvals_adj``: Benjamini–Hochberg adjusted p-value, or the false discovery rate of GSEA
        - ``genes``: selected genes in the set, or the leading edge, joined by ``";"``
    <params>
    ``.uns[key_added]["n_selected"]``, ``["n_background"]`` : int
        Number of selected genes, and of background genes.
    ``.uns[key_added]["versions"]`` : dict of str
        Versions of the packages.

    Warns
    -----
    UserWarning
        If selected genes are not in the background, or if no cell expresses a candidate gene.

    References
    ----------
    .. [1] I. Rivals et al., Enrichment or depletion of a GO category within a class of genes:
       which test?, Bioinformatics 2007.
    .. [2] A. Subramanian et al., Gene set enrichment analysis, PNAS 2005.

    Examples
    --------
    >>> import scanpy as sc
    >>> import glfs_bio
    >>> adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    >>> glfs_bio.pp.select_genes(adata, n_genes=20)
    >>> sets = {"MHC II": ["HLA-DRA", "HLA-DRB1", "HLA-DPA1"], "T cells": ["CD3D", "CD3E"]}
    >>> table = glfs_bio.tl.enrich(adata, sets, inplace=False)
    >>> table["n_set"].to_dict() == {"MHC II": 3, "T cells": 2}
    True
    """
    needs("An enrichment", "gseapy")
    checks.one_of("method", method, _SIZES)
    smallest, largest = _SIZES[method]
    smallest = smallest if min_size is None else min_size
    checks.whole_number("min_size", smallest, at_least=1)
    is_list = isinstance(background, Collection) and not isinstance(background, str)
    if background is not None and not (is_list and len(background) and method == "ora"):
        raise InvalidValue(f"`background={short(background)}` must list genes, for `method='ora'`")
    scores = results.scores(adata, key, symbols)
    genes = results.ranked(adata, key).index
    selected = pd.Index(read.symbols(adata, symbols).loc[genes].dropna().unique())
    layer = codec.restored(results.record(adata, key).get("params", {}).get("layer"))
    if background is None:
        results.check_genes(adata, key, "key")
        universe = list(scores.index)
        if read.matrix_or_none(adata, layer) is not None:
            _warn_of_silent_genes(adata, key, layer)
    else:
        universe = list(dict.fromkeys(map(str, background)))
    with naming(path="gene_sets"):
        sets = within(sets_of(gene_sets), universe, smallest, largest)
    outside = selected.difference(universe, sort=False)
    if len(outside) == len(selected):
        raise InvalidValue("`background` has no selected gene: spell them alike, or use `symbols`")
    if len(outside):
        caution(f"Genes that the background lacks are left out: {listed(outside)}.")
        selected = selected.difference(outside, sort=False)
    is_ora = method == "ora"
    table = _over_representation(selected, sets, universe) if is_ora else _prerank(scores, sets)
    content = {"table": table, "n_selected": len(selected), "n_background": len(universe)}
    params = {"key": key, "min_size": smallest, "gene_sets": said_of(gene_sets)}
    made_of = results.made_of(adata, layer, [names.panel(adata, key, argument="key").key_and_genes])
    return Result(content, params=params, made_of=made_of, packages=("gseapy",))


def _warn_of_silent_genes(adata: AnnData, key: str, layer: str | None) -> None:
    """Warn of candidate genes that no cell expresses."""
    tested = results.read_column(adata, key, "score").notna().to_numpy()
    silent = tested & (read.n_cells_with(read.row_matrix(adata, layer)) == 0)
    if 0 < silent.sum() < tested.sum():
        text = f"No cell expresses {silent.sum()} of {tested.sum()} candidate genes"
        caution(f"{text}, which makes p-values too small: pass the others as `background`.")


def _over_representation(
    selected: pd.Index, sets: dict[str, list[str]], universe: list[str]
) -> pd.DataFrame:
    """Return how surely each set has more of the selected genes than genes at random."""
    # what gseapy.enrich calls; it also takes names that are numbers for Entrez ids, and finds none
    from gseapy.stats import calc_pvalues

    table = pd.DataFrame(index=pd.Index(sets, name="term", dtype=object))
    chosen = {name: selected.intersection(genes, sort=False) for name, genes in sets.items()}
    table["n_overlap"] = [len(genes) for genes in chosen.values()]
    table["n_set"] = [len(genes) for genes in sets.values()]
    table[["odds_ratio", "pvals"]] = np.nan, 1.0  # of sets without a selected gene
    if table["n_overlap"].any():
        terms, pvals, odds, *_ = calc_pvalues(set(selected), sets, set(universe))
        table.loc[list(terms), ["odds_ratio", "pvals"]] = np.column_stack([odds, pvals])
    table["pvals_adj"] = false_discovery_control(table["pvals"])
    table["genes"] = [";".join(genes) for genes in chosen.values()]
    return table.sort_values(["pvals", "odds_ratio"], ascending=[True, False], kind="stable")


def _prerank(scores: pd.Series, sets: dict[str, list[str]]) -> pd.DataFrame:
    """Return where the genes of each set stand in the ranking, by GSEA."""
    import gseapy

    smaller = {name: genes for name, genes in sets.items() if len(genes) < len(scores)}
    # without weights the score only orders the genes; sets have the right size already
    by_order = partial(gseapy.prerank, min_size=1, max_size=len(scores), weight=0.0)
    ranked = by_order(scores, smaller, permutation_num=_PERMUTATIONS, seed=_SEED)
    result = ranked.res2d.set_index("Term")
    columns = {"ES": "es", "NES": "nes", "NOM p-val": "pvals", "FDR q-val": "pvals_adj"}
    table = result[list(columns)].astype(float).rename(columns=columns)
    # the ranking itself is one of the permutations, of which so few are drawn
    table["pvals"] = table["pvals"].clip(lower=1.0 / (_PERMUTATIONS + 1))
    table["pvals_adj"] = table[["pvals", "pvals_adj"]].max(axis=1)
    table.index = table.index.astype(object).rename("term")
    table.insert(0, "n_set", [len(sets[name]) for name in table.index])
    table["genes"] = result["Lead_genes"]
    return table.sort_values(["pvals_adj", "pvals", "nes"], ascending=[True, True, False])
