from __future__ import annotations

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.colors import same_color
from pictures import SETS, apart, best_first, labels_apart, names, rows
from refusals import refused

from glfs_bio import pl, pp, tl
from glfs_bio.errors import InvalidValue
from glfs_bio.pl._figure import BLUE, GREY


def test_contributions(panel):
    ax = pl.contributions(panel, show=False)
    ranked = best_first(panel)
    assert rows(ax) == list(ranked.index)
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], ranked["glfs_loss"])
    assert all("%" in text for text in names([*ax.texts, *ax.get_xticklabels()]))
    assert len(ax.texts) == 10
    assert apart(ax)
    # the axis is linear: small ones are read off the numbers beside them
    for number, text in {0: "0 %", 3e-6: "< 0.01 %", 1: "100 %"}.items():
        panel.var["glfs_loss"] = np.where(panel.var["glfs_rank"] > 5, number, 0.2)
        ax = pl.contributions(panel, show=False)
        assert ax.get_xscale() == "linear"
        assert ax.texts[-1].get_text() == text
    alone = pl.contributions(panel, key="many", ax=plt.figure().add_subplot())
    assert len(alone.patches) == 200
    assert not alone.texts  # no room for them


def test_weights_where_the_method_gives_them(panel):
    """Those of the relaxation, not what is lost without a gene; of the Laplacian Score negative."""
    pp.select_genes(panel, 10, key_added="other", method="laplacian_score")
    for key, label in (("glfs", "β"), ("paper", "β"), ("other", "weight by laplacian_score")):
        ax = pl.weights(panel, key=key, show=False)
        assert rows(ax) == list(best_first(panel, key).index)
        widths = [bar.get_width() for bar in ax.patches]
        np.testing.assert_allclose(widths, best_first(panel, key)[f"{key}_weight"])
        assert label in ax.get_xlabel().replace("\n", " ")
        low, high = ax.get_xlim()
        assert low <= min(widths) <= max(widths) <= high


def test_weights_of_many_genes(panel):
    axes = pl.weights(panel, key="many", symbols="symbol", show=False)
    assert len(axes) == 4
    assert [name for ax in axes for name in rows(ax)] == list(best_first(panel, "many")["symbol"])
    assert len({ax.get_xlim() for ax in axes}) == 1
    assert labels_apart(*(ax.get_yticklabels() for ax in axes))
    assert len(pl.weights(panel, 7, key="many", show=False).patches) == 7
    _, ax = plt.subplots(figsize=(3, 3))
    assert pl.weights(panel, key="many", ax=ax) is ax
    assert len(ax.patches) == 200
    assert 0 < len(rows(ax)) < 60
    assert labels_apart(ax.get_yticklabels())
    assert rows(ax)[0] == best_first(panel, "many").index[0]


def test_path(panel):
    """What every size keeps, and how near that is to the best possible."""
    ax = pl.path(panel, show=False)
    entry = panel.uns["glfs"]
    preserved, best = (line.get_data() for line in ax.lines[:2])
    np.testing.assert_array_equal(preserved, [np.arange(1, 11), entry["preserved"]])
    np.testing.assert_array_equal(best, [np.arange(1, 11), entry["optimality"]])
    assert ax.lines[2].get_xdata()[0] == 10
    assert list(ax.lines[3].get_data()) == [[10], [entry["preserved"][-1]]]
    assert ax.get_ylim()[0] == 0
    assert all(place == int(place) for place in ax.get_xticks())
    assert labels_apart(ax.get_xticklabels())


def test_path_of_the_papers_objective(panel):
    ax, by_size = pl.path(panel, key="paper", show=False)
    entry = panel.uns["paper"]
    right = next(other for other in ax.figure.axes if other not in (ax, by_size))
    path, (number, _, chosen) = entry["path"], ax.lines
    np.testing.assert_array_equal(number.get_data(), [path["lam"], path["n_genes"]])
    np.testing.assert_array_equal(right.lines[0].get_ydata(), path["objective"])
    assert list(chosen.get_data()) == [[entry["lam"]], [10]]
    assert ax.get_xscale() == "log"
    assert labels_apart(ax.get_xticklabels())
    for axes in (ax, right):
        low, high = axes.get_ylim()
        assert low == 0
        assert all(line.get_ydata()[-1] <= high for line in axes.lines)
    np.testing.assert_array_equal(by_size.lines[0].get_ydata(), entry["preserved"])
    with refused(InvalidValue, "ax"):
        pl.path(panel, key="paper", ax=plt.figure().add_subplot())
    _, axes = plt.subplots(1, 2)
    assert pl.path(panel, key="paper", ax=axes) == list(axes)


def test_path_of_other_selections(panel):
    """It goes on where the number was chosen; other methods, and included genes, have no bound."""
    pp.select_genes(panel, key_added="auto")
    entry = panel.uns["auto"]
    ax = pl.path(panel, key="auto", show=False)
    curve, bound = (line.get_data() for line in ax.lines[:2])
    np.testing.assert_array_equal(curve, [entry["curve"][n] for n in ("n_genes", "preserved")])
    np.testing.assert_array_equal(bound[1], entry["optimality"])
    last = [[entry["n_genes"]], [entry["preserved"][-1]]]
    np.testing.assert_allclose(ax.lines[3].get_data(), last)
    assert ax.get_xlim()[1] > 500
    pp.select_genes(panel, 6, method="lapdofs", key_added="other")
    pp.select_genes(panel, 1, include=["CD3D"], key_added="held")
    for key in ("other", "held"):
        assert len(pl.path(panel, key=key, show=False).get_legend().get_texts()) == 2


def test_stability(panel):
    *bars, matrix = pl.stability(panel, show=False)
    assert len(bars) == 4
    shown = [name for ax in bars for name in rows(ax)]
    assert set(shown[:10]) == set(best_first(panel).index)
    assert set(shown) == set(best_first(panel, "many").index)
    lengths = [bar.get_width() for ax in bars for bar in ax.patches]
    assert lengths == sorted(lengths, reverse=True)
    jaccard = panel.uns["glfs_stability"]["jaccard"]
    np.testing.assert_array_equal(matrix.images[0].get_array(), jaccard)
    assert "0.50" in matrix.get_title()
    _, axes = plt.subplots(1, 2)
    assert pl.stability(panel, 10, symbols="symbol", ax=axes) == list(axes)
    assert rows(axes[0])[0].startswith("symbol")
    # genes that were never selected have no bar
    *bars, _ = pl.stability(panel, panel.n_vars, show=False)
    n_frequent = (panel.var["glfs_stability_frequency"] > 0).sum()
    assert sum(len(ax.patches) for ax in bars) == n_frequent


def test_enrichment(panel):
    table = panel.uns["glfs_enrichment"]["table"]
    table["pvals_adj"] = [1e-6, 1e-3, 0.5]
    ax = pl.enrichment(panel, show=False)
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], [6, 3, -np.log10(0.5)])
    for bar, colour in zip(ax.patches, (BLUE, BLUE, GREY), strict=True):
        assert same_color(bar.get_facecolor(), colour)
    assert names(ax.texts) == [f"{row.n_overlap}/{row.n_set}" for row in table.itertuples()]
    assert max(name.count("\n") for name in rows(ax)) == 1
    assert labels_apart(ax.get_yticklabels())
    assert len(pl.enrichment(panel, 2, show=False).patches) == 2
    tl.enrich(panel, SETS, method="prerank", min_size=2, n_permutations=20)
    ax = pl.enrichment(panel, show=False)
    table = panel.uns["glfs_enrichment"]["table"]
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], table["nes"])
    assert "enrichment score" in ax.get_xlabel()


def test_genes_of_the_panel_are_told_from_the_others(pbmc):
    def bars_of(adata):
        bars, _ = pl.stability(adata, 15, show=False)
        return bars, dict(zip(rows(bars), bars.patches, strict=False))

    adata = pbmc[::2, :200].copy()
    pp.select_genes(adata, 10)
    tl.stability(adata, n_resamples=3)
    bars, by_name = bars_of(adata)
    selected = adata.var["glfs_selected"]
    for name, bar in by_name.items():
        assert same_color(bar.get_facecolor(), BLUE if selected[name] else GREY)
    assert len(bars.get_legend().get_texts()) == 2
    pp.select_genes(adata, 5)  # those of another selection are not marked
    bars, by_name = bars_of(adata)
    assert all(same_color(bar.get_facecolor(), BLUE) for bar in by_name.values())
    assert "n_genes=10 and not 5" in bars.get_title().replace("\n", " ")
    del adata.uns["glfs"]
    bars, _ = bars_of(adata)
    assert bars.get_title() == ""
    assert bars.get_legend() is None
