from __future__ import annotations

import re
from functools import partial

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from refusals import refused
from scipy import sparse

from glfs_bio import Limits
from glfs_bio._anndata import results
from glfs_bio.errors import Caution, InvalidValue, NotFound
from glfs_bio.pp import select_genes, structure
from glfs_bio.tl import _stability as module
from glfs_bio.tl import stability


@pytest.fixture
def adata(clusters):
    adata = ad.AnnData(clusters)
    adata.obs_names = [f"c{i}" for i in range(adata.n_obs)]
    adata.var_names = [f"g{i}" for i in range(adata.n_vars)]
    adata.obs["batch"] = ["a", "a", "b"] * 30
    return adata


def quiet(adata, *n_genes, **options):
    stability(
        adata, **{"n_resamples": 4, **dict(zip(["n_genes"], n_genes, strict=False)), **options}
    )


def panel_of(adata):
    return set(adata.var_names[adata.var["glfs_selected"]])


def written(adata, key="glfs_stability"):
    columns = [f"{key}_frequency", f"{key}_consensus"]
    return adata.var[columns].to_numpy(dtype=float), adata.uns[key]["jaccard"]


def same(first, second):
    return all(map(partial(np.array_equal, equal_nan=True), first, second))


def test_what_is_written(adata):
    stability(adata, n_genes=6, n_resamples=5)
    frequency = adata.var["glfs_stability_frequency"]
    entry = adata.uns["glfs_stability"]
    assert frequency.between(0, 1).all()
    assert frequency.sum() == pytest.approx(6)
    assert frequency[:6].mean() > frequency[6:].mean()
    assert entry["jaccard"].shape == (5, 5)
    np.testing.assert_array_equal(entry["jaccard"], entry["jaccard"].T)
    np.testing.assert_array_equal(np.diag(entry["jaccard"]), 1)
    assert entry["mean_jaccard"] == pytest.approx(entry["jaccard"][np.triu_indices(5, 1)].mean())
    assert list(entry["n_genes"]) == [6] * 5
    assert adata.var["glfs_stability_consensus"].sum() == 6
    assert (entry["n_cells"], entry["n_tested"]) == (45, 40)
    assert entry["structure"]["n_comps"] == 50


def test_the_seed_decides(adata):
    for seed in (0, 1):
        quiet(adata, 10, random_state=seed, key_added=f"seed{seed}")
    assert not same(written(adata, "seed0"), written(adata, "seed1"))


def test_it_is_selection_on_parts_of_the_cells(pbmc, monkeypatch):
    """By hand, on bare objects: neither X_pca nor the graph of all cells is re-used."""
    parts = []

    def recorded(*arguments):
        parts.extend(original(*arguments))
        return parts

    original = module._drawn
    monkeypatch.setattr(module, "_drawn", recorded)
    quiet(pbmc, 15, n_resamples=2, fraction=0.4, n_comps=10)
    sets = []
    for part in parts:
        assert len(part) == len(set(part)) == 280
        bare = ad.AnnData(pbmc.X[part], var=pbmc.var[[]])
        select_genes(bare, 15, n_comps=10)
        sets.append(panel_of(bare))
    assert len(sets) == 2
    expected = [np.mean([gene in genes for genes in sets]) for gene in pbmc.var_names]
    np.testing.assert_array_equal(pbmc.var["glfs_stability_frequency"].fillna(0.0), expected)
    jaccard = len(sets[0] & sets[1]) / len(sets[0] | sets[1])
    assert pbmc.uns["glfs_stability"]["mean_jaccard"] == pytest.approx(jaccard)


@pytest.mark.parametrize("forced", [["g30"], ["g30", "g31", "g32", "g33"]])
def test_genes_that_had_to_be_in_are_not_counted(adata, forced):
    """Indices and frequencies are those of the chosen genes alone, whatever else was forced."""
    select_genes(adata, 6 + len(forced), include=forced)
    quiet(adata)
    entry, frequency = adata.uns["glfs_stability"], adata.var["glfs_stability_frequency"]
    assert frequency[forced].isna().all()
    assert frequency.sum() == pytest.approx(6)
    assert not set(forced) & set(entry["table"]["gene"])
    assert entry["n_included"] == len(forced)
    assert adata.var.loc[forced, "glfs_stability_consensus"].all()
    sets = []  # by hand
    for part in module._drawn(adata, module._request(adata, "glfs", {}).structure, 0.5, 4):
        bare = ad.AnnData(adata.X[part], var=adata.var[[]])
        select_genes(bare, 6 + len(forced), include=forced)
        sets.append(panel_of(bare) - set(forced))
    first, second = sets[:2]
    assert entry["jaccard"][0, 1] == pytest.approx(len(first & second) / len(first | second))
    # nothing is stable of a panel that was given
    select_genes(adata, len(forced), include=forced)
    quiet(adata)
    entry = adata.uns["glfs_stability"]
    assert np.isnan(entry["mean_jaccard"])
    assert entry["table"].empty


def test_parameters_are_those_of_the_selection(adata, tmp_path):
    """Every one of them, by name or not, and after a file."""
    adata.layers["logged"] = sparse.csr_matrix(adata.X)
    adata.X = np.zeros(adata.shape)
    given = {
        "layer": "logged",
        "include": ["g30"],
        "exclude": [re.compile("^g3[1-5]$"), "g1"],
        "batch_key": "batch",
        "n_comps": 10,
        "random_state": 3,
    }
    quiet(adata, 7, key_added="given", **given)
    select_genes(adata, 7, key_added="mine", **given)
    adata.write_h5ad(tmp_path / "x.h5ad")
    for cells in (adata, ad.read_h5ad(tmp_path / "x.h5ad")):
        quiet(cells, key="mine")
        assert same(written(cells, "mine_stability"), written(cells, "given"))
    entry = adata.uns["mine_stability"]
    assert entry["of"] == "mine"
    for name in given:
        np.testing.assert_array_equal(entry["params"][name], adata.uns["mine"]["params"][name])
    frequency = adata.var["mine_stability_frequency"]
    untested = ["g1", *(f"g{gene}" for gene in range(30, 36))]
    assert list(adata.var_names[frequency.isna()]) == untested
    quiet(adata, key="mine", key_added="others", n_comps=4, random_state=4)
    assert adata.uns["others"]["params"]["n_comps"] == 4
    assert list(adata.uns["others"]["n_genes"]) == [7] * 4
    assert not same(written(adata, "others"), written(adata, "given"))


def test_without_a_selection_and_without_parameters(adata):
    with refused(NotFound, "key"):
        quiet(adata, random_state=1)
    adata.uns["other"] = {"params": {}}
    for key in ("missing", "other"):
        with refused(NotFound, "key"):
            quiet(adata, key=key)
    select_genes(adata, 5, subset=True)
    with refused(InvalidValue, "key"):  # the genes to choose from must be there
        quiet(adata)


def test_parts_repeat_no_note(adata, caplog):
    """That the graph is in parts is said once, of all cells."""
    adata.X[30:] += 100.0
    structure(adata, n_neighbors=3, key_added="near")
    assert caplog.text.count("connected components") == 1
    select_genes(adata, 6, use_rep="near")
    quiet(adata)
    assert caplog.text.count("connected components") == 1


@pytest.mark.parametrize("where", ["preserve", "cell_weights"])
def test_a_column_that_went_is_named_with_those_that_are_there(adata, where):
    adata.obs["kind"] = np.repeat(["a", "b"], [30, len(adata) - 30])
    select_genes(adata, 6, **{where: "kind"})
    adata.obs["other"] = adata.obs.pop("kind")
    with refused(NotFound, where) as caught:
        quiet(adata)
    assert "other" in str(caught.value)


def test_named_representation_and_graph_are_used(pbmc, monkeypatch):
    from glfs_bio.cells import cells, graph

    def refuse(*_args, **_kwargs):
        pytest.fail("computed although it was named")

    monkeypatch.setattr(cells, "principal_components", refuse)
    monkeypatch.setattr(graph, "knn_graph", refuse)
    quiet(pbmc, 10, n_resamples=2, use_rep="X_pca", neighbors_key="neighbors")
    assert pbmc.uns["glfs_stability"]["params"]["use_rep"] == "X_pca"
    assert pbmc.uns["glfs_stability"]["structure"]["neighbors_key"] == "neighbors"


@pytest.mark.parametrize(
    "options", [{"objective": "exact", "n_genes": 5, "n_comps": 5}, {"n_genes": None}]
)
def test_options_reach_the_selections(adata, monkeypatch, options):
    """Every batch gives its share."""
    calls = []
    original = module.panel_of

    def spy(part, request, *key, **how):
        arguments = {name: request.arguments()[name] for name in options}
        calls.append((part.obs["batch"].value_counts().to_dict(), arguments))
        return original(part, request, *key, **how)

    monkeypatch.setattr(module, "panel_of", spy)
    quiet(adata, n_resamples=2, batch_key="batch", **options)
    assert calls == [({"a": 30, "b": 15}, options)] * 2
    assert (adata.uns["glfs_stability"]["n_genes"] >= 1).all()


def test_a_warning_is_given_once(adata):
    adata.X = np.round(np.clip(adata.X, 0, None) * 3)
    with pytest.warns(Caution) as caught:
        quiet(adata, 5)
    assert [warning.category for warning in caught].count(Caution) == 1  # libraries may warn too


def test_an_interrupt_leaves_the_object_alone(adata, unchanged, monkeypatch, caplog):
    """Between the selections; each is logged."""
    original, calls = module.panel_of, []

    def interrupted(*arguments, **options):
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return original(*arguments, **options)

    monkeypatch.setattr(module, "panel_of", interrupted)
    with unchanged(adata), caplog.at_level("INFO", "glfs_bio"), pytest.raises(KeyboardInterrupt):
        quiet(adata, 5)
    assert len(calls) == 2
    assert len([text for text in caplog.messages if text.startswith("selecting on parts")]) == 1


@pytest.mark.parametrize("name", ["ignore", "exclude"])
def test_a_name_is_a_list_of_it(cells, name):
    select_genes(cells, 8, **{name: "ribosomal"})
    stability(cells, n_resamples=2)
    assert results.difference(cells, "glfs", cells.uns["glfs_stability"]) is None


@pytest.mark.filterwarnings("ignore:.*looks like raw counts")
def test_processes_open_a_file_themselves(pbmc, outside):
    """And read counts in it, for limits."""
    pbmc = pbmc[::2, ::2].copy()
    pbmc.X = pbmc.X.expm1().rint()
    pbmc.X.eliminate_zeros()
    held = outside(pbmc)
    limits = {
        "expression": {"counts": 3.0},
        "total_counts": {"type": 8.0},
        "groupby": "bulk_labels",
    }
    options = {"n_resamples": 3, "n_comps": 10, "limits": Limits(**limits, counts_layer="X")}
    stability(pbmc, n_genes=8, **options)
    stability(held, n_genes=8, **options, n_jobs=2)
    for column in ("frequency", "consensus"):
        name = f"glfs_stability_{column}"
        pd.testing.assert_series_equal(held.var[name], pbmc.var[name])
