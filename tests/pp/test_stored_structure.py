"""A selection that takes the structure that was kept is the selection that computes it."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
import pytest

from glfs_bio import Limits, pp, tl
from glfs_bio.cells import cells as problem

SIZE = 8


@pytest.fixture
def pbmc(pbmc):
    """Every other gene."""
    return pbmc[:, ::2].copy()


@pytest.fixture
def computed(monkeypatch):
    """How often something is computed from the matrix from now on."""
    calls = []
    look = problem.look

    def counted(*args, **options):
        calls.append(args)
        return look(*args, **options)

    monkeypatch.setattr(problem, "look", counted)
    return calls


def selection(adata, **options):
    """The columns and the record of a selection, without what differs by definition."""
    pp.select_genes(adata, **({"n_genes": SIZE} | options))
    entry = {
        name: value for name, value in adata.uns["glfs"].items() if name not in {"params", "curve"}
    }
    return adata.var.filter(like="glfs_"), entry, entry["reused"].pop("structure")


def assert_same(one, other):
    pd.testing.assert_frame_equal(one[0], other[0], check_exact=True)
    assert one[1].keys() == other[1].keys()
    for name, value in one[1].items():
        np.testing.assert_equal(value, other[1][name], err_msg=name)


STRUCTURES = {
    "plain": {},
    "batches": {"batch_key": "phase"},
    "worst batch": {"batch_key": "phase", "across": "worst"},
    "labels": {"preserve": "bulk_labels"},
    "expression": {"preserve": "expression"},
    "a place": {"preserve": {"structure": 1, "X_umap": 2}, "cell_weights": "bulk_labels"},
    "a limit": {"limits": Limits(max_mean=1.0)},
    "a budget": {"cost": 2.0, "budget": 15.0, "n_genes": None},
    "another assay": {"detection": 0.3},
    "failures": {"failure": 0.2},
    "automatic": {"n_genes": None},
    "some genes": {"mask_var": "some", "include": ["NKG7"], "exclude": "ribosomal"},
    "from nothing": {"use_rep": "X", "n_comps": 20, "lambda1": 7.0},
}


@pytest.mark.parametrize("options", STRUCTURES.values(), ids=STRUCTURES)
def test_it_is_the_same_to_the_last_bit(pbmc, options):
    pbmc.var["some"] = (np.arange(pbmc.n_vars) % 3 > 0) | (pbmc.var_names == "NKG7")
    pbmc.obs["phase"] = np.where(pbmc.obs["phase"] == "G1", "G1", "others")
    once = selection(pbmc.copy(), **options)
    names = pp._structure._DEFAULTS.keys() & options.keys()
    pp.structure(pbmc, **{name: options[name] for name in names})
    again = selection(pbmc, **options)
    assert (once[2], again[2]) == (False, True)
    assert_same(again, once)


def test_nothing_is_computed(pbmc, computed):
    pp.structure(pbmc)
    computed.clear()
    for options in ({}, {"n_genes": 20}, {"preserve": "louvain"}, {"standardize": "auto"}):
        assert selection(pbmc, **options)[2]
    assert not computed
    assert not selection(pbmc, structure_key="another")[2]
    assert computed


def test_it_is_the_same_in_a_file(pbmc, tmp_path):
    once = selection(pbmc.copy(), batch_key="phase")
    pp.structure(pbmc, batch_key="phase")
    pbmc.write_h5ad(tmp_path / "x.h5ad")
    again = selection(ad.read_h5ad(tmp_path / "x.h5ad"), batch_key="phase")
    assert again[2]
    assert_same(again, once)


def test_what_the_graph_and_the_components_are_found_to_be(pbmc, caplog):
    """The messages and the record say what they would say without it."""
    rng = np.random.default_rng(0)
    pbmc.obsm["X_pca"] = rng.normal(size=(pbmc.n_obs, 5))
    halves = np.arange(pbmc.n_obs) < 350
    graph = pbmc.obsp["connectivities"].toarray() * (halves[:, None] == halves)
    pbmc.obsp["connectivities"] = graph
    named = {"use_rep": "X_pca", "neighbors_key": "neighbors"}
    for options, told in (({}, "were computed anew"), (named, "connected components")):
        caplog.clear()
        once = selection(pbmc.copy(), **options)
        pp.structure(pbmc, **options)
        said = [record.message for record in caplog.records]
        assert told in " ".join(said)
        caplog.clear()
        again = selection(pbmc, **options)
        assert again[2]
        assert_same(again, once)
        assert [record.message for record in caplog.records] == said


def matrix(adata):
    adata.X = adata.X * 1.0
    adata.X.data[77] += 1e-6


def representation(adata):
    adata.obsm["X_pca"] = adata.obsm["X_pca"] * np.linspace(1.0, 2.0, adata.obsm["X_pca"].shape[1])


def no_representation(adata):
    del adata.obsm["X_pca"]


def graph(adata):
    adata.obsp["connectivities"] = adata.obsp["connectivities"].power(2)


def no_graph(adata):
    del adata.uns["neighbors"]


def cells(adata):
    adata._inplace_subset_obs(np.arange(adata.n_obs) > 2)


def written_before(adata):
    for name in ("inputs", "replaced", "graph_components"):
        del adata.uns["glfs_structure"][name]


CHANGES = (matrix, representation, no_representation, graph, no_graph, cells, written_before)


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_of_something_else_is_not_taken(pbmc, change, caplog):
    pp.structure(pbmc)
    change(pbmc)
    found = selection(pbmc)
    assert not found[2]
    assert not caplog.records
    del pbmc.uns["glfs_structure"]
    assert_same(found, selection(pbmc))


def test_other_batches_or_genes_are_not_taken(pbmc):
    pbmc.obs["batch"], pbmc.var["some"] = "a", True
    options = {"batch_key": "batch", "mask_var": "some"}
    pp.structure(pbmc, **options)
    assert selection(pbmc, **options)[2]
    assert selection(pbmc, batch_key="batch")[2]
    pbmc.var["some"] = pbmc.var_names != pbmc.var_names[3]
    assert not selection(pbmc, **options)[2]
    pbmc.obs["batch"] = np.tile(["a", "b"], pbmc.n_obs // 2)
    assert not selection(pbmc, batch_key="batch")[2]


@pytest.mark.parametrize(
    "options",
    [
        {"lambda1": 10.0},
        {"standardize": "unit"},
        {"n_comps": 49},
        {"use_rep": "X"},
        {"use_rep": "X_pca"},
        {"neighbors_key": "neighbors"},
        {"n_neighbors": 14},
        {"layer": "same"},
        {"batch_key": "phase"},
        {"random_state": 1},
    ],
    ids=str,
)
def test_other_parameters_compute_their_own(pbmc, options):
    pbmc.layers["same"] = pbmc.X.copy()
    pp.structure(pbmc)
    assert not selection(pbmc, **options)[2]


@pytest.mark.parametrize(
    "options", [{"method": "lapaofs"}, {"objective": "exact", "n_comps": 5}], ids=str
)
def test_other_methods_need_the_matrix(pbmc, options):
    once = selection(pbmc.copy(), **options)
    pp.structure(pbmc, n_comps=options.get("n_comps", 50))
    again = selection(pbmc, **options)
    assert not again[2]
    assert_same(again, once)


def test_several_data_sets_have_their_own(pbmc):
    halves = {"a": pbmc[:350].copy(), "b": pbmc[350:].copy()}
    for one in halves.values():
        pp.structure(one)
    pp.select_genes(halves, SIZE)
    assert not halves["a"].uns["glfs"]["reused"]["structure"]


def test_a_stability_does_not_depend_on_it(pbmc):
    pp.structure(pbmc, key_added="kept")
    pp.select_genes(pbmc, SIZE, structure_key="kept")
    assert pp.recorded_parameters(pbmc)["structure_key"] == "kept"
    tl.stability(pbmc, n_resamples=2, show_progress=False)
    assert "structure_key" not in pbmc.uns["glfs_stability"]["params"]


def test_cells_in_a_file(pbmc, tmp_path, computed):
    pbmc.write_h5ad(tmp_path / "x.h5ad")
    backed = ad.read_h5ad(tmp_path / "x.h5ad", backed="r")
    once = selection(backed)
    pp.structure(backed)
    computed.clear()
    assert_same(selection(backed), once)
    assert not computed
    backed.file.close()
