"""Panels in the forms of vendors."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pandas as pd
import pytest
from panel_files import FORMS, GENES, IDS, document, predesigned, target, written
from refusals import refused

import glfs_bio
from glfs_bio.errors import InvalidValue, NotFound
from glfs_bio.io import read_panel


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
