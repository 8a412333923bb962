from __future__ import annotations

import numpy as np
from matplotlib.colors import same_color
from pictures import best_first, names, rows
from refusals import refused

from glfs_bio import pl, pp, tl
from glfs_bio._anndata import results
from glfs_bio.errors import NotFound
from glfs_bio.pl._figure import BLUE, GREY, VERMILLION


def values_of(table, measure, column="value"):
    return table.loc[table["measure"] == measure, column].to_numpy()


def test_curve_of_a_selection_with_its_evaluation(drawn):
    ax, entry = pl.curve(drawn, show=False), drawn.uns["glfs"]
    preserved, bound, random, *of_labels, selected = ax.lines
    np.testing.assert_array_equal(preserved.get_ydata(), entry["preserved"])
    np.testing.assert_array_equal(preserved.get_xdata(), np.arange(1, 11))
    best = np.asarray(entry["preserved"]) / entry["optimality"]
    np.testing.assert_allclose(bound.get_ydata(), np.minimum(best, 1)[np.isfinite(best)])
    table = drawn.uns["glfs_evaluation"]["measures"]
    np.testing.assert_array_equal(random.get_ydata(), values_of(table, "preserved", "random"))
    for line, measure in zip(
        of_labels, ("accuracy", "macro_f1", "accuracy_laprls", "macro_f1_laprls"), strict=True
    ):
        np.testing.assert_array_equal(line.get_xdata(), [5, 10])
        np.testing.assert_array_equal(line.get_ydata(), values_of(table, measure))
    assert selected.get_xdata()[0] == 10
    assert len(ax.get_legend().get_texts()) == len(ax.lines)


def test_curves_of_panels_and_of_a_list(drawn):
    ax = pl.curve(drawn, key="glfs_comparison", show=False)
    assert names(ax.get_legend().get_texts()) == ["_ours", "$their$s"]
    table = drawn.uns["glfs_comparison"]["measures"]
    shown = [line.get_ydata()[0] for line in ax.lines]
    np.testing.assert_array_equal(shown, values_of(table, "preserved"))
    ax = pl.curve(drawn, key="plain", show=False)
    assert [line.get_xdata()[0] for line in ax.lines] == [5, 5, 5]
    pp.select_genes(drawn, key_added="auto")  # the curve goes on where the number was chosen
    ax = pl.curve(drawn, key="auto", show=False)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), drawn.uns["auto"]["curve"]["preserved"])
    pp.select_genes(drawn, 6, method="lapdofs", key_added="other")  # which has no bound
    assert len(pl.curve(drawn, key="other", show=False).lines) == 2


def test_labels_from_the_best_to_the_worst(drawn):
    entry = drawn.uns["glfs_evaluation"]
    table = entry["per_label"]
    table.loc[table["label"] == "CD34+", "too_few"] = True
    results.store(drawn, "glfs_evaluation", entry)
    ax = pl.labels(drawn, key="glfs", show=False)
    of_cells, of_laprls = (table[table["reading"] == name] for name in ("knn", "laprls"))
    ranked = of_cells.sort_values("recall", ascending=False, kind="stable")
    assert rows(ax) == list(ranked["label"])
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], ranked["recall"])
    f1, laprls = (line.get_xdata() for line in ax.lines)
    np.testing.assert_allclose(f1, ranked["f1"])
    others = of_laprls.set_index("label").loc[ranked["label"]]
    np.testing.assert_allclose(laprls, others["recall"])
    assert names(ax.texts) == [f"{n} cells" for n in ranked["n_cells"]]
    for bar, (_, row) in zip(ax.patches, ranked.iterrows(), strict=True):
        shade = GREY if row["too_few"] else VERMILLION if row["rare"] else BLUE
        assert same_color(bar.get_facecolor(), shade)
    assert len(ax.get_legend().get_texts()) == 5
    ax = pl.labels(drawn, key="glfs_comparison", show=False)
    assert any("_ours" in name for name in names(ax.get_legend().get_texts()))


def test_rows_of_a_confusion_are_recall(drawn):
    table = drawn.uns["glfs_evaluation"]["per_label"]
    for reading in ("knn", "laprls"):
        ax = pl.confusion(drawn, reading=reading, show=False)
        shares = np.asarray(ax.images[0].get_array())
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        recall = table[table["reading"] == reading]["recall"]
        np.testing.assert_allclose(shares.diagonal(), recall)
    assert rows(ax) == names(ax.get_xticklabels()) == list(drawn.obs["label"].cat.categories)
    texts = np.array(names(ax.texts)).reshape(shares.shape)
    assert texts[0, 0] == f"{100 * shares[0, 0]:.0f}"
    assert ((texts == "") == (shares < 0.005)).all()


def test_comparison_of_measures_and_panels(drawn):
    table = drawn.uns["glfs_comparison"]["measures"]
    ax = pl.comparison(drawn, show=False)
    assert names(ax.get_xticklabels()) == ["_ours", "$their$s", "all genes"]
    shown = rows(ax)
    cells = np.array(ax.texts).reshape(len(shown), 3)
    for measure in ("accuracy", "n_effective"):
        texts = names(cells[shown.index(measure), :2])
        assert texts == [f"{value:.2f}" for value in values_of(table, measure)]
    accuracies = cells[shown.index("accuracy"), :2]
    weights = [text.get_fontweight() for text in accuracies]
    assert weights.count("bold") == 1
    assert weights.index("bold") == int(np.argmax(values_of(table, "accuracy")))
    shares = np.asarray(ax.images[0].get_array().filled(np.nan))
    assert np.isnan(shares[shown.index("n_effective")]).all()
    assert names(pl.comparison(drawn, key="glfs", show=False).get_xticklabels())[:2] == [
        "glfs, 5",
        "glfs, 10",
    ]


def test_stability(drawn):
    *bars, matrix = pl.stability(drawn, symbols="symbol", show=False)
    shown = [name for ax in bars for name in rows(ax)]
    assert set(shown[:10]) == set(best_first(drawn)["symbol"])
    assert set(shown) == set(best_first(drawn, "many")["symbol"])
    lengths = [bar.get_width() for ax in bars for bar in ax.patches]
    assert lengths == sorted(lengths, reverse=True)
    jaccard = drawn.uns["glfs_stability"]["jaccard"]
    np.testing.assert_array_equal(matrix.images[0].get_array(), jaccard)
    for key, column in (("glfs_stability", "glfs_stability_frequency"), ("no", None)):
        drawn.var = drawn.var.drop(columns=[column], errors="ignore")
        with refused(NotFound, "key"):
            pl.stability(drawn, key=key, show=False)


def test_genes_of_the_panel_are_distinguished_from_others(pbmc):
    adata = pbmc[::2, :200].copy()
    pp.select_genes(adata, 10)
    tl.stability(adata, n_resamples=3)
    bars, _ = pl.stability(adata, 15, show=False)
    for name, bar in zip(rows(bars), bars.patches, strict=True):
        shade = BLUE if adata.var["glfs_selected"][name] else GREY
        assert same_color(bar.get_facecolor(), shade)
    assert len(bars.get_legend().get_texts()) == 2
    pp.select_genes(adata, 5)  # those of another selection are not marked
    bars, _ = pl.stability(adata, 15, show=False)
    assert all(same_color(bar.get_facecolor(), BLUE) for bar in bars.patches)
    assert "n_genes" in bars.get_title()
