"""Tables of cells × genes: names are texts, the way round is known, and columns are genes."""

from __future__ import annotations

import logging

import numpy as np
import pandas as pd
import pytest
from refusals import refused

from glfs_bio.errors import InvalidValue
from glfs_bio.io import _tables, read_cells
from glfs_bio.vendors import headers
from glfs_bio.vendors.names import nomenclature

GENES = ["CD3D", "CD79A", "LYZ"]
BARCODES = ["AAACATACAACCAC-1", "AAACATTGAGCTAC-1", "AAACATTGATCAGC-1"]
SYMBOLS = ["MT-CO1", "RPL3", "RPS6", "CD3D", "LYZ", "GNLY"]
#: A targeted panel has no gene of a family
PANEL = ["A2M", "ABCC9", "ACTA2", "ADORA2A", "AIF1", "PECAM1"]
WELLS = [f"{row}{column}" for row in "ABCDEFGH" for column in range(1, 13)]


@pytest.fixture
def put(tmp_path):
    """Write a text, and return the path."""

    def write(text, name="t.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(text.encode(encoding))
        return path

    return write


def names(adata):
    return list(adata.obs_names), list(adata.var_names)


@pytest.mark.parametrize(
    "written",
    [
        ["001", "002", "010"],
        ["1.1", "1.10", "2.0"],
        ["NA", "nan", "None"],
        ["1e5", "2e5", "TRUE"],
        ["109979", "18952", "null"],
        ["2021-03-01", "1-Mar", "inf"],
        ["158338415400020001", "158338415400020002", "158338415400020003"],
    ],
)
@pytest.mark.parametrize("ending", ["csv", "tsv", "txt"])
def test_names_are_texts_on_both_sides(put, written, ending):
    frame = pd.DataFrame(np.eye(3), index=written, columns=GENES)
    between = "," if ending == "csv" else "\t"
    path = put(frame.to_csv(sep=between), f"t.{ending}")
    assert names(read_cells(path)) == (written, GENES)
    path = put(frame.T.to_csv(sep=between), f"t.{ending}")
    assert names(read_cells(path, transpose=False)) == (GENES, written)
    assert names(read_cells(path, transpose=True)) == (written, GENES)


def test_what_is_not_seen_is_no_part_of_a_name(put):
    text = (
        '\ufeffcell, CD3D\u200b,"\xa0CD79A ",\ufeffLYZ\n'
        ' a ,1,2,3\n"b,1",4,5,6\n\u200bc\u2060,7,8,9\n'
    )
    assert names(read_cells(put(text))) == (["a", "b,1", "c"], GENES)
    assert names(read_cells(put(text, encoding="utf-16"))) == (["a", "b,1", "c"], GENES)


@pytest.mark.parametrize("encoding", ["utf-16-le", "latin-1"])
def test_other_encodings_are_named(put, encoding):
    with refused(InvalidValue, "path") as caught:
        read_cells(put("cell,CD3D,CD79A\nµ1,1,2\nµ2,1,2\n", encoding=encoding))
    assert "UTF-8" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("cell,CD3D,,LYZ\na,1,2,3\n", "CD3D"),
        ("cell,,CD3D,LYZ\na,1,2,3\n", "column 1"),
        ("cell,CD3D,LYZ,\na,1,2,3\n", "LYZ"),
        (",CD3D,\na,1,2\n", "CD3D"),
        ("cell,CD3D,LYZ\na,1,2\n ,3,4\nb,5,6\n", "a"),
        ("cell,CD3D,LYZ\na,1,2\n,3,4\n", "row 2"),
    ],
)
@pytest.mark.parametrize("transpose", [False, True])
def test_blank_names_are_refused_with_their_place(put, text, place, transpose):
    with refused(InvalidValue, "path") as caught:
        read_cells(put(text), transpose=transpose)
    assert place in caught.value.problem


@pytest.mark.parametrize(
    "text",
    [
        "cell,CD3D,CD79A,LYZ,\na,1,2,3,\nb,4,5,6,\n",
        "cell,CD3D,CD79A,LYZ\na,1,2,3,\nb,4,5,6,\n",
        "cell,CD3D,CD79A,LYZ,,\na,1,2,3\nb,4,5,6\n",
        "cell,CD3D,CD79A,LYZ,,\na,1,2,3,,\nb,4,5,6,,\n,,,,,\n,,,,,\n",
        "cell,CD3D,CD79A,LYZ\n\na,1,2,3\nb,4,5,6\n\n,,,\n",
    ],
)
def test_separators_at_the_end_are_nothing(put, text):
    adata = read_cells(put(text))
    assert names(adata) == (["a", "b"], GENES)
    np.testing.assert_array_equal(adata.X, [[1, 2, 3], [4, 5, 6]])


def test_genes_of_one_name_are_made_unique_either_way_round(put, caplog):
    frame = pd.DataFrame(np.eye(3), index=BARCODES, columns=["CD3D", "LYZ", "CD3D"])
    for path, transpose in ((put(frame.to_csv()), None), (put(frame.T.to_csv(), "u.csv"), True)):
        caplog.clear()
        with caplog.at_level(logging.INFO, "glfs_bio"):
            assert names(read_cells(path, transpose=transpose))[1] == ["CD3D", "LYZ", "CD3D-1"]
        (record,) = caplog.records
        assert "CD3D" in str(record.msg)


def test_cells_of_one_name_are_refused(put):
    frame = pd.DataFrame(np.eye(3), index=["a", "b", "a"], columns=GENES)
    for path, transpose in ((put(frame.to_csv()), None), (put(frame.T.to_csv(), "u.csv"), True)):
        with refused(InvalidValue, "path") as caught:
            read_cells(path, transpose=transpose)
        assert "(a)" in str(caught.value)


ROWS = [["cell", *GENES], ["a 1", "1", "2.5", "3"], ["b", "4", "5", "6"]]


@pytest.mark.parametrize("between", ["\t", ",", ";", " ", "   "])
def test_txt_is_separated_as_its_header_is(put, between):
    rows = [[f'"{name}"' for name in row[:1]] + row[1:] for row in ROWS]
    adata = read_cells(put("\n".join(between.join(row) for row in rows), "t.txt"))
    assert names(adata) == (["a 1", "b"], GENES)
    np.testing.assert_array_equal(adata.X, [[1, 2.5, 3], [4, 5, 6]])


@pytest.mark.parametrize(
    ("ending", "between"), [("csv", ";"), ("tsv", "\t"), ("txt", "\t"), ("txt", " ")]
)
def test_decimal_commas(put, ending, between):
    rows = [[name.replace(" ", "_").replace(".", ",") for name in row] for row in ROWS]
    adata = read_cells(put("\n".join(between.join(row) for row in rows), f"t.{ending}"))
    np.testing.assert_array_equal(adata.X, [[1, 2.5, 3], [4, 5, 6]])


@pytest.mark.parametrize(
    ("ending", "between"), [("csv", ","), ("tsv", "\t"), ("txt", " "), ("csv", ";")]
)
def test_r_writes_one_name_fewer(put, ending, between):
    lines = [['"CD3D"', '"CD79A"', '"LYZ"'], ['"a"', "1", "2", "3"], ['"b"', "4", "5", "NA"]]
    adata = read_cells(put("\n".join(between.join(line) for line in lines), f"t.{ending}"))
    assert names(adata) == (["a", "b"], GENES)
    np.testing.assert_array_equal(adata.X, [[1, 2, 3], [4, 5, np.nan]])


def test_semicolons_with_decimal_commas(put):
    """As write.csv2 of R, and Excel in Germany, have them."""
    for corner in ('"";', ""):
        text = f'{corner}"CD3D";"CD79A"\n"a";0,5;1,25\n"b";1,5;2,25\n'
        adata = read_cells(put(text))
        assert names(adata) == (["a", "b"], ["CD3D", "CD79A"])
        np.testing.assert_array_equal(adata.X, [[0.5, 1.25], [1.5, 2.25]])


@pytest.mark.parametrize(("name", "between"), [("t.tsv", "\t"), ("t.csv", ";")])
def test_commas_between_thousands(put, name, between):
    rows = [["cell", *GENES], ["a", "1,234", "12", "3"], ["b", "2,100", "7", "0"]]
    with refused(InvalidValue, "path") as caught:
        read_cells(put("\n".join(map(between.join, rows)), name))
    assert "1,234" in str(caught.value)
    rows[2][1] = "0,100"
    adata = read_cells(put("\n".join(map(between.join, rows)), name))
    np.testing.assert_array_equal(adata.X[:, 0], [1.234, 0.1])


def test_tables_of_truth(put):
    adata = read_cells(put("cell,CD3D,CD79A\na,True,False\nb,False,True\n"))
    np.testing.assert_array_equal(adata.X, np.eye(2))


TABLE = "cell,CD3D,CD79A,LYZ\na,1,2,3\nb,4,5,6\n"


@pytest.mark.parametrize(
    ("above", "below", "said"),
    [
        ("# made by a program, on Monday, at noon\n", "", False),
        ('# of a 5" dish\n', "", False),
        (
            '!Series_title,"x"\n!Sample_type,"T","B","NK"\n!series_matrix_table_begin\n',
            "!series_matrix_table_end\n",
            False,
        ),
        ('!Sample_data,"x","y","z"\n' * 100, "", False),
        ("Expression of blood\n\n", "", True),
        ("Expression of blood,,,\n,,,\n", "", True),
        ("Project,blood\nDate,today\n", "", True),
        ("Expression of T cells, B cells and monocytes\n", "", True),
    ],
)
def test_lines_above_the_header(put, above, below, said, caplog):
    adata = read_cells(put(above + TABLE + below))
    assert names(adata) == (["a", "b"], GENES)
    assert np.isfinite(adata.X).all()
    assert bool(caplog.records) == said


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a,1,0,1\nb,1,2,3\n", "line 1"),
        ("CD3D,1,0,3\nLYZ,2,1,0\n", "line 1"),
        ('"Table S1.\nCounts",,,\ncell,CD3D,CD79A,LYZ\na,1,2,3\nb,4,5,6\n', "line 1"),
        ('cell,"CD3D\n(T)",CD79A,LYZ\na,1,2,3\nb,4,5,6\n', "line 1"),
        ("cell,CD3D,is_doublet\na,1,True\nb,2,False\n", "is_doublet"),
        ("a,0.5123,2,3\nb,1,2,3\n", "line 1"),
        ("CD3D,CD79A,LYZ\n0,1,2\n3,0,1\n", "CD3D"),
        ("cell,CD3D,CD79A,LYZ\ntype,T,B,NK\na,1,2,3\nb,4,5,6\nc,7,8,9\n", "type"),
        ("cell,CD3D,CD79A,LYZ\na,1,2,3\nb,4,high,6\nc,7,8,9\n", "CD79A"),
        ("gene,chr,s1,s2\nCD3D,chr1,1,2\nLYZ,chrX,1,2\n", "chr"),
        ("cell,CD3D,cell_type\na,1,T\nb,2,B\n", "cell_type"),
        (",barcode,CD3D\n0,AAAC,1\n1,CCCA,2\n", "barcode"),
        ("cell,CD3D,CD79A,LYZ\n", ""),
        ("cell,CD3D\na,1,2,3\nb,1,2,3\n", "line 2"),
        ("cell,CD3D,CD79A,LYZ,GNLY\na,1,2,3\nb,1,2,3\n", "line 2"),
    ],
)
def test_what_is_no_matrix_is_refused_with_the_place(put, text, told):
    with refused(InvalidValue, "path") as caught:
        read_cells(put(text), transpose=False)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    "heads",
    [
        ["cell_ID"],
        ["fov"],
        ["cell"],
        ["barcode"],
        ["x", "y"],
        ["center_x"],
        ["x_centroid"],
        ["area"],
        ["EntityID"],
        ["Unnamed: 0"],
        ["leiden"],
        ["nCount_RNA"],
        ["n_genes_by_counts"],
        ["seurat_clusters"],
        ["orig.ident"],
        ["RNA_snn_res.0.8"],
        ["G2M.Score"],
        ["leiden_res0.5"],
        ["cell_type_id"],
        ["class"],
        ["tSNE_1"],
        ["PC1"],
        ["log1p_total_counts"],
        ["unassigned_codeword_counts"],
        ["max_y"],
        ["Area.um2"],
        ["CenterX_global_px"],
        ["Mean.DAPI"],
        ["Max.CD45"],
        ["timepoint"],
    ],
)
def test_what_numbers_or_places_cells_is_no_gene(put, heads):
    frame = pd.DataFrame(np.arange(18).reshape(3, 6), index=BARCODES, columns=[*PANEL])
    for place, head in enumerate(heads):
        frame.insert(place, head, [1, 2, 3])
    with refused(InvalidValue, "path") as caught:
        read_cells(put(frame.to_csv()))
    assert heads[0] in str(caught.value)
    with refused(InvalidValue, "path"):
        read_cells(put(frame.T.to_csv()), transpose=True)


@pytest.mark.parametrize("head", ["Length", "chr", "Start", "entrez_id"])
def test_what_describes_genes_is_no_cell(put, head):
    frame = pd.DataFrame(np.arange(18).reshape(6, 3), index=PANEL, columns=BARCODES)
    frame.insert(0, head, 5)
    with refused(InvalidValue, "path") as caught:
        read_cells(put(frame.to_csv()), transpose=True)
    assert head in str(caught.value)


def test_no_gene_is_taken_for_what_describes_cells():
    symbols = map(headers.plain, nomenclature()["symbol"])
    assert not [*filter(_tables._OF_CELLS.fullmatch, symbols)]


def test_flies_have_a_gene_y(put):
    assert "y" in read_cells(put("cell,y,w,Act5C\na,1,2,3\nb,4,5,6\n")).var_names


def test_cosmx(put, caplog):
    text = "fov,cell_ID,AATK,ABL1,NegPrb1\n10,0,9,9,9\n10,1,1,0,0\n10,10,2,2,1\n11,1,0,3,0\n"
    adata = read_cells(put(text, "x_exprMat_file.csv"))
    assert names(adata) == (["10_1", "10_10", "11_1"], ["AATK", "ABL1", "NegPrb1"])
    np.testing.assert_array_equal(adata.X[1], [2, 2, 1])
    assert "cell_ID 0" in caplog.text
    other = '"cell_ID","fov","AATK","ABL1"\n1,10,1,0\n2,10,2,2\n'
    assert list(read_cells(put(other)).obs_names) == ["10_1", "10_2"]


@pytest.mark.parametrize("head", ["", "cell", "EntityID"])
def test_merscope(put, head):
    ids = ["158338415400020001", "158338415400020002"]
    text = pd.DataFrame(1, index=pd.Index(ids, name=head), columns=[*PANEL, "Blank-1"]).to_csv()
    assert names(read_cells(put(text))) == (ids, [*PANEL, "Blank-1"])


@pytest.mark.parametrize("start", [0, 1])
def test_numbers_of_rows_can_be_names_of_cells(put, start):
    frame = pd.DataFrame(1, index=range(start, start + 3), columns=GENES)
    assert list(read_cells(put(frame.to_csv())).obs_names) == [*map(str, frame.index)]


def test_blocks(put, monkeypatch):
    """Texts, and names, in later blocks of rows."""
    monkeypatch.setattr("glfs_bio.io._tables._AT_ONCE", 12)
    frame = pd.DataFrame(
        np.arange(60.0).reshape(20, 3), index=[f"c{i}" for i in range(20)], columns=GENES
    )
    adata = read_cells(put(frame.to_csv()))
    np.testing.assert_array_equal(adata.X, frame)
    assert list(adata.obs_names) == list(frame.index)
    path = put(frame.to_csv().replace("c15,", "c15,x"))
    with refused(InvalidValue, "path") as caught:
        read_cells(path)
    assert "c15" in str(caught.value)


def test_a_comment_can_be_the_header(put):
    text = "# made here\n#gene\ts1\ts2\nCD3D\t1\t2\nLYZ\t3\t4\n"
    assert names(read_cells(put(text, "t.tsv"), transpose=True)) == (["s1", "s2"], ["CD3D", "LYZ"])


@pytest.mark.parametrize("start", [0, 1])
def test_numbers_of_rows_are_no_gene(put, start):
    """As a table that R read and wrote again has them."""
    frame = pd.DataFrame(1, index=[f"c{i}" for i in range(6)], columns=GENES)
    frame.insert(0, "X", range(start, start + 6))
    with refused(InvalidValue, "path") as caught:
        read_cells(put(frame.to_csv()))
    assert "(X)" in str(caught.value)


def test_numbers_can_be_names_below_a_comment(put):
    text = "# genes of NCBI\ncell,109979,18952\na,1,2\nb,3,4\n"
    assert names(read_cells(put(text), transpose=False))[1] == ["109979", "18952"]


def test_a_line_below_the_table_does_not_hide_it(put):
    assert names(read_cells(put(TABLE + "Source: blood\n")))[0] == ["a", "b", "Source: blood"]
