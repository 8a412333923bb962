"""Tables of genes, and lists of genes by name, as vendors, nomenclatures and people write them."""

from __future__ import annotations

import gzip
import json

import pandas as pd
from refusals import accepted, refused

from glfs_bio.errors import FileMissing, InvalidValue, NotFound
from glfs_bio.io import read_genes, read_markers
from glfs_bio.vendors.genes import as_genes


def test_numbers_of_probes(tmp_path):
    """A gene in two places has those of the place that has most."""
    (tmp_path / "a.csv").write_text("gene_name,chr,probe_count\nCD3D,1,2\nCD3D,alt,9\nLYZ,1,3\n")
    assert list(read_genes(tmp_path / "a.csv")["n_probes"]) == [9, 3]
    (tmp_path / "a.csv").write_text("gene,probes\nCD3D,1234\nLYZ,\nNKG7,5\n")
    assert list(read_genes(tmp_path / "a.csv")["n_probes"]) == [1234, 0, 5]
    for number in ("n/a", '"1,234"'):
        (tmp_path / "a.csv").write_text(f"gene,probes\nCD3D,3\nLYZ,{number}\n")
        with refused(InvalidValue, "path") as caught:
            read_genes(tmp_path / "a.csv")
        assert number.strip('"') in str(caught.value)


HGNC = (
    "hgnc_id\tsymbol\tname\talias_symbol\tprev_symbol\tgene_group\tensembl_gene_id\n"
    'HGNC:1\tCD3D\tCD3 delta\t"T3|LEU"\tT3D\tCD molecules\tENSG00000167286\n'
)
TABLES = {
    "vendor.csv": "Species,Ensembl ID,Gene symbol\nHomo sapiens,ENSG00000167286,CD3D\n",
    "probes.csv": '"gene_name","chr","probe_count"\n"CD3D","chr11",9\n',
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
}


def test_tables_of_genes(tmp_path):
    for name, text in TABLES.items():
        (tmp_path / name).write_text(text)
        genes = read_genes(tmp_path / name)
        first = genes.iloc[0]
        assert len(genes) == 1, name
        assert first["symbol"] == "CD3D" or name == "ids.txt", name
        assert first["id"] == "ENSG00000167286" or name in ("probes.csv", "list.txt"), name


BAD = [
    ("a.csv", b""),
    ("a.csv", b"symbol,id\n"),
    ("a.txt", b"\xff\xfe\x00"),
    ("a.gtf", b"1\tx\tgene\n"),
    ("a.csv.gz", gzip.compress(HGNC.encode(), mtime=0)[:40]),
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
    (tmp_path / "features.tsv").write_text("YAL001C\tTFC3\tGene Expression\n")
    assert read_genes(tmp_path / "features.tsv").loc[0].tolist() == ["TFC3", "YAL001C"]


def test_tables_and_lists_in_memory():
    frame = pd.DataFrame({"ensembl_id": ["ENSG00000167286"]}, index=["CD3D"])
    assert as_genes(frame).loc[0].tolist() == ["CD3D", "ENSG00000167286"]
    frame = pd.DataFrame({"symbol": ["CD3D"], "entrez": [915.0]})
    assert as_genes(frame).loc[0].tolist() == ["CD3D", ""]
    assert list(as_genes(["gene", "CD3D"])["symbol"]) == ["gene", "CD3D"]


MARKERS = {"T": ["CD3D", "CD3E"], "B": ["MS4A1"]}

OF_MARKERS = {
    "long.csv": "cell type,gene\nT,CD3D\nT,CD3E\nB,MS4A1\nT,CD3D\n",
    "wide.csv": "T,B\nCD3D,MS4A1\nCD3E,\n",
    "numbered.csv": ",T,B\n0,CD3D,MS4A1\n1,CD3E,\n",
    "cells.csv": 'type,markers\nT,"CD3D, CD3E"\nB,MS4A1\n',
    "scanpy.csv": ",group,names,scores,pvals\n0,T,CD3D,5,0\n1,T,CD3E,4,0\n2,B,MS4A1,9,0\n",
    "seurat.csv": '"","p_val","cluster","gene"\n"CD3D",0,"T","CD3D"\n"CD3E",0,"T","CD3E"\n'
    '"MS4A1",0,"B","MS4A1"\n',
    "panglao.tsv": "species\tofficial gene symbol\tcell type\tnicknames\nHs\tCD3D\tT\tT3D\n"
    "Hs\tCD3E\tT\tx|y\nMm Hs\tMS4A1\tB\tCD20\n",
    "cellmarker.csv": "cell_type,cell_name,marker,Symbol\nNormal cell,T,CD3,CD3D\n"
    "Normal cell,T,CD3,CD3E\nNormal cell,B,CD20,MS4A1\n",
    "cellmarker_old.txt": "cellType\tcellName\tcellMarker\tgeneSymbol\n"
    "Normal cell\tT\tCD3, x\tCD3D, [CD3E], NA\nNormal cell\tB\tCD20\tMS4A1\n",
    "matrix.csv": ",T,B\nCD3D,1,0\nCD3E,1,0\nMS4A1,0,1\n",
    "titled.csv": "Markers of X,\ntype,gene\nT,CD3D\n,CD3E\nB,MS4A1\n",
    "flags.csv": "index,T,B\nCD3D,TRUE,FALSE\nCD3E,TRUE,FALSE\nMS4A1,FALSE,TRUE\n",
    "unknown_heads.csv": 'Subclass,Signature\nT,"CD3D,CD3E"\nB,MS4A1\n',
    "several_columns.csv": "Compartment,Marker 1,Marker 2\nT,CD3D,CD3E\nB,MS4A1,\n",
    "several_cells.csv": "Cell type,Markers\nT,CD3D,CD3E\nB,MS4A1\n",
    "classes.csv": "class,cluster,gene\nx,T,CD3D\nx,T,CD3E\nx,B,MS4A1\n",
    "annotated.csv": "annotation,cluster,gene\nT,1,CD3D\nT,1,CD3E\nB,2,MS4A1\n",
    "gsea.tsv": "T\tB\nna\tna\nCD3D\tMS4A1\nCD3E\t\n",
    "sets.gmt": "T\tx\tCD3D\tCD3E\nB\tx\tMS4A1\n",
    "lists.json": json.dumps(MARKERS),
    "msigdb.json": json.dumps({name: {"geneSymbols": MARKERS[name]} for name in MARKERS}),
}


def test_tables_of_markers(tmp_path):
    wrong = {}
    for name, text in OF_MARKERS.items():
        (tmp_path / name).write_text(text)
        markers = read_markers(tmp_path / name)
        if markers != MARKERS:
            wrong[name] = markers
    assert not wrong
    (tmp_path / "packed.csv.gz").write_bytes(gzip.compress(OF_MARKERS["long.csv"].encode()))
    assert read_markers(str(tmp_path / "packed.csv.gz")) == MARKERS


def test_columns_by_name(tmp_path):
    """Genes of a fish are in no nomenclature."""
    (tmp_path / "a.csv").write_text("kind,note,list\nneuron,a b,elavl3\nglia,c d,slc1a2b\n")
    with refused(InvalidValue, "path"):
        read_markers(tmp_path / "a.csv")
    markers = read_markers(tmp_path / "a.csv", type="kind", gene="list")
    assert markers == {"neuron": ["elavl3"], "glia": ["slc1a2b"]}
    (tmp_path / "b.csv").write_text(WITHOUT_TYPES["lacking.csv"])
    assert read_markers(tmp_path / "b.csv", gene="Positive markers") == MARKERS
    with refused(NotFound, "gene"):
        read_markers(tmp_path / "a.csv", type="kind", gene="x")


def test_numbered_columns_lose_no_gene(tmp_path):
    (tmp_path / "a.csv").write_text("cluster,gene1,gene2\nT,CD3D,cd3e\nB,MS4A1,\nNK,GNLY,zf1a\n")
    markers = read_markers(tmp_path / "a.csv")
    assert markers == {"T": ["CD3D", "cd3e"], "B": ["MS4A1"], "NK": ["GNLY", "zf1a"]}


def test_tables_in_memory():
    long = pd.DataFrame({"group": ["T", "T", "B"], "names": ["CD3D", "CD3E", "MS4A1"]})
    assert read_markers(long) == MARKERS
    assert read_markers(long.set_index("group")) == MARKERS
    assert read_markers(pd.DataFrame({"T": ["CD3D", "CD3E"], "B": ["MS4A1", None]})) == MARKERS


def test_workbooks(tmp_path):
    rows = {"Cell type": ["T", None, "B"], "Gene": ["CD3D", "CD3E", "MS4A1"]}  # merged cells
    with pd.ExcelWriter(tmp_path / "a.xlsx") as book:
        pd.DataFrame({"about": ["notes"], "these": ["markers"]}).to_excel(book, sheet_name="Notes")
        pd.DataFrame(rows).to_excel(book, sheet_name="Markers", index=False)
    assert read_markers(tmp_path / "a.xlsx") == MARKERS
    assert read_markers(tmp_path / "a.xlsx", sheet="Markers") == MARKERS
    with refused(NotFound, "sheet"):
        read_markers(tmp_path / "a.xlsx", sheet="no")


WITHOUT_TYPES = {
    "rows.csv": "T,CD3D,CD3E\nB,MS4A1\n",
    "caption.csv": "Table 1. Markers,\nT,B\nCD3D,MS4A1\nCD3E,\n",
    "no_types.csv": "CD3D,T\nCD3E,T\nMS4A1,B\nLYZ,NA\n",
    "scanpy_wide.csv": ",T_n,T_p,B_n,B_p\n0,CD3D,0.1,MS4A1,0.2\n1,CD3E,0.1,,0.3\n",
    "lacking.csv": 'Cell type,Positive markers,Negative markers\nT,"CD3D,CD3E",MS4A1\n'
    "B,MS4A1,CD3D\n",
    # a table of genes, whose descriptions are no types
    "described.csv": "gene,gene_name\nIL7R,interleukin 7 receptor\nLYZ,lysozyme\n",
    "flagged.csv": "gene,included\nCD3D,TRUE\nLYZ,FALSE\n",
    "negative.csv": "cell type,negative markers\nT,MS4A1\nB,CD3D\n",
    "date.gmt": "T\tx\t1-Mar\tCD3D\n",
    "head_of_r.txt": "X\nCD3D\nCD3E\n",
    "numbered.csv": ",gene1,gene2\nT,CD3D,CD3E\nB,MS4A1,\n",
    "titled_wide.csv": "My markers, version 2\nNK,M,T cell\nGNLY,LYZ,cd3d\nNKG7,CST3,\n",
    "lines.txt": "T: CD3D, CD3E\nB: MS4A1\n",
    "lines.csv": "T cells: CD3D,CD3E\nB cells: MS4A1,CD79A\n",
    "list.txt": "CD3D\nCD3E\n",
    "cells.csv": "index,cluster\nAAACATACAACCAC-1,four\nAAACATTGAGCTAC-1,three\n",
    "counts.csv": "cluster,count\nT,300\nB,200\n",
    "gene.csv": "gene\nCD3D\n",
    "undecided.csv": "CD3D,CD3E\nMS4A1,CD79A\n",
    "no_header.csv": "CD3D,T cell,Smith\nMS4A1,B cell,Jones\n",
    "empty.csv": "",
    "date.csv": "type,gene\nT,1-Mar\nT,CD3D\n",
    "several.csv": "type,gene\nT,NKG7/GNLY\n",
    "texts.json": json.dumps({"T": "CD3D, CD3E", "B": "MS4A1"}),
    "list.json": '["CD3D"]',
    "deep.json": '{"T": {"CD3D": 1}}',
    "broken.json": "{",
    "a.doc": "x",
}


def test_what_has_no_types(tmp_path):
    def read(name):
        (tmp_path / name).write_text(WITHOUT_TYPES[name])
        return read_markers(tmp_path / name)

    assert not accepted(read, WITHOUT_TYPES)
    with refused(FileMissing, "path"):
        read_markers(tmp_path / "no.csv")
    (tmp_path / "long.csv").write_text(OF_MARKERS["long.csv"])
    with refused(InvalidValue, "sheet"):
        read_markers(tmp_path / "long.csv", sheet="x")
