from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from refusals import refused
from scipy import sparse

from glfs_bio import rbridge
from glfs_bio.errors import InvalidValue


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
    for name in ("uns['colours']", "varm['loadings']", "obsp['fine_", "raw", "obs['when']"):
        assert name in str(caught[0].message)
    del adata.obs["when"], adata.obsp["fine_connectivities"]
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
        assert name in str(caught[0].message)
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
    with pytest.raises(RRuntimeError, match='assay "a"'):
        rbridge.from_sce(
            ri.evalr("SummarizedExperiment::SummarizedExperiment(list(a = matrix(NA_real_)))")
        )
