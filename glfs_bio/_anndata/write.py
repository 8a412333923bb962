"""A ranking, written where scanpy users look for it, and what records hold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from anndata import AnnData

from ..methods import Method
from ..options import Limits, Platform

if TYPE_CHECKING:
    from ..ranking import Ranking
    from .names import Choice

#: What a text begins with that stands for a dict.
_JSON = "json:"
#: Those that every number depends on.
_NUMERICAL = ("glfs-bio", "numpy", "scipy", "scikit-learn", "anndata")


def table(ranking: Ranking, genes: Choice, names: pd.Index, prefix: str) -> pd.DataFrame:
    """What a ranking says of every gene, one column each.

    Genes that could not be selected have weight 0, no score and no rank, and are not selected.
    """
    columns = {
        "weight": (0.0, ranking.weights),
        "loss": (0.0, ranking.losses),
        "score": (np.nan, ranking.scores),
        "rank": (np.nan, ranking.ranks.astype(float)),
        "selected": (False, ranking.ranks <= ranking.n_selected),
    }
    frame = pd.DataFrame(index=names)
    for name, (missing, values) in columns.items():
        column = np.full(len(names), missing)
        column[genes.allowed] = values
        frame[f"{prefix}_{name}"] = column
    frame[f"{prefix}_included"] = genes.included
    return frame


def spread(frame: pd.DataFrame, names: pd.Index) -> pd.DataFrame:
    """A table of some genes for all of others' names, where it is as :func:`table` leaves it."""
    if frame.index.equals(names):
        return frame
    every = pd.DataFrame(index=names)
    for name, column in frame.items():
        of_names = column.reindex(names)
        if column.dtype == np.bool_:
            of_names = of_names == True  # noqa: E712 -- missing is False
        elif str(name).endswith(("_weight", "_loss", "_efficiency", "_spread", "_off_target")):
            of_names = of_names.fillna(0.0)
        every[name] = of_names
    return every


def record(ranking: Ranking) -> dict[str, Any]:
    """What ``.uns`` keeps of a ranking."""
    return {
        "n_genes": ranking.n_selected,
        "n_tested": len(ranking.scores),
        **ranking.info,
        "versions": versions(),
    }


def parameters(params: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of a function, as ``.uns`` keeps them."""
    return {name: storable(value) for name, value in params.items()}


def store(adata: AnnData, frame: pd.DataFrame, entry: dict[str, Any], key: str) -> None:
    """Put the table into ``.var`` and the record into ``.uns``."""
    for name in frame:
        adata.var[name] = frame[name]
    adata.uns[key] = entry


def storable(value: Any) -> Any:
    """h5ad and zarr keep no None, no pattern, and no list of mixed things; a dict becomes JSON."""
    if value is None:
        return "None"
    if isinstance(value, str | bool | int | float | np.number):
        return value
    if isinstance(value, np.ndarray) and value.dtype == np.bool_:
        return value
    if isinstance(value, AnnData):
        return f"{value.n_obs} cells"
    if isinstance(value, Limits | Platform | Method):
        return value.record()
    if isinstance(value, Mapping):
        return _JSON + json.dumps({str(name): float(item) for name, item in value.items()})
    if hasattr(value, "pattern"):
        return f"re:{value.pattern}"
    return np.array([str(storable(item)) for item in value], dtype=object)


def restored(value: Any) -> Any:
    """None, or a dict of numbers, that :func:`storable` kept; other values as Python has them."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, str) and value == "None":
        return None
    if isinstance(value, str) and value.startswith(_JSON):
        return json.loads(value.removeprefix(_JSON))
    return value


def versions(*packages: str) -> dict[str, str]:
    """By name; of the packages that do the numerical work where none are named."""
    return {package: _version(package) for package in packages or _NUMERICAL}


@cache  # each reading parses the metadata of a package, for some 10 ms
def _version(package: str) -> str:
    return version(package)
