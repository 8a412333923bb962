"""``preserve=`` and ``cell_weights=`` on AnnData, in the selection and in the workbench."""

from __future__ import annotations

import logging

import anndata as ad
import numpy as np
import pandas as pd
import pytest
import scanpy as sc
from sklearn.linear_model import Ridge

from glfs_bio import Preserve, pp, tl


@pytest.fixture(scope="module")
def blood() -> ad.AnnData:
    adata = sc.datasets.pbmc68k_reduced().raw.to_adata()
    adata.obs["type"] = adata.obs["bulk_labels"]
    return adata


@pytest.fixture
def adata(blood):
    return blood.copy()


def panel(adata, n_genes=12, **options):
    """The genes, best first."""
    pp.select_genes(adata, n_genes, key_added="x", **options)
    chosen = adata.var[adata.var["x_selected"]].sort_values("x_rank")
    return list(chosen.index)


def accuracy(adata, genes):
    found = tl.evaluate_panel(adata, genes, "type", n_random=0, inplace=False)
    return found["accuracy"]


def test_labels_tell_types_apart(adata):
    structure, types = panel(adata), panel(adata, preserve="type")
    assert structure != types
    assert accuracy(adata, types) > accuracy(adata, structure)
    kept = adata.uns["x"]["preserved"]
    assert (np.diff(kept) > 0).all()
    assert adata.uns["x"]["optimality"][-1] > 0.9
    assert panel(adata, 6, preserve="type") == types[:6]


def test_the_expression_of_all_genes_is_predicted(adata):
    """By more of the variance than from genes of the structure; the unit does not matter.

    The structure is that of named components of highly variable genes.
    """
    named = {"use_rep": "X_pca", "neighbors_key": "neighbors"}
    half = np.arange(adata.n_obs) % 2 == 0
    values = adata.X.toarray()
    values -= values[half].mean(axis=0)
    left = []
    for preserve in ("expression", "structure"):
        seen = values[:, adata.var_names.get_indexer(panel(adata, preserve=preserve, **named))]
        model = Ridge(alpha=10.0).fit(seen[half], values[half])
        left.append(((values[~half] - model.predict(seen[~half])) ** 2).sum())
    assert left[0] < left[1]
    expected = panel(adata, preserve="expression")
    adata.X = adata.X * np.float32(0.125)
    assert panel(adata, preserve="expression") == expected


def test_genes_of_a_list_are_predicted(adata, tmp_path):
    pathway = ["CD3D", "CD3E", "IL32", "LTB"]
    found = panel(adata, 4, preserve=pathway, exclude=pathway)
    r2 = []
    for genes in (found, panel(adata, 4, exclude=pathway)):
        tl.evaluate_panel(adata, genes, n_random=0)
        r2.append(adata.var["glfs_evaluation_r2"][pathway].mean())
    assert r2[0] > r2[1]

    adata.var["pathway"] = adata.var_names.isin(pathway)
    (tmp_path / "sets.gmt").write_text("one\t\tCD3D\tCD3E\ntwo\t\tIL32\tLTB\tCD3E\n")
    (tmp_path / "genes.txt").write_text("\n".join(pathway))
    for same in ("pathway", str(tmp_path / "sets.gmt"), str(tmp_path / "genes.txt"), pathway[::-1]):
        assert panel(adata, 4, preserve=same, exclude=pathway) == found


def test_numbers_and_spaces(adata):
    score = panel(adata, 6, preserve="S_score")
    assert "PCNA" in score or "STMN1" in score
    adata.obsm["X_score"] = adata.obs[["S_score"]].to_numpy()
    assert panel(adata, 6, preserve="X_score") == score
    adata.obsm["table"] = adata.obs[["S_score"]]
    assert panel(adata, 6, preserve="table") == score
    adata.obs["scaled"] = 7.0 - 3.0 * adata.obs["S_score"]
    assert panel(adata, 6, preserve="scaled") == score


def test_several_things_with_weights(adata):
    assert panel(adata, preserve={"type": 2}) == panel(adata, preserve="type")
    assert panel(adata, preserve={"structure": 5}) == panel(adata)
    nearly = panel(adata, preserve={"type": 1, "structure": 1e-9})
    assert nearly == panel(adata, preserve="type")
    mixed = panel(adata, preserve={"type": 1, "phase": 1, "structure": 1})
    assert mixed not in (nearly, panel(adata))


def test_cells_without_a_value(adata):
    """They stay in the graph."""
    adata.obs["some"] = adata.obs["type"].where(np.arange(adata.n_obs) % 3 > 0)
    adata.obs["text"] = adata.obs["some"].astype(object)
    adata.obs["score"] = adata.obs["S_score"].where(np.arange(adata.n_obs) % 3 > 0)
    types = panel(adata, preserve="some")
    assert len(set(types) & set(panel(adata, preserve="type"))) >= 9
    assert panel(adata, preserve="text") == types
    assert panel(adata, preserve="score")


def test_types_of_one_cell_are_named_and_take_part(adata, caplog):
    few = adata.obs["type"].astype(str)
    few.iloc[0], few.iloc[1:3] = "lonely", "pair"
    adata.obs["few"] = few
    with caplog.at_level(logging.WARNING):
        found = panel(adata, preserve="few")
    assert "lonely" in caplog.text
    assert "pair" in caplog.text
    assert len(found) == 12


def test_weights_of_cells(adata):
    """Labels in place of numbers count alike; one weight for all changes nothing."""
    counts = adata.obs["type"].map(adata.obs["type"].value_counts()).astype(float)
    adata.obs["balance"], adata.obs["alike"] = 1.0 / counts, 3.5
    balanced = panel(adata, cell_weights="type")
    assert panel(adata, cell_weights="balance") == balanced
    assert balanced != panel(adata)
    assert panel(adata, cell_weights="alike") == panel(adata)
    assert panel(adata, preserve="S_score", cell_weights="alike") == panel(
        adata, preserve="S_score"
    )


def test_batches_have_their_own_labels(adata):
    """One has a label that the other lacks."""
    adata.obs["batch"] = np.where(np.arange(adata.n_obs) % 2, "a", "b")
    types = panel(adata, preserve="type", batch_key="batch")
    odd = (adata.obs["type"] == "CD19+ B") & (adata.obs["batch"] == "a")
    rest = adata[~odd].copy()
    assert len(set(panel(rest, preserve="type", batch_key="batch")) & set(types)) >= 8


def test_the_workbench_judges_by_what_the_selection_was_made_for(adata):
    pp.structure(adata)
    pp.select_genes(adata, 8, preserve={"type": 1.0}, cell_weights="phase")
    kept = adata.uns["glfs"]["preserved"][-1]
    quick = {"inplace": False, "n_random": 0}
    assert tl.evaluate_panel(adata, "glfs", **quick)["preserved"] == pytest.approx(kept)
    same = {"preserve": Preserve("type", cell_weights="phase")}
    names = list(adata.var_names[adata.var["glfs_selected"]])
    assert tl.evaluate_panel(adata, names, **quick, **same)["preserved"] == pytest.approx(kept)
    assert tl.evaluate_panel(adata, names, **quick)["preserved"] != pytest.approx(kept)
    table = tl.explain_panel(adata, "glfs", inplace=False)
    assert table["preserved"].iloc[-1] == pytest.approx(kept)
    np.testing.assert_allclose(table["loss"], adata.var["glfs_loss"][table["gene"]])
    swaps = tl.substitutes(adata, "glfs", n=1, inplace=False)
    np.testing.assert_allclose(swaps["loss"], table["loss"])
    curve = tl.curve(adata, 8, **same, inplace=False)
    assert curve["preserved"].iloc[-1] == pytest.approx(kept)
    added = tl.extend_panel(adata, table["gene"][:5].tolist(), 3, **same, inplace=False)
    assert added["preserved"].iloc[-1] == pytest.approx(kept)
    compared = tl.compare_panels(adata, {"a": "glfs", "b": names[:3]}, **same, inplace=False)
    assert compared["table"]["preserved"]["a"] == pytest.approx(kept)


def test_an_extended_panel_and_a_file_remember(adata, tmp_path):
    tl.extend_panel(adata, ["CD3D", "LYZ"], 3, preserve={"type": 1.0, "S_score": 0.5})
    pp.select_genes(adata, 5, preserve=["CD3D", "LYZ"], key_added="two")
    adata.write_h5ad(tmp_path / "cells.h5ad")
    again = ad.read_h5ad(tmp_path / "cells.h5ad")
    assert pp.recorded_parameters(again, "two")["preserve"] == ["CD3D", "LYZ"]
    assert pp.recorded_parameters(again, "two")["cell_weights"] is None
    kept = again.uns["glfs_extended"]["preserved"][-1]
    found = tl.evaluate_panel(again, "glfs_extended", n_random=0, inplace=False)
    assert found["preserved"] == pytest.approx(kept)


def test_stability_repeats_what_the_selection_was_made_for(adata):
    pp.select_genes(adata, 8, preserve="type", cell_weights="phase")
    tl.stability(adata, n_resamples=3)
    often = adata.var["glfs_stability_frequency"]
    assert often[adata.var["glfs_selected"]].mean() > 0.4


def test_whole_labels_of_every_kind(adata):
    """Strings, booleans and categories with unused ones are the same labels."""
    types = panel(adata, preserve="type")
    adata.obs["text"] = adata.obs["type"].astype(str).astype(object)
    adata.obs["unused"] = adata.obs["type"].cat.add_categories(["none"])
    adata.obs["numbered"] = pd.Categorical(adata.obs["type"].cat.codes)
    for same in ("text", "unused", "numbered"):
        assert panel(adata, preserve=same) == types
    adata.obs["b"] = adata.obs["type"] == "CD19+ B"
    assert panel(adata, 1, preserve="b")[0] in {"CD79A", "MS4A1", "CD79B", "CD74"}
