"""What ``pp.select_genes`` refuses, and cells in which nothing stands above the noise."""

from __future__ import annotations

import inspect
import re
import warnings
from functools import partial

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from refusals import accepted, not_refused, refusal_of, refused
from scipy import sparse

import glfs_bio
from glfs_bio.errors import Caution, InvalidType, InvalidValue, NotFound
from glfs_bio.pp import select_genes

TIMES = ("day", "time", "period")
#: What each argument does not take, by the kind of refusal.
PARAMETERS = {
    "n_genes": {InvalidValue: [0, 766, 10**30], InvalidType: [5.0, True, "ten", np.array([5])]},
    "method": {InvalidValue: ["magic", None, ["glfs"], np.array(["glfs"])]},
    "objective": {InvalidValue: ["exakt", 1]},
    "preserve": {
        InvalidValue: [{}, [], {"structure": -1}, "constant", "infinite", "one", "unknown", "both"],
        InvalidType: [3, None, [3], {"structure": "much"}, {("CD3D",): 1}, "whole", *TIMES],
        NotFound: ["nope", "", ["CD3D", "CD3X"]],
    },
    "cell_weights": {InvalidValue: ["infinite", "negative"], InvalidType: [5, "whole", "none"]},
    "n_comps": {InvalidValue: [0], InvalidType: [5.5, "auto"]},
    "use_rep": {InvalidValue: [""], InvalidType: [5, ["X_pca"]], NotFound: ["nope"]},
    "neighbors_key": {InvalidType: [5], NotFound: ["nope"]},
    "layer": {InvalidType: [5, ["a"]], NotFound: ["nope"]},
    "include": {
        InvalidType: [5, [5], [None], [["CD3D"]], np.array("CD3D")],
        NotFound: [["nope"], ["CD8a", "x", "CD3D"]],
    },
    "exclude": {
        InvalidValue: [re.compile("")],
        InvalidType: [1.5, np.array("CD3D")],
        NotFound: ["tcrr", "ribosmal", "^MT-", re.compile("^nope$")],
    },
    "prefer": {InvalidType: [1.5, np.array("CD3D")]},
    "ignore": {InvalidValue: [re.compile("")], InvalidType: [1.5], NotFound: ["nope"]},
    "limits": {InvalidType: [{"budget": 1}]},
    "platform": {InvalidType: [0.1]},
    "symbols": {InvalidType: [5], NotFound: ["nope"]},
    "missing": {InvalidValue: ["drop", None, True]},
    "batch_key": {InvalidType: [["phase"]], NotFound: ["nope"]},
    "across": {InvalidValue: ["best", "worst"]},
    "search": {InvalidValue: ["greedy"]},
    "time_limit": {InvalidValue: [0], InvalidType: ["x"]},
    "key_added": {InvalidValue: ["", "a/b", "neighbors"], InvalidType: [5, None]},
    "as_highly_variable": {InvalidType: ["no"]},
    "subset": {InvalidType: ["no"]},
    "inplace": {InvalidType: [1]},
    "random_state": {InvalidValue: [-1, 2**32], InvalidType: [1.5, "lucky", True]},
}


def test_parameters(pbmc, unchanged):
    columns = {"constant": 0.5, "infinite": np.inf, "whole": 3, "one": "a", "negative": -0.5}
    pbmc.obs = pbmc.obs.assign(**columns, unknown=np.nan, none=0.0, both=1.0)
    days = pd.date_range("2020", periods=700)
    pbmc.obs = pbmc.obs.assign(day=days, time=days - days[0], period=days.to_period("D"))
    pbmc.obsm["both"] = np.ones((700, 1))
    cases = [
        ({argument: value}, kind, argument)
        for argument, kinds in PARAMETERS.items()
        for kind, values in kinds.items()
        for value in values
    ]
    with unchanged(pbmc):
        assert not_refused(partial(select_genes, pbmc), cases) == []
    assert {*PARAMETERS} == {*inspect.signature(select_genes).parameters} - {"adata"}


def with_nan(array):
    array[3, 1] = np.nan
    return array


def with_entry(value):
    def changed(x):
        x[3, 1] = value
        return sparse.csr_matrix(x)

    return changed


#: Where is what an argument reads, under which key, and how a call asks for it.
PLACES = {
    "layer": ("layers", "X", {"layer": "X"}),
    "use_rep": ("obsm", "X_pca", {"use_rep": "X_pca"}),
    "neighbors_key": ("obsp", "connectivities", {"neighbors_key": "neighbors"}),
    "batch_key": ("obs", "phase", {"batch_key": "phase"}),
}
#: What makes of a part of the object one that is refused, by the argument and the kind of refusal.
DATA = {
    "X": {
        InvalidValue: [
            lambda _: None,
            *(with_nan, with_entry(np.nan), with_entry(np.inf), with_entry(-np.inf)),
            *(np.ones_like, np.zeros_like),
        ],
        InvalidType: [
            lambda x: np.full(x.shape, "x"),
            lambda x: x + 1j,
            lambda x: x.astype(object),
            lambda x: x.astype("datetime64[s]"),
            lambda x: x.astype(np.float16),
            lambda x: x.astype(np.longdouble),
            lambda x: np.ma.masked_equal(x, 0),
        ],
    },
    "layer": {InvalidValue: [with_nan]},
    "use_rep": {
        InvalidValue: [with_nan, np.ones_like, lambda space: space[:, None, :2]],
        InvalidType: [
            lambda space: space + 1j,
            lambda space: np.full(space.shape, "x", dtype=object),
            lambda _: pd.DataFrame({"a": ["x"] * 700}, [str(cell) for cell in range(700)]),
        ],
    },
    "neighbors_key": {
        InvalidValue: [
            lambda graph: -graph,
            lambda graph: graph * np.nan,
            lambda graph: graph * np.inf,
            lambda graph: graph * 0,
            lambda graph: sparse.csr_matrix(sparse.triu(graph)),
            lambda graph: sparse.csr_matrix(sparse.triu(graph) + 2 * sparse.tril(graph)),
            lambda _: sparse.eye(700, format="csr"),
        ],
        InvalidType: [lambda graph: graph * 1j],
    },
    "batch_key": {
        InvalidValue: [lambda _: np.repeat(np.arange(350), 2), lambda _: [None] + ["y"] * 699],
    },
}


@pytest.mark.filterwarnings("ignore:Changing the sparsity")
@pytest.mark.parametrize("argument", DATA)
def test_data(pbmc, unchanged, argument):
    pbmc.obs_names = [str(cell) for cell in range(700)]
    pbmc.layers["X"] = pbmc.X.toarray()
    wrong = []
    for kind, changes in DATA[argument].items():
        for number, change in enumerate(changes):
            cells, options = pbmc.copy(), {}
            if argument == "X":
                cells.X = change(cells.X.toarray())
            else:
                place, key, options = PLACES[argument]
                getattr(cells, place)[key] = change(getattr(cells, place)[key])
            with unchanged(cells):
                refusal = refusal_of(select_genes, cells, **options)
            if refusal != (kind, argument):
                wrong.append((kind, number, refusal))
    assert not wrong


def test_a_graph_that_is_not_there(pbmc, refuses):
    for key, kind in (("old", InvalidType), ({"connectivities_key": "x"}, NotFound)):
        pbmc.uns["other"] = key
        refuses(lambda: select_genes(pbmc, neighbors_key="other"), pbmc, kind, "neighbors_key")
    other = pbmc.copy()
    other.obsp["connectivities"] = sparse.csr_matrix((700, 700))
    del pbmc.obsp["connectivities"]
    for cells, kind in ((other, InvalidValue), (pbmc, NotFound)):
        refusal = refusal_of(select_genes, cells, neighbors_key="neighbors")
        assert refusal == (kind, "neighbors_key")


def test_constant_genes_in_one_batch(pbmc, refuses):
    dense = pbmc.X.toarray()
    dense[:5] = 0
    pbmc.X = dense
    pbmc.obs["b"] = ["x"] * 5 + ["y"] * 695
    refuses(lambda: select_genes(pbmc, batch_key="b"), pbmc, InvalidValue, "X")


@pytest.mark.filterwarnings("ignore:Variable names are not")
def test_objects(pbmc):
    repeated = pd.DataFrame(index=["A", *pbmc.var_names[:-2], "A"])
    pbmc.var["feature_types"] = "Gene Expression"
    with refused(InvalidValue, "X"):
        select_genes(pbmc[:, []].copy())
    objects = {
        InvalidType: [pbmc.X, pbmc.to_df(), "cells.h5ad", None],
        InvalidValue: [ad.AnnData(pbmc.X, var=repeated)],
    }
    for kind, others in objects.items():
        assert accepted(select_genes, others, "adata", kind) == []


def test_counts_are_warned_about_and_do_not_overflow(pbmc):
    pbmc = pbmc[::4, ::3].copy()
    counts = np.round(20 * pbmc.X.toarray() / pbmc.X.max() * 6)
    tables = []
    for dtype in ("float32", "int8", "uint8", "int64"):
        pbmc.X = counts.astype(dtype)
        with pytest.warns(Caution):
            tables.append(select_genes(pbmc, 10, inplace=False))
    for table in tables[1:]:
        pd.testing.assert_frame_equal(table, tables[0])


def test_a_view_is_given_the_result_and_its_parent_is_not(pbmc, refuses):
    expected = select_genes(pbmc[::2].copy(), 5, inplace=False)
    view = pbmc[::2]
    refuses(lambda: select_genes(view, 0), view, InvalidValue, "n_genes")
    assert view.is_view  # still, as the call failed
    with warnings.catch_warnings():  # anndata's, whoever writes to a view
        warnings.simplefilter("ignore", ad.ImplicitModificationWarning)
        select_genes(view, 5)
    pd.testing.assert_frame_equal(view.var[expected.columns], expected)
    assert not any(name.startswith("glfs") for name in pbmc.var)
    assert "glfs" not in pbmc.uns


def test_four_features_among_noise(four_among_noise):
    """No axis of the cells shows them, but each by itself varies more than the noise does."""
    adata = four_among_noise(clusters=False)
    with pytest.warns(Caution):
        select_genes(adata, 4)
    var, entry = adata.var, adata.uns["glfs"]
    assert var["informative"][var["glfs_selected"]].all()
    assert set(var["glfs_weight"]) == {0.0, 1.0}
    assert entry["n_axes"] == 0
    assert np.isnan(entry["optimality"]).all()
    with refused(InvalidValue, "n_genes"):
        select_genes(adata)
    with pytest.warns(Caution):
        glfs_bio.tl.evaluate_panel(adata, adata.var_names[:3])
    table = adata.uns["glfs_evaluation"]["measures"].set_index("measure")
    assert np.isnan(table.loc["optimality", "value"])


def test_38_samples(real):
    """The leukaemia's structure is evident; none is left when its genes are permuted."""
    golub = real("golub72")
    golub = golub[(golub.obs["split"] == "train").to_numpy()].copy()
    golub.X = np.log10(np.clip(golub.X.astype(float), 100, 16000))
    select_genes(golub, 20)
    assert 3 < golub.uns["glfs"]["n_axes"] < 10
    golub.X = np.random.default_rng(0).permuted(golub.X, axis=0)
    with pytest.warns(Caution):
        select_genes(golub, 20, include=list(golub.var_names[:2]))
    assert np.isnan(golub.uns["glfs"]["optimality"]).all()
    assert golub.var["glfs_included"][golub.var["glfs_rank"] <= 2].all()


def test_clusters_and_blood_cells_have_axes(pbmc, four_among_noise):
    adata = four_among_noise()
    select_genes(adata, 4)
    assert adata.var["informative"][adata.var["glfs_selected"]].all()
    assert adata.uns["glfs"]["n_axes"] == 3
    select_genes(pbmc, 5)
    assert 3 < pbmc.uns["glfs"]["n_axes"] < 30
    pbmc.obs["half"] = np.where(np.arange(pbmc.n_obs) % 2, "a", "b")
    select_genes(pbmc, 5, batch_key="half")
    assert pbmc.uns["glfs"]["n_axes"].shape == (2,)
