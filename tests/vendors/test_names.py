"""Names found by present and past names and by ids, and cells that hold several."""

from __future__ import annotations

import pandas as pd
import pytest

from glfs_bio.vendors import names
from glfs_bio.vendors.genes import as_genes
from glfs_bio.vendors.names import Resolver


def found(asked, genes, *, nomenclature=None, **options):
    table, history = (None if one is None else as_genes(one) for one in (genes, nomenclature))
    resolver = Resolver.of(asked, table, history=history, **options)
    return resolver.resolve(asked).set_index("name")


@pytest.mark.parametrize(
    ("name", "how", "symbol"),
    [
        ("CD3D", "symbol", "CD3D"),
        ("CPSF3L", "retired", "INTS11"),  # the data are older than the list
        ("MARCHF1", "retired", "MARCH1"),  # the list is older than the data
        ("SEP15", "alias", "SELENOF"),
        ("ENSG00000167286", "id", "CD3D"),
        ("ENSG00000167286.12", "version", "CD3D"),
        ("C2ORF15", "case", "C2orf15"),
        ("cd3d", "case", "CD3D"),
        ("TBCE", "ambiguous", ""),
        ("INTS11.1", "ambiguous", ""),
        ("MS4A1", "absent", ""),
        ("ENSG00000156738", "absent", ""),
        ("1-Mar", "date", ""),
        ("RP11-206L10.2", "unknown", ""),
    ],
)
def test_ways_to_find_a_name(vendor, name, how, symbol):
    row = found([name, "KRT1"], vendor, species="human").loc[name]
    assert (row["found"], row["symbol"]) == (how, symbol)


def test_candidates_of_what_is_not_found(vendor):
    table = found(["TBCE", "1-Mar", "MS4A1", "CD3D"], vendor)
    assert "ENSG00000284770" in table.loc["TBCE", "candidates"]
    assert "ENSG00000285053" in table.loc["TBCE", "candidates"]
    assert "MARCHF1 (MARCH1)" in table.loc["1-Mar", "candidates"]
    assert table.loc["MS4A1", "candidates"] == "MS4A1"


def test_two_names_of_one_gene(vendor):
    """The better name is the gene; the other would be ordered twice."""
    table = found(["CPSF3L", "INTS11", "CD3D"], vendor)
    assert list(table["found"]) == ["double", "symbol", "symbol"]


def test_a_symbol_that_another_gene_had():
    genes = pd.DataFrame({"symbol": ["QARS", "EPRS1"], "id": ["ENSG1", "ENSG2"]})
    past = pd.DataFrame({"symbol": ["QARS", "EPRS1"], "prev_symbol": ["", "QARS"]})
    table = found(["QARS"], genes, nomenclature=past)
    assert table.loc["QARS", "found"] == "symbol"
    assert "EPRS1" in table.loc["QARS", "candidates"]


def test_a_name_with_two_pasts():
    genes = pd.DataFrame({"symbol": ["A1", "B1"]})
    past = pd.DataFrame({"symbol": ["A1", "B1"], "prev_symbol": ["OLD", "OLD|OLDER"]})
    table = found(["OLD", "OLDER"], genes, nomenclature=past)
    assert list(table["found"]) == ["ambiguous", "retired"]
    assert table.loc["OLD", "candidates"] == "A1, B1"


def test_one_of_two_that_it_may_be_is_not_listed():
    genes = pd.DataFrame({"symbol": ["A1"]})
    past = pd.DataFrame({"symbol": ["A1", "B1"], "prev_symbol": ["OLD", "OLD"]})
    assert list(found(["OLD"], genes, nomenclature=past)["found"]) == ["ambiguous"]


def test_mouse_names_of_the_past():
    table = found(["Cd3d", "March1"], None)
    assert list(table["symbol"]) == ["Cd3d", "Marchf1"]


def test_ids_that_a_list_lacks_are_official():
    table = found(["CD3D", "CPSF3L"], ["CD3D", "INTS11", "CD3D"])
    assert list(table["id"]) == ["ENSG00000167286", "ENSG00000127054"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CD3D,CD3E", ["CD3D", "CD3E"]),
        ("MS4A1; CD79A;", ["MS4A1", "CD79A"]),
        ("CD3D|CD3E", ["CD3D", "CD3E"]),
        ("CD3D\nCD3E", ["CD3D", "CD3E"]),
        ("DDR1 /// MIR4640", ["DDR1", "MIR4640"]),
        ("CD3D CD3E", ["CD3D", "CD3E"]),
        ("CD3D, [CD3G, CD3Z], NA", ["CD3D", "CD3G", "CD3Z"]),
        ("l(2)gl, E(spl)m7-HLH", ["l(2)gl", "E(spl)m7-HLH"]),
        ("bdnf,crha", ["bdnf", "crha"]),  # of a fish, in no nomenclature
        ("7SK,NM_000546.5", ["7SK", "NM_000546.5"]),
        *(
            (name, [name])
            for name in ("HLA-A", "H2-K1", "YAL001C", "gene:ENSG00000167286", "MHC I")
        ),
        # aliases of HGNC, targets of CosMx, a translocation of the fly, names of TCGA
        *((name, [name]) for name in ("H+,K+-ATPase", "TRAV14/DV4", "CCL3/L1/L3", "HBA1/2")),
        *((name, [name]) for name in ("T(2;3)ap", "A1BG|1", "ENSG00000167286|CD3D")),
        ("NKG7/GNLY", []),
        ("foo / bar", []),
        ("CD3D, a T cell marker", []),
    ],
)
def test_names_in_a_text(text, expected):
    assert names.several(text) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("CD20", ["MS4A1"]),
        ("Cd20", ["Ms4a1"]),
        ("cd20", ["MS4A1"]),
        ("p53", ["TP53"]),
        ("CPSF3L", ["INTS11"]),
        ("C1orf112", ["FIRRM"]),
        ("CD3D", ["CD3D"]),
        ("no gene", []),
    ],
)
def test_what_a_name_is_today(name, expected):
    assert [gene.symbol for gene in names.known_as(name)] == expected


@pytest.mark.parametrize(
    ("head", "is_head"),
    [
        ("gene_panel_VZ142_mouse", True),
        ("hits", True),
        ("x", True),
        ("V1", True),
        ("0", True),
        *((gene, False) for gene in ("Gad2", "tdTomato", "RP11-290F20.3", "AC012345.1", "Blank-1")),
        *((damaged, False) for damaged in ("1-Mar", "44256")),
    ],
)
def test_the_head_of_a_list(head, is_head):
    assert names.are_headed([head, "Slc17a7", "Gad1", "Sst"]) == is_head


def test_names_that_nobody_knows_have_no_head():
    assert not names.are_headed(["zgc:123", "foxp3a", "elavl3", "slc1a2b"])
    assert not names.are_headed(["g5", "g12", "g30"])  # aliases, but for their case
    assert names.are_headed(["of mine", "cd3d", "lyz", "ms4a1"])


@pytest.mark.parametrize(
    "name",
    [
        *("X__no_feature", "X__ambiguous", "X__alignment_not_unique", "SIRV501"),
        *("Sequential_Blank-1", "Blank_Codeword_1", "BlankCodeword_0001"),
        *("GenomicControlProbe_00001", "Genomic Control", "Custom_NegPrb", "NegPrb_Custom"),
    ],
)
def test_controls(name):
    assert names.is_control(name)


def test_no_symbol_is_a_control():
    assert not [name for name in names.nomenclature()["symbol"] if names.is_control(name)]


def test_ids_of_any_kind():
    ids = ["ensg00000167286.3", "gene:ENSG00000167286", "ENSG00000182162.11_PAR_Y"]
    assert [names.as_id(one) for one in ids] == ["ENSG00000167286"] * 2 + ["ENSG00000182162"]
    for other in ("FBgn0000008", "WBGene00000001", "AT1G01010"):
        assert names.is_id(other)
        assert names.as_id(other) == other
        assert names.versionless(other) == ""
