"""Why a gene is in a panel, or is not."""

from __future__ import annotations

import re

import numpy as np
import pytest
from refusals import refused

from glfs_bio import Limits, Platform, pp, tl
from glfs_bio.errors import NotFound

PANEL = ["CD3D", "LYZ", "NKG7", "CD79A"]


def explained(adata, *args, **options):
    return tl.explain_gene(adata, *args, **options, inplace=False).set_index("gene")


def preserved(adata, panel):
    return tl.explain_panel(adata, panel, inplace=False)["preserved"].iloc[-1]


def test_genes_inside_and_outside(cells):
    pp.select_genes(cells, 8)
    ranks = cells.var["glfs_rank"]
    inside, outside = ranks.index[ranks == 2][0], ranks.index[ranks == 9][0]
    chosen = list(cells.var_names[cells.var["glfs_selected"]])
    table = explained(cells, [inside, outside])
    row = table.loc[outside]
    assert not row["selected"]
    assert row["rank"] == 9
    now = preserved(cells, chosen)
    assert row["adds"] == pytest.approx(preserved(cells, [*chosen, outside]) - now, rel=1e-6)
    swapped = [*(gene for gene in chosen if gene != row["replaces"]), outside]
    assert row["price"] == pytest.approx(now - preserved(cells, swapped), rel=1e-6)
    row = table.loc[inside]
    assert row["selected"]
    assert row["why_not"] == row["replaces"] == ""
    assert row["adds"] == pytest.approx(cells.var.loc[inside, "glfs_loss"])
    assert np.isfinite(row["r2"])
    assert inside not in row["predicted_by"]
    # a gene that would gain does not add less
    out = explained(cells, ["IGJ", "TYROBP", "CD8A"])
    assert (out["price"] < 0).tolist() == [True, True, False]
    assert out["why_not"].str.contains("next").tolist() == [True, True, False]
    assert out["why_not"].str.contains("adds less").tolist() == [False, False, True]


def test_what_predicts_it(cells, tmp_path):
    """As an evaluation says; the genes may be in a file."""
    tl.evaluate_panel(cells, PANEL)
    (tmp_path / "genes.txt").write_text("CST3\nCD3E\nCD79B\n")
    tl.explain_gene(cells, tmp_path / "genes.txt", PANEL, "bulk_labels")
    entry = cells.uns["glfs_gene"]
    table = entry["table"].set_index("gene")
    expected = cells.var.loc[table.index, "glfs_evaluation_r2"].to_numpy()
    assert table["r2"].to_numpy() == pytest.approx(expected)
    for gene, best in {"CST3": "LYZ", "CD3E": "CD3D", "CD79B": "CD79A"}.items():
        assert table.loc[gene, "predicted_by"].startswith(best)
        shares = re.findall(r"\((\d+) %\)", table.loc[gene, "predicted_by"])
        assert sum(map(int, shares)) <= 100 * table.loc[gene, "r2"] + 2
        assert "%" in table.loc[gene, "expressed_in"]
    assert set(entry["expression"]["gene"]) == set(table.index)
    with refused(NotFound, "genes") as caught:
        tl.explain_gene(cells, ["LYZ", "CD20"], PANEL)
    assert "MS4A1" in str(caught.value)


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
    words = {
        "CD79A": "by name",
        ribosomal: "ribosomal",
        "HLA-DRA": "HLA-",
        "LYZ": "platform",
        loud: "max_mean",
        "CD3E": "per_family",
    }
    table = explained(cells, [*words])
    for gene, word in words.items():
        assert word in table.loc[gene, "why_not"], gene
        assert word in table.loc[gene, "summary"], gene
    assert table["rank"].drop("CD3E").isna().all()
    assert "vary" in explained(cells, "CD8A", PANEL).loc["CD8A", "why_not"]
