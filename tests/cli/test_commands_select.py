"""Commands that select genes."""

from __future__ import annotations

import math
import re
from pathlib import Path

import anndata as ad
import pandas as pd
import pytest

import glfs_bio


def test_select(on_cells, cells, tmp_path):
    line = "select cells.h5ad --n-genes 8 --n-comps 20 --key-added mine --symbols id"
    result = on_cells(f"{line} -o panel.h5ad --genes g.txt")
    assert result.stdout == ""
    panel = ad.read_h5ad("panel.h5ad")
    ranked = panel.var[panel.var["mine_selected"]].sort_values("mine_rank")
    assert Path("g.txt").read_text().splitlines() == list(ranked["id"])
    pd.testing.assert_series_equal(
        panel.var["mine_rank"], cells.var["glfs_rank"], check_names=False
    )
    entry = panel.uns["mine"]
    assert "8 of 765 genes" in result.stderr
    assert f"{100 * entry['preserved'][-1]:.0f} % of the structure preserved" in result.stderr
    share = math.floor(100 * entry["optimality"][-1])
    assert f"optimality at least {share} %" in result.stderr
    files = {path.name for path in tmp_path.iterdir()}
    assert files == {"cells.h5ad", "catalogue.csv", "panel.h5ad", "g.txt"}


def test_genes_go_to_stdout_without_a_file(on_cells):
    line = "select cells.h5ad --n-genes 5 --exclude /^HLA-/ --objective exact -o cells.h5ad"
    result = on_cells(f"{line} --overwrite")
    assert len(result.stdout.split()) == 5
    assert "HLA-" not in result.stdout
    assert re.search(r"5 of 755 genes, .*λ = .*, converged", result.stderr)


def test_the_best_panel_is_searched_for(on_cells, cells):
    result = on_cells("select cells.h5ad -n 4 --n-comps 20 --search best --time-limit 600")
    assert "proven to be the best" in result.stderr
    glfs_bio.pp.select_genes(cells, 4, n_comps=20, search="best", time_limit=600.0)
    assert set(result.stdout.split()) == set(cells.var_names[cells.var["glfs_selected"]])


def test_knobs_of_the_structure(on_cells, cells):
    result = on_cells("select cells.h5ad -n 4 --n-comps 9 --lambda1 20 --seed 1 -o out.zarr")
    entry = ad.read_zarr("out.zarr").uns["glfs_structure_named"]
    params = {"n_comps": 9, "lambda1": 20.0, "random_state": 1}
    assert {name: entry["params"][name] for name in params} == params
    glfs_bio.pp.structure(cells, **params, key_added="mine")
    glfs_bio.pp.select_genes(cells, 4, use_rep="mine")
    assert set(result.stdout.split()) == set(cells.var_names[cells.var["glfs_selected"]])


def test_several_files(on_cells, cells):
    """The columns of the first are those of the same call in Python."""
    first, second = cells[:175].copy(), cells[175:, 100:].copy()
    first.write_h5ad("first.h5ad")
    second.write_h5ad("second.h5ad")
    line = "select first.h5ad --also second.h5ad --across worst --efficiency second.h5ad"
    on_cells(f"{line} --n-genes 4 --n-comps 10 -o out.h5ad")
    platform = glfs_bio.Platform(efficiency=second)
    glfs_bio.pp.select_genes([first, second], 4, n_comps=10, across="worst", platform=platform)
    written = ad.read_h5ad("out.h5ad")
    pd.testing.assert_series_equal(written.var["glfs_rank"], first.var["glfs_rank"])
    assert list(written.uns["glfs"]["data_sets"]) == ["first.h5ad", "second.h5ad"]


def test_rank(table, on_cells):
    line = "rank cells.h5ad --n-genes 10 --n-comps 20"
    frame, _ = table(line)
    assert list(frame) == ["gene", "score", "rank", "weight", "loss"]
    assert list(frame["rank"]) == list(range(1, 766))
    assert frame["score"].is_monotonic_decreasing
    assert frame["score"].is_unique
    assert on_cells(f"{line} --exclude /^HLA-/ --symbols id --table r.csv").stdout == ""
    genes = pd.read_csv("r.csv")["gene"]
    assert genes.str.startswith("id ").all()
    assert not genes.str.contains("HLA-").any()


def test_extend(table, cells, catalogue):
    line = "extend cells.h5ad catalogue.csv --n-extra 5 --labels louvain --genes order.txt"
    frame, said = table(f"{line} -o out.h5ad")
    expected = glfs_bio.tl.extend_panel(cells, catalogue, 5, labels="louvain", inplace=False)
    assert list(frame) == ["gene", "adds", "preserved", "supports"]
    assert list(frame["gene"]) == list(expected["gene"])
    assert "5 genes added: 9 of 765 genes" in said
    every = [*catalogue, *frame["gene"]]
    assert Path("order.txt").read_text().split() == every
    out = ad.read_h5ad("out.h5ad")
    assert set(out.var_names[out.var["glfs_extended_selected"]]) == set(every)


@pytest.mark.filterwarnings("default::UserWarning")
def test_genes_that_are_not_in_the_data_stay_in_the_list(table):
    frame, said = table(
        "extend cells.h5ad LYZ,CD8a --n-extra 2 --genes g.txt --exclude /^HLA/ --symbols id"
    )
    assert "CD8A" in said
    assert Path("g.txt").read_text().splitlines() == ["id LYZ", "CD8a", *frame["gene"]]
    assert frame["gene"].str.fullmatch("id (?!HLA).*").all()


def test_limits(table, cells, tmp_path):
    """By type and by family; the curve is of the panel that select finds."""
    families = cells.var_names[cells.var_names.str.startswith("HLA-")]
    (tmp_path / "f.gmt").write_text("\t".join(["HLA", "", *families]) + "\n")
    words = "--groupby louvain --counts-layer counts --max-total-per-type 1=90"
    words += " --families f.gmt --per-family 1"
    frame, _ = table(f"curve cells.h5ad --max-genes 12 {words}")
    assert frame["gene"].str.startswith("HLA-").sum() == 1
    counts = cells[cells.obs["louvain"] == "1", frame["gene"]].layers["counts"]
    assert counts.sum(axis=1).mean() <= 90
    frame, _ = table("extend cells.h5ad NKG7,CD3D --cost price --budget 13 --failure 0.1")
    assert len(frame) == 4  # six of two each


def test_stability(table, on_cells, cells):
    line = "stability cells.h5ad --n-resamples 2 --fraction 0.8 --seed 3 --n-jobs 1"
    frame, said = table(line)
    assert list(frame) == ["gene", "frequency", "consensus", "selected"]
    assert len(frame) == 765
    assert frame["frequency"].is_monotonic_decreasing
    assert frame["consensus"].sum() == frame["selected"].sum() == 8
    glfs_bio.tl.stability(cells, n_resamples=2, fraction=0.8, random_state=3)
    entry, frequency = cells.uns["glfs_stability"], cells.var["glfs_stability_frequency"]
    assert list(frame["frequency"]) == list(frequency[frame["gene"]])
    jaccard = f"mean Jaccard index {entry['mean_jaccard']:.2f}"
    assert f"2 selections on 280 of 350 cells, {jaccard}, " in said
    result = on_cells(f"{line} -o out.h5ad --table t.csv --key-added parts")
    assert result.stdout == ""
    params = ad.read_h5ad("out.h5ad").uns["parts"]["params"]
    assert (params["fraction"], params["random_state"], params["n_genes"]) == (0.8, 3, 8)
    assert list(pd.read_csv("t.csv")["frequency"]) == list(frame["frequency"])


def test_a_selection_is_judged_by_what_it_was_made_for(on_cells):
    line = "select cells.h5ad --n-genes 6 --n-comps 20 --preserve louvain -o out.h5ad"
    share = re.search(r"(\d+ %) of louvain preserved", on_cells(line).stderr).group(1)
    said = on_cells("explain out.h5ad glfs --seed 1").stderr
    assert f"6 genes preserve {share} of louvain" in said
    said = on_cells("evaluate out.h5ad glfs --n-random 0").stderr
    assert "% of louvain, optimality at least" in said
    said = on_cells("evaluate out.h5ad glfs --n-random 0 --preserve structure").stderr
    assert "% of the structure" in said


def test_demo(run, tmp_path, quick_umaps):
    with quick_umaps():
        result = run("demo -o out")
    assert result.exit_code == 0, result.output
    assert "25 genes selected by glfs_bio" in result.stdout
    assert len((tmp_path / "out" / "genes.txt").read_text().split()) == 25
    assert ad.read_h5ad(tmp_path / "out" / "pbmc68k_panel.h5ad").shape == (700, 25)
    assert (tmp_path / "out" / "panel.png").stat().st_size > 10_000
    assert run("demo -o out").exit_code == 1
