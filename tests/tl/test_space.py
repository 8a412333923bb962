"""Evaluations of cells in space: places, domains, Moran's I, and what is refused."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from all_panels import measured
from refusals import refusal_of, refused
from scipy import sparse
from sklearn.neighbors import kneighbors_graph

from glfs_bio import pp, tl
from glfs_bio._anndata import summaries
from glfs_bio._anndata.columns import neighbours
from glfs_bio._anndata.results import checksum
from glfs_bio.cells.cells import StructureSpec
from glfs_bio.errors import Caution, InvalidType, InvalidValue, NotFound

PANEL = ["g0", "g1", "g2"]


def tissue(n_genes=40, sections=1):
    """Three stripes on a grid, marked by a gene each, and genes of noise."""
    rng = np.random.default_rng(0)
    where = np.stack(np.meshgrid(np.arange(30.0), np.arange(20.0)), axis=2).reshape(-1, 2)
    where = np.tile(where, (sections, 1)) + 0.01 * rng.normal(size=(sections * 600, 2))
    stripe = (where[:, 0] + 0.5).astype(int) // 10
    rates = np.full((len(where), n_genes), 1.0)
    rates[:, :3] = np.where(np.eye(3, dtype=bool)[stripe], 8.0, 1.0)
    adata = ad.AnnData(np.log1p(rng.poisson(rates).astype(np.float32)))
    adata.var_names = [f"g{gene}" for gene in range(n_genes)]
    adata.obsm["spatial"] = where
    adata.obs["layer"] = pd.Categorical([f"L{number}" for number in stripe])
    adata.obs["section"] = [f"s{number}" for number in np.repeat(range(sections), 600)]
    return adata


def as_squidpy(adata, key="spatial_neighbors"):
    """Write what ``sq.gr.spatial_neighbors`` does: each cell joined to its 6 nearest, one way."""
    graph = sparse.csr_matrix(kneighbors_graph(adata.obsm["spatial"], 6))
    far = sparse.csr_matrix(kneighbors_graph(adata.obsm["spatial"], 6, mode="distance"))
    assert (graph != graph.T).nnz
    adata.obsp["spatial_connectivities"], adata.obsp["spatial_distances"] = graph, far
    adata.uns[key] = {
        "connectivities_key": "spatial_connectivities",
        "distances_key": "spatial_distances",
        "params": {"n_neighbors": 6, "coord_type": "generic", "radius": None, "transform": None},
    }
    return adata


@pytest.fixture
def cells():
    return tissue()


def evaluated(adata, panel=PANEL, **options):
    options = {"domains": "layer", "measures": ["default", "space"]} | options
    return tl.evaluate_panel(adata, panel, inplace=False, **options)


def values(entry):
    return measured(entry)["value"]


def test_a_panel_of_marks_beside_all_genes_and_random_ones(cells):
    table = measured(evaluated(cells, measures=["space", "space_laprls"]))
    other = values(evaluated(cells, ["g20", "g21", "g22"], measures="space"))
    for end in ("", "_laprls"):
        accuracy = table.loc[f"domain_accuracy{end}"]
        assert accuracy["value"] > 0.9
        assert accuracy["all_genes"] > 0.8
        assert accuracy["random"] < 0.7
        assert accuracy["reading"].endswith("600 cells")
    assert other["domain_accuracy"] < 0.45
    domains = evaluated(cells)["per_label"]
    assert list(domains["label"]) == ["L0", "L1", "L2"]
    assert set(domains["kind"]) == {"domain"}
    mean = np.average(domains["recall"], weights=domains["n_cells"])
    assert table.loc["domain_accuracy", "value"] == pytest.approx(mean)
    assert table.loc["morans_i", "value"] > 0.4 > 0.05 > abs(other["morans_i"])
    assert table.loc["morans_i_kept", "value"] > 0.9 > 0.1 > abs(other["morans_i_kept"])
    assert table.loc["morans_i_kept", "random"] < 0.9
    panels = {"marks": PANEL, "noise": ["g20", "g21"]}
    tl.evaluate_panel(cells, panels, domains="layer", measures="space")
    compared = cells.uns["glfs_comparison"]
    each = compared["measures"].pivot(index="measure", columns="panel", values="value")
    for name in ("domain_accuracy", "morans_i_kept"):
        assert each.loc[name, "marks"] == table.loc[name, "value"] > each.loc[name, "noise"] + 0.4


def test_without_domains_or_places(cells):
    """Nothing is said of what is not there, and the rest is the same."""
    options = {"measures": "default"}
    both, plain = evaluated(cells, **options), evaluated(cells, domains=None, **options)
    placed = evaluated(cells, domains=None, spatial="spatial", **options)
    assert values(placed)["morans_i_kept"] == values(both)["morans_i_kept"]
    assert not [name for name in values(placed).index if "domain" in name]
    assert not [name for name in values(plain).index if "domain" in name or "morans" in name]
    rest = values(plain).index
    pd.testing.assert_frame_equal(measured(plain), measured(both).loc[rest])


def test_cells_without_a_domain_are_not_read(cells):
    cells.obs["some"] = cells.obs["layer"].where(np.arange(600) % 4 > 0)
    entry = evaluated(cells, domains="some")
    assert entry["per_label"]["n_cells"].sum() == 450
    assert measured(entry).loc["domain_accuracy", "reading"].endswith("450 cells")
    assert values(entry)["domain_accuracy"] > 0.9
    tl.evaluate_panel(cells, PANEL, domains="layer")
    lines = summaries.evaluation(cells.uns["glfs_evaluation"])
    assert any(line.startswith("domain_accuracy") for line in lines)


def test_the_graph_of_squidpy_is_taken_before_coordinates(cells):
    by_place = neighbours(cells, None, None)
    as_squidpy(cells)
    graph = neighbours(cells, None, None)
    joined = cells.obsp["spatial_connectivities"].maximum(cells.obsp["spatial_connectivities"].T)
    assert (graph != sparse.csr_array(joined)).nnz == 0
    assert (neighbours(cells, "spatial", None) != by_place).nnz == 0
    del cells.obsm["spatial"]
    assert values(evaluated(cells))["domain_accuracy"] > 0.9


def test_sections_by_name_and_of_spatialdata():
    cells = tissue(sections=2)
    graph = neighbours(cells, None, "section")
    assert graph[:600, 600:].nnz == 0
    assert neighbours(cells, None, None)[:600, 600:].nnz
    cells.uns["spatialdata_attrs"] = {"region": ["s0", "s1"], "region_key": "section"}
    assert (neighbours(cells, None, None) != graph).nnz == 0
    cells.uns["spatialdata_attrs"] = "of another tool"
    assert neighbours(cells, None, None)[:600, 600:].nnz
    as_squidpy(cells)
    assert neighbours(cells, None, "section")[:600, 600:].nnz == 0
    assert values(evaluated(cells, library_key="section"))["domain_accuracy"] > 0.9


def test_all_genes_are_compared_with_nothing(cells):
    with pytest.warns(Caution, match="all genes"):
        table = measured(evaluated(cells, cells.var_names))
    assert np.isnan(table.loc["morans_i_kept", "value"])
    assert np.isnan(table.loc["morans_i", "random"])
    assert table.loc["domain_accuracy", "value"] > 0.8


def test_refusals_leave_the_object_as_it_was(cells, unchanged):
    nowhere = cells.copy()
    del nowhere.obsm["spatial"]
    cells.obs["constant"] = "L1"
    cells.obs["each"] = cells.obs_names
    cells.obs["measured"] = np.random.default_rng(0).random(600)
    cells.obs["holes"] = cells.obs["section"].where(np.arange(600) > 0)
    cells.obsm["holes"] = np.where(np.arange(1200).reshape(600, 2) == 3, np.nan, 1.0)
    cells.uns["text"] = "a text"
    accepted = []
    for adata, options, kind, argument in (
        (nowhere, {}, NotFound, "spatial"),
        (cells, {"spatial": "holes"}, InvalidValue, "spatial"),
        (cells, {"spatial": 5}, InvalidType, "spatial"),
        (cells, {"spatial": "text"}, InvalidType, "spatial"),
        (cells, {"domains": "constant"}, InvalidValue, "domains"),
        (cells, {"domains": "each"}, InvalidValue, "domains"),
        (cells, {"domains": "measured"}, InvalidType, "domains"),
        (cells, {"domains": None, "library_key": "section"}, InvalidValue, "library_key"),
        (cells, {"library_key": "each"}, InvalidValue, "library_key"),
        (cells, {"library_key": "holes"}, InvalidValue, "library_key"),
    ):
        options = {"domains": "layer"} | options
        with unchanged(adata):
            refusal = refusal_of(tl.evaluate_panel, adata, PANEL, **options)
        if refusal != (kind, argument):
            accepted.append((options, refusal))
    assert not accepted


def test_a_panel_for_the_structure_of_the_tissue(cells):
    """The graph of squidpy's nearest cells, which joins one way, is a graph to select by."""
    as_squidpy(cells)
    pp.select_genes(cells, 3, neighbors_key="spatial_neighbors")
    assert set(cells.var_names[cells.var["glfs_selected"]]) == set(PANEL)
    entry = tl.evaluate_panel(cells, domains="layer", measures="space", inplace=False)
    assert values(entry)["domain_accuracy"] > 0.9
    spec = StructureSpec(neighbors_key="spatial_neighbors")
    assert f"glfs_structure_{checksum(spec.text())}" in cells.uns
    # another graph that joins one way is none
    cells.uns["spatial_neighbors"]["params"] = {"n_neighbors": 6}
    with refused(InvalidValue, "neighbors_key"):
        pp.select_genes(cells, 3, neighbors_key="spatial_neighbors")
