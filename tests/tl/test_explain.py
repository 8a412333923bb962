"""Every gene of a panel is explained."""

from __future__ import annotations

import re

import anndata as ad
import numpy as np
import pytest

from glfs_bio import pp, tl
from glfs_bio._anndata import columns, expression
from glfs_bio.errors import Caution

PANEL = ["CD3D", "LYZ", "NKG7", "CD79A"]


@pytest.fixture
def cells(pbmc):
    pp.structure(pbmc)
    return pbmc


def test_explanations(cells, tmp_path):
    tl.explain_panel(cells, PANEL, "bulk_labels")
    table = cells.uns["glfs_explanation"]["table"].set_index("gene")
    assert "CD19+ B" in table.loc["CD79A", "supports"]
    assert (table["loss"] > 0).all()
    entry = cells.uns["glfs_explanation"]
    np.testing.assert_allclose(entry["support"].sum(axis=1), 1.0)
    assert entry["labels"][entry["support"][PANEL.index("CD79A")].argmax()] == "CD19+ B"
    tl.substitutes(cells, PANEL)
    tl.curve(cells, 10)
    cells.write_h5ad(tmp_path / "x.h5ad")
    again = ad.read_h5ad(tmp_path / "x.h5ad").uns["glfs_explanation"]["table"]
    assert list(again["supports"]) == list(table["supports"])


def test_roles_and_expression(cells):
    tl.explain_panel(cells, PANEL, "bulk_labels")
    entry = cells.uns["glfs_explanation"]
    table, numbers = entry["table"].set_index("gene"), entry["expression"]
    assert table.loc["CD79A", "role"] == "marker of CD19+ B"
    assert table.loc["CD79A", "expressed_in"].startswith("CD19+ B 99 % (")
    values = cells[:, "CD79A"].to_df()["CD79A"]
    of_b = cells.obs["bulk_labels"] == "CD19+ B"
    row = numbers.set_index(["gene", "label"]).loc[("CD79A", "CD19+ B")]
    assert row["share"] == pytest.approx((values[of_b] > 0).mean())
    fold = np.expm1(values[of_b]).mean() / np.expm1(values[~of_b]).mean()
    assert row["fold"] == pytest.approx(fold, rel=1e-4)
    assert table.loc["CD79A", "expressed"] == pytest.approx((values > 0).mean())
    assert len(numbers) == len(PANEL) * cells.obs["bulk_labels"].nunique()


@pytest.mark.parametrize("counted", [False, True])
def test_a_fold_compares_means_without_logarithms(counted):
    """A few cells with many counts outweigh many with one, whatever their logarithms say."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(1.0, (60, 8)).astype(float)
    counts[:30, 0], counts[30:, 0] = 1.0, np.where(np.arange(30) < 6, 40.0, 0.0)
    adata = ad.AnnData(counts if counted else np.log1p(counts))
    adata.obs["kind"] = np.repeat(["a", "b"], 30)
    found = expression.of_genes(adata, np.array([0, 3]), columns.labels(adata, "kind"), None)
    np.testing.assert_allclose(found.folds[0], [1 / 8, 8])
    assert found.marker_of(0) == ""


def test_nothing_below_a_tenth_and_the_largest_first(cells):
    table = tl.explain_panel(cells, PANEL, "bulk_labels", n_labels=20, inplace=False)
    for column, share in (("supports", r"\((\d+) %\)"), ("expressed_in", r" (\d+) % \(")):
        for text in table[column]:
            shares = [int(one) for one in re.findall(share, text)]
            assert shares == sorted(shares, reverse=True)
            assert not shares or min(shares) >= 10


def test_must_haves_that_add_nothing_are_named(cells, caplog):
    pp.select_genes(cells, 10, include=["CD4", "CD3D"])
    caplog.clear()
    table = tl.explain_panel(cells, "glfs", "bulk_labels", inplace=False).set_index("gene")
    assert table.loc["CD4", "role"] == "must-have, adds nothing"
    assert table.loc["CD3D", "role"].startswith("must-have, ")
    assert not table["role"].drop(["CD4", "CD3D"]).str.contains("must-have").any()
    assert table.loc["CD4", "substitute"] == table.loc["CD4", "supports"] == ""
    told = [one.getMessage() for one in caplog.records if "add nothing" in one.getMessage()]
    assert len(told) == 1
    assert "CD4" in told[0]
    assert "CD3D" not in told[0]


def test_without_labels_and_with_negative_values(cells):
    table = tl.explain_panel(cells, PANEL, inplace=False)
    assert table["role"].str.startswith("axis ").all()
    assert "expressed_in" not in table
    assert table["expressed"].between(0, 1).all()
    cells.X = cells.X.toarray() - cells.X.toarray().mean(axis=0)
    with pytest.warns(Caution, match="scaled"):
        scaled = tl.explain_panel(cells, PANEL, "bulk_labels", inplace=False)
    assert scaled["expressed"].isna().all()
    assert (scaled["expressed_in"] == "").all()
