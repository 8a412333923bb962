"""Which way round a table of cells and genes lies."""

from __future__ import annotations

import pandas as pd
from refusals import accepted, refused

from glfs_bio.errors import InvalidValue
from glfs_bio.io import _way_round, read_cells

BARCODES = ["AAACATACAACCAC-1", "AAACATTGAGCTAC-1", "AAACATTGATCAGC-1"]
SYMBOLS = ["MT-CO1", "RPL3", "RPS6", "CD3D", "LYZ", "GNLY"]
#: A targeted panel has no gene of a family
PANEL = ["A2M", "ABCC9", "ACTA2", "ADORA2A", "AIF1", "PECAM1"]
WELLS = [f"{row}{column}" for row in "ABCDEFGH" for column in range(1, 13)]

#: Corner, rows and columns of tables with genes in their rows, or of which nothing says it.
ASKED = [
    ("", SYMBOLS, BARCODES),
    ("", ["1007_s_at", "AFFX-BioB-5_at"], ["GSM1", "GSM2"]),
    ("", ["a", "b"], ["pbmc_AAACATACAACCAC", "pbmc_AAACATTGAGCTAC"]),
    ("", PANEL, WELLS),
    ("", ["A1BG|1", "A2M|2", "NAT1|9"], ["TCGA-AB-1", "TCGA-AB-2"]),
    ("", ["rpl3", "rps6", "actb1", "si:dkey-1"], ["one", "two"]),
    ("Hugo_Symbol", ["p", "q"], ["one", "two"]),
    ("gene", BARCODES, SYMBOLS),
    ("cell", SYMBOLS, BARCODES),
    ("", ["0", "1", "2"], ["0", "1"]),
    ("gene/cell", ["one", "two"], ["three", "four"]),
]
#: Of tables with cells in their rows.
CLEAR = [
    ("", BARCODES, SYMBOLS),
    ("", ["sample1", "sample2"], ["gene1", "gene2"]),
    ("", ["a", "b", "c"], ["g1", "g2"]),
    ("", ["CD4 T", "CD8 T", "NK"], PANEL),
    ("barcode", ["one", "two"], ["three", "four"]),
    ("", ["0", "1", "2"], PANEL),
    ("", BARCODES, ["p", "q"]),
    ("", [f"x{i}" for i in range(1500)], PANEL),  # of many names some are looked at
]


def write(folder, corner, rows, columns):
    path = folder / "t.csv"
    pd.DataFrame(1.5, index=pd.Index(rows, name=corner), columns=columns).to_csv(path)
    return path


def names(adata):
    return list(adata.obs_names), list(adata.var_names)


def test_genes_in_rows_are_asked_about_and_cells_are_not(tmp_path):
    assert not accepted(lambda case: read_cells(write(tmp_path, *case)), ASKED)
    for corner, rows, columns in CLEAR:
        assert names(read_cells(write(tmp_path, corner, rows, columns))) == (rows, columns)
    for corner, rows, columns in [*ASKED, *CLEAR]:
        path = write(tmp_path, corner, rows, columns)
        assert names(read_cells(path, transpose=True)) == (columns, rows)
        assert names(read_cells(path, transpose=False)) == (rows, columns)


def test_a_matrix_of_r_has_genes_in_its_rows():
    _way_round.check_genes_in_rows(SYMBOLS, BARCODES)
    _way_round.check_genes_in_rows(["a", "b"], WELLS)
    for rows in (BARCODES, WELLS):
        with refused(InvalidValue, "adata"):
            _way_round.check_genes_in_rows(rows, SYMBOLS)
