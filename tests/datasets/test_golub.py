import os
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pooch
import pytest
from refusals import refused

from glfs_bio.datasets import _golub, golub
from glfs_bio.errors import InvalidValue


@pytest.fixture
def data():
    folder = os.environ.get("GLFS_BIO_DATA")
    if folder is None or not (Path(folder) / "golub72.h5ad").exists():
        if os.environ.get("GLFS_BIO_REQUIRE_DATA"):
            pytest.fail("golub72.h5ad is not in GLFS_BIO_DATA")
        pytest.skip("golub72.h5ad is not in GLFS_BIO_DATA")
    return Path(folder)


@pytest.fixture
def raw_only(data, tmp_path, monkeypatch):
    shutil.copytree(data / "raw", tmp_path / "raw")
    monkeypatch.setenv("GLFS_BIO_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def small(tmp_path):
    """Two files as published, but with three probe sets."""
    head = "Gene Description,Gene Accession Number"
    files = []
    for numbers in ([1, 34, 28], [39, 72, 50]):
        columns = "".join(f",{number},call" for number in numbers)
        rows = [
            f"some {gene},{gene}_at"
            + "".join(f",{100 * number + i},{'PMA'[i]}" for number in numbers)
            for i, gene in enumerate("abc")
        ]
        file = tmp_path / f"{numbers[0]}.csv"
        file.write_text("\n".join([head + columns, *rows]) + "\n", newline="\r\n")
        files.append(file)
    return files


def test_samples_are_put_in_order(small):
    adata = _golub._assemble([_golub._parse(file) for file in small])
    assert list(adata.obs_names) == ["S1", "S28", "S34", "S39", "S50", "S72"]
    np.testing.assert_array_equal(adata.X[:, 1], 100.0 * adata.obs["sample"] + 1.0)
    np.testing.assert_array_equal(adata.layers["call"], np.tile([2, 1, 0], (6, 1)))
    assert list(adata.obs["label"]) == ["ALL", "AML", "AML", "ALL", "AML", "ALL"]
    assert list(adata.obs["split"]) == ["train"] * 3 + ["test"] * 3
    assert list(adata.var["description"]) == ["some a", "some b", "some c"]


def test_the_published_data(data):
    adata = golub()
    assert adata.shape == (72, 7129)
    table = pd.crosstab(adata.obs["split"], adata.obs["label"])
    assert table.loc["train"].to_dict() == {"ALL": 27, "AML": 11}
    assert table.loc["test"].to_dict() == {"ALL": 20, "AML": 14}
    assert (adata.X.min(), adata.X.max()) == (-28400.0, 71369.0)
    assert adata.var.loc["X95735_at", "description"] == "Zyxin"
    assert adata.var_names.is_unique


def test_the_csv_files_give_the_same(data, raw_only):
    found = golub()
    os.environ["GLFS_BIO_DATA"] = str(data)
    expected = golub()
    np.testing.assert_array_equal(found.X, expected.X)
    np.testing.assert_array_equal(found.layers["call"], expected.layers["call"])
    pd.testing.assert_frame_equal(found.obs, expected.obs, check_dtype=False)
    pd.testing.assert_frame_equal(found.var, expected.var)


def test_it_survives_a_file(data, tmp_path):
    golub().write_h5ad(tmp_path / "golub.h5ad")


def test_a_changed_file_is_refused(raw_only):
    file = raw_only / "raw" / "data_set_ALL_AML_train.csv"
    file.write_bytes(file.read_bytes()[:-2])
    with refused(InvalidValue, "GLFS_BIO_DATA"):
        golub()


@pytest.mark.parametrize("folder", [None, "empty"])
def test_files_that_are_missing_are_downloaded_and_checked(monkeypatch, tmp_path, small, folder):
    monkeypatch.delenv("GLFS_BIO_DATA", raising=False)
    if folder is not None:
        monkeypatch.setenv("GLFS_BIO_DATA", str(tmp_path / folder))
    asked = []

    def retrieve(url, known_hash, fname, path):
        asked.append((url, known_hash, fname))
        return str(small["independent" in fname])

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    assert golub().n_obs == 6
    assert [name for *_, name in asked] == list(_golub._FILES)
    for url, sha256, name in asked:
        assert url.endswith(f"c1adb976376075b2c5e38407e0f58529e7be8924/{name}")
        assert len(sha256) == 64
