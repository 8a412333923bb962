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
from ..measures.space import Autocorrelation, Domains

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anndata import AnnData
    from scipy import sparse

    from .._typing import Array, Matrix

#: Where squidpy keeps coordinates and its graph, in ``.obsm`` and ``.uns``.
COORDINATES, GRAPH = "spatial", "spatial_neighbors"
#: What results have of the readings of labels and not of those of domains.
_OF_LABELS = ("rare_f1", "confusion")


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

    def said(self) -> dict[str, Any]:
        """Return how domains are read, for ``.uns``."""
        if self.domains is None:
            return {}
        return {
            "domain_readings": self.domains.said(self.readings),
            "n_in_domains": len(self.domains.cells),
        }

    def by_all_genes(self, data: RowMatrix, where: Array) -> OfAllGenes:
        """Return what panels are compared with, by principal components of all genes."""
        _, variance, _ = moments(data)
        genes = Autocorrelation.of(self.graph, data, np.flatnonzero(variance > 0))
        return OfAllGenes(self, genes, self._accuracies(where, where))

    def of_panel(self, panel: Matrix) -> dict[str, readers.LabelScores]:
        """Return what readings of a panel, shape (n_cells, n_genes), say of domains."""
        if self.domains is None:
            return {}
        where, values = measures.coordinates(panel), readers.standardised(panel)
        return self.domains.scores(self.readings, where, values, self.random_state)

    def _accuracies(self, where: Array, values: Array) -> dict[str, float]:
        if self.domains is None:
            return {}
        scores = self.domains.scores(self.readings, where, values, self.random_state)
        return {reading: one.accuracy for reading, one in scores.items()}


@dataclass(frozen=True)
class OfAllGenes:
    """What all genes say of cells in space."""

    space: InSpace
    genes: Autocorrelation
    #: Of domains, by reading
    accuracy: dict[str, float]

    def beside(self, panel: Matrix, random: Sequence[Matrix], *, is_all: bool) -> dict[str, Any]:
        """Return what a panel says, next to all genes and random panels, for ``.uns``."""
        scores = self.space.of_panel(panel)
        entry: dict[str, Any] = {}
        if scores:
            entry = {
                "per_domain" if name == "per_label" else f"domain_{name}": value
                for name, value in readers.kept(scores).items()
                if not name.startswith(_OF_LABELS)
            }
            drawn = [self.space.of_panel(one) for one in random[: places.RANDOM]]
            for reading, accuracy in self.accuracy.items():
                entry[readers.suffixed("domain_accuracy_all_genes", reading)] = accuracy
                entry[readers.suffixed("random_domain_accuracy", reading)] = np.array(
                    [one[reading].accuracy for one in drawn]
                )
        return entry | {
            "n_genes_in_space": self.genes.values.shape[1],
            "morans_i": self.genes.mean(panel),
            "morans_i_all_genes": float(self.genes.of_genes.mean()),
            "random_morans_i": np.array([self.genes.mean(one) for one in random]),
            "morans_i_kept": self.genes.kept(panel) * (np.nan if is_all else 1.0),
            "random_morans_i_kept": np.array([self.genes.kept(one) for one in random]),
        }
