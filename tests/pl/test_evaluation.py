from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from anndata import read_h5ad
from matplotlib import pyplot as plt
from matplotlib.colors import same_color
from pictures import apart, names
from refusals import refused

from glfs_bio import pl, tl
from glfs_bio.errors import Caution, InvalidValue, NotFound
from glfs_bio.pl._figure import BLUE, GREY, VERMILLION

PANEL = ["CD3D", "CD79A", "NKG7", "LYZ", "FCER1A"]
OF_EVALUATION = [pl.labels, pl.confusion, pl.unexplained, pl.imputation, pl.preserved]
EVERY = [*OF_EVALUATION, pl.curve, pl.comparison]


def test_labels_from_the_best_to_the_worst(judged):
    ax = pl.labels(judged, show=False)
    table = judged.uns["glfs_evaluation"]["per_label"]
    ranked = table.sort_values("recall", ascending=False, kind="stable")
    assert names(ax.get_yticklabels()) == list(ranked.index)
    bars = sorted(ax.patches, key=lambda bar: bar.get_y())
    np.testing.assert_allclose([bar.get_width() for bar in bars], ranked["recall"])
    points, diamonds = ax.lines
    np.testing.assert_allclose(points.get_xdata(), ranked["f1"])
    np.testing.assert_allclose(diamonds.get_xdata(), ranked["recall_laprls"])
    np.testing.assert_array_equal(points.get_ydata(), diamonds.get_ydata())
    assert [text.get_text() for text in ax.texts] == [f"{n} cells" for n in ranked["n_cells"]]
    for bar, (_, one) in zip(bars, ranked.iterrows(), strict=True):
        colour = GREY if one["too_few"] else VERMILLION if one["rare"] else BLUE
        assert same_color(bar.get_facecolor(), colour)
    assert ranked["rare"].any()
    assert "recall, rare" in names(ax.get_legend().get_texts())
    assert apart(ax)


def test_captions_say_how_cells_were_read(judged):
    def told(ax, said):
        """Whether the labels of the axes say all of this, in whatever lines."""
        texts = [one.get_xlabel() + one.get_ylabel() for one in ax.figure.axes]
        return all("".join(one.split()) in "".join(" ".join(texts).split()) for one in said)

    said = judged.uns["glfs_evaluation"]["readings"]
    for draw in (pl.labels, pl.comparison, pl.curve):
        assert told(draw(judged, show=False), [*said.values(), "700 cells"])
    for reading, other in (("knn", "laprls"), ("laprls", "knn")):
        ax = pl.confusion(judged, reading=reading, show=False)
        assert told(ax, [said[reading], "700 cells"])
        assert not told(ax, [said[other]])


def test_one_reading_alone(judged):
    tl.evaluate_panel(judged, PANEL, "bulk_labels", n_random=0, readings=["laprls"])
    entry = judged.uns["glfs_evaluation"]
    ax = pl.labels(judged, show=False)
    (points,) = ax.lines
    ranked = entry["per_label"].sort_values("recall_laprls", ascending=False, kind="stable")
    np.testing.assert_allclose(points.get_xdata(), ranked["f1_laprls"])
    assert "NN" not in ax.get_xlabel()
    shares = np.asarray(pl.confusion(judged, show=False).images[0].get_array())
    np.testing.assert_allclose(shares.diagonal(), entry["per_label"]["recall_laprls"])
    with refused(InvalidValue, "reading"):
        pl.confusion(judged, reading="knn")
    tl.curve(judged, 10, "bulk_labels", sizes=[5, 10], readings=["laprls"])
    assert pl.curve(judged, show=False)
    tl.compare_panels(judged, {"a": PANEL, "b": PANEL[:2]}, "bulk_labels", readings=["laprls"])
    told = names(pl.comparison(judged, show=False).get_yticklabels())
    assert any("LapRLS" in one for one in told)
    assert not any("NN," in one for one in told)


def test_a_panel_of_all_genes_has_no_shares_to_draw(judged):
    few = judged[:, PANEL].copy()
    few.uns.clear()
    with pytest.warns(Caution):
        tl.evaluate_panel(few, PANEL, "bulk_labels")
    with refused(InvalidValue, "key"):
        pl.preserved(few, show=False)
    assert pl.labels(few, show=False)


def test_labels_of_too_few_cells_have_another_colour(judged):
    table = judged.uns["glfs_evaluation"]["per_label"]
    table["too_few"] = table.index == table.index[0]
    ax = pl.labels(judged, show=False)
    assert "recall, too few cells" in names(ax.get_legend().get_texts())
    (grey,) = [bar for bar in ax.patches if same_color(bar.get_facecolor(), GREY)]
    row = round(grey.get_y() + grey.get_height() / 2)
    assert names(ax.get_yticklabels())[row] == table.index[0]


def test_thirty_labels_have_room(judged):
    labels = [
        f"{'a label with a long name' if i % 4 else '$x$'} of thirty $ {i}" for i in range(30)
    ]
    counts = np.diag(np.arange(1, 31))
    table = pd.DataFrame(
        {"n_cells": 1000, "recall": 1.0, "f1": 1.0, "rare": False, "too_few": False}, index=labels
    )
    table["recall_laprls"] = 0.9
    judged.uns["glfs_evaluation"] |= {"confusion": counts, "per_label": table}
    for draw in (pl.labels, pl.confusion):
        ax = draw(judged, show=False)
        assert apart(ax)
        shown = names(ax.get_yticklabels())
        assert len(set(shown)) == 30
        assert max(map(len, shown)) <= 32
    assert len(set(names(ax.get_xticklabels()))) == 30


def test_missed_on_umap_or_principal_components(judged):
    before = set(judged.uns), set(judged.obsm), list(judged.obs)
    ax = pl.unexplained(judged, show=False)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("UMAP 1", "UMAP 2")
    points = ax.collections[0]
    order = np.argsort(judged.obs["glfs_evaluation_unexplained"], kind="stable")
    np.testing.assert_allclose(points.get_offsets(), judged.obsm["X_umap"][order], rtol=1e-5)
    np.testing.assert_allclose(
        points.get_array(), judged.obs["glfs_evaluation_unexplained"].iloc[order]
    )
    assert pl.unexplained(judged, basis="pca", show=False).get_xlabel() == "PC 1"
    judged.obsm["mine"] = judged.obsm["X_umap"]
    assert pl.unexplained(judged, basis="mine", show=False).get_xlabel() == "mine 1"
    del judged.obsm["mine"]
    assert (set(judged.uns), set(judged.obsm), list(judged.obs)) == before
    del judged.obsm["X_umap"]
    assert pl.unexplained(judged, show=False).get_xlabel() == "PC 1"
    del judged.obsm["X_pca"]
    with refused(NotFound, "basis"):
        pl.unexplained(judged, show=False)


def test_imputation_counts_unmeasured_genes(judged):
    ax = pl.imputation(judged, show=False)
    r2 = judged.var["glfs_evaluation_r2"].dropna()
    assert sum(bar.get_height() for bar in ax.patches) == len(r2)
    assert ax.lines[0].get_xdata()[0] == np.median(r2) == judged.uns["glfs_evaluation"]["imputed"]
    assert f"{len(r2)} unmeasured" in ax.get_xlabel()
    assert apart(ax)
    judged.var["glfs_evaluation_r2"] = np.nan
    with refused(InvalidValue, "key"):
        pl.imputation(judged)


def test_kept_beside_random_and_best(judged):
    ax = pl.preserved(judged, show=False)
    entry = judged.uns["glfs_evaluation"]
    assert names(ax.get_yticklabels()) == [
        *("this panel, 5 genes", "this panel, on the platform"),
        *("selected by glfs_bio", "20 random panels"),
    ]
    own, failing, best, random, most = (line.get_xdata() for line in ax.lines)
    assert (own, failing, best) == (
        entry["preserved"],
        entry["preserved_on_platform"],
        entry["best_preserved"],
    )
    np.testing.assert_array_equal(random, entry["random_preserved"])
    assert most[0] == entry["most_preserved"]
    assert ax.get_xlim() == (0, 1)
    told = [text.get_text() for text in ax.texts]
    assert told[0] == f"{entry['preserved']:.2f}"
    assert f"{entry['most_preserved']:.2f}" in told[-1]
    assert apart(ax)
    plain = pl.preserved(judged, key="plain", show=False)
    assert names(plain.get_yticklabels()) == ["this panel, 5 genes", "selected by glfs_bio"]
    judged.uns["plain"] |= {"batches": ["a", "b", "c"], "preserved_in_batches": [0.1, np.nan, 0.3]}
    several = pl.preserved(judged, key="plain", show=False)
    np.testing.assert_array_equal(np.sort(several.lines[1].get_xdata()), [0.1, 0.3])
    assert names(several.get_yticklabels())[1] == "this panel, in 2 batches"


def test_curve_with_band_and_accuracy(judged):
    ax = pl.curve(judged, show=False)
    table = judged.uns["glfs_curve"]["table"]
    np.testing.assert_array_equal(ax.lines[0].get_data(), table[["n_genes", "preserved"]].T)
    band = ax.collections[0].get_paths()[0].vertices
    most = (table["preserved"] / table["optimality"]).clip(upper=1)
    assert band[:, 1].max() == pytest.approx(most.max())
    right = next(one for one in ax.figure.axes if one is not ax)
    np.testing.assert_array_equal(right.lines[0].get_xdata(), [5, 10, 20])
    np.testing.assert_array_equal(right.lines[0].get_ydata(), table["accuracy"].dropna())
    assert names(ax.get_legend().get_texts()) == [
        *("preserved", "up to the upper bound", "accuracy, 15-NN", "macro-F1, 15-NN"),
        *("accuracy, LapRLS", "macro-F1, LapRLS"),
    ]
    assert apart(ax)
    plain = pl.curve(judged, key="short", show=False)
    assert plain.figure.axes == [plain]
    judged.uns["short"]["table"]["optimality"] = np.nan
    told = pl.curve(judged, key="short", show=False).get_legend().get_texts()
    assert names(told) == ["preserved"]


def test_from_a_file(judged, tmp_path):
    """Tables and columns are read as they were written."""
    judged.write_h5ad(tmp_path / "cells.h5ad")
    stored = read_h5ad(tmp_path / "cells.h5ad")
    for draw in EVERY:
        first, second = draw(judged, show=False), draw(stored, show=False)
        assert names(first.get_yticklabels()) == names(second.get_yticklabels())
        assert names(first.texts) == names(second.texts)


@pytest.mark.parametrize("draw", EVERY)
def test_what_was_not_computed(pbmc, draw):
    with refused(KeyError, "key"):
        draw(pbmc, key="no")
    pbmc.uns["no"] = {"something": "else"}
    with refused(KeyError, "key"):
        draw(pbmc, key="no")
    assert plt.get_fignums() == []


@pytest.mark.parametrize("draw", [pl.labels, pl.confusion])
def test_judged_without_labels(judged, draw):
    with refused(NotFound, "key"):
        draw(judged, key="plain")


@pytest.mark.parametrize(("draw", "of"), [(pl.unexplained, "obs"), (pl.imputation, "var")])
def test_columns_that_are_gone(judged, draw, of):
    frame = getattr(judged, of)
    frame.drop(columns=[name for name in frame if name.startswith("glfs_ev")], inplace=True)
    with refused(NotFound, "key"):
        draw(judged)
