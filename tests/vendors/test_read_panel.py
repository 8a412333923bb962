"""Panels in the forms of vendors and of people: files as they are documented, with own genes."""

from __future__ import annotations

import copy
import datetime
import gzip
import json
import pickle
import re
import sys
import zipfile
from contextlib import suppress
from itertools import product

import numpy as np
import openpyxl
import pytest
from refusals import accepted, refused

import glfs_bio
from glfs_bio.errors import (
    FileMissing,
    InvalidType,
    InvalidValue,
    NotFound,
    PackageMissing,
    Refusal,
)
from glfs_bio.io import read_panel
from glfs_bio.vendors import sheets

IDS = {"CD3D": "ENSG00000167286", "MS4A1": "ENSG00000156738", "NKG7": "ENSG00000105374"}
GENES = [*IDS]


@pytest.fixture
def write(tmp_path):
    """Write texts, bytes, documents of JSON, or pages of a workbook, and return the path."""

    def file(name, content):
        path = tmp_path / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif name.endswith(".xlsx"):
            workbook(path, content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
        return path

    return file


def workbook(path, pages):
    """A workbook of pages, of which those that begin with `hidden` are."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in pages.items():
        page = book.create_sheet(title)
        page.sheet_state = "hidden" if title.startswith("hidden") else "visible"
        for row in rows:
            page.append(row)
    book.save(path)


PREDESIGNED = "\n".join(
    [
        "Genes,Ensembl_ID,Num_Probesets,Codewords,Annotation",
        *(f"{gene},{gene_id},8,1,marker" for gene, gene_id in IDS.items()),
        "NegControlProbe_00042,,,,",
    ]
)
CODEBOOK = """# version 1
name,id,barcodeType,b1,b2,b3
CD3D,ENST00000300692,merfish,1,1,0
MS4A1,ENST00000345732,merfish,1,0,1
NKG7,ENST00000221978,merfish,0,1,1
Blank-0,,merfish,1,1,1
Blank-12,,merfish,0,0,1
"""
COSMX = [
    *(["Genes of a test"], ["Display Name", "Description"]),
    *([name, "x"] for name in [*GENES, "Negative1", "SystemControl3", "NegPrb07"]),
]
TABLE = "\n".join(["gene", *GENES])
DOCUMENT = {"payload": {"targets": [{"type": {"descriptor": "gene", "data": {"name": "CD3D"}}}]}}
KIT = {"Targets": [{"DisplayName": "CD3D", "CodeClass": "Endogenous"}]}
LANE = (
    "<Header>\nFileVersion,1.6\n</Header>\n\n<Code_Summary>\nCodeClass,Name,Accession,Count\n"
    + (
        "Endogenous,CD3D,NM_1,120\nEndogenous,MS4A1,NM_2,3\nEndogenous,NKG7,NM_3,9\n"
        "Positive,POS_A(128),ERCC_1,50\nNegative,NEG_A(0),ERCC_2,5\n</Code_Summary>\n"
    )
)

#: Of each: content, form, and controls.
FORMS = {
    "predesigned.csv": (PREDESIGNED, "table", 1),
    "order.csv": (
        f"Gene,Ensembl ID,Probe sets,Force\nCD3D,{IDS['CD3D']},,\nMS4A1,{IDS['MS4A1']},4,forced\n"
        f"NKG7,{IDS['NKG7']},,\n",
        "table",
        0,
    ),
    "codebook.csv": (CODEBOOK, "codebook", 2),
    "cosmx.xlsx": ({"Sheet": [["About this list"]], "Genes": COSMX}, "table", 3),
    "lane.RCC": (LANE, "table", 2),
    "msigdb.grp": ("A_SET\n> Genes of a test.\nCD3D\nMS4A1\nNKG7\n", "table", 0),
    "list.txt": ("\n".join(GENES), "table", 0),
    "sets.gmt": ("\t".join(["T", "x", *GENES]), "gene sets", 0),
    "packed.csv.gz": (gzip.compress(TABLE.encode()), "table", 0),
}


@pytest.fixture
def form(write):
    return lambda name: write(name, FORMS[name][0])


def test_forms(form):
    wrong = {}
    for name, (_, called, n_controls) in FORMS.items():
        panel = read_panel(form(name))
        expected = (GENES, called, n_controls, [])
        if (panel, panel.form, len(panel.controls), panel.repeated) != expected:
            wrong[name] = panel.form, [*panel], panel.controls
        assert list(panel.table["gene"]) == GENES
        if name in ("predesigned.csv", "order.csv"):
            assert list(panel.table["id"]) == [*IDS.values()]
    assert not wrong
    assert list(read_panel(form("predesigned.csv")).table["n_probe_sets"]) == [8, 8, 8]


def test_controls_are_no_genes_anywhere(write, caplog):
    names = ["NegControlCodeword_0500", "UnassignedCodeword_0001", "antisense_GAPDH", "BLANK_0006"]
    panel = read_panel(write("a.txt", "\n".join([*names, *GENES, "FalseCode1"])))
    assert panel == GENES
    assert panel.controls == [*names, "FalseCode1"]
    assert "5 controls" in caplog.text
    similar = ["NEGR1", "BLNK", "NEG", "POSTN", "SYS1", "antisense"]
    assert read_panel(write("a.txt", "\n".join(similar))) == similar


def test_a_panel_is_a_list(write, form):
    panel = read_panel(form("order.csv"))
    for other in (copy.deepcopy(panel), pickle.loads(pickle.dumps(panel))):
        assert (other, other.form) == (panel, panel.form)
    panel = read_panel(write("a.csv", "gene\nCD3D\nLYZ\nCD3D\n"))
    assert (panel, panel.repeated) == (["CD3D", "LYZ"], ["CD3D"])


def test_a_file_is_a_panel_everywhere(pbmc, form):
    path = form("predesigned.csv")
    for given in (str(path), path, read_panel(path)):
        table = glfs_bio.tl.explain_panel(pbmc, given, inplace=False)
        assert list(table["gene"]) == GENES
    assert len(glfs_bio.tl.extend_panel(pbmc, str(path), len(GENES) + 1, inplace=False)) == 1
    # by ids where the data have ids
    ids = {gene: IDS.get(gene, f"ENSG9{i:010d}") for i, gene in enumerate(pbmc.var_names)}
    pbmc.var_names = [ids[gene] for gene in pbmc.var_names]
    table = glfs_bio.tl.explain_panel(pbmc, path, inplace=False)
    assert list(table["gene"]) == [*IDS.values()]


def test_dates_and_numbers_are_no_names(write):
    dates = [
        *("1-Mar", "01-Dez", "Mar-01", "2021-03-01", "2021-03-01 00:00:00", "3/1/2021"),
        "2.31E+19",
    ]
    for name, ending in product(dates, ("txt", "csv")):
        with refused(InvalidValue, "path") as caught:
            read_panel(write(f"a.{ending}", f"gene\nCD3D\n{name}\nLYZ\n"))
        assert name in str(caught.value)
        if name == "1-Mar":
            assert "MARCHF1 (MARCH1)" in str(caught.value)
            assert "MTARC1 (MARC1)" in str(caught.value)
    for genes in (["dec-1", "sep-1", "mar-2"], ["1700001C02Rik", "H2-K1"]):
        assert read_panel(write("a.txt", "\n".join(genes))) == genes


#: Files of CD3D, MS4A1, and NA, which looks like a missing value.
WITH_NA = {
    "unseen.txt": "\ufeffCD3D\u200b\n\u00a0MS4A1\u00a0\n\u2060NA\n",
    "unseen_notes.txt": "\ufeff\ufeff# T and B\nCD3D\u00a0# T\nMS4A1\nNA\n",
    "r_vector.txt": '"x"\n"1" "CD3D"\n"2" "MS4A1"\n"3" "NA"\n',
    "r_shift.csv": '"Gene","n"\n"1","CD3D",3\n"2","MS4A1",4\n"3","NA",5\n',
    "names_first.csv": "Ensembl ID,gene_name\nENSG1,CD3D\nENSG2,MS4A1\nENSG3,NA\n",
    "unnamed_ids.csv": ",gene_ids,mine\n5,CD3D,x\n9,MS4A1,y\n12,NA,z\n",
    "titles.csv": "Name,My panel\nSpecies,Human\nGene,Origin\nCD3D,a\nMS4A1,b\nNA,c\n",
    "separator.csv": "sep=;\ngene;n\nCD3D;1\nMS4A1;2\nNA;3\n",
    "ranks.csv": "Rank,Gene\n1,CD3D\n2,MS4A1\n3,NA\n",  # RANK is a gene, too
    "marks.csv": "Gene,Selected\nCD3D,x\nLYZ,\nMS4A1,X\nNA,✓\n",
    "german.csv": "Gen;log2FC\nCD3D;1,5\nMS4A1;2,25\nNA;0,1\n",
    "excluded.csv": "gene,exclude\nCD3D,\nMS4A1,no\nLYZ,yes\nNA,\n",
    "chosen.csv": ",selection,rank\nCD3D,True,1\nLYZ,False,\nMS4A1,True,2\nNA,True,3\n",
    "again.csv": "Gene,Type\nCD3D,T\nGene,Type\nMS4A1,B\nNA,M\n",
    "comments.txt": "# T and B\nCD3D  # T\n\n  MS4A1\nCD3D\n\nNA",
    "comments.csv": "#file_format=1.0\ngene,n\nCD3D,1\nMS4A1,1\n,1\nNA,1\n",
    "roles.csv": "assay,kind\nCD3D,gene\nMS4A1,gene\nNA,control\n",
}
#: Of four genes, several in a cell or on a line, or below a head that says nothing.
OF_FOUR = {
    "lines.txt": "CD3D, CD3E\nMS4A1 | CD79A\n",
    "breaks.csv": 'type,genes\nT,"CD3D\nCD3E"\nB,"MS4A1\r\nCD79A"\n',
    "wrapped.txt": "CD3D, CD3E,\nMS4A1, CD79A\n",
    "no_last_head.csv": "gene,n\nCD3D,1,x\nCD3E,2,y\nMS4A1,3,z\nCD79A,4,z\n",
    "r_markers.txt": '"p_val" "fc"\n"CD3D" 0 2\n"CD3E" 0 2\n"MS4A1" 0 2\n"CD79A" 0 2\n',
}
OTHERS = {
    "reactome.gmt": ("T\tx\tCSF2 gene\tCD3D\n", ["CSF2 gene", "CD3D"]),
    "lower.csv": ("Target,assay\ngene,cd3d\ncontrol,ms4a1\ngene,actb\n", ["cd3d", "ms4a1", "actb"]),
    "of_fish.csv": ("gene,cluster\nown1,NK\nown2,T\nown3,B\n", ["own1", "own2", "own3"]),
    "complement.csv": ("gene,fluid\nC3,x\nF12,y\n", ["C3", "F12"]),  # called as wells are
    "unicode_of_excel.txt": ("gene\tn\r\nCD3D\t1\r\n".encode("utf-16"), ["CD3D"]),
}


def test_lists_and_tables_of_people(write):
    cases = {name: (text, ["CD3D", "MS4A1", "NA"]) for name, text in WITH_NA.items()}
    cases |= {name: (text, ["CD3D", "CD3E", "MS4A1", "CD79A"]) for name, text in OF_FOUR.items()}
    wrong = {}
    for name, (content, genes) in {**cases, **OTHERS}.items():
        panel = read_panel(write(name, content))
        if panel != genes:
            wrong[name] = [*panel]
    assert not wrong


def test_which_rows_are_the_panel_is_logged(write, caplog):
    caplog.set_level("INFO", "glfs_bio")
    read_panel(write("a.csv", "gene,selected\nCD3D,TRUE\nLYZ,FALSE\nMS4A1,TRUE\n"))
    assert "2 rows" in caplog.text


UNCLEAR = {
    "of_comment.tsv": "#made by X\n#gene\tscore\nCD3D\t1\nMS4A1\t2\nNA\t3\n",
    "roles.csv": '"A1BG","of liver","gene"\n"a1bg-as1","other","control"\n',
    "roles_and_numbers.csv": '"a1bg","of liver","0.25","gene"\n"a1bg-as1","other","1","control"\n',
    "with_flags.csv": "#gene,gene_id,in_panel\nCD3D,ENSG00000167286,TRUE\nCD4,,FALSE\n",
    "one_line.csv": "CD3D,CD3E,MS4A1,CD79A\n",
    "chosen_twice.csv": ",one_selected,two_selected\nCD3D,True,False\nLYZ,False,True\n",
    # row numbers are no genes
    "ranked.csv": ",0_names,0_scores,1_names,1_scores\n0,HBA2,5.0,FZD3,5.5\n1,HBA1,4.8,CD4,5.4\n",
    "gene_panel.json": DOCUMENT,
    "kit.json": KIT,
    "kit.pkc": KIT,
    "bd.fasta": ">CD3D|NM_000732.4|PolyA_1\nACGT\n",
    "entrez.txt": "915\n916\n",
    "strange.csv": "gene,probes\nCD3D,3\nLYZ,n/a\n",
    "titled.txt": "Lung panel, version 2\nCD3D\nCD3E\nMS4A1\nCD79A\n",
    "two_genes.csv": "Gene,n,Gene\nCD3D,1,LYZ\nCD4,2,NKG7\n",
    "none_chosen.csv": "gene,selected\nCD3D,FALSE\n",
    "latin.csv": b"gene,n\nCD3D,\xe9\n",
    "comments.txt": "# nothing\n\n",
    "sum.csv": "Target,Price\nCD3D,1\nMS4A1,1\nTotal,2\n",
    "dash.txt": "CD3D\n-\nMS4A1\n",
    "scores.csv": "score\n1.5\n2.5\n0.3\n",
    # genes that nobody knows, below a title, or beside what may be genes, too
    "caption_of_r.csv": 'My genes, version 2\n"X","note"\n"A1BG","x"\n"CD3D","y"\n',
    "caption.csv": "Table S1. Genes of X,\nassay,kind\nCD3D,a\nMS4A1,b\nNA,c\n",
    "no_head.csv": "class,\nreporter,adcy5\nprobe,CD79A\n",
    "in_lower_case.csv": "T,bach1-it2,x\nB,ACER2,y\n",
    "pairs.txt": "chr,\nchr1,own1\nX,own2\n",
    "title.tsv": "Genes\t\ngene\tnote\nown1\tx\nown2\ty\n",
    "fish_roles.csv": "role,\ngene,own1\ncontrol,own2\n",
    "fish_classes.csv": "own1,target\nown2,reporter\nown3,target\nown4,probe\n",
    "wells.csv": "well,what\nB12,x\nA1,y\n",
    "title.txt": "Table S1. Genes\nFeature\nown1\nown2\n",
    "numbers.txt": "1,own1\n2,own2\n",
    "blanks.txt": f"CD3D\nx{' ' * 200_000}y\n",  # not in the square of their number
    "hidden.xlsx": {"hidden": [["gene"], ["CD3D"]], "Notes": [["a", "b"], ["c", "d"]]},
    "formula.xlsx": {"Sheet": [["gene", "price"], ["CD3D", "=1+1"]]},  # nobody computed it
    "urls.txt": "https://x.org/CD3D\nhttps://x.org/CD3E\n",
    "antibodies.csv": "id,name,feature_type\nCD3,CD3,Antibody Capture\n",
    "backups.csv": "Gene,Group,Must have,Is backup\nCD3E,T,,TRUE\n",
    "bits.csv": f"{CODEBOOK}LYZ,ENST1,merfish,1,2,0\n",
    "fewer_bits.csv": f"{CODEBOOK}LYZ,E,merfish,1,0\n",
    "laboratory.csv": "name,id,bit1,bit2,bit3\nCD3D,ENST1,1,0,2\nLYZ,ENST2,0,,1\n",
    "lost_zeros.xlsx": {"Sheet": [["Gene", "Barcode"], ["CD3D", 110], ["LYZ", 1001]]},
    "date.xlsx": {"Sheet": [["gene"], ["CD3D"], [datetime.datetime(2026, 9, 1)]]},
}


def test_what_may_be_several_things_is_refused(write):
    assert not accepted(lambda name: read_panel(write(name, UNCLEAR[name])), UNCLEAR)
    lines = [
        *("1,CD3D", "CD3D,0.5", "CD3D 0.5", "1. CD3D", "- CD3D", "• CD3D"),
        *('[1] "CD3D"  "LYZ"', "CD79A [B cell]", "CD79A[B]", "CD79A (B cell)"),
    ]
    assert not accepted(lambda line: read_panel(write("line.txt", f"{line}\nLYZ\n")), lines)


def test_ids_of_genes_alone_are_ids(write):
    """What else a column of ids has is a name of the gene elsewhere."""
    for head, gene_id, column in (
        ("Ensemble ID", "ENSG00000167286", "id"),
        ("gene_ids", "WBGene00000001", "id"),
        ("Locus", "AT1G01010", "id"),
        ("Accession", "NM_000732.6", "name"),
        ("ID", "A01", "name"),
    ):
        panel = read_panel(write("a.csv", f"{head},Gene name\n{gene_id},x1\n,x2\n{gene_id}9,\n"))
        assert panel[:2] == ["x1", "x2"]
        assert list(panel.table[column])[:2] == [gene_id, ""]
        assert column == "id" or set(panel.table["id"]) == {""}
        assert len(panel) == 3  # a gene that has an id alone is called by it


OF_10X = "Gene,Ensembl ID,{},Force design\nCD3D,ENSG00000167286,3,forced\n"
#: Tables of CD3D alone, and what stands beside it.
COLUMNS = {
    ",gene_ids,n\nCD3D,ENSG00000167286,1\n": {"id": IDS["CD3D"]},
    ",gene_name,n\nENSG00000167286.14,CD3D,1\n": {"id": IDS["CD3D"]},
    "Gene Input,Vizgen Gene,Ensemble ID,Transcript,Notes,Abundance,Target Regions,Type\n"
    "ENST00000300692,CD3D,ENSG00000167286,ENST00000300692,,16.4,58,MERFISH\n": {
        **{"id": IDS["CD3D"], "n_probe_sets": 58}
    },
    "gene,gene_id,num_codewords,num_probesets\nCD3D,E1,3,2\n": {
        **{"n_probe_sets": 2, "codewords": "3"}
    },
    OF_10X.format("Number of probe sets"): {"n_probe_sets": 3, "force": "forced"},
    "Gene,Group,Must have,Is backup\nCD3D,T,TRUE,FALSE\n": {**{"group": "T", "must_have": "TRUE"}},
    "Gene,Barcode\nCD3D,0132\n": {"codewords": "0132"},  # of another alphabet: a text
}


def test_columns_by_what_people_call_them(write):
    wrong = {}
    for text, expected in COLUMNS.items():
        panel = read_panel(write("a.csv", text))
        assert panel == ["CD3D"], text
        assert panel.codebook is None
        row = panel.table.loc[0]
        if {name: row[name] for name in expected} != expected:
            wrong[text] = dict(row)
    assert not wrong


def test_backups_are_not_in_the_panel(write):
    head = "Gene,Group,Must have,Is backup\n"
    panel = read_panel(write("a.csv", f"{head}CD3D,T,yes,no\nCD3E,T,,Yes\nLYZ,M,,\nLYZ,M,,x\n"))
    assert panel == ["CD3D", "LYZ"]
    panel = read_panel(write("b.csv", "gene,priority\nCD3D,1\nCD3E,2\n"))
    assert panel == ["CD3D", "CD3E"]


CODEBOOKS = {
    "merlin": "name,id,bit1,bit2,bit3,bit4\nCD3D,ENST1,1,1,0,0\nMS4A1,ENST2,0,1,1,0\n"
    "Blank-01,,1,0,0,1\n",
    "of any head": "name,id,750_0,647_0,750_1,647_1\nCD3D,ENST1,1,1,0,0\nMS4A1,,0,1,1,0\n"
    "notarget1,,1,0,0,1\n",
    "Zhuang": "version, 1.0\ncodebook_name, L26E1\nbit_names, R1, R2, R3, R4\nname, id, barcode\n"
    "CD3D, ENST1, 1100\nMS4A1, ENST2, 0110\nBlank-1, , 1001\n",
    "codeword": "Gene\tCodeword\nCD3D\t1 1 0 0\nMS4A1\t0 1 1 0\nBlank\t1 0 0 1\n",
    "rounds": "gene,R1,R2,R3,R4\nCD3D,1,1,0,0\nMS4A1,0,1,1,0\nblank_3,1,0,0,1\n",
}


def test_codebooks(write, form):
    for name, text in CODEBOOKS.items():
        panel = read_panel(write("a.tsv" if "\t" in text else "a.csv", text))
        assert panel == ["CD3D", "MS4A1"], name
        assert len(panel.controls) == 1, name
        np.testing.assert_array_equal(panel.codebook, [[1, 1, 0, 0], [0, 1, 1, 0]], name)
        assert list(panel.codebook.index) == panel
    path = form("codebook.csv")
    np.testing.assert_array_equal(read_panel(path).codebook, [[1, 1, 0], [1, 0, 1], [0, 1, 1]])
    assert read_panel(path, column="id")[0].startswith("ENST")
    flags = "gene,id,is_tf,is_ligand,is_receptor\nCD3D,E1,0,0,1\nLYZ,E2,0,1,0\n"
    for other in (form("list.txt"), write("flags.csv", flags)):
        assert read_panel(other).codebook is None


def test_column_sheet_and_set_by_name(write):
    titled = write("titled.csv", "A panel of X\nmine,other\nCD3D,1\nMS4A1,2\n")
    assert read_panel(titled, column="mine") == ["CD3D", "MS4A1"]
    table = write("table.csv", "gene,ligand\nCD3D,IL6\nMS4A1,TNF\n")
    assert read_panel(table, column="ligand") == ["IL6", "TNF"]
    sets = write("sets.gmt", "T\tx\tCD3D\nB\tx\tMS4A1\n")
    assert read_panel(sets, set_name="B") == ["MS4A1"]
    pages = {"Sheet": [["n", "Gene"], [1, "CD3D"], [2, "NA"], [3, None]], "T": [["CD4"], ["CD8A"]]}
    book, lines = write("book.xlsx", pages), write("lines.txt", "CD3D\n")
    assert read_panel(book) == ["CD3D", "NA"]
    assert read_panel(book, sheet="T") == ["CD4", "CD8A"]
    assert read_panel(book, column="n") == ["1", "2", "3"]
    for path, argument, value, error in (
        *((table, "column", "x", NotFound), (table, "column", 1, InvalidType)),
        *((table, "sheet", "x", InvalidValue), (book, "sheet", "x", NotFound)),
        *((lines, "column", "x", NotFound), (lines, "set_name", "x", InvalidValue)),
        (sets, "set_name", "x", NotFound),
    ):
        with refused(error, argument):
            read_panel(path, **{argument: value})


def test_what_this_package_writes(pbmc, tmp_path):
    glfs_bio.pp.select_genes(pbmc, 5)
    best = list(pbmc.var[pbmc.var["glfs_selected"]].sort_values("glfs_rank").index)
    glfs_bio.io.write_genes(pbmc, tmp_path / "panel.csv")
    glfs_bio.io.write_genes(pbmc, tmp_path / "all.csv", selected_only=False)
    for name in ("panel.csv", "all.csv"):
        assert read_panel(tmp_path / name) == best, name
    pbmc.var.to_csv(tmp_path / "var.csv")
    assert set(read_panel(tmp_path / "var.csv")) == set(best)


def test_missing_files_and_packages(write, tmp_path, monkeypatch):
    with refused(FileMissing, "path"):
        read_panel(tmp_path / "no.csv")
    with refused(InvalidType, "path"):
        read_panel(5)
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with refused(PackageMissing, "python_calamine"):
        read_panel(write("a.xlsx", b"x"))


def test_formulas_of_other_people_are_not_left_out(write):
    rows = [["gene", "price"], ["CD3D", 1], ["LYZ", 4]]
    for cell in ("=A2", "=UPPER(A2)", "#REF!", "#N/A"):
        with refused(InvalidValue, "path"):
            read_panel(write("a.xlsx", {"Sheet": [*rows, [cell, 3]]}))


GROUPS = [["Group", "Gene"], ["T", "CD3D"], ["B", "MS4A1"]]
NOTES = [["This is a panel"], ["of two genes"]]
BOOKS = {
    "notes first": {"Notes": NOTES, "Genes": GROUPS},
    "a hidden sheet first": {"hidden": [["gene"], ["LYZ"]], "Genes": GROUPS},
    "notes and genes that nobody knows": {
        "Notes": NOTES,
        "Genes": [["Display Name"], ["CD3D"], ["MS4A1"], *[[f"x{n}"] for n in range(3)]],
    },
    "titles above": {"Genes": [["Panel of X"], [], ["2 genes", None], *GROUPS]},
    "one column": {"Words": [["a", "b"], ["c", "d"]], "Genes": [["CD3D"], ["MS4A1"]]},
}


def test_the_sheet_that_has_the_genes(write):
    wrong = [
        what
        for what, pages in BOOKS.items()
        if read_panel(write("a.xlsx", pages))[:2] != ["CD3D", "MS4A1"]
    ]
    assert not wrong
    path = write("a.xlsx", {"One": [["a", "b"], ["c", "d"]], "Two": [["e", "f"], ["g", "h"]]})
    with refused(InvalidValue, "path") as caught:
        read_panel(path)
    assert "One" in str(caught.value)
    assert "Two" in str(caught.value)
    assert read_panel(path, sheet="Two", column="f") == ["h"]


def test_workbooks_whose_dimensions_are_wrong(write, tmp_path):
    """As other programs write them."""
    written = zipfile.ZipFile(write("a.xlsx", {"Genes": GROUPS}))
    with zipfile.ZipFile(tmp_path / "b.xlsx", "w") as book:
        for name in written.namelist():
            part = re.sub(b'<dimension ref="[^"]*"', b'<dimension ref="A1"', written.read(name))
            book.writestr(name, part)
    assert read_panel(tmp_path / "b.xlsx") == ["CD3D", "MS4A1"]


#: Attributes and names of parts as Strict Excel, Java and others write them.
STRICT = "http://purl.oclc.org/ooxml/"
CHANGES = {
    "strict": [
        (
            b"http://schemas.openxmlformats.org/spreadsheetml/2006/",
            f"{STRICT}spreadsheetml/".encode(),
        ),
        (
            b"http://schemas.openxmlformats.org/officeDocument/2006/relationships",
            f"{STRICT}officeDocument/relationships".encode(),
        ),
    ],
    "prefixed": [
        (rb"<(/?)(worksheet|sheetData|row|c|v|is|t|f)\b", rb"<\1x:\2"),
        (b"xmlns=", b"xmlns:x="),
    ],
    "without places": [(rb' r="[A-Z]*\d+"', b"")],
    "of formats": [(rb'(<c r="\w+")(?=><f>)', rb'''\1 s='0' cm="1" t='n' vm="0"''')],
}


def changed(path, changes, name="sheet1.xml"):
    """Change the parts of a workbook that end so by expressions, and return its path."""
    parts = {}
    with zipfile.ZipFile(path) as book:
        parts = {part: book.read(part) for part in book.namelist()}
    with zipfile.ZipFile(path, "w") as book:
        for part, content in parts.items():
            for expression, text in changes if part.endswith(name) else ():
                content = re.sub(expression, text, content)
            book.writestr(part, content)
    return path


@pytest.mark.parametrize("form", CHANGES)
def test_workbooks_of_other_programs(write, form):
    path = write("a.xlsx", {"Genes": [*GROUPS, *GROUPS[1:] * 2, ["NK", "=A2"]]})
    name = "" if form == "strict" else "sheet1.xml"
    with refused(InvalidValue, "path") as caught:
        read_panel(changed(path, CHANGES[form], name))
    assert "formulas that nobody computed" in str(caught.value)
    path = changed(write("a.xlsx", {"Genes": GROUPS}), CHANGES[form], name)
    assert read_panel(path) == ["CD3D", "MS4A1"]


def test_workbooks_that_would_fill_the_memory(write, monkeypatch):
    """Calamine makes every cell up to the last, and ends the process where there is no memory."""
    wide = b"<c/>" * 10_000 + b"<c><v>1</v></c></row>"
    for places in (
        [(b'r="B3"', b'r="XFD1048576"')],
        [(b'r="B3"', b"r = 'xfd1048576'")],
        [(rb' r="B3"', b""), (rb'r="3"', b'r="9999999"')],
        [(rb' r="[A-Z]*\d+"', b""), (b"<row>", b"<row/>" * 10_000 + b"<row>"), (b"</row>", wide)],
    ):
        with refused(InvalidValue, "path") as caught:
            read_panel(changed(write("a.xlsx", {"Genes": GROUPS}), places))
        assert "too large" in str(caught.value)
    monkeypatch.setattr("glfs_bio.vendors.sheets._MOST_BYTES", 1000)
    with refused(InvalidValue, "path"):
        read_panel(write("a.xlsx", {"Genes": GROUPS}))


def test_columns_are_counted_by_their_letters(write, monkeypatch):
    """Of 30 columns and 60 rows; letters of AD may name 702 columns."""
    monkeypatch.setattr("glfs_bio.vendors.sheets._MOST_CELLS", 10_000)
    rows = [["CD3D", *map(str, range(29))], ["MS4A1"] + [""] * 29] * 30
    assert read_panel(write("a.xlsx", {"A": [["gene", *["note"] * 29], *rows]})) == [
        "CD3D",
        "MS4A1",
    ]


def test_numbers_of_workbooks(write):
    rows = [["GeneID", "is backup"], [109979.0, True], [914, False]]
    panel = read_panel(write("a.xlsx", {"A": rows}), column="GeneID")
    assert panel == ["914"]


def test_a_column_is_looked_at_a_few_times_whatever_their_number(write, monkeypatch):
    """A matrix of cells is no panel, and is refused in time that is linear in its columns."""
    looked, kind_of = [], sheets.kind_of
    monkeypatch.setattr(sheets, "kind_of", lambda *cells: looked.append(0) or kind_of(*cells))
    lines = [["gene", *map("cell{}".format, range(500))], *([gene] + ["1"] * 500 for gene in GENES)]
    path = write("cells.csv", "\n".join(map(",".join, lines)))
    with suppress(Refusal):
        read_panel(path)
    assert 0 < len(looked) < 3 * 501
