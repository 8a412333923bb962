"""Words of the shell for refusals, warnings, notes and results.

Python's ``n_genes=0``, ``adata.obs`` and ``glfs_bio.tl.stability(adata)`` are ``--n-genes 0``,
``obs`` and ``glfs-bio stability`` here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import Door, shortened

if TYPE_CHECKING:
    import pandas as pd
    from anndata import AnnData

_NONE, _TRUE, _FALSE = "nothing", "true", "false"
#: Commands for functions that they are not called as, by the last parts of their names.
_COMMANDS = {
    "select_genes": "select",
    "structure": "explain -o",
    "evaluate_panel": "evaluate",
    "extend_panel": "extend",
    "explain_panel": "explain",
    "order_panel": "order",
    "prove_panel": "prove",
    "estimate_efficiency": "efficiency",
    "write_genes": "export",
    "write_order": "order --order",
    "write_reference": "order --reference",
    "write_report": "report",
} | {name: name for name in ("stability", "classify", "enrich")}
#: Arguments for the cells.
_CELLS = {"adata", "X", "source"}
#: Arguments that are files, of which the name says enough.
_FILES = {"path"}


@dataclass(frozen=True)
class Spelling:
    """Name of an option or argument of a command."""

    #: ``--n-genes``, or ``PANEL``.
    name: str
    is_flag: bool = False
    #: ``--no-transpose``, of a flag with an opposite.
    opposite: str | None = None


def door(options: Mapping[str, Spelling]) -> Door:
    """Return the words of a command, whose options have the names of Python's arguments."""
    normalise = (
        "pass {}".format(options["log1p"].name)
        if "log1p" in options
        else "make logarithms of normalised counts of them first"
    )
    return Door(
        words={
            "adata": "IN",
            **{part: part for part in ("X", "layers", "obs", "obs_names", "obsm", "obsp", "uns")},
            "graphs": "uns",
            "var": "var",
            "var_names": "var_names",
            "none": _NONE,
            "true": _TRUE,
            "false": _FALSE,
            "boolean": "boolean",
            "mapping": "file or list of NAME=VALUE",
            "categorical": "a categorical column of the file",
            "log_normalise": normalise,
            "pattern": "/…/",
            "spawn": "a command of its own",
        },
        argument=partial(_argument, options),
        call=_call,
        value=_value,
    )


def _argument(options: Mapping[str, Spelling], name: str, value: str | None) -> str:
    """An argument, or one item of it, with its value as it would be given."""
    name, _, key = name.partition("[")
    given = value or ""
    if key:
        given = f"{_plain(key.removesuffix(']'))}={given}".removesuffix("=")
    own = options.get("source" if name in _CELLS else name)
    if own is None:
        called = "IN" if name in _CELLS else name
        return given if given and name in _FILES else f"{called} {given}".strip()
    if own.is_flag and given == _TRUE:
        return own.name
    if own.is_flag and given == _FALSE and own.opposite:
        return own.opposite
    if given == _NONE or (own.is_flag and given == _FALSE):
        return f"no {own.name}"
    return f"{own.name} {given}".strip()


def command(name: str) -> str | None:
    """The command that does what a function of Python does."""
    called = _COMMANDS.get(name.rpartition(".")[2])
    return called and f"glfs-bio {called}"


def _call(name: str) -> str:
    return command(name) or f"glfs_bio.{name} in Python"


def _value(value: object) -> str:
    """A value as it would be written, shortened."""
    if value is None or isinstance(value, bool):
        return _NONE if value is None else _TRUE if value else _FALSE
    if isinstance(value, str | Path):
        return _plain(shortened(str(value)))
    if isinstance(value, re.Pattern):
        return f"/{value.pattern}/"
    if isinstance(value, list | tuple):
        return _plain(shortened(",".join(map(_value, value))))
    if isinstance(value, Mapping):
        return _plain(shortened(",".join(f"{name}={_value(one)}" for name, one in value.items())))
    return shortened(value)


def _plain(text: str) -> str:
    """Text without the quotation marks of Python, where the shell needs none."""
    if text[:1] not in {"'", '"'} or text[-1:] != text[:1]:
        return text
    inner = str(ast.literal_eval(text))
    return inner if re.fullmatch(r"[^\s'\"]+", inner) else text


#: Where no command runs.
SHELL = door({})


def in_symbols(frame: pd.DataFrame, adata: AnnData, symbols: str | None) -> pd.DataFrame:
    """A table whose genes are called by a column of ``.var``, where it has a name."""
    from .._anndata import read

    if symbols is None:
        return frame
    names = read.symbols(adata, symbols).fillna(adata.var_names.to_series())
    columns = [name for name in ("gene", "substitute", "replaces") if name in frame]
    return frame.assign(**{name: frame[name].replace(names.to_dict()) for name in columns})
