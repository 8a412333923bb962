"""Values and objects through R and back: what arrives is what was sent."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from refusals import refused
from scipy import sparse

from glfs_bio import rbridge
from glfs_bio.errors import InvalidValue
from glfs_bio.labels import coded
from glfs_bio.rbridge import values

TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)


def called(ri, function, value):
    """Call a function of R on a value of Python, as R has it."""
    plain = rbridge._for_rpy2(*values.packed(value))
    return ri.evalr(f"function(plain) ({function})(glfsbio:::unpacked(plain))")(plain)


def read(ri, code):
    """Return a plain value of R as Python has it."""
    plain = f"glfsbio:::packed(glfsbio:::plain_argument({code}))"
    return values.read(*rbridge._from_rpy2(ri.evalr(plain)))


def through(ri, value):
    """Made an R object, and a value of Python again."""
    called(ri, "function(x) there <<- x", value)
    return read(ri, "glfsbio:::plain_table(there, rownames(there))")


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(
        st.tuples(
            st.floats(allow_nan=False),
            st.none() | st.integers(-(2**31) + 1, 2**31 - 1),
            st.none() | st.booleans(),
            st.none() | TEXT,
            st.none() | st.sampled_from(["low", "é", "high"]),
        ),
        min_size=1,
        max_size=12,
    )
)
def test_columns(ri, rows):
    table = pd.DataFrame(rows, columns=["float", "whole", "logical", "text", "level"])
    table["whole"] = table["whole"].astype("Int64")
    table["logical"] = table["logical"].astype("boolean")
    table["text"] = table["text"].astype(object)
    table["level"] = pd.Categorical(table["level"], ["low", "é", "high"], ordered=True)
    back = through(ri, table)
    assert list(back["float"]) == list(table["float"])
    for name in ("whole", "logical", "text", "level"):
        pd.testing.assert_series_equal(
            back[name].isna(), table[name].isna(), check_index=False, check_names=False
        )
        assert list(back[name].dropna()) == list(table[name].dropna())
    assert back["level"].cat.ordered
    assert list(back["level"].cat.categories) == ["low", "é", "high"]


def test_tables_at_the_edges(ri):
    """Without rows or columns; of more levels than a byte holds, and more than integers hold."""
    for table in (pd.DataFrame({"a": [1.5]})[:0], pd.DataFrame(index=["x", "y"])):
        back = through(ri, table)
        assert back.shape == table.shape
        assert list(back.columns) == list(table.columns)
    table = pd.DataFrame({"level": pd.Categorical([f"l{i:03}" for i in range(300)])})
    assert list(through(ri, table)["level"]) == list(table["level"])
    table = pd.DataFrame({"large": [2**40, -(2**31)]})
    assert list(through(ri, table)["large"]) == [2.0**40, -(2.0**31)]
    code = """function(x)
        is.na(x$x[2]) && !is.nan(x$x[2]) && is.null(rownames(x)) && nrow(x) == 2
    """
    assert called(ri, code, pd.DataFrame({"x": [1.0, np.nan]}))[0]


def test_a_record_keeps_its_nesting(ri):
    """As ``.uns`` has it: dictionaries in dictionaries, flags, and shares that are not known."""
    record = {
        "reused": {"representation": True, "graph": np.bool_(False)},
        "optimality": np.array([np.nan, 0.5, 1.0]),
        "curve": {"n_genes": np.arange(1, 3), "preserved": np.array([0.25, 0.5])},
        "n_genes": np.int64(3),
        "assay_noise": np.nan,
        "params": {"include": np.array(["A", "B"], dtype=object), "none": {}},
    }
    expected = """list(
        reused = list(representation = TRUE, graph = FALSE),
        optimality = c(NA, 0.5, 1),
        curve = list(n_genes = 1:2, preserved = c(0.25, 0.5)),
        n_genes = 3L,
        assay_noise = NA_real_,
        params = list(include = c("A", "B"), none = stats::setNames(list(), character()))
    )"""
    same = f"function(x) identical(x, {expected}, single.NA = FALSE)"
    assert called(ri, same, record)[0]


def test_numbers_by_name_are_a_dict(ri):
    code = "glfsbio:::plain_argument({}, '{}')"
    assert read(ri, code.format("c(A = 1, B = 2.5)", "cost")) == {"A": 1, "B": 2.5}
    assert read(ri, code.format("c(A = 2)", "n_genes")) == 2
    groups = read(ri, code.format("list(a = 'A', b = c('B', 'C'))", "groups"))
    assert {name: list(genes) for name, genes in groups.items()} == {"a": ["A"], "b": ["B", "C"]}
    assert read(ri, "list(sizes = 2)")["sizes"].tolist() == [2]


def test_matrices(ri):
    matrix = np.arange(12.0).reshape(3, 4) * (np.arange(12).reshape(3, 4) % 3 > 0)
    for kind in (np.asarray, sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        called(ri, "function(x) there <<- x", kind(matrix))
        back = read(ri, "glfsbio:::plain_matrix(there, 'x')")
        assert sparse.issparse(back) == (kind is not np.asarray)
        np.testing.assert_array_equal(back.toarray() if sparse.issparse(back) else back, matrix)


def test_what_has_no_plain_form():
    for value in ([1 + 2j], pd.to_datetime(["2020-01-01"]), ["a", 1]):
        with pytest.raises(TypeError, match="no plain form in R"):
            values.packed(pd.Series(value))


@pytest.mark.parametrize(
    ("vector", "names"),
    [
        ("c(0L, 1L, NA, 0L)", ["0", "1"]),
        ("c(0, 1, NA, 0)", ["0", "1"]),
        ("c(0L, 1L, -1L, 0L)", ["0", "1"]),
        ("c(FALSE, TRUE, NA, FALSE)", ["False", "True"]),
        ("c('0', '1', NA, '0')", ["0", "1"]),
        ("factor(c('0', '1', NA, '0'))", ["0", "1"]),
    ],
)
def test_labels_of_r_mean_the_same(ri, vector, names):
    table = read(ri, f"glfsbio:::plain_table(S4Vectors::DataFrame(x = {vector}))")
    found, _ = coded(table["x"])
    assert found.codes.tolist() == [0, 1, -1, 0]
    assert found.names == names


@pytest.fixture
def adata():
    rng = np.random.default_rng(0)
    adata = ad.AnnData(
        rng.poisson(1.0, size=(6, 4)).astype(np.float32),
        obs=pd.DataFrame(
            {
                "level": pd.Categorical(
                    ["lo", "hi", None, "lo", "hi", "lo"], ["lo", "hi", "top"], ordered=True
                ),
                "count": pd.array([1, None, 3, 4, 5, 6], dtype="Int64"),
                "known": pd.array([True, None, False, True, True, True], dtype="boolean"),
                "name": ["a", None, "c", "d", "e", "f"],
            },
            index=[f"c{i}" for i in range(6)],
        ),
        var=pd.DataFrame({"length": [1.5, np.nan, 3.0, 4.0]}, index=["A", "B", "C", "D"]),
    )
    adata.layers["halves"] = adata.X / 2
    adata.obsm["X_pca"] = rng.normal(size=(6, 2))
    adata.obsm["other"] = rng.normal(size=(6, 3))
    for name in ("connectivities", "fine_connectivities", "distances"):
        adata.obsp[name] = sparse.random_array((6, 6), density=0.3, rng=rng, format="csr")
    for key, name in (("neighbors", "connectivities"), ("fine", "fine_connectivities")):
        adata.uns[key] = {"connectivities_key": name}
    return adata


def assert_same(back, adata):
    assert list(back.obs_names) == list(adata.obs_names)
    assert list(back.var_names) == list(adata.var_names)
    np.testing.assert_array_equal(dense(back.X), dense(adata.X))
    np.testing.assert_array_equal(dense(back.layers["halves"]), dense(adata.layers["halves"]))
    for key in ("X_pca", "other"):
        np.testing.assert_array_equal(back.obsm[key], adata.obsm[key])
    assert set(back.obsp) == set(adata.obsp)
    for key in adata.obsp:
        np.testing.assert_array_equal(back.obsp[key].toarray(), adata.obsp[key].toarray())
    for name in adata.obs:
        assert list(back.obs[name].isna()) == list(adata.obs[name].isna())
        assert list(back.obs[name].dropna()) == list(adata.obs[name].dropna())
    pd.testing.assert_series_equal(back.obs["level"], adata.obs["level"])
    pd.testing.assert_frame_equal(back.var, adata.var, check_index_type=False)


def dense(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else matrix


def test_there_and_back(ri, adata, container):
    adata.X = container(adata.X)
    adata.layers["halves"] = container(adata.layers["halves"])
    sce = rbridge.to_sce(adata, X_name="counts")
    ri.globalenv["sce"] = sce
    assert list(ri.evalr("SummarizedExperiment::assayNames(sce)")) == ["counts", "halves"]
    assert list(ri.evalr("SingleCellExperiment::reducedDimNames(sce)")) == ["PCA", "other"]
    back = rbridge.from_sce(sce, X_name="counts")
    assert sparse.issparse(back.X) == sparse.issparse(adata.X)
    assert back.uns == adata.uns
    assert_same(back, adata)


def test_a_file_is_read_in_r(ri, adata, tmp_path):
    del adata.obs["name"], adata.uns["fine"], adata.obsp["fine_connectivities"]
    adata.write_h5ad(tmp_path / "cells.h5ad")
    file = f"'{tmp_path / 'cells.h5ad'}'"
    sce = ri.evalr(f"suppressMessages(glfsbio::glfs_read_h5ad({file}, X_name = 'counts'))")
    assert_same(rbridge.from_sce(sce, X_name="counts"), adata)


def test_what_is_not_carried_to_r_is_named(ri, adata):
    adata.uns["colours"] = ["red"]
    adata.varm["loadings"] = np.ones((4, 2))
    del adata.uns["fine"]  # names a graph no more
    adata.raw = adata
    adata.obs["when"] = pd.Timestamp("2020-01-01")
    with pytest.warns(UserWarning, match="Not carried to R") as caught:
        sce = rbridge.to_sce(adata)
    for name in ("uns['colours']", "varm['loadings']", "raw", "obs['when']"):
        assert name in str([one.message for one in caught])
    del adata.obs["when"]
    assert_same(rbridge.from_sce(sce), adata)


def test_what_is_not_carried_from_r_is_named(ri):
    sce = ri.evalr("""
        x <- SingleCellExperiment::SingleCellExperiment(
            list(a = matrix(1:6, 3, dimnames = list(LETTERS[1:3], NULL))),
            rowData = S4Vectors::DataFrame(run = S4Vectors::Rle(c(TRUE, TRUE, FALSE))))
        data <- SummarizedExperiment::rowData(x)
        data$inner <- S4Vectors::DataFrame(u = 1:3, v = c("x", NA, "z"))
        data$list <- list(1, 2, 3)
        data$when <- Sys.Date() + 0:2
        SummarizedExperiment::rowData(x) <- data
        SingleCellExperiment::altExp(x, "ADT") <- x[1, ]
        S4Vectors::metadata(x)$note <- "kept in R"
        x
    """)
    with pytest.warns(UserWarning, match="Not carried from R") as caught:
        adata = rbridge.from_sce(sce)
    for name in ("rowData list", "altExp ADT", "metadata note"):
        assert name in str([one.message for one in caught])
    assert list(adata.var.columns) == ["run", "inner.u", "inner.v", "when"]
    assert adata.var["when"].str.fullmatch(r"\d{4}-\d\d-\d\d").all()
    assert adata.var["run"].tolist() == [True, True, False]
    assert adata.var["inner.v"].isna().tolist() == [False, True, False]
    assert list(adata.obs_names) == ["0", "1"]
    np.testing.assert_array_equal(adata.X, [[1, 2, 3], [4, 5, 6]])


def test_errors(ri, adata):
    from rpy2.rinterface_lib.embedded import RRuntimeError

    with refused(InvalidValue, "X_name"):
        rbridge.to_sce(adata, X_name="halves")
    sce = rbridge.to_sce(adata)
    with pytest.raises(RRuntimeError, match=r"X_name .*X, halves"):
        rbridge.from_sce(sce, X_name="no")
    with pytest.raises(RRuntimeError, match="sce "):
        rbridge.from_sce(ri.evalr("1:3"))
    with pytest.raises(RRuntimeError, match="assay a"):
        rbridge.from_sce(
            ri.evalr("SummarizedExperiment::SummarizedExperiment(list(a = matrix(NA_real_)))")
        )
