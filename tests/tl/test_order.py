"""Orders of panels: checked gene by gene, with what replaces a gene that cannot be."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from refusals import refused

from glfs_bio import Limits, Platform, pp, tl
from glfs_bio._anndata import results
from glfs_bio.errors import Caution, InvalidType, InvalidValue, Refusal
from glfs_bio.io import write_order
from glfs_bio.tl import _order as orders
from glfs_bio.tl import order_panel


@pytest.fixture(scope="module")
def _few(_pbmc):
    """Some of the genes, since each is looked up in each order."""
    named = "^(CD3[DE]|CD8A|CST3|GNLY|HLA-DRB[15]|IGJ|LYZ|MS4A1|NKG7|SEPT7)$"
    places = _pbmc.var_names.str.match(named) | (np.arange(_pbmc.n_vars) % 4 == 0)
    adata = _pbmc[:, places].copy()
    adata.layers["counts"] = adata.X.ceil()
    pp.structure(adata)
    return adata


@pytest.fixture
def cells(_few):
    return _few.copy()


@pytest.fixture(scope="module")
def _selected(_few):
    """Cells with a selection, and a vendor's list of their genes, by their names of today."""
    adata = _few.copy()
    pp.select_genes(adata, 12)
    names = tl.resolve_genes(adata, inplace=False)
    return adata, names[names["symbol"] != ""][["name", "symbol", "id"]]


@pytest.fixture
def selected(_selected):
    return _selected[0].copy()


@pytest.fixture
def listed(_selected):
    """Maker of the vendor's list, without some genes."""

    def without(names=()):
        table = _selected[1]
        table = table[~table["name"].isin(names)]
        return table[["symbol", "id"]].reset_index(drop=True)

    return without


def best_first(adata, key="glfs"):
    chosen = adata.var[adata.var[f"{key}_selected"]]
    return list(chosen.sort_values(f"{key}_rank").index)


def ordered(adata, *args, **options):
    order_panel(adata, *args, **options)
    entry = adata.uns[results.last(adata, "order")]
    return entry["table"], entry["replaced"], entry["checks"].set_index("check")


def test_order_by_rank_with_names_of_today(cells):
    table, _, checks = ordered(cells, ["IGJ", "CD3D", "SEPT7"], "xenium_v1")
    assert list(table["gene"]) == ["JCHAIN", "CD3D", "SEPTIN7"]
    assert list(table["name"]) == ["IGJ", "CD3D", "SEPT7"]
    assert checks.loc["names", "n"] == 2
    assert not checks.loc["abundance", "checked"]
    assert cells.var.loc["IGJ", "glfs_order_symbol"] == "JCHAIN"


def test_genes_that_are_not_listed_are_refused_by_name_or_left_out(selected, listed, unchanged):
    gone = best_first(selected)[:2]
    with unchanged(selected), refused(InvalidValue, "panel") as caught:
        order_panel(selected, "glfs", "xenium_v1", genes=listed(gone))
    assert all(name in str(caught.value) for name in gone)
    options = {"genes": listed(gone), "refused": "drop"}
    table, replaced, _ = ordered(selected, "glfs", "cosmx", **options)
    assert list(table["name"]) == best_first(selected)[2:]
    assert list(replaced["substitute"]) == ["", ""]


def test_genes_that_are_not_listed_are_replaced(selected, listed, caplog):
    gone = best_first(selected)[3:5]
    options = {"genes": listed(gone), "refused": "replace"}
    table, replaced, _ = ordered(selected, "glfs", "xenium_v1", **options)
    assert len(table) == 12
    assert not set(gone) & set(table["name"])
    assert list(replaced["gene"]) == gone
    assert list(table["replaces"][3:5]) == gone
    assert list(table["gene"][3:5]) == list(replaced["substitute"])
    assert table["gene"].is_unique
    assert not selected.var.loc[gone, "glfs_order_orderable"].any()
    assert all(name in caplog.text for name in gone)
    # those that come in add most beside the rest
    rest = [name for name in best_first(selected) if name not in gone]
    added = tl.extend_panel(selected, rest, 12, exclude=[*gone, "ribosomal"], inplace=False)
    assert {*added["gene"]} == {*table["name"][3:5]}


def test_nothing_is_looked_up_before_the_arguments_are_checked(selected, monkeypatch):
    monkeypatch.setattr(orders, "Resolver", lambda *_, **__: pytest.fail("looked up"))
    for argument, value in (("counts_layer", "x"), ("catalogue", 5), ("labels", "x")):
        with refused(Refusal, argument):
            order_panel(selected, "glfs", **{argument: value})
    with pytest.raises(Refusal):
        order_panel(selected, limits=Limits(per_type=1, groupby="x"))
    with refused(InvalidType, "adata"):
        order_panel(np.ones((4, 4)))


def test_only_genes_of_the_platform_are_ordered(selected):
    first = best_first(selected)[0]
    selected.var["n_probes"] = np.where(selected.var_names == first, 1, 5)
    platform = Platform("xenium_v1", genes="n_probes", min_probes=3)
    with refused(InvalidValue, "panel"):
        order_panel(selected, "glfs", platform)
    table, replaced, _ = ordered(selected, "glfs", platform, refused="replace")
    assert list(replaced["gene"]) == [first]
    assert first not in set(table["name"])
    assert len(table) == 12
    assert not selected.var.loc[first, "glfs_order_orderable"]


def test_nothing_replaces_where_nothing_is_left(selected, listed):
    few = listed()
    few = few[few["symbol"].isin(best_first(selected)[:11])]
    with refused(InvalidValue, "refused"):
        order_panel(selected, "glfs", "xenium_v1", genes=few, refused="replace")
    with refused(InvalidValue, "panel"):
        order_panel(selected, "glfs", genes=["KRT1"], refused="drop")


def test_probes_ambiguity_and_doubles(cells):
    genes = pd.DataFrame(
        {
            "symbol": ["CD3D", "LYZ", "NKG7", "NKG7", "JCHAIN"],
            "id": [f"ENSG0000000000{i}" for i in range(5)],
            "probe_count": [9, 0, 9, 9, 9],
        }
    )
    panel = ["CD3D", "LYZ", "NKG7", "IGJ", "JCHAIN"]
    options = {"genes": genes, "refused": "drop"}
    table, replaced, _ = ordered(cells, panel, "merscope", **options)
    assert list(table["gene"]) == ["CD3D", "JCHAIN"]
    reasons = replaced.set_index("gene")["reason"]
    assert list(reasons.index) == ["LYZ", "NKG7", "IGJ"]
    assert "probes" in reasons["LYZ"]
    assert "ENSG00000000002" in reasons["NKG7"]


def test_an_order_that_needs_ids(cells):
    cells.var_names = [f"own{i}" for i in range(cells.n_vars)]
    with refused(InvalidValue, "panel"):
        order_panel(cells, ["own1"], "xenium_v1")
    order_panel(cells, ["own1"], "MERSCOPE")
    with refused(InvalidValue, "platform"):
        write_order(cells, "order.csv", "xenium_v1")


def test_a_name_with_the_id_of_a_gene_beside_it_is_refused(cells, tmp_path):
    path = tmp_path / "panel.csv"
    path.write_text("Gene,Ensembl ID\nCD3D,ENSG00000156738\nMS4A1,ENSG00000156738\n")
    with refused(InvalidValue, "panel"):
        order_panel(cells, path, "xenium_v1")


def test_a_list_of_another_species_is_said_once(cells):
    with refused(InvalidValue, "panel") as caught:
        order_panel(cells, ["Nkg7", "Ms4a1", "Lyz", "Lyz2", "H2-Aa"], "xenium_v1")
    assert "4 of 5" in str(caught.value)
    assert "2 have orthologues" in str(caught.value)


def test_names_that_are_not_in_the_data_are_ordered(cells):
    table, _, _ = ordered(cells, ["CD3D", "KRT1", "LYZ"], "xenium_v1")
    assert list(table["gene"]) == ["CD3D", "KRT1", "LYZ"]
    assert "not in the data" in table["note"][1]
    with pytest.warns(Caution, match="KRT1"):
        tl.extend_panel(cells, ["CD3D", "KRT1"], 4)
    table = order_panel(cells, "glfs_extended", "xenium_v1", inplace=False)
    assert list(table["gene"])[3:] == list(cells.uns["glfs_extended"]["absent"]) == ["KRT1"]


ORDER = "Gene,Ensembl ID,Probe sets,Force\n"


def test_an_order_is_read_and_ordered_again(cells, tmp_path):
    path = tmp_path / "order.csv"
    lines = "CD3D,ENSG00000167286,4,forced\nMS4A1,ENSG00000156738,8,\nLYZ,ENSG00000090382,,\n"
    path.write_text(ORDER + lines)
    order_panel(cells, path, "xenium_v1")
    write_order(cells, tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text() == ORDER + lines
    table = order_panel(cells, path, "cosmx", inplace=False)
    assert list(table["gene"]) == ["CD3D", "MS4A1", "LYZ"]
    # other ways to force a gene
    names = ["CD3D", "MS4A1", "NKG7", "GNLY", "LYZ"]
    rows = zip(names, ["Yes", "TRUE", "force", "1", "no"], strict=True)
    path.write_text(ORDER + "".join(f"{name},,,{forced}\n" for name, forced in rows))
    table = order_panel(cells, path, "xenium_v1", inplace=False)
    assert list(table["forced"]) == [True, True, True, True, False]


def test_the_ids_of_a_file_are_ordered(cells, tmp_path):
    ids = {"POLR2J3": "ENSG00000285437", "QARS": "ENSG00000172053"}
    path = tmp_path / "panel.csv"
    lines = "".join(f"{a},{b}\n" for a, b in ids.items())
    path.write_text(f"gene,ensembl_id\nCD3D,\n{lines}LYZ,ENSG99999999999\n")
    table = order_panel(cells, path, "xenium_v1", inplace=False)
    assert list(table["gene"]) == ["CD3D", "POLR2J3", "QARS1", "LYZ"]
    assert list(table["id"]) == ["ENSG00000167286", *ids.values(), "ENSG00000090382"]
    assert "ENSG99999999999" in table["note"].iloc[-1]  # which is no gene
    path.write_text("gene,ensembl_id\nCD3D,\nMYGFP,ENSG99999999999\n")
    with refused(InvalidValue, "panel") as caught:
        order_panel(cells, path, "xenium_v1")
    assert "ENSG99999999999" in str(caught.value)


def test_a_gene_is_ordered_once_whatever_its_names(cells):
    cells.var_names = ["ADSS", "ADSS2", *cells.var_names[2:]]
    with refused(InvalidValue, "panel") as caught:
        order_panel(cells, ["ADSS", "ADSS2", "CD3D"])
    assert "ADSS " in str(caught.value)
    table = order_panel(cells, ["ADSS", "ADSS2", "CD3D"], refused="drop", inplace=False)
    assert list(table["gene"]) == ["ADSS2", "CD3D"]


def test_an_id_that_the_list_does_not_have_is_refused(cells, tmp_path, listed):
    path = tmp_path / "panel.csv"
    path.write_text("gene,ensembl_id\nCD3D,ENSG00000167286\nLYZ,ENSG00000000001\n")
    with refused(InvalidValue, "panel") as caught:
        order_panel(cells, path, "xenium_v1", genes=listed())
    assert "ENSG00000000001" in str(caught.value)


def test_an_order_is_no_larger_than_the_platform_takes(cells):
    names = [*tl.resolve_genes(cells, inplace=False)["symbol"].replace("", None).dropna()]
    with refused(InvalidValue, "panel") as caught:
        order_panel(cells, names[:101], "xenium_v1", catalogue=["KRT1"], refused="drop")
    assert "100 at most" in str(caught.value)
    orders.check_size(480, "xenium_v1")
    with refused(InvalidValue, "panel"):
        orders.check_size(481, "xenium_v1")


def test_add_ons_to_a_catalogue(cells, tmp_path):
    path = tmp_path / "catalogue.csv"
    path.write_text("gene\nCD3D\nMS4A1\nNKG7\n")
    tl.extend_panel(cells, path, 8)
    table, _, checks = ordered(cells, "glfs_extended", "xenium_v1", catalogue=path)
    assert list(table["name"]) == list(cells.uns["glfs_extended"]["table"]["gene"])
    assert checks.loc["catalogue", "n"] == 3
    assert not cells.var.loc[["CD3D", "MS4A1", "NKG7"], "glfs_extended_order_orderable"].any()
    # under another name too
    table, _, checks = ordered(cells, ["IGJ", "LYZ"], "xenium_v1", catalogue=["JCHAIN"])
    assert list(table["gene"]) == ["LYZ"]
    assert checks.loc["catalogue", "checked"]
    _, _, checks = ordered(cells, ["IGJ", "LYZ"], "xenium_v1")
    assert not checks.loc["catalogue", "checked"]


def test_limits_refuse_the_later_gene(cells):
    limits = Limits(groups={"T": ["CD3D", "CD3E", "CD3G"]}, per_group=1)
    panel = ["CD3E", "LYZ", "CD3D"]
    with refused(InvalidValue, "panel") as caught:
        order_panel(cells, panel, "xenium_v1", limits=limits)
    assert "CD3D" in str(caught.value)
    assert "per_group" in str(caught.value)
    table, _, _ = ordered(cells, panel, "xenium_v1", limits=limits, refused="replace")
    assert list(table["name"])[:2] == ["CD3E", "LYZ"]
    assert "CD3G" not in set(table["name"])
    # that is no want of probes
    _, _, checks = ordered(cells, panel, "merscope", limits=limits, refused="drop")
    assert checks.loc["doubtful", "genes"] == "CD3D"
    assert checks.loc["refused", "n"] == 0


def test_limits_hold_as_the_platform_of_the_selection_counts(selected):
    words = ["0011", "0101", "1001", "0110", "1010", "1100"]
    codebook = {gene: words[i % 6] for i, gene in enumerate(selected.var_names)}
    for limits, platform in (
        (Limits(expression={"counts": 3}, counts_layer="counts"), Platform(efficiency=0.3)),
        (Limits(total_counts={"bit": 20}, counts_layer="counts"), Platform(codebook=codebook)),
    ):
        pp.select_genes(selected, 12, limits=limits, platform=platform)
        assert len(order_panel(selected, "glfs", "xenium_v1", inplace=False)) == 12


def test_too_abundant_genes(selected):
    means = selected.to_df().mean()
    second = float(means[best_first(selected)].sort_values().iloc[-2])
    most = 1.001 * second
    limits = Limits(expression={"mean": most})
    loud = means[best_first(selected)].idxmax()
    options = {"limits": limits, "refused": "replace"}
    table, replaced, _ = ordered(selected, "glfs", "xenium_v1", **options)
    assert list(replaced["gene"]) == [loud]
    assert means[table["name"]].max() <= most
    table, _, checks = ordered(selected, ["CD3D", loud], "merscope", counts_layer="counts")
    assert checks.loc["abundance", "checked"]
    assert loud in checks.loc["abundance", "genes"]
    expected = selected[:, ["CD3D", loud]].layers["counts"].mean(axis=0)
    np.testing.assert_allclose(table["mean_count"], np.ravel(expected), rtol=1e-5)


def test_alike_genes_are_noted(cells):
    ribosomal = [name for name in cells.var_names if name.startswith("RPL")][:2]
    panel = ["HLA-DRB1", "HLA-DRB5", *ribosomal, "CD3D"]
    table, _, checks = ordered(cells, panel, "merscope")
    assert checks.loc["families", "genes"] == "HLA-DRB1, HLA-DRB5"
    notes = table.set_index("gene")["note"]
    assert "sequence" in notes["HLA-DRB1"]
    assert not notes[ribosomal].any()


def test_what_was_not_checked_says_so(selected, listed, caplog):
    _, _, checks = ordered(selected, "glfs", "xenium_v1")
    assert not checks.loc["refused", "checked"]
    assert checks.loc["doubtful", "checked"]
    (note,) = [message for message in caplog.messages if "No list of genes" in message]
    assert "Xenium v1" in note
    caplog.clear()
    gone = best_first(selected)[0]
    options = {"genes": listed([gone]), "refused": "drop"}
    _, _, checks = ordered(selected, "glfs", "xenium_v1", **options)
    assert list(checks.loc["refused", ["checked", "n", "genes"]]) == [True, 1, gone]
    _, _, checks = ordered(selected, "glfs", Platform("merscope", genes=[*selected.var_names]))
    assert checks.loc["refused", "checked"]
    assert "No list of genes" not in caplog.text


def test_backups_can_be_ordered(selected, listed):
    gone = tl.explain_panel(selected, inplace=False)["substitute"][0]
    vendor = listed([gone])
    before, _, _ = ordered(selected, "glfs", genes=vendor)
    table, _, _ = ordered(selected, "glfs", genes=vendor, backups=2, labels="bulk_labels")
    panel, spare = table[table["source"] != "backup"], table[table["source"] == "backup"]
    assert list(panel["name"]) == list(before["name"]) == best_first(selected)
    assert not set(spare["name"]) & {*panel["name"], gone}
    assert spare["name"].is_unique
    assert selected.var.loc[spare["name"], "glfs_order_orderable"].all()
    backed = [gene for text in spare["backup_of"] for gene in text.split(", ")]
    assert set(backed) == set(panel["name"])
    assert max(backed.count(gene) for gene in backed) <= 2
    assert list(table["rank"]) == list(range(1, len(table) + 1))
    assert table["group"].isin(selected.obs["bulk_labels"].unique()).all()


def test_where_genes_of_a_sheet_are_from(cells, listed, tmp_path):
    pp.select_genes(cells, 6, include=["CD8A"])
    gone = best_first(cells)[-1]
    table, _, _ = ordered(cells, "glfs", genes=listed([gone]), refused="replace")
    assert table.set_index("name").loc["CD8A", "source"] == "included"
    assert set(table["source"]) == {"included", "selected", "replacement"}
    tl.extend_panel(cells, ["CD3D", "LYZ"], 4)
    table, _, _ = ordered(cells, "glfs_extended")
    sources = table.set_index("name")["source"]
    assert sources[["CD3D", "LYZ"]].eq("included").all()
    assert sources.drop(["CD3D", "LYZ"]).eq("added").all()
    path = tmp_path / "panel.csv"
    path.write_text("gene,group,must_have,is_backup\nCD3D,T,TRUE,\nLYZ,M,,\nCD3E,T,,TRUE\n")
    table, _, _ = ordered(cells, path)
    assert list(table["name"]) == ["CD3D", "LYZ"]
    assert list(table["group"]) == ["T", "M"]
    assert list(table["source"]) == ["included", "listed"]


def test_the_platform_of_the_selection_is_that_of_the_order(cells, caplog):
    can = [name for name in cells.var_names if not name.startswith("HLA")]
    pp.select_genes(cells, 5, platform=Platform("xenium_v1", genes=can))
    order_panel(cells)
    assert cells.uns["glfs_order"]["platform"] == "xenium_v1"
    pp.select_genes(cells, 5, ignore="ribosomal")
    caplog.clear()
    order_panel(cells)
    assert cells.uns["glfs_order"]["platform"] == "sheet"
    assert "replaces what" not in caplog.text
