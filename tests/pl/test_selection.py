from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import same_color
from pictures import SETS, apart, best_first, labels_apart, rows
from refusals import refused

from glfs_bio import pl, pp, tl
from glfs_bio.errors import InvalidValue
from glfs_bio.pl._figure import BLUE, GREY
from glfs_bio.pp import select_genes
from glfs_bio.tl import enrich


def test_contributions(panel):
    ax = pl.contributions(panel, show=False)
    ranked = best_first(panel)
    assert rows(ax) == list(ranked.index)
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], ranked["glfs_loss"])
    assert "structure" in ax.get_xlabel()
    assert ax.get_ylim()[0] > ax.get_ylim()[1]
    assert labels_apart(ax.get_yticklabels())
    assert all("%" in text.get_text() for text in (*ax.texts, *ax.get_xticklabels()))
    assert len(ax.texts) == 10
    assert apart(ax)


def test_weights_are_weights(panel):
    """Those of the relaxation, not what is lost without a gene."""
    ax = pl.weights(panel, show=False)
    ranked = best_first(panel)
    assert rows(ax) == list(ranked.index)
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], ranked["glfs_weight"])
    assert "β" in ax.get_xlabel()


@pytest.mark.parametrize(
    ("key", "options", "label"),
    [
        ("paper", {"objective": "exact"}, "weight β"),
        ("other", {"method": "variance"}, "weight by variance"),
        ("other", {"method": "laplacian_score"}, "weight by laplacian_score"),
    ],
)
def test_weights_where_the_method_gives_them(panel, key, options, label):
    """Those of the Laplacian Score are negative."""
    select_genes(panel, 10, key_added=key, **options)
    ax = pl.weights(panel, key=key, show=False)
    widths = [bar.get_width() for bar in ax.patches]
    np.testing.assert_allclose(widths, best_first(panel, key)[f"{key}_weight"])
    assert ax.get_xlabel().replace("\n", " ") == label
    low, high = ax.get_xlim()
    assert low <= min(widths) <= max(widths) <= high


def test_weights_of_many_genes(panel):
    axes = pl.weights(panel, key="many", symbols="symbol", show=False)
    assert len(axes) == 4
    assert [name for ax in axes for name in rows(ax)] == list(best_first(panel, "many")["symbol"])
    assert len({ax.get_xlim() for ax in axes}) == 1
    assert labels_apart(*(ax.get_yticklabels() for ax in axes))
    assert len(pl.weights(panel, 7, key="many", show=False).patches) == 7


def test_weights_in_small_axes(panel):
    figure, ax = plt.subplots(figsize=(3, 3))
    assert pl.weights(panel, key="many", ax=ax) is ax
    assert len(ax.patches) == 200
    assert 0 < len(rows(ax)) < 60
    assert labels_apart(ax.get_yticklabels())
    assert rows(ax)[0] == best_first(panel, "many").index[0]
    assert plt.get_fignums() == [figure.number]


def test_path(panel):
    """What every size keeps, and how near that is to the best possible."""
    ax = pl.path(panel, show=False)
    entry = panel.uns["glfs"]
    kept, best = (line.get_data() for line in ax.lines[:2])
    np.testing.assert_array_equal(kept, [np.arange(1, 11), entry["preserved"]])
    np.testing.assert_array_equal(best, [np.arange(1, 11), entry["optimality"]])
    assert ax.lines[2].get_xdata()[0] == 10
    assert list(ax.lines[3].get_data()) == [[10], [entry["preserved"][-1]]]
    told = [text.get_text() for text in ax.get_legend().get_texts()]
    assert told == ["structure preserved", "optimality (lower bound)", "selected: 10 genes"]
    assert ax.figure.axes == [ax]
    assert ax.get_ylim()[0] == 0
    assert all(place == int(place) for place in ax.get_xticks())
    assert labels_apart(ax.get_xticklabels())


def test_path_of_the_papers_objective(panel):
    ax, by_size = pl.path(panel, key="paper", show=False)
    entry = panel.uns["paper"]
    right = next(other for other in ax.figure.axes if other not in (ax, by_size))
    lam, genes = ax.lines[0].get_data()
    np.testing.assert_array_equal(lam, entry["path"]["lam"])
    np.testing.assert_array_equal(genes, entry["path"]["n_genes"])
    np.testing.assert_array_equal(right.lines[0].get_ydata(), entry["path"]["objective"])
    assert ax.lines[1].get_xdata()[0] == entry["lam"]
    assert list(ax.lines[2].get_data()) == [[entry["lam"]], [10]]
    assert ax.get_xscale() == "log"
    assert "10 genes" in ax.get_legend().get_texts()[-1].get_text()
    assert labels_apart(ax.get_xticklabels())
    for axes in (ax, right):
        low, high = axes.get_ylim()
        assert low == 0
        assert all(line.get_ydata()[-1] <= high for line in axes.lines)
    np.testing.assert_array_equal(by_size.lines[0].get_ydata(), entry["preserved"])
    told = [text.get_text() for text in by_size.get_legend().get_texts()]
    assert told == ["structure preserved", "selected: 10 genes"]


@pytest.mark.parametrize("span", [1.2, 4.0, 30.0, 1e4, 1e9])
def test_names_along_lambda_have_room(panel, span):
    lam = np.geomspace(3e-6, 3e-6 * span, 12)
    panel.uns["paper"]["path"] = {
        "lam": lam,
        "n_genes": np.arange(12)[::-1] + 5,
        "objective": np.linspace(0, 1, 12),
    }
    panel.uns["paper"]["lam"] = lam[3]
    ax, _ = pl.path(panel, key="paper", show=False)
    ax.figure.canvas.draw()
    low, high = ax.get_xlim()
    shown = [
        label
        for label, place in zip(ax.get_xticklabels(), ax.get_xticks(), strict=True)
        if low <= place <= high
    ]
    assert len(shown) >= 1
    assert labels_apart(shown)


def test_path_goes_on_where_the_number_was_chosen(panel):
    select_genes(panel, key_added="auto")
    entry = panel.uns["auto"]
    ax = pl.path(panel, key="auto", show=False)
    sizes = entry["curve"]["n_genes"], np.arange(1, entry["n_genes"] + 1)
    kept = entry["curve"]["preserved"], entry["optimality"]
    for line, size, share in zip(ax.lines, sizes, kept, strict=False):
        np.testing.assert_array_equal(line.get_data(), [size, share])
    np.testing.assert_allclose(
        ax.lines[3].get_data(), [[entry["n_genes"]], [entry["preserved"][-1]]]
    )
    assert ax.get_xlim()[1] > 500


def test_path_in_axes_of_the_caller(panel):
    with refused(InvalidValue, "ax"):
        pl.path(panel, key="paper", ax=plt.figure().add_subplot())
    _, axes = plt.subplots(1, 2)
    assert pl.path(panel, key="paper", ax=axes) == list(axes)
    with refused(InvalidValue, "ax"):
        pl.path(panel, ax=axes)


def test_path_of_other_methods_and_of_nothing_but_included_genes(panel):
    select_genes(panel, 6, method="lapdofs", key_added="other")
    select_genes(panel, 1, include=["CD3D"], key_added="held")
    for key in ("other", "held"):
        ax = pl.path(panel, key=key, show=False)
        told = [text.get_text() for text in ax.get_legend().get_texts()]
        assert told == ["structure preserved", f"selected: {panel.uns[key]['n_genes']} genes"]


@pytest.mark.parametrize("number", [0, 1e-9, 3e-6, 1])
def test_contributions_are_on_a_linear_axis(panel, number):
    """Small ones are read off the numbers beside them."""
    panel.var["many_loss"] = np.where(panel.var["many_rank"] > 100, number, 0.2)
    axes = pl.contributions(panel, key="many", show=False)
    assert {ax.get_xscale() for ax in axes} == {"linear"}
    assert len({ax.get_xlim() for ax in axes}) == 1
    told = {0: "0 %", 1e-9: "< 0.01 %", 3e-6: "< 0.01 %", 1: "100 %"}
    assert axes[-1].texts[-1].get_text() == told[number]
    alone = pl.contributions(panel, key="many", ax=plt.figure().add_subplot())
    assert len(alone.patches) == 200
    assert not alone.texts  # no room for them


def test_genes_that_were_never_selected_have_no_bar(panel):
    n_frequent = (panel.var["glfs_stability_frequency"] > 0).sum()
    *bars, _ = pl.stability(panel, panel.n_vars, show=False)
    assert sum(len(ax.patches) for ax in bars) == n_frequent


def test_stability(panel):
    *bars, matrix = pl.stability(panel, show=False)
    assert len(bars) == 4
    shown = [name for ax in bars for name in rows(ax)]
    assert set(shown[:10]) == set(best_first(panel).index)
    assert set(shown) == set(best_first(panel, "many").index)
    lengths = [bar.get_width() for ax in bars for bar in ax.patches]
    assert lengths == sorted(lengths, reverse=True)
    np.testing.assert_array_equal(
        matrix.images[0].get_array(), panel.uns["glfs_stability"]["jaccard"]
    )
    assert "0.50" in matrix.get_title()
    assert rows(pl.stability(panel, 10, symbols="symbol", show=False)[0])[0].startswith("symbol")
    _, axes = plt.subplots(1, 2)
    assert pl.stability(panel, 10, ax=axes) == list(axes)


def test_enrichment(panel):
    table = panel.uns["glfs_enrichment"]["table"]
    table["pvals_adj"] = [1e-6, 1e-3, 0.5]
    ax = pl.enrichment(panel, show=False)
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], [6, 3, -np.log10(0.5)])
    assert [same_color(bar.get_facecolor(), GREY) for bar in ax.patches] == [False, False, True]
    assert same_color(ax.patches[0].get_facecolor(), BLUE)
    counts = [f"{row.n_overlap}/{row.n_set}" for row in table.itertuples()]
    assert [text.get_text() for text in ax.texts] == counts
    labels = [name.replace("\n", " ") for name in rows(ax)]
    for term, label in zip(table.index, labels, strict=True):
        assert term.startswith(label.removesuffix(" …").removesuffix(" […]"))
    assert max(name.count("\n") for name in rows(ax)) == 1
    assert labels_apart(ax.get_yticklabels())
    assert len(pl.enrichment(panel, 2, show=False).patches) == 2


def test_enrichment_of_a_ranking(panel):
    enrich(panel, SETS, method="prerank", min_size=2, n_permutations=20)
    ax = pl.enrichment(panel, show=False)
    table = panel.uns["glfs_enrichment"]["table"]
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], table["nes"])
    assert "enrichment score" in ax.get_xlabel()


@pytest.fixture
def examined(pbmc):
    adata = pbmc[::2, :200].copy()
    pp.select_genes(adata, 10)
    tl.stability(adata, n_resamples=3)
    return adata


def bars_of(adata):
    bars, _ = pl.stability(adata, 15, show=False)
    names = [label.get_text() for label in bars.get_yticklabels()]
    return bars, dict(zip(names, bars.patches, strict=False))


def test_genes_of_the_panel_are_told_from_the_others(examined):
    bars, by_name = bars_of(examined)
    selected = examined.var["glfs_selected"]
    assert len(by_name) > 10
    for name, bar in by_name.items():
        assert same_color(bar.get_facecolor(), BLUE if selected[name] else GREY)
    assert [text.get_text() for text in bars.get_legend().get_texts()] == [
        *("in the panel", "not in it")
    ]
    assert bars.get_title() == ""


def test_those_of_another_selection_are_not_marked(examined):
    pp.select_genes(examined, 5)
    bars, by_name = bars_of(examined)
    assert all(same_color(bar.get_facecolor(), BLUE) for bar in by_name.values())
    assert bars.get_legend() is None
    said = bars.get_title().replace("\n", " ")
    assert said == "not of the selection under 'glfs': n_genes=10 and not 5"


def test_without_the_selection(examined):
    del examined.uns["glfs"]
    bars, _ = bars_of(examined)
    assert bars.get_title() == ""
    assert bars.get_legend() is None


def test_the_last_selection_where_there_is_no_usual_one(pbmc):
    pp.select_genes(pbmc, 4, key_added="first")
    pp.select_genes(pbmc, 6, key_added="mine")
    assert len(pl.contributions(pbmc, show=False).patches) == 6
    pp.select_genes(pbmc, 5)
    pp.select_genes(pbmc, 3, key_added="other")
    for draw in (pl.contributions, pl.weights):
        assert len(draw(pbmc, show=False).patches) == 5
