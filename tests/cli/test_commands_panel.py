"""Commands that judge panels and use them on cells."""

from __future__ import annotations

from pathlib import Path

import anndata as ad
import numpy as np
import pandas as pd
import pytest

import glfs_bio
from glfs_bio import Platform, Preserve
from glfs_bio.measures.catalogue import measured

tl = glfs_bio.tl


def test_evaluate(table, cells):
    sets = {"T": ["CD3D", "CD3E"], "none": ["GP9"], "B": ["CD79A", "CD79B"]}
    lines = ["\t".join([name, "", *genes]) for name, genes in sets.items()]
    Path("sets.gmt").write_text("\n".join(lines))
    words = "--labels louvain --counts-layer counts --failure 0.1 --unexplained u.tsv"
    frame, said = table(
        f"evaluate cells.h5ad glfs {words} --gene-sets sets.gmt --per-set s.csv --per-label l.csv"
    )
    value = frame.set_index("measure")["value"]
    entry = tl.evaluate_panel(
        *(cells, "glfs", "louvain"),
        counts_layer="counts",
        gene_sets=sets,
        platform=Platform(failure=0.1),
        inplace=False,
    )
    expected = measured(entry)["value"]
    np.testing.assert_allclose(value[expected.index], expected, rtol=1e-6)
    assert set(frame["n_genes"]) == {8}
    worst = entry["per_label"].sort_values("f1")["label"].iloc[0]
    for shown in (
        *(f"{100 * expected[name]:.0f} %" for name in ("preserved", "optimality")),
        *(f"{expected[name]:.2f}" for name in ("accuracy", "counts_share")),
        *(f"{worst} (", entry["unexplained"]["genes_up"].iloc[0]),
    ):
        assert shown in said
    assert list(pd.read_csv("l.csv")["label"].astype(str)) == list(entry["per_label"]["label"])
    overlaps = pd.read_csv("s.csv").set_index("term")["n_overlap"]
    assert list(overlaps) == list(entry["gene_sets"]["n_overlap"])
    assert len(pd.read_csv("u.tsv", sep="\t")) == 5


def test_evaluate_with_neighbours_in_space(table, cells):
    spatial = cells.copy()
    spatial.obsm["spatial"] = spatial.obsm["X_umap"]
    spatial.write_h5ad("neighbours.h5ad")
    words = "--labels louvain --counts-layer counts --spillover 0.3 --spillover-to neighbours.h5ad"
    space = "--domains louvain --spatial X_umap --measures space,forecast"
    frame, said = table(f"evaluate cells.h5ad glfs {words} {space}")
    value = frame.set_index("measure")["value"]
    entry = tl.evaluate_panel(
        *(cells, "glfs", "louvain"),
        counts_layer="counts",
        platform=Platform(spillover=0.3, spillover_to=spatial),
        domains="louvain",
        spatial="X_umap",
        measures=["space", "forecast"],
        inplace=False,
    )
    expected = measured(entry)
    np.testing.assert_allclose(value[expected.index], expected["value"], rtol=1e-6)
    assert {"accuracy_without_spillover", "domain_accuracy"} <= set(value.index)
    assert entry["forecast"]["leaks"]["label"].iloc[0] in said


def test_evaluate_names_the_batch_of_which_least_is_kept(table, cells):
    _, said = table("evaluate cells.h5ad glfs --batch-key phase --measures preserved_in_batch")
    glfs_bio.pp.structure(cells, batch_key="phase", n_comps=20, key_added="phases")
    preserve = Preserve(use_rep="phases")
    entry = tl.evaluate_panel(
        cells, "glfs", preserve=preserve, measures="preserved_in_batch", inplace=False
    )
    least = entry["measures"].sort_values("value").iloc[0]
    (line,) = [line for line in said.splitlines() if "batches" in line]
    assert least["reading"] in line
    assert f"{100 * least['value']:.0f} %" in line


def test_the_structure_is_kept_and_used_again(on_cells, cells, monkeypatch):
    """A selection's own parameters, unless options say otherwise; and no work the second time."""
    del cells.uns["glfs_structure"], cells.obsm["glfs_structure"]
    cells.write_h5ad("plain.h5ad")
    on_cells("evaluate plain.h5ad glfs --measures preserved -o out.h5ad")
    assert ad.read_h5ad("out.h5ad").obsm["glfs_structure"].shape == (350, 20)
    on_cells("substitutes plain.h5ad glfs --n-comps 9 --seed 1 -n 1 -o nine.h5ad")
    out = ad.read_h5ad("nine.h5ad")
    assert out.obsm["glfs_structure_named"].shape == (350, 9)
    assert out.uns["glfs_structure_named"]["params"]["random_state"] == 1

    def again(*_, **__):
        pytest.fail("the structure is computed again")

    monkeypatch.setattr("glfs_bio._anndata.structure.compute", again)
    on_cells("explain out.h5ad glfs -o more.h5ad")


def test_substitutes(table, cells):
    line = "substitutes cells.h5ad catalogue --replace CD3D,LYZ -n 2 --min-score 0.3"
    frame, said = table(f"{line} --exclude CD3E")
    expected = tl.substitutes(
        *(cells, "catalogue", ["CD3D", "LYZ"], 2),
        min_score=0.3,
        exclude=["CD3E"],
        inplace=False,
    )
    assert list(frame) == list(expected)
    assert list(frame["substitute"]) == list(expected["substitute"])
    assert "of 2 genes have an acceptable substitute" in said
    frame, _ = table(f"{line} --symbols id")
    assert set(frame["gene"]) == {"id CD3D", "id LYZ"}
    assert frame["substitute"].str.startswith("id ").all()


def test_replace(table, on_cells, cells, catalogue):
    line = "replace cells.h5ad catalogue.csv --failed CD3D,LYZ --exclude CD3E"
    frame, said = table(f"{line} --genes new.txt -o out.h5ad")
    expected = tl.replace_genes(cells, ["CD3D", "LYZ"], catalogue, exclude="CD3E", inplace=False)
    assert list(frame["replaced_by"]) == list(expected["replaced_by"])
    assert "CD3D by " in said
    out = ad.read_h5ad("out.h5ad")
    new = {"CD79A", "NKG7", *expected["replaced_by"]}
    assert set(out.var_names[out.var["glfs_replaced_selected"]]) == new
    assert set(Path("new.txt").read_text().split()) == new
    frame, _ = table("replace out.h5ad glfs_replaced --failed CD79A --symbols id")
    assert frame["gene"].tolist() == ["id CD79A"]


def test_prove(table, cells):
    line = "prove cells.h5ad catalogue --time-limit 600 --symbols id -o out.h5ad"
    frame, said = table(line)
    expected = tl.prove_panel(cells, "catalogue", time_limit=600.0, inplace=False)
    assert frame["gene"].tolist() == [f"id {gene}" for gene in expected["gene"]]
    assert frame["certificate"].tolist() == expected["certificate"].astype(str).tolist()
    assert "4 genes preserve" in said
    assert ad.read_h5ad("out.h5ad").uns["catalogue_proof"]["n_genes"] == 4


def test_gene(table, cells):
    frame, said = table("gene cells.h5ad catalogue --gene LYZ,CD3E --labels louvain")
    expected = tl.explain_gene(cells, ["LYZ", "CD3E"], "catalogue", "louvain", inplace=False)
    assert list(frame) == [name for name in expected if name != "summary"]
    assert frame["adds"].to_numpy() == pytest.approx(expected["adds"].to_numpy(), rel=1e-6)
    assert all(text in said for text in expected["summary"])


def test_explain(table, cells):
    """With another name of each gene, of those that could stand in its place too."""
    line = "explain cells.h5ad glfs --labels louvain --n-labels 1 --tolerance 0.1"
    frame, said = table(f"{line} --symbols id")
    expected = tl.explain_panel(cells, "glfs", "louvain", n_labels=1, tolerance=0.1, inplace=False)
    assert list(frame) == list(expected)
    assert list(frame["gene"]) == [f"id {gene}" for gene in expected["gene"]]
    assert list(frame["supports"].fillna("")) == list(expected["supports"])
    alternatives = [name for text in expected["alternatives"] for name in text.split(", ") if text]
    assert alternatives
    called = [f"id {name}" if name in cells.var_names else name for name in alternatives]
    shown = frame["alternatives"].dropna()
    assert [name for text in shown for name in text.split(", ")] == called
    most = expected["gene"][expected["loss"].idxmax()]
    assert f"id {most} (" in said
    assert f"{(expected['alternatives'] != '').sum()} places" in said


def test_markers(table, cells):
    frame, said = table("markers cells.h5ad glfs --labels louvain --n-markers 2")
    expected = tl.markers(cells, "glfs", "louvain", n_markers=2, inplace=False)
    assert list(frame) == list(expected)
    assert list(frame["label"].astype(str)) == list(expected["label"])
    assert list(frame["markers"]) == list(expected["markers"])
    assert frame["f_beta"].to_numpy() == pytest.approx(expected["f_beta"].to_numpy(), rel=1e-6)
    worst = expected.loc[expected["f_beta"].idxmin()]
    assert f"{worst['label']} ({worst['f_beta']:.2f})" in said


def test_evaluate_several(table, cells, catalogue):
    line = "evaluate cells.h5ad ours=glfs theirs=catalogue.csv --labels louvain --sizes 2,3"
    frame, said = table(f"{line} --overlaps o.csv -o out.h5ad --counts-layer counts")
    panels = {"ours": "glfs", "theirs": catalogue}
    options = {"counts_layer": "counts", "sizes": [2, 3], "inplace": False}
    expected = tl.evaluate_panel(cells, panels, "louvain", **options)["measures"]
    assert list(frame["panel"]) == list(expected["panel"])
    np.testing.assert_allclose(frame["value"], expected["value"], rtol=1e-6)
    assert list(frame["n_genes"].unique()) == [2, 3, 8, 4]
    pair = pd.read_csv("o.csv").iloc[0]
    assert f"ours and theirs share {pair['shared']} genes" in said
    assert "theirs: 4 genes preserve" in said
    assert "glfs_comparison" in ad.read_h5ad("out.h5ad").uns


def test_a_classifier_of_some_cells_for_others(table, run, clusters):
    cells = ad.AnnData(clusters, obs={"group": np.repeat(["a", "b", "c"], 30)})
    cells.obs["train"] = np.arange(90) % 3 > 0
    cells[::2].copy().write_h5ad("known.h5ad")
    cells[1::2, ::-1].copy().write_h5ad("new.h5ad")
    sizes = "--n-genes 3 --n-genes 6 --cv 3 --train train"
    line = f"classify known.h5ad --labels group {sizes} -o out.h5ad --model model.json"
    frame, said = table(line)
    assert list(frame) == ["cell", "label", "predicted"]
    assert list(frame["label"]) == list(frame["predicted"])
    assert "0/30 errors in cross-validation; 0/15 errors outside --train" in said
    out = ad.read_h5ad("out.h5ad")
    assert list(out.obs["glfs_class_predicted"]) == list(frame["predicted"])
    assert run(line).exit_code == 1  # the files are there

    frame, _ = table("predict new.h5ad model.json -o new_out.h5ad")
    assert list(frame) == ["cell", "predicted", "margin"]
    assert list(frame["predicted"]) == list(cells.obs["group"][1::2])
    least = frame["margin"].nsmallest(21).tail(2).mean()
    again, said = table(f"predict new.h5ad model.json --unsure {least} --backed")
    n_genes = out.uns["glfs_class"]["n_genes"]
    assert f"{n_genes} of {n_genes} genes, 25 of 45 cells labelled" in said
    assert again["predicted"].isna().sum() == 20


@pytest.mark.filterwarnings("default::UserWarning")
def test_enrich(table, cells):
    lines = ["MHC II\t\tHLA-DRA\tHLA-DRB1\tHLA-DPA1", "T cells\t\tCD3D\tCD3E"]
    Path("sets.gmt").write_text("\n".join(lines))
    frame, _ = table("enrich cells.h5ad --gene-sets sets.gmt -o out.h5ad")
    assert set(frame["term"]) == {"MHC II", "T cells"}
    terms = ad.read_h5ad("out.h5ad").uns["glfs_enrichment"]["table"].index
    assert list(terms) == list(frame["term"])
    genes = cells.var_names[cells.var["glfs_rank"] > 1]
    Path("genes.txt").write_text("\n".join(genes))
    _, said = table("enrich cells.h5ad --gene-sets sets.gmt --background genes.txt")
    assert "1 of 8 selected genes" in said
    assert "7 of 764 genes selected" in said
