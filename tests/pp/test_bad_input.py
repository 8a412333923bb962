"""Bad input to ``pp.select_genes``: what is refused, with which words, and nothing is changed."""

from __future__ import annotations

import inspect
import re
import warnings

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from refusals import refused
from scipy import sparse

from glfs_bio.errors import Caution, InvalidType, InvalidValue, NotFound
from glfs_bio.glfs2014 import Exact, Printed
from glfs_bio.pp import select_genes

#: argument, value, kind of refusal
PARAMETERS = [
    ("n_genes", 0, InvalidValue),
    ("n_genes", -3, InvalidValue),
    ("n_genes", 5.0, InvalidType),
    ("n_genes", True, InvalidType),
    ("n_genes", "ten", InvalidType),
    ("n_genes", np.array([5]), InvalidType),
    ("n_genes", 766, InvalidValue),
    ("n_genes", 10**30, InvalidValue),
    ("method", "magic", InvalidValue),
    ("method", None, InvalidValue),
    ("method", ["glfs"], InvalidValue),
    ("method", np.array(["glfs"]), InvalidValue),
    ("objective", "exakt", InvalidValue),
    ("objective", 1, InvalidValue),
    ("objective", "mse", InvalidValue),
    ("preserve", "nope", NotFound),
    ("preserve", "", NotFound),
    ("preserve", 3, InvalidType),
    ("preserve", None, InvalidType),
    ("preserve", {}, InvalidValue),
    ("preserve", [], InvalidValue),
    ("preserve", [3], InvalidType),
    ("preserve", ["CD3D", "CD3X"], NotFound),
    ("preserve", {"structure": -1}, InvalidValue),
    ("preserve", {"structure": "much"}, InvalidType),
    ("preserve", {("CD3D",): 1}, InvalidType),
    ("preserve", "constant", InvalidValue),
    ("preserve", "infinite", InvalidValue),
    ("preserve", "whole", InvalidType),
    ("preserve", "one", InvalidValue),
    ("preserve", "unknown", InvalidValue),
    ("preserve", "both", InvalidValue),
    ("cell_weights", "nope", NotFound),
    ("cell_weights", 5, InvalidType),
    ("cell_weights", "infinite", InvalidValue),
    ("cell_weights", "negative", InvalidValue),
    ("cell_weights", "whole", InvalidType),
    ("cell_weights", "none", InvalidType),
    ("n_comps", 0, InvalidValue),
    ("n_comps", 5.5, InvalidType),
    ("n_comps", "auto", InvalidType),
    ("use_rep", "nope", NotFound),
    ("use_rep", 5, InvalidType),
    ("use_rep", ["X_pca"], InvalidType),
    ("use_rep", "", InvalidValue),
    ("neighbors_key", "nope", NotFound),
    ("neighbors_key", 5, InvalidType),
    ("layer", "nope", NotFound),
    ("layer", 5, InvalidType),
    ("layer", ["a"], InvalidType),
    ("use_raw", True, InvalidValue),
    ("use_raw", "yes", InvalidType),
    ("include", ["nope"], NotFound),
    ("include", 5, InvalidType),
    ("include", [5], InvalidType),
    ("include", [None], InvalidType),
    ("include", [["CD3D"]], InvalidType),
    ("exclude", "nope", NotFound),
    ("exclude", 1.5, InvalidType),
    ("exclude", re.compile("^nope$"), InvalidValue),
    ("exclude", re.compile(""), InvalidValue),
    ("exclude", "tcrr", NotFound),
    ("exclude", "ribosmal", NotFound),
    ("exclude", "^MT-", NotFound),
    ("ignore", "nope", NotFound),
    ("ignore", 1.5, InvalidType),
    ("ignore", re.compile(""), InvalidValue),
    ("include", ["CD8a", "x", "CD3D"], NotFound),
    ("limits", {"min_mean": 1}, InvalidType),
    ("platform", 0.1, InvalidType),
    ("key_added", "neighbors", InvalidValue),
    ("symbols", "nope", NotFound),
    ("symbols", 5, InvalidType),
    ("missing", "drop", InvalidValue),
    ("missing", None, InvalidValue),
    ("missing", True, InvalidValue),
    ("batch_key", "nope", NotFound),
    ("batch_key", ["phase"], InvalidType),
    ("across", "best", InvalidValue),
    ("across", "worst", InvalidValue),
    ("search", "greedy", InvalidValue),
    ("time_limit", 0, InvalidValue),
    ("time_limit", "x", InvalidType),
    ("key_added", 5, InvalidType),
    ("key_added", None, InvalidType),
    ("key_added", "", InvalidValue),
    ("key_added", "a/b", InvalidValue),
    ("as_highly_variable", "no", InvalidType),
    ("subset", "no", InvalidType),
    ("inplace", 1, InvalidType),
    ("random_state", -1, InvalidValue),
    ("random_state", 2**32, InvalidValue),
    ("random_state", 1.5, InvalidType),
    ("random_state", "lucky", InvalidType),
    ("random_state", True, InvalidType),
]


@pytest.mark.parametrize(("argument", "value", "kind"), PARAMETERS)
def test_parameter(pbmc, refuses, argument, value, kind):
    if argument in {"preserve", "cell_weights"}:
        columns = {"constant": 0.5, "infinite": np.inf, "whole": 3, "one": "a", "negative": -0.5}
        pbmc.obs = pbmc.obs.assign(**columns, unknown=np.nan, none=0.0, both=1.0)
        pbmc.obsm["both"] = np.ones((700, 1))
    refuses(lambda: select_genes(pbmc, **{argument: value}), pbmc, kind, argument)


def test_every_argument_has_a_row():
    assert {row[0] for row in PARAMETERS} == {*inspect.signature(select_genes).parameters} - {
        "adata"
    }


#: options that do not go together: these, kind of refusal, argument
COMBINATIONS = [
    ({"include": ["CD3D"], "exclude": ["CD3D"]}, InvalidValue, "include"),
    ({"include": ["CD3D", "CD79A"], "n_genes": 1}, InvalidValue, "include"),
    ({"include": ["x"], "exclude": "y"}, NotFound, "include"),
    ({"method": "lapaofs", "n_genes": 5, "objective": "exact"}, InvalidValue, "objective"),
    ({"objective": "exact", "preserve": "phase"}, InvalidValue, "preserve"),
    ({"method": "variance"}, InvalidValue, "n_genes"),
    ({"objective": Exact(lam=1e12)}, InvalidValue, "lam"),
    ({"objective": Printed(lam=1e-300)}, InvalidValue, "lam"),
    ({"finish": "greedy"}, TypeError, None),
    ({"n_genes": 5, "solver": "owlqn"}, TypeError, None),
    ({"batch_key": "phase", "neighbors_key": "neighbors"}, InvalidValue, "neighbors_key"),
]


@pytest.mark.parametrize(("value", "kind", "argument"), COMBINATIONS)
def test_combination(pbmc, refuses, value, kind, argument):
    refuses(lambda: select_genes(pbmc, **value), pbmc, kind, argument)


def put_x(change):
    def spoil(adata):
        adata.X = change(adata.X.toarray())

    spoil.__name__ = "matrix"
    return spoil


def put_entry(value):
    def spoil(adata):
        adata.X.data[7] = value

    spoil.__name__ = f"sparse {value}"
    return spoil


def put_graph(change):
    def spoil(adata):
        adata.obsp["connectivities"] = change(adata.obsp["connectivities"].copy())

    spoil.__name__ = "graph"
    return spoil


def put_rep(change):
    def spoil(adata):
        adata.obsm["X_pca"] = change(adata.obsm["X_pca"].copy())

    spoil.__name__ = "representation"
    return spoil


def put(where, key, value):
    def spoil(adata):
        getattr(adata, where)[key] = value(adata) if callable(value) else value

    spoil.__name__ = f"{where}_{key}"
    return spoil


def with_nan(array):
    array[3, 1] = np.nan
    return array


def half_asymmetric(graph):
    graph = graph.tolil()
    i, j = graph.nonzero()
    graph[i[0], j[0]] = 2.0
    return graph.tocsr()


def no_graph(adata):
    del adata.obsp["connectivities"]


def twice(adata):
    adata.var_names = ["A", "A", *adata.var_names[2:]]


def without_x(adata):
    adata.X = None


GRAPH = {"neighbors_key": "neighbors"}
#: argument that is refused, what spoils it, kind of refusal, options
DATA = [
    ("X", put_x(with_nan), InvalidValue, {}),
    ("X", put_entry(np.nan), InvalidValue, {}),
    ("X", put_entry(np.inf), InvalidValue, {}),
    ("X", put_entry(-np.inf), InvalidValue, {}),
    ("X", without_x, InvalidValue, {}),
    ("X", put_x(lambda x: np.full(x.shape, "x")), InvalidType, {}),
    ("X", put_x(lambda x: x.astype(object)), InvalidType, {}),
    ("X", put_x(lambda x: x + 1j), InvalidType, {}),
    ("X", put_x(lambda x: x.astype("datetime64[s]")), InvalidType, {}),
    ("X", put_x(lambda x: np.ma.masked_equal(x, 0)), InvalidType, {}),
    ("X", put_x(np.ones_like), InvalidValue, {}),
    ("X", put_x(np.zeros_like), InvalidValue, {}),
    ("layer", put("layers", "l", lambda a: with_nan(a.X.toarray())), InvalidValue, {"layer": "l"}),
    ("use_rep", put_rep(with_nan), InvalidValue, {"use_rep": "X_pca"}),
    ("use_rep", put_rep(np.ones_like), InvalidValue, {"use_rep": "X_pca"}),
    ("use_rep", put_rep(lambda x: x + 1j), InvalidType, {"use_rep": "X_pca"}),
    ("use_rep", put_rep(lambda x: x.astype(str).astype(object)[:, :1]), InvalidType,
     {"use_rep": "names"}),
    ("use_rep", put("obsm", "X_3", lambda a: np.ones((700, 3, 2))), InvalidValue,
     {"use_rep": "X_3"}),
    ("use_rep", put("obsm", "X_t", lambda a: pd.DataFrame({"a": ["x"] * 700}, index=a.obs_names)),
     InvalidType, {"use_rep": "X_t"}),
    ("neighbors_key", put_graph(lambda g: -g), InvalidValue, GRAPH),
    ("neighbors_key", put_graph(lambda g: g * np.nan), InvalidValue, GRAPH),
    ("neighbors_key", put_graph(lambda g: g * np.inf), InvalidValue, GRAPH),
    ("neighbors_key", put_graph(lambda g: sparse.csr_matrix(sparse.triu(g))), InvalidValue, GRAPH),
    ("neighbors_key", put_graph(half_asymmetric), InvalidValue, GRAPH),
    ("neighbors_key", put_graph(lambda g: g * 0), InvalidValue, GRAPH),
    ("neighbors_key", put_graph(lambda g: sparse.eye(700, format="csr")), InvalidValue, GRAPH),
    ("neighbors_key", put_graph(lambda g: g * 1j), InvalidType, GRAPH),
    ("neighbors_key", no_graph, NotFound, GRAPH),
    ("neighbors_key", put("uns", "neighbors", "old"), InvalidType, GRAPH),
    ("neighbors_key", put("uns", "neighbors", {"connectivities_key": "x"}), NotFound, GRAPH),
    ("adata", twice, InvalidValue, {}),
    ("batch_key", put("obs", "b", np.repeat(np.arange(350), 2)), InvalidValue,
     {"batch_key": "b"}),
    ("batch_key", put("obs", "b", [None] + ["y"] * 699), InvalidValue,
     {"batch_key": "b"}),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:Changing the sparsity", "ignore:Variable names are not")
@pytest.mark.parametrize(("argument", "value", "kind", "options"), DATA)
def test_data(pbmc, refuses, argument, value, kind, options):
    if options.get("use_rep") == "names":
        pbmc.obsm["names"] = np.array([["x"]] * 700, dtype=object)
    else:
        value(pbmc)
    refuses(lambda: select_genes(pbmc, **options), pbmc, kind, argument)


def test_constant_genes_in_one_batch(pbmc, refuses):
    dense = pbmc.X.toarray()
    dense[:5] = 0
    pbmc.X = dense
    pbmc.obs["b"] = ["x"] * 5 + ["y"] * 695
    refuses(
        lambda: select_genes(pbmc, batch_key="b"),
        pbmc,
        InvalidValue,
        "X",
    )


#: object, kind of refusal, argument
OBJECTS = [
    (lambda a: a.X, InvalidType, "adata"),
    (lambda a: a.to_df(), InvalidType, "adata"),
    (lambda a: "cells.h5ad", InvalidType, "adata"),
    (lambda a: None, InvalidType, "adata"),
    (lambda a: ad.AnnData(a.X[:2]), InvalidValue, "X"),
    (lambda a: a[:0].copy(), InvalidValue, "X"),
    (lambda a: a[:, :0].copy(), InvalidValue, "X"),
    (lambda a: a[:, :1].copy(), InvalidValue, "X"),
]


@pytest.mark.parametrize(("value", "kind", "argument"), OBJECTS)
def test_object(pbmc, refuses, value, kind, argument):
    given = value(pbmc)
    refuses(lambda: select_genes(given), given, kind, argument)


def test_a_graph_of_other_cells(pbmc, refuses):
    other = ad.AnnData(pbmc.X, obs=pbmc.obs, var=pbmc.var, uns=dict(pbmc.uns))
    other.obsp["connectivities"] = sparse.csr_matrix((700, 700))
    refuses(
        lambda: select_genes(other, 5, **GRAPH),
        other,
        InvalidValue,
        "neighbors_key",
    )


@pytest.mark.parametrize("dtype", ["int8", "int16", "uint8", "int64"])
def test_counts_are_warned_about_and_do_not_overflow(pbmc, dtype):
    counts = np.round(20 * pbmc.X.toarray() / pbmc.X.max() * 6)
    pbmc.X = counts
    with pytest.warns(Caution):
        expected = select_genes(pbmc, 10, inplace=False)
    pbmc.X = counts.astype(dtype)
    with pytest.warns(Caution):
        found = select_genes(pbmc, 10, inplace=False)
    pd.testing.assert_frame_equal(found, expected)


def test_a_failing_call_leaves_a_view_a_view(pbmc, refuses):
    view = pbmc[:, 10:]
    refuses(lambda: select_genes(view, 0), view, InvalidValue, "n_genes")
    assert view.is_view


def test_a_view_is_given_the_result_and_its_parent_is_not(pbmc):
    expected = select_genes(pbmc[::2].copy(), 5, inplace=False)
    view = pbmc[::2]
    with warnings.catch_warnings():  # anndata's, whoever writes to a view
        warnings.simplefilter("ignore", ad.ImplicitModificationWarning)
        select_genes(view, 5)
    pd.testing.assert_frame_equal(view.var[expected.columns], expected)
    assert not any(name.startswith("glfs") for name in pbmc.var)
    assert "glfs" not in pbmc.uns


class OnGpu:
    """What an array of CuPy looks like where there is none: it cannot become a NumPy array."""

    __module__ = "cupy"
    shape, dtype, ndim = (700, 765), np.dtype("float32"), 2

    def __getitem__(self, rows):
        return self

    def __array__(self, *args, **kwargs):
        msg = "Implicit conversion to a NumPy array is not allowed."
        raise TypeError(msg)


@pytest.mark.parametrize("blocks", [False, True])
def test_a_matrix_on_a_gpu(pbmc, blocks, monkeypatch):
    matrix = OnGpu()
    if blocks:
        matrix = pytest.importorskip("dask.array").zeros((700, 765), chunks=(100, -1))
        matrix._meta = OnGpu()
    before = pbmc.var.copy()
    monkeypatch.setattr(ad.AnnData, "X", property(lambda _: matrix))
    with refused(InvalidType, "X"):
        select_genes(pbmc, 5)
    assert pbmc.var.equals(before)
    assert "glfs" not in pbmc.uns


def test_a_matrix_on_a_gpu_that_is_there(pbmc):
    cupy = pytest.importorskip("cupy")
    if not cupy.is_available():
        pytest.skip("no GPU")
    pbmc.X = cupy.asarray(pbmc.X.toarray())
    with refused(InvalidType, "X"):
        select_genes(pbmc, 5)
