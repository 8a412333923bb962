"""Tables of cells × genes: names are texts, the way round is known, and columns are genes."""

from __future__ import annotations

import logging
from itertools import product

import numpy as np
import pandas as pd
import pytest
from refusals import accepted, refused

from glfs_bio.errors import InvalidValue
from glfs_bio.io import _read, read_cells
from glfs_bio.vendors import sheets
from glfs_bio.vendors.names import nomenclature

GENES = ["CD3D", "CD79A", "LYZ"]
BARCODES = ["AAACATACAACCAC-1", "AAACATTGAGCTAC-1", "AAACATTGATCAGC-1"]
#: A targeted panel has no gene of a family
PANEL = ["A2M", "ABCC9", "ACTA2", "ADORA2A", "AIF1", "PECAM1"]


@pytest.fixture
def put(tmp_path):
    """Write a text, or rows with what stands between them, and return the path."""

    def write(text, name="t.csv", encoding="utf-8", between=","):
        if not isinstance(text, str):
            text = "\n".join(between.join(row) for row in text)
        path = tmp_path / name
        path.write_bytes(text.encode(encoding))
        return path

    return write


def names(adata):
    return list(adata.obs_names), list(adata.var_names)


#: Tables of cells a and b and three genes, and their rows of numbers.
TABLE = "cell,CD3D,CD79A,LYZ\na,1,2,3\nb,4,5,6\n"
SAME = [
    # what is not seen is no part of a name
    "cell,CD3D,CD79A,LYZ\n\na,1,2,3\nb,4,5,6\n\n,,,\n",
    '\ufeffcell, CD3D\u200b,"\xa0CD79A ",\ufeffLYZ\n a ,1,2,3\n\u200bb\u2060,4,5,6\n',
    # comments above the header
    "# made by a program, on Monday, at noon\n" + TABLE,
    '!Series_title,"x"\n!Sample_type,"T","B","NK"\n!series_matrix_table_begin\n'
    + TABLE
    + "!series_matrix_table_end\n",
    '!Sample_data,"x","y","z"\n' * 100 + TABLE,
]


def test_the_same_table(put, caplog):
    for text, encoding in product(SAME, ("utf-8", "utf-16")):
        caplog.clear()
        adata = read_cells(put(text, encoding=encoding))
        assert names(adata) == (["a", "b"], GENES), text
        np.testing.assert_array_equal(adata.X, [[1, 2, 3], [4, 5, 6]])
        assert not caplog.records, text


#: What is no matrix, and what the refusal names.
NO_MATRICES = [
    # titles, no header, or one of several lines
    ("Expression of blood\n\n" + TABLE, "line 1"),
    ("Expression of T cells, B cells and monocytes\n" + TABLE, "line 1"),
    ("a,1,0,1\nb,1,2,3\n", "line 1"),
    ("a,0.5123,2,3\nb,1,2,3\n", "line 1"),
    ('"Table S1.\nCounts",,,\ncell,CD3D,CD79A,LYZ\na,1,2,3\nb,4,5,6\n', "line 1"),
    ('cell,"CD3D\n(T)",CD79A,LYZ\na,1,2,3\nb,4,5,6\n', "line 1"),
    ("cell,CD3D,CD79A,LYZ\n", ""),
    ("cell CD3D CD79A LYZ\na 1 2 3\n", "line 1"),
    # rows of other lengths than the header
    ("cell,CD3D\na,1,2,3\nb,1,2,3\n", "line 1"),
    ("cell,CD3D,CD79A,LYZ,,\na,1,2,3\nb,4,5,6\n", "line 1"),
    ("cell,CD3D,CD79A,LYZ,GNLY\na,1,2,3\nb,1,2,3\n", "line 1"),
    ("cell,CD3D,CD79A,LYZ\na,1,2,3,\nb,4,5,6,\n", "line 1"),
    ("cell,CD3D,CD79A,LYZ,,\na,1,2,3,,\nb,4,5,6,,\n,,,,,\n,,,,,\n", "line 1"),
    # texts, and columns and rows that are no genes
    ("cell,CD3D,is_doublet\na,1,True\nb,2,False\n", "is_doublet"),
    ("cell,CD3D,CD79A,LYZ\ntype,T,B,NK\na,1,2,3\nb,4,5,6\nc,7,8,9\n", "type"),
    ("cell,CD3D,CD79A,LYZ\na,1,2,3\nb,4,high,6\nc,7,8,9\n", "CD79A"),
    ("gene,chr,s1,s2\nCD3D,chr1,1,2\nLYZ,chrX,1,2\n", "chr"),
    (",barcode,CD3D\n0,AAAC,1\n1,CCCA,2\n", "barcode"),
    # blank names
    ("spot,CD3D,CD4,\nAAACCTG-1,1,2,3\nAAACCTGC-1,1,2,3\n", "line 1"),
    (",,,\nspot,CD3D,CD4\nAAACCTG-1,1,2\nAAACCTGC-1,1,2\n", "line 1"),
    ("cell,CD3D,,LYZ\na,1,2,3\n", "CD3D"),
    ("cell,,CD3D,LYZ\na,1,2,3\n", "column 1"),
    ("cell,CD3D,LYZ\na,1,2\n,3,4\n", "row 2"),
    ('cell,CD3D,LYZ\na,1,2\n"b,3,4\nc,5,6\nd"e,7,8\n', "row 2"),
]


def test_what_is_no_matrix_is_refused_with_the_place(put):
    wrong = {}
    for text, place in NO_MATRICES:
        with refused(InvalidValue, "path") as caught:
            read_cells(put(text), transpose=False)
        if place not in str(caught.value):
            wrong[text] = str(caught.value)
    assert not wrong
    for encoding in ("utf-16-le", "latin-1"):
        with refused(InvalidValue, "path") as caught:
            read_cells(put("cell,CD3D,CD79A\nµ1,1,2\nµ2,1,2\n", encoding=encoding))
        assert "UTF-8" in str(caught.value)


def test_genes_of_one_name_are_made_unique_and_cells_are_refused(put, caplog):
    genes = pd.DataFrame(np.eye(3), index=BARCODES, columns=["CD3D", "LYZ", "CD3D"])
    cells = pd.DataFrame(np.eye(3), index=["a", "b", "a"], columns=GENES)
    for transpose in (None, True):
        caplog.clear()
        with caplog.at_level(logging.INFO, "glfs_bio"):
            path = put((genes.T if transpose else genes).to_csv())
            assert names(read_cells(path, transpose=transpose))[1] == ["CD3D", "LYZ", "CD3D-1"]
        (record,) = caplog.records
        assert "CD3D" in str(record.msg)
        with refused(InvalidValue, "path") as caught:
            read_cells(put((cells.T if transpose else cells).to_csv()), transpose=transpose)
        assert "(a)" in str(caught.value)


ROWS = [["cell", *GENES], ["a_1", "1", "2.5", "3"], ["b", "4", "5", "6"]]


@pytest.mark.parametrize(
    ("name", "between"),
    [
        *(("t.csv", ","), ("t.csv", ";"), ("T.TSV", "\t"), ("t.txt", "\t"), ("t.txt", ",")),
        ("t.txt", ";"),
    ],
)
def test_every_separator(put, name, between):
    """With a name above the first column, or without, as R writes it."""
    for rows in (ROWS, [ROWS[0][1:], *ROWS[1:]]):
        for quote in ("", '"'):
            quoted = [[f"{quote}{text}{quote}" for text in rows[0]], *rows[1:]]
            adata = read_cells(put(quoted, name, between=between))
            assert names(adata) == (["a_1", "b"], GENES)
            np.testing.assert_array_equal(adata.X, [[1, 2.5, 3], [4, 5, 6]])


@pytest.mark.parametrize(("name", "between"), [("t.csv", ";"), ("t.tsv", "\t"), ("t.txt", "\t")])
def test_numbers_with_commas(put, name, between):
    """They are decimal, as Excel in Germany writes them, or between thousands."""
    for number in ("2,5", "1,234"):
        rows = [["cell", *GENES], ["a", "1", "3", number], ["b", "4", "5", "6"]]
        with refused(InvalidValue, "path") as caught:
            read_cells(put(rows, name, between=between))
        assert number in str(caught.value)
        assert "points" in str(caught.value)


def test_comments_numbers_and_lines_below(put):
    text = "# made here\n#gene\ts1\ts2\nCD3D\t1\t2\nLYZ\t3\t4\n"  # the header is a comment
    with refused(InvalidValue, "path"):
        read_cells(put(text, "t.tsv"), transpose=True)
    text = "# genes of NCBI\ncell,109979,18952\na,1,2\nb,3,4\n"
    assert names(read_cells(put(text), transpose=False))[1] == ["109979", "18952"]
    assert names(read_cells(put(TABLE + "Source: blood\n")))[0] == ["a", "b", "Source: blood"]
    truth = read_cells(put("cell,CD3D,CD79A\na,True,False\nb,False,True\n"))
    np.testing.assert_array_equal(truth.X, np.eye(2))
    assert "y" in read_cells(put("cell,y,w,Act5C\na,1,2,3\nb,4,5,6\n")).var_names  # of the fly


OF_CELLS = [
    *("cell_ID", "fov", "cell", "barcode", "center_x", "x_centroid", "area", "EntityID"),
    *("Unnamed: 0", "leiden", "nCount_RNA", "n_genes_by_counts", "seurat_clusters", "orig.ident"),
    *("RNA_snn_res.0.8", "G2M.Score", "leiden_res0.5", "cell_type_id", "class", "tSNE_1", "PC1"),
    *("log1p_total_counts", "unassigned_codeword_counts", "max_y", "Area.um2"),
    *("CenterX_global_px", "Mean.DAPI", "Max.CD45", "timepoint"),
]


def test_what_describes_cells_is_no_gene_and_the_other_way_round(put):
    of_cells = pd.DataFrame(np.arange(18).reshape(3, 6), index=BARCODES, columns=PANEL)

    def read(head, frame, **options):
        return read_cells(put(frame.assign(**{head: 5}).to_csv()), **options)

    def turned(head):
        return read_cells(put(of_cells.assign(**{head: 5}).T.to_csv()), transpose=True)

    assert not accepted(lambda head: read(head, of_cells), OF_CELLS)
    assert not accepted(turned, OF_CELLS)
    of_genes = ["Length", "chr", "Start", "entrez_id"]
    assert not accepted(lambda head: read(head, of_cells.T, transpose=True), of_genes)
    with refused(InvalidValue, "path") as caught:
        read("x", of_cells.assign(y=[1, 2, 3]))
    assert "(y, x)" in str(caught.value)
    for gene in ("x", "y"):  # of flies, without the other coordinate
        assert gene in read(gene, of_cells).var_names
    numbered = pd.DataFrame({"X": range(6), **dict.fromkeys(GENES, 1)}, index=[*"abcdef"])
    with refused(InvalidValue, "path") as caught:  # as R numbers rows
        read_cells(put(numbered.to_csv()))
    assert "(X)" in str(caught.value)
    symbols = map(sheets.plain, nomenclature()["symbol"])
    assert not [*filter(_read._HEADED["of cells"].fullmatch, symbols)]


def test_cosmx_and_merscope(put, caplog):
    text = "fov,cell_ID,AATK,ABL1,NegPrb1\n10,0,9,9,9\n10,1,1,0,0\n10,10,2,2,1\n11,1,0,3,0\n"
    adata = read_cells(put(text, "x_exprMat_file.csv"))
    assert names(adata) == (["10_1", "10_10", "11_1"], ["AATK", "ABL1", "NegPrb1"])
    np.testing.assert_array_equal(adata.X[1], [2, 2, 1])
    assert "cell_ID 0" in caplog.text
    with refused(InvalidValue, "path"):
        read_cells(put('"cell_ID","fov","AATK","ABL1"\n1,10,1,0\n2,10,2,2\n'))
    ids = ["158338415400020001", "158338415400020002"]
    for head in ("", "cell", "EntityID"):
        frame = pd.DataFrame(1, index=pd.Index(ids, name=head), columns=[*PANEL, "Blank-1"])
        assert names(read_cells(put(frame.to_csv()))) == (ids, [*PANEL, "Blank-1"])
    for start in (0, 1):  # numbers of rows
        frame = pd.DataFrame(1, index=range(start, start + 3), columns=GENES)
        assert list(read_cells(put(frame.to_csv())).obs_names) == [*map(str, frame.index)]


def test_blocks(put, monkeypatch):
    """Texts, and names, in later blocks of rows."""
    monkeypatch.setattr("glfs_bio.io._read._AT_ONCE", 12)
    cells = [f"c{i}" for i in range(20)]
    frame = pd.DataFrame(np.arange(60.0).reshape(20, 3), index=cells, columns=GENES)
    adata = read_cells(put(frame.to_csv()))
    np.testing.assert_array_equal(adata.X, frame)
    assert list(adata.obs_names) == cells
    with refused(InvalidValue, "path") as caught:
        read_cells(put(frame.to_csv().replace("c15,", "c15,x")))
    assert "c15" in str(caught.value)


SYMBOLS = ["MT-CO1", "RPL3", "RPS6", "CD3D", "LYZ", "GNLY"]
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
    ("", ["a", "b", "c"], ["g1", "g2"]),
    ("gene/cell", ["one", "two"], ["three", "four"]),
]
#: Of tables with cells in their rows.
CLEAR = [
    ("", BARCODES, SYMBOLS),
    ("", ["sample1", "sample2"], ["gene1", "gene2"]),
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


def test_genes_in_rows_are_asked_about_and_cells_are_not(tmp_path):
    assert not accepted(lambda case: read_cells(write(tmp_path, *case)), ASKED)
    for corner, rows, columns in CLEAR:
        assert names(read_cells(write(tmp_path, corner, rows, columns))) == (rows, columns)
    for corner, rows, columns in [*ASKED, *CLEAR]:
        path = write(tmp_path, corner, rows, columns)
        assert names(read_cells(path, transpose=True)) == (columns, rows)
        assert names(read_cells(path, transpose=False)) == (rows, columns)


def test_a_matrix_of_r_has_genes_in_its_rows():
    _read.check_genes_in_rows(SYMBOLS, BARCODES)
    _read.check_genes_in_rows(["a", "b"], WELLS)
    for rows in (BARCODES, WELLS):
        with refused(InvalidValue, "adata"):
            _read.check_genes_in_rows(rows, SYMBOLS)
