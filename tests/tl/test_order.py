"""Orders of panels: checked gene by gene, with what replaces a gene that cannot be."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from refusals import refused

import glfs_bio
from glfs_bio import Limits, Platform
from glfs_bio._anndata import results
from glfs_bio.errors import Caution, FileMissing, InvalidType, InvalidValue, NotFound
from glfs_bio.io import write_order
from glfs_bio.tl import order_panel
from glfs_bio.tl._explain import ANY_GENE


@pytest.fixture(scope="module")
def _selected(_pbmc):
    adata = _pbmc.copy()
    adata.layers["counts"] = adata.X.ceil()
    glfs_bio.pp.select_genes(adata, 12)
    return adata


@pytest.fixture
def selected(_selected):
    return _selected.copy()


def best_first(adata, key="glfs"):
    chosen = adata.var[adata.var[f"{key}_selected"]]
    return list(chosen.sort_values(f"{key}_rank").index)


def listed(adata, without=()):
    """A vendor's list of the genes of the data, by their names of today."""
    table = glfs_bio.tl.resolve_genes(adata, inplace=False)
    table = table[(table["symbol"] != "") & ~table["name"].isin(without)]
    return table[["symbol", "id"]].reset_index(drop=True)


def ordered(adata, *args, **options):
    order_panel(adata, *args, **options)
    return adata.uns[results.last(adata, "order")]


def test_order_by_rank_with_names_of_today(pbmc):
    entry = ordered(pbmc, ["IGJ", "CD3D", "SEPT7"], "xenium_v1")
    assert list(entry["table"]["gene"]) == ["JCHAIN", "CD3D", "SEPTIN7"]
    assert list(entry["table"]["name"]) == ["IGJ", "CD3D", "SEPT7"]
    assert list(entry["table"]["rank"]) == [1, 2, 3]
    checks = entry["checks"].set_index("check")
    assert checks.loc["names", "n"] == 2
    assert not checks.loc["abundance", "checked"]
    assert pbmc.var.loc["IGJ", "glfs_order_symbol"] == "JCHAIN"


def test_genes_that_are_not_listed_are_refused_by_name(selected):
    gone = best_first(selected)[3:5]
    before = selected.copy()
    with refused(InvalidValue, "panel") as caught:
        order_panel(selected, "glfs", "xenium_v1", genes=listed(selected, gone))
    assert all(name in str(caught.value) for name in gone)
    assert selected.uns.keys() == before.uns.keys()
    assert list(selected.var) == list(before.var)


def test_genes_that_are_not_listed_are_replaced(selected, caplog):
    gone = best_first(selected)[3:5]
    entry = ordered(selected, "glfs", "xenium_v1", genes=listed(selected, gone), refused="replace")
    table, replaced = entry["table"], entry["replaced"]
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
    added = glfs_bio.tl.extend_panel(selected, rest, 2, exclude=gone, inplace=False)
    assert {*added["gene"]} == {*table["name"][3:5]}


def test_only_genes_of_the_platform_are_ordered(selected):
    panel = best_first(selected)
    selected.var["n_probes"] = np.where(selected.var_names == panel[0], 1, 5)
    for genes in ("n_probes", selected.var["n_probes"].to_dict()):
        platform = glfs_bio.Platform("xenium_v1", genes=genes, min_probes=3)
        with refused(InvalidValue, "panel"):
            order_panel(selected, "glfs", platform)
        order_panel(selected, "glfs", platform, refused="replace")
        entry = selected.uns["glfs_order"]
        assert list(entry["replaced"]["gene"]) == panel[:1]
        assert panel[0] not in set(entry["table"]["name"])
        assert len(entry["table"]) == len(panel)
        assert not selected.var.loc[panel[0], "glfs_order_orderable"]


def test_excluded_genes_replace_none(selected):
    glfs_bio.pp.select_genes(selected, 12, exclude="ribosomal", key_added="few")
    gone = best_first(selected, "few")[:6]
    vendor = listed(selected, gone)
    entry = ordered(selected, "few", "xenium_v1", genes=vendor, refused="replace", exclude="LYZ")
    assert not entry["table"]["name"].str.startswith(("RPL", "RPS")).any()
    assert "LYZ" not in set(entry["table"]["name"][entry["table"]["replaces"] != ""])


def test_genes_that_are_not_listed_are_left_out(selected):
    gone = best_first(selected)[:2]
    entry = ordered(selected, "glfs", "cosmx", genes=listed(selected, gone), refused="drop")
    assert list(entry["table"]["name"]) == best_first(selected)[2:]
    assert list(entry["replaced"]["substitute"]) == ["", ""]


def test_nothing_replaces_where_nothing_is_left(selected):
    few = listed(selected)
    few = few[few["symbol"].isin(best_first(selected)[:11])]
    with refused(InvalidValue, "refused"):
        order_panel(selected, "glfs", "xenium_v1", genes=few, refused="replace")
    with refused(InvalidValue, "panel"):
        order_panel(selected, "glfs", genes=["KRT1"], refused="drop")


def test_probes_ambiguity_and_doubles(pbmc):
    genes = pd.DataFrame(
        {
            "symbol": ["CD3D", "LYZ", "NKG7", "NKG7", "JCHAIN"],
            "id": [f"ENSG0000000000{i}" for i in range(5)],
            "probe_count": [9, 1, 9, 9, 9],
        }
    )
    panel = ["CD3D", "LYZ", "NKG7", "IGJ", "JCHAIN"]
    entry = ordered(pbmc, panel, "merscope", genes=genes, min_probes=3, refused="drop")
    assert list(entry["table"]["gene"]) == ["CD3D", "JCHAIN"]
    reasons = entry["replaced"].set_index("gene")["reason"]
    assert list(reasons.index) == ["LYZ", "NKG7", "IGJ"]
    assert "probes" in reasons["LYZ"]
    assert "ENSG00000000002" in reasons["NKG7"]


def test_an_order_that_needs_ids(pbmc):
    pbmc.var_names = [f"own{i}" for i in range(pbmc.n_vars)]
    with refused(InvalidValue, "panel"):
        order_panel(pbmc, ["own1"], "xenium_v1")
    order_panel(pbmc, ["own1"], "merscope")
    with refused(InvalidValue, "platform"):
        write_order(pbmc, "order.csv", "xenium_v1")


def test_names_that_are_not_in_the_data_are_ordered(pbmc, tmp_path):
    entry = ordered(pbmc, ["CD3D", "KRT1", "LYZ"], "xenium_v1")
    assert list(entry["table"]["gene"]) == ["CD3D", "KRT1", "LYZ"]
    assert "not in the data" in entry["table"]["note"][1]
    with pytest.warns(Caution, match="KRT1"):
        glfs_bio.tl.extend_panel(pbmc, ["CD3D", "KRT1"], 2)
    table = order_panel(pbmc, "glfs_extended", "xenium_v1", inplace=False)
    assert list(table["gene"])[-1] == "KRT1"
    assert len(table) == 4


ORDER = "Gene,Ensembl ID,Probe sets,Force\n"


def test_an_order_is_read_and_ordered_again(pbmc, tmp_path):
    path = tmp_path / "order.csv"
    lines = "CD3D,ENSG00000167286,4,forced\nMS4A1,ENSG00000156738,8,\nLYZ,ENSG00000090382,,\n"
    path.write_text(ORDER + lines)
    order_panel(pbmc, path, "xenium_v1")
    write_order(pbmc, tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_text() == ORDER + lines
    table = order_panel(
        pbmc, path, "xenium_v1", probe_sets={"LYZ": 2}, force=["LYZ"], inplace=False
    )
    assert list(table["n_probe_sets"]) == [0, 0, 2]
    assert list(table["forced"]) == [False, False, True]
    assert order_panel(pbmc, path, "cosmx", inplace=False)["gene"].tolist() == [
        "CD3D",
        "MS4A1",
        "LYZ",
    ]


@pytest.mark.parametrize("forced", ["Yes", "TRUE", "force", "1"])
def test_ways_to_force_a_gene(pbmc, tmp_path, forced):
    path = tmp_path / "order.csv"
    path.write_text(f"{ORDER}CD3D,ENSG00000167286,,{forced}\nLYZ,ENSG00000090382,,no\n")
    assert list(order_panel(pbmc, path, "xenium_v1", inplace=False)["forced"]) == [True, False]


def test_the_ids_of_a_file_are_ordered(pbmc, tmp_path):
    path = tmp_path / "panel.csv"
    path.write_text(
        "gene,ensembl_id\nPOLR2J3,ENSG00000285437\nQARS,ENSG00000172053\nCD3D,\nMYGFP,ENSG99999999999\n"
    )
    table = order_panel(pbmc, path, "xenium_v1", inplace=False).set_index("gene")
    ids = {"POLR2J3": "ENSG00000285437", "QARS1": "ENSG00000172053", "MYGFP": "ENSG99999999999"}
    assert table["id"].to_dict() == ids | {"CD3D": "ENSG00000167286"}


def test_a_gene_is_ordered_once_whatever_its_names(pbmc):
    names = ["ADSS", "ADSS2", *pbmc.var_names[2:]]
    pbmc.var_names = names
    with refused(InvalidValue, "panel") as found:
        order_panel(pbmc, ["ADSS", "ADSS2", "CD3D"])
    assert "ADSS " in str(found.value)
    table = order_panel(pbmc, ["ADSS", "ADSS2", "CD3D"], refused="drop", inplace=False)
    assert list(table["gene"]) == ["ADSS2", "CD3D"]


def test_an_id_that_the_list_does_not_have_is_refused(pbmc, tmp_path):
    path = tmp_path / "panel.csv"
    path.write_text("gene,ensembl_id\nCD3D,ENSG00000167286\nLYZ,ENSG00000000001\n")
    genes = listed(pbmc)
    with refused(InvalidValue, "panel") as found:
        order_panel(pbmc, path, "xenium_v1", genes=genes)
    assert "ENSG00000000001" in str(found.value)
    table = order_panel(pbmc, path, "xenium_v1", genes=genes, refused="drop", inplace=False)
    assert list(table["gene"]) == ["CD3D"]


def test_add_ons_to_a_catalogue(pbmc, tmp_path):
    path = tmp_path / "catalogue.csv"
    path.write_text("gene\nCD3D\nMS4A1\nNKG7\n")
    glfs_bio.tl.extend_panel(pbmc, path, 5)
    entry = ordered(pbmc, "glfs_extended", "xenium_v1", catalogue=path)
    assert list(entry["table"]["name"]) == list(pbmc.uns["glfs_extended"]["table"]["gene"])
    assert entry["checks"].set_index("check").loc["catalogue", "n"] == 3
    assert not pbmc.var.loc[["CD3D", "MS4A1", "NKG7"], "glfs_extended_order_orderable"].any()
    # under another name too
    entry = ordered(pbmc, ["IGJ", "LYZ"], "xenium_v1", catalogue=["JCHAIN"])
    assert list(entry["table"]["gene"]) == ["LYZ"]


def test_limits_refuse_the_later_gene(pbmc):
    limits = Limits(families={"T": ["CD3D", "CD3E", "CD3G"]}, per_family=1)
    panel = ["CD3E", "LYZ", "CD3D"]
    with refused(InvalidValue, "panel") as caught:
        order_panel(pbmc, panel, "xenium_v1", limits=limits)
    assert "CD3D" in str(caught.value)
    assert "per_family" in str(caught.value)
    entry = ordered(pbmc, panel, "xenium_v1", limits=limits, refused="replace")
    assert list(entry["table"]["name"])[:2] == ["CD3E", "LYZ"]
    assert "CD3G" not in set(entry["table"]["name"])
    assert entry["table"]["limits"][0] == "per_family=1"


@pytest.mark.parametrize(
    ("limits", "platform"),
    [
        ({"max_counts": 3}, {"efficiency": 0.3}),
        ({"max_total_per_bit": 20}, {"codebook": True}),
    ],
)
def test_limits_hold_as_the_platform_of_the_selection_counts(selected, limits, platform):
    if "codebook" in platform:
        words = ["0011", "0101", "1001", "0110", "1010", "1100"]
        platform = {"codebook": {g: words[i % 6] for i, g in enumerate(selected.var_names)}}
    limits = Limits(**limits, counts_layer="counts")
    glfs_bio.pp.select_genes(selected, 12, limits=limits, platform=glfs_bio.Platform(**platform))
    assert len(order_panel(selected, "glfs", "xenium_v1", inplace=False)) == 12


def test_too_abundant_genes(selected):
    means = selected.to_df().mean()
    second = float(means[best_first(selected)].sort_values().iloc[-2])
    limits = Limits(max_mean=1.001 * second)
    loud = means[best_first(selected)].idxmax()
    entry = ordered(selected, "glfs", "xenium_v1", limits=limits, refused="replace")
    assert list(entry["replaced"]["gene"]) == [loud]
    assert means[entry["table"]["name"]].max() <= limits.max_mean
    entry = ordered(selected, ["CD3D", loud], "merscope", counts_layer="counts")
    noted = entry["checks"].set_index("check").loc["abundance"]
    assert noted["checked"]
    assert loud in noted["genes"]
    expected = selected[:, ["CD3D", loud]].layers["counts"].mean(axis=0)
    np.testing.assert_allclose(entry["table"]["mean_count"], np.ravel(expected), rtol=1e-5)


def test_alike_genes_are_noted(pbmc):
    ribosomal = [name for name in pbmc.var_names if name.startswith("RPL")][:2]
    entry = ordered(pbmc, ["HLA-DRB1", "HLA-DRB5", *ribosomal, "CD3D"], "merscope")
    noted = entry["checks"].set_index("check").loc["families"]
    assert noted["genes"] == "HLA-DRB1, HLA-DRB5"
    noted = entry["table"].set_index("gene")["note"]
    assert "sequence" in noted["HLA-DRB1"]
    assert not noted[ribosomal].any()


def test_sheet_says_why(selected):
    entry = ordered(selected, "glfs", genes=listed(selected), labels="bulk_labels")
    table = entry["table"]
    why = glfs_bio.tl.explain_panel(selected, "glfs", "bulk_labels", inplace=False)
    assert list(table["loss"]) == list(why["loss"])
    assert list(table["supports"]) == list(why["supports"])
    can = set(selected.var_names[selected.var["glfs_order_orderable"]])
    assert set(table["substitute"]) - {""} <= can
    assert list(table["certificate"]) == list(why["certificate"])


def test_alternatives_of_a_sheet_can_be_ordered(selected):
    glfs_bio.pp.select_genes(selected, 40)
    free = glfs_bio.tl.explain_panel(selected, inplace=False).set_index("gene")["alternatives"]
    offered = {name for text in free for name in text.split(", ")} - {"", ANY_GENE}
    can = [name for name in selected.var_names if name not in offered]
    catalogue = list(free.index[free != ""][:1])
    table = ordered(
        selected, "glfs", genes=listed(selected[:, can]), backups=1, catalogue=catalogue
    )["table"]
    others = {name for text in table["alternatives"] for name in text.split(", ")}
    assert others - {"", ANY_GENE} <= set(can)
    assert not set(catalogue) & set(table["gene"])
    assert (table["alternatives"][table["is_backup"]] == "").all()
    assert (table["alternatives"] != "").any()


def test_efficiency_comes_along(pbmc):
    pbmc.var["eff"] = 0.5
    glfs_bio.pp.select_genes(pbmc, 3)
    pbmc.var["glfs_efficiency"] = np.linspace(0.2, 0.8, pbmc.n_vars)
    entry = ordered(pbmc, "glfs", "merscope")
    expected = pbmc.var.loc[entry["table"]["name"], "glfs_efficiency"]
    assert list(entry["table"]["efficiency"]) == list(expected)


BAD_ORDERS = {
    "platform": ({"platform": "visium"}, InvalidValue),
    "refused": ({"refused": "maybe"}, InvalidValue),
    "panel": ({"panel": "nope"}, NotFound),
    "genes": ({"genes": "nope.csv"}, FileMissing),
    "catalogue": ({"catalogue": "nope"}, NotFound),
    "labels": ({"labels": "nope"}, NotFound),
    "counts_layer": ({"counts_layer": None, "limits": 3}, InvalidType),
    "min_probes": ({"min_probes": 0}, InvalidValue),
    "probe_sets": ({"platform": "xenium_v1", "probe_sets": 9}, InvalidValue),
    "force": ({"platform": "cosmx", "force": ["CD3D"]}, InvalidValue),
    "ids": ({"ids": "nope"}, NotFound),
}


@pytest.mark.parametrize("argument", BAD_ORDERS)
def test_bad_orders(selected, argument):
    options, error = BAD_ORDERS[argument]
    before = list(selected.var), set(selected.uns)
    with refused(error, "limits" if "limits" in options else argument):
        order_panel(selected, **options)
    assert (list(selected.var), set(selected.uns)) == before


def test_genes_that_are_forced_or_counted_are_on_the_order(selected):
    for argument, value in (("force", ["nope"]), ("probe_sets", {"nope": 1})):
        with refused(NotFound, argument):
            order_panel(selected, "glfs", "xenium_v1", **{argument: value})


def checked(entry):
    return entry["checks"].set_index("check")["checked"].to_dict()


def test_what_was_not_checked_says_so(selected, caplog):
    entry = ordered(selected, "glfs", "xenium_v1")
    assert not checked(entry)["refused"]
    assert checked(entry)["doubtful"]
    assert sum("No list of genes" in one.getMessage() for one in caplog.records) == 1
    assert "Xenium v1" in caplog.text
    caplog.clear()
    gone = best_first(selected)[:1]
    entry = ordered(selected, "glfs", "xenium_v1", genes=listed(selected, gone), refused="drop")
    assert checked(entry)["refused"]
    row = entry["checks"].set_index("check").loc["refused"]
    assert (row["n"], row["genes"]) == (1, gone[0])
    platform = glfs_bio.Platform("merscope", genes=[*selected.var_names])
    assert checked(ordered(selected, "glfs", platform))["refused"]
    assert "No list of genes" not in caplog.text


def test_what_limits_refuse_is_no_want_of_probes(pbmc):
    limits = Limits(families={"T": ["CD3D", "CD3E"]}, per_family=1)
    entry = ordered(pbmc, ["CD3D", "CD3E"], "merscope", limits=limits, refused="drop")
    rows = entry["checks"].set_index("check")
    assert rows.loc["doubtful", "genes"] == "CD3E"
    assert rows.loc["refused", "n"] == 0


def test_backups_can_be_ordered(selected):
    gone = glfs_bio.tl.substitutes(selected, "glfs", n=1, inplace=False)["substitute"][0]
    vendor = listed(selected, [gone])
    before = ordered(selected, "glfs", genes=vendor)["table"]
    table = ordered(selected, "glfs", genes=vendor, backups=2, labels="bulk_labels")["table"]
    panel, spare = table[~table["is_backup"]], table[table["is_backup"]]
    assert list(panel["name"]) == list(before["name"]) == best_first(selected)
    assert (spare["source"] == "backup").all()
    assert not set(spare["name"]) & set(panel["name"])
    assert spare["name"].is_unique
    assert gone not in set(spare["name"])
    assert selected.var.loc[spare["name"], "glfs_order_orderable"].all()
    backed = [gene for text in spare["backup_of"] for gene in text.split(", ")]
    assert set(backed) == set(panel["name"])
    assert max(backed.count(gene) for gene in backed) <= 2
    assert list(table["rank"]) == list(range(1, len(table) + 1))
    assert table["group"].isin(selected.obs["bulk_labels"].unique()).all()
    with refused(InvalidValue, "backups"):
        order_panel(selected, "glfs", "xenium_v1", backups=1)


def test_where_genes_of_a_sheet_are_from(pbmc, tmp_path):
    glfs_bio.pp.select_genes(pbmc, 6, include=["CD8A"])
    gone = best_first(pbmc)[-1]
    table = ordered(pbmc, "glfs", genes=listed(pbmc, [gone]), refused="replace")["table"]
    table = table.set_index("name")
    assert table.loc["CD8A", "source"] == "included"
    assert list(table.index[table["must_have"]]) == ["CD8A"]
    assert set(table["source"]) == {"included", "selected", "replacement"}
    glfs_bio.tl.extend_panel(pbmc, ["CD3D", "LYZ"], 2)
    sources = ordered(pbmc, "glfs_extended")["table"].set_index("name")["source"]
    assert sources[["CD3D", "LYZ"]].eq("included").all()
    assert sources.drop(["CD3D", "LYZ"]).eq("added").all()
    path = tmp_path / "panel.csv"
    path.write_text("gene,group,must_have,is_backup\nCD3D,T,TRUE,\nLYZ,M,,\nCD3E,T,,TRUE\n")
    table = ordered(pbmc, path)["table"]
    assert list(table["name"]) == ["CD3D", "LYZ"]
    assert list(table["group"]) == ["T", "M"]
    assert list(table["must_have"]) == [True, False]
    assert set(table["source"]) == {"included", "listed"}


def test_the_platform_of_the_selection_is_that_of_the_order(pbmc):
    can = [name for name in pbmc.var_names if not name.startswith("HLA")]
    xenium = Platform("xenium_v1", genes=can)
    glfs_bio.pp.select_genes(pbmc, 5, platform=xenium)
    assert ordered(pbmc)["platform"] == "xenium_v1"
    glfs_bio.pp.select_genes(pbmc, 5)
    assert ordered(pbmc)["platform"] == "sheet"


def test_an_order_replaces_nothing_of_a_selection_that_ignores_genes(pbmc, caplog):
    glfs_bio.pp.select_genes(pbmc, 8, ignore="ribosomal")
    order_panel(pbmc, "glfs")
    assert "replaces what" not in caplog.text


def test_no_catalogue_is_none_that_was_checked(selected):
    order_panel(selected, "glfs")
    checks = selected.uns["glfs_order"]["checks"].set_index("check")
    assert not checks.loc["catalogue", "checked"]
    order_panel(selected, "glfs", catalogue=["FTL"])
    checks = selected.uns["glfs_order"]["checks"].set_index("check")
    assert checks.loc["catalogue", "checked"]
