"""The structure of the cells comes from the matrix alone, or from what is named; it is kept."""

from __future__ import annotations

import re

import anndata as ad
import numpy as np
import pandas as pd
import pytest
import scanpy as sc
from refusals import refused

from glfs_bio import Limits, Platform, Preserve, pp, tl
from glfs_bio._anndata import structure as structures
from glfs_bio.errors import InvalidValue, NotFound
from glfs_bio.options import StructureSpec

PANEL = ["CD3D", "LYZ", "NKG7", "CD79A"]
SIZE = 8


@pytest.fixture
def half(pbmc):
    """Every other gene."""
    return pbmc[:, ::2].copy()


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


@pytest.fixture
def no_compute(monkeypatch):
    """Call it, and no structure can be computed any more."""

    def refuse(*_args, **_options):
        pytest.fail("a structure was computed that was kept")

    return lambda: monkeypatch.setattr(structures, "compute", refuse)


def kept(adata, **options):
    found = tl.explain_panel(adata, PANEL, inplace=False, **options)
    return found[["preserved", "loss", "loss_with_substitute"]].to_numpy()


def selection(adata, **options):
    """The columns and the record of a selection."""
    pp.select_genes(adata, **({"n_genes": SIZE} | options))
    return adata.var.filter(like="glfs_"), adata.uns["glfs"]


def assert_same(one, other, without=()):
    pd.testing.assert_frame_equal(one[0], other[0], check_exact=True)
    assert one[1].keys() == other[1].keys()
    for name in set(one[1]) - set(without):
        first, second = one[1][name], other[1][name]
        if isinstance(first, pd.DataFrame):
            pd.testing.assert_frame_equal(first, second)
        elif name != "written":  # which differs where a structure is stored beside
            np.testing.assert_equal(first, second, err_msg=name)


# From the matrix alone, or from what is named


@pytest.mark.parametrize("n_variable", [None, 2000])
def test_components_and_neighbours_that_are_there_change_nothing(n_variable):
    """So that the result does not depend on how far an analysis has come."""
    rng = np.random.default_rng(0)
    groups = rng.integers(5, size=200)
    counts = rng.poisson(rng.gamma(1.0, 1.0, size=(5, 2500))[groups])
    adata = ad.AnnData(np.log1p(counts.astype(np.float32)))
    adata.var_names = [f"g{i}" for i in range(2500)]
    plain = selection(adata.copy())
    if n_variable is not None:
        sc.pp.highly_variable_genes(adata, n_top_genes=n_variable)
    sc.pp.pca(adata, n_comps=20)
    sc.pp.neighbors(adata, n_neighbors=10)
    assert_same(selection(adata), plain)


def test_what_is_named_is_used_and_recorded(half):
    plain = selection(half.copy())
    named = {"use_rep": "X_pca", "neighbors_key": "neighbors"}
    columns, entry = selection(half, **named)
    assert named.items() <= entry["structure"].items()
    assert named.items() <= pp.recorded_parameters(half).items()
    assert not np.array_equal(columns["glfs_rank"], plain[0]["glfs_rank"])
    half.obsm["X_pca"] = half.obsm["X_pca"][:, ::-1] * np.arange(1, 51)
    assert not np.array_equal(selection(half, **named)[0]["glfs_weight"], columns["glfs_weight"])


def test_a_named_graph_in_parts_is_told(half, caplog):
    halves = np.arange(half.n_obs) < 350
    graph = half.obsp["connectivities"].toarray() * (halves[:, None] == halves)
    half.obsp["connectivities"] = graph
    selection(half)
    assert not caplog.records
    assert selection(half, neighbors_key="neighbors")[1]["graph_components"] >= 2
    assert caplog.records


# It is kept, and taken again


STRUCTURES = {
    "plain": {},
    "batches": {"batch_key": "phase"},
    "worst batch": {"batch_key": "phase", "across": "worst"},
    "labels": {"preserve": "bulk_labels"},
    "expression": {"preserve": "expression"},
    "a place": {"preserve": {"structure": 1, "X_umap": 2}, "cell_weights": "bulk_labels"},
    "a limit": {"limits": Limits(max_mean=1.0)},
    "a budget": {"limits": Limits(cost=2.0, budget=15.0), "n_genes": None},
    "another assay": {"platform": Platform(efficiency=0.3)},
    "failures": {"platform": Platform(failure=0.2)},
    "automatic": {"n_genes": None},
    "some genes": {"include": ["NKG7"], "exclude": re.compile("^RP")},
    "a space": {"use_rep": "X_pca", "n_comps": 20},
}


@pytest.mark.parametrize("options", STRUCTURES.values(), ids=STRUCTURES)
def test_a_selection_by_a_kept_one_is_the_same_to_the_last_bit(half, no_compute, options):
    half.obs["phase"] = np.where(half.obs["phase"] == "G1", "G1", "others")
    if "include" in options:
        half.var_names = ["NKG7", *(f"{name}'" for name in half.var_names[1:])]
    once = selection(half.copy(), **options)
    names = {"batch_key", "use_rep", "n_comps"} & options.keys()
    pp.structure(half, **{name: options[name] for name in names})
    no_compute()
    assert_same(selection(half, **options), once)


def test_it_is_kept_by_a_selection_and_by_the_workbench(half, computed):
    selection(half)
    for key in (half.obsm, half.varm, half.uns):
        assert "glfs_structure" in key
    selection(half, n_genes=20, preserve="louvain")
    tl.explain_panel(half, inplace=False)
    tl.evaluate_panel(half, n_random=0, inplace=False)
    assert len(computed) == 1


def test_the_workbench_keeps_it_too(pbmc, computed):
    once = kept(pbmc)
    np.testing.assert_array_equal(kept(pbmc), once)
    assert len(computed) == 1


def test_a_table_alone_keeps_nothing(half):
    pp.select_genes(half, SIZE, inplace=False)
    assert "glfs_structure" not in {*half.uns, *half.obsm, *half.varm}


@pytest.mark.parametrize("ending", ["h5ad", "zarr"])
@pytest.mark.filterwarnings("ignore:Writing zarr v2")
def test_it_is_the_same_in_a_file(half, tmp_path, no_compute, ending):
    once = selection(half, batch_key="phase")
    path = tmp_path / f"x.{ending}"
    (half.write_h5ad if ending == "h5ad" else half.write_zarr)(path)
    again = (ad.read_h5ad if ending == "h5ad" else ad.read_zarr)(path)
    no_compute()
    assert_same(selection(again, batch_key="phase"), once)


def matrix(adata):
    adata.X = adata.X * 1.0
    adata.X.data[77] += 1e-6


def representation(adata):
    adata.obsm["X_pca"] = adata.obsm["X_pca"] * np.linspace(1.0, 2.0, adata.obsm["X_pca"].shape[1])


def graph(adata):
    adata.obsp["connectivities"] = adata.obsp["connectivities"].power(2)


def cells(adata):
    adata._inplace_subset_obs(np.arange(adata.n_obs) > 2)


def genes(adata):
    adata._inplace_subset_var(np.arange(adata.n_vars) > 2)


def foreign(adata):
    adata.uns["glfs_structure"] = {"something": "else"}


NAMED = {"use_rep": "X_pca", "neighbors_key": "neighbors"}
CHANGES = [
    *((change, {}) for change in (matrix, cells, genes, foreign)),
    *((change, NAMED) for change in (representation, graph)),
]


@pytest.mark.parametrize(("change", "options"), CHANGES)
def test_what_is_of_something_else_is_not_taken(half, change, options, computed, caplog):
    pp.structure(half, **options)
    change(half)
    computed.clear()
    found = selection(half, **options)
    assert len(computed) == 1
    assert not caplog.records
    del half.uns["glfs_structure"]
    assert_same(found, selection(half, **options))


@pytest.mark.parametrize("change", [representation, graph])
def test_what_is_not_named_may_change(half, change, no_compute):
    once = selection(half)
    change(half)
    no_compute()
    assert_same(selection(half), once)


def test_other_batches_are_not_taken(half, computed):
    half.obs["batch"] = "a"
    selection(half, batch_key="batch")
    selection(half, batch_key="batch")
    assert len(computed) == 1
    half.obs["batch"] = np.tile(["a", "b"], half.n_obs // 2)
    selection(half, batch_key="batch")
    assert len(computed) == 2


@pytest.mark.parametrize(
    "options",
    [
        {"n_comps": 49},
        {"use_rep": "X_pca"},
        {"neighbors_key": "neighbors"},
        {"layer": "same"},
        {"batch_key": "phase"},
        {"random_state": 1},
    ],
    ids=str,
)
def test_other_parameters_compute_their_own(half, computed, options):
    half.layers["same"] = half.X.copy()
    pp.structure(half)
    selection(half, **options)
    assert len(computed) == 2


@pytest.mark.parametrize(
    "other", [{"n_neighbors": 14}, {"lambda1": 10.0}, {"standardize": "unit"}], ids=str
)
def test_the_default_is_not_one_with_other_parameters(half, computed, other):
    once = selection(half.copy())
    pp.structure(half, **other)
    assert_same(selection(half), once)
    assert len(computed) == 3


@pytest.mark.parametrize(
    "options", [{"method": "lapaofs"}, {"objective": "exact", "n_comps": 5}], ids=str
)
def test_other_methods_need_the_matrix(half, options):
    once = selection(half.copy(), **options)
    pp.structure(half, n_comps=options.get("n_comps", 50))
    assert_same(selection(half, **options), once)


def test_several_data_sets_have_their_own(half, computed):
    halves = {"a": half[:350].copy(), "b": half[350:].copy()}
    for one in halves.values():
        pp.structure(one)
    computed.clear()
    pp.select_genes(halves, SIZE)
    assert len(computed) == 1
    assert "glfs_selected" in halves["b"].var


# One for all panels of an object


def preserved(adata, panel, **options):
    return tl.evaluate_panel(adata, panel, n_random=0, inplace=False, **options)["preserved"]


@pytest.mark.parametrize("kept", [False, True], ids=["selected", "with another that is kept"])
def test_panels_without_a_selection_are_of_that_of_the_selection(pbmc, caplog, kept):
    """A list of the same genes preserves the same, and a curve and an extension are of it too."""
    options = {"batch_key": "phase", "ignore": ["LYZ"], "n_comps": 20}
    alone = pbmc.copy()
    selection(pbmc, **options)
    if kept:
        pp.structure(pbmc, n_comps=10)
    genes = list(pbmc.var_names[pbmc.var["glfs_selected"]])
    caplog.clear()
    assert preserved(pbmc, genes) == pytest.approx(preserved(pbmc, "glfs"), rel=1e-9)
    assert sum("structure is that of" in one for one in caplog.messages) == 1
    assert preserved(pbmc, genes) != pytest.approx(preserved(alone, genes), rel=1e-3)
    pp.structure(alone, **options, key_added="same")
    for of in (pbmc, alone):
        preserve = None if of is pbmc else Preserve(use_rep="same")
        tl.curve(of, SIZE, preserve=preserve, key_added="curve")
        tl.extend_panel(of, PANEL[:1], 3, preserve=preserve, key_added="more")
    for key in ("curve", "more"):
        pd.testing.assert_frame_equal(pbmc.uns[key]["table"], alone.uns[key]["table"])


def test_panels_without_a_selection_are_of_what_was_asked_for(pbmc, caplog, computed):
    pp.structure(pbmc, lambda1=10.0)
    by_it = preserved(pbmc, PANEL)
    assert len(caplog.messages) == 1
    for _ in range(2):
        tl.evaluate_panel(pbmc, PANEL, preserve=Preserve(use_rep="X_pca"), n_random=0)
    assert len(computed) == 2  # which is kept beside it
    assert pbmc.uns["glfs_structure"]["params"]["lambda1"] == 10.0
    pp.select_genes(pbmc, SIZE, use_rep="glfs_structure", key_added="mine")
    assert preserved(pbmc, PANEL) == pytest.approx(by_it, rel=1e-12)
    del pbmc.uns["mine"]
    other = pbmc[::2].copy()  # computed anew, as before
    assert preserved(other, PANEL) != pytest.approx(by_it, rel=1e-3)
    assert other.uns["glfs_structure"]["params"]["lambda1"] == 10.0


def test_without_one_that_holds_it_is_that_of_the_matrix(pbmc, caplog):
    """Where selections disagree, their columns are gone, or another is named."""
    alone = pbmc.copy()
    plain = preserved(alone, PANEL)
    selection(pbmc, batch_key="phase")
    with_layer = pbmc.copy()
    with_layer.layers["twice"] = 2.0 * with_layer.X
    named = {"layer": "twice"}
    pp.structure(with_layer, batch_key="phase", **named, key_added="same")
    assert preserved(with_layer, PANEL, **named) == pytest.approx(
        preserved(with_layer, PANEL, preserve=Preserve(use_rep="same")), rel=1e-9
    )
    gone = pbmc.copy()
    del gone.obs["phase"]
    caplog.clear()
    assert preserved(gone, PANEL) == pytest.approx(plain, rel=1e-12)
    assert len(caplog.messages) == 1  # that the batches are gone
    pp.select_genes(pbmc, SIZE, key_added="other")
    caplog.clear()
    assert preserved(pbmc, PANEL) == pytest.approx(plain, rel=1e-12)
    assert len(caplog.messages) == 1
    for preserve in (Preserve(use_rep="X_pca"), Preserve("bulk_labels", use_rep="X_pca")):
        assert preserved(pbmc, PANEL, preserve=preserve) == pytest.approx(
            preserved(alone, PANEL, preserve=preserve), rel=1e-9
        )


def test_symbols_that_are_gone_stop_no_other_panel(pbmc):
    pbmc.var["symbol"] = pbmc.var_names
    plain = preserved(pbmc.copy(), PANEL)
    selection(pbmc, ignore=["LYZ"], symbols="symbol")
    del pbmc.var["symbol"]
    assert preserved(pbmc, PANEL) == pytest.approx(plain, rel=1e-12)


def test_a_refusal_stands_alone(pbmc, caplog):
    pp.structure(pbmc, n_comps=10)
    caplog.clear()
    with refused(NotFound, "exclude"):
        pp.select_genes(pbmc, SIZE, exclude="nope")
    assert not caplog.messages


def test_another_target_is_said(pbmc, caplog):
    selection(pbmc, preserve="bulk_labels")
    caplog.clear()
    preserved(pbmc, PANEL)
    assert len(caplog.messages) == 1
    assert "bulk_labels" in caplog.messages[0]
    caplog.clear()
    preserved(pbmc, "glfs")
    preserved(pbmc, PANEL, preserve="structure")
    assert not caplog.messages


# Under a key of its own


def test_one_that_is_named_holds_in_the_workbench(half, computed):
    pp.structure(half, n_neighbors=7, key_added="mine")
    assert [one.n_neighbors for one in computed] == [7]
    columns, entry = selection(half, use_rep="mine")
    assert entry["structure"]["n_neighbors"] == 7
    assert not np.array_equal(columns["glfs_weight"], selection(half.copy())[0]["glfs_weight"])
    found = tl.evaluate_panel(half, n_random=0, inplace=False)
    assert found["preserved"] == pytest.approx(entry["preserved"][-1])
    names = list(half.var_names[columns["glfs_selected"]])
    same = tl.evaluate_panel(
        half, names, n_random=0, inplace=False, preserve=Preserve(use_rep="mine")
    )
    assert same["preserved"] == pytest.approx(entry["preserved"][-1])
    table = tl.explain_panel(half, inplace=False)
    assert table["preserved"].iloc[-1] == pytest.approx(entry["preserved"][-1])
    computed.clear()
    tl.evaluate_panel(half, n_random=0, inplace=False)
    assert not computed


def test_one_that_is_named_holds_in_resamples(half, monkeypatch):
    """Resamples have structures of their own, with its parameters."""
    asked = []
    compute = structures.compute

    def seen(adata, inputs, spec):
        asked.append(spec.n_neighbors)
        return compute(adata, inputs, spec)

    pp.structure(half, n_neighbors=7, key_added="mine")
    selection(half, use_rep="mine")
    monkeypatch.setattr(structures, "compute", seen)
    tl.stability(half, n_resamples=2)
    assert set(asked) == {7}


def test_one_that_is_named_survives_a_file(half, tmp_path, no_compute):
    pp.structure(half, n_neighbors=7, key_added="mine")
    once = selection(half, use_rep="mine")
    half.write_h5ad(tmp_path / "x.h5ad")
    again = ad.read_h5ad(tmp_path / "x.h5ad")
    no_compute()
    assert_same(selection(again, **pp.recorded_parameters(again)), once)


def test_one_that_is_named_and_does_not_fit_is_refused(half):
    pp.structure(half, n_neighbors=7, key_added="mine")
    selection(half, use_rep="mine")
    matrix(half)
    with refused(InvalidValue, "use_rep"):
        pp.select_genes(half, SIZE, use_rep="mine")
    with refused(InvalidValue, "use_rep"):
        tl.explain_panel(half, inplace=False)


@pytest.mark.parametrize(
    ("argument", "value"),
    [("layer", "same"), ("batch_key", "phase"), ("neighbors_key", "neighbors")],
)
def test_one_that_is_named_has_its_own_matrix_batches_and_graph(half, argument, value):
    half.layers["same"] = half.X.copy()
    pp.structure(half, n_neighbors=7, key_added="mine")
    with refused(InvalidValue, argument):
        pp.select_genes(half, SIZE, use_rep="mine", **{argument: value})


def test_panels_of_two_structures_are_not_compared(half):
    pp.structure(half, n_neighbors=7, key_added="mine")
    pp.select_genes(half, SIZE, use_rep="mine", key_added="one")
    pp.select_genes(half, SIZE, key_added="other")
    with refused(InvalidValue, "panels"):
        tl.compare_panels(half, {"one": "one", "other": "other"})
    assert "glfs_comparison" not in half.uns
    same = Preserve(use_rep="mine")
    tl.compare_panels(half, {"one": "one", "other": "other"}, preserve=same)


# What else it is


def test_batches_have_a_subspace_each(pbmc):
    pbmc.obs["batch"] = np.tile(["a", "b"], 350)
    asked = StructureSpec(batch_key="batch", n_comps=10)
    computed = structures.structure_of(pbmc.copy(), asked).criterion()
    pp.structure(pbmc, batch_key="batch", n_comps=10, key_added="other")
    named = structures.specified(pbmc, StructureSpec(use_rep="other"))
    stored = structures.structure_of(pbmc, named)
    assert [len(rows) for rows in stored.rows] == [350, 350]
    np.testing.assert_array_equal(
        stored.criterion().preserved(np.arange(5)), computed.preserved(np.arange(5))
    )


def test_another_matrix_is_not_taken_for_it(pbmc, caplog):
    pp.structure(pbmc)
    before = kept(pbmc)
    pbmc.X = pbmc.X * 2.0 + (pbmc.X > 1)
    changed = kept(pbmc)
    assert not caplog.records
    assert not np.allclose(changed, before)
    del pbmc.uns["glfs_structure"]
    np.testing.assert_array_equal(changed, kept(pbmc))


def test_bad_input_changes_nothing(pbmc):
    for options, kind in [
        ({"lambda1": -1.0}, InvalidValue),
        ({"layer": "none"}, NotFound),
        ({"batch_key": "none"}, NotFound),
        ({"key_added": ""}, InvalidValue),
        ({"standardize": "no"}, InvalidValue),
        ({"use_rep": "none"}, NotFound),
        ({"n_neighbors": 0}, InvalidValue),
    ]:
        with refused(kind, *options):
            pp.structure(pbmc, **options)
    assert "glfs_structure" not in pbmc.uns


def test_cells_in_a_file(pbmc, tmp_path, computed):
    """The structure is computed once, from cells that are read as they go."""
    expected = tl.extend_panel(pbmc, PANEL, 4, inplace=False)
    del pbmc.uns["glfs_structure"]
    pbmc.write_h5ad(tmp_path / "x.h5ad")
    backed = ad.read_h5ad(tmp_path / "x.h5ad", backed="r")
    computed.clear()
    found = tl.extend_panel(backed, PANEL, 4, inplace=False)
    assert list(found["gene"]) == list(expected["gene"])
    np.testing.assert_allclose(found["preserved"], expected["preserved"], rtol=1e-9)
    selection(backed)
    assert len(computed) == 1
    backed.file.close()
