"""Files that gseapy and R read as they are."""

from __future__ import annotations

import gseapy
import numpy as np
import pandas as pd
import pytest

import glfs_bio


@pytest.fixture(scope="module")
def takeaway(_pbmc, tmp_path_factory):
    """The cells with a panel, and the folder with the three files."""
    cells = _pbmc.copy()
    cells.var["gene_ids"] = [f"ENSG{place:011d}" for place in range(cells.n_vars)]
    glfs_bio.pp.select_genes(cells, 25)
    folder = tmp_path_factory.mktemp("takeaway")
    glfs_bio.io.write_gene_list(cells, folder / "panel.csv", columns="gene_ids")
    glfs_bio.io.write_gmt(cells, folder / "panel.gmt", groups={"T cells": ["CD3D", "CD3E"]})
    glfs_bio.io.write_rnk(cells, folder / "panel.rnk")
    return cells, folder


@pytest.fixture(scope="module")
def chosen(takeaway) -> pd.DataFrame:
    var = takeaway[0].var
    return var[var["glfs_selected"]].sort_values("glfs_rank")


def test_gseapy_reads_them(takeaway, chosen):
    cells, folder = takeaway
    sets = gseapy.parser.read_gmt(str(folder / "panel.gmt"))
    assert sets["glfs"] == list(chosen.index)
    found = gseapy.enrich(
        gene_list=list(chosen.index),
        gene_sets=str(folder / "panel.gmt"),
        background=list(cells.var_names),
        outdir=None,
        no_plot=True,
    ).results.set_index("Term")
    assert found.loc["glfs", "Overlap"] == "25/25"
    ranked = gseapy.prerank(
        rnk=str(folder / "panel.rnk"),
        gene_sets=str(folder / "panel.gmt"),
        min_size=1,
        permutation_num=20,
        weight=0,
        seed=0,
        outdir=None,
        no_plot=True,
    )
    assert len(ranked.ranking) == cells.n_vars
    assert ranked.res2d.set_index("Term").loc["glfs", "ES"] == pytest.approx(1, abs=1e-6)


def test_r_reads_them(takeaway, chosen, ri, tmp_path):
    cells, folder = takeaway
    ri.evalr(f"""local({{
        panel <- read.csv("{folder / "panel.csv"}")
        stopifnot(is.logical(panel$selected), all(panel$selected), is.numeric(panel$weight))
        sets <- strsplit(readLines("{folder / "panel.gmt"}"), "\\t")
        sets <- setNames(lapply(sets, tail, -2), vapply(sets, `[`, "", 1))
        stopifnot(identical(sets$glfs, panel$gene), identical(names(sets), c("glfs", "T cells")))
        ranks <- read.delim("{folder / "panel.rnk"}", header = FALSE)
        stopifnot(!anyDuplicated(ranks$V2), !is.unsorted(-ranks$V2))
        write.csv(panel, "{tmp_path / "panel.csv"}", row.names = FALSE)
        write.csv(ranks, "{tmp_path / "ranks.csv"}", row.names = FALSE)
    }})""")
    panel = pd.read_csv(tmp_path / "panel.csv")
    ranks = pd.read_csv(tmp_path / "ranks.csv")
    assert list(panel["gene"]) == list(chosen.index)
    assert list(panel["gene_ids"]) == list(chosen["gene_ids"])
    np.testing.assert_allclose(panel["weight"], chosen["glfs_weight"], rtol=1e-12)
    best_first = cells.var.sort_values("glfs_rank")
    assert list(ranks["V1"]) == list(best_first.index)
    np.testing.assert_allclose(ranks["V2"], best_first["glfs_score"], rtol=1e-12)
