"""Datasets that are downloaded."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pooch
import pytest

from glfs_bio import datasets, tl
from glfs_bio.datasets import golub


@pytest.fixture
def data(real, data_folder, monkeypatch):
    real("golub72")  # a test is skipped without it
    monkeypatch.setenv("GLFS_BIO_DATA", str(data_folder))
    return data_folder


@pytest.fixture
def small(tmp_path):
    """Two files as published, but with three probe sets."""
    head = "Gene Description,Gene Accession Number"
    files = []
    for numbers in ([1, 34, 28], [39, 72, 50]):
        columns = "".join(f",{number},call" for number in numbers)
        rows = []
        for i, gene in enumerate("abc"):
            values = "".join(f",{100 * number + i},{'PMA'[i]}" for number in numbers)
            rows.append(f"some {gene},{gene}_at{values}")
        file = tmp_path / f"{numbers[0]}.csv"
        file.write_text("\n".join([head + columns, *rows]) + "\n", newline="\r\n")
        files.append(file)
    return files


def test_samples_are_put_in_order(small):
    adata = datasets._assembled(small)
    assert list(adata.obs_names) == ["S1", "S28", "S34", "S39", "S50", "S72"]
    np.testing.assert_array_equal(adata.X[:, 1], 100.0 * adata.obs["sample"] + 1.0)
    np.testing.assert_array_equal(adata.layers["call"], np.tile([2, 1, 0], (6, 1)))
    assert list(adata.obs["label"]) == ["ALL", "AML", "AML", "ALL", "AML", "ALL"]
    assert list(adata.obs["split"]) == ["train"] * 3 + ["test"] * 3
    assert list(adata.var["description"]) == ["some a", "some b", "some c"]


def test_the_published_data(data, tmp_path):
    adata = golub()
    assert adata.shape == (72, 7129)
    table = pd.crosstab(adata.obs["split"], adata.obs["label"])
    assert table.loc["train"].to_dict() == {"ALL": 27, "AML": 11}
    assert table.loc["test"].to_dict() == {"ALL": 20, "AML": 14}
    assert (adata.X.min(), adata.X.max()) == (-28400.0, 71369.0)
    assert adata.var.loc["X95735_at", "description"] == "Zyxin"
    assert adata.var_names.is_unique
    adata.write_h5ad(tmp_path / "golub.h5ad")


def test_the_csv_files_give_the_same(data, monkeypatch):
    expected = golub()
    monkeypatch.delenv("GLFS_BIO_DATA")
    monkeypatch.setattr(datasets, "_download", (data / "raw").joinpath)
    adata = golub()
    np.testing.assert_array_equal(adata.X, expected.X)
    np.testing.assert_array_equal(adata.layers["call"], expected.layers["call"])
    pd.testing.assert_frame_equal(adata.obs, expected.obs, check_dtype=False)
    pd.testing.assert_frame_equal(adata.var, expected.var)


def test_files_that_are_missing_are_downloaded_and_checked(monkeypatch, tmp_path, small):
    asked = []

    def retrieve(url, known_hash, fname, path):
        asked.append((url, known_hash, fname))
        return str(small["independent" in fname])

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    monkeypatch.delenv("GLFS_BIO_DATA", raising=False)
    assert golub().n_obs == 6
    monkeypatch.setenv("GLFS_BIO_DATA", str(tmp_path / "empty"))
    assert golub().n_obs == 6
    assert [name for *_, name in asked] == 2 * list(datasets._FILES)
    for url, sha256, name in asked:
        assert url.endswith(f"/{name}")
        assert len(sha256) == 64


def test_blood_is_a_reference_without_cells():
    """Real panels are judged, and chosen, by it."""
    reference = datasets.blood()
    assert reference.n_obs == 0
    sizes = reference.uns["glfs_structure"]["moments"]["sizes"]
    assert sizes[0] == 2638
    assert sizes[1:].min() >= 10
    panel = ["CD3D", "CD79A", "NKG7", "LYZ", "PPBP"]
    table = tl.explain_panel(reference, panel, "type", inplace=False)
    assert list(table["role"][1:4]) == [
        "marker of B cells",
        "marker of NK cells",
        "separates CD4 T cells from CD14+ Monocytes",
    ]
    assert table["preserved"].iloc[-1] > 0.3
