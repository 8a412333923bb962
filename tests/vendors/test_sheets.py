"""Names and tables that spreadsheets do not change, and gene sets."""

from __future__ import annotations

import csv
import os
from contextlib import suppress

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import accepted, refused

from glfs_bio import io, pp
from glfs_bio.errors import FileMissing, InvalidValue, Refusal
from glfs_bio.io import read_genes, read_markers, read_panel
from glfs_bio.vendors import sheets
from glfs_bio.vendors.names import nomenclature

NAMES = ["a\nb", "a\rb", "a\tb", "a\x0bb", "a\x1cb", "a\x85b", "a\u2028b", " a", "a ", "", "#a"]
FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)"]


@pytest.mark.parametrize("ending", ["txt", "csv", "tsv", "xlsx"])
def test_a_name_comes_back_or_is_refused(pbmc, tmp_path, ending):
    pp.select_genes(pbmc, 5)
    best = pbmc.var["glfs_rank"].idxmin()
    genes = pbmc.var_names
    path = tmp_path / f"panel.{ending}"
    changed = []
    for name in [*NAMES, *FORMULAS, "gene", "symbol"]:
        pbmc.var_names = [name if gene == best else gene for gene in genes]
        try:
            io.write_genes(pbmc, path, overwrite=True)
        except InvalidValue:
            assert list(tmp_path.iterdir()) == []
            assert name not in {"gene", "symbol"} or ending == "txt"
            continue
        again = io.read_panel(path)[0]
        if again != name or (name in FORMULAS and ending in {"csv", "tsv", "xlsx"}):
            changed.append(name)
        path.unlink()
    assert not changed


def test_no_column_holds_a_formula(tmp_path):
    content = {"note": ["=HYPERLINK(1)"], "sign": ["-"], "less": [-1.5], "=evil()": [1]}
    for ending, read in (("csv", pd.read_csv), ("xlsx", pd.read_excel)):
        sheets.write(pd.DataFrame(content), tmp_path / f"a.{ending}", overwrite=False)
        table = read(tmp_path / f"a.{ending}")
        assert list(table) == ["note", "sign", "less", "'=evil()"]
        assert set(table["note"]) == {"'=HYPERLINK(1)"}
        assert set(table["sign"]) == {"-"}
        assert set(table["less"]) == {-1.5}


def test_malformed_gmt(tmp_path):
    path = tmp_path / "bad.gmt"

    def read(content):
        path.write_bytes(content)
        return read_markers(path)

    twice = b"A\tx\tG1\nA\tx\tG2\n"
    damaged = [b"A\tx\tG1\nB,x,G2\n", b"A\tx\n", b"A\tx\t\t\n", twice, b"\n\n", b"\xff\xfe\x00"]
    assert not accepted(read, [*damaged, b"A\tx\tNKG7/GNLY\n"])


def test_gmt_as_others_write_it(tmp_path):
    path = tmp_path / "sets.gmt"
    path.write_bytes("\ufeffA set\t\tG1\tG2 \tG1\t\r\n\r\nB/b\thttp://x\tG3\r\n".encode())
    assert read_markers(path) == {"A set": ["G1", "G2"], "B/b": ["G3"]}
    words = ["SARS coronavirus, complete genome", "18S rRNA, 5.8S rRNA", "UL119/UL118"]  # Reactome
    path.write_text("\t".join(["A", "x", *words]))
    assert read_markers(path) == {"A": words}
    path.write_text("A\tx\tCD3D,1.0\tCD3E,0.5\tCD4; CD8A\n")
    assert read_markers(path) == {"A": ["CD3D", "CD3E", "CD4", "CD8A"]}
    with refused(FileMissing, "path"):
        read_markers(tmp_path / "no.gmt")


SPECIES = {name: list(genes["symbol"]) for name, genes in nomenclature().groupby("species")}
IDS = dict(zip(nomenclature()["symbol"], nomenclature()["id"], strict=True))
#: Columns that stand beside genes: what they are headed, and their cells.
BESIDE = {
    "note": ("a note, with a comma", "another"),
    "n": ("0.25", "1"),
    "cell type": ("T cell", "B cell"),
    "barcode": ("ACGTACGTACA-1", "ACGTACGTACC-1"),
    "role": ("gene", "control"),
    "is_tf": ("TRUE", "FALSE"),
    "task": ("Target", "Endogenous Control"),
    "well": ("A1", "B12"),
    "": ("x", "y"),
}
HEADS = ("gene", "Gene Symbol", "gene_name", "Name", "ID", "hgnc", "assay", "", "Target", "X")
TITLES = ("", "", "# made here\n", "My genes, version 2\n", "Table S1. Genes\n")
FORMS = (("a.csv", ","), ("a.csv", ";"), ("a.tsv", "\t"), ("a.txt", "\t"))
EXAMPLES = int(os.environ.get("GLFS_BIO_EXAMPLES", "25"))


@settings(max_examples=EXAMPLES, deadline=None, database=None, derandomize=True)
@given(st.data())
def test_nothing_is_misread_in_silence(tmp_path_factory, data):
    """What is read of a generated list or table are its genes; else it is refused."""

    def pick(values):
        return data.draw(st.sampled_from(values))

    species = pick([*SPECIES, "unknown"])
    numbers = data.draw(st.lists(st.integers(0, 30_000), min_size=2, max_size=12, unique=True))
    unknown = species == "unknown"
    genes = [f"zf{number}a" if unknown else SPECIES[species][number] for number in numbers]
    written = [pick([str, str, str.lower, str.upper])(gene) for gene in genes]
    ids = [IDS.get(gene, "") for gene in genes]
    columns = {pick(HEADS): written} | ({"Ensembl ID": ids} if pick([True, False]) else {})
    for head in data.draw(st.lists(st.sampled_from([*BESIDE]), max_size=3, unique=True)):
        cells = (BESIDE[head] * len(genes))[len(genes) % 2 :]
        columns.setdefault(head, cells[: len(genes)])
    order = data.draw(st.permutations([*columns]))
    rows = list(zip(*(columns[head] for head in order), strict=True))
    if pick([True, False]):
        rows.insert(0, tuple(order))
    name, mark = pick(FORMS)
    path = tmp_path_factory.mktemp("sweep") / name
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(pick(TITLES))
        quoting = pick([csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
        csv.writer(file, delimiter=mark, quoting=quoting).writerows(rows)
    expected = list(dict.fromkeys(written))
    right = (expected, list(dict.fromkeys(ids)), [*order, *expected])  # or a warning of a head
    for read in (read_panel, lambda path: list(read_genes(path)["symbol"])):
        with suppress(Refusal):
            assert list(dict.fromkeys(read(path))) in right, path.read_text()
