from __future__ import annotations

import json

import anndata as ad
import numpy as np
import pytest
from refusals import refused

from glfs_bio.errors import FileExists, InvalidType, InvalidValue
from glfs_bio.io import read_classifier, write_classifier
from glfs_bio.tl import classify


@pytest.fixture
def classified(clusters):
    adata = ad.AnnData(clusters, obs={"group": np.repeat(["a", "b", "c"], 30)})
    classify(adata, "group", train=np.arange(90) % 2 == 0, n_genes=[2, 4], cv=3)
    return adata


def test_a_file_keeps_the_classifier_to_the_bit_and_no_cells(classified, tmp_path):
    path = tmp_path / "model.json"
    write_classifier(classified, path)
    back, model = read_classifier(path), classified.uns["glfs_class"]
    for part in ("genes", "classes", "coef", "intercept", "gene_means", "typical_margin"):
        np.testing.assert_array_equal(back[part], model[part])
    assert back["versions"]["glfs-bio"]
    assert "train" not in back["params"]
    assert back["params"]["n_genes"] == [2, 4]
    assert path.stat().st_size < 5000
    with refused(FileExists, "path"):
        write_classifier(classified, path)


DAMAGES = [
    {"format": "pickle"},
    {"format_version": 2},
    {"coef": None},
    {"intercept": [1.0]},
    {"classes": ["a", "a", "b"]},
    {"genes": 5},
    {"typical_margin": 0.0},
    {"typical_margin": 1e-320},
    {"intercept": [10**400]},
    {"gene_means": [float("nan")] * 2},
]
NO_CLASSIFIERS = [
    "[" * 100_000,
    "{",
    '{"format": ' + "9" * 5000 + "}",
    str({"format": "glfs_bio classifier", "format_version": 1}),
]


def test_damaged_files_are_refused(classified, tmp_path):
    path = tmp_path / "model.json"
    write_classifier(classified, path)
    text = path.read_text()
    for change in DAMAGES:
        path.write_text(json.dumps(json.loads(text) | change))
        with pytest.raises((InvalidValue, InvalidType)):
            read_classifier(path)
    for damaged in (text[:200], *NO_CLASSIFIERS):
        path.write_text(damaged)
        with refused(InvalidValue, "path"):
            read_classifier(path)
