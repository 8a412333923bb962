"""Estimators of a matrix in a file or of a dask array, as of the same in memory."""

from __future__ import annotations

import anndata as ad
import dask.array as da
import h5py
import numpy as np
import pytest
from refusals import refused
from scipy import sparse

from glfs_bio import GLFS
from glfs_bio.data.matrix import RowMatrix
from glfs_bio.errors import InvalidValue
from glfs_bio.estimators import GLFSLapRLSClassifier, LapRLSClassifier, SupervisedGLFS

PLACES = ("csr", "csc", "dense", "dask")


@pytest.fixture(params=PLACES)
def held(request, pbmc, tmp_path):
    """The matrix outside memory, the same in memory, and labels."""
    X, y = pbmc.X[::3, ::3], pbmc.obs["bulk_labels"].astype(str).to_numpy()[::3]
    path = tmp_path / "x.h5ad"
    if request.param == "dask":
        return da.from_array(X.toarray(), chunks=(50, -1)), X.toarray(), y
    if request.param == "dense":
        with h5py.File(path, "w") as file:
            file["X"] = X.toarray()
        return h5py.File(path)["X"], X.toarray(), y
    form = {"csr": sparse.csr_matrix, "csc": sparse.csc_matrix}[request.param]
    ad.AnnData(form(X)).write_h5ad(path)
    return ad.read_h5ad(path, backed="r").X, form(X), y


MODELS = {
    "GLFS": GLFS(6),
    "labels": GLFS(4, preserve="labels"),
    "classes": SupervisedGLFS(3),
    "LapRLS": LapRLSClassifier(),
    "both": GLFSLapRLSClassifier([2, 4], cv=2, selector=GLFS(preserve="labels", n_comps=10)),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_it_is_fitted_as_in_memory(held, model):
    outside, X, y = held
    expected = {**vars(model.fit(X, y))}
    model.fit(outside, y)
    for name in {"ranking_", "genes_", "n_genes_", "cv_errors_"} & set(expected):
        np.testing.assert_array_equal(getattr(model, name), expected[name])
    if hasattr(model, "predict"):
        values = (model.decision_function(matrix) for matrix in (outside, X))
        np.testing.assert_allclose(*values, rtol=1e-5, atol=1e-8)
        assert (model.predict(outside) == model.predict(X)).all()
        with pytest.raises(ValueError, match="5 features"):
            model.predict(RowMatrix(outside, genes=np.arange(5)))


def test_more_pairs_than_have_room_are_refused(monkeypatch, held):
    monkeypatch.setattr("glfs_bio.laprls._MOST_PAIRS", 100)
    with refused(InvalidValue, "y"):
        SupervisedGLFS(2).fit(held[0], held[2])
