"""Genes found by present and past names, and by ids."""

from __future__ import annotations

import gzip

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from refusals import refused

import glfs_bio
from glfs_bio.errors import FileMissing, InvalidType, InvalidValue, NotFound
from glfs_bio.io import read_genes
from glfs_bio.tl import resolve_genes

VENDOR = """Species,Ensembl ID,Gene symbol
Homo sapiens,ENSG00000167286,CD3D
Homo sapiens,ENSG00000127054,INTS11
Homo sapiens,ENSG00000145416,MARCH1
Homo sapiens,ENSG00000183291,SELENOF
Homo sapiens,ENSG00000284770,TBCE
Homo sapiens,ENSG00000285053,TBCE
Homo sapiens,ENSG00000273045,C2orf15
Mus musculus,ENSMUSG00000032094,Cd3d
"""


@pytest.fixture
def vendor(tmp_path):
    path = tmp_path / "vendor.csv.gz"
    path.write_bytes(gzip.compress(VENDOR.encode()))
    return path


def cells(names, **var):
    frame = pd.DataFrame(var, index=pd.Index(names))
    return ad.AnnData(np.ones((2, len(names)), dtype=np.float32), var=frame)


def found(names, genes, **options):
    table = resolve_genes(cells(names), genes, inplace=False, **options)
    return table.set_index("name")


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


def test_ids_decide(vendor):
    adata = cells(["TBCE", "whatever", "CD3D"])
    adata.var["gene_ids"] = ["ENSG00000285053.2", "ENSG00000127054", np.nan]
    table = resolve_genes(adata, vendor, ids="gene_ids", inplace=False)
    assert list(table["id"]) == ["ENSG00000285053", "ENSG00000127054", "ENSG00000167286"]
    assert list(table["found"]) == ["symbol", "id", "symbol"]


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


def test_species_is_that_of_most_names(vendor):
    adata = cells(["Cd3d", "Ms4a1"])
    resolve_genes(adata, vendor)
    assert adata.uns["glfs_names"]["species"] == "Mus musculus"
    assert list(adata.var["glfs_names_id"]) == ["ENSMUSG00000032094", ""]
    assert list(adata.var["glfs_names_orderable"]) == [True, False]
    with refused(InvalidValue, "species"):
        resolve_genes(adata, vendor, species="Danio rerio")


def test_mouse_names_of_the_past():
    table = found(["Cd3d", "March1"], None)
    assert list(table["symbol"]) == ["Cd3d", "Marchf1"]


def test_in_files(vendor, tmp_path):
    adata = cells(["CD3D", "CPSF3L", "TBCE"])
    resolve_genes(adata, str(vendor))
    adata.write_h5ad(tmp_path / "a.h5ad")
    again = ad.read_h5ad(tmp_path / "a.h5ad")
    assert list(again.var["glfs_names_symbol"]) == ["CD3D", "INTS11", ""]
    assert list(again.uns["glfs_names"]["table"]["found"]) == ["symbol", "retired", "ambiguous"]


def test_numbers_of_probes():
    genes = pd.DataFrame({"gene_name": ["CD3D", "LYZ"], "chr": 1, "probe_count": [9, 2]})
    adata = cells(["CD3D", "LYZ"])
    resolve_genes(adata, genes, min_probes=3)
    assert list(adata.var["glfs_names_orderable"]) == [True, False]


def test_ids_that_a_list_lacks_are_official():
    table = found(["CD3D", "CPSF3L"], ["CD3D", "INTS11", "CD3D"])
    assert list(table["id"]) == ["ENSG00000167286", "ENSG00000127054"]


def test_a_gene_in_two_places_has_the_most_probes(tmp_path):
    (tmp_path / "a.csv").write_text("gene_name,chr,probe_count\nCD3D,1,2\nCD3D,alt,9\nLYZ,1,3\n")
    genes = read_genes(tmp_path / "a.csv")
    assert list(genes["n_probes"]) == [9, 3]


def test_var_of_other_data_is_a_table():
    table = found(["CD3D", "CPSF3L"], cells(["CD3D", "INTS11"]).var)
    assert list(table["symbol"]) == ["CD3D", "INTS11"]


GTF = (
    '#!genome\n1\tx\tgene\t1\t2\t.\t+\t.\tgene_id "ENSG00000167286.9"; gene_name "CD3D";\n'
    '1\tx\ttranscript\t1\t2\t.\t+\t.\tgene_id "ENSG00000167286.9"; transcript_id "ENST1";\n'
    '1\tx\tgene\t1\t2\t.\t+\t.\tgene_id "ENSG00000000001"; gene_type "lncRNA";\n'
)
GFF = "1\tx\tgene\t1\t2\t.\t+\t.\tID=gene:ENSG00000167286;Name=CD3D;biotype=x\n"
HGNC = (
    "hgnc_id\tsymbol\tname\talias_symbol\tprev_symbol\tgene_group\tensembl_gene_id\n"
    'HGNC:1\tCD3D\tCD3 delta\t"T3|LEU"\tT3D\tCD molecules\tENSG00000167286\n'
)
TABLES = {
    "vendor.csv": "Species,Ensembl ID,Gene symbol\nHomo sapiens,ENSG00000167286,CD3D\n",
    "probes.csv": '"gene_name","chr","probe_count"\n"CD3D","chr11",9\n',
    "a.gtf": GTF,
    "a.gff3": GFF,
    "hgnc_complete_set.txt": HGNC,
    "features.tsv": "ENSG00000167286\tCD3D\tGene Expression\n",
    "list.txt": "CD3D\n",
    "ids.txt": "ENSG00000167286.3\n",
    "semicolons.csv": "symbol;ensembl_gene_id\nCD3D;ENSG00000167286\n",
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", TABLES)
def test_tables_of_genes(tmp_path, name, packed):
    path = tmp_path / (name + ".gz" * packed)
    content = TABLES[name].encode()
    path.write_bytes(gzip.compress(content) if packed else content)
    genes = read_genes(path)
    first = genes.iloc[0]
    if name != "ids.txt":
        assert first["symbol"] == "CD3D"
    if name not in ("probes.csv", "list.txt"):
        assert first["id"] == "ENSG00000167286"
    if name == "probes.csv":
        assert list(genes["n_probes"]) == [9]
    if name.startswith("hgnc"):
        assert (first["previous"], first["aliases"]) == ("T3D", "T3|LEU")
        assert first["family"] == "CD molecules"


def test_a_table_in_a_workbook(tmp_path):
    pytest.importorskip("openpyxl")
    pd.DataFrame({"symbol": ["CD3D"]}).to_excel(tmp_path / "a.xlsx", index=False)
    assert list(read_genes(tmp_path / "a.xlsx")["symbol"]) == ["CD3D"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b""),
        ("a.csv", b"symbol,id\n"),
        ("a.txt", b"\xff\xfe\x00"),
        ("a.gtf", b"1\tx\texon\n"),
        ("a.gtf.gz", gzip.compress(GTF.encode(), mtime=0)[:40]),
        ("a.csv.gz", b"no gzip"),
        ("a.xlsx", b"no workbook"),
    ],
)
def test_bad_tables(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    with refused(InvalidValue, "path") as caught:
        read_genes(path)
    assert str(path) in str(caught.value)
    adata = cells(["CD3D"])
    with refused(InvalidValue, "genes"):
        resolve_genes(adata, path)
    assert not adata.uns


def test_bad_arguments(vendor):
    adata = cells(["CD3D"])
    for options, error, argument in (
        ({"genes": 3}, InvalidType, "genes"),
        ({"genes": []}, InvalidValue, "genes"),
        ({"genes": "no.csv"}, FileMissing, "genes"),
        ({"symbols": "no"}, NotFound, "symbols"),
        ({"ids": "no"}, NotFound, "ids"),
        ({"nomenclature": 3}, InvalidType, "nomenclature"),
        ({"min_probes": 0}, InvalidValue, "min_probes"),
        ({"key_added": "neighbors"}, InvalidValue, "key_added"),
    ):
        with refused(error, argument):
            resolve_genes(adata, **{"genes": vendor, **options})
        assert list(adata.var) == []


def test_kang_with_a_list_of_all_that_are_named_today(real):
    """Names of 2017 in a nomenclature of today: most that changed are found."""
    table = glfs_bio.tl.resolve_genes(real("kang_ifnb13999"), inplace=False)
    counts = table["found"].value_counts()
    assert counts["retired"] > 500
    assert counts["symbol"] > 11_000
    changed = table[table["found"] == "retired"].set_index("name")["symbol"]
    assert (changed["CPSF3L"], changed["IL8"]) == ("INTS11", "CXCL8")
