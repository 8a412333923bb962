"""Tables of genes, as vendors, annotations and nomenclatures write them."""

from __future__ import annotations

import gzip

import pandas as pd
from refusals import refused

from glfs_bio.errors import InvalidValue
from glfs_bio.io import read_genes
from glfs_bio.vendors.genes import as_genes


def test_numbers_of_probes(tmp_path):
    """A gene in two places has those of the place that has most."""
    (tmp_path / "a.csv").write_text("gene_name,chr,probe_count\nCD3D,1,2\nCD3D,alt,9\nLYZ,1,3\n")
    assert list(read_genes(tmp_path / "a.csv")["n_probes"]) == [9, 3]
    (tmp_path / "a.csv").write_text('gene,probes\nCD3D,"1,234"\nLYZ,\nNKG7,5\n')
    assert list(read_genes(tmp_path / "a.csv")["n_probes"]) == [1234, 0, 5]
    (tmp_path / "a.csv").write_text("gene,probes\nCD3D,3\nLYZ,n/a\n")
    with refused(InvalidValue, "path") as caught:
        read_genes(tmp_path / "a.csv")
    assert "n/a" in str(caught.value)


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
    "antibodies.tsv": "CD3\tCD3_TotalSeqB\tAntibody Capture\n"
    "ENSG00000167286\tCD3D\tGene Expression\n",
    "antibodies.csv": ",gene_ids,feature_types\nCD3,CD3,Antibody Capture\n"
    "CD3D,ENSG00000167286,Gene Expression\n",
    "list.txt": "CD3D\n",
    "ids.txt": "ENSG00000167286.3\n",
    "r_shift.tsv": '"gene"\t"ensembl_id"\n"1"\t"CD3D"\t"ENSG00000167286"\n',
    "titled.csv": "Genes of X,\nsymbol,Gene stable ID version\nCD3D,ENSG00000167286.3\n",
    "several.csv": 'symbol,id\n"CD3D; CD3E","ENSG00000167286; ENSG00000198851"\n',
}


def test_tables_of_genes(tmp_path):
    for name, text in TABLES.items():
        (tmp_path / name).write_text(text)
        genes = read_genes(tmp_path / name)
        first = genes.iloc[0]
        assert len(genes) == 1 + (name in ("several.csv", "a.gtf")), name
        assert first["symbol"] == "CD3D" or name == "ids.txt", name
        assert first["id"] == "ENSG00000167286" or name in ("probes.csv", "list.txt"), name
        if name == "probes.csv":
            assert list(genes["n_probes"]) == [9]
        if name.startswith("hgnc"):
            assert (first["previous"], first["aliases"]) == ("T3D", "T3|LEU")
            assert first["family"] == "CD molecules"


def test_packed_tables_and_workbooks(tmp_path):
    (tmp_path / "a.gtf.gz").write_bytes(gzip.compress(GTF.encode()))
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(TABLES["vendor.csv"].encode()))
    pd.DataFrame({"symbol": ["CD3D"]}).to_excel(tmp_path / "a.xlsx", index=False)
    for path in tmp_path.iterdir():
        assert read_genes(path)["symbol"][0] == "CD3D", path.name


BAD = [
    ("a.csv", b""),
    ("a.csv", b"symbol,id\n"),
    ("a.txt", b"\xff\xfe\x00"),
    ("a.gtf", b"1\tx\texon\n"),
    ("a.gtf.gz", gzip.compress(GTF.encode(), mtime=0)[:40]),
    ("a.csv.gz", b"no gzip"),
    ("a.xlsx", b"no workbook"),
]


def test_bad_tables(tmp_path):
    for name, content in BAD:
        path = tmp_path / name
        path.write_bytes(content)
        with refused(InvalidValue, "path") as caught:
            read_genes(path)
        assert str(path) in str(caught.value)
        with refused(InvalidValue, "genes"):
            as_genes(path)


def test_row_numbers_are_no_genes_and_ids_of_yeast_are(tmp_path):
    (tmp_path / "a.csv").write_text('"","x"\n"1","CD3D"\n"2","LYZ"\n')
    assert list(read_genes(tmp_path / "a.csv")["symbol"]) == ["CD3D", "LYZ"]
    (tmp_path / "a.csv").write_text(",one,two\n0,CD3D,CD4\n1,LYZ,CD8A\n")
    with refused(InvalidValue, "path"):
        read_genes(tmp_path / "a.csv")
    (tmp_path / "features.tsv").write_text("YAL001C\tTFC3\tGene Expression\n")
    assert read_genes(tmp_path / "features.tsv").loc[0].tolist() == ["TFC3", "YAL001C"]


def test_tables_and_lists_in_memory():
    frame = pd.DataFrame({"ensembl_id": ["ENSG00000167286"]}, index=["CD3D"])
    assert as_genes(frame).loc[0].tolist() == ["CD3D", "ENSG00000167286"]
    frame = pd.DataFrame({"symbol": ["CD3D"], "entrez": [915.0]})
    assert as_genes(frame).loc[0].tolist() == ["CD3D", ""]
    assert list(as_genes(["gene", "CD3D"])["symbol"]) == ["gene", "CD3D"]
