"""The functions of R, with their arguments, by the signatures of Python's.

``make r-functions`` writes them to ``R/functions.R`` of the R package.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from .. import pp, tl
from .._docs import parameters
from ..estimators import LapRLSClassifier
from ..options import Limits, Platform

if TYPE_CHECKING:
    from collections.abc import Callable

#: By the names that R has for them, without ``glfs_``.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "select_genes": pp.select_genes,
    "structure": pp.structure,
    "stability": tl.stability,
    "evaluate_panel": tl.evaluate_panel,
    "extend_panel": tl.extend_panel,
    "explain_panel": tl.explain_panel,
    "prove_panel": tl.prove_panel,
    "resolve_genes": tl.resolve_genes,
    "order_panel": tl.order_panel,
    "classify": tl.classify,
    "laprls": LapRLSClassifier,
}
#: Options that are made by a function.
RECORDS: dict[str, Callable[..., Any]] = {"limits": Limits, "platform": Platform}
CALLED = FUNCTIONS | RECORDS
#: Functions whose `preserve` R has in several arguments, and parameters of a structure as others.
EVALUATING = frozenset({"evaluate_panel", "extend_panel", "explain_panel", "prove_panel"})
#: The object itself, and what has no meaning in R or another argument there.
NOT_IN_R = frozenset({"adata", "as_highly_variable", "inplace", "layer", "new"})
RENAMED = {"batch_key": "block", "n_jobs": "BPPARAM"}
#: Arguments that Python has in another place, of which R needs those of a classifier.
_MORE = {"select_genes": ("lam",), "laprls": ("labels",)}
NEEDED = {"laprls": ("labels",)}
#: What users of scran, scater, Seurat and scanpy try, by the arguments that are meant.
_TRIED = {
    "block": "batch batches batch.key batch.by group.by.vars",
    "assay.type": "exprs_values assay_type assay.name assayType by_exprs_values slot",
    "layer": "slot",
    "n_genes": "n ntop nfeatures n_features n_top_genes num_genes top",
    "labels": "group.by group_by groupby groups group cluster clusters cell_type colLabels ident",
    "preserve": "group.by group_by groupby clusters labels",
    "groupby": "group.by group_by labels groups",
    "dimred": "use.dimred use_dimred dim_red reduction reduced.dim rep",
    "n_comps": "ncomponents npcs n_pcs num_pcs rank d",
    "n_neighbors": "k k.param n.neighbors",
    "panel": "features genes markers",
    "BPPARAM": "BPARAM workers n_cores",
    "random_state": "seed seed.use random.seed",
    "symbols": "gene_symbols gene.symbol swap_rownames",
    "key_added": "name reduction.name",
    "platform": "efficiency spillover",
    "x[genes, ]": "subset.row subset_row features",
    "x[, cells]": "subset.col subset_col cells",
}


def options(name: str) -> dict[str, str]:
    """Return the names in Python of what R hands over, by R's: its options, or fields."""
    taken = {*parameters(CALLED[name]), *more(name)} - NOT_IN_R
    return {RENAMED.get(argument, argument): argument for argument in sorted(taken)}


def more(name: str) -> frozenset[str]:
    """Return options that R hands over and Python's function does not have itself."""
    extra = {*_MORE.get(name, ())}
    if name in EVALUATING:
        extra |= {*parameters(pp.structure), "cell_weights"} - {"key_added"}
    if name == "stability":
        extra |= {*parameters(pp.select_genes), *more("select_genes")}
    return frozenset(extra - set(parameters(CALLED[name])) - NOT_IN_R)


def argument_names(name: str) -> list[str]:
    """Return the arguments of a function of R, as R calls them."""
    if name in RECORDS:
        return list(options(name))
    has_structure = name in {"select_genes", "structure"} | EVALUATING
    of_r = ["assay.type", "assay", "layer", *(["dimred"] if has_structure else [])]
    return [*options(name), *of_r]


def meant(name: str, tried: str) -> str | None:
    """Return what to do in place of an argument that a function of R does not have, if known."""
    taken = argument_names(name)
    meanings = [
        meaning
        for meaning, words in _TRIED.items()
        if tried in words.split() and (meaning in taken or meaning.startswith("x["))
    ]
    meanings = meanings or get_close_matches(tried, taken, 1)
    return f"did you mean {' or '.join(meanings)}?" if meanings else None
