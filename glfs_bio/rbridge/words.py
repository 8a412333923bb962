"""The words of R, in which it hears refusals, warnings and notes."""

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING

from ..errors import LOG_NORMALISE, Door, cut, short
from . import formals

if TYPE_CHECKING:
    from collections.abc import Mapping

#: A text that Python wrote, as the key of an item.
_QUOTED = re.compile("'(.*)'")
#: Calls of R's functions, by the names of Python's.
_CALLS = {name: f"glfs_{name}(x)" for name in formals.FUNCTIONS}
_CALLS |= {"Limits": "glfs_limits()", "Platform": "glfs_platform()"}


def argument(words: Mapping[str, str], name: str, value: str | None = None) -> str:
    """Return an argument of Python as R has it, with its value as R writes it."""
    name, bracket, item = name.partition("[")
    text = words.get(name, name)
    text += bracket + _QUOTED.sub(lambda key: shown(key[1]), item)
    # of a vector, not the name of the column that R put it into
    is_column = value == json.dumps(f"glfs_{text}")
    return text if value is None or is_column else f"{text} = {value}"


def call(name: str) -> str:
    """Return a call of a function of Python, by the function that R has for it."""
    return _CALLS.get(name.rpartition(".")[2], f"glfs_bio.{name} in Python")


def shown(value: object) -> str:
    """Return a value as R writes it, shortened."""
    if value is None or isinstance(value, bool):
        return {None: "NULL", True: "TRUE", False: "FALSE"}[value]
    if isinstance(value, str):
        return cut(json.dumps(value, ensure_ascii=False))
    if isinstance(value, dict):
        items = [f"{name} = {shown(item)}" for name, item in value.items()]
    elif isinstance(value, list | tuple | set):
        items = [shown(item) for item in value]
    else:
        return short(value)
    return cut(f"c({', '.join(items)})")


def door(of: str = "SummarizedExperiment") -> Door:
    """Return the door of R, with the words of a class (:data:`_OF_CLASS`)."""
    words = _WORDS | _OF_CLASS.get(of, {})
    return Door(words=words, argument=partial(argument, words), call=call, value=shown)


_WORDS = {
    **formals.RENAMED,
    "adata": "x",
    "X": "x",
    "layer": "assay.type",
    "adata.X": "the matrix",
    "adata.raw": "the raw data of x",
    "adata.layers": "assays(x)",
    "adata.obs": "colData(x)",
    "adata.obs_names": "colnames(x)",
    "adata.obsm": "reducedDims(x)",
    "adata.obsp": "colPairs(x)",
    "graph of adata.uns": "graph of colPairs(x)",
    "adata.uns": "metadata(x)",
    "adata.var": "rowData(x)",
    "adata.var_names": "rownames(x)",
    "None": "NULL",
    "boolean": "logical",
    "dict": "vector or list with names",
    ".astype('category')": "factor()",
    LOG_NORMALISE: "scuttle::logNormCounts()",
    "re.compile(...)": "grep(..., value = TRUE)",
    "multiprocessing.get_context('spawn')": "BiocParallel::SnowParam()",
}
#: Other words of other classes.
_OF_CLASS = {
    "matrix": {
        "adata.obs": "colData(x) (x is a matrix)",
        "adata.var": "rowData(x) (x is a matrix)",
        LOG_NORMALISE: "scuttle::normalizeCounts()",
    },
    "ExpressionSet": {
        "adata.layers": "assayData(x)",
        "adata.obs": "pData(x)",
        "adata.uns": "notes(x)",
        "adata.var": "fData(x)",
        LOG_NORMALISE: "what normalises them and takes logarithms",
    },
    "Seurat": {
        "layer": "layer",
        "adata.layers": "the layers of the assay",
        "adata.obs": "x[[]]",
        "adata.obsm": "Reductions(x)",
        "adata.obsp": "Graphs(x)",
        "graph of adata.uns": "graph of Graphs(x), which are not read",
        "adata.uns": "Misc(x)",
        "adata.var": "x[[assay]][[]]",
        LOG_NORMALISE: "NormalizeData()",
    },
}
