"""What an order sheet adds: groups, must-haves, backups, and where genes are from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ._panel import must_haves

if TYPE_CHECKING:
    from anndata import AnnData

    from .._anndata.names import Named
    from .._typing import Index
    from ._explain import Explanation
    from ._panel import Replacements


def spares(every: pd.DataFrame, instead: Replacements, rows: Index, n: int) -> pd.DataFrame:
    """Return the `n` best substitutes of each gene of an order, each once, with what it backs up.

    The best of all genes stand before the second best; `every` has a row per gene of the data.
    """
    of_genes: dict[int, list[str]] = {}
    scores: dict[int, float] = {}
    for rank in range(n):
        for place, row in enumerate(rows):
            for other in instead.best(place, n)[rank : rank + 1].tolist():
                of_genes.setdefault(other, []).append(str(every["name"].iloc[row]))
                scores[other] = max(scores.get(other, 0.0), float(instead.score[place, other]))
    found = every.iloc[list(of_genes)].assign(
        replaces="",
        backup_of=[", ".join(genes) for genes in of_genes.values()],
        score=[scores[other] for other in of_genes],
    )
    again = (found["place"] >= 0) & found["place"].duplicated()
    return found[~again]


def completed(
    adata: AnnData,
    named: Named,
    table: pd.DataFrame,
    every: pd.DataFrame,
    why: Explanation | None,
) -> pd.DataFrame:
    """Return the table of an order with the columns of a sheet, and why each gene is in it.

    `every` has a row per row of the table, with ``row`` of ``.var``, and with what
    :func:`spares` says of those.
    """
    is_backup = every.get("backup_of", pd.Series(np.nan, every.index)).notna().to_numpy()
    had_to = np.append(must_haves(adata, named), [False])[every["row"]] & ~is_backup
    table = table.assign(
        group=_groups(named, every, why),
        must_have=had_to,
        is_backup=is_backup,
        backup_of=every.get("backup_of", ""),
        source=_sources(adata, named, every, had_to, is_backup),
    )
    table["backup_of"] = table["backup_of"].astype(object).where(is_backup, "")
    if why is None:
        return table
    n_here = int(((every["row"] >= 0) & ~is_backup).sum())
    table = table.join(why.table.iloc[:n_here].set_index("gene"), on="name")
    table.loc[is_backup, "substitution_score"] = every["score"][is_backup]
    table["acceptable"] = table["acceptable"].eq(True)
    texts = [name for name in why.table if why.table[name].dtype.kind not in "fb"]
    texts = [name for name in texts if name in table]
    table[texts] = table[texts].fillna("")
    return table


def _groups(named: Named, every: pd.DataFrame, why: Explanation | None) -> list[str]:
    """The group of each gene: that of the file, else the label of its highest mean, else none.

    A backup is in the group of the first gene that it backs up.
    """
    in_file = {} if named.file is None else named.in_file("group")
    asked = every["asked"] if "asked" in every else every["name"]
    found = {
        name: str(in_file.get(own, "")) for name, own in zip(every["name"], asked, strict=True)
    }
    if why is not None and why.where is not None and why.where.labels:
        best = why.where.means_in.argmax(axis=1)
        for gene, label in zip(why.table["gene"], best, strict=True):
            found[gene] = found.get(gene) or why.where.labels[label]
    if "backup_of" in every:
        spare = every[every["backup_of"].notna()]
        for name, others in zip(spare["name"], spare["backup_of"], strict=True):
            found[name] = found.get(others.split(", ")[0], "")
    return [found[name] for name in every["name"]]


def _sources(
    adata: AnnData, named: Named, every: pd.DataFrame, had_to: Any, is_backup: Any
) -> pd.Series:
    """Where each gene is from."""
    source = pd.Series("listed" if named.key is None else "selected", index=every.index)
    kept = {} if named.key is None else adata.uns.get(named.key, {})
    if "adds" in kept.get("table", ()):
        word = "replacement" if "dropped" in kept else "added"
        source = source.mask(every["name"].isin(kept["table"]["gene"]), word)
    source = source.mask(had_to, "included").mask(every["replaces"] != "", "replacement")
    return source.mask(is_backup, "backup")
