"""Enrichment of gene sets in a selection, through gseapy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control

from .. import checks, codec
from .._anndata import names, read, results, stale
from .._docs import documented
from .._extras import needs
from .._progress import with_bar
from ..errors import (
    MAPPING,
    NO_VALUE,
    VAR,
    VAR_NAMES,
    Caution,
    InvalidType,
    InvalidValue,
    Unreachable,
    arg,
    listed,
    naming,
    warn,
)
from ..vendors.sheets import read_gmt

if TYPE_CHECKING:
    from collections.abc import Collection

    from anndata import AnnData

#: Smallest and largest gene set, unless the caller says otherwise; GSEA's own for a ranked list.
_SIZES = {"ora": (1, None), "prerank": (15, 500)}
#: Organisms whose libraries gseapy knows.
_ORGANISMS = ("human", "mouse", "yeast", "fly", "fish", "worm")
#: Where these libraries are, seconds to wait for an answer, and how many similar names are told.
_LIBRARIES, _PATIENCE, _SIMILAR = "https://maayanlab.cloud/Enrichr/", 5.0, 5


@with_bar
@documented
def enrich(
    adata: AnnData,
    gene_sets: str | Path | Mapping[str, Collection[str]],
    *,
    key: str = "glfs",
    method: Literal["ora", "prerank"] = "ora",
    background: Iterable[str] | None = None,
    min_cells: int | None = None,
    symbols: str | None = None,
    min_size: int | None = None,
    max_size: int | None = None,
    organism: str = "human",
    n_permutations: int = 1000,
    weight: float = 0.0,
    n_jobs: int = 1,
    key_added: str | None = None,
    inplace: bool = True,
    random_state: int = 0,
) -> pd.DataFrame | None:
    """Find the gene sets that are enriched in a selection.

    Over-representation is tested by the one-sided hypergeometric test [1]_ against the background:
    the candidate genes of the selection, not the genome.  Genes that no cell expresses make the
    background too large; `min_cells` removes them.  Gene names are compared exactly, and p-values
    are adjusted over all tested sets.  A selection avoids co-expressed genes: a few genes can stand
    for a large set.

    Parameters
    ----------
    <adata with a selection>
    <gene_sets> str, path or dict
    <key>
    method : {"ora", "prerank"}, default "ora"
        - ``"ora"``: over-representation
        - ``"prerank"``: GSEA on the scores of all candidate genes [2]_
    background : list of str, default None
        Genes from which the selection could have been drawn, for ``"ora"``.  None: the candidate
        genes.
    min_cells : int, default None
        Minimum number of cells that express a background gene.  None: no minimum, with a warning if
        no cell expresses a gene.
    symbols : str, default None
        Column of ``.var`` with the names that `gene_sets` uses.  Genes without a name are left out.
        None: ``.var_names``.
    min_size : int, default None
        Minimum number of genes of a set in the background.  None: 1 for ``"ora"``, 15 for
        ``"prerank"``.
    max_size : int, default None
        Maximum number of genes of a set in the background.  None: no maximum for ``"ora"``, 500 for
        ``"prerank"``.
    organism : str, default "human"
        Organism of the gseapy library: human, mouse, yeast, fly, fish or worm.
    n_permutations : int, default 1000
        Number of permutations, for ``"prerank"``.
    weight : float, default 0.0
        Exponent of the score in the running sum, for ``"prerank"``.  The score only orders the
        genes, which 0 (``"classic"`` in GSEA) respects.
    n_jobs : int, default 1
        Number of threads, for ``"prerank"``.  The result does not depend on it.
    key_added : str, default None
        Key of ``.uns``.  None: ``f"{key}_enrichment"``.
    <inplace>
    random_state : int, default 0
        Seed of the permutations.

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
    ``.uns[key_added]["params"]`` : dict
        Arguments of the call.
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
    checks.one_of("organism", str(organism).lower(), _ORGANISMS)
    smallest, largest = _SIZES[method]
    smallest = smallest if min_size is None else min_size
    largest = largest if max_size is None else max_size
    checks.whole_number("min_size", smallest, at_least=1)
    checks.whole_number("max_size", largest, at_least=smallest, or_none=True)
    checks.whole_number("n_permutations", n_permutations, at_least=1)
    checks.number("weight", weight)
    checks.whole_number("n_jobs", n_jobs, at_least=1)
    checks.seed(random_state)
    checks.flags(inplace=inplace)
    key_added = results.key_for(adata, "enrichment", key_added, key)
    checks.whole_number("min_cells", min_cells, at_least=1, or_none=True)
    _check_background(background, method, min_cells)
    if background is None:
        stale.check_genes(adata, key, "key")
    scores = results.scores(adata, key, symbols)
    if background is None:
        scores = scores[scores.index.isin(_expressed(adata, key, symbols, min_cells))]
    selected = _selected(adata, key, symbols)
    universe = list(scores.index if background is None else dict.fromkeys(map(str, background)))
    if not universe:
        raise InvalidValue(
            "background", NO_VALUE, "is empty", "give the candidate genes of the selection"
        )
    if method == "prerank":  # a set of all genes has no place in the ranking
        most = len(universe) - 1
        largest = most if largest is None else min(largest, most)
    with naming(path="gene_sets"):
        sets = sets_of(gene_sets, organism)
    sets = within(sets, universe, smallest, largest)

    if method == "ora":
        selected = _inside(selected, universe, min_cells)
        table = _over_representation(selected, sets, universe)
    else:
        table = _prerank(scores, sets, n_permutations, weight, n_jobs, random_state)
    if not inplace:
        return table
    layer = dict(adata.uns.get(key, {}).get("structure", {})).get("layer", "None")
    panel = names.panel(adata, key, argument="key")
    params = {
        "key": key,
        "method": method,
        "min_cells": min_cells,
        "symbols": symbols,
        "min_size": smallest,
        "max_size": largest,
        "gene_sets": said_of(gene_sets),
        "n_permutations": n_permutations,
        "weight": weight,
        "random_state": random_state,
    }
    entry = results.envelope(
        "enrichment",
        params,
        stale.made_of(adata, codec.restored(layer), [panel]),
        packages=("gseapy",),
        table=table,
        n_selected=len(selected),
        n_background=len(universe),
    )
    results.store(adata, key_added, entry)
    return None


def _check_background(background: Iterable[str] | None, method: str, min_cells: int | None) -> None:
    """Refuse a background that is not a list, or that does not fit other arguments."""
    if background is None:
        return
    if method != "ora" or isinstance(background, str) or not isinstance(background, Iterable):
        raise InvalidValue(
            "background",
            background,
            f"must be a list of gene names, and needs {arg('method', 'ora')}",
        )
    if min_cells is not None:
        raise InvalidValue(
            "min_cells",
            min_cells,
            "is for the candidate genes",
            f"leave it out, or {arg('background')}",
        )


def _inside(selected: pd.Index, universe: list[str], min_cells: int | None) -> pd.Index:
    """The selected genes that are in the background; a warning tells of the others."""
    outside = selected.difference(universe, sort=False)
    if len(outside):
        where = arg("background") if min_cells is None else f"at least {min_cells} cells"
        warn(
            Caution(
                f"{len(outside)} of {len(selected)} selected genes are not in {where} and are "
                f"left out: {listed(outside)}."
            )
        )
        selected = selected.difference(outside, sort=False)
    if selected.empty:
        raise InvalidValue(
            "background",
            NO_VALUE,
            "has none of the selected genes",
            f"spell genes as in {VAR_NAMES}, or name the column that has them with "
            f"{arg('symbols')}",
        )
    return selected


def _expressed(adata: AnnData, key: str, symbols: str | None, min_cells: int | None) -> pd.Series:
    """Return the names of genes that at least `min_cells` cells express.

    None: of all genes, with a warning of those that no cell expresses.
    """
    names = read.symbols(adata, symbols)
    layer = codec.restored(adata.uns.get(key, {}).get("params", {}).get("layer"))
    if min_cells is None and read.there(adata, layer) is None:
        return names
    n_cells = read.n_cells_with(read.row_matrix(adata, layer))
    if min_cells is not None:
        return names[n_cells >= min_cells]
    tested = adata.var[f"{key}_score"].notna().to_numpy()
    silent = tested & (n_cells == 0)
    if silent.any() and not (silent == tested).all():  # else the matrix is left out
        warn(
            Caution(
                f"No cell expresses {int(silent.sum())} of {int(tested.sum())} candidate genes, "
                "which makes p-values too small. Remove them before the selection, or pass "
                f"{arg('min_cells', 1)}."
            )
        )
    return names


def _selected(adata: AnnData, key: str, symbols: str | None) -> pd.Index:
    """Names of the selected genes, the best first."""
    genes = results.ranked(adata, key).index
    named = pd.Index(read.symbols(adata, symbols).loc[genes].dropna().unique())
    if named.empty:
        raise InvalidValue(
            "symbols",
            symbols,
            f"has no name for any of the {len(genes)} selected genes",
            "choose another column",
        )
    return named


def said_of(gene_sets: object) -> str | None:
    """Return what records say of gene sets: a name, or that they were a mapping; None for none."""
    if gene_sets is None:
        return None
    return str(gene_sets) if isinstance(gene_sets, str | Path) else "dict"


def sets_of(
    source: str | Path | Mapping[str, Collection[str]], organism: str = "human"
) -> dict[str, list[str]]:
    """Return genes by the name of the set, each once: of a mapping, a GMT file, or a library."""
    if isinstance(source, Mapping):
        return _mapping(source)
    if not isinstance(source, str | Path):
        raise InvalidType(
            "gene_sets",
            source,
            "holds no gene sets",
            f"give a GMT file, a {MAPPING} of names and genes, or the name of a gseapy library",
        )
    path = Path(source)
    if isinstance(source, Path) or path.suffix.lower() == ".gmt" or path.exists():
        return read_gmt(path)
    return _library(source, organism)


def _mapping(source: Mapping[str, Collection[str]]) -> dict[str, list[str]]:
    if not source:
        raise InvalidValue("gene_sets", NO_VALUE, "is empty", "give at least one gene set")
    for name, genes in source.items():
        if isinstance(genes, str) or not hasattr(genes, "__iter__"):
            raise InvalidType("gene_sets", genes, f"must be a list of gene names for {str(name)!r}")
    return {str(name): list(dict.fromkeys(map(str, genes))) for name, genes in source.items()}


def _library(name: str, organism: str) -> dict[str, list[str]]:
    needs("A library of gene sets", "gseapy")
    import difflib

    import gseapy
    import requests

    try:
        # gseapy itself tries for half a minute to reach what cannot be reached
        requests.head(_LIBRARIES, timeout=_PATIENCE)
        libraries = gseapy.get_library_name(organism=organism)
        if name in libraries:
            return _mapping(gseapy.parser.download_library(name, organism=organism))
    except requests.RequestException as error:
        raise Unreachable(
            "gene_sets",
            name,
            f"is no file, and the libraries of gseapy cannot be reached ({type(error).__name__})",
            f"go online, or give a GMT file or a {MAPPING}",
        ) from error
    similar = difflib.get_close_matches(name, libraries, n=_SIMILAR, cutoff=0.3)
    raise InvalidValue(
        "gene_sets",
        name,
        f"is neither a file nor a gseapy library for {organism}",
        f"choose one of gseapy.get_library_name() (similar: {listed(similar)})",
    )


def within(
    sets: dict[str, list[str]],
    universe: list[str],
    smallest: int = 1,
    largest: int | None = None,
) -> dict[str, list[str]]:
    """Return the sets restricted to the background, those of the right size."""
    known = set(universe)
    inside = {name: [gene for gene in genes if gene in known] for name, genes in sets.items()}
    if not any(inside.values()):
        members = list(dict.fromkeys(gene for genes in sets.values() for gene in genes))
        alike = {name.upper() for name in universe} & {name.upper() for name in members}
        raise InvalidValue(
            "gene_sets",
            NO_VALUE,
            "have no name in common with the "
            f"genes{' but for upper and lower case' if alike else ''}: {listed(members[:3])} "
            f"against {listed(universe[:3])}",
            f"name the column of {VAR} that is spelt as the gene sets with {arg('symbols')}",
        )
    upper = np.inf if largest is None else largest
    fitting = {name: genes for name, genes in inside.items() if smallest <= len(genes) <= upper}
    if not fitting:
        most = max(len(genes) for genes in inside.values())
        raise InvalidValue(
            "gene_sets",
            NO_VALUE,
            f"have no set of a size from {arg('min_size', smallest)} to "
            f"{arg('max_size', largest)} in the background, where "
            f"the largest has {most} genes",
            "change these sizes",
        )
    return fitting


def _over_representation(
    selected: pd.Index, sets: dict[str, list[str]], universe: list[str]
) -> pd.DataFrame:
    """How surely each set has more of the selected genes than genes at random."""
    import gseapy

    chosen = {name: selected.intersection(genes, sort=False) for name, genes in sets.items()}
    # gseapy leaves out the sets without a selected gene, whose p-value is 1.
    table = pd.DataFrame(
        {
            "n_overlap": [len(genes) for genes in chosen.values()],
            "n_set": [len(genes) for genes in sets.values()],
            "odds_ratio": np.nan,
            "pvals": 1.0,
        },
        index=pd.Index(sets, name="term", dtype=object),
    )
    if table["n_overlap"].any():
        code = _codes(universe)
        found = gseapy.enrich(
            [code[gene] for gene in selected],
            {name: [code[gene] for gene in genes] for name, genes in sets.items()},
            background=list(code.values()),
            outdir=None,
            no_plot=True,
        ).results.set_index("Term")
        table.loc[found.index, "odds_ratio"] = found["Odds Ratio"].astype(float)
        table.loc[found.index, "pvals"] = found["P-value"].astype(float)
    table["pvals_adj"] = false_discovery_control(table["pvals"])
    table["genes"] = [";".join(genes) for genes in chosen.values()]
    return table.sort_values(["pvals", "odds_ratio"], ascending=[True, False], kind="stable")


def _prerank(
    scores: pd.Series,
    sets: dict[str, list[str]],
    n_permutations: int,
    weight: float,
    n_jobs: int,
    random_state: int,
) -> pd.DataFrame:
    """Where the genes of each set stand in the ranking, by GSEA."""
    import gseapy

    code = _codes(scores.index)
    gene = {token: name for name, token in code.items()}
    found = gseapy.prerank(
        scores.rename(index=code),
        {name: [code[member] for member in genes] for name, genes in sets.items()},
        min_size=1,
        max_size=len(scores),
        permutation_num=n_permutations,
        weight=weight,
        seed=random_state,
        threads=n_jobs,
        outdir=None,
        no_plot=True,
    ).res2d.set_index("Term")
    columns = {"es": "ES", "nes": "NES", "pvals": "NOM p-val", "pvals_adj": "FDR q-val"}
    table = pd.DataFrame({ours: found[theirs].astype(float) for ours, theirs in columns.items()})
    # the ranking itself is one of the permutations, of which so few are drawn
    table["pvals"] = table["pvals"].clip(lower=1.0 / (n_permutations + 1))
    table["pvals_adj"] = table[["pvals", "pvals_adj"]].max(axis=1)
    table.index = table.index.astype(object).rename("term")
    table.insert(0, "n_set", [len(sets[name]) for name in table.index])
    leading = [[gene[token] for token in tokens.split(";")] for tokens in found["Lead_genes"]]
    table["genes"] = [";".join(genes) for genes in leading]
    return table.sort_values(["pvals_adj", "pvals", "nes"], ascending=[True, True, False])


def _codes(names: Iterable[str]) -> dict[str, str]:
    """Names that gseapy leaves alone: it takes numbers for Entrez ids, and may change the case."""
    return {name: f"g{i}" for i, name in enumerate(names)}
