"""What the evaluation of a panel says of cells in space."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import checks
from .. import labels as categories
from .._anndata import columns, read
from ..cells.pca import check_coordinates
from ..data.matrix import RowMatrix, moments
from ..errors import GRAPHS, NO_VALUE, OBSM, InvalidValue, NotFound, arg, listed, naming, shown
from ..measures import cells as measures
from ..measures import labels as readers
from ..measures import space as places
from ..measures.catalogue import by_random, row
from ..measures.space import Autocorrelation, Domains

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from anndata import AnnData
    from scipy import sparse

    from .._typing import Array, Matrix

#: Where squidpy keeps coordinates and its graph, in ``.obsm`` and ``.uns``.
COORDINATES, GRAPH = "spatial", "spatial_neighbors"


def neighbours(adata: AnnData, spatial: str | None, library_key: str | None) -> sparse.csr_array:
    """Return the graph of neighbours in space: a graph of squidpy, or by coordinates.

    Without `spatial` it is the graph of the name that squidpy gives it, or else coordinates of that
    name.  Cells of different sections are no neighbours; without `library_key` the regions of a
    table of spatialdata are sections, or all cells are of one.
    """
    checks.texts(spatial=spatial, library_key=library_key, or_none=True)
    if spatial is None:
        here = {GRAPH: GRAPH in adata.uns, COORDINATES: COORDINATES in adata.obsm}
        spatial = next((name for name, there in here.items() if there), None)
    if library_key is None:
        attributes = adata.uns.get("spatialdata_attrs")
        library_key = attributes.get("region_key") if isinstance(attributes, Mapping) else None
    section = np.zeros(adata.n_obs, dtype=np.intp)
    if library_key is not None:
        names = read.find(adata, "obs", library_key, "library_key")
        names = categories.batch_names(names, "library_key", library_key)
        section = np.unique(names, return_inverse=True)[1]
    if spatial is not None and spatial in adata.obsm:
        where = read.find(adata, "obsm", spatial, "spatial")
        return places.neighbours(check_coordinates(where, adata.n_obs, "spatial"), section)
    if spatial is None or spatial not in adata.uns:
        value = NO_VALUE if spatial is None else spatial
        problem = "is neither in" if spatial else f"is not given, and {shown(COORDINATES)} not in"
        also = "nor a graph in" if spatial else f"nor {shown(GRAPH)} in"
        raise NotFound(
            "spatial",
            value,
            f"{problem} {OBSM} {also} {GRAPHS}",
            f"name coordinates of the cells (of {listed(read.own_names(adata, 'obsm'))})"
            if len(adata.obsm)
            else "add coordinates of the cells",
        )
    with naming(neighbors_key="spatial"):
        return places.within(read.graph(adata, spatial), section)


@dataclass(frozen=True)
class InSpace:
    """Cells in space, and how domains among them are read."""

    graph: sparse.csr_array
    #: None: no labels of domains
    domains: Domains | None
    readings: Sequence[str]
    random_state: int | None

    @classmethod
    def of(
        cls,
        adata: AnnData,
        domains: str | None,
        spatial: str | None,
        library_key: str | None,
        readings: Sequence[str],
        random_state: int | None,
    ) -> InSpace | None:
        """Read it; None where neither domains nor places are named."""
        if domains is None and spatial is None:
            if library_key is not None:
                raise InvalidValue(
                    "library_key",
                    library_key,
                    "is of no use without cells in space",
                    f"name them with {arg('spatial')}, or labels with {arg('domains')}",
                )
            return None
        known = None
        if domains is not None:
            known = columns.labels(adata, domains, "domains", at_least=2)
        graph = neighbours(adata, spatial, library_key)
        if graph.nnz == 0:
            raise InvalidValue(
                "library_key", NO_VALUE, "leaves every cell alone", "name the sections"
            )
        found = None
        if known is not None:
            found = Domains.of(graph, known.codes, known.names, random_state)
            if not found.fold.any():
                raise InvalidValue(
                    "domains",
                    domains,
                    "has no label in two places that are apart, and none can be predicted",
                    "choose another column",
                )
        return cls(graph, found, readings, random_state)

    def by_all_genes(self, data: RowMatrix, where: Array) -> OfAllGenes:
        """Return what panels are compared with, by principal components of all genes."""
        _, variance, _ = moments(data)
        genes = Autocorrelation.of(self.graph, data, np.flatnonzero(variance > 0))
        return OfAllGenes(self, genes, self.scores(where, where))

    def scores(self, where: Array, values: Array) -> dict[str, readers.LabelScores]:
        """Return what readings of coordinates and of values say of domains; {} without domains."""
        if self.domains is None:
            return {}
        return self.domains.scores(self.readings, where, values, self.random_state)

    def of_panel(self, panel: Matrix) -> dict[str, readers.LabelScores]:
        """Return what readings of a panel, shape (n_cells, n_genes), say of domains."""
        return self.scores(measures.coordinates(panel), readers.standardised(panel))


@dataclass(frozen=True)
class OfAllGenes:
    """What all genes say of cells in space."""

    space: InSpace
    genes: Autocorrelation
    #: Of domains, by reading
    scores: dict[str, readers.LabelScores]

    def rows(
        self, panel: Matrix, random: Sequence[Matrix], comparable: float
    ) -> tuple[list[dict[str, Any]], pd.DataFrame | None]:
        """Return the measures of a panel, next to random panels, and the table of its domains.

        `comparable` is NaN for all genes, and 1 for other panels.
        """
        rows = []
        domains: Any = self.space.domains
        scores = self.space.of_panel(panel)
        drawn = [self.space.of_panel(values) for values in random[: places.RANDOM] if scores]
        for reading, of_panel in scores.items():
            how = f"{domains.said([reading])[reading]}; {len(domains.cells):,} cells"
            for name in ("accuracy", "macro_f1"):
                measure = readers.suffixed(f"domain_{name}", reading)
                of_random = [getattr(one[reading], name) for one in drawn]
                rows.append(
                    row(
                        measure,
                        getattr(of_panel, name),
                        all_genes=getattr(self.scores[reading], name),
                        reading=how,
                        **by_random(of_random),
                    )
                )
        genes = self.genes
        of_random = [genes.mean(values) for values in random]
        of_all = float(genes.of_genes.mean())
        rows.append(row("morans_i", genes.mean(panel), all_genes=of_all, **by_random(of_random)))
        of_random = [genes.kept(values) for values in random]
        kept = genes.kept(panel) * comparable
        rows.append(row("morans_i_kept", kept, all_genes=1.0, **by_random(of_random)))
        return rows, readers.table(scores, "domain") if scores else None
