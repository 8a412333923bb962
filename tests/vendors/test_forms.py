"""Panels in the forms of vendors and of people: files as they are documented, with own genes."""

from __future__ import annotations

import copy
import datetime
import gzip
import json
import pickle
import re
import zipfile

import numpy as np
import pandas as pd
import pytest
from refusals import refused

import glfs_bio
from glfs_bio.errors import FileMissing, InvalidType, InvalidValue, NotFound, PackageMissing
from glfs_bio.io import read_panel

IDS = {"CD3D": "ENSG00000167286", "MS4A1": "ENSG00000156738", "NKG7": "ENSG00000105374"}
GENES = [*IDS]


def predesigned(path, first="Genes"):
    rows = [f"{gene},{gene_id},8,1,marker" for gene, gene_id in IDS.items()]
    rows.append("NegControlProbe_00042,,,,")
    path.write_text("\n".join([f"{first},Ensembl_ID,Num_Probesets,Codewords,Annotation", *rows]))


def custom_list(path):
    rows = [f"{gene},{gene_id},," for gene, gene_id in IDS.items()]
    rows[1] = f"MS4A1,{IDS['MS4A1']},4,forced"
    path.write_text("\n".join(["Gene,Ensembl ID,Probe sets,Force", *rows]))


def target(name, gene_id="", descriptor="gene", codewords=(7,)):
    data = {"name": name, "id": gene_id}
    return {
        "type": {"descriptor": descriptor, "data": data},
        "codewords": list(codewords),
        "info": {"gene_coverage": 5},
    }


def document():
    targets = [target(gene, gene_id) for gene, gene_id in IDS.items()]
    targets.append(target("BLANK_0001", "BLANK_0001", "blank"))
    targets.append(target("spike", "spike", "negative_control_probe"))
    identity = {"name": "A panel of a test"}
    panel = {"identity": identity, "species": "Human", "tissue": "Blood", "num_gene_targets": 3}
    return {"payload": {"panel": panel, "targets": targets}}


def panel_json(path):
    path.write_text(json.dumps(document()))


def codebook(path):
    rows = [
        "# version 1",
        "name,id,barcodeType,b1,b2,b3",
        "CD3D,ENST00000300692,merfish,1,1,0",
        "MS4A1,ENST00000345732,merfish,1,0,1",
        "NKG7,ENST00000221978,merfish,0,1,1",
        "Blank-0,,merfish,1,1,1",
        "Blank-12,,merfish,0,0,1",
    ]
    path.write_text("\n".join(rows))


def cosmx(path):
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(["About this list"])
    page = book.create_sheet("Genes")
    page.append(["Genes of a test"])
    page.append(["Display Name", "Description"])
    for gene in [*GENES, "Negative1", "SystemControl3", "NegPrb07"]:
        page.append([gene, "x"])
    book.save(path)


#: Of each: file, form, and controls.
FORMS = {
    "predesigned.csv": (predesigned, "10x predesigned panel", 1),
    "order.csv": (custom_list, "10x custom gene list", 0),
    "gene_panel.json": (panel_json, "10x gene_panel.json", 2),
    "codebook.csv": (codebook, "MERSCOPE codebook", 2),
    "cosmx.xlsx": (cosmx, "CosMx gene list", 3),
    "list.txt": (lambda path: path.write_text("\n".join(GENES)), "list", 0),
    "table.csv": (lambda path: path.write_text("\n".join(["gene", *GENES])), "table", 0),
    "sets.gmt": (lambda path: path.write_text("\t".join(["T", "x", *GENES])), "gene sets", 0),
    "packed.csv.gz": (
        lambda path: path.write_bytes(gzip.compress("\n".join(["gene", *GENES]).encode())),
        "table",
        0,
    ),
}


def written(folder, name):
    path = folder / name
    FORMS[name][0](path)
    return path


@pytest.mark.parametrize("name", FORMS)
def test_forms(tmp_path, name):
    _, form, n_controls = FORMS[name]
    panel = read_panel(written(tmp_path, name))
    assert panel == GENES
    assert panel.form == form
    assert len(panel.controls) == n_controls
    assert list(panel.table["gene"]) == GENES
    assert panel.repeated == []


@pytest.mark.parametrize("name", ["predesigned.csv", "order.csv", "gene_panel.json"])
def test_ids_come_along(tmp_path, name):
    assert list(read_panel(written(tmp_path, name)).table["id"]) == [*IDS.values()]


@pytest.mark.parametrize("first", ["Genes", "Gene", "gene_name"])
def test_variants_of_predesigned_panels(tmp_path, first):
    predesigned(tmp_path / "panel.csv", first)
    panel = read_panel(tmp_path / "panel.csv")
    assert (panel, panel.form) == (GENES, "10x predesigned panel")
    assert list(panel.table["n_probe_sets"]) == [8, 8, 8]


def test_what_a_document_says(tmp_path, caplog):
    panel = read_panel(written(tmp_path, "gene_panel.json"))
    assert panel.about["tissue"] == "Blood"
    assert panel.about["name"] == "A panel of a test"
    assert list(panel.table["codewords"]) == ["7"] * 3
    assert "states" not in caplog.text
    content = document()
    content["payload"]["panel"]["num_gene_targets"] = 4
    (tmp_path / "other.json").write_text(json.dumps(content))
    read_panel(tmp_path / "other.json")
    assert "states 4 genes" in caplog.text


def test_bits_of_a_codebook(tmp_path):
    book = read_panel(written(tmp_path, "codebook.csv")).codebook
    assert list(book.index) == GENES
    np.testing.assert_array_equal(book, [[1, 1, 0], [1, 0, 1], [0, 1, 1]])
    assert read_panel(written(tmp_path, "list.txt")).codebook is None


def test_controls_are_no_genes_anywhere(tmp_path, caplog):
    names = ["NegControlCodeword_0500", "UnassignedCodeword_0001", "antisense_GAPDH", "BLANK_0006"]
    (tmp_path / "a.txt").write_text("\n".join([*names, *GENES, "FalseCode1"]))
    panel = read_panel(tmp_path / "a.txt")
    assert panel == GENES
    assert panel.controls == [*names, "FalseCode1"]
    assert "5 controls" in caplog.text


def test_genes_that_sound_like_controls(tmp_path):
    genes = ["NEGR1", "BLNK", "NEG", "POSTN", "SYS1", "antisense"]
    (tmp_path / "a.txt").write_text("\n".join(genes))
    assert read_panel(tmp_path / "a.txt") == genes


def test_repeated_genes_are_told(tmp_path):
    (tmp_path / "a.csv").write_text("gene\nCD3D\nLYZ\nCD3D\n")
    panel = read_panel(tmp_path / "a.csv")
    assert (panel, panel.repeated) == (["CD3D", "LYZ"], ["CD3D"])


def test_a_panel_is_a_list(tmp_path):
    panel = read_panel(written(tmp_path, "order.csv"))
    for other in (copy.copy(panel), copy.deepcopy(panel), pickle.loads(pickle.dumps(panel))):
        assert other == panel
        assert other.form == panel.form


@pytest.mark.parametrize("name", FORMS)
def test_every_form_is_a_panel_everywhere(pbmc, tmp_path, name):
    path = written(tmp_path, name)
    for given in (str(path), path, read_panel(path)):
        table = glfs_bio.tl.explain_panel(pbmc, given, inplace=False)
        assert list(table["gene"]) == GENES
    with_panel = glfs_bio.tl.extend_panel(pbmc, str(path), 1, inplace=False)
    assert len(with_panel) == 1


def test_names_by_id_where_the_data_have_ids(pbmc, tmp_path):
    ids = {gene: IDS.get(gene, f"ENSG9{i:010d}") for i, gene in enumerate(pbmc.var_names)}
    pbmc.var_names = [ids[gene] for gene in pbmc.var_names]
    path = written(tmp_path, "order.csv")
    table = glfs_bio.tl.explain_panel(pbmc, path, inplace=False)
    assert list(table["gene"]) == [*IDS.values()]


@pytest.mark.parametrize(
    "name",
    [
        "1-Mar",
        "2-Sep",
        "01-Dez",
        "Mar-01",
        "2021-03-01",
        "2021-03-01 00:00:00",
        "3/1/2021",
        "2.31E+19",
    ],
)
@pytest.mark.parametrize("ending", ["txt", "csv"])
def test_dates_and_numbers_are_found(tmp_path, name, ending):
    path = tmp_path / f"a.{ending}"
    path.write_text(f"gene\nCD3D\n{name}\nLYZ\n")
    with refused(InvalidValue, "path") as caught:
        read_panel(path)
    assert name in str(caught.value)


def test_what_a_date_may_have_been(tmp_path):
    (tmp_path / "a.txt").write_text("1-Mar\nCD3D\n")
    with refused(InvalidValue, "path") as caught:
        read_panel(tmp_path / "a.txt")
    assert "MARCHF1 (MARCH1)" in str(caught.value)
    assert "MTARC1 (MARC1)" in str(caught.value)


def test_names_that_are_numbers_or_look_like_dates(tmp_path):
    for genes in (["914", "931", "4818"], ["dec-1", "sep-1", "mar-2"], ["1700001C02Rik", "H2-K1"]):
        (tmp_path / "a.txt").write_text("\n".join(genes))
        assert read_panel(tmp_path / "a.txt") == genes


def without(part):
    content = document()
    place = content
    *outer, last = part
    for name in outer:
        place = place[name]
    del place[last]
    return content


BAD_DOCUMENTS = {
    "no payload": {},
    "a list": [1, 2],
    "no targets": without(["payload", "targets"]),
    "empty": {"payload": {"targets": []}},
    "a target that is none": {"payload": {"targets": [3]}},
    "no type": {"payload": {"targets": [{"codewords": [1]}]}},
    "no name": {"payload": {"targets": [{"type": {"descriptor": "gene", "data": {}}}]}},
    "a number for a name": {"payload": {"targets": [target(3)]}},
    "only controls": {"payload": {"targets": [target("x", descriptor="control")]}},
}


@pytest.mark.parametrize("what", BAD_DOCUMENTS)
def test_bad_documents(tmp_path, what):
    path = tmp_path / "gene_panel.json"
    path.write_text(json.dumps(BAD_DOCUMENTS[what]))
    with refused(InvalidValue, "path") as caught:
        read_panel(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"payload": NaN', "9" * 5000])
def test_no_documents(tmp_path, text):
    (tmp_path / "gene_panel.json").write_text(text)
    with refused(InvalidValue, "path"):
        read_panel(tmp_path / "gene_panel.json")


@pytest.mark.parametrize("row", ["NKG7,ENST1,merfish,1,2,0", "NKG7,E,merfish,1,0", "NKG7,,m,,,"])
def test_bad_codebooks(tmp_path, row):
    path = written(tmp_path, "codebook.csv")
    path.write_text(f"{path.read_text()}\n{row}\n")
    with refused(InvalidValue, "path"):
        read_panel(path)


def test_a_column_that_is_named_is_read(tmp_path):
    path = written(tmp_path, "codebook.csv")
    assert read_panel(path, column="id")[0].startswith("ENST")
    path = written(tmp_path, "cosmx.xlsx")
    with refused(NotFound, "sheet"):
        read_panel(path, sheet="nope")


def test_forms_of_workbooks(tmp_path):
    frame = pd.read_csv(written(tmp_path, "predesigned.csv"))
    frame.to_excel(tmp_path / "panel.xlsx", index=False)
    panel = read_panel(tmp_path / "panel.xlsx")
    assert (panel, panel.form) == (GENES, "10x predesigned panel")


def or_refused(path):
    """A panel; no genes where its file is refused by name."""
    try:
        return read_panel(path)
    except InvalidValue as refusal:
        if refusal.argument == "path" and str(path) in str(refusal):
            return []
        raise


@pytest.mark.parametrize("name", FORMS)
def test_damaged_files(tmp_path, name):
    """Read as a panel, or refused by name; seeded bytes."""
    path = written(tmp_path, name)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for trial in range(60):
        content = bytearray(whole[: rng.integers(len(whole))] if trial % 2 else whole)
        for place in rng.integers(0, max(len(content), 1), size=3):
            if len(content):
                content[place] = rng.integers(256)
        path.write_bytes(bytes(content))
        panel = or_refused(path)
        assert all(isinstance(gene, str) and gene == gene.strip() for gene in panel)


#: Of a list of genes, one of which looks like a missing value.
NAMES = ["CD3D", "MS4A1", "NA"]


@pytest.fixture
def write(tmp_path):
    def file(name, text):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return file


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("table.txt", "gene\tn\nCD3D\t1\nMS4A1\t2\nNA\t3\n"),
        ("commas.txt", "gene,n\nCD3D,1\nMS4A1,2\nNA,3\n"),
        ("several.txt", "CD3D; MS4A1\nNA\n"),
        ("r_quotes.txt", '"CD3D"\n"MS4A1"\n"NA"\n'),
        ("other_quotes.txt", "'CD3D'\n“MS4A1”\nNA\n"),
        ("unseen.txt", "\ufeffCD3D\u200b\n\u00a0MS4A1\u00a0\n\u2060NA\n"),
        ("r_vector.csv", '"","x"\n"1","CD3D"\n"2","MS4A1"\n"3","NA"\n'),
        ("r_vector.txt", '"x"\n"1" "CD3D"\n"2" "MS4A1"\n"3" "NA"\n'),
        ("r_blanks.txt", '"gene" "type"\n"a" "CD3D" "T"\n"b" "MS4A1" "B"\n"c" "NA" "x y"\n'),
        ("r_shift.csv", '"Gene","n"\n"1","CD3D",3\n"2","MS4A1",4\n"3","NA",5\n'),
        ("r_shift.tsv", "n\tgene\na\t1\tCD3D\nb\t2\tMS4A1\nc\t3\tNA\n"),
        ("behind.csv", "gene,n\nCD3D,1,\nMS4A1,2,\nNA,3,\n"),
        ("unnamed_ids.csv", ",gene_ids,mine\n5,CD3D,x\n9,MS4A1,y\n12,NA,z\n"),
        ("series.csv", ",0\n0,CD3D\n1,MS4A1\n2,NA\n"),
        ("series_no_index.csv", "0\nCD3D\nMS4A1\nNA\n"),
        ("index.csv", "index,mine\n1,CD3D\n2,MS4A1\n3,NA\n"),
        ("numbered.csv", "ID,Gene name\n1,CD3D\n2,MS4A1\n3,NA\n"),
        ("title.csv", "Panel of X,,\n,,\nGene,Note,n\nCD3D,a,1\nMS4A1,b,2\nNA,,\n"),
        ("titles.csv", "Name,My panel\nSpecies,Human\nGene,Origin\nCD3D,a\nMS4A1,b\nNA,c\n"),
        ("of_comment.tsv", "#made by X\n#gene\tscore\nCD3D\t1\nMS4A1\t2\nNA\t3\n"),
        ("separator.csv", "sep=;\ngene;n\nCD3D;1\nMS4A1;2\nNA;3\n"),
        ("old_mac.csv", "gene,n\rCD3D,1\rMS4A1,2\rNA,3\r"),
        ("padded.csv", "CD3D,,\nMS4A1,,\nNA,,\n"),
        ("chosen.csv", ",selection,rank\nCD3D,True,1\nLYZ,False,\nMS4A1,True,2\nNA,True,3\n"),
        ("names.json", '["CD3D", "MS4A1", "NA"]'),
        ("sets.json", '{"T": ["CD3D"], "B": "MS4A1", "x": ["MS4A1", "NA"]}'),
        ("tabs.txt", "CD3D\t# T\nMS4A1\t# B\nNA\n"),
        ("list.txt", "CD3D\nMS4A1\nNA\n"),
        ("comments.txt", "# T and B\nCD3D  # T\n\n  MS4A1\nCD3D\n\nNA"),
        ("header.txt", "Gene Symbol\nCD3D\nMS4A1\nNA\n"),
        ("windows.txt", "\ufeffCD3D\r\nMS4A1\r\nNA\r\n"),
        ("one.csv", "CD3D\nMS4A1\nNA\n"),
        ("one_headed.csv", "gene\nCD3D\nMS4A1\nNA\n"),
        ("two.csv", "type,Gene\nT,CD3D\nB,MS4A1\nT,CD3D\nx,NA\n"),
        ("names_first.csv", "Ensembl ID,gene_name\nENSG1,CD3D\nENSG2,MS4A1\nENSG3,NA\n"),
        ("semicolon.csv", "\ufeffSymbol;weight\nCD3D;0,5\nMS4A1;0,3\nNA;0\n"),
        ("quoted.csv", '"NAMES","note"\n"CD3D","a, b"\n"MS4A1",""\n"NA",""\n'),
        ("comments.csv", "#file_format=1.0\ngene,n\nCD3D,1\nMS4A1,1\n,1\nNA,1\n"),
        ("row_names.csv", ",score\nCD3D,1\nMS4A1,2\nNA,3\n"),
        ("table.tsv", "target_gene\tn\nCD3D\t1\nMS4A1\t1\nNA\t1\n"),
        ("UPPER.TSV", "names\nCD3D\nMS4A1\nNA\n"),
        ("sets.gmt", "T\tx\tCD3D\tMS4A1\nB\tx\tMS4A1\tNA\n"),
    ],
)
def test_lists_and_tables(write, name, text):
    path = write(name, text)
    assert read_panel(path) == NAMES
    assert read_panel(str(path)) == NAMES


KNOWN = ["CD3D", "CD3E", "MS4A1", "CD79A"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("one_line.csv", "CD3D,CD3E,MS4A1,CD79A\n"),
        ("one_line.txt", "CD3D CD3E MS4A1 CD79A\n"),
        ("lines.txt", "CD3D, CD3E\nMS4A1 | CD79A\n"),
        ("lines.csv", "genes\nCD3D,CD3E\nMS4A1,CD79A\n"),
        ("cells.csv", 'type,genes\nT,"CD3D,CD3E"\nB,MS4A1; CD79A\n'),
        ("breaks.csv", 'type,genes\nT,"CD3D\nCD3E"\nB,"MS4A1\r\nCD79A"\n'),
        ("cells.gmt", "T\tx\tCD3D,CD3E\nB\tx\tMS4A1,1.0\tCD79A,0.5\n"),
        ("own_head.csv", "gene_panel_VZ142\nCD3D\nCD3E\nMS4A1\nCD79A\n"),
        ("own_head.txt", "Lung panel, version 2\nCD3D\nCD3E\nMS4A1\nCD79A\n"),
        ("no_last_head.csv", "gene,n\nCD3D,1,x\nCD3E,2,y\nMS4A1,3,z\nCD79A,4,z\n"),
        ("r_markers.txt", '"p_val" "fc"\n"CD3D" 0 2\n"CD3E" 0 2\n"MS4A1" 0 2\n"CD79A" 0 2\n'),
        ("left_out.csv", ",mine\n3,CD3D\n17,CD3E\n21,MS4A1\n40,CD79A\n"),
    ],
)
def test_several_names_in_a_cell_and_heads_of_ones_own(write, name, text):
    assert read_panel(write(name, text)) == KNOWN


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("slash.txt", "CD3D\nNKG7/GNLY\n"),
        ("slash.csv", "gene,n\nNKG7/GNLY,1\n"),
        ("chosen_twice.csv", ",one_selected,two_selected\nCD3D,True,False\nLYZ,False,True\n"),
        ("prose.csv", 'gene,n\n"CD3D, a T cell marker",1\n'),
        *(
            (f"line_{n}.txt", f"{line}\nLYZ\n")
            for n, line in enumerate(
                [
                    *("1,CD3D", "CD3D,0.5", "CD3D 0.5", "1. CD3D", "- CD3D", "• CD3D"),
                    *('[1] "CD3D"  "LYZ"', "CD79A [B cell]", "CD79A[B]", "CD79A (B cell)"),
                ]
            )
        ),
        ("scores.txt", "CD3D 0.5\nLYZ 0.3\n"),
        ("numbered.txt", "1,CD3D\n2,LYZ\n"),
        ("two_genes.csv", "Gene,n,Gene\nCD3D,1,LYZ\nCD4,2,NKG7\n"),
        ("none_chosen.csv", "gene,selected\nCD3D,FALSE\n"),
        ("latin.csv", b"gene,n\nCD3D,\xe9\n"),
        ("numbers.json", "[1, 2]"),
        ("deep.json", '{"T": {"CD3D": 1}}'),
    ],
)
def test_what_may_be_several_things_is_refused(write, name, text):
    path = write(name, "" if isinstance(text, bytes) else text)
    if isinstance(text, bytes):
        path.write_bytes(text)
    with refused(InvalidValue, "path"):
        read_panel(path)


@pytest.mark.parametrize(
    "text",
    [
        ",ref_DE,chosen\n0,S100A9,ISG15\n1,S100A8,IFI6\n",
        ",0_names,0_scores,1_names,1_scores\n0,HBA2,5.0,FZD3,5.5\n1,HBA1,4.8,ARL4A,5.4\n",
        "index,one,two\n1,CD3D,CD4\n2,LYZ,CD8A\n",
    ],
)
def test_row_numbers_are_no_genes(write, text):
    with refused(InvalidValue, "path") as caught:
        read_panel(write("a.csv", text))
    for head in text.split("\n")[0].split(",")[1:]:
        assert head in str(caught.value)


def test_sets_of_reactome_have_genes_in_words(write):
    assert read_panel(write("a.gmt", "T\tx\tCSF2 gene\tCD3D\n")) == ["CSF2 gene", "CD3D"]


@pytest.mark.parametrize("ending", ["bz2", "xz"])
def test_packed_texts(tmp_path, ending):
    path = tmp_path / f"a.csv.{ending}"
    pd.DataFrame({"gene": GENES}).to_csv(path, index=False)
    assert read_panel(path) == GENES


def test_unicode_of_excel(tmp_path):
    (tmp_path / "a.txt").write_bytes("gene\tn\r\nCD3D\t1\r\n".encode("utf-16"))
    assert read_panel(tmp_path / "a.txt") == ["CD3D"]


@pytest.mark.parametrize(
    ("head", "gene_id", "kept"),
    [
        ("Ensemble ID", "ENSG00000167286", "ENSG00000167286"),
        ("Gene stable ID version", "ENSG00000167286.14", "ENSG00000167286"),
        ("ID", "ENSDARG00000018817", "ENSDARG00000018817"),
        ("gene_ids", "WBGene00000001", "WBGene00000001"),
        ("FlyBase ID", "FBgn0000008", "FBgn0000008"),
        ("Locus", "AT1G01010", "AT1G01010"),
        ("Accession", "NM_000732.6", "NM_000732.6"),
        ("Entrez Gene ID", "00915", "00915"),
    ],
)
def test_ids_of_any_kind_are_kept(write, head, gene_id, kept):
    panel = read_panel(write("a.csv", f"{head},Gene name\n{gene_id},x1\n,x2\n{gene_id}9,\n"))
    assert panel[:2] == ["x1", "x2"]
    assert list(panel.table["id"])[:2] == [kept, ""]
    # a gene that has an id alone is called by it, but by no number
    assert len(panel) == 2 + (not gene_id.isdecimal())


@pytest.mark.parametrize(
    "text",
    [",gene_ids,n\nCD3D,ENSG00000167286,1\n", ",gene_name,n\nENSG00000167286,CD3D,1\n"],
)
def test_ids_and_names_as_row_names(write, text):
    panel = read_panel(write("var.csv", text))
    assert (panel, list(panel.table["id"])) == (["CD3D"], ["ENSG00000167286"])


def test_numbers_of_probes_of_any_table(write):
    panel = read_panel(write("a.csv", "gene,gene_id,num_codewords,num_probesets\nCD3D,E1,3,2\n"))
    assert list(panel.table["n_probe_sets"]) == [2]
    assert list(panel.table["codewords"]) == ["3"]


def test_heads_of_orders_in_other_words(write):
    text = "Gene,Ensembl ID,# probe sets,Force design\nCD3D,ENSG00000167286,3,forced\n"
    for head in ("# probe sets", "Probe set count", "Number of probe sets"):
        panel = read_panel(write("a.csv", text.replace("# probe sets", head)))
        assert (panel, panel.form) == (["CD3D"], "10x custom gene list")
        assert list(panel.table.loc[0, ["n_probe_sets", "force"]]) == [3, "forced"]


def test_a_design_of_vizgen(write):
    head = "Gene Input,Vizgen Gene,Ensemble ID,Transcript,Notes,Abundance,Target Regions,Type"
    row = "ENST00000300692,CD3D,ENSG00000167286,ENST00000300692,,16.4,58,MERFISH"
    panel = read_panel(write("a.csv", f"{head}\n{row}\n"))
    assert panel == ["CD3D"]
    assert list(panel.table["id"]) == ["ENSG00000167286"]
    assert list(panel.table["n_probe_sets"]) == [58]


def test_groups_and_backups(write):
    panel = read_panel(write("a.csv", "Gene,Group,Must have,Is backup\nCD3D,T,TRUE,FALSE\n"))
    found = panel.table.loc[0, ["group", "must_have", "backup"]]
    assert list(found) == ["T", "TRUE", "FALSE"]


def test_backups_are_not_in_the_panel(write):
    head = "Gene,Group,Must have,Is backup\n"
    panel = read_panel(write("a.csv", f"{head}CD3D,T,yes,no\nCD3E,T,,Yes\nLYZ,M,,\nLYZ,M,,x1\n"))
    assert panel == ["CD3D", "LYZ"]
    assert panel.backups == ["CD3E"]
    assert panel.form == "panel sheet"
    with refused(InvalidValue, "path"):
        read_panel(write("b.csv", f"{head}CD3E,T,,TRUE\n"))


def test_priorities_of_the_jackson_laboratory(write):
    head = "ensembl_id,gene_symbol,group,priority,custom\n"
    rows = "ENSG00000167286,CD3D,T,must_have,false\nENSG00000198851,CD3E,T,backup,false\n"
    panel = read_panel(write("a.csv", f"{head}{rows}ENSG00000090382,LYZ,M,desired,false\n"))
    assert panel == ["CD3D", "LYZ"]
    assert panel.backups == ["CD3E"]
    assert list(panel.table["must_have"]) == ["TRUE", "FALSE"]
    assert "priority" not in panel.table
    other = read_panel(write("b.csv", "gene,priority\nCD3D,1\nCD3E,2\n"))
    assert other == ["CD3D", "CD3E"]
    assert not other.backups


BITS = [[1, 1, 0, 0], [0, 1, 1, 0]]
CODEBOOKS = {
    "merlin": "name,id,bit1,bit2,bit3,bit4\nCD3D,ENST1,1,1,0,0\nMS4A1,ENST2,0,1,1,0\n"
    "Blank-01,,1,0,0,1\n",
    "of any head": "name,id,750_0,647_0,750_1,647_1\nCD3D,ENST1,1,1,0,0\nMS4A1,,0,1,1,0\n"
    "notarget1,,1,0,0,1\n",
    "Zhuang": "version, 1.0\ncodebook_name, L26E1\nbit_names, R1, R2, R3, R4\nname, id, barcode\n"
    "CD3D, ENST1, 1100\nMS4A1, ENST2, 0110\nBlank-1, , 1001\n",
    "sequence": "# c\nGene,Sequence\nCD3D,1100\nMS4A1,0110\nblank001,1001\n",
    "codeword": "Gene\tCodeword\nCD3D\t1 1 0 0\nMS4A1\t0 1 1 0\nBlank\t1 0 0 1\n",
    "rounds": "gene,R1,R2,R3,R4\nCD3D,1,1,0,0\nMS4A1,0,1,1,0\nblank_3,1,0,0,1\n",
}


@pytest.mark.parametrize("form", CODEBOOKS)
def test_codebooks_of_laboratories(write, form):
    panel = read_panel(write("a.tsv" if "\t" in CODEBOOKS[form] else "a.csv", CODEBOOKS[form]))
    assert panel == ["CD3D", "MS4A1"]
    assert len(panel.controls) == 1
    np.testing.assert_array_equal(panel.codebook, BITS)
    assert list(panel.codebook.index) == panel
    if form == "Zhuang":
        assert list(panel.codebook) == ["R1", "R2", "R3", "R4"]


def test_bad_codebooks_of_laboratories(write):
    text = "name,id,bit1,bit2,bit3\nCD3D,ENST1,1,0,2\nLYZ,ENST2,0,,1\n"
    with refused(InvalidValue, "path"):
        read_panel(write("a.csv", text))


def test_codewords_of_other_alphabets_stay_texts(write):
    panel = read_panel(write("a.csv", "Gene,Barcode\nCD3D,0132\nMS4A1,2013\n"))
    assert panel.codebook is None
    assert list(panel.table["codewords"]) == ["0132", "2013"]


def test_flags_are_no_codebook(write):
    text = "gene,id,is_tf,is_ligand,is_receptor\nCD3D,E1,0,0,1\nLYZ,E2,0,1,0\n"
    assert read_panel(write("a.csv", text)).codebook is None


def test_codewords_that_lost_their_zeros(tmp_path):
    frame = pd.DataFrame({"Gene": ["CD3D", "LYZ"], "Barcode": [110, 1001]})
    frame.to_excel(tmp_path / "a.xlsx", index=False)
    with refused(InvalidValue, "path"):
        read_panel(tmp_path / "a.xlsx")


def test_column_and_set_by_name(write):
    titled = write("titled.csv", "A panel of X\nmine,other\nCD3D,1\nMS4A1,2\n")
    assert read_panel(titled, column="mine") == ["CD3D", "MS4A1"]
    named = write("named.json", '{"T": ["CD3D"], "B": ["MS4A1"]}')
    assert read_panel(named, set_name="B") == ["MS4A1"]
    table = write("table.csv", "gene,ligand\nCD3D,IL6\nMS4A1,TNF\n")
    assert read_panel(table, column="ligand") == ["IL6", "TNF"]
    sets = write("sets.gmt", "T\tx\tCD3D\nB\tx\tMS4A1\n")
    assert read_panel(sets, set_name="B") == ["MS4A1"]


@pytest.mark.parametrize("ending", ["csv", "tsv", "txt", "gmt"])
def test_what_this_package_writes(pbmc, tmp_path, ending):
    glfs_bio.pp.select_genes(pbmc, 5)
    best = pbmc.var[pbmc.var["glfs_selected"]].sort_values("glfs_rank").index
    path = tmp_path / f"panel.{ending}"
    if ending == "gmt":
        glfs_bio.io.write_gmt(pbmc, path)
    elif ending == "txt":
        path.write_text("\n".join(best))
    else:
        glfs_bio.io.write_gene_list(pbmc, path)
    assert read_panel(path)[:5] == list(best)


@pytest.mark.parametrize(
    ("name", "text", "options", "error", "argument"),
    [
        ("empty.txt", "", {}, InvalidValue, "path"),
        ("comments.txt", "# nothing\n\n", {}, InvalidValue, "path"),
        ("empty.csv", "", {}, InvalidValue, "path"),
        ("only_header.csv", "gene,n\n", {}, InvalidValue, "path"),
        ("empty.gmt", "", {}, InvalidValue, "path"),
        ("panel.doc", "CD3D", {}, InvalidValue, "path"),
        ("no_head.csv", "CD3D,T\nCD4,T\n", {}, InvalidValue, "path"),
        ("a.csv", "gene,n\nCD3D,1\n", {"column": "x"}, NotFound, "column"),
        ("a.csv", "gene\nCD3D\n", {"column": 1}, InvalidType, "column"),
        ("a.csv", "gene\nCD3D\n", {"sheet": "x"}, InvalidValue, "sheet"),
        ("a.txt", "CD3D\n", {"column": "x"}, NotFound, "column"),
        ("a.txt", "CD3D\n", {"set_name": "x"}, InvalidValue, "set_name"),
        ("a.gmt", "T\tx\tCD3D\n", {"set_name": "x"}, NotFound, "set_name"),
    ],
)
def test_bad_lists_and_tables(write, name, text, options, error, argument):
    with refused(error, argument):
        read_panel(write(name, text), **options)


def test_missing_and_binary_files(tmp_path):
    with refused(FileMissing, "path"):
        read_panel(tmp_path / "no.csv")
    path = tmp_path / "binary.txt"
    path.write_bytes(b"\xff\xfe\x00C")
    with refused(InvalidValue, "path"):
        read_panel(path)
    with refused(InvalidType, "path"):
        read_panel(5)


def test_excel_without_openpyxl(write, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with refused(PackageMissing, "openpyxl"):
        read_panel(write("a.xlsx", "x"))


def test_excel(tmp_path):
    pytest.importorskip("openpyxl")
    path = tmp_path / "panel.xlsx"
    dates = ["CD3D", datetime.datetime(2026, 9, 1)]
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"n": [1, 2, 3, 4], "Gene": [*NAMES, None]}).to_excel(book, index=False)
        pd.DataFrame(["CD4", "CD8A"]).to_excel(book, sheet_name="T", index=False, header=False)
        pd.DataFrame({"gene": dates}).to_excel(book, sheet_name="dates", index=False)
    assert read_panel(path) == NAMES
    assert read_panel(path, sheet="T") == ["CD4", "CD8A"]
    assert read_panel(path, column="n") == ["1", "2", "3", "4"]
    with refused(NotFound, "sheet"):
        read_panel(path, sheet="B")
    with refused(InvalidValue, "path"):
        read_panel(path, sheet="dates")
    (tmp_path / "text.xlsx").write_text("CD3D")
    with refused(InvalidValue, "path"):
        read_panel(tmp_path / "text.xlsx")


@pytest.mark.parametrize("cell", ["=A2", "=UPPER(A2)", "#REF!"])
def test_formulas_of_other_people_are_not_left_out(tmp_path, cell):
    import openpyxl

    book = openpyxl.Workbook()
    for row in (["gene", "price"], ["CD3D", "=1+1"], [cell, 3], ["LYZ", 4]):
        book.active.append(row)
    book.save(tmp_path / "panel.xlsx")
    with refused(InvalidValue, "path"):
        read_panel(tmp_path / "panel.xlsx")
    book.active.delete_rows(3)
    book.save(tmp_path / "panel.xlsx")
    assert read_panel(tmp_path / "panel.xlsx") == ["CD3D", "LYZ"]  # prices may be computed


def workbook(path, **pages):
    """A workbook of pages, of which those that begin with `hidden` are."""
    import openpyxl

    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in pages.items():
        page = book.create_sheet(title)
        page.sheet_state = "hidden" if title.startswith("hidden") else "visible"
        for row in rows:
            page.append(row)
    book.save(path)
    return path


def rewritten(path, change):
    """The same workbook, whose parts another program wrote."""
    parts = {name: zipfile.ZipFile(path).read(name) for name in zipfile.ZipFile(path).namelist()}
    with zipfile.ZipFile(path, "w") as book:
        for name, content in parts.items():
            book.writestr(name, change(content))


TABLE = [["Group", "Gene"], ["T", "CD3D"], ["B", "MS4A1"]]
BOOKS = {
    "notes first": {"Notes": [["This is a panel"], ["of two genes"]], "Genes": TABLE},
    "an empty sheet first": {"Sheet1": [], "Sheet2": TABLE},
    "a hidden sheet first": {"hidden": [["gene"], ["LYZ"]], "Genes": TABLE},
    "notes and genes that nobody knows": {
        "Notes": [["This is a panel"], ["of two genes"]],
        "Genes": [["Display Name"], ["CD3D"], ["MS4A1"], *[[f"x{n}"] for n in range(3)]],
    },
    "only a hidden sheet": {"hidden": TABLE, "Sheet1": []},
    "titles above": {"Genes": [["Panel of X"], [], ["2 genes", None], *TABLE]},
    "one column": {"Words": [["a", "b"], ["c", "d"]], "Genes": [["CD3D"], ["MS4A1"]]},
}


@pytest.mark.parametrize("what", BOOKS)
def test_the_sheet_that_has_the_genes(tmp_path, what):
    assert read_panel(workbook(tmp_path / "a.xlsx", **BOOKS[what]))[:2] == ["CD3D", "MS4A1"]


def test_no_sheet_has_genes(tmp_path):
    path = workbook(tmp_path / "a.xlsx", One=[["a", "b"], ["c", "d"]], Two=[["e", "f"], ["g", "h"]])
    with refused(InvalidValue, "path") as caught:
        read_panel(path)
    assert "One" in str(caught.value)
    assert "Two" in str(caught.value)
    assert read_panel(path, sheet="Two", column="f") == ["h"]


def test_workbooks_of_other_programs(tmp_path):
    path = workbook(tmp_path / "a.xlsx", Genes=TABLE)
    rewritten(path, lambda part: re.sub(b'<dimension ref="[^"]*"', b'<dimension ref="A1"', part))
    assert read_panel(path) == ["CD3D", "MS4A1"]


def test_strict_workbooks(tmp_path):
    path = workbook(tmp_path / "a.xlsx", Genes=TABLE)
    transitional = b"http://schemas.openxmlformats.org/"
    strict = {
        transitional + b"officeDocument/2006": b"http://purl.oclc.org/ooxml/officeDocument",
        transitional + b"spreadsheetml/2006": b"http://purl.oclc.org/ooxml/spreadsheetml",
    }

    def changed(part):
        for one, other in strict.items():
            part = part.replace(one, other)
        return part

    rewritten(path, changed)
    with refused(InvalidValue, "path") as caught:
        read_panel(path)
    assert "Strict" in str(caught.value)


def test_numbers_of_workbooks(tmp_path):
    rows = [["GeneID", "is backup"], [109979.0, True], [914, False]]
    panel = read_panel(workbook(tmp_path / "a.xlsx", Genes=rows))
    assert panel == ["914"]
    assert panel.backups == ["109979"]
    assert list(panel.table["backup"]) == ["FALSE"]


def test_our_own_table_of_all_candidates(pbmc, tmp_path):
    glfs_bio.pp.select_genes(pbmc, 5)
    best = list(pbmc.var[pbmc.var["glfs_selected"]].sort_values("glfs_rank").index)
    glfs_bio.io.write_gene_list(pbmc, tmp_path / "a.csv", selected_only=False)
    assert read_panel(tmp_path / "a.csv") == best
    pbmc.var.to_csv(tmp_path / "var.csv")
    assert set(read_panel(tmp_path / "var.csv")) == set(best)
