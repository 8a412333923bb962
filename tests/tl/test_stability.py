from __future__ import annotations

import re

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from refusals import refused
from scipy import sparse

import glfs_bio
from glfs_bio import Limits
from glfs_bio._anndata import stale
from glfs_bio.errors import Caution, InvalidType, InvalidValue, NotFound
from glfs_bio.pp import recorded_parameters, select_genes, structure
from glfs_bio.tl import _stability as module
from glfs_bio.tl import stability


@pytest.fixture
def adata(clusters):
    return ad.AnnData(
        clusters,
        obs=pd.DataFrame(
            {"batch": ["a", "a", "b"] * 30}, index=[f"c{i}" for i in range(len(clusters))]
        ),
        var=pd.DataFrame(index=[f"g{i}" for i in range(clusters.shape[1])]),
    )


def quiet(adata, *n_genes, **options):
    stability(adata, *n_genes, **{"n_resamples": 4, **options})


def test_what_is_written(adata):
    before = adata.X.copy()
    assert stability(adata, 6, n_resamples=5) is None
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
    assert entry["n_cells"] == 45
    assert entry["n_tested"] == 40
    assert entry["structure"]["use_rep"] == "None"
    np.testing.assert_array_equal(adata.X, before)


def test_it_is_selection_on_parts_of_the_cells(pbmc, monkeypatch):
    """By hand, on bare objects: neither X_pca nor the graph of all cells is re-used."""
    parts = []

    def recorded(*arguments):
        parts.extend(original(*arguments))
        return parts

    original = module._drawn
    monkeypatch.setattr(module, "_drawn", recorded)
    quiet(pbmc, 15, n_resamples=2, fraction=0.4, n_comps=10)
    assert [len(part) for part in parts] == [280, 280]
    sets = []
    for part in parts:
        assert len(set(part)) == 280
        bare = ad.AnnData(pbmc.X[part], var=pbmc.var[[]])
        select_genes(bare, 15, n_comps=10)
        sets.append(set(bare.var_names[bare.var["glfs_selected"]]))
    expected = [np.mean([gene in genes for genes in sets]) for gene in pbmc.var_names]
    np.testing.assert_array_equal(pbmc.var["glfs_stability_frequency"], expected)
    jaccard = len(sets[0] & sets[1]) / len(sets[0] | sets[1])
    assert pbmc.uns["glfs_stability"]["mean_jaccard"] == pytest.approx(jaccard)


@pytest.mark.parametrize("forced", [["g30"], ["g30", "g31", "g32", "g33"]])
def test_genes_that_had_to_be_in_are_not_counted(adata, forced):
    """Indices and frequencies are those of the chosen genes alone, whatever else was forced."""
    select_genes(adata, 6 + len(forced), include=forced)
    quiet(adata)
    entry, frequency = adata.uns["glfs_stability"], adata.var["glfs_stability_frequency"]
    assert frequency[forced].isna().all()
    assert adata.var.loc[forced, "glfs_stability_frequency_with_substitutes"].isna().all()
    assert frequency.sum() == pytest.approx(6)
    assert not set(forced) & set(entry["table"]["gene"])
    assert entry["n_included"] == len(forced)
    assert adata.var.loc[forced, "glfs_stability_consensus"].all()
    every = []  # by hand
    for part in module._drawn(adata, module._request(adata, "glfs", {}).structure, 0.5, 4):
        own = ad.AnnData(adata.X[part], var=adata.var[[]])
        select_genes(own, 6 + len(forced), include=forced)
        every.append(set(own.var_names[own.var["glfs_selected"]]) - set(forced))
    one, two = every[:2]
    assert entry["jaccard"][0, 1] == pytest.approx(len(one & two) / len(one | two))
    matched = entry["jaccard_with_substitutes"]
    assert (matched >= entry["jaccard"] - 1e-12).all()
    assert (matched <= 1).all()


def test_nothing_is_stable_of_a_panel_that_was_given(adata):
    select_genes(adata, 3, include=["g1", "g30", "g31"])
    quiet(adata)
    entry = adata.uns["glfs_stability"]
    assert np.isnan([entry["mean_jaccard"], entry["mean_jaccard_with_substitutes"]]).all()
    assert entry["table"].empty


def written(adata, key="glfs_stability"):
    columns = [f"{key}_frequency", f"{key}_consensus"]
    return adata.var[columns].to_numpy(dtype=float), adata.uns[key]["jaccard"]


def same(one, other):
    return all(np.array_equal(*pair, equal_nan=True) for pair in zip(one, other, strict=True))


def test_parameters_are_those_of_the_selection(adata):
    """Every one of them, by name or not, and after a file."""
    adata.layers["logged"] = adata.X.copy()
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
    quiet(adata, key="mine")
    assert same(written(adata, "mine_stability"), written(adata, "given"))
    entry = adata.uns["mine_stability"]
    assert entry["of"] == "mine"
    kept = adata.uns["mine"]["params"]
    for name in given:
        np.testing.assert_array_equal(entry["params"][name], kept[name])
    assert np.isnan(adata.var.loc["g30", "mine_stability_frequency"])
    quiet(adata, key="mine", key_added="others", n_comps=4, random_state=4)
    assert adata.uns["others"]["params"]["n_comps"] == 4
    assert list(adata.uns["others"]["n_genes"]) == [7] * 4
    assert not same(written(adata, "others"), written(adata, "given"))


def test_recorded_parameters_can_be_passed_on(adata):
    """With those that say where the selection was written; its record stays."""
    select_genes(adata, 6, n_comps=10)
    record = adata.uns["glfs"]
    quiet(adata)
    first = written(adata)
    del adata.uns["glfs_stability"]
    quiet(adata, **recorded_parameters(adata))
    assert same(written(adata), first)
    assert adata.uns["glfs"] is record
    bare = ad.AnnData(adata.X, var=adata.var[[]])
    quiet(bare, **(recorded_parameters(adata) | {"subset": True}))
    assert same(written(bare), first)


def test_a_selection_after_a_file(adata, tmp_path):
    select_genes(adata, 6, exclude=re.compile("^(g2|g3.)$"))
    adata.write_h5ad(tmp_path / "x.h5ad")
    again = ad.read_h5ad(tmp_path / "x.h5ad")
    for one in (adata, again):
        quiet(one)
    assert same(written(again), written(adata))


def test_without_a_selection_and_without_parameters(adata):
    with refused(NotFound, "key"):
        quiet(adata, random_state=1)
    with refused(NotFound, "key"):
        quiet(adata, key="other")
    adata.uns["other"] = {"params": {}}
    with refused(NotFound, "key"):
        quiet(adata, key="other")


def test_parts_repeat_no_note(adata, caplog):
    """That the graph is in parts is said once, of all cells."""
    adata.X[30:] += 100.0
    structure(adata, n_neighbors=3, key_added="near")
    assert caplog.text.count("connected components") == 1
    select_genes(adata, 6, use_rep="near")
    quiet(adata)
    assert caplog.text.count("connected components") == 1


@pytest.mark.parametrize("where", ["preserve", "cell_weights"])
def test_a_column_that_went_is_told_with_those_that_are_there(adata, where):
    adata.obs["kind"] = np.repeat(["a", "b"], [30, len(adata) - 30])
    select_genes(adata, 6, **{where: "kind"})
    adata.obs["other"] = adata.obs.pop("kind")
    with refused(NotFound, where) as caught:
        quiet(adata)
    assert "other" in str(caught.value)
    del adata.obs["other"]
    with refused(NotFound, where):
        quiet(adata)


def test_another_selection_is_not_written_over(adata):
    for key in ("glfs", "mine"):
        select_genes(adata, 5, key_added=key)
    with refused(InvalidValue, "key_added"):
        quiet(adata, **recorded_parameters(adata, "mine"))
    quiet(adata, key="mine", **recorded_parameters(adata, "mine"))
    assert set(adata.uns) == {"glfs", "mine", "mine_stability", "glfs_structure"}


def test_the_genes_to_choose_from_must_be_there(adata):
    select_genes(adata, 5, subset=True)
    with refused(InvalidValue, "key"):
        quiet(adata)


def test_consensus_is_what_most_parts_have(pbmc, monkeypatch):
    ranks, chosen = [], []
    original = module._selected

    def spy(*arguments):
        found = original(*arguments)
        chosen.append(found[0]["glfs_selected"].to_numpy())
        ranks.append(found[0]["glfs_rank"].to_numpy())
        return found

    monkeypatch.setattr(module, "_selected", spy)
    quiet(pbmc, 12, n_resamples=3, exclude=["LYZ"])
    assert pbmc.var["glfs_stability_consensus"].sum() == 12
    table = pd.DataFrame({"n": np.sum(chosen, axis=0), "rank": np.mean(ranks, axis=0)})
    best = table.sort_values(["n", "rank"], ascending=[False, True]).index[:12]
    assert set(np.flatnonzero(pbmc.var["glfs_stability_consensus"])) == set(best)


def test_seed_decides_and_number_of_processes_does_not(adata):
    results = []
    for seed, n_jobs in ((0, None), (0, 2), (1, None)):
        quiet(adata, 10, random_state=seed, n_jobs=n_jobs)
        results.append(adata.uns["glfs_stability"]["jaccard"])
    np.testing.assert_array_equal(results[0], results[1])
    assert not np.array_equal(results[0], results[2])


def test_named_representation_and_graph_are_used(pbmc, monkeypatch):
    from glfs_bio.cells import graph
    from glfs_bio.cells import pca as subspace

    def refuse(*_args, **_kwargs):
        pytest.fail("computed although it was named")

    monkeypatch.setattr(subspace, "principal_components", refuse)
    monkeypatch.setattr(graph, "knn_graph", refuse)
    quiet(pbmc, 10, n_resamples=2, use_rep="X_pca", neighbors_key="neighbors")
    assert pbmc.uns["glfs_stability"]["params"]["use_rep"] == "X_pca"
    assert pbmc.uns["glfs_stability"]["structure"]["neighbors_key"] == "neighbors"


def test_untested_genes_have_no_frequency(adata):
    quiet(adata, 5, exclude=re.compile("^(g29|g3.)$"), key_added="other")
    missing = adata.var["other_frequency"].isna()
    assert list(adata.var_names[missing]) == [f"g{i}" for i in range(29, 40)]


def test_layer_and_sparse(adata):
    quiet(adata, 5)
    expected = adata.var["glfs_stability_frequency"].copy()
    adata.layers["logged"] = sparse.csr_matrix(adata.X)
    adata.X = np.zeros(adata.shape)
    quiet(adata, 5, layer="logged")
    np.testing.assert_array_equal(adata.var["glfs_stability_frequency"], expected)


def test_every_batch_gives_its_share(adata, monkeypatch):
    seen = []
    original = module.panel_of

    def spy(part, *asked, **how):
        seen.append(part.obs["batch"].value_counts().to_dict())
        return original(part, *asked, **how)

    monkeypatch.setattr(module, "panel_of", spy)
    quiet(adata, 5, batch_key="batch", n_resamples=3)
    assert seen == [{"a": 30, "b": 15}] * 3


@pytest.mark.parametrize("options", [{"objective": "exact"}, {"n_comps": 7}])
def test_options_of_the_selection_reach_it(adata, options, monkeypatch):
    seen = []
    original = module.panel_of

    def spy(part, request, *key, **how):
        seen.append({name: request.arguments()[name] for name in options})
        return original(part, request, *key, **how)

    monkeypatch.setattr(module, "panel_of", spy)
    quiet(adata, 5, n_resamples=2, **options)
    assert seen == [options] * 2
    params = adata.uns["glfs_stability"]["params"]
    assert {name: params[name] for name in options} == options


def test_automatic_sizes(adata):
    quiet(adata, None)
    assert (adata.uns["glfs_stability"]["n_genes"] >= 1).all()


@pytest.mark.parametrize("form", ["h5ad", "zarr"])
def test_result_survives_a_file(adata, tmp_path, form):
    quiet(adata, 5, exclude=[re.compile("^g3"), "g7"], layer=None)
    getattr(adata, f"write_{form}")(tmp_path / f"x.{form}")
    again = getattr(ad, f"read_{form}")(tmp_path / f"x.{form}")
    pd.testing.assert_frame_equal(again.var, adata.var)
    entry = again.uns["glfs_stability"]
    np.testing.assert_array_equal(entry["jaccard"], adata.uns["glfs_stability"]["jaccard"])
    assert list(entry["params"]["exclude"]) == ["re:^g3", "g7"]


def test_a_warning_is_given_once(adata):
    adata.X = np.round(np.clip(adata.X, 0, None) * 3)
    with pytest.warns(Caution) as caught:
        quiet(adata, 5)
    assert sum(issubclass(one.category, Caution) for one in caught) == 1


def test_an_interrupt_leaves_the_object_alone(adata, monkeypatch, capsys):
    calls = []

    def interrupted(*_args, **_options):
        calls.append(None)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return original(*_args, **_options)

    original = module.panel_of
    monkeypatch.setattr(module, "panel_of", interrupted)
    with pytest.raises(KeyboardInterrupt):
        stability(adata, 5)
    assert len(calls) == 2
    assert "glfs_stability" not in adata.uns
    assert list(adata.var.columns) == []
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("options", "kind", "argument"),
    [
        ({"n_genes": 41}, InvalidValue, "n_genes"),
        ({"n_genes": "many"}, InvalidType, "n_genes"),
        ({"n_resamples": 1}, InvalidValue, "n_resamples"),
        ({"fraction": 0.0}, InvalidValue, "fraction"),
        ({"fraction": 1.0}, InvalidValue, "fraction"),
        ({"fraction": 0.01}, InvalidValue, "fraction"),
        ({"finish": True}, InvalidType, "finish"),
        ({"lamda1": 3.0}, InvalidType, "lamda1"),
        ({"layer": "nope"}, NotFound, "layer"),
        ({"use_rep": "nope"}, NotFound, "use_rep"),
        ({"neighbors_key": "nope"}, NotFound, "neighbors_key"),
        ({"batch_key": "nope"}, NotFound, "batch_key"),
        ({"method": "magic"}, InvalidValue, "method"),
        ({"include": ["nope"]}, NotFound, "include"),
        ({"random_state": "x"}, InvalidType, "random_state"),
        ({"key": 5}, InvalidType, "key"),
        ({"key_added": 5}, InvalidType, "key_added"),
    ],
)
def test_bad_input_leaves_the_object_alone(adata, options, kind, argument):
    with refused(kind, argument):
        quiet(adata, **{"n_genes": 5, **options})
    assert "glfs_stability" not in adata.uns
    assert list(adata.var.columns) == []


def test_substitutes_count_as_the_gene(pbmc):
    select_genes(pbmc, 10)
    stability(pbmc, n_resamples=4)
    grouped = pbmc.var["glfs_stability_frequency_with_substitutes"]
    selected = pbmc.var["glfs_selected"]
    assert grouped[~selected].isna().all()
    alone = pbmc.var["glfs_stability_frequency"]
    assert (grouped[selected] >= alone[selected]).all()
    entry = pbmc.uns["glfs_stability"]
    assert entry["mean_jaccard_with_substitutes"] >= entry["mean_jaccard"]
    matched = entry["jaccard_with_substitutes"]
    assert (matched >= entry["jaccard"] - 1e-12).all()
    np.testing.assert_array_equal(matched, matched.T)


def test_a_selection_within_limits(pbmc):
    pbmc.layers["raw"] = np.round(np.expm1(pbmc.X.toarray()))
    limits = Limits(max_total_per_type=8.0, groupby="bulk_labels", counts_layer="raw")
    select_genes(pbmc, 8, limits=limits)
    stability(pbmc, n_resamples=2)
    assert (pbmc.uns["glfs_stability"]["n_genes"] > 0).all()


@pytest.mark.parametrize("name", ["ignore", "exclude"])
def test_one_name_is_a_list_of_it(pbmc, name):
    glfs_bio.pp.select_genes(pbmc, 8, **{name: "ribosomal"})
    glfs_bio.tl.stability(pbmc, n_resamples=2)
    assert stale.difference(pbmc, "glfs", pbmc.uns["glfs_stability"]) is None


def interrupted(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.filterwarnings("ignore:Writing zarr v2")
def test_parts_of_a_file_are_read_as_they_are_selected(pbmc, outside):
    check_alike(pbmc, outside(pbmc), None)


@pytest.mark.filterwarnings("ignore:Writing zarr v2")
@pytest.mark.parametrize("outside", ["csr", "csc", "zarr"], indirect=True)
def test_processes_open_the_file_themselves(pbmc, outside):
    check_alike(pbmc, outside(pbmc), 2)


def check_alike(adata, held, n_jobs):
    options = {"n_resamples": 3, "fraction": 0.4, "n_comps": 10}
    stability(adata, 8, **options)
    stability(held, 8, **options, n_jobs=n_jobs)
    for column in ("frequency", "frequency_with_substitutes", "consensus"):
        name = f"glfs_stability_{column}"
        pd.testing.assert_series_equal(held.var[name], adata.var[name])


@pytest.mark.filterwarnings("ignore:Writing zarr v2", "ignore:.*looks like raw counts")
def test_limits_in_counts_of_a_file(counts_of, outside):
    limits = Limits(max_counts=3.0, counts_layer="X")
    held = outside(counts_of)
    for one in (counts_of, held):
        stability(one, 5, n_resamples=2, n_comps=10, limits=limits)
    name = "glfs_stability_frequency"
    pd.testing.assert_series_equal(held.var[name], counts_of.var[name])


@pytest.fixture
def counts_of(pbmc):
    pbmc.X = pbmc.X.expm1().rint()
    pbmc.X.eliminate_zeros()
    return pbmc


@pytest.mark.parametrize("outside", ["csr"], indirect=True)
def test_progress_and_interruption(pbmc, outside, caplog, monkeypatch):
    held = outside(pbmc)
    with caplog.at_level("INFO", "glfs_bio"):
        stability(held, 5, n_resamples=2, n_comps=10)
    done = [one.n_done for one in caplog.records if getattr(one, "stage", "") == STAGE]
    assert done == [1, 2]
    before = set(held.uns), list(held.var)
    monkeypatch.setattr(module, "panel_of", interrupted)
    with pytest.raises(KeyboardInterrupt):
        stability(held, 5, n_resamples=2, n_comps=10, key_added="other")
    assert (set(held.uns), list(held.var)) == before


STAGE = "selecting on parts"
