"""The cells of a picture: the genes of a panel in them, their groups, and the colours of these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anndata.utils
import pandas as pd
from anndata import AnnData

from .. import checks, codec
from .._anndata import columns, read, results
from ..data.matrix import RowMatrix
from ..errors import OBS, OBSM, InvalidValue, NotFound, listed, shown
from ._figure import MUTED, colours, gene_names, literal

if TYPE_CHECKING:
    from collections.abc import Sequence


def genes_of(adata: AnnData, key: str, n_genes: int | None) -> tuple[pd.Index, str | None]:
    """Return the first genes of a selection, and the layer that they were selected in."""
    checks.whole_number("n_genes", n_genes, at_least=1, or_none=True)
    genes = results.ranked(adata, key).index[:n_genes]
    return genes, codec.restored(adata.uns.get(key, {}).get("params", {}).get("layer"))


def check_labels(adata: AnnData, labels: str | None, *, grouping: bool) -> None:
    """Refuse what cannot colour the cells, or group them."""
    read.check(adata)
    if labels is None:
        if grouping:
            raise InvalidValue(
                "labels", None, "is missing", f"name a column of {OBS} that groups the cells"
            )
    elif labels not in adata.obs and (grouping or labels not in adata.var_names):
        raise NotFound("labels", labels, f"is not in {OBS}", f"choose from {listed(adata.obs)}")
    elif grouping:
        columns.labels(adata, labels)


def embedding(adata: AnnData, basis: str | None, *defaults: str) -> str:
    """Return the key of ``.obsm`` with the coordinates of the cells: `basis`, or a default."""
    checks.texts(basis=basis, or_none=True)
    candidates = defaults if basis is None else (basis, f"X_{basis}")
    for name in candidates:
        if name in adata.obsm:
            return name
    raise NotFound(
        "basis",
        basis,
        f"is no embedding, as {OBSM} has none of {shown(*candidates)}",
        f"run scanpy.tl.umap, or choose from {listed(read.own_names(adata, 'obsm'))}",
    )


@dataclass(frozen=True)
class Grouped:
    """Genes of a panel over all cells, which are in groups."""

    #: Genes of all cells, in memory.
    data: RowMatrix
    #: Names to show of the genes.
    genes: pd.Index
    #: The cells without their genes, and with the column that groups them; colours in ``.uns``.
    cells: AnnData
    #: The column.
    name: str

    @property
    def groups(self) -> pd.Series:
        """The group of each cell."""
        return self.cells.obs[self.name].cat.remove_unused_categories()


def grouped(
    adata: AnnData,
    genes: pd.Index,
    labels: str,
    layer: str | None,
    symbols: str | None,
    palette: Any,
) -> Grouped:
    """Return these genes, under the names to show, and what groups the cells, in one pass."""
    names = anndata.utils.make_index_unique(
        pd.Index(gene_names(adata, genes, symbols).to_numpy(dtype=str)).str.replace("$", r"\$")
    )
    name = labels if labels not in names else f"{labels} (cells)"
    column: Any = read.find(adata, "obs", labels, "labels")
    if not isinstance(column.dtype, pd.CategoricalDtype):
        column = pd.Categorical.from_codes(*columns.labels(adata, labels))
    cells = AnnData(obs=pd.DataFrame({name: column}, index=adata.obs_names))
    colour_groups(cells, name, adata.uns.get(f"{labels}_colors"), palette)
    data = read.columns(adata, adata.var_names.get_indexer(genes), layer)
    return Grouped(RowMatrix(data, checked=True), names, cells, name)


def colour_groups(cells: AnnData, labels: str, stored: Sequence[str] | None, palette: Any) -> None:
    """Give groups the colours that are asked for, or their own; else ours, as many as we have."""
    if pd.api.types.is_float_dtype(cells.obs[labels]):
        return
    groups = cells.obs[labels].astype("category")
    if palette is not None or stored is None or len(stored) != len(groups.cat.categories):
        groups = groups.cat.remove_unused_categories()
        stored = MUTED[: len(groups.cat.categories)]
    groups = groups.cat.rename_categories([literal(one) for one in groups.cat.categories])
    cells.obs[labels] = groups
    number = len(groups.cat.categories)
    if palette is not None:
        from matplotlib.colors import to_hex

        stored = [to_hex(one) for one in colours(palette, *[""] * number)]
    if len(stored) == number:
        cells.uns[f"{labels}_colors"] = list(stored)
