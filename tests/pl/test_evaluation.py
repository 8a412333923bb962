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
from glfs_bio.measures.catalogue import measured
from glfs_bio.pl._evaluation import labels_by, readings_of
from glfs_bio.pl._figure import BLUE, GREY, VERMILLION

PLOTS = [
    *(pl.labels, pl.confusion, pl.unexplained, pl.imputation, pl.preserved),
    *(pl.curve, pl.comparison),
]


def test_labels_from_the_best_to_the_worst(judged):
    entry = judged.uns["glfs_evaluation"]
    every = entry["per_label"]
    every["too_few"] = every["label"] == every["label"][0]
    table = labels_by(entry, "knn")
    ax = pl.labels(judged, show=False)
    ranked = table.sort_values("recall", ascending=False, kind="stable")
    assert rows(ax) == list(ranked.index)
    bars = sorted(ax.patches, key=lambda bar: bar.get_y())
    np.testing.assert_allclose([bar.get_width() for bar in bars], ranked["recall"])
    points, diamonds = ax.lines
    np.testing.assert_allclose(points.get_xdata(), ranked["f1"])
    np.testing.assert_allclose(
        diamonds.get_xdata(), labels_by(entry, "laprls")["recall"][ranked.index]
    )
    np.testing.assert_array_equal(points.get_ydata(), diamonds.get_ydata())
    assert names(ax.texts) == [f"{n} cells" for n in ranked["n_cells"]]
    caption = "".join(ax.get_xlabel().split())
    readings = readings_of(entry).values()
    assert all("".join(reading.split()) in caption for reading in readings)
    for bar, (_, row) in zip(bars, ranked.iterrows(), strict=True):
        colour = GREY if row["too_few"] else VERMILLION if row["rare"] else BLUE
        assert same_color(bar.get_facecolor(), colour)
    assert ranked["rare"].any()
    assert {"recall, rare", "recall, too few cells"} <= set(names(ax.get_legend().get_texts()))
    assert apart(ax)


def test_one_reading_alone(judged):
    tl.evaluate_panel(judged, PANEL, "bulk_labels", measures="laprls")
    table = labels_by(judged.uns["glfs_evaluation"], "laprls")
    ax = pl.labels(judged, show=False)
    (points,) = ax.lines
    assert sorted(points.get_xdata()) == sorted(table["f1"])
    assert "NN" not in ax.get_xlabel()
    shares = np.asarray(pl.confusion(judged, show=False).images[0].get_array())
    np.testing.assert_allclose(shares.diagonal(), table["recall"])
    with refused(InvalidValue, "reading"):
        pl.confusion(judged, reading="knn")


def test_thirty_labels_have_room(judged):
    labels = [f"{'a label with a long name' if i % 4 else '$x$'} of 30 $ {i}" for i in range(30)]
    values = {"n_cells": 1000, "recall": 1.0, "f1": 1.0, "rare": False, "too_few": False}
    of_knn = pd.DataFrame({"kind": "label", "reading": "knn", "label": labels, **values})
    table = pd.concat([of_knn, of_knn.assign(reading="laprls", recall=0.9)])
    counts = pd.DataFrame(np.diag(range(1, 31)), index=labels, columns=labels)
    counts = counts.rename_axis("label").reset_index()
    confusion = counts.melt("label", var_name="predicted", value_name="n_cells")
    confusion["reading"] = "knn"
    judged.uns["glfs_evaluation"] |= {"confusion": confusion, "per_label": table}
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
    assert ax.lines[0].get_xdata()[0] == np.median(r2)
    assert f"{len(r2)} unmeasured" in ax.get_xlabel()
    assert apart(ax)
    judged.var["glfs_evaluation_r2"] = np.nan
    with refused(InvalidValue, "key"):
        pl.imputation(judged)


def test_preserved_beside_random_and_best(judged):
    ax = pl.preserved(judged, show=False)
    entry = judged.uns["glfs_evaluation"]
    table = measured(entry)
    values, row = table["value"], table.loc["preserved"]
    panel, failing, best, random, most = (line.get_xdata() for line in ax.lines)
    assert panel == values["preserved"]
    assert failing == values["preserved_on_platform"]
    assert best == values["best_preserved"]
    np.testing.assert_array_equal(random, row[["random", "random_best"]].astype(float))
    assert most[0] == row["bound"]
    assert ax.get_xlim() == (0, 1)
    assert len(rows(ax)) == 4
    assert ax.texts[0].get_text() == f"{values['preserved']:.2f}"
    assert apart(ax)
    plain = judged.uns["plain"]["measures"]
    batches = pd.DataFrame(
        {"measure": "preserved_in_batch", "n_genes": 5, "value": [0.1, np.nan, 0.3]}
    )
    judged.uns["plain"]["measures"] = pd.concat([plain, batches], ignore_index=True)
    several = pl.preserved(judged, key="plain", show=False)
    np.testing.assert_array_equal(np.sort(several.lines[1].get_xdata()), [0.1, 0.3])
    few = judged[:, PANEL].copy()  # of all genes there are no shares to draw
    few.uns.clear()
    with pytest.warns(Caution):
        tl.evaluate_panel(few, PANEL)
    with refused(InvalidValue, "key"):
        pl.preserved(few, show=False)


def test_curve_with_band_and_accuracy(judged):
    ax = pl.curve(judged, key="sizes", show=False)
    table = judged.uns["sizes_evaluation"]["measures"]
    preserved, accuracy = (table[table["measure"] == name] for name in ("preserved", "accuracy"))
    np.testing.assert_array_equal(ax.lines[0].get_data(), preserved[["n_genes", "value"]].T)
    band = ax.collections[0].get_paths()[0].vertices
    assert band[:, 1].max() == pytest.approx(preserved["bound"].max())
    right = next(axes for axes in ax.figure.axes if axes is not ax)
    np.testing.assert_array_equal(right.lines[0].get_xdata(), [5, 10, 20])
    np.testing.assert_array_equal(right.lines[0].get_ydata(), accuracy["value"])
    assert apart(ax)
    table = table[table["measure"] == "preserved"].assign(bound=np.nan)
    judged.uns["sizes_evaluation"]["measures"] = table
    plain = pl.curve(judged, key="sizes", show=False)
    assert plain.figure.axes == [plain]
    assert len(plain.get_legend().get_texts()) == 1
    with refused(NotFound, "key"):
        pl.curve(judged, key="plain", show=False)


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
