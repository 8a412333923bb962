"""Commands do what the functions of Python do, and print what these write."""

from __future__ import annotations

from pathlib import Path

import anndata as ad
import numpy as np
import pandas as pd
import pytest

import glfs_bio
from glfs_bio import Limits, Platform, pp, tl


def test_select(on_cells, cells, tmp_path):
    result = on_cells(
        "select cells.h5ad -n 8 --n-comps 20 --key-added mine --symbols id -o p.h5ad --genes g.txt"
    )
    assert result.stdout == ""
    panel = ad.read_h5ad("p.h5ad")
    ranked = panel.var[panel.var["mine_selected"]].sort_values("mine_rank")
    assert Path("g.txt").read_text().splitlines() == list(ranked["id"])
    pd.testing.assert_series_equal(
        panel.var["mine_rank"], cells.var["glfs_rank"], check_names=False
    )
    share = panel.uns["mine"]["preserved"][-1]
    assert "8 of 753 genes" in result.stderr
    assert f"{100 * share:.0f} % of the structure preserved" in result.stderr
    files = {path.name for path in tmp_path.iterdir()}
    assert files == {"cells.h5ad", "catalogue.csv", "p.h5ad", "g.txt"}


def test_several_files(on_cells, cells, tmp_path):
    """The columns of the first are those of the same call in Python."""
    first, second = cells[:175].copy(), cells[175:, 100:].copy()
    first.write_h5ad("first.h5ad")
    second.write_h5ad("second.h5ad")
    (tmp_path / "platform.json").write_text('{"efficiency": "second.h5ad"}')
    line = "select first.h5ad --also second.h5ad --across worst --platform platform.json"
    on_cells(f"{line} --n-genes 4 --n-comps 10 -o out.h5ad")
    platform = Platform(efficiency=second)
    pp.select_genes([first, second], 4, n_comps=10, across="worst", platform=platform)
    out = ad.read_h5ad("out.h5ad")
    pd.testing.assert_series_equal(out.var["glfs_rank"], first.var["glfs_rank"])
    assert list(out.uns["glfs"]["data_sets"]) == ["first.h5ad", "second.h5ad"]


def test_limits_and_a_platform_of_files(on_cells, cells, tmp_path):
    limits = '{"expression": {"mean": [null, 2]}, "cost": "price", "budget": 6}'
    (tmp_path / "limits.json").write_text(limits)
    platform = 'name = "merscope"\nfailure = 0.1\ngenes = "catalogue"\n'
    (tmp_path / "platform.toml").write_text(platform)
    words = "--limits limits.json --platform platform.toml"
    genes = on_cells(f"select cells.h5ad -n 3 {words}").stdout
    limits = Limits(expression={"mean": (None, 2)}, cost="price", budget=6)
    platform = Platform("merscope", failure=0.1, genes="catalogue")
    pp.select_genes(cells, 3, limits=limits, platform=platform)
    ranked = cells.var[cells.var["glfs_selected"]].sort_values("glfs_rank")
    assert genes.split() == list(ranked.index)


def test_a_structure_that_later_commands_use(on_cells, cells):
    on_cells("structure cells.h5ad --n-comps 9 --lambda1 20 --key-added mine -o out.h5ad")
    genes = on_cells("select out.h5ad -n 4 --use-rep mine").stdout.split()
    pp.structure(cells, n_comps=9, lambda1=20.0, key_added="mine")
    pp.select_genes(cells, 4, use_rep="mine")
    assert set(genes) == set(cells.var_names[cells.var["glfs_selected"]])


def test_a_reference_without_cells(on_cells, cells):
    on_cells("structure cells.h5ad --n-comps 9 --labels louvain -o nobody.h5ad --without-cells")
    nobody = ad.read_h5ad("nobody.h5ad")
    assert nobody.n_obs == 0
    assert list(nobody.uns) == ["glfs_structure"]
    genes = on_cells("select nobody.h5ad -n 4").stdout.split()
    pp.select_genes(cells, 4, n_comps=9)
    assert set(genes) == set(cells.var_names[cells.var["glfs_selected"]])
    on_cells("evaluate nobody.h5ad catalogue.csv --labels louvain")


def test_the_tables_of_a_selection_hold_its_genes(on_cells):
    genes = on_cells("select cells.h5ad -n 4 --tables all").stdout.split()
    assert list(pd.read_csv("all/table.csv")["rank"]) == [1, 2, 3, 4]
    assert len(genes) == 4


def test_evaluate(table, cells):
    frame, summary = table(
        "evaluate cells.h5ad glfs --labels louvain --counts-layer counts --tables all"
    )
    entry = tl.evaluate_panel(cells, "glfs", "louvain", counts_layer="counts", inplace=False)
    expected = entry["measures"]
    assert list(frame["measure"]) == list(expected["measure"])
    np.testing.assert_allclose(frame["value"], expected["value"], rtol=1e-6)
    assert f"{100 * frame['value'][0]:.0f} %" in summary
    assert {path.stem for path in Path("all").iterdir()} >= {"measures", "per_label", "unexplained"}
    labels = pd.read_csv("all/per_label.csv")["label"].astype(str)
    assert list(labels) == list(entry["per_label"]["label"].astype(str))


def test_several_panels(table):
    frame, _ = table("evaluate cells.h5ad ours=glfs catalogue.csv --measures preserved,genes")
    assert list(frame["panel"].unique()) == ["ours", "catalogue"]
    assert set(frame.loc[frame["panel"] == "catalogue", "n_genes"]) == {4}
    frame, _ = table("evaluate cells.h5ad glfs --sizes 2,4 --measures preserved")
    assert set(frame["n_genes"]) == {2, 4, 8}


def test_extend(table, cells, catalogue):
    line = "extend cells.h5ad catalogue.csv --n-genes 9 --genes order.txt"
    frame, summary = table(f"{line} -o out.h5ad")
    expected = tl.extend_panel(cells, catalogue, 9, inplace=False)
    assert list(frame) == list(expected)
    assert list(frame["gene"]) == list(expected["gene"])
    assert "9 of 753 genes" in summary
    genes = {*catalogue, *frame["gene"]}
    assert set(Path("order.txt").read_text().split()) == genes
    out = ad.read_h5ad("out.h5ad")
    assert set(out.var_names[out.var["glfs_extended_selected"]]) == genes


@pytest.mark.filterwarnings("default::UserWarning")
def test_genes_that_are_not_in_the_data_stay_in_the_list(table):
    line = "extend cells.h5ad LYZ,CD8a --n-genes 4 --genes g.txt --exclude /^HLA/ --symbols id"
    frame, summary = table(line)
    assert "CD8A" in summary
    assert Path("g.txt").read_text().splitlines() == ["id LYZ", *frame["gene"], "CD8a"]
    assert frame["gene"].str.fullmatch("id (?!HLA).*").all()


def test_replace(table, cells):
    genes = list(cells.var_names[cells.var["glfs_selected"]][:2])
    frame, _ = table(f"extend cells.h5ad glfs --drop {','.join(genes)} -o out.h5ad")
    expected = tl.extend_panel(cells, "glfs", drop=genes, inplace=False)
    assert list(frame["gene"]) == list(expected["gene"])


def test_explain(table, cells):
    """With another name of each gene, and of what replaces it."""
    frame, _ = table("explain cells.h5ad glfs --labels louvain --symbols id")
    expected = tl.explain_panel(cells, "glfs", "louvain", inplace=False)
    assert list(frame) == list(expected)
    assert list(frame["gene"]) == [f"id {gene}" for gene in expected["gene"]]
    frame, _ = table("explain cells.h5ad catalogue --genes LYZ,CD3E --n-substitutes 2")
    assert list(frame["gene"]) == ["LYZ", "CD3E"]


def test_prove(table, cells):
    frame, summary = table("prove cells.h5ad catalogue --time-limit 600 -o out.h5ad")
    expected = tl.prove_panel(cells, "catalogue", time_limit=600.0, inplace=False)
    assert frame["gene"].tolist() == expected["gene"].tolist()
    assert "4 genes preserve" in summary
    assert ad.read_h5ad("out.h5ad").uns["catalogue_proof"]["n_genes"] == 4


def test_stability(table, cells):
    line = "stability cells.h5ad --n-resamples 2 --fraction 0.8 --seed 3 --n-jobs 1"
    frame, summary = table(f"{line} --key-added parts")
    assert list(frame) == ["gene", "frequency", "consensus"]
    assert frame["frequency"].is_monotonic_decreasing
    tl.stability(cells, n_resamples=2, fraction=0.8, random_state=3)
    assert list(frame["frequency"]) == list(cells.var["glfs_stability_frequency"][frame["gene"]])
    assert "2 selections" in summary


def test_classify(table, run, clusters):
    cells = ad.AnnData(clusters, obs={"group": np.repeat(["a", "b", "c"], 30)})
    cells.write_h5ad("labelled.h5ad")
    frame, _ = table("classify labelled.h5ad --labels group --n-genes 3 -o out.h5ad")
    assert list(frame) == ["cell", "label", "predicted"]
    assert list(frame["label"]) == list(frame["predicted"])
    assert run("classify labelled.h5ad --labels group -o out.h5ad").exit_code == 1  # it is there


@pytest.mark.filterwarnings("default::UserWarning")
def test_enrich(table):
    lines = ["MHC II\t\tHLA-DRA\tHLA-DRB1\tHLA-DPA1", "T cells\t\tCD3D\tCD3E"]
    Path("sets.gmt").write_text("\n".join(lines))
    frame, _ = table("enrich cells.h5ad --gene-sets sets.gmt -o out.h5ad")
    assert set(frame["term"]) == {"MHC II", "T cells"}


def test_export_in_every_format(on_cells, cells):
    files = ["genes.txt", "genes.csv", "genes.tsv", "genes.gmt", "genes.rnk"]
    assert on_cells(f"export cells.h5ad {' '.join(files)}").stdout == ""
    genes = Path("genes.txt").read_text().split()
    assert genes == list(cells.var[cells.var["glfs_selected"]].sort_values("glfs_rank").index)
    assert list(pd.read_csv("genes.csv")["gene"]) == genes
    assert len(Path("genes.rnk").read_text().splitlines()) == 753
    on_cells("export cells.h5ad genes.csv --all --column id --overwrite")
    table = pd.read_csv("genes.csv")
    assert len(table) == 753
    assert list(table["rank"]) == sorted(table["rank"])
    assert "id" in table


def test_an_order_its_reference_and_a_report(table, on_cells, cells, quick_umaps):
    gone = cells.var_names[cells.var["glfs_rank"] == 1][0]
    names = tl.resolve_genes(cells, inplace=False)
    names = names[(names["symbol"] != "") & (names["name"] != gone)]
    names[["symbol", "id"]].to_csv("vendor.csv", index=False)
    line = "order cells.h5ad glfs --platform xenium_v1 --orderable vendor.csv --refused replace"
    frame, summary = table(f"{line} --labels bulk_labels --order order.csv -o out.h5ad")
    assert gone in summary
    panel = glfs_bio.io.read_panel("order.csv")
    assert len(panel) == 8
    assert gone not in panel
    assert list(frame["gene"]) == panel
    words = "--labels bulk_labels --counts-layer counts --ids glfs_order_id"
    on_cells(f"reference out.h5ad reference.zip {words}")
    assert Path("reference.zip").stat().st_size > 1000
    with quick_umaps():
        assert on_cells("report cells.h5ad -o r.html").stdout == ""
    assert "8 of 753 genes" in Path("r.html").read_text("utf-8")


def test_efficiency(table, cells):
    line = "efficiency cells.h5ad cells.h5ad --counts-layer counts --spatial-layer counts"
    frame, _ = table(line)
    expected = tl.estimate_efficiency(cells, cells, counts_layer="counts", spatial_layer="counts")
    np.testing.assert_allclose(frame["efficiency"], expected["efficiency"], rtol=1e-6)


def test_tables_of_a_forecast(on_cells):
    line = "efficiency cells.h5ad cells.h5ad --counts-layer counts --spatial-layer counts"
    on_cells(f"{line} --table efficiency.csv")
    words = "--labels louvain --counts-layer counts --measures forecast --tables forecast"
    on_cells(
        f"""evaluate cells.h5ad glfs {words} --platform '{{"efficiency": "efficiency.csv"}}'"""
    )
    assert Path("forecast/forecast_per_label.csv").is_file()


def test_demo(run, tmp_path):
    result = run("demo -o out.h5ad")
    assert result.exit_code == 0, result.output
    assert len(result.stdout.split()) == 25
    assert int(ad.read_h5ad(tmp_path / "out.h5ad").var["glfs_selected"].sum()) == 25
    assert run("demo -o out.h5ad").exit_code == 1
