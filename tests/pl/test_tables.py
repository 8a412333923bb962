from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from pictures import apart, names, rows

from glfs_bio import pl, tl
from glfs_bio.pl._evaluation import labels_by


def by_place(ax):
    """Texts in the cells of a table, by column and row."""
    return {tuple(map(int, text.get_position())): text for text in ax.texts if text.get_text()}


def test_confusion_rows_are_recall(judged):
    ax = pl.confusion(judged, show=False)
    entry = judged.uns["glfs_evaluation"]
    shares = np.asarray(ax.images[0].get_array())
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    labels = labels_by(entry, "knn")
    np.testing.assert_allclose(shares.diagonal(), labels["recall"])
    assert rows(ax) == names(ax.get_xticklabels()) == list(labels.index)
    cells = by_place(ax)
    best = int(shares.diagonal().argmax())
    assert cells[best, best].get_text() == f"{100 * shares[best, best]:.0f}"
    assert len(cells) == (shares >= 0.005).sum()
    small = plt.figure(figsize=(1.5, 1.5), layout="constrained").subplots()
    pl.confusion(judged, ax=small)
    assert not small.texts
    assert len(small.figure.axes) == 2  # with a colour bar, as there is no room for numbers


def test_comparison_of_measures_and_panels(judged):
    every = judged.uns["glfs_comparison"]["measures"]
    every.loc[every["measure"] == "rare_f1", "value"] = np.nan
    every.loc[(every["measure"] == "imputed") & (every["panel"] == "ours"), "value"] = np.nan
    table = every.pivot(index="panel", columns="measure", values="value")
    table = table.loc[every["panel"].unique()]
    ax = pl.comparison(judged, show=False)
    assert names(ax.get_xticklabels())[:2] == ["ours", "theirs"]
    cells, shown = by_place(ax), rows(ax)
    assert "n effective" in shown
    assert "rare f1" not in shown
    assert (0, shown.index("imputed")) not in cells
    accuracies = [cells[panel, shown.index("accuracy")] for panel in range(3)]
    assert names(accuracies) == [f"{value:.2f}" for value in table["accuracy"]]
    weights = [text.get_fontweight() for text in accuracies]
    assert weights[int(np.argmax(table["accuracy"]))] == "bold"
    assert weights.count("bold") < 3
    shares = np.asarray(ax.images[0].get_array().filled(np.nan))
    np.testing.assert_allclose(shares[shown.index("preserved")], table["preserved"])
    assert np.isnan(shares[shown.index("n effective")]).all()
    assert apart(ax)


@pytest.mark.skipif(find_spec("marsilea") is None, reason="marsilea is not installed")
def test_upset_has_a_bar_for_every_combination_of_panels(judged):
    ax = pl.upset(judged, show=False, title="a $ title $")
    genes = judged.uns["glfs_comparison"]["genes"]
    members = pd.crosstab(genes["gene"], genes["panel"])
    counted = members.value_counts().to_numpy()
    texts = [{text.get_text() for text in axes.texts} for axes in ax.figure.axes]
    assert {str(n) for n in counted} in texts
    assert {str(n) for n in members.sum()} in texts
    heights = [[bar.get_height() for bar in axes.patches] for axes in ax.figure.axes]
    assert sorted(counted, reverse=True) in heights
    assert any("ours" in shown and len(shown) == 3 for shown in texts)


def test_numbers_without_a_colour_are_read_on_a_dark_page(pbmc):
    panels = {"one": ["LYZ", "CD3D"], "other": ["LYZ", "NKG7", "CD79A"]}
    tl.evaluate_panel(pbmc, panels, measures=["preserved", "n_effective"])
    with plt.style.context("dark_background"):
        ax = pl.comparison(pbmc, show=False)
    cells, row = by_place(ax), rows(ax).index("n effective")
    assert {cells[panel, row].get_color() for panel in range(2)} == {"white"}
