from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest
from matplotlib import pyplot as plt
from pictures import apart, names, rows
from refusals import refused

from glfs_bio import pl, tl
from glfs_bio.errors import NotFound
from glfs_bio.pl._tables import measure_names


def by_place(ax):
    """Texts in the cells of a table, by column and row."""
    return {tuple(map(int, text.get_position())): text for text in ax.texts if text.get_text()}


def test_confusion_rows_are_recall(judged):
    ax = pl.confusion(judged, show=False)
    entry = judged.uns["glfs_evaluation"]
    shares = np.asarray(ax.images[0].get_array())
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_allclose(shares.diagonal(), entry["per_label"]["recall"])
    assert rows(ax) == names(ax.get_xticklabels()) == list(entry["per_label"].index)
    cells = by_place(ax)
    best = int(shares.diagonal().argmax())
    assert cells[best, best].get_text() == f"{100 * shares[best, best]:.0f}"
    assert len(cells) == (shares >= 0.005).sum()
    small = plt.figure(figsize=(1.5, 1.5), layout="constrained").subplots()
    pl.confusion(judged, ax=small)
    assert not small.texts
    assert len(small.figure.axes) == 2  # with a colour bar, as there is no room for numbers


def test_comparison_of_measures_and_panels(judged):
    table = judged.uns["glfs_comparison"]["table"]
    table["rare_f1"] = np.nan
    table.loc["ours", "imputed"] = np.nan
    ax = pl.comparison(judged, show=False)
    assert names(ax.get_xticklabels())[:2] == ["ours", "theirs"]
    cells, shown = by_place(ax), rows(ax)
    called = measure_names(judged.uns["glfs_comparison"])
    assert called["n_effective"] in shown
    assert called["rare_f1"] not in shown
    assert (0, shown.index(called["imputed"])) not in cells
    accuracies = [cells[panel, shown.index(called["accuracy"])] for panel in range(3)]
    assert names(accuracies) == [f"{value:.2f}" for value in table["accuracy"]]
    weights = [text.get_fontweight() for text in accuracies]
    assert weights[int(np.argmax(table["accuracy"]))] == "bold"
    assert weights.count("bold") < 3
    n_genes, preserved = shown.index(called["n_genes"]), shown.index(called["preserved"])
    assert names(cells[panel, n_genes] for panel in range(3)) == ["5", "4", "1"]
    shares = np.asarray(ax.images[0].get_array().filled(np.nan))
    np.testing.assert_allclose(shares[preserved], table["preserved"].astype(float))
    assert np.isnan(shares[n_genes]).all()
    assert apart(ax)


@pytest.mark.skipif(find_spec("marsilea") is None, reason="marsilea is not installed")
def test_upset_has_a_bar_for_every_combination_of_panels(judged):
    ax = pl.upset(judged, show=False, title="a $ title $")
    members = judged.uns["glfs_comparison"]["membership"]
    counted = members.value_counts().to_numpy()
    texts = [{text.get_text() for text in axes.texts} for axes in ax.figure.axes]
    assert {str(n) for n in counted} in texts
    assert {str(n) for n in members.sum()} in texts
    heights = [[bar.get_height() for bar in axes.patches] for axes in ax.figure.axes]
    assert sorted(counted, reverse=True) in heights
    assert any("ours" in shown and len(shown) == 3 for shown in texts)
    del judged.uns["glfs_comparison"]["membership"]
    with refused(NotFound, "key"):
        pl.upset(judged, show=False)


def test_numbers_without_a_colour_are_read_on_a_dark_page(pbmc):
    tl.compare_panels(pbmc, {"one": ["LYZ", "CD3D"], "other": ["LYZ", "NKG7", "CD79A"]})
    with plt.style.context("dark_background"):
        texts = pl.comparison(pbmc, show=False).texts
    assert {text.get_color() for text in texts if text.get_text() in ("2", "3")} == {"white"}
