"""Records of ``.uns`` as R has them: with NULL, and with lists by name.

Files keep no None and no dict, so that ``.uns`` holds texts that stand for them.  A structure of
the cells, between two calls, R keeps as bytes that only Python reads.
"""

from __future__ import annotations

import io
import json
import logging
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from .._anndata.structure import KEY
from ..codec import storable
from ..errors import Message, shown
from ..options import Platform
from ..platform.forms import PanelFile
from ._values import column_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from anndata import AnnData

log = logging.getLogger(__name__)

_NONE, _JSON = "None", "json:"
#: Parameters that may be a dict of numbers, or a list of names.
_BY_NAME = ("preserve",)
#: Of a record, what has parameters.
_WITH_PARAMETERS = ("params", "structure")
#: Of the record of a structure: its bytes, and what these hold.
_BYTES = "kept"
_ARRAYS = ("set_of_cell",)
_AS_JSON = ("params", "made_of")
#: Columns of tables that are genes in one text, by what stands between them.
_GENES = {"axis": "/", "genes_up": ", ", "genes_down": ", ", "markers": ", "}
#: Columns that are other texts in one, by table.
_TEXTS = {
    ("table", "candidates"): ", ",
    ("table", "codewords"): "|",
    ("table", "limits"): ", ",
    ("table", "note"): "; ",
    ("checks", "genes"): ", ",
}
#: Columns of tables that are names with shares in one text, by the column of the shares.
_WITH_SHARES = {
    ("table", "supports"): "support_shares",
    ("unexplained", "labels"): "label_shares",
    ("pairs", "genes"): "gene_shares",
}
_SHARE = re.compile(r"(.+?) \((\d+) %\)(?:, |$)", re.DOTALL)


def for_r(record: Mapping[str, Any], genes: Collection[str] = ()) -> dict[str, Any]:
    """A record for R, with lists where a table has several names in one text."""
    known = set(genes)
    return {
        name: _lists(name, value, known)
        if isinstance(value, pd.DataFrame)
        else _value_for_r(name, value)
        for name, value in record.items()
    }


def _lists(name: str, table: pd.DataFrame, genes: set[str]) -> pd.DataFrame:
    found = {}
    for column in table:
        texts = table[column]
        between = _TEXTS.get((name, column))
        if column in _GENES:
            lists = [_split(text, _GENES[column], genes) for text in texts.fillna("")]
            found[column] = column_of(lists)
        elif between is not None:
            found[column] = column_of([text.split(between) if text else [] for text in texts])
        elif (name, column) in _WITH_SHARES and (column != "supports" or "axis" in table):
            pairs = [_SHARE.findall(text) for text in texts.fillna("")]
            found[column] = column_of([[one for one, _ in row] for row in pairs])
            shares = [np.array([int(n) / 100 for _, n in row]) for row in pairs]
            found[_WITH_SHARES[name, column]] = column_of(shares)
        else:
            found[column] = texts.array
    return pd.DataFrame(found, index=table.index)


def _texts(name: str, table: pd.DataFrame) -> pd.DataFrame:
    """The reverse."""
    found = table.copy()
    for column in table:
        shares = _WITH_SHARES.get((name, column))
        between = _TEXTS.get((name, column), _GENES.get(column))
        if shares in table:
            pairs = zip(table[column], found.pop(shares), strict=True)
            found[column] = [
                ", ".join(f"{one} ({100 * n:.0f} %)" for one, n in zip(*pair, strict=True))
                for pair in pairs
            ]
        elif between is not None:
            found[column] = table[column].map(between.join)
    return found


def _split(text: str, between: str, genes: set[str]) -> list[str]:
    """Names out of one text, in which a name may hold what stands between them."""
    found, part = [], ""
    for piece in text.split(between) if text else ():
        part = f"{part}{between}{piece}" if part else piece
        if part in genes:
            found.append(part)
            part = ""
    return [*found, part] if part else found


def from_r(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record of R for ``.uns``: the reverse, for parameters and tables."""
    from_r = {}
    for name, value in record.items():
        if name in _WITH_PARAMETERS:
            from_r[name] = _params_from_r(value)
        else:
            from_r[name] = _texts(name, value) if isinstance(value, pd.DataFrame) else value
    return from_r


def _params_from_r(params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters, of which the platform is a record."""
    from_r = {}
    for name, value in params.items():
        if name == "platform" and isinstance(value, dict):
            from_r[name] = platform(value).record()
        else:
            from_r[name] = storable(value) if value is None or name in _BY_NAME else value
    return from_r


def platform(fields: Mapping[str, Any]) -> Platform:
    """Return a platform of R, where one name alone may be a column or a file of genes."""
    genes = fields.get("genes")
    if isinstance(genes, list | np.ndarray) and len(genes) == 1:
        genes = str(genes[0])
    return Platform(**{**fields, "genes": genes})


def panel(value: Any) -> Any:
    """Return a panel, or several by name, of which each may be a table that R read from a file."""
    if isinstance(value, dict):
        return {name: panel(one) for name, one in value.items()}
    return PanelFile(_texts("table", value), "") if isinstance(value, pd.DataFrame) else value


def genes(value: Any) -> Any:
    """Return a table of genes of R, whose lists Python has with a bar between the names."""
    if not isinstance(value, pd.DataFrame):
        return value
    return value.map(lambda one: "|".join(map(str, one)) if isinstance(one, list) else one)


def _value_for_r(name: str, value: Any) -> Any:
    if isinstance(value, dict):
        return for_r(value)
    if isinstance(value, str) and value == _NONE:
        return None
    if isinstance(value, str) and value.startswith(_JSON):
        return json.loads(value.removeprefix(_JSON))
    # In R one gene alone would be any string.
    return list(value) if name == "preserve" and isinstance(value, np.ndarray) else value


def is_structure(record: Mapping[str, Any]) -> bool:
    """Whether a record is of a structure."""
    return _BYTES in record


def structure(adata: AnnData, key: str) -> dict[str, Any]:
    """What ``pp.structure`` wrote, with its parameters to read."""
    entry = adata.uns[key]
    arrays = {name: entry[name] for name in _ARRAYS}
    arrays |= {"cells": adata.obsm[key], "projections": adata.varm[key]}
    arrays |= {
        f"sets/{place}/{name}": np.asarray(value)
        for place, block in entry["sets"].items()
        for name, value in block.items()
    }
    rest = {name: entry[name] for name in _AS_JSON}
    arrays["json"] = np.array(json.dumps(rest))
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return for_r({"params": entry["params"]}) | {
        "n_samples": adata.n_obs,
        _BYTES: bytearray(buffer.getbuffer()),
    }


def restore(adata: AnnData, key: str, record: Mapping[str, Any]) -> None:
    """Write it back; that of other genes or samples is left out."""
    with np.load(io.BytesIO(bytes(record[_BYTES]))) as arrays:
        cells, projections = arrays["cells"], arrays["projections"]
        if (len(cells), len(projections)) != adata.shape:
            if key != KEY:  # which is computed anew where it does not fit
                log.warning(
                    Message(
                        f"The structure under {shown(key)} is that of other genes or cells, and "
                        "is left out."
                    )
                )
            return
        adata.obsm[key], adata.varm[key] = cells, projections
        sets: dict[str, dict[str, Any]] = {}
        for name in arrays.files:
            if name.startswith("sets/"):
                _, place, field = name.split("/")
                sets.setdefault(place, {})[field] = arrays[name]
        adata.uns[key] = {
            **json.loads(str(arrays["json"])),
            **{name: arrays[name] for name in _ARRAYS},
            "sets": sets,
        }
