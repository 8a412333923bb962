"""Tables of genes, and names found in them by present and past names and by ids."""

from __future__ import annotations

import gzip

import pandas as pd
import pytest
from refusals import refused

from glfs_bio.errors import InvalidValue
from glfs_bio.io import read_genes
from glfs_bio.vendors.names import Resolver, as_genes


def found(names, genes, *, nomenclature=None, **options):
    table, history = (None if one is None else as_genes(one) for one in (genes, nomenclature))
    resolver = Resolver.of(names, table, history=history, **options)
    return resolver.resolve(names).set_index("name")


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


def test_a_gene_in_two_places_has_the_most_probes(tmp_path):
    (tmp_path / "a.csv").write_text("gene_name,chr,probe_count\nCD3D,1,2\nCD3D,alt,9\nLYZ,1,3\n")
    genes = read_genes(tmp_path / "a.csv")
    assert list(genes["n_probes"]) == [9, 3]


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
    with refused(InvalidValue, "genes"):
        as_genes(path)
