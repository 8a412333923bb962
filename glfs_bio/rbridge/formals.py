"""Arguments of R's functions and their defaults, from the signatures of Python's.

``make r-generics`` writes them into ``R/generics.R`` of the R package.
"""

from __future__ import annotations

import json
import re
import textwrap
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from .. import pp, tl
from .._anndata.results import KINDS
from .._docs import REQUIRED, Parameter, parameters
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
#: Functions whose `preserve` R has in several arguments, and parameters of a structure as others.
EVALUATING = frozenset({"evaluate_panel", "extend_panel", "explain_panel", "prove_panel"})
#: The object itself, and what has no meaning in R or another argument there.
NOT_IN_R = frozenset({"adata", "as_highly_variable", "inplace", "layer", "new"})
RENAMED = {"batch_key": "block"}
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
}
#: And what is done without an argument.
_INSTEAD = {
    **dict.fromkeys(("subset.row", "subset_row", "features"), "give x[genes, ]"),
    **dict.fromkeys(("subset.col", "subset_col", "cells"), "give x[, cells]"),
    **dict.fromkeys(("BSPARAM", "BNPARAM", "BPPARAM"), "leave it out"),
}
#: Arguments that take so many kinds of values that Python's types do not tell: among others one
#: number of each name, or always several values.
_NUMBERS = frozenset({"efficiency", "expression", "genes", "per_group", "preserve", "type"})
_SEVERAL = frozenset({"genes"})
#: Arguments that Python has in another place.
_MORE = {"select_genes": ("lam",), "laprls": ("labels",)}
#: What stands before `...`, beside Python's positional arguments.
_POSITIONAL = {"classify": ("n_genes",), "laprls": ()}
#: Seeds that change what is seen come from R's generator.
_SEEDED = frozenset({"stability", "evaluate_panel", "classify"})
_PLACE = {"assay.type": "NULL", "assay": "NULL", "layer": "NULL"}
#: Tables that are taken apart.
_TABLES = {"platform": "vectors_of_tables(given())"}
#: Python's word for what an earlier selection had: an argument without a default.
_RECORDED = "recorded"


def formals(name: str) -> dict[str, str]:
    """Return the arguments of a function of R in their order, with their defaults as R code.

    Without a default: an empty text, as for ``...``.
    """
    before_dots: dict[str, str] = {}
    after_dots: dict[str, str] = {}
    for parameter in parameters(FUNCTIONS[name]).values():
        if parameter.name not in {*NOT_IN_R, "n_jobs"}:
            arguments = before_dots if _is_positional(name, parameter) else after_dots
            arguments[RENAMED.get(parameter.name, parameter.name)] = _default(name, parameter)
    arguments = {"x": ""} | ({"labels": ""} if name == "laprls" else {})
    arguments |= before_dots | {"...": ""} | after_dots
    arguments |= {option: "NULL" for option in _MORE.get(name, ()) if option not in arguments}
    if name in EVALUATING:
        arguments |= {"cell_weights": "NULL", "use_rep": "NULL"}
    if "use_rep" in arguments:
        arguments |= {"dimred": "NULL"}
    if name == "stability":
        arguments |= {"BPPARAM": "NULL"}
    return arguments | _PLACE


def more(name: str) -> frozenset[str]:
    """Return options that R hands over and Python's function does not have itself."""
    of_structure = frozenset(parameters(pp.structure)) - {"key_added"}
    evaluating = of_structure | {"cell_weights"}
    extra = evaluating if name in EVALUATING else frozenset(_MORE.get(name, ()))
    return extra - set(parameters((FUNCTIONS | RECORDS)[name])) - NOT_IN_R


def argument_names(name: str) -> list[str]:
    """Return the arguments of a function of R, as R calls them."""
    if name in RECORDS:
        return list(parameters(RECORDS[name]))
    extra = [RENAMED.get(argument, argument) for argument in sorted(more(name))]
    return [name for name in dict.fromkeys([*formals(name), *extra]) if name not in {"x", "..."}]


def meant(name: str, tried: str) -> str | None:
    """Return what to do in place of an argument that a function of R does not have, if it is
    known.
    """
    taken = argument_names(name)
    meanings = [name for name, words in _TRIED.items() if name in taken and tried in words.split()]
    if not meanings and tried in _INSTEAD:
        return _INSTEAD[tried]
    meanings = meanings or get_close_matches(tried, taken, 1)
    return f"did you mean {' or '.join(meanings)}?" if meanings else None


def _is_positional(name: str, parameter: Parameter) -> bool:
    return parameter.name in _POSITIONAL.get(name, ()) or (
        name != "laprls" and parameter.is_positional
    )


def _default(name: str, parameter: Parameter) -> str:
    if parameter.name == "random_state" and name in _SEEDED:
        return "NULL"
    if parameter.default in (REQUIRED, _RECORDED):
        return ""
    return _in_r(parameter.default)


def _in_r(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "NULL", True: "TRUE", False: "FALSE"}[value]
    if isinstance(value, tuple):
        return f"c({', '.join(map(_in_r, value))})"
    return json.dumps(value) if isinstance(value, str) else f"{value:g}"


def generics() -> str:
    """Return the text of ``R/generics.R``."""
    blocks = ["# Made by `make r-generics` from the signatures of Python: do not edit by hand."]
    for name in FUNCTIONS:
        function = f"glfs_{name}"
        blocks.append(
            f"#' @rdname {function}\n"
            f"#' @aliases {function},ANY-method\n"
            f"#' @export\n#' @exportMethod {function}\n"
            f'setGeneric("{function}", signature = "x", function(\n'
            f"{_wrapped(_listed(formals(name)), first=' ' * 8)}\n"
            f'    standardGeneric("{function}")\n'
            "})"
        )
    for name, record in RECORDS.items():
        fields = {"...": ""}
        fields |= {field.name: _in_r(field.default) for field in parameters(record).values()}
        blocks.append(
            f"#' @rdname glfs_limits\n#' @export\nglfs_{name} <- function(\n"
            f"{_wrapped(_listed(fields), first=' ' * 8)}\n"
            f'    options_of("{name}", {_TABLES.get(name, "given()")})\n'
            "}"
        )
    return "\n\n".join([*blocks, *_vectors()]) + "\n"


def _vectors() -> list[str]:
    """Return what R has to know of functions and arguments, a vector each."""
    types = [
        (name, argument.type)
        for function in (FUNCTIONS | RECORDS).values()
        for name, argument in parameters(function).items()
    ]

    def typed(pattern: str) -> set[str]:
        return {name for name, kind in types if re.search(pattern, kind)}

    vectors = {
        "generic_functions": FUNCTIONS,
        "numbers_by_name": sorted(_NUMBERS | typed(r"Mapping\[str, (float|int)\b")),
        "genes_by_name": sorted(typed(r"Mapping\[str, Collection\[str\]\]")),
        "sequences": sorted(_SEVERAL | typed(r"^Sequence\[int\]")),
    }
    items = {name: [json.dumps(text) for text in vector] for name, vector in vectors.items()}
    called = RENAMED | {"n_jobs": "BPPARAM"}
    functions = [(kind, name.partition(".")[2]) for kind, name in KINDS.items()]
    writers = {kind: f"glfs_{name}" for kind, name in functions if name in FUNCTIONS}
    for name, mapping in (("renamed", called), ("writers", writers)):
        items[name] = [f'{argument}\0=\0"{text}"' for argument, text in mapping.items()]
    return [
        f"{name} <- c(\n{_wrapped(', '.join(texts), first=' ' * 4)}\n)"
        for name, texts in items.items()
    ]


def _listed(arguments: dict[str, str]) -> str:
    """Return what stands between the parentheses, and the brace after them."""
    texts = [f"{name}\0=\0{default}" if default else name for name, default in arguments.items()]
    return ", ".join(texts) + ")\0{"


def _wrapped(text: str, *, first: str) -> str:
    """Return the text in lines of 80 columns; a default stays with its argument."""
    return textwrap.fill(
        text,
        80,
        initial_indent=first,
        subsequent_indent=first,
        break_long_words=False,
        break_on_hyphens=False,
    ).replace("\0", " ")
