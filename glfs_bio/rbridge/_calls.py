"""What R may call, and the boundary at which every exception becomes an R condition."""

from __future__ import annotations

import inspect
import platform
import sys
import traceback
import warnings
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import anndata as ad
import numpy as np
import pandas as pd
from scipy import sparse

from .. import pp, tl
from .._anndata import labels, read
from ..estimators import LapRLSClassifier
from ..limits import Limits
from . import _session, _values

if TYPE_CHECKING:
    from collections.abc import Callable

#: Names of reduced dimensions in Bioconductor, and of the same arrays in ``.obsm``.
_REDUCED = {"PCA": "X_pca", "TSNE": "X_tsne", "UMAP": "X_umap"}
_IN_OBSM = {name: key for key, name in _REDUCED.items()}
#: Parameters of what panels are judged by; some functions have a `random_state` of their own.
_OF_STRUCTURE = frozenset(inspect.signature(pp.structure).parameters) - {"adata", "key_added"}
_FOR_DEVELOPERS = (
    DeprecationWarning,
    FutureWarning,
    ImportWarning,
    PendingDeprecationWarning,
    ResourceWarning,
)


def answer(target: Any, arguments: Any) -> Any:
    """Call a function of this module for R.

    Returns
    -------
    An R list with ``ok`` and ``warnings``, and ``value`` or the ``classes``, ``message`` and
    ``traceback`` of an exception.  Nothing is ever raised: rpy2 would print it and give R a NULL.
    """
    caught: list[warnings.WarningMessage] = []
    try:
        values = _values.read(arguments)
        with _session.interruptible(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            value = _TARGETS[target[0]](**values)
        told = {"ok": True, "value": _values.write(value)}
    except BaseException as error:  # noqa: BLE001 — an exception that gets out aborts the process
        told = {
            "ok": False,
            "classes": _strings([kind.__name__ for kind in type(error).__mro__[:-1]]),
            "message": str(error.args[0] if isinstance(error, KeyError) and error.args else error),
            "traceback": "".join(traceback.format_exception(error)),
        }
    said = [str(one.message) for one in caught if not issubclass(one.category, _FOR_DEVELOPERS)]
    return _values.write(told | {"warnings": _strings(said)})


def put_together(parts: dict[str, Any]) -> ad.AnnData:
    """Cells × genes, out of the plain pieces of an R object, whose matrices are genes × cells."""
    return ad.AnnData(
        parts["X"].T,
        obs=parts["obs"],
        var=parts["var"],
        obsm={_REDUCED.get(name, name): array for name, array in parts["reduced"].items()},
        layers={name: layer.T for name, layer in parts["layers"].items()},
        uns=parts["records"],
    )


def take_apart(adata: ad.AnnData, X_name: str) -> tuple[dict[str, Any], list[str]]:
    """The reverse, and the names of what has no plain form in R."""
    if X_name in adata.layers:
        msg = f"X_name={X_name!r} is the name of a layer: choose another."
        raise ValueError(msg)
    assays = {} if adata.X is None else {X_name: read.matrix(adata)}
    assays |= {name: read.matrix(adata, name) for name in adata.layers}
    left = [
        f"{name}[{key!r}]"
        for name in ("uns", "varm", "obsp", "varp")
        for key in getattr(adata, name)
    ]
    left += ["raw"] if adata.raw is not None else []
    reduced = {}
    for key, array in adata.obsm.items():
        if isinstance(array, np.ndarray) and array.ndim == 2 and array.dtype.kind in "fiub":
            reduced[_IN_OBSM.get(key, key)] = array
        else:
            left.append(f"obsm[{key!r}]")
    tables = {}
    for name in ("obs", "var"):
        tables[name], dropped = _plain_columns(getattr(adata, name))
        left += [f"{name}[{column!r}]" for column in dropped]
    return {
        "assays": {name: matrix.T for name, matrix in assays.items()},
        "reduced": reduced,
        **tables,
    }, left


def _plain_columns(table: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    dropped = [name for name in table if not _values.is_plain(table[name])]
    return table.drop(columns=dropped), [str(name) for name in dropped]


def _strings(values: list[str]) -> pd.Series:
    return pd.Series(values, dtype=object)


def _about() -> dict[str, Any]:
    return {
        "python": sys.executable,
        "python_version": platform.python_version(),
        **{name.replace("-", "_"): version(name) for name in ("glfs-bio", "rpy2", "anndata")},
    }


def _written_by(
    function: Callable[..., Any], parts: dict[str, Any], options: dict[str, Any]
) -> dict[str, Any]:
    """Call a function that writes to ``.var``, ``.obs`` and ``.uns``, and tell what it wrote."""
    adata = put_together(parts)
    adata.var["_row"] = np.arange(adata.n_vars)
    before = {"var": adata.var.copy(), "obs": adata.obs.copy()}
    function(adata, **_arguments(options))
    rows = adata.var.pop("_row").to_numpy()
    return {
        "rows": rows + 1,
        "var": _new_columns(adata.var, before["var"].iloc[rows]),
        "obs": _new_columns(adata.obs, before["obs"]),
        # The records that R handed over have no versions.
        "records": {key: _told(entry) for key, entry in adata.uns.items() if "versions" in entry},
    }


def _told(entry: dict[str, Any]) -> dict[str, Any]:
    """A record for R, where the genes to preserve are a list: one alone would be any string."""
    preserve = entry.get("params", {}).get("preserve")
    if not isinstance(preserve, np.ndarray):
        return entry
    return entry | {"params": entry["params"] | {"preserve": list(preserve)}}


def _judged_by(
    function: Callable[..., Any], parts: dict[str, Any], options: dict[str, Any]
) -> dict[str, Any]:
    """The same for a function that judges panels: it may be told by which structure.

    R keeps no structure between two calls, so that its parameters are given with the others.
    """
    own = _OF_STRUCTURE - set(inspect.signature(function).parameters)

    def judge(adata: ad.AnnData, **given: Any) -> None:
        told = {name: given.pop(name) for name in own & set(given)}
        if told:
            pp.structure(adata, **told)
        function(adata, **given)
        adata.uns.pop("glfs_structure", None)

    return _written_by(judge, parts, options)


def _new_columns(table: pd.DataFrame, before: pd.DataFrame) -> pd.DataFrame:
    new = [name for name in table if name not in before or not table[name].equals(before[name])]
    return table[new]


def _arguments(options: dict[str, Any]) -> dict[str, Any]:
    """Arguments as Python has them: keys of ``.obsm``, and limits."""
    if (name := options.get("use_rep")) in _REDUCED:
        options = options | {"use_rep": _REDUCED[name]}
    if "preserve" in options:
        options = options | {"preserve": _preserved(options["preserve"])}
    if options.get("limits") is not None:
        options = options | {"limits": Limits(**options["limits"])}
    return options


def _preserved(preserve: Any) -> Any:
    """With reduced dimensions by their keys of ``.obsm``."""
    if isinstance(preserve, str):
        return _REDUCED.get(preserve, preserve)
    if isinstance(preserve, dict):
        return {_REDUCED.get(name, name): weight for name, weight in preserve.items()}
    return preserve


def _laprls(
    parts: dict[str, Any], label: str, select: bool, options: dict[str, Any]
) -> dict[str, Any]:
    """Fit LapRLS to all genes, or to a few that are selected for it."""
    adata = put_together(parts)
    if select:
        tl.classify(adata, label, key_added="model", **options)
        entry = adata.uns["model"]
        coef = adata.varm["model_coef"] if "model_coef" in adata.varm else adata.var[["model_coef"]]
        return {
            "classes": _strings(entry["classes"]),
            "genes": _strings(entry["genes"]),
            "coef": np.asarray(coef)[adata.var_names.get_indexer(entry["genes"])],
            "intercept": entry["intercept"],
            "tried": entry.get("tried"),
            "cv_errors": entry.get("cv_errors"),
        }
    codes, categories = labels.codes(adata, label)
    model = LapRLSClassifier(**options).fit(read.matrix(adata), codes)
    return {
        "classes": _strings(categories[model.classes_].astype(str)),
        "genes": _strings(adata.var_names),
        "coef": model.coef_.T,
        "intercept": model.intercept_,
        "tried": None,
        "cv_errors": None,
    }


def _read_h5ad(path: str, X_name: str) -> dict[str, Any]:
    parts, left = take_apart(ad.read_h5ad(path), X_name)
    return parts | {"left": _strings(left)}


def _example() -> dict[str, Any]:
    """The blood cells that scanpy ships."""
    import scanpy as sc

    return take_apart(sc.datasets.pbmc68k_reduced().raw.to_adata(), "logcounts")[0]


def _stored(parts: dict[str, Any]) -> dict[str, int]:
    """Non-zeros that arrived: what the benchmark measures is the way here."""
    matrix = parts["X"]
    return {"stored": matrix.nnz if sparse.issparse(matrix) else matrix.size}


_TARGETS: dict[str, Callable[..., Any]] = {
    "about": _about,
    "select_genes": partial(_written_by, pp.select_genes),
    "stability": partial(_written_by, tl.stability),
    "evaluate_panel": partial(_judged_by, tl.evaluate_panel),
    "extend_panel": partial(_judged_by, tl.extend_panel),
    "substitutes": partial(_judged_by, tl.substitutes),
    "explain_panel": partial(_judged_by, tl.explain_panel),
    "compare_panels": partial(_judged_by, tl.compare_panels),
    "curve": partial(_judged_by, tl.curve),
    "laprls": _laprls,
    "example": _example,
    "read_h5ad": _read_h5ad,
    "stored": _stored,
}
