"""Why a gene is in a panel, or is not."""

from __future__ import annotations

import re

import anndata as ad
import numpy as np
import pytest
from refusals import refused

from glfs_bio import Limits, Platform, pp, tl
from glfs_bio.errors import NotFound

PANEL = ["CD3D", "LYZ", "NKG7", "CD79A"]


@pytest.fixture
def cells(pbmc):
    pp.structure(pbmc)
    return pbmc


def explained(adata, *args, **options):
    return tl.explain_gene(adata, *args, **options, inplace=False).set_index("gene")


def test_rank_gain_and_price(cells):
    pp.select_genes(cells, 8)
    out = cells.var.index[cells.var["glfs_rank"] == 9][0]
    row = explained(cells, out).loc[out]
    assert not row["selected"]
    assert row["rank"] == 9
    shares = {
        name: tl.explain_panel(cells, genes, inplace=False)["preserved"].iloc[-1]
        for name, genes in {
            "now": list(cells.var_names[cells.var["glfs_selected"]]),
            "more": [*cells.var_names[cells.var["glfs_selected"]], out],
        }.items()
    }
    assert row["adds"] == pytest.approx(shares["more"] - shares["now"], rel=1e-6)
    instead = [
        gene for gene in cells.var_names[cells.var["glfs_selected"]] if gene != row["replaces"]
    ]
    swapped = tl.explain_panel(cells, [*instead, out], inplace=False)["preserved"].iloc[-1]
    assert row["price"] == pytest.approx(shares["now"] - swapped, rel=1e-6)
    assert f"rank 9 of {cells.n_vars}" in row["summary"]


def test_a_gene_that_would_gain_does_not_add_less(cells):
    pp.select_genes(cells, 8)
    chosen = list(cells.var_names[cells.var["glfs_selected"]])
    for panel, word in (("glfs", "next"), (chosen, "list")):
        out = explained(cells, ["IGJ", "TYROBP", "CD8A"], panel)
        assert (out["price"] < 0).tolist() == [True, True, False]
        for column in ("why_not", "summary"):
            assert out[column].str.contains(word).tolist() == [True, True, False]
        assert out["why_not"].str.contains("adds less").tolist() == [False, False, True]


def test_a_gene_of_the_panel(cells):
    pp.select_genes(cells, 8)
    inside = cells.var.index[cells.var["glfs_rank"] == 2][0]
    row = explained(cells, inside).loc[inside]
    assert row["selected"]
    assert row["why_not"] == row["replaces"] == ""
    assert row["adds"] == pytest.approx(cells.var.loc[inside, "glfs_loss"])
    assert np.isfinite(row["r2"])
    assert inside not in row["predicted_by"]


def test_what_predicts_it(cells):
    tl.evaluate_panel(cells, PANEL, n_random=0)
    table = explained(cells, ["CST3", "CD3E", "CD79B"], PANEL)
    assert table["r2"].to_numpy() == pytest.approx(
        cells.var.loc[table.index, "glfs_evaluation_r2"].to_numpy()
    )
    first = {"CST3": "LYZ", "CD3E": "CD3D", "CD79B": "CD79A"}
    for gene, by in first.items():
        assert table.loc[gene, "predicted_by"].startswith(by)
        shares = re.findall(r"\((\d+) %\)", table.loc[gene, "predicted_by"])
        assert sum(map(int, shares)) <= 100 * table.loc[gene, "r2"] + 2


def test_why_it_was_no_candidate(cells):
    cells.var["orderable"] = cells.var_names != "LYZ"
    means = cells.to_df().mean()
    dense = cells.X.toarray()
    dense[:, cells.var_names.get_loc("CD8A")] = 0
    cells.X = dense
    limits = Limits(
        max_mean=0.99 * float(means["FTL"]), families={"T": ["CD3D", "CD3E"]}, per_family=1
    )
    pp.select_genes(
        cells,
        8,
        include=["CD3D"],
        exclude=["CD79A", "ribosomal", re.compile("^HLA-")],
        platform=Platform(genes="orderable"),
        limits=limits,
    )
    loud = means.drop([name for name in means.index if name.startswith(("RP", "HLA"))]).idxmax()
    ribosomal = next(name for name in cells.var_names if name.startswith("RPL"))
    asked = ["CD79A", ribosomal, "HLA-DRA", "LYZ", loud, "CD8A", "CD3E"]
    table = explained(cells, asked)
    said = {
        "CD79A": "by name",
        ribosomal: "ribosomal",
        "HLA-DRA": "HLA-",
        "LYZ": "platform",
        loud: "max_mean",
        "CD3E": "per_family",
    }
    for gene, word in said.items():
        assert word in table.loc[gene, "why_not"], gene
        assert word in table.loc[gene, "summary"], gene
    out = [gene for gene in asked if gene not in ("CD3E", "CD8A")]
    assert table.loc[out, "rank"].isna().all()
    assert "vary" in explained(cells, "CD8A", PANEL).loc["CD8A", "why_not"]


def test_labels_files_and_records(cells, tmp_path):
    pp.select_genes(cells, 8)
    (tmp_path / "genes.txt").write_text("LYZ\nCD3D\n")
    tl.explain_gene(cells, tmp_path / "genes.txt", labels="bulk_labels")
    entry = cells.uns["glfs_gene"]
    assert list(entry["table"]["gene"]) == ["LYZ", "CD3D"]
    assert "%" in entry["table"]["expressed_in"][0]
    assert entry["n_candidates"] == cells.n_vars
    assert set(entry["expression"]["gene"]) == {"LYZ", "CD3D"}
    cells.write_h5ad(tmp_path / "a.h5ad")
    again = ad.read_h5ad(tmp_path / "a.h5ad").uns["glfs_gene"]["table"]
    assert list(again["summary"]) == list(entry["table"]["summary"])


def test_old_names_get_hints(cells):
    for genes in ("CD20", ["LYZ", "CD20"]):
        with refused(NotFound, "genes") as caught:
            tl.explain_gene(cells, genes, PANEL)
        assert "MS4A1" in str(caught.value)
    assert "glfs_gene" not in cells.uns
