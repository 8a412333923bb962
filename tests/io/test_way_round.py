"""Which way round a table of cells and genes lies."""

from __future__ import annotations

import pandas as pd
import pytest
from refusals import refused

from glfs_bio.errors import InvalidValue
from glfs_bio.io import _way_round, read_cells

BARCODES = ["AAACATACAACCAC-1", "AAACATTGAGCTAC-1", "AAACATTGATCAGC-1"]
SYMBOLS = ["MT-CO1", "RPL3", "RPS6", "CD3D", "LYZ", "GNLY"]
#: A targeted panel has no gene of a family
PANEL = ["A2M", "ABCC9", "ACTA2", "ADORA2A", "AIF1", "PECAM1"]
WELLS = [f"{row}{column}" for row in "ABCDEFGH" for column in range(1, 13)]


def names(adata):
    return list(adata.obs_names), list(adata.var_names)


@pytest.mark.parametrize(
    ("corner", "rows", "columns", "asked"),
    [
        ("", SYMBOLS, BARCODES, True),
        ("", SYMBOLS, ["one", "two"], True),
        ("", [name.title() for name in SYMBOLS], ["m1", "m2"], True),
        ("", ["ENSG00000000003.14", "ENSG00000000005"], ["up", "down"], True),
        ("", ["1007_s_at", "AFFX-BioB-5_at"], ["GSM1", "GSM2"], True),
        ("", ["a", "b", "c"], BARCODES, True),
        ("", ["a", "b"], ["pbmc_AAACATACAACCAC", "pbmc_AAACATTGAGCTAC"], True),
        ("", ["gene1", "gene2"], ["sample1", "sample2"], True),
        ("", PANEL, ["well05_0", "well05_1"], True),
        ("", [name.title() for name in PANEL], ["one", "two"], True),
        ("", PANEL, WELLS, True),
        ("", ["A1BG|1", "A2M|2", "NAT1|9"], ["TCGA-AB-1", "TCGA-AB-2"], True),
        ("", ["rpl3", "rps6", "actb1", "si:dkey-1"], ["one", "two"], True),
        ("", ["AT1G01010", "AT1G01020"], ["leaf", "root"], True),
        ("GENE", ["p", "q"], ["one", "two"], True),
        ("Hugo_Symbol", ["p", "q"], ["one", "two"], True),
        ("ID_REF", ["p", "q"], ["one", "two"], True),
        # they disagree
        ("gene", BARCODES, SYMBOLS, True),
        ("cell", SYMBOLS, BARCODES, True),
        # nothing says it
        ("", ["one", "two"], ["three", "four"], True),
        ("", ["0", "1", "2"], ["0", "1"], True),
        ("gene/cell", ["one", "two"], ["three", "four"], True),
        ("", BARCODES, SYMBOLS, False),
        ("", ["one", "two"], SYMBOLS, False),
        ("", ["sample1", "sample2"], ["gene1", "gene2"], False),
        ("", ["GSM1", "GSM2"], ["1007_s_at", "AFFX-BioB-5_at"], False),
        ("", ["a", "b", "c"], ["g1", "g2"], False),
        ("", ["a", "b", "c"], ["CD3D", "LYZ"], False),
        ("", WELLS, PANEL, False),
        ("", ["CD4 T", "CD8 T", "NK"], PANEL, False),
        ("cell", ["one", "two"], ["three", "four"], False),
        ("barcode", ["one", "two"], ["three", "four"], False),
        ("", ["0", "1", "2"], PANEL, False),
        ("", BARCODES, ["p", "q"], False),
    ],
)
def test_genes_in_rows_are_asked_about(tmp_path, corner, rows, columns, asked):
    frame = pd.DataFrame(1.5, index=pd.Index(rows, name=corner), columns=columns)
    path = tmp_path / "t.csv"
    frame.to_csv(path)
    if asked:
        with refused(InvalidValue, "path"):
            read_cells(path)
    else:
        assert names(read_cells(path)) == (rows, columns)
    assert names(read_cells(path, transpose=True)) == (columns, rows)
    assert names(read_cells(path, transpose=False)) == (rows, columns)


def test_many_names(tmp_path):
    """Of many names some are looked at, from all of a side."""
    cells = [f"x{i}" for i in range(1500)]
    frame = pd.DataFrame(1, index=cells, columns=PANEL)
    path = tmp_path / "t.csv.gz"
    frame.to_csv(path)
    assert read_cells(path).shape == (1500, 6)


def test_a_matrix_of_r_has_genes_in_its_rows():
    _way_round.check_genes_in_rows(SYMBOLS, BARCODES)
    _way_round.check_genes_in_rows(["a", "b"], WELLS)
    for rows in (BARCODES, WELLS):
        with refused(InvalidValue, "adata"):
            _way_round.check_genes_in_rows(rows, SYMBOLS)
