"""The structure of the cells comes from the matrix alone, or from what is named; it is kept."""

from __future__ import annotations

import re

import anndata as ad
import numpy as np
import pandas as pd
import pytest
import scanpy as sc
from all_panels import measured
from refusals import refused
from scipy.linalg import subspace_angles

from glfs_bio import Limits, Platform, Preserve, pp, tl
from glfs_bio._anndata import structure as structures
from glfs_bio._anndata.results import checksum, request_of
from glfs_bio.cells.cells import StructureSpec
from glfs_bio.data.matrix import RowMatrix
from glfs_bio.data.products import Products, principal_components
from glfs_bio.errors import InvalidValue
from glfs_bio.measures import cells

PANEL = ["CD3D", "LYZ", "NKG7", "CD79A"]
SIZE = 8


@pytest.fixture
def half(pbmc):
    """Every other cell, and a third of the genes with those of the panel; in two batches."""
    pbmc.obs["lane"] = np.tile(["a", "a", "b", "b"], 175)
    return pbmc[::2, pbmc.var_names.isin(PANEL) | (np.arange(765) % 3 == 0)].copy()


@pytest.fixture
def computed(monkeypatch):
    """The parameters of every structure that is computed from now on."""
    calls = []
    compute = structures.compute

    def counted(adata, given, asked):
        calls.append(asked)
        return compute(adata, given, asked)

    for module in (structures, pp):
        monkeypatch.setattr(module, "compute", counted)
    return calls


def selection(adata, **options):
    """The columns and the record of a selection."""
    pp.select_genes(adata, **({"n_genes": SIZE} | options))
    return adata.var.filter(like="glfs_"), adata.uns["glfs"]


def assert_same(selected, expected):
    (columns, record), (expected_columns, expected_record) = selected, expected
    pd.testing.assert_frame_equal(columns, expected_columns, check_exact=True)
    assert record.keys() == expected_record.keys()
    for name in set(record) - {"written"}:  # which differs where a structure is stored beside
        if isinstance(record[name], pd.DataFrame):
            pd.testing.assert_frame_equal(record[name], expected_record[name])
        else:
            np.testing.assert_equal(record[name], expected_record[name], err_msg=name)


# From the matrix alone, or from what is named


def test_components_and_neighbours_that_are_there_change_nothing():
    """So that the result does not depend on how far an analysis has come."""
    rng = np.random.default_rng(0)
    groups = rng.integers(5, size=200)
    counts = rng.poisson(rng.gamma(1.0, 1.0, size=(5, 2500))[groups])
    adata = ad.AnnData(np.log1p(counts.astype(np.float32)))
    adata.var_names = [f"g{i}" for i in range(2500)]
    plain = selection(adata.copy())
    sc.pp.highly_variable_genes(adata, n_top_genes=2000)
    for mask in ("highly_variable", None):
        sc.pp.pca(adata, n_comps=20, mask_var=mask)
        sc.pp.neighbors(adata, n_neighbors=10, method="gauss")
        assert_same(selection(adata.copy()), plain)


# It is kept, and taken again


STRUCTURES = {
    "batches": {"batch_key": "lane"},
    "worst batch": {"batch_key": "lane", "across": "worst"},
    "labels": {"preserve": "bulk_labels"},
    "a place": {"preserve": {"structure": 1, "X_umap": 2}, "cell_weights": "bulk_labels"},
    "a budget": {
        "limits": Limits(cost=2.0, budget=15.0, expression={"mean": 1.0}),
        "n_genes": None,
    },
    "another assay": {"platform": Platform(efficiency=0.3, failure=0.2)},
    "automatic": {"n_genes": None},
    "some genes": {"include": ["NKG7"], "exclude": re.compile("^RP")},
    "a space": {"use_rep": "X_pca", "n_comps": 20},
}


@pytest.mark.parametrize("options", STRUCTURES.values(), ids=STRUCTURES)
def test_a_selection_by_a_kept_one_is_the_same_to_the_last_bit(half, computed, options):
    once = selection(half.copy(), **options)
    names = {"batch_key", "use_rep", "n_comps"} & options.keys()
    pp.structure(half, **{name: options[name] for name in names})
    computed.clear()
    assert_same(selection(half, **options), once)
    assert not computed


def test_it_is_kept_by_a_selection_and_by_the_workbench(half, computed):
    other = half.copy()
    pp.select_genes(half, SIZE, inplace=False)  # a table alone keeps nothing
    slot = f"{structures.KEY}_{checksum(StructureSpec().text())}"
    assert slot not in {*half.uns, *half.obsm, *half.varm}
    computed.clear()
    selection(half)
    for part in (half.obsm, half.varm, half.uns):
        assert slot in part
    selection(half, n_genes=20, preserve="louvain")
    tl.explain_panel(half, inplace=False)
    tl.evaluate_panel(half, inplace=False)
    assert len(computed) == 1
    panel = list(half.var_names[:4])
    tables = [tl.explain_panel(other, panel, inplace=False) for _ in range(2)]
    pd.testing.assert_frame_equal(*tables)
    assert len(computed) == 3
    assert not other.uns.keys() & {slot, "glfs_all_genes"}
    for n_comps in (10, 20, 30):  # those of other selections go
        selection(half, n_comps=n_comps)
    assert len([key for key in half.obsm if key.startswith("glfs_structure")]) == 2


def matrix(adata):
    adata.X = adata.X * 1.0
    adata.X.data[77] += 1e-6


def representation(adata):
    adata.obsm["X_pca"] = adata.obsm["X_pca"] * np.linspace(1.0, 2.0, adata.obsm["X_pca"].shape[1])


def graph(adata):
    adata.obsp["connectivities"] = adata.obsp["connectivities"].power(2)


def lanes(adata):
    adata.obs["lane"] = np.where(np.arange(adata.n_obs) < 100, "a", "b")


NAMED = {"use_rep": "X_pca", "neighbors_key": "neighbors"}
CHANGES = [
    (matrix, {}),
    (lambda adata: adata._inplace_subset_obs(np.arange(adata.n_obs) > 2), {}),
    (lambda adata: adata._inplace_subset_var(np.arange(adata.n_vars) > 2), {}),
    (lambda adata: adata.uns.update(glfs_structure={"something": "else"}), {}),
    (lanes, {"batch_key": "lane"}),
    (representation, NAMED),
    (graph, NAMED),
]


@pytest.mark.parametrize(("change", "options"), CHANGES)
def test_what_is_of_something_else_is_not_taken(half, change, options, computed, caplog):
    pp.structure(half, **options)
    change(half)
    computed.clear()
    changed = selection(half, **options)
    assert len(computed) == 1
    assert not caplog.records
    for key in [key for key in half.uns if key.startswith("glfs_structure")]:
        del half.uns[key]
    assert_same(changed, selection(half, **options))


def test_other_parameters_compute_their_own(half, computed):
    once = selection(half.copy())
    half.layers["same"] = half.X.copy()
    pp.structure(half)
    for options in (
        {"n_comps": 49},
        {"use_rep": "X_pca"},
        {"neighbors_key": "neighbors"},
        {"layer": "same"},
        {"batch_key": "phase"},
        {"random_state": 1},
    ):
        computed.clear()
        selection(half.copy(), **options)
        assert len(computed) == 1, options
    for other in ({"n_neighbors": 14}, {"lambda1": 10.0}, {"standardize": "unit"}):
        pp.structure(half, **other)
        computed.clear()
        again = half.copy()
        assert_same(selection(again), once)
        assert len(computed) == 1, other
        selection(again)
        assert len(computed) == 1, other


def test_other_objectives_need_the_matrix(half):
    options = {"objective": "exact", "n_comps": 5}
    once = selection(half.copy(), **options)
    pp.structure(half, n_comps=5)
    assert_same(selection(half, **options), once)


def test_several_data_sets_have_their_own(half, computed):
    halves = {"a": half[:175].copy(), "b": half[175:].copy()}
    for adata in halves.values():
        pp.structure(adata)
    computed.clear()
    pp.select_genes(halves, SIZE)
    assert len(computed) == 1
    assert "glfs_selected" in halves["b"].var


# One for all panels of an object


def preserved(adata, panel, **options):
    options |= {"measures": "preserved", "inplace": False}
    return measured(tl.evaluate_panel(adata, panel, **options))["value"]["preserved"]


@pytest.mark.parametrize("with_another", [False, True])
def test_panels_without_a_selection_are_of_that_of_the_selection(half, caplog, with_another):
    """A list of the same genes preserves the same, and an extension is of it too."""
    options = {"batch_key": "lane", "ignore": ["LYZ"], "n_comps": 20}
    alone = half.copy()
    selection(half, **options)
    if with_another:
        pp.structure(half, n_comps=10)
    genes = list(half.var_names[half.var["glfs_selected"]])
    caplog.clear()
    assert preserved(half, genes) == pytest.approx(preserved(half, "glfs"), rel=1e-9)
    assert sum("structure is that of" in message for message in caplog.messages) == 1
    assert preserved(half, genes) != pytest.approx(preserved(alone, genes), rel=1e-3)
    pp.structure(alone, **options, key_added="same")
    for adata, preserve in ((half, None), (alone, Preserve(use_rep="same"))):
        tl.extend_panel(adata, PANEL[:1], 4, preserve=preserve, key_added="more")
    pd.testing.assert_frame_equal(half.uns["more"]["table"], alone.uns["more"]["table"])


def test_panels_without_a_selection_are_of_what_was_asked_for(half, caplog, computed):
    pp.structure(half, lambda1=10.0)
    by_it = preserved(half, PANEL)
    assert len(caplog.messages) == 1
    for _ in range(2):
        tl.evaluate_panel(half, PANEL, preserve=Preserve(use_rep="X_pca"))
    assert len(computed) == 2  # which is kept beside it
    assert half.uns["glfs_structure"]["params"]["lambda1"] == 10.0
    pp.select_genes(half, SIZE, use_rep="glfs_structure", key_added="mine")
    assert preserved(half, PANEL) == pytest.approx(by_it, rel=1e-12)
    del half.uns["mine"]
    other = half[::2].copy()  # computed anew, as before
    assert preserved(other, PANEL) != pytest.approx(by_it, rel=1e-3)
    assert other.uns["glfs_structure"]["params"]["lambda1"] == 10.0


def test_without_one_that_holds_it_is_that_of_the_matrix(half, caplog):
    """Where selections disagree, their columns are gone, or another is named."""
    plain = preserved(half.copy(), PANEL)
    half.var["symbol"] = half.var_names
    unnamed = half.copy()
    selection(unnamed, ignore=["LYZ"], symbols="symbol")
    del unnamed.var["symbol"]
    selection(half, batch_key="lane")
    gone = half.copy()
    del gone.obs["lane"]
    for adata in (unnamed, gone):
        caplog.clear()
        assert preserved(adata, PANEL) == pytest.approx(plain, rel=1e-12)
    assert len(caplog.messages) == 1  # that the batches are gone
    pp.select_genes(half, SIZE, key_added="other")
    caplog.clear()
    assert preserved(half, PANEL) == pytest.approx(plain, rel=1e-12)
    assert len(caplog.messages) == 1
    for preserve in (Preserve(use_rep="X_pca"), Preserve("bulk_labels", use_rep="X_pca")):
        named = [preserved(adata, PANEL, preserve=preserve) for adata in (half, gone)]
        assert named[0] == pytest.approx(named[1], rel=1e-9)


# Under a key of its own


def test_one_that_is_named_holds_in_the_workbench_and_in_a_file(half, computed, tmp_path):
    pp.structure(half, n_neighbors=7, key_added="mine")
    assert [asked.n_neighbors for asked in computed] == [7]
    columns, entry = once = selection(half, use_rep="mine")
    assert entry["structure"]["n_neighbors"] == 7
    assert not np.array_equal(columns["glfs_weight"], selection(half.copy())[0]["glfs_weight"])
    share = pytest.approx(entry["preserved"][-1])
    genes = list(half.var_names[columns["glfs_selected"]])
    assert preserved(half, "glfs") == share
    assert preserved(half, genes, preserve=Preserve(use_rep="mine")) == share
    assert tl.explain_panel(half, inplace=False)["preserved"].iloc[-1] == share
    computed.clear()
    half.write_h5ad(tmp_path / "x.h5ad")
    again = ad.read_h5ad(tmp_path / "x.h5ad")
    preserved(half, "glfs")
    assert_same(selection(again, **request_of(again, "glfs").arguments()), once)
    assert not computed
    tl.stability(half, n_resamples=2)  # by structures of the resamples, with its parameters
    assert {asked.n_neighbors for asked in computed} == {7}


def test_one_that_is_named_has_its_own_matrix_batches_and_graph(half):
    half.layers["same"] = half.X.copy()
    pp.structure(half, n_neighbors=7, key_added="mine")
    for argument, value in (
        ("layer", "same"),
        ("batch_key", "phase"),
        ("neighbors_key", "neighbors"),
    ):
        with refused(InvalidValue, argument):
            pp.select_genes(half, SIZE, use_rep="mine", **{argument: value})
    selection(half, use_rep="mine")
    matrix(half)
    with refused(InvalidValue, "use_rep"):
        pp.select_genes(half, SIZE, use_rep="mine")
    with refused(InvalidValue, "use_rep"):
        tl.explain_panel(half, inplace=False)


def test_panels_of_two_structures_are_not_compared(half):
    pp.structure(half, n_neighbors=7, key_added="mine")
    pp.select_genes(half, SIZE, use_rep="mine", key_added="first")
    pp.select_genes(half, SIZE, key_added="other")
    with refused(InvalidValue, "panel"):
        tl.evaluate_panel(half, {"first": "first", "other": "other"})
    assert "glfs_comparison" not in half.uns
    same = Preserve(use_rep="mine")
    tl.evaluate_panel(half, {"first": "first", "other": "other"}, preserve=same)


# How all genes show the cells is kept too


@pytest.mark.parametrize("dense", [False, True])
def test_components_of_many_cells_are_those_of_a_part(pbmc, monkeypatch, dense):
    data = pbmc.X.toarray() if dense else pbmc.X.tocsr()
    exact = principal_components(Products.of(data), 50, 0)
    monkeypatch.setattr(structures, "MOST_EXACT", 350)
    near = structures.components(RowMatrix(data), 0)
    assert near.shape == exact.shape
    angles = subspace_angles(near[:, :5] - near[:, :5].mean(axis=0), exact[:, :5])
    assert np.degrees(angles.max()) < 10
    lengths = [np.linalg.norm(axes - axes.mean(axis=0), axis=0) for axes in (near, exact)]
    np.testing.assert_allclose(lengths[0], lengths[1], rtol=0.1)


def test_many_cells_are_clustered_in_part(pbmc, monkeypatch):
    pp.select_genes(pbmc, 20)

    def measured():
        tl.evaluate_panel(pbmc, "glfs", measures=["neighbors", "clusters"])
        return pbmc.uns["glfs_evaluation"]["measures"].set_index("measure")["value"]

    whole = measured()
    del pbmc.uns[structures.ALL_GENES]
    monkeypatch.setattr(cells, "CLUSTERED", 500)
    part = measured()
    assert len(pbmc.uns[structures.ALL_GENES]["clusters"]["5"]) == 500
    assert part["knn_preservation"] == whole["knn_preservation"]
    assert abs(part["cluster_preservation_fine"] - whole["cluster_preservation_fine"]) < 0.1
