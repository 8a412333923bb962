"""Genes that take the place of others in a panel."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pytest
from refusals import refused

from glfs_bio import Limits, Platform, pp, tl
from glfs_bio.errors import Caution, InvalidValue, NotFound

PANEL = ["CD3D", "LYZ", "NKG7", "CD79A", "FCER1A"]


def chosen(adata, key="glfs_replaced"):
    return set(adata.var_names[adata.var[f"{key}_selected"]])


def test_failed_genes_leave_and_do_not_come_back(cells, tmp_path):
    """Not in an extension, a second replacement or as substitutes, nor after a file."""
    pp.select_genes(cells, 12, exclude="ribosomal")
    before = chosen(cells, "glfs")
    failed = sorted(before)[:3]
    tl.replace_genes(cells, failed)
    entry = cells.uns["glfs_replaced"]
    table = entry["table"]
    assert list(table["gene"]) == failed
    assert chosen(cells) == before - {*failed} | {*table["replaced_by"]}
    assert len(chosen(cells)) == 12
    assert table["preserved_before"].iloc[0] == pytest.approx(cells.uns["glfs"]["preserved"][-1])
    assert table["preserved_after"].iloc[-1] == pytest.approx(entry["preserved"][-1])
    asked = pp.recorded_parameters(cells, "glfs_replaced")
    assert asked["exclude"] == ["ribosomal", *failed]
    assert asked["n_genes"] == 12
    cells.write_h5ad(tmp_path / "a.h5ad")
    again = ad.read_h5ad(tmp_path / "a.h5ad")
    sources = tl.order_panel(again, "glfs_replaced", inplace=False).set_index("name")["source"]
    assert (sources[table["replaced_by"]] == "replacement").all()
    assert (sources.drop(table["replaced_by"]) == "selected").all()
    tl.extend_panel(again, "glfs_replaced", 20)
    extended = chosen(again, "glfs_replaced_extended")
    assert not extended & {*failed}
    assert not any(name.startswith(("RPL", "RPS")) for name in extended)
    more = sorted(table["replaced_by"])[:1]
    tl.replace_genes(again, more, "glfs_replaced", key_added="twice")
    assert not chosen(again, "twice") & {*failed, *more}
    assert not set(tl.substitutes(again, "twice", inplace=False)["substitute"]) & {*failed, *more}


def test_limits_platform_and_must_haves_hold(cells, unchanged):
    cells.var["orderable"] = ~cells.var_names.str.startswith("HLA")
    markers = {"B": ["CD79A", "MS4A1", "CD79B"], "T": ["CD3D", "CD3E"]}
    given = {
        "limits": Limits(groups=markers, per_group=(2, None)),
        "platform": Platform(genes="orderable"),
        "include": ["NKG7", "FCER1A"],
        "preserve": "bulk_labels",
    }
    pp.select_genes(cells, 11, **given)
    some = sorted(chosen(cells, "glfs") & set(markers["B"]))[0]
    tl.replace_genes(cells, [some, "NKG7"])
    after = chosen(cells)
    assert len(after) == 11
    assert cells.var.loc[list(after), "orderable"].all()
    assert len(after & set(markers["B"])) == 2
    assert not after & {some, "NKG7"}
    request = pp.recorded_parameters(cells, "glfs_replaced")
    assert request["include"] == ["FCER1A"]
    assert request["limits"] == given["limits"]
    assert request["preserve"] == "bulk_labels"
    assert list(cells.var_names[cells.var["glfs_replaced_included"]]) == ["FCER1A"]
    with unchanged(cells), pytest.raises(InvalidValue):
        tl.replace_genes(cells, markers["T"], key_added="none")


def test_files_columns_and_names_that_the_data_lack(cells, tmp_path):
    path = tmp_path / "failed.txt"
    path.write_text("NKG7\nKRT1\n")
    cells.var["failed"] = cells.var_names == "LYZ"
    with pytest.warns(Caution, match="KRT1"):
        tl.replace_genes(cells, path, [*PANEL, "KRT1", "KRT5"])
    entry = cells.uns["glfs_replaced"]
    assert list(entry["table"]["gene"]) == ["NKG7", "KRT1"]
    assert np.isnan(entry["table"]["substitution_score"][1])
    assert list(entry["absent"]) == ["KRT5"]
    assert len(chosen(cells)) == 6
    table = tl.replace_genes(cells, "failed", PANEL, inplace=False)
    assert list(table["gene"]) == ["LYZ"]
    every = tl.replace_genes(cells, PANEL, PANEL, inplace=False)
    assert not set(every["replaced_by"]) & {*PANEL, ""}


def test_those_that_enter_add_most_together(cells):
    table = tl.replace_genes(cells, ["NKG7", "CD79A"], PANEL, exclude="MS4A1", inplace=False)
    rest, barred = ["CD3D", "LYZ", "FCER1A"], ["NKG7", "CD79A", "MS4A1"]
    added = tl.extend_panel(cells, rest, 2, exclude=barred, inplace=False)
    assert set(table["replaced_by"]) == set(added["gene"])
    last = added["preserved"].iloc[-1]
    assert table["preserved_after"].iloc[-1] == pytest.approx(last)
    with refused(NotFound, "failed") as caught:
        tl.replace_genes(cells, ["CD20", "GNLY"], PANEL)
    assert "MS4A1" in str(caught.value)
    assert "GNLY" in str(caught.value)
    with refused(InvalidValue, "failed"):
        tl.replace_genes(cells, "CD3D", PANEL, exclude=list(cells.var_names))
