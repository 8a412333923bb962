"""Names found by present and past names and by ids, and cells that hold several."""

from __future__ import annotations

import pandas as pd

from glfs_bio.vendors import names
from glfs_bio.vendors.genes import as_genes
from glfs_bio.vendors.names import Resolver


def resolved(asked, genes, *, nomenclature=None, **options):
    table = None if genes is None else as_genes(genes)
    history = None if nomenclature is None else as_genes(nomenclature)
    resolver = Resolver.of(asked, table, history=history, **options)
    return resolver.resolve(asked).set_index("name")


#: How names are found in the list of a vendor, and what they are called there.
WAYS = {
    "CD3D": ("symbol", "CD3D"),
    "CPSF3L": ("retired", "INTS11"),  # the data are older than the list
    "MARCHF1": ("retired", "MARCH1"),  # the list is older than the data
    "SEP15": ("alias", "SELENOF"),
    "ENSG00000167286": ("id", "CD3D"),
    "ENSG00000167286.12": ("version", "CD3D"),
    "C2ORF15": ("case", "C2orf15"),
    "cd3d": ("case", "CD3D"),
    "TBCE": ("ambiguous", ""),
    "MS4A1": ("absent", ""),
    "1-Mar": ("date", ""),
    "RP11-206L10.2": ("unknown", ""),
}


def test_ways_to_find_a_name(vendor):
    wrong = {}
    for name, expected in WAYS.items():
        row = resolved([name, "KRT1"], vendor, species="human").loc[name]
        if (row["found"], row["symbol"]) != expected:
            wrong[name] = row["found"], row["symbol"]
    assert not wrong


def test_candidates_and_doubles(vendor):
    """Of two names of one gene the better is the gene; the other would be ordered twice."""
    candidates = resolved(["TBCE", "1-Mar", "MS4A1", "CD3D"], vendor)["candidates"]
    assert "ENSG00000284770" in candidates["TBCE"]
    assert "ENSG00000285053" in candidates["TBCE"]
    assert "MARCHF1 (MARCH1)" in candidates["1-Mar"]
    assert candidates["MS4A1"] == "MS4A1"
    table = resolved(["CPSF3L", "INTS11", "CD3D"], vendor)
    assert list(table["found"]) == ["double", "symbol", "symbol"]


def test_names_with_several_pasts():
    genes = pd.DataFrame({"symbol": ["QARS", "EPRS1"], "id": ["ENSG1", "ENSG2"]})
    past = pd.DataFrame({"symbol": ["QARS", "EPRS1"], "prev_symbol": ["", "QARS"]})
    table = resolved(["QARS"], genes, nomenclature=past)
    assert table.loc["QARS", "found"] == "symbol"
    assert "EPRS1" in table.loc["QARS", "candidates"]
    genes = pd.DataFrame({"symbol": ["A1", "B1"]})
    past = pd.DataFrame({"symbol": ["A1", "B1"], "prev_symbol": ["OLD", "OLD|OLDER"]})
    table = resolved(["OLD", "OLDER"], genes, nomenclature=past)
    assert list(table["found"]) == ["ambiguous", "retired"]
    assert table.loc["OLD", "candidates"] == "A1, B1"
    # also where one of the two is not listed
    assert list(resolved(["OLD"], genes[:1], nomenclature=past)["found"]) == ["ambiguous"]


def test_names_of_today_without_a_list_or_its_ids():
    assert list(resolved(["Cd3d", "March1"], None)["symbol"]) == ["Cd3d", "Marchf1"]
    table = resolved(["CD3D", "CPSF3L"], ["CD3D", "INTS11", "CD3D"])
    assert list(table["id"]) == ["ENSG00000167286", "ENSG00000127054"]


#: What a text holds: several names, one that has separators within it, or none that is clear.
TEXTS = {
    "CD3D,CD3E": ["CD3D", "CD3E"],
    "MS4A1; CD79A;": ["MS4A1", "CD79A"],
    "CD3D\nCD3E": ["CD3D", "CD3E"],
    "DDR1 /// MIR4640": ["DDR1", "MIR4640"],
    "CD3D, [CD3G, CD3Z], NA": ["CD3D", "CD3G", "CD3Z"],
    "l(2)gl, E(spl)m7-HLH": ["l(2)gl", "E(spl)m7-HLH"],
    "bdnf,crha": ["bdnf", "crha"],  # of a fish, in no nomenclature
    "7SK,NM_000546.5": ["7SK", "NM_000546.5"],
    "NKG7/GNLY": [],
    "CD3D, a T cell marker": [],
}
SINGLE = [
    *("HLA-A", "H2-K1", "YAL001C", "gene:ENSG00000167286", "MHC I"),
    # aliases of HGNC, targets of CosMx, a translocation of the fly, names of TCGA
    *("H+,K+-ATPase", "TRAV14/DV4", "CCL3/L1/L3", "HBA1/2"),
    *("T(2;3)ap", "A1BG|1", "ENSG00000167286|CD3D"),
]


def test_names_in_a_text():
    expected = {**TEXTS, **{name: [name] for name in SINGLE}}
    assert {text: names.several(text) for text in expected} == expected


def test_what_a_name_is_today():
    today = {
        **{"CD20": "MS4A1", "Cd20": "Ms4a1", "cd20": "MS4A1", "CPSF3L": "INTS11"},
        **{"p53": "TP53", "C1orf112": "FIRRM", "CD3D": "CD3D"},
    }
    for name, symbol in today.items():
        assert [gene.symbol for gene in names.known_as(name)] == [symbol]
    assert not names.known_as("no gene")


def test_controls():
    controls = [
        *("X__no_feature", "X__ambiguous", "X__alignment_not_unique", "SIRV501"),
        *("Sequential_Blank-1", "Blank_Codeword_1", "BlankCodeword_0001"),
        *("GenomicControlProbe_00001", "Genomic Control", "Custom_NegPrb", "NegPrb_Custom"),
    ]
    assert [name for name in controls if names.is_control(name)] == controls
    assert not [name for name in names.nomenclature()["symbol"] if names.is_control(name)]


def test_ids_of_any_kind():
    for text in ("ensg00000167286.3", "gene:ENSG00000167286", "ENSG00000167286.11_PAR_Y"):
        assert names.as_id(text) == "ENSG00000167286"
    for other in ("FBgn0000008", "WBGene00000001", "AT1G01010"):
        assert names.is_id(other)
        assert names.as_id(other) == other
        assert names.versionless(other) == ""
