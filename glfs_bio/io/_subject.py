"""What a report is about: a selection, and the results that are of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._anndata import selection

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from anndata import AnnData

#: Results that a report may show: who writes them, and with which entries.
_WRITTEN_BY = {
    "evaluation": ("tl.evaluate_panel", "kept", "genes", "missed"),
    "explanation": ("tl.explain_panel", "table"),
    "substitutes": ("tl.substitutes", "table", "panel"),
    "stability": ("tl.stability", "jaccard"),
    "enrichment": ("tl.enrich", "results"),
}
#: Results of a panel that may have any name: their keys, unless the name of the selection is used.
_OF_ANY_PANEL = ("evaluation", "explanation", "substitutes")


@dataclass(frozen=True)
class Result:
    """A further result: its key, what is under it, and why it is not of the selection, if so."""

    key: str
    entry: dict[str, Any]
    unlike: str | None = None


@dataclass(frozen=True)
class Subject:
    """The selection that the report is about, and how to show it.

    `frame` has the selected genes, the best first.  `called` is what every gene is called.
    `results` has the further results that are there.
    """

    adata: AnnData
    key: str
    frame: pd.DataFrame
    entry: dict[str, Any]
    called: pd.Series
    groupby: str | None
    symbols: str | None
    layer: str | None
    link: str | None
    results: Mapping[str, Result]
    random_state: int

    def result(self, what: str) -> Result | None:
        """A result of this selection, and of no other."""
        found = self.results.get(what)
        return None if found is None or found.unlike is not None else found

    def of_another(self, what: str) -> dict[str, str] | None:
        """What to say of a result that is of another selection."""
        found = self.results.get(what)
        if found is None or found.unlike is None:
            return None
        return {"key": found.key, "unlike": found.unlike}

    def renamed(self, text: str, separator: str) -> str:
        """Names of genes in a text, as they are called."""
        return separator.join(self.called.get(name, name) for name in text.split(separator))


def results(
    adata: AnnData, key: str, genes: pd.Index, named: Mapping[str, str | None]
) -> dict[str, Result]:
    """Results that are there.

    `genes` are those that are selected, and `named` has the keys of the caller.

    Raises
    ------
    KeyError
        A result that is named is not there.
    ValueError
        A result that is named is of another selection.
    """
    found = {}
    for what, asked in named.items():
        where = _where(adata, key, what) if asked is None else asked
        if where is None:
            continue
        entry = selection.record(adata, where, *_WRITTEN_BY[what], argument=f"{what}_key")
        unlike = _unlike(adata, key, genes, what, where, entry)
        if asked is not None and unlike is not None:
            writer = _WRITTEN_BY[what][0]
            call = f"key={key!r}" if what == "stability" else f"{key!r}"
            msg = (
                f"{what}_key={asked!r} cannot be set beside the selection under key={key!r}: "
                f"{unlike}. Run glfs_bio.{writer}(adata, {call})."
            )
            raise ValueError(msg)
        found[what] = Result(where, entry, unlike)
    return found


def _where(adata: AnnData, key: str, what: str) -> str | None:
    """Key of a result that was not named."""
    usual = [f"{key}_{what}", *([f"glfs_{what}"] if what in _OF_ANY_PANEL else [])]
    return next((name for name in usual if name in adata.uns), None)


def _unlike(
    adata: AnnData, key: str, genes: pd.Index, what: str, where: str, entry: dict[str, Any]
) -> str | None:
    """Why a result is not of the selection, in words."""
    if what == "stability":
        different = selection.difference(adata, key, where)
        return None if different is None else str(different)
    if what == "enrichment":
        return None
    own = {"evaluation": "genes", "substitutes": "panel"}.get(what)
    names = entry["table"]["gene"] if own is None else entry[own]
    others = np.setdiff1d(np.asarray(names, dtype=str), genes.astype(str))
    lacking = np.setdiff1d(genes.astype(str), np.asarray(names, dtype=str))
    if not len(others) and not len(lacking):
        return None
    return (
        f"their panel is another (not selected: {len(others)} of its {len(names)} genes; not in "
        f"it: {len(lacking)} of the {len(genes)} that are selected)"
    )
