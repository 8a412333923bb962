from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest
from matplotlib import pyplot as plt
from pictures import apart, names
from refusals import refused

from glfs_bio import pl, tl
from glfs_bio.errors import NotFound
from glfs_bio.pl._tables import measure_names


def test_confusion_rows_are_recall(judged):
    ax = pl.confusion(judged, show=False)
    entry = judged.uns["glfs_evaluation"]
    shares = np.asarray(ax.images[0].get_array())
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_allclose(shares.diagonal(), entry["per_label"]["recall"])
    labels = list(entry["per_label"].index)
    assert names(ax.get_yticklabels()) == names(ax.get_xticklabels()) == labels
    told = {tuple(map(int, text.get_position())): text.get_text() for text in ax.texts}
    told = {place: text for place, text in told.items() if text}
    best = int(shares.diagonal().argmax())
    assert told[best, best] == f"{100 * shares[best, best]:.0f}"
    assert len(told) == (shares >= 0.005).sum()


def test_comparison_of_measures_and_panels(judged):
    ax = pl.comparison(judged, show=False)
    table = judged.uns["glfs_comparison"]["table"]
    called = measure_names(judged.uns["glfs_comparison"])
    assert names(ax.get_xticklabels())[:2] == ["ours", "theirs"]
    rows = names(ax.get_yticklabels())
    assert called["n_effective"] in rows
    cells = {tuple(map(int, text.get_position())): text for text in ax.texts}
    place = rows.index(called["accuracy"])
    values = [f"{value:.2f}" for value in table["accuracy"]]
    assert [cells[panel, place].get_text() for panel in range(3)] == values
    weights = [cells[panel, place].get_fontweight() for panel in range(3)]
    assert weights[int(np.argmax(table["accuracy"]))] == "bold"
    assert weights.count("bold") < 3
    assert [cells[panel, rows.index(called["n_genes"])].get_text() for panel in range(3)] == [
        "5",
        "4",
        "1",
    ]
    shares = np.asarray(ax.images[0].get_array().filled(np.nan))
    np.testing.assert_allclose(
        shares[rows.index(called["preserved"])], table["preserved"].astype(float)
    )
    assert np.isnan(shares[rows.index(called["n_genes"])]).all()
    assert apart(ax)


def test_measures_of_no_panel_are_left_out_and_missing_ones_blank(judged):
    table = judged.uns["glfs_comparison"]["table"]
    called = measure_names(judged.uns["glfs_comparison"])
    table["rare_f1"] = np.nan
    table.loc["ours", "imputed"] = np.nan
    ax = pl.comparison(judged, show=False)
    rows = names(ax.get_yticklabels())
    assert called["rare_f1"] not in rows
    cells = {tuple(map(int, text.get_position())): text.get_text() for text in ax.texts}
    assert cells[0, rows.index(called["imputed"])] == ""


@pytest.mark.skipif(find_spec("marsilea") is None, reason="marsilea is not installed")
def test_upset_has_a_bar_for_every_combination_of_panels(judged):
    ax = pl.upset(judged, show=False, title="a $ title $")
    members = judged.uns["glfs_comparison"]["membership"]
    counted = members.value_counts().to_numpy()
    texts = [{text.get_text() for text in one.texts} for one in ax.figure.axes]
    assert {str(n) for n in counted} in texts
    assert {str(n) for n in members.sum()} in texts
    heights = [[bar.get_height() for bar in one.patches] for one in ax.figure.axes]
    assert sorted(counted, reverse=True) in heights
    assert any("ours" in one and len(one) == 3 for one in texts)
    del judged.uns["glfs_comparison"]["membership"]
    with refused(NotFound, "key"):
        pl.upset(judged, show=False)


def test_a_heat_map_without_room_for_numbers_has_a_colour_bar(evaluated):
    ax = plt.figure(figsize=(1.5, 1.5), layout="constrained").subplots()
    pl.confusion(evaluated, ax=ax)
    assert not ax.texts
    assert len(ax.figure.axes) == 2


def test_numbers_without_a_colour_are_read_on_a_dark_page(pbmc):
    tl.compare_panels(pbmc, {"one": ["LYZ", "CD3D"], "other": ["LYZ", "NKG7", "CD79A"]})
    with plt.style.context("dark_background"):
        texts = pl.comparison(pbmc, show=False).texts
    assert {text.get_color() for text in texts if text.get_text() in ("2", "3")} == {"white"}
