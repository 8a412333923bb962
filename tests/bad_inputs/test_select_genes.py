"""Bad input to ``pp.select_genes``: what is refused, with which words, and nothing is changed."""

from __future__ import annotations

import inspect
import re
import warnings

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from glfs_bio.pp import select_genes

INT, NUMBER = "must be an integer ≥ 1", "must be a finite number"

#: argument, value, exception, words of the message
PARAMETERS = [
    ("n_genes", 0, ValueError, ("n_genes=0", INT)),
    ("n_genes", -3, ValueError, ("n_genes=-3", INT)),
    ("n_genes", 5.0, TypeError, ("n_genes=5.0", INT, "float")),
    ("n_genes", True, TypeError, ("n_genes=True", INT, "bool")),
    ("n_genes", "ten", TypeError, ("n_genes='ten'", INT)),
    ("n_genes", np.array([5]), TypeError, ("n_genes=array([5])", INT)),
    ("n_genes", 766, ValueError, "n_genes=766 is more than the 765 genes"),
    ("n_genes", 10**30, ValueError, "is more than the 765 genes"),
    ("method", "magic", ValueError, ("method='magic'", "'lapaofs'")),
    ("method", None, ValueError, "method=None is not known"),
    ("method", ["glfs"], ValueError, "method=['glfs'] is not known"),
    ("method", np.array(["glfs"]), ValueError, "method=array"),
    ("method", "variance", ValueError, ("n_genes=None", "'variance'")),
    ("objective", "exakt", ValueError, ("objective='exakt'", "'printed'")),
    ("objective", 1, ValueError, "objective=1 is not known"),
    ("preserve", "nope", KeyError, ("preserve='nope'", "bulk_labels", "X_pca", "a list")),
    ("preserve", "", KeyError, "preserve='' is neither"),
    ("preserve", 3, TypeError, "preserve=3 must be 'structure'"),
    ("preserve", None, TypeError, "preserve=None must be 'structure'"),
    ("preserve", {}, ValueError, "preserve is empty"),
    ("preserve", [], ValueError, "preserve is empty"),
    ("preserve", [3], TypeError, "preserve has 3: it must be a name"),
    ("preserve", ["CD3D", "CD3X"], KeyError, ("CD3X", "did you mean CD3")),
    ("preserve", {"structure": -1}, ValueError, "preserve['structure']=-1"),
    ("preserve", {"structure": "much"}, TypeError, "preserve['structure']='much'"),
    ("preserve", {("CD3D",): 1}, TypeError, "it must be a string. For genes"),
    ("preserve", "constant", ValueError, "preserve='constant' does not vary over the 700 cells"),
    ("preserve", "infinite", ValueError, "preserve='infinite' has infinite values"),
    ("preserve", "whole", TypeError, ("preserve='whole' holds whole numbers", "category")),
    ("preserve", "one", ValueError, "preserve='one' has 1 label"),
    ("preserve", "unknown", ValueError, "preserve='unknown' does not vary over the 0 cells"),
    ("preserve", "both", ValueError, "both in adata.obs and in adata.obsm"),
    ("cell_weights", "nope", KeyError, "cell_weights='nope' is not in adata.obs"),
    ("cell_weights", 5, TypeError, "cell_weights=5 must be a string"),
    ("cell_weights", "infinite", ValueError, "cell_weights='infinite' must hold finite numbers"),
    ("cell_weights", "negative", ValueError, "cell_weights='negative' must hold finite"),
    ("cell_weights", "none", ValueError, "cell_weights='none' must hold finite numbers"),
    ("lam", "search", ValueError, ("lam='search'", "'line_search'")),
    ("lam", 0, ValueError, ("lam=0", NUMBER)),
    ("lam", -1.0, ValueError, ("lam=-1.0", NUMBER)),
    ("lam", np.nan, ValueError, ("lam=nan", NUMBER)),
    ("lam", np.inf, ValueError, ("lam=inf", NUMBER)),
    ("lam", True, TypeError, ("lam=True", NUMBER)),
    ("lam", [1.0], TypeError, ("lam=[1.0]", NUMBER)),
    ("lam", 10**400, ValueError, NUMBER),
    ("lam", 1.0, ValueError, "lam=1.0"),
    ("lam", "line_search", ValueError, "lam='line_search'"),
    ("lambda1", -1, ValueError, ("lambda1=-1", NUMBER)),
    ("lambda1", np.nan, ValueError, ("lambda1=nan", NUMBER)),
    ("lambda1", np.inf, ValueError, ("lambda1=inf", NUMBER)),
    ("lambda1", "much", TypeError, ("lambda1='much'", NUMBER)),
    ("lambda1", 1j, TypeError, ("lambda1=1j", NUMBER)),
    ("lambda1", None, TypeError, ("lambda1=None", NUMBER)),
    ("standardize", "z", ValueError, ("standardize='z'", "'noise'")),
    ("standardize", True, ValueError, "standardize=True is not known"),
    ("n_comps", 0, ValueError, ("n_comps=0", INT)),
    ("n_comps", 5.5, TypeError, ("n_comps=5.5", INT)),
    ("n_comps", "auto", TypeError, ("n_comps='auto'", INT)),
    ("use_rep", "nope", KeyError, ("use_rep='nope'", "X_pca")),
    ("use_rep", 5, TypeError, "use_rep=5 must be a string"),
    ("use_rep", ["X_pca"], TypeError, "use_rep=['X_pca'] must be a string"),
    ("use_rep", "", ValueError, "use_rep='' must be a string that is not empty"),
    ("neighbors_key", "nope", KeyError, ("neighbors_key='nope'", "sc.pp.neighbors")),
    ("neighbors_key", 5, TypeError, "neighbors_key=5 must be a string"),
    ("n_neighbors", 0, ValueError, ("n_neighbors=0", INT)),
    ("n_neighbors", 2.5, TypeError, ("n_neighbors=2.5", INT)),
    ("layer", "nope", KeyError, "layer='nope' is not in adata.layers"),
    ("layer", 5, TypeError, "layer=5 must be a string"),
    ("layer", ["a"], TypeError, "layer=['a'] must be a string"),
    ("mask_var", "nope", KeyError, "mask_var='nope' is not a column"),
    ("mask_var", 5, ValueError, "mask_var must be boolean with 765 entries"),
    ("mask_var", [1, 2], ValueError, "mask_var must be boolean with 765 entries"),
    ("mask_var", np.ones(3, dtype=bool), ValueError, "mask_var must be boolean with 765 entries"),
    ("mask_var", np.zeros(765, dtype=bool), ValueError, "mask_var leaves nothing"),
    ("mask_var", np.arange(765) == 3, ValueError, "There is 1 gene"),
    ("include", ["nope"], KeyError, "include: 'nope' is neither"),
    ("include", 5, TypeError, "include=5 must be names"),
    ("include", [5], TypeError, "include has 5"),
    ("include", [None], TypeError, "include has None"),
    ("include", [["CD3D"]], TypeError, "include has ['CD3D']"),
    ("exclude", "nope", KeyError, "exclude: 'nope' is neither"),
    ("exclude", 1.5, TypeError, "exclude=1.5 must be names"),
    ("exclude", re.compile("^nope$"), ValueError, "matches none"),
    ("exclude", re.compile(""), ValueError, "exclude leaves no gene"),
    ("exclude", "tcr", ValueError, "exclude: no gene of the family 'tcr'"),
    ("exclude", "ribosmal", KeyError, "ribosmal: did you mean ribosomal?"),
    ("exclude", "^MT-", KeyError, "for a pattern pass re.compile(...)"),
    ("include", ["CD8a", "x", "CD3D"], KeyError, ("'CD8a', 'x' are", "CD8a: did you mean CD8A?")),
    ("limits", {"min_mean": 1}, TypeError, "limits is a dict: it must be a glfs_bio.Limits"),
    ("counts_layer", "x", ValueError, "counts_layer='x' changes nothing"),
    ("key_added", "neighbors", ValueError, "key_added='neighbors' is where scanpy keeps results"),
    ("cost", 1.0, ValueError, "cost= and budget= need each other"),
    ("budget", 1.0, ValueError, "cost= and budget= need each other"),
    ("failure", 2, ValueError, "failure is above 1"),
    ("failure", {"nope": 0.1}, KeyError, "failure names genes that are not"),
    ("symbols", "nope", KeyError, "symbols='nope' is not a column of adata.var"),
    ("symbols", 5, TypeError, "symbols=5 must be a string"),
    ("missing", "drop", ValueError, ("missing='drop'", "'raise', 'warn', 'ignore'")),
    ("missing", None, ValueError, "missing=None"),
    ("missing", True, ValueError, "missing=True"),
    ("batch_key", "nope", KeyError, ("batch_key='nope'", "bulk_labels")),
    ("batch_key", ["phase"], TypeError, "batch_key=['phase'] must be a string"),
    ("detection", "nope", KeyError, "detection='nope' is not a column of adata.var"),
    ("detection", 2.0, ValueError, "detection is above 1"),
    ("across", "best", ValueError, "across='best'"),
    ("across", "worst", ValueError, "compares batches"),
    ("structure_key", 5, TypeError, "structure_key=5 must be a string"),
    ("structure_key", "", ValueError, "structure_key=''"),
    ("structure_key", "neighbors", KeyError, "is not what glfs_bio.pp.structure writes"),
    ("key_added", 5, TypeError, "key_added=5 must be a string"),
    ("key_added", None, TypeError, "key_added=None must be a string"),
    ("key_added", "", ValueError, "key_added=''"),
    ("key_added", "a/b", ValueError, ("key_added='a/b'", "slash")),
    ("as_highly_variable", "no", TypeError, "as_highly_variable='no' must be True or False"),
    ("subset", "no", TypeError, "subset='no' must be True or False"),
    ("inplace", 1, TypeError, "inplace=1 must be True or False"),
    ("random_state", -1, ValueError, ("random_state=-1", "0 to 4294967295")),
    ("random_state", 2**32, ValueError, "random_state=4294967296"),
    ("random_state", 1.5, TypeError, ("random_state=1.5", "float")),
    ("random_state", "lucky", TypeError, "random_state='lucky'"),
    ("random_state", True, TypeError, "random_state=True"),
]


@pytest.mark.parametrize(("argument", "value", "error", "words"), PARAMETERS)
def test_parameter(pbmc, refuses, argument, value, error, words):
    if argument in {"preserve", "cell_weights"}:
        columns = {"constant": 1.0, "infinite": np.inf, "whole": 3, "one": "a", "negative": -1.0}
        pbmc.obs = pbmc.obs.assign(**columns, unknown=np.nan, none=0.0, both=1.0)
        pbmc.obsm["both"] = np.ones((700, 1))
    refuses(lambda: select_genes(pbmc, **{argument: value}), pbmc, error, words)


def test_every_argument_has_a_row():
    assert {row[0] for row in PARAMETERS} == {*inspect.signature(select_genes).parameters} - {
        "adata"
    }


#: options that do not go together
COMBINATIONS = [
    ({"include": ["CD3D"], "exclude": ["CD3D"]}, ValueError, "rule out: CD3D"),
    ({"include": ["CD3D", "CD79A"], "n_genes": 1}, ValueError, "include has 2 genes, more than"),
    ({"include": ["x"], "exclude": "y"}, KeyError, ("include: 'x' is", "exclude: 'y' is")),
    ({"method": "variance", "n_genes": 5, "lam": 1.0}, ValueError, "lam=1.0"),
    ({"method": "lapaofs", "n_genes": 5, "objective": "exact"}, ValueError, "objective='exact'"),
    ({"objective": "exact", "preserve": "phase"}, ValueError, "preserve"),
    ({"mask_var": "few", "preserve": ["CD3D"]}, ValueError, "preserve has genes that mask_var"),
    ({"objective": "exact", "lam": 1e12}, ValueError, "leaves no gene"),
    ({"objective": "printed", "lam": 1e-300}, ValueError, "smaller than rounding"),
    ({"finish": "greedy"}, TypeError, "unexpected keyword argument 'finish'"),
    ({"n_genes": 5, "solver": "owlqn"}, TypeError, "unexpected keyword argument 'solver'"),
    ({"batch_key": "phase", "neighbors_key": "neighbors"}, ValueError, "cannot be combined"),
    ({"mask_var": "few", "include": ["CD3D"]}, ValueError, "rule out: CD3D"),
    ({"mask_var": "few", "n_genes": 9}, ValueError, "n_genes=9 is more than the 8 genes"),
]


@pytest.mark.parametrize(("value", "error", "words"), COMBINATIONS)
def test_combination(pbmc, refuses, value, error, words):
    pbmc.var["few"] = pbmc.var_names.isin(pbmc.var_names[:9].drop("CD3D", errors="ignore")[:8])
    refuses(lambda: select_genes(pbmc, **value), pbmc, error, words)


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


#: what is spoilt, how, exception, words of the message, options
DATA = [
    ("X", put_x(with_nan), ValueError, "adata.X has NaN or infinite values", {}),
    ("X", put_entry(np.nan), ValueError, "adata.X has NaN or infinite values", {}),
    ("X", put_entry(np.inf), ValueError, "adata.X has NaN or infinite values", {}),
    ("X", put_entry(-np.inf), ValueError, "adata.X has NaN or infinite values", {}),
    ("X", without_x, ValueError, "adata.X is None", {}),
    ("X", put_x(lambda x: np.full(x.shape, "x")), TypeError, "must hold real numbers", {}),
    ("X", put_x(lambda x: x.astype(object)), TypeError, "dtype object", {}),
    ("X", put_x(lambda x: x + 1j), TypeError, "dtype complex", {}),
    ("X", put_x(lambda x: x.astype("datetime64[s]")), TypeError, "dtype datetime64", {}),
    ("X", put_x(lambda x: np.ma.masked_equal(x, 0)), TypeError, "masked array", {}),
    ("X", put_x(np.ones_like), ValueError, "No gene varies over the cells", {}),
    ("X", put_x(np.zeros_like), ValueError, "No gene varies over the cells", {}),
    ("layer", put("layers", "l", lambda a: with_nan(a.X.toarray())), ValueError,
     "adata.layers['l'] has NaN", {"layer": "l"}),
    ("obsm", put_rep(with_nan), ValueError, "adata.obsm['X_pca'] has values", {}),
    ("obsm", put_rep(np.ones_like), ValueError, "is the same for all cells", {}),
    ("obsm", put_rep(lambda x: x + 1j), TypeError, "dtype complex", {}),
    ("obsm", put_rep(lambda x: x.astype(str).astype(object)[:, :1]), ValueError,
     "obsm", {"use_rep": "names"}),
    ("obsm", put("obsm", "X_3", lambda a: np.ones((700, 3, 2))), ValueError, "has shape",
     {"use_rep": "X_3"}),
    ("obsm", put("obsm", "X_t", lambda a: pd.DataFrame({"a": ["x"] * 700}, index=a.obs_names)),
     TypeError, "must hold real numbers", {"use_rep": "X_t"}),
    ("obsp", put_graph(lambda g: -g), ValueError, "has negative weights", {}),
    ("obsp", put_graph(lambda g: g * np.nan), ValueError, "not finite", {}),
    ("obsp", put_graph(lambda g: g * np.inf), ValueError, "not finite", {}),
    ("obsp", put_graph(lambda g: sparse.csr_matrix(sparse.triu(g))), ValueError,
     "is not symmetric", {}),
    ("obsp", put_graph(half_asymmetric), ValueError, "is not symmetric", {}),
    ("obsp", put_graph(lambda g: g * 0), ValueError, "has no edges", {}),
    ("obsp", put_graph(lambda g: sparse.eye(700, format="csr")), ValueError, "has no edges", {}),
    ("obsp", put_graph(lambda g: g * 1j), TypeError, "dtype complex", {}),
    ("obsp", no_graph, KeyError, "names obsp['connectivities'], which is missing", {}),
    ("uns", put("uns", "neighbors", "old"), TypeError, "adata.uns['neighbors'] is a str", {}),
    ("uns", put("uns", "neighbors", {"connectivities_key": "x"}), KeyError, "obsp['x']", {}),
    ("var_names", twice, ValueError, ("duplicates (A)", "make_unique"), {}),
    ("obs", put("obs", "b", np.repeat(np.arange(350), 2)), ValueError, "No batch has 3 cells",
     {"batch_key": "b"}),
    ("obs", put("obs", "b", [None] + ["y"] * 699), ValueError, "is missing for 1 cells",
     {"batch_key": "b"}),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:Changing the sparsity", "ignore:Variable names are not")
@pytest.mark.parametrize(("argument", "value", "error", "words", "options"), DATA)
def test_data(pbmc, refuses, argument, value, error, words, options):
    if options.get("use_rep") == "names":
        pbmc.obsm["names"] = np.array([["x"]] * 700, dtype=object)
        error, words = TypeError, "adata.obsm['names'] must hold real numbers"
    else:
        value(pbmc)
    refuses(lambda: select_genes(pbmc, **options), pbmc, error, words)


def test_constant_genes_in_one_batch(pbmc, refuses):
    dense = pbmc.X.toarray()
    dense[:5] = 0
    pbmc.X = dense
    pbmc.obs["b"] = ["x"] * 5 + ["y"] * 695
    refuses(
        lambda: select_genes(pbmc, batch_key="b"),
        pbmc,
        ValueError,
        "No gene varies over the cells of batch 'x'",
    )


#: object, exception, words
OBJECTS = [
    (lambda a: a.X, TypeError, "adata is a csr_matrix: it must be an AnnData"),
    (lambda a: a.to_df(), TypeError, "adata is a DataFrame"),
    (lambda a: "cells.h5ad", TypeError, "adata is a str"),
    (lambda a: None, TypeError, "adata is a NoneType"),
    (lambda a: ad.AnnData(a.X[:2]), ValueError, "There are 2 cells: at least 3"),
    (lambda a: a[:0].copy(), ValueError, "has shape (0, 765)"),
    (lambda a: a[:, :0].copy(), ValueError, "has shape (700, 0)"),
    (lambda a: a[:, :1].copy(), ValueError, "There is 1 gene"),
]


@pytest.mark.parametrize(("value", "error", "words"), OBJECTS)
def test_object(pbmc, refuses, value, error, words):
    given = value(pbmc)
    refuses(lambda: select_genes(given), given, error, words)


def test_a_graph_of_other_cells(pbmc, refuses):
    other = ad.AnnData(pbmc.X, obs=pbmc.obs, var=pbmc.var, uns=dict(pbmc.uns))
    other.obsp["connectivities"] = sparse.csr_matrix((700, 700))
    refuses(lambda: select_genes(other, 5), other, ValueError, "has no edges")


@pytest.mark.parametrize("dtype", ["int8", "int16", "uint8", "int64"])
def test_counts_are_warned_about_and_do_not_overflow(pbmc, dtype):
    counts = np.round(20 * pbmc.X.toarray() / pbmc.X.max() * 6)
    pbmc.X = counts
    with pytest.warns(UserWarning, match="like raw counts"):
        expected = select_genes(pbmc, 10, inplace=False)
    pbmc.X = counts.astype(dtype)
    with pytest.warns(UserWarning, match="like raw counts"):
        found = select_genes(pbmc, 10, inplace=False)
    pd.testing.assert_frame_equal(found, expected)


def test_a_failing_call_leaves_a_view_a_view(pbmc, refuses):
    view = pbmc[:, 10:]
    refuses(lambda: select_genes(view, 0), view, ValueError, "n_genes=0")
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
    with pytest.raises(TypeError, match=r"adata\.X holds a cupy OnGpu.*anndata_to_CPU\(adata\)"):
        select_genes(pbmc, 5)
    assert pbmc.var.equals(before)
    assert "glfs" not in pbmc.uns


def test_a_matrix_on_a_gpu_that_is_there(pbmc):
    cupy = pytest.importorskip("cupy")
    if not cupy.is_available():
        pytest.skip("no GPU")
    pbmc.X = cupy.asarray(pbmc.X.toarray())
    with pytest.raises(TypeError, match="holds a cupy ndarray, which is in the memory of a GPU"):
        select_genes(pbmc, 5)
