"""``preserve=`` and ``cell_weights=`` on AnnData, in the selection and in the workbench."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pytest
from all_panels import measured
from sklearn.linear_model import Ridge

from glfs_bio import Preserve, pp, tl
from glfs_bio._anndata.results import request_of


@pytest.fixture
def adata(pbmc):
    pbmc.obs["type"] = pbmc.obs["bulk_labels"]
    return pbmc


def panel(adata, n_genes=12, **options):
    """The genes, best first."""
    pp.select_genes(adata, n_genes, key_added="x", **options)
    chosen = adata.var[adata.var["x_selected"]].sort_values("x_rank")
    return list(chosen.index)


def test_labels_tell_types_apart(adata):
    structure, types = panel(adata), panel(adata, preserve="type")
    assert structure != types
    of_structure, of_types = (
        measured(tl.evaluate_panel(adata, genes, "type", inplace=False))["value"]["accuracy"]
        for genes in (structure, types)
    )
    assert of_types > of_structure
    assert (np.diff(adata.uns["x"]["preserved"]) > 0).all()
    assert adata.uns["x"]["optimality"][-1] > 0.9
    assert panel(adata, 6, preserve="type") == types[:6]


def test_the_expression_of_all_genes_is_predicted(adata):
    """By more of the variance than from genes of the structure, of highly variable genes here."""
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


def test_genes_of_a_list_are_predicted(adata, tmp_path):
    pathway = ["CD3D", "CD3E", "IL32", "LTB"]
    predictors = panel(adata, 4, preserve=pathway, exclude=pathway)
    r2 = []
    for genes in (predictors, panel(adata, 4, exclude=pathway)):
        tl.evaluate_panel(adata, genes)
        r2.append(adata.var["glfs_evaluation_r2"][pathway].mean())
    assert r2[0] > r2[1]
    adata.var["pathway"] = adata.var_names.isin(pathway)
    sets, names = tmp_path / "sets.gmt", tmp_path / "genes.txt"
    sets.write_text("one\t\tCD3D\tCD3E\ntwo\t\tIL32\tLTB\tCD3E\n")
    names.write_text("\n".join(pathway))
    for same in ("pathway", str(sets), str(names), pathway[::-1]):
        assert panel(adata, 4, preserve=same, exclude=pathway) == predictors


def test_numbers_and_spaces(adata):
    score = panel(adata, 6, preserve="S_score")
    assert "PCNA" in score or "STMN1" in score
    adata.obsm["X_score"] = adata.obs[["S_score"]].to_numpy()
    adata.obsm["table"] = adata.obs[["S_score"]]
    adata.obs["scaled"] = 7.0 - 3.0 * adata.obs["S_score"]
    for same in ("X_score", "table", "scaled"):
        assert panel(adata, 6, preserve=same) == score


def test_several_things_with_weights(adata):
    types, structure = panel(adata, preserve="type"), panel(adata)
    assert panel(adata, preserve={"type": 2}) == types
    assert panel(adata, preserve={"structure": 5}) == structure
    assert panel(adata, preserve={"type": 1, "structure": 1e-9}) == types
    assert panel(adata, preserve={"type": 1, "phase": 1, "structure": 1}) not in (types, structure)


def test_cells_without_a_value_and_types_of_one_cell(adata, caplog):
    """The former stay in the graph, the latter are named."""
    known = np.arange(adata.n_obs) % 3 > 0
    adata.obs["some"] = adata.obs["type"].where(known)
    adata.obs["score"] = adata.obs["S_score"].where(known)
    adata.obs["few"] = ["lonely", "pair", "pair", *adata.obs["type"][3:]]
    assert len(set(panel(adata, preserve="some")) & set(panel(adata, preserve="type"))) >= 9
    assert panel(adata, preserve="score")
    assert len(panel(adata, preserve="few")) == 12
    assert "lonely" in caplog.text
    assert "pair" in caplog.text


def test_weights_of_cells(adata):
    """Labels in place of numbers count alike; one weight for all changes nothing."""
    counts = adata.obs["type"].map(adata.obs["type"].value_counts()).astype(float)
    adata.obs["balance"], adata.obs["alike"] = 1.0 / counts, 3.5
    balanced, plain = panel(adata, cell_weights="type"), panel(adata)
    assert panel(adata, cell_weights="balance") == balanced
    assert balanced != plain
    assert panel(adata, cell_weights="alike") == plain
    score = panel(adata, preserve="S_score")
    assert panel(adata, preserve="S_score", cell_weights="alike") == score


def test_the_workbench_judges_by_what_the_selection_was_made_for(adata):
    pp.structure(adata)
    pp.select_genes(adata, 8, preserve={"type": 1.0}, cell_weights="phase")
    share = pytest.approx(adata.uns["glfs"]["preserved"][-1])
    genes = list(adata.var_names[adata.var["glfs_selected"]])

    def preserved(panel, **options):
        options |= {"inplace": False, "measures": "preserved"}
        return tl.evaluate_panel(adata, panel, **options)["measures"]["value"][0]

    same = {"preserve": Preserve("type", cell_weights="phase")}
    assert preserved("glfs") == share
    assert preserved(genes, **same) == share
    assert preserved(genes) != share
    table = tl.explain_panel(adata, "glfs", inplace=False)
    assert table["preserved"].iloc[-1] == share
    np.testing.assert_allclose(table["loss"], adata.var["glfs_loss"][table["gene"]])
    added = tl.extend_panel(adata, table["gene"][:5].tolist(), 8, **same, inplace=False)
    assert added["preserved"].iloc[-1] == share
    assert preserved({"a": "glfs", "b": genes[:3]}, **same) == share


def test_stability_an_extended_panel_and_a_file_remember(adata, tmp_path):
    pp.select_genes(adata, 8, preserve="type", cell_weights="phase")
    tl.stability(adata, n_resamples=3)
    often = adata.var["glfs_stability_frequency"]
    assert often[adata.var["glfs_selected"]].mean() > 0.4
    tl.extend_panel(adata, ["CD3D", "LYZ"], 5, preserve={"type": 1.0, "S_score": 0.5})
    pp.select_genes(adata, 5, preserve=["CD3D", "LYZ"], key_added="two")
    adata.write_h5ad(tmp_path / "cells.h5ad")
    again = ad.read_h5ad(tmp_path / "cells.h5ad")
    assert request_of(again, "two").preserve == ["CD3D", "LYZ"]
    assert request_of(again, "two").cell_weights is None
    evaluation = tl.evaluate_panel(again, "glfs_extended", inplace=False)
    shares = measured(evaluation)["value"]
    assert shares["preserved"] == pytest.approx(again.uns["glfs_extended"]["preserved"][-1])
