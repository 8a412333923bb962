"""Genes that take the place of others in a panel."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pytest
from refusals import refused

from glfs_bio import Limits, Platform, pp, tl
from glfs_bio.errors import Caution, InvalidValue, NotFound

PANEL = ["CD3D", "LYZ", "NKG7", "CD79A", "FCER1A"]


@pytest.fixture
def cells(pbmc):
    pp.structure(pbmc)
    return pbmc


def chosen(adata, key="glfs"):
    return set(adata.var_names[adata.var[f"{key}_selected"]])


def test_failed_genes_leave_and_do_not_come_back(cells):
    pp.select_genes(cells, 12, exclude="ribosomal")
    before = chosen(cells)
    failed = sorted(before)[:3]
    tl.replace_genes(cells, failed)
    after, entry = chosen(cells, "glfs_replaced"), cells.uns["glfs_replaced"]
    table = entry["table"]
    assert list(table["gene"]) == failed
    assert after == before - {*failed} | {*table["replaced_by"]}
    assert len(after) == 12
    assert table["preserved_before"].iloc[0] == pytest.approx(cells.uns["glfs"]["preserved"][-1])
    assert table["preserved_after"].iloc[-1] == pytest.approx(entry["preserved"][-1])
    asked = pp.recorded_parameters(cells, "glfs_replaced")
    assert asked["exclude"] == ["ribosomal", *failed]
    assert asked["n_genes"] == 12
    tl.extend_panel(cells, "glfs_replaced", 20)
    assert not chosen(cells, "glfs_replaced_extended") & {*failed}
    assert not any(
        name.startswith(("RPL", "RPS")) for name in chosen(cells, "glfs_replaced_extended")
    )
    again = sorted(table["replaced_by"])[:1]
    tl.replace_genes(cells, again, "glfs_replaced", key_added="twice")
    assert not chosen(cells, "twice") & {*failed, *again}
    assert not set(tl.substitutes(cells, "twice", inplace=False)["substitute"]) & {*failed, *again}


@pytest.mark.parametrize("call", [tl.replace_genes, tl.substitutes])
def test_each_wrong_gene_has_what_is_wrong_of_it(cells, call):
    outside = next(name for name in cells.var_names if name not in PANEL)
    argument = "failed" if call is tl.replace_genes else "genes"
    for wrong, kind in (
        (["CD79Ax"], NotFound),
        (["CD79Ax", "CD79A"], NotFound),
        (["CD79Ax", outside], NotFound),
        ([outside, "CD79A"], InvalidValue),
    ):
        with refused(kind, argument) as caught:
            call(cells, panel=PANEL, **{argument: wrong})
        problem = caught.value.problem
        assert ("CD79Ax" in problem) == ("CD79Ax" in wrong)
        assert (outside in problem) == (outside in wrong)
        assert "CD79A" not in problem.replace("CD79Ax", "")


def test_those_that_enter_add_most_together(cells):
    table = tl.replace_genes(cells, ["NKG7", "CD79A"], PANEL, inplace=False)
    rest = [gene for gene in PANEL if gene not in ("NKG7", "CD79A")]
    added = tl.extend_panel(cells, rest, 2, exclude=["NKG7", "CD79A"], inplace=False)
    assert set(table["replaced_by"]) == set(added["gene"])
    assert "glfs_replaced" not in cells.uns
    last = added["preserved"].iloc[-1]
    assert table["preserved_after"].iloc[-1] == pytest.approx(last)
    one = tl.replace_genes(cells, "CD79A", PANEL, exclude="MS4A1", inplace=False)
    assert one["replaced_by"][0] != "MS4A1"


def test_limits_platform_and_must_haves_hold(cells):
    cells.var["orderable"] = np.arange(cells.n_vars) % 2 == 0
    evens = list(cells.var_names[::2])
    families = {"first": evens[:100], "second": evens[100:]}
    limits = Limits(families=families, per_family=6)
    given = {"limits": limits, "platform": Platform(genes="orderable"), "include": evens[3:5]}
    pp.select_genes(cells, 11, **given, preserve="bulk_labels")
    gone = [evens[3], next(name for name in chosen(cells) if name not in evens[3:5])]
    tl.replace_genes(cells, gone)
    after = chosen(cells, "glfs_replaced")
    assert len(after) == 11
    assert after <= set(evens)
    assert evens[4] in after
    assert max(len(after & set(members)) for members in families.values()) <= 6
    request = pp.recorded_parameters(cells, "glfs_replaced")
    assert request["include"] == [evens[4]]
    assert request["limits"] == limits
    assert request["preserve"] == "bulk_labels"
    assert list(cells.var_names[cells.var["glfs_replaced_included"]]) == [evens[4]]


def test_minimums_hold(cells):
    markers = {"B": ["CD79A", "MS4A1", "CD79B"], "T": ["CD3D", "CD3E"]}
    pp.select_genes(cells, 8, limits=Limits(per_type=2, markers=markers))
    some = sorted(chosen(cells) & set(markers["B"]))[0]
    tl.replace_genes(cells, some)
    assert len(chosen(cells, "glfs_replaced") & set(markers["B"])) == 2
    both = sorted(chosen(cells) & set(markers["T"]))
    before = set(cells.uns)
    with pytest.raises(InvalidValue):
        tl.replace_genes(cells, both, key_added="none")
    assert set(cells.uns) == before


def test_partners_leave_together(cells):
    pp.select_genes(
        cells, 8, include=["CD3D"], limits=Limits(together=[["CD3D", "CD8A"], ["LYZ", "S100A8"]])
    )
    tl.replace_genes(cells, "CD8A")
    after = chosen(cells, "glfs_replaced")
    assert not after & {"CD3D", "CD8A"}
    assert len(after) == 8
    assert len(after & {"LYZ", "S100A8"}) != 1


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
    assert len(chosen(cells, "glfs_replaced")) == 6
    table = tl.replace_genes(cells, "failed", PANEL, inplace=False)
    assert list(table["gene"]) == ["LYZ"]
    every = tl.replace_genes(cells, PANEL, PANEL, inplace=False)
    assert not set(every["replaced_by"]) & {*PANEL, ""}


def test_a_replaced_panel_is_kept_in_files(cells, tmp_path):
    pp.select_genes(cells, 6)
    tl.replace_genes(cells, sorted(chosen(cells))[0])
    cells.write_h5ad(tmp_path / "a.h5ad")
    again = ad.read_h5ad(tmp_path / "a.h5ad")
    assert chosen(again, "glfs_replaced") == chosen(cells, "glfs_replaced")
    tl.order_panel(again, "glfs_replaced")
    sources = again.uns["glfs_replaced_order"]["table"].set_index("name")["source"]
    new = cells.uns["glfs_replaced"]["table"]["replaced_by"]
    assert (sources[new] == "replacement").all()
    assert (sources.drop(new) == "selected").all()


def test_bad_replacements(cells):
    before = set(cells.uns), list(cells.var)
    with refused(NotFound, "failed") as caught:
        tl.replace_genes(cells, "CD20", PANEL)
    assert "MS4A1" in str(caught.value)
    for failed in ("GNLY", ["CD3D", "GNLY"]):
        with refused(InvalidValue, "failed"):
            tl.replace_genes(cells, failed, PANEL)
    with refused(InvalidValue, "failed"):
        tl.replace_genes(cells, "CD3D", PANEL, exclude=list(cells.var_names))
    assert (set(cells.uns), list(cells.var)) == before
