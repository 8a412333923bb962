"""What the selected genes have in common: gene sets, through gseapy."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd
from scipy import sparse

from .. import checks
from .._anndata import counts, read, selection
from .._anndata.versions import versions
from .._extras import needs
from ..data.matrix import RowMatrix
from ._enrichment import over_representation, prerank
from ._gene_sets import gene_sets as read_gene_sets

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from anndata import AnnData

#: Smallest and largest gene set, unless the caller says otherwise; GSEA's own for a ranked list.
_SIZES = {"ora": (1, None), "prerank": (15, 500)}
#: Organisms whose libraries gseapy knows.
_ORGANISMS = ("human", "mouse", "yeast", "fly", "fish", "worm")


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
    """Find the gene sets that a selection is rich in.

    Over-representation asks whether more of the selected genes are in a set than of as many genes
    drawn from the background: the hypergeometric test [1]_, one-sided.  The background is what the
    selection was drawn from, the tested genes, and not the genome; genes that no cell expresses
    make it too large, and `min_cells` leaves them out.  Genes and sets outside of the
    background are left out, names are compared as they are written, and p-values are adjusted over
    every set that was tested, those without a selected gene too.

    A selection avoids genes that repeat one another, so a large set may be represented by a few.

    Parameters
    ----------
    adata
        Cells × genes, with a selection of :func:`~glfs_bio.pp.select_genes`.
    gene_sets
        Path of a GMT file; dict of name → genes; or the name of a library of gseapy (Enrichr),
        which is downloaded.
    key
        Which selection: the `key_added` of ``select_genes``.
    method
        ``"ora"``: over-representation; ``"prerank"``: GSEA on the scores of all tested genes [2]_,
        where a low score often means that other genes cover what the gene has to say.
    background
        Names, spelt as in `gene_sets`, that the selection could have been drawn from.  None: the
        tested genes.  For ``"ora"``.
    min_cells
        Leave tested genes out that fewer cells express, that is, where they are not zero.  None:
        none is left out; of those that no cell expresses a warning tells.
    symbols
        Column of ``.var`` with the names that `gene_sets` uses.  Genes without a name there are
        left out, and several with one name count once.  None: ``.var_names``.
    min_size, max_size
        Fewest and most genes that a set may have in the background.  None: 1 and no bound for
        ``"ora"``, 15 and 500 for ``"prerank"``, as in GSEA.
    organism
        Whose library of gseapy: human, mouse, yeast, fly, fish or worm.
    n_permutations
        Permutations for ``"prerank"``.
    weight
        Exponent of the score in the running sum of ``"prerank"``.  The score only orders the genes,
        its zero says nothing, so the default is 0, the ranks alone (``"classic"`` in GSEA).
    n_jobs
        Threads for ``"prerank"``; the result does not depend on it.
    key_added
        Key of ``.uns``.  None: ``f"{key}_enrichment"``.
    inplace
        Write to `adata`; otherwise return the table and leave `adata` as it is.  There is no
        `copy`: to keep an object, pass ``adata.copy()``.
    random_state
        Seed of the permutations.

    Returns
    -------
    None, or with `inplace=False` a :class:`pandas.DataFrame` with one row a tested gene set, the
    most significant first, and the set's name as index:

    ``n_overlap``, ``n_set``
        Selected genes in the set; genes of the set in the background.
    ``odds_ratio``
        With 1/2 added to each of the four counts (Haldane–Anscombe); NaN without overlap.
    ``pvals``, ``pvals_adj``
        p-value, and Benjamini–Hochberg's over the table.
    ``genes``
        The selected genes in the set, the best first, joined by ``";"``.

    With ``"prerank"``: ``n_set``, ``es``, ``nes``, ``pvals`` (0 is below 1 / `n_permutations`),
    ``pvals_adj`` (GSEA's false discovery rate), and in ``genes`` the leading edge.  Written to
    ``.uns[key_added]``: the table as ``results``, with ``params``, ``n_selected``,
    ``n_background`` and ``versions``.

    Raises
    ------
    KeyError
        No such selection, or column of ``.var``.
    ConnectionError
        A library of gseapy, and no network.
    ImportError
        No ``gseapy``, which comes with the extra ``enrich``.
    FileNotFoundError, TypeError, ValueError
        Gene sets that are missing or malformed, no name in common, or a parameter out of range;
        `adata` is left as it was.

    Warns
    -----
    UserWarning
        Selected genes that are not in `background`; they are left out.  Tested genes that no cell
        expresses, which `min_cells` leaves out.

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
    if key_added is not None:
        checks.keys(key_added=key_added)
    if background is not None and (
        method != "ora" or isinstance(background, str) or not isinstance(background, Iterable)
    ):
        msg = f"background={background!r} must be a list of gene names, and needs method='ora'."
        raise ValueError(msg)
    checks.whole_number("min_cells", min_cells, at_least=1, or_none=True)
    if min_cells is not None and background is not None:
        msg = f"min_cells={min_cells} is for the tested genes: leave it out, or background."
        raise ValueError(msg)
    scores = selection.scores(adata, key, symbols)
    if background is None:
        scores = scores[scores.index.isin(_expressed(adata, key, symbols, min_cells))]
    selected = _selected(adata, key, symbols)
    universe = list(scores.index if background is None else dict.fromkeys(map(str, background)))
    if not universe:
        msg = "background is empty: give the genes that the selection could have been drawn from."
        raise ValueError(msg)
    if method == "prerank":  # a set of all genes has no place in the ranking
        most = len(universe) - 1
        largest = most if largest is None else min(largest, most)
    sets = _within(read_gene_sets(gene_sets, organism), universe, smallest, largest)

    if method == "ora":
        outside = selected.difference(universe, sort=False)
        if len(outside):
            where = "background" if min_cells is None else f"{min_cells} cells"
            warnings.warn(
                f"{len(outside)} of {len(selected)} selected genes are not in {where} and are "
                f"left out: {read.listed(outside)}.",
                UserWarning,
                stacklevel=2,
            )
            selected = selected.difference(outside, sort=False)
        if selected.empty:
            msg = "background has none of the selected genes: is it spelt as in adata.var_names?"
            raise ValueError(msg)
        table = over_representation(selected, sets, universe)
    else:
        table = prerank(scores, sets, n_permutations, weight, n_jobs, random_state)
    if not inplace:
        return table
    adata.uns[f"{key}_enrichment" if key_added is None else key_added] = {
        "results": table,
        "params": {
            "key": key,
            "method": method,
            "min_cells": "None" if min_cells is None else min_cells,
            "symbols": "None" if symbols is None else symbols,
            "min_size": smallest,
            "max_size": "None" if largest is None else largest,
            "gene_sets": str(gene_sets) if isinstance(gene_sets, str | Path) else "dict",
            "n_permutations": n_permutations,
            "weight": weight,
            "random_state": random_state,
        },
        "n_selected": len(selected),
        "n_background": len(universe),
        "versions": versions("glfs-bio", "gseapy", "scipy", "anndata"),
    }
    return None


def _expressed(adata: AnnData, key: str, symbols: str | None, min_cells: int | None) -> pd.Series:
    """Names of the genes that enough cells express; all, where nothing is said of it.

    Then only a matrix in memory is looked at, and a warning tells of genes that no cell expresses.
    """
    names = selection.names(adata, symbols)
    recorded = adata.uns.get(key, {}).get("params", {}).get("layer", "None")
    layer = None if recorded == "None" else str(recorded)
    if min_cells is not None:
        return names[counts.n_cells_with(read.row_matrix(adata, layer)) >= min_cells]
    matrix = adata.X if layer is None else adata.layers.get(layer)
    if not (isinstance(matrix, np.ndarray) or sparse.issparse(matrix)):
        return names
    tested = adata.var[f"{key}_score"].notna().to_numpy()
    silent = tested & (counts.n_cells_with(RowMatrix(matrix)) == 0)
    if silent.any() and not (silent == tested).all():  # else the matrix is left out
        warnings.warn(
            f"No cell expresses {silent.sum()} of the {tested.sum()} tested genes, which make "
            "p-values too small: pass min_cells=1 to leave them out, or remove them before the "
            "selection.",
            UserWarning,
            stacklevel=3,
        )
    return names


def _selected(adata: AnnData, key: str, symbols: str | None) -> pd.Index:
    """Names of the selected genes, the best first."""
    genes = selection.ranked(adata, key).index
    named = pd.Index(selection.names(adata, symbols).loc[genes].dropna().unique())
    if named.empty:
        msg = f"symbols={symbols!r} has no name for any of the {len(genes)} selected genes."
        raise ValueError(msg)
    return named


def _within(
    sets: dict[str, list[str]], universe: list[str], smallest: int, largest: int | None
) -> dict[str, list[str]]:
    """The sets restricted to the background, those of the right size."""
    known = set(universe)
    inside = {name: [gene for gene in genes if gene in known] for name, genes in sets.items()}
    if not any(inside.values()):
        members = list(dict.fromkeys(gene for genes in sets.values() for gene in genes))
        alike = {name.upper() for name in universe} & {name.upper() for name in members}
        hint = (
            "; they agree but for upper and lower case, so name a column with the spelling of the "
            "gene sets with symbols=."
            if alike
            else "; name the column of adata.var that holds such names with symbols=."
        )
        msg = (
            f"gene_sets and the genes have no name in common: {read.listed(members[:3])} against "
            f"{read.listed(universe[:3])}{hint}"
        )
        raise ValueError(msg)
    upper = np.inf if largest is None else largest
    fitting = {name: genes for name, genes in inside.items() if smallest <= len(genes) <= upper}
    if not fitting:
        most = max(len(genes) for genes in inside.values())
        msg = (
            f"No gene set has between min_size={smallest} and max_size={largest} genes in the "
            f"background; the largest has {most}."
        )
        raise ValueError(msg)
    return fitting
