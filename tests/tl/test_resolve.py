"""Genes of the data found in lists and nomenclatures."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd

from glfs_bio.tl import resolve_genes


def cells(names, **var):
    frame = pd.DataFrame(var, index=pd.Index(names))
    return ad.AnnData(np.ones((2, len(names)), dtype=np.float32), var=frame)


def test_ids_decide(vendor):
    adata = cells(["TBCE", "whatever", "CD3D"])
    ids = ["ENSG00000285053", "ENSG00000127054", "ENSG00000167286"]
    adata.var["gene_ids"] = [f"{ids[0]}.2", ids[1], np.nan]
    table = resolve_genes(adata, vendor, ids="gene_ids", inplace=False)
    assert list(table["id"]) == ids
    assert list(table["found"]) == ["symbol", "id", "symbol"]
    adata = cells(["CD3D", "CPSF3L", "TBCE"])
    table = resolve_genes(adata, str(vendor), inplace=False)
    assert list(table["symbol"]) == ["CD3D", "INTS11", ""]
    assert list(table["found"]) == ["symbol", "retired", "ambiguous"]


def test_species_is_that_of_most_names(vendor):
    adata = cells(["Cd3d", "Ms4a1"])
    resolve_genes(adata, vendor)
    assert adata.uns["glfs_names"]["species"] == "Mus musculus"
    assert list(adata.var["glfs_names_id"]) == ["ENSMUSG00000032094", ""]
    assert list(adata.var["glfs_names_orderable"]) == [True, False]
    resolve_genes(adata, vendor, nomenclature="human")
    assert adata.uns["glfs_names"]["species"] == "Homo sapiens"


def test_nothing_is_orderable_without_a_list(vendor):
    adata = cells(["CD3D", "MTND1P23"])
    resolve_genes(adata, vendor)
    assert adata.uns["glfs_names"]["source"] == str(vendor)
    resolve_genes(adata)
    assert "glfs_names_orderable" not in adata.var
    assert list(adata.var["glfs_names_id"]) == ["ENSG00000167286", "ENSG00000225972"]
    assert "HGNC" in adata.uns["glfs_names"]["source"]


def test_tables_of_genes():
    """With numbers of probes, and as ``.var`` of other data."""
    genes = pd.DataFrame({"gene_name": ["CD3D", "LYZ"], "chr": 1, "probe_count": [9, 0]})
    adata = cells(["CD3D", "LYZ"])
    resolve_genes(adata, genes)
    assert list(adata.var["glfs_names_orderable"]) == [True, False]
    genes = cells(["CD3D", "INTS11"]).var
    table = resolve_genes(cells(["CD3D", "CPSF3L"]), genes, inplace=False)
    assert list(table["symbol"]) == ["CD3D", "INTS11"]


def test_kang_with_a_list_of_all_that_are_named_today(real):
    """Names of 2017 in a nomenclature of today: most that changed are found."""
    table = resolve_genes(real("kang_ifnb13999"), inplace=False)
    counts = table["found"].value_counts()
    assert counts["retired"] > 500
    assert counts["symbol"] > 11_000
    changed = table[table["found"] == "retired"].set_index("name")["symbol"]
    assert (changed["CPSF3L"], changed["IL8"]) == ("INTS11", "CXCL8")


def test_a_list_in_the_genes_of_other_cells(tmp_path):
    data = cells(["MS4A1", "IGJ", "CD3D"])
    table = resolve_genes(["CD20", "JCHAIN", "no gene"], data)
    assert list(table["symbol"]) == ["MS4A1", "IGJ", ""]
    assert list(data.var) == []
    path = tmp_path / "list.csv"
    path.write_text("gene,Ensembl ID\nmine,ENSG00000167286\nCD20,\n")
    assert list(resolve_genes(path, data)["symbol"]) == ["CD3D", "MS4A1"]


def test_a_typo_in_a_list_has_candidates():
    table = resolve_genes(["GNYL", "CD20", "xyz"], cells(["GNLY", "MS4A1", "LYZ"]))
    assert list(table["found"]) == ["unknown", "retired", "unknown"]
    assert list(table["candidates"]) == ["GNLY", "", ""]
    table = resolve_genes(cells(["GNYL", "LYZ"]), cells(["GNLY", "LYZ"]), inplace=False)
    assert list(table["candidates"]) == ["", ""]
