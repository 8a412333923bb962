"""Markers of cell types and families of genes, in the tables that people make of them."""

from __future__ import annotations

import gzip
import json

import pandas as pd
from refusals import accepted, refused

from glfs_bio.errors import FileMissing, InvalidValue, NotFound
from glfs_bio.io import read_markers

MARKERS = {"T": ["CD3D", "CD3E"], "B": ["MS4A1"]}

TABLES = {
    "long.csv": "cell type,gene\nT,CD3D\nT,CD3E\nB,MS4A1\nT,CD3D\n",
    "wide.csv": "T,B\nCD3D,MS4A1\nCD3E,\n",
    "numbered.csv": ",T,B\n0,CD3D,MS4A1\n1,CD3E,\n",
    "cells.csv": 'type,markers\nT,"CD3D, CD3E"\nB,MS4A1\n',
    "rows.csv": "T,CD3D,CD3E\nB,MS4A1\n",
    "scanpy.csv": ",group,names,scores,pvals\n0,T,CD3D,5,0\n1,T,CD3E,4,0\n2,B,MS4A1,9,0\n",
    "scanpy_wide.csv": ",T_n,T_p,B_n,B_p\n0,CD3D,0.1,MS4A1,0.2\n1,CD3E,0.1,,0.3\n",
    "seurat.csv": '"","p_val","cluster","gene"\n"CD3D",0,"T","CD3D"\n"CD3E",0,"T","CD3E"\n'
    '"MS4A1",0,"B","MS4A1"\n',
    "panglao.tsv": "species\tofficial gene symbol\tcell type\tnicknames\nHs\tCD3D\tT\tT3D\n"
    "Hs\tCD3E\tT\tx|y\nMm Hs\tMS4A1\tB\tCD20\n",
    "cellmarker.csv": "cell_type,cell_name,marker,Symbol\nNormal cell,T,CD3,CD3D\n"
    "Normal cell,T,CD3,CD3E\nNormal cell,B,CD20,MS4A1\n",
    "cellmarker_old.txt": "cellType\tcellName\tcellMarker\tgeneSymbol\n"
    "Normal cell\tT\tCD3, x\tCD3D, [CD3E], NA\nNormal cell\tB\tCD20\tMS4A1\n",
    "lacking.csv": 'Cell type,Positive markers,Negative markers\nT,"CD3D,CD3E",MS4A1\n'
    "B,MS4A1,CD3D\n",
    "no_header.csv": "CD3D,T\nCD3E,T\nMS4A1,B\nLYZ,NA\n",
    "matrix.csv": ",T,B\nCD3D,1,0\nCD3E,1,0\nMS4A1,0,1\n",
    "titled.csv": "Markers of X,\ntype,gene\nT,CD3D\n,CD3E\nB,MS4A1\n",
    "lines.txt": "T: CD3D, CD3E\nB: MS4A1\n",
    "sets.gmt": "T\tx\tCD3D\tCD3E\nB\tx\tMS4A1\n",
    "lists.json": json.dumps(MARKERS),
    "texts.json": json.dumps({"T": "CD3D, CD3E", "B": "MS4A1"}),
}


def test_tables_of_markers(tmp_path):
    wrong = {}
    for name, text in TABLES.items():
        (tmp_path / name).write_text(text)
        markers = read_markers(tmp_path / name)
        if markers != MARKERS:
            wrong[name] = markers
    assert not wrong
    (tmp_path / "packed.csv.gz").write_bytes(gzip.compress(TABLES["long.csv"].encode()))
    assert read_markers(str(tmp_path / "packed.csv.gz")) == MARKERS


HEADLESS = {
    "CD3D,T cell\nCD19,B cell\n": {"T cell": ["CD3D"], "B cell": ["CD19"]},
    "CD3D,T\nMS4A1,B\n": {"T": ["CD3D"], "B": ["MS4A1"]},
    # T is a gene of the mouse, and those of a fish are in no nomenclature
    "T,B\nCd3d,Ms4a1\nCd3e,Cd20\n": {"T": ["Cd3d", "Cd3e"], "B": ["Ms4a1", "Cd20"]},
    "neuron,glia\nelavl3,slc1a2b\nsnap25a,\n": {
        **{"neuron": ["elavl3", "snap25a"], "glia": ["slc1a2b"]}
    },
}


def test_names_of_types_with_and_without_a_header(tmp_path):
    for text, markers in HEADLESS.items():
        (tmp_path / "a.csv").write_text(text)
        assert read_markers(tmp_path / "a.csv") == markers


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
    "list.txt": "CD3D\nCD3E\n",
    "gene.csv": "gene\nCD3D\n",
    "undecided.csv": "CD3D,CD3E\nMS4A1,CD79A\n",
    "no_header.csv": "CD3D,T cell,Smith\nMS4A1,B cell,Jones\n",
    "empty.csv": "",
    "date.csv": "type,gene\nT,1-Mar\nT,CD3D\n",
    "several.csv": "type,gene\nT,NKG7/GNLY\n",
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
    (tmp_path / "long.csv").write_text(TABLES["long.csv"])
    with refused(InvalidValue, "sheet"):
        read_markers(tmp_path / "long.csv", sheet="x")
