"""Commands that judge, extend and explain panels."""

from __future__ import annotations

import io
import re
from pathlib import Path

import anndata as ad
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import glfs_bio
from glfs_bio import Platform, Preserve
from glfs_bio._anndata.results import ranked
from glfs_bio.cli import app

#: Commands, and the functions that they are.
FUNCTIONS = {
    "evaluate": glfs_bio.tl.evaluate_panel,
    "extend": glfs_bio.tl.extend_panel,
    "substitutes": glfs_bio.tl.substitutes,
    "replace": glfs_bio.tl.replace_genes,
    "explain": glfs_bio.tl.explain_panel,
    "gene": glfs_bio.tl.explain_gene,
    "prove": glfs_bio.tl.prove_panel,
    "markers": glfs_bio.tl.markers,
    "compare": glfs_bio.tl.compare_panels,
    "curve": glfs_bio.tl.curve,
}
#: Those that need the structure.
JUDGING = [name for name in FUNCTIONS if name not in ("markers", "replace", "gene", "prove")]
CATALOGUE = ["LYZ", "CD3D", "CD79A", "NKG7"]


@pytest.fixture(scope="module")
def cells(_pbmc) -> ad.AnnData:
    """With a structure of 20 directions, so that every command starts at once."""
    adata = _pbmc[::2].copy()
    adata.var["id"] = "id " + adata.var_names
    adata.var["catalogue"] = adata.var_names.isin(CATALOGUE)
    adata.var["price"] = 2.0
    adata.layers["counts"] = np.ceil(np.expm1(adata.X.toarray()))
    glfs_bio.pp.select_genes(adata, n_genes=8, n_comps=20)
    glfs_bio.pp.structure(adata, n_comps=20)
    return adata


@pytest.fixture
def run(tmp_path, monkeypatch, cells):
    monkeypatch.chdir(tmp_path)
    cells.write_h5ad("cells.h5ad")
    (tmp_path / "catalogue.csv").write_text("gene,n\n" + "".join(f"{g},1\n" for g in CATALOGUE))
    return lambda *words: CliRunner().invoke(app, list(words))


def read_table(result) -> pd.DataFrame:
    assert result.exit_code == 0, result.output
    return pd.read_csv(io.StringIO(result.stdout), sep="\t", keep_default_na=False, na_values=[""])


def expected(name, cells, *words, **options):
    """What the function returns."""
    return FUNCTIONS[name](cells, *words, **options, inplace=False)


def test_evaluate(run, cells):
    words = ("--labels", "louvain", "--counts-layer", "counts", "--failure", "0.1")
    sets = {"T": ["CD3D", "CD3E"], "none": ["GP9"], "B": ["CD79A", "CD79B"]}
    lines = ["\t".join([name, "", *genes]) for name, genes in sets.items()]
    Path("sets.gmt").write_text("\n".join(lines))
    words += ("--gene-sets", "sets.gmt", "--per-set", "s.csv")
    result = run("evaluate", "cells.h5ad", "glfs", *words, "--per-label", "l.csv")
    frame = read_table(result).set_index("measure")["value"]
    entry = expected(
        *("evaluate", cells, "glfs", "louvain"),
        counts_layer="counts",
        gene_sets=sets,
        platform=Platform(failure=0.1),
    )
    for name in ("preserved", "optimality", "accuracy", "counts_share", "preserved_on_platform"):
        assert frame[name] == pytest.approx(entry[name], rel=1e-6), name
    assert frame["random_preserved_mean"] == pytest.approx(entry["random_preserved"].mean())
    assert frame["n_genes"] == 8
    worst = entry["per_label"]["f1"].idxmin()
    for shown in (
        *(f"{100 * entry[name]:.0f} %" for name in ("preserved", "optimality", "counts_share")),
        *(f"{100 * entry['preserved_on_platform']:.0f} %", f"{entry['accuracy']:.2f}"),
        *(f"{worst} (", entry["unexplained"]["genes_up"].iloc[0]),
    ):
        assert shown in result.stderr
    per_label = pd.read_csv("l.csv")
    assert list(per_label["label"].astype(str)) == list(entry["per_label"].index)
    per_set = pd.read_csv("s.csv").set_index("term")
    assert list(per_set["n_overlap"]) == list(entry["gene_sets"]["n_overlap"])


@pytest.mark.parametrize("ending", ["csv", "h5ad"])
def test_evaluate_with_neighbours(run, cells, ending):
    table = pd.DataFrame([[0.0, 1.0], [1.0, 1.0]], index=["0", "1"], columns=["0", "1"])
    table.to_csv("neighbours.csv")
    spatial = cells.copy()
    spatial.obsm["spatial"] = spatial.obsm["X_umap"]
    spatial.write_h5ad("neighbours.h5ad")
    words = ("--labels", "louvain", "--counts-layer", "counts", "--spillover", "0.3")
    result = run("evaluate", "cells.h5ad", "glfs", *words, "--spillover-to", f"neighbours.{ending}")
    frame = read_table(result).set_index("measure")["value"]
    entry = expected(
        *("evaluate", cells, "glfs", "louvain"),
        counts_layer="counts",
        platform=Platform(spillover=0.3, spillover_to=table if ending == "csv" else spatial),
    )
    for name in ("accuracy_on_platform", "accuracy_without_spillover"):
        assert frame[name] == pytest.approx(entry[name], rel=1e-6), name
    assert entry["leaks"]["label"].iloc[0] in result.stderr


def test_evaluate_in_space(run, cells):
    words = ("--domains", "louvain", "--spatial", "X_umap", "--n-random", "2")
    result = run("evaluate", "cells.h5ad", "glfs", *words)
    frame = read_table(result).set_index("measure")["value"]
    options = {"domains": "louvain", "spatial": "X_umap", "n_random": 2}
    entry = expected("evaluate", cells, "glfs", **options)
    for name in ("domain_accuracy", "domain_accuracy_laprls", "morans_i", "morans_i_kept"):
        assert frame[name] == pytest.approx(entry[name], rel=1e-6), name
    for name in ("random_domain_accuracy", "random_morans_i_kept"):
        assert frame[f"{name}_mean"] == pytest.approx(entry[name].mean(), rel=1e-6)
    for shown in (f"{entry['domain_accuracy']:.2f}", f"{100 * entry['morans_i_kept']:.0f} %"):
        assert shown in result.stderr


def test_evaluate_names_the_batch_of_which_least_is_kept(run, cells):
    result = run("evaluate", "cells.h5ad", "glfs", "--batch-key", "phase")
    again = cells.copy()
    own = {"n_comps": 20} if again.uns["glfs"]["structure"]["n_comps"] == 20 else {}
    glfs_bio.pp.structure(again, batch_key="phase", key_added="phases", **own)
    entry = expected("evaluate", again, "glfs", preserve=Preserve(use_rep="phases"))
    least = entry["preserved_in_batches"].argmin()
    (line,) = [line for line in result.stderr.splitlines() if "batches" in line]
    assert entry["batches"][least] in line
    assert f"{100 * entry['preserved_in_batches'][least]:.0f} %" in line


#: Words of the command line, and what they are in Python.
PRESERVE = {
    "--preserve louvain": "louvain",
    "--preserve expression": "expression",
    "--preserve CD3D,": ["CD3D"],
    "--preserve NKG7,CD3D,CD79A": ["NKG7", "CD3D", "CD79A"],
    "--preserve catalogue.csv": CATALOGUE,
    "--preserve structure --preserve louvain=2": {"structure": 1, "louvain": 2},
    "--preserve X_pca=0.5": {"X_pca": 0.5},
}


@pytest.mark.parametrize("words", PRESERVE)
def test_what_a_panel_is_to_keep(run, cells, words):
    given = {"preserve": PRESERVE[words], "cell_weights": "bulk_labels"}
    line = ("--n-genes", "6", "--n-comps", "20", *words.split(), "--cell-weights", "bulk_labels")
    result = run("select", "cells.h5ad", *line, "--key-added", "preserved", "-o", "out.h5ad")
    assert result.exit_code == 0, result.output
    selected = cells.copy()
    glfs_bio.pp.select_genes(selected, 6, n_comps=20, key_added="preserved", **given)
    assert result.stdout.split() == list(ranked(selected, "preserved").index)


@pytest.mark.parametrize("name", JUDGING)
def test_panels_are_judged_by_what_they_are_to_keep(run, cells, name):
    panel = {"compare": ("ours=glfs", "theirs=catalogue"), "curve": ("--max-genes", "6")}
    words = panel.get(name, ("catalogue",))
    few = {"extend": ("--n-extra", "2"), "evaluate": ("--n-random", "2")}.get(name, ())
    kept = ("--preserve", "louvain=2", "--preserve", "structure", "--cell-weights", "louvain")
    frame = read_table(run(name, "cells.h5ad", *words, *few, *kept))
    given = {"preserve": Preserve({"louvain": 2, "structure": 1}, "louvain")}
    panels = {"compare": {"ours": "glfs", "theirs": "catalogue"}, "curve": 6}
    more = {"extend": {"n_extra": 2}, "evaluate": {"n_random": 2}}.get(name, {})
    found = expected(name, cells, panels.get(name, "catalogue"), **more, **given)
    if name == "evaluate":
        kept = frame.set_index("measure").loc["preserved", "value"]
        assert kept == pytest.approx(found["preserved"], rel=1e-6)
        return
    table = found["table"] if name == "compare" else found
    column = "substitution_score" if name == "substitutes" else "preserved"
    assert frame[column].to_numpy() == pytest.approx(
        table[column].to_numpy(), rel=1e-6, nan_ok=True
    )


def test_a_selection_is_judged_by_what_it_was_made_for(run):
    line = ("--n-genes", "6", "--n-comps", "20", "--preserve", "louvain", "-o", "out.h5ad")
    told = run("select", "cells.h5ad", *line).stderr
    share = re.search(r"(\d+ %) of louvain preserved", told).group(1)
    assert f"6 genes preserve {share} of louvain" in run("explain", "out.h5ad", "glfs").stderr
    few = ("--preserve", "structure", "--n-random", "0")
    assert "% of the structure" in run("evaluate", "out.h5ad", "glfs", *few).stderr
    assert (
        "% of louvain, optimality at least" in run("evaluate", "out.h5ad", "glfs", *few[2:]).stderr
    )
    result = run("stability", "out.h5ad", "--n-resamples", "2")
    assert result.exit_code == 0, result.output


def test_the_target_of_a_selection_stays_where_the_structure_is_asked_for(run):
    assert run("select", "cells.h5ad", "--n-genes", "6", "--preserve", "louvain", "-o", "s.h5ad")
    plain = read_table(run("explain", "s.h5ad", "glfs"))
    seeded = read_table(run("explain", "s.h5ad", "glfs", "--seed", "1"))
    assert seeded["preserved"].to_numpy() == pytest.approx(plain["preserved"].to_numpy(), rel=0.05)


def test_knobs_of_the_structure_are_for_one_data_set(run, cells):
    cells.write_h5ad("other.h5ad")
    result = run("select", "cells.h5ad", "--also", "other.h5ad", "--lambda1", "3")
    assert result.exit_code == 1
    assert "--lambda1" in result.stderr


@pytest.mark.parametrize(
    "panel", ["catalogue", "catalogue.csv", "@catalogue.csv", "LYZ,CD3D, CD79A,NKG7"]
)
def test_a_panel_is_a_column_a_file_or_names(run, cells, panel):
    few = ("--n-random", "0", "--n-axes", "2", "--unexplained", "unexplained.tsv")
    result = run("evaluate", "cells.h5ad", panel, *few, "--table", "m.tsv", "--overwrite")
    assert (result.exit_code, result.stdout) == (0, ""), result.output
    frame = pd.read_csv("m.tsv", sep="\t", index_col="measure")["value"]
    entry = expected("evaluate", cells, CATALOGUE, n_random=0)
    assert frame["preserved"] == pytest.approx(entry["preserved"])
    assert "random" not in result.stderr
    assert len(pd.read_csv("unexplained.tsv", sep="\t")) == 2


def test_the_structure_is_kept_and_used_again(run, pbmc, monkeypatch):
    """A selection's own parameters, unless options say otherwise; and no work the second time."""
    del pbmc.obsm["X_pca"]
    glfs_bio.pp.select_genes(pbmc, 5, n_comps=12)
    pbmc.write_h5ad("plain.h5ad")
    few = ("--n-random", "0")
    assert run("evaluate", "plain.h5ad", "glfs", *few, "-o", "out.h5ad").exit_code == 0
    out = ad.read_h5ad("out.h5ad")
    assert out.obsm["glfs_structure"].shape == (700, 12)
    assert {"preserved", "knn_preservation"} <= out.uns["glfs_evaluation"].keys()
    words = ("--n-comps", "9", "--seed", "1", "-n", "1")
    assert run("substitutes", "plain.h5ad", "glfs", *words, "-o", "nine.h5ad").exit_code == 0
    out = ad.read_h5ad("nine.h5ad")
    assert out.obsm["glfs_structure_named"].shape == (700, 9)
    assert out.uns["glfs_structure_named"]["params"]["random_state"] == 1

    def again(*_, **__):
        pytest.fail("the structure is computed again")

    monkeypatch.setattr("glfs_bio._anndata.structure.compute", again)
    assert run("explain", "out.h5ad", "glfs", "-o", "more.h5ad").exit_code == 0


def test_extend(run, cells):
    words = ("--n-extra", "5", "--labels", "louvain", "--genes", "order.txt")
    result = run("extend", "cells.h5ad", "catalogue.csv", *words, "-o", "out.h5ad")
    frame = read_table(result)
    table = expected("extend", cells, CATALOGUE, 5, labels="louvain")
    assert list(frame) == ["gene", "adds", "preserved", "supports"]
    assert list(frame["gene"]) == list(table["gene"])
    assert "5 genes added: 9 of 765 genes" in result.stderr
    assert Path("order.txt").read_text().split() == [*CATALOGUE, *frame["gene"]]
    out = ad.read_h5ad("out.h5ad")
    assert set(out.var_names[out.var["glfs_extended_selected"]]) == {*CATALOGUE, *frame["gene"]}


@pytest.mark.filterwarnings("default::UserWarning")
def test_genes_that_are_not_in_the_data_stay_in_the_list(run, tmp_path):
    words = ("LYZ,CD8a", "--n-extra", "2", "--genes", "g.txt", "--exclude", "/^HLA/")
    result = run("extend", "cells.h5ad", *words, "--symbols", "id")
    frame = read_table(result)
    assert "CD8A" in result.stderr
    listed = (tmp_path / "g.txt").read_text().splitlines()
    assert listed == ["id LYZ", "CD8a", *frame["gene"]]
    assert frame["gene"].str.fullmatch("id (?!HLA).*").all()


def test_limits(run, cells):
    words = ("--cost", "price", "--budget", "13", "--max-cells", "0.9", "--failure", "0.1")
    frame = read_table(run("extend", "cells.h5ad", "NKG7,CD3D", *words))
    assert len(frame) == 4  # six of two each
    expressed = (cells[:, frame["gene"]].X > 0).mean(axis=0)
    assert expressed.max() <= 0.9


def test_limits_by_type_and_family(run, cells, tmp_path):
    (tmp_path / "f.gmt").write_text(
        "HLA\tx\t" + "\t".join(cells.var_names[cells.var_names.str.startswith("HLA-")]) + "\n"
    )
    words = ("--groupby", "louvain", "--counts-layer", "counts", "--max-total-per-type", "1=90")
    families = ("--families", "f.gmt", "--per-family", "1")
    frame = read_table(run("curve", "cells.h5ad", "--max-genes", "12", *words, *families))
    assert frame["gene"].str.startswith("HLA-").sum() == 1
    ours = cells[cells.obs["louvain"] == "1", frame["gene"]].layers["counts"]
    assert ours.sum(axis=1).mean() <= 90
    of_the_object = ("--n-comps", "20")  # whose structure the curve is of
    result = run("select", "cells.h5ad", "--n-genes", "12", *words, *families, *of_the_object)
    assert result.exit_code == 0, result.output
    assert set(result.stdout.split()) == set(frame["gene"])


@pytest.mark.parametrize("at", ["", "@"])
def test_markers_and_families_out_of_tables(run, tmp_path, at):
    (tmp_path / "m.csv").write_text("type,gene\nT,CD3D\nT,CD3E\nB,CD79A\n")
    (tmp_path / "f.csv").write_text("T,B\nCD3D,CD79A\nCD3E,CD79B\n")
    words = ("--markers", f"{at}m.csv", "--per-type", "1")
    words += ("--families", f"{at}f.csv", "--per-family", "1")
    result = run("select", "cells.h5ad", "--n-genes", "6", *words)
    assert result.exit_code == 0, result.output
    genes = set(result.stdout.split())
    assert len(genes & {"CD3D", "CD3E"}) == 1
    assert "CD79A" in genes


def test_substitutes(run, cells):
    words = ("--replace", "CD3D,LYZ", "-n", "2", "--min-score", "0.3")
    result = run("substitutes", "cells.h5ad", "catalogue", *words, "--exclude", "CD3E")
    frame = read_table(result)
    table = expected(
        "substitutes", cells, "catalogue", ["CD3D", "LYZ"], 2, min_score=0.3, exclude=["CD3E"]
    )
    assert list(frame["substitute"]) == list(table["substitute"])
    assert list(frame) == list(table)
    assert "of 2 genes have an acceptable substitute" in result.stderr
    everyone = read_table(run("substitutes", "cells.h5ad", "catalogue", "--symbols", "id"))
    assert set(everyone["gene"]) == {f"id {gene}" for gene in CATALOGUE}
    assert everyone["substitute"].str.startswith("id ").all()


def test_replace(run, cells):
    words = ("--failed", "CD3D,LYZ", "--exclude", "CD3E", "--genes", "new.txt")
    result = run("replace", "cells.h5ad", "catalogue.csv", *words, "-o", "out.h5ad")
    frame = read_table(result)
    table = expected("replace", cells, ["CD3D", "LYZ"], CATALOGUE, exclude="CD3E")
    assert list(frame["replaced_by"]) == list(table["replaced_by"])
    assert "CD3D by " in result.stderr
    out = ad.read_h5ad("out.h5ad")
    new = {"CD79A", "NKG7", *table["replaced_by"]}
    assert set(out.var_names[out.var["glfs_replaced_selected"]]) == new
    assert set(Path("new.txt").read_text().split()) == new
    again = run("replace", "out.h5ad", "glfs_replaced", "--failed", "CD79A", "--symbols", "id")
    assert read_table(again)["gene"].tolist() == ["id CD79A"]
    assert "MS4A1" in run("replace", "cells.h5ad", "catalogue", "--failed", "CD20").stderr


def test_prove(run, cells):
    result = run("prove", "cells.h5ad", "catalogue", "--time-limit", "20", "-o", "out.h5ad")
    frame = read_table(run("prove", "cells.h5ad", "catalogue", "--time-limit", "20"))
    table = expected("prove", cells, "catalogue", time_limit=20.0)
    assert frame["gene"].tolist() == table["gene"].tolist()
    assert frame["certificate"].tolist() == table["certificate"].astype(str).tolist()
    assert "4 genes preserve" in result.stderr
    assert ad.read_h5ad("out.h5ad").uns["catalogue_proof"]["n_genes"] == len(CATALOGUE)
    named = read_table(run("prove", "cells.h5ad", "LYZ,CD3D", "--symbols", "id"))
    assert named["gene"].str.startswith("id ").all()


def test_gene(run, cells):
    words = ("--gene", "LYZ,CD3E", "--labels", "louvain")
    result = run("gene", "cells.h5ad", "catalogue", *words)
    frame = read_table(result)
    table = expected("gene", cells, ["LYZ", "CD3E"], "catalogue", "louvain")
    assert list(frame) == [name for name in table if name != "summary"]
    assert frame["adds"].to_numpy() == pytest.approx(table["adds"].to_numpy(), rel=1e-6)
    assert all(text in result.stderr for text in table["summary"])


def test_explain(run, cells):
    result = run("explain", "cells.h5ad", "glfs", "--labels", "louvain", "--n-labels", "1")
    frame = read_table(result)
    table = expected("explain", cells, "glfs", "louvain", n_labels=1)
    assert list(frame) == list(table)
    assert list(frame["supports"].fillna("")) == list(table["supports"])
    most = table["gene"][table["loss"].idxmax()]
    assert f"{most} (" in result.stderr
    assert f"{(table['alternatives'] != '').sum()} places" in result.stderr


def test_alternatives_have_symbols(run, pbmc):
    pbmc.var["symbol"] = [f"s-{name}" for name in pbmc.var_names]
    glfs_bio.pp.select_genes(pbmc, 10)
    table = glfs_bio.tl.explain_panel(pbmc, tolerance=0.1, inplace=False)
    pbmc.write_h5ad("named.h5ad")
    line = ["explain", "named.h5ad", "glfs", "--symbols", "symbol", "--tolerance", "0.1"]
    told = read_table(run(*line))["alternatives"].fillna("")
    names = [name for text in table["alternatives"] for name in text.split(", ") if text]
    listed = [f"s-{name}" if name in pbmc.var_names else name for name in names]
    assert [name for text in told for name in text.split(", ") if text] == listed
    assert any(name.startswith("s-") for name in listed)


def test_markers(run, cells):
    result = run("markers", "cells.h5ad", "glfs", "--labels", "louvain", "--n-markers", "2")
    frame = read_table(result)
    table = expected("markers", cells, "glfs", "louvain", n_markers=2)
    assert list(frame) == list(table)
    assert list(frame["label"].astype(str)) == list(table["label"])
    assert list(frame["markers"]) == list(table["markers"])
    assert frame["f_beta"].to_numpy() == pytest.approx(table["f_beta"].to_numpy(), rel=1e-6)
    worst = table.loc[table["f_beta"].idxmin()]
    assert f"{worst['label']} ({worst['f_beta']:.2f})" in result.stderr


def test_compare(run, cells):
    words = ("ours=glfs", "theirs=catalogue.csv", "--labels", "louvain")
    files = ("--overlaps", "o.csv", "-o", "out.h5ad", "--counts-layer", "counts")
    result = run("compare", "cells.h5ad", *words, *files)
    frame = read_table(result)
    assert list(frame["panel"]) == ["ours", "theirs"]
    assert list(frame["n_genes"]) == [8, 4]
    tables = expected(
        "compare", cells, {"ours": "glfs", "theirs": CATALOGUE}, "louvain", counts_layer="counts"
    )
    assert frame["accuracy"].to_numpy() == pytest.approx(tables["table"]["accuracy"].to_numpy())
    pair = pd.read_csv("o.csv").iloc[0]
    assert pair["shared"] == tables["shared"].loc["ours", "theirs"]
    assert f"ours and theirs share {pair['shared']} genes" in result.stderr
    assert "theirs: 4 genes preserve" in result.stderr
    assert "glfs_comparison" in ad.read_h5ad("out.h5ad").uns


def test_curve(run, cells):
    words = ("--max-genes", "12", "--labels", "louvain", "--sizes", "6", "--sizes", "12")
    result = run("curve", "cells.h5ad", *words, "--include", "CD3D", "-o", "out.h5ad")
    frame = read_table(result)
    assert list(frame["n_genes"]) == list(range(1, 13))
    assert frame["gene"][0] == "CD3D"
    assert frame["accuracy"].notna().sum() == 2
    assert f"12 genes preserve {100 * frame['preserved'].iloc[-1]:.0f} %" in result.stderr
    assert len(ad.read_h5ad("out.h5ad").uns["glfs_curve"]["table"]) == 12


def test_counts_and_genes_in_rows(run):
    rng = np.random.default_rng(0)
    rates = np.repeat([[1.0] * 20, [1.0] * 17 + [9.0] * 3], 20, axis=0)
    counts = pd.DataFrame(rng.poisson(rates), columns=[f"gene{i}" for i in range(20)])
    counts.T.to_csv("counts.tsv", sep="\t")
    words = ("gene17,gene2", "--transpose", "--log1p", "--n-comps", "5")
    frame = read_table(run("explain", "counts.tsv", *words))
    assert list(frame["gene"]) == ["gene17", "gene2"]
