"""Commands that make files for others."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import glfs_bio


def test_export_in_every_format(on_cells, cells):
    files = ["genes.txt", "genes.csv", "genes.tsv", "genes.gmt", "genes.rnk"]
    assert on_cells(f"export cells.h5ad {' '.join(files)} --column id").stdout == ""
    genes = Path("genes.txt").read_text().split()
    assert genes == list(cells.var[cells.var["glfs_selected"]].sort_values("glfs_rank").index)
    assert list(pd.read_csv("genes.csv")["gene"]) == genes
    assert "id" in pd.read_csv("genes.tsv", sep="\t")
    assert glfs_bio.io.read_gmt("genes.gmt") == {"glfs": genes}
    assert len(Path("genes.rnk").read_text().splitlines()) == cells.n_vars
    on_cells("export cells.h5ad genes.txt --all --overwrite")
    assert len(Path("genes.txt").read_text().split()) == cells.n_vars


def test_report(on_cells, quick_umaps):
    with quick_umaps():
        line = "report cells.h5ad -o r.html --labels bulk_labels"
        assert on_cells(line).stdout == ""
    assert "8 of 765 genes" in Path("r.html").read_text("utf-8")


@pytest.fixture
def vendor(cells, tmp_path):
    """A list of the genes that can be ordered: all but one of the panel."""
    gone = cells.var_names[cells.var["glfs_rank"] == 1][0]
    table = glfs_bio.tl.resolve_genes(cells, inplace=False)
    table = table[(table["symbol"] != "") & (table["name"] != gone)]
    table[["symbol", "id"]].to_csv(tmp_path / "vendor.csv", index=False)
    return gone


def test_an_order_and_its_reference(table, vendor):
    line = "order cells.h5ad glfs --platform xenium_v1 --orderable vendor.csv --refused replace"
    files = "--order order.csv --reference reference.zip -o out.h5ad"
    frame, said = table(f"{line} --labels bulk_labels --counts counts {files}")
    assert vendor in said
    panel = glfs_bio.io.read_panel("order.csv")
    assert len(panel) == 8
    assert vendor not in panel
    assert list(frame["gene"]) == panel
    again = glfs_bio.io.read_cells("out.h5ad")
    assert list(again.uns["glfs_order"]["table"]["gene"]) == panel
    assert Path("reference.zip").exists()


def test_add_ons(table, cells):
    first = cells.var_names[cells.var["glfs_rank"] == 1][0]
    frame, said = table(f"order cells.h5ad glfs --platform merscope --catalogue {first}")
    assert list(frame)[:3] == ["rank", "gene", "id"]
    assert len(frame) == 7
    assert "on the catalogue" in said
