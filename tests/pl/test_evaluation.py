from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import same_color
from pictures import PANEL, apart, names, rows
from refusals import refused

from glfs_bio import pl, tl
from glfs_bio.errors import Caution, InvalidValue, NotFound
from glfs_bio.pl._figure import BLUE, GREY, VERMILLION

PLOTS = [
    *(pl.labels, pl.confusion, pl.unexplained, pl.imputation, pl.preserved),
    *(pl.curve, pl.comparison),
]


def test_labels_from_the_best_to_the_worst(judged):
    table = judged.uns["glfs_evaluation"]["per_label"]
    table["too_few"] = table.index == table.index[0]
    ax = pl.labels(judged, show=False)
    ranked = table.sort_values("recall", ascending=False, kind="stable")
    assert rows(ax) == list(ranked.index)
    bars = sorted(ax.patches, key=lambda bar: bar.get_y())
    np.testing.assert_allclose([bar.get_width() for bar in bars], ranked["recall"])
    points, diamonds = ax.lines
    np.testing.assert_allclose(points.get_xdata(), ranked["f1"])
    np.testing.assert_allclose(diamonds.get_xdata(), ranked["recall_laprls"])
    np.testing.assert_array_equal(points.get_ydata(), diamonds.get_ydata())
    assert names(ax.texts) == [f"{n} cells" for n in ranked["n_cells"]]
    caption = "".join(ax.get_xlabel().split())
    readings = judged.uns["glfs_evaluation"]["readings"].values()
    assert all("".join(reading.split()) in caption for reading in readings)
    for bar, (_, row) in zip(bars, ranked.iterrows(), strict=True):
        colour = GREY if row["too_few"] else VERMILLION if row["rare"] else BLUE
        assert same_color(bar.get_facecolor(), colour)
    assert ranked["rare"].any()
    assert {"recall, rare", "recall, too few cells"} <= set(names(ax.get_legend().get_texts()))
    assert apart(ax)


def test_one_reading_alone(judged):
    tl.evaluate_panel(judged, PANEL, "bulk_labels", n_random=0, readings=["laprls"])
    table = judged.uns["glfs_evaluation"]["per_label"]
    ax = pl.labels(judged, show=False)
    (points,) = ax.lines
    assert sorted(points.get_xdata()) == sorted(table["f1_laprls"])
    assert "NN" not in ax.get_xlabel()
    shares = np.asarray(pl.confusion(judged, show=False).images[0].get_array())
    np.testing.assert_allclose(shares.diagonal(), table["recall_laprls"])
    with refused(InvalidValue, "reading"):
        pl.confusion(judged, reading="knn")
    tl.curve(judged, 10, "bulk_labels", sizes=[5, 10], readings=["laprls"])
    assert pl.curve(judged, show=False)
    tl.compare_panels(judged, {"a": PANEL, "b": PANEL[:2]}, "bulk_labels", readings=["laprls"])
    assert not any("NN," in name for name in rows(pl.comparison(judged, show=False)))


def test_thirty_labels_have_room(judged):
    labels = [f"{'a label with a long name' if i % 4 else '$x$'} of 30 $ {i}" for i in range(30)]
    values = {"n_cells": 1000, "recall": 1.0, "f1": 1.0, "recall_laprls": 0.9}
    table = pd.DataFrame({**values, "rare": False, "too_few": False}, index=labels)
    judged.uns["glfs_evaluation"] |= {"confusion": np.diag(range(1, 31)), "per_label": table}
    for draw in (pl.labels, pl.confusion):
        ax = draw(judged, show=False)
        assert apart(ax)
        assert len(set(rows(ax))) == 30
        assert max(map(len, rows(ax))) <= 32
    assert len(set(names(ax.get_xticklabels()))) == 30


def test_missed_on_umap_or_principal_components(judged):
    ax = pl.unexplained(judged, show=False)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("UMAP 1", "UMAP 2")
    (points,) = ax.collections
    unexplained = judged.obs["glfs_evaluation_unexplained"]
    order = np.argsort(unexplained, kind="stable")
    np.testing.assert_allclose(points.get_offsets(), judged.obsm["X_umap"][order], rtol=1e-5)
    np.testing.assert_allclose(points.get_array(), unexplained.iloc[order])
    judged.obsm["mine"] = judged.obsm.pop("X_umap")
    for basis, label in ((None, "PC 1"), ("pca", "PC 1"), ("mine", "mine 1")):
        assert pl.unexplained(judged, basis=basis, show=False).get_xlabel() == label
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


def test_preserved_beside_random_and_best(judged):
    ax = pl.preserved(judged, show=False)
    entry = judged.uns["glfs_evaluation"]
    panel, failing, best, random, most = (line.get_xdata() for line in ax.lines)
    assert panel == entry["preserved"]
    assert failing == entry["preserved_on_platform"]
    assert best == entry["best_preserved"]
    np.testing.assert_array_equal(random, entry["random_preserved"])
    assert most[0] == entry["most_preserved"]
    assert ax.get_xlim() == (0, 1)
    assert len(rows(ax)) == 4
    assert ax.texts[0].get_text() == f"{entry['preserved']:.2f}"
    assert apart(ax)
    assert len(rows(pl.preserved(judged, key="plain", show=False))) == 2
    judged.uns["plain"] |= {"batches": ["a", "b", "c"], "preserved_in_batches": [0.1, np.nan, 0.3]}
    several = pl.preserved(judged, key="plain", show=False)
    np.testing.assert_array_equal(np.sort(several.lines[1].get_xdata()), [0.1, 0.3])
    few = judged[:, PANEL].copy()  # of all genes there are no shares to draw
    few.uns.clear()
    with pytest.warns(Caution):
        tl.evaluate_panel(few, PANEL)
    with refused(InvalidValue, "key"):
        pl.preserved(few, show=False)


def test_curve_with_band_and_accuracy(judged):
    ax = pl.curve(judged, show=False)
    table = judged.uns["glfs_curve"]["table"]
    np.testing.assert_array_equal(ax.lines[0].get_data(), table[["n_genes", "preserved"]].T)
    band = ax.collections[0].get_paths()[0].vertices
    most = (table["preserved"] / table["optimality"]).clip(upper=1)
    assert band[:, 1].max() == pytest.approx(most.max())
    right = next(axes for axes in ax.figure.axes if axes is not ax)
    np.testing.assert_array_equal(right.lines[0].get_xdata(), [5, 10, 20])
    np.testing.assert_array_equal(right.lines[0].get_ydata(), table["accuracy"].dropna())
    assert apart(ax)
    plain = pl.curve(judged, key="short", show=False)
    assert plain.figure.axes == [plain]
    judged.uns["short"]["table"]["optimality"] = np.nan
    assert len(pl.curve(judged, key="short", show=False).get_legend().get_texts()) == 1


def test_what_was_not_computed_or_is_gone(judged):
    judged.uns["other"] = {"something": "else"}
    missing = [(draw, key) for draw in PLOTS for key in ("no", "other")]
    for draw, key in [*missing, (pl.labels, "plain"), (pl.confusion, "plain")]:
        with refused(NotFound, "key"):
            draw(judged, key=key)
    for draw, of in ((pl.unexplained, judged.obs), (pl.imputation, judged.var)):
        of.drop(columns=[name for name in of if name.startswith("glfs_ev")], inplace=True)
        with refused(NotFound, "key"):
            draw(judged)
    assert plt.get_fignums() == []
