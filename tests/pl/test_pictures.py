from __future__ import annotations

from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import scanpy as sc
from matplotlib import pyplot as plt
from matplotlib.colors import same_color
from refusals import refused
from scipy import sparse

from glfs_bio import pl
from glfs_bio.errors import InvalidValue
from glfs_bio.pl._figure import BLUE, GREY, MUTED
from glfs_bio.pp import select_genes
from glfs_bio.tl import enrich

SETS = {
    "MHC class II": ["HLA-DRA", "HLA-DRB1", "HLA-DPA1", "HLA-DPB1"],
    "cytotoxic": ["NKG7", "GNLY", "GZMB", "PRF1", "GZMA"],
    "a set whose name is so long that it has to be broken twice, and then to be cut off, as in "
    "Reactome": ["CD3D", "CD3E", "IL32"],
}


@pytest.fixture(scope="module", autouse=True)
def _agg():
    before = mpl.get_backend()
    plt.switch_backend("agg")
    yield
    plt.switch_backend(before)


@pytest.fixture(autouse=True)
def _closed():
    """Every figure is closed again, and no setting of matplotlib has changed."""
    before = dict(mpl.rcParams)
    yield
    plt.close("all")
    assert dict(mpl.rcParams) == before


@pytest.fixture
def settings():
    """scanpy's settings, put back afterwards; their class has no deleter that monkeypatch needs."""
    before = sc.settings.figdir, sc.settings.autoshow
    yield sc.settings
    sc.settings.figdir, sc.settings.autoshow = before


@pytest.fixture(scope="module")
def _panel(_pbmc):
    adata = _pbmc.copy()
    select_genes(adata, 10)
    select_genes(adata, 200, key_added="many")
    select_genes(adata, 10, objective="exact", key_added="paper")
    enrich(adata, SETS)
    rng = np.random.default_rng(0)
    frequency = np.where(adata.var["many_selected"], 0.8, 0.0)
    adata.var["glfs_stability_frequency"] = frequency + 0.2 * adata.var["glfs_selected"]
    jaccard = rng.uniform(0.3, 0.7, (20, 20))
    jaccard = (jaccard + jaccard.T) / 2
    np.fill_diagonal(jaccard, 1.0)
    adata.uns["glfs_stability"] = {
        "jaccard": jaccard,
        "mean_jaccard": 0.5,
        "n_genes": np.full(20, 200),
    }
    adata.var["symbol"] = [f"symbol{i}" for i in range(adata.n_vars)]
    return adata


@pytest.fixture
def panel(_panel):
    return _panel.copy()


def best_first(adata, key="glfs"):
    chosen = adata.var[adata.var[f"{key}_selected"]]
    return chosen.sort_values(f"{key}_rank")


def names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def apart(*columns):
    """Whether no label lies over the next one in its column."""
    columns[0][0].figure.draw_without_rendering()
    return not any(
        above.get_window_extent().overlaps(below.get_window_extent())
        for labels in columns
        for above, below in pairwise(label for label in labels if label.get_text())
    )


def test_weights(panel):
    ax = pl.weights(panel, show=False)
    ranked = best_first(panel)
    assert names(ax) == list(ranked.index)
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], ranked["glfs_loss"])
    assert ax.get_xlabel() == "contribution (loss)"
    assert ax.get_ylim()[0] > ax.get_ylim()[1]
    assert apart(ax.get_yticklabels())


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
    assert [name for ax in axes for name in names(ax)] == list(best_first(panel, "many")["symbol"])
    assert len({ax.get_xlim() for ax in axes}) == 1
    assert apart(*(ax.get_yticklabels() for ax in axes))
    assert len(pl.weights(panel, 7, key="many", show=False).patches) == 7


def test_weights_in_small_axes(panel):
    figure, ax = plt.subplots(figsize=(3, 3))
    assert pl.weights(panel, key="many", ax=ax) is ax
    assert len(ax.patches) == 200
    assert 0 < len(names(ax)) < 60
    assert apart(ax.get_yticklabels())
    assert names(ax)[0] == best_first(panel, "many").index[0]
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
    assert apart(ax.get_xticklabels())


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
    assert apart(ax.get_xticklabels())
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
    assert apart(shown)


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


def test_small_weights_are_seen_in_several_columns(panel):
    panel.var["many_loss"] *= np.where(panel.var["many_rank"] > 100, 1e-3, 1.0)
    axes = pl.weights(panel, key="many", show=False)
    assert {ax.get_xscale() for ax in axes} == {"log"}
    assert all(bar.get_width() > ax.get_xlim()[0] > 0 for ax in axes for bar in ax.patches)


def test_genes_that_were_never_selected_have_no_bar(panel):
    n_frequent = (panel.var["glfs_stability_frequency"] > 0).sum()
    *bars, _ = pl.stability(panel, panel.n_vars, show=False)
    assert sum(len(ax.patches) for ax in bars) == n_frequent


def test_stability(panel):
    *bars, matrix = pl.stability(panel, show=False)
    assert len(bars) == 4
    shown = [name for ax in bars for name in names(ax)]
    assert set(shown[:10]) == set(best_first(panel).index)
    assert set(shown) == set(best_first(panel, "many").index)
    lengths = [bar.get_width() for ax in bars for bar in ax.patches]
    assert lengths == sorted(lengths, reverse=True)
    np.testing.assert_array_equal(
        matrix.images[0].get_array(), panel.uns["glfs_stability"]["jaccard"]
    )
    assert "0.50" in matrix.get_title()
    assert names(pl.stability(panel, 10, symbols="symbol", show=False)[0])[0].startswith("symbol")
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
    labels = [name.replace("\n", " ") for name in names(ax)]
    for term, label in zip(table.index, labels, strict=True):
        assert term.startswith(label.removesuffix(" …").removesuffix(" […]"))
    assert max(name.count("\n") for name in names(ax)) == 1
    assert apart(ax.get_yticklabels())
    assert len(pl.enrichment(panel, 2, show=False).patches) == 2


def test_enrichment_of_a_ranking(panel):
    enrich(panel, SETS, method="prerank", min_size=2, n_permutations=20)
    ax = pl.enrichment(panel, show=False)
    table = panel.uns["glfs_enrichment"]["table"]
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], table["nes"])
    assert "enrichment score" in ax.get_xlabel()


def test_panel_beside_all_genes(panel):
    panel = panel[::5].copy()
    before = set(panel.obsm), set(panel.uns), list(panel.obs)
    left, right = pl.panel(panel, "bulk_labels", show=False)
    assert [left.get_title(), right.get_title()] == ["all 765 genes", "panel of 10 genes"]
    points = left.collections[0].get_offsets()
    assert {tuple(p) for p in np.round(points, 4)} == {
        tuple(p) for p in np.round(panel.obsm["X_umap"], 4)
    }
    assert right.collections[0].get_offsets().shape == (140, 2)
    categories = list(panel.obs["bulk_labels"].cat.categories)
    assert [text.get_text() for text in right.get_legend().get_texts()] == categories
    assert left.get_legend() is None
    assert (set(panel.obsm), set(panel.uns), list(panel.obs)) == before


def test_umap_of_all_genes_where_there_is_none(panel):
    small = panel[::5].copy()
    del small.obsm["X_umap"]
    first = pl.panel(small, show=False)[0].collections[0].get_offsets()
    again = pl.panel(small, show=False)[0].collections[0].get_offsets()
    np.testing.assert_array_equal(first, again)
    del small.uns["neighbors"]
    other = pl.panel(small, key="many", show=False)[0].collections[0].get_offsets()
    assert other.shape == first.shape
    assert not np.allclose(first, other)


def test_heatmap_groups_and_orders(panel):
    panel.uns.pop("bulk_labels_colors", None)
    axes = pl.panel(panel, "bulk_labels", kind="heatmap", show=False)
    image = axes["heatmap_ax"].images[0].get_array()
    assert image.shape[1] == 10
    assert image.min() == 0
    assert image.max() == 1
    genes = [label.get_text() for label in axes["heatmap_ax"].get_xticklabels()]
    assert set(genes) == set(best_first(panel).index)
    means = panel[:, genes].to_df().groupby(panel.obs["bulk_labels"], observed=True).mean()
    highest = means.to_numpy().argmax(axis=0)
    assert (np.diff(highest) >= 0).all()
    assert apart(axes["groupby_ax"].get_yticklabels())
    colours = axes["groupby_ax"].images[0].get_cmap()(np.arange(10))
    assert all(same_color(a, b) for a, b in zip(colours, MUTED, strict=True))


def test_dotplot_in_rows(panel):
    one = pl.panel(panel, "bulk_labels", kind="dotplot", symbols="symbol", show=False)
    assert len(one) == 1
    genes = [label.get_text() for label in one[0]["mainplot_ax"].get_xticklabels()]
    assert set(genes) == set(best_first(panel)["symbol"])
    rows = pl.panel(panel, "bulk_labels", kind="dotplot", key="many", show=False)
    assert [len(row["mainplot_ax"].get_xticklabels()) for row in rows] == [50] * 4
    assert apart(*(row["mainplot_ax"].get_xticklabels() for row in rows))
    assert len(pl.panel(panel, "bulk_labels", kind="dotplot", n_genes=5, show=False)) == 1


def test_the_layer_of_the_selection_is_shown(panel):
    panel.layers["logged"] = panel.X.copy()
    select_genes(panel, 5, layer="logged", key_added="layer")
    panel.X = sparse.csr_matrix(panel.shape, dtype=np.float32)
    axes = pl.panel(panel, "bulk_labels", kind="heatmap", key="layer", show=False)
    assert axes["heatmap_ax"].images[0].get_array().max() == 1


def test_saved_where_it_is_said(panel, tmp_path, settings):
    settings.figdir = tmp_path / "figures"
    pl.weights(panel, save=tmp_path / "mine.png")
    pl.path(panel, save=str(tmp_path / "mine.svg"))
    pl.enrichment(panel, save=True)
    pl.stability(panel, save=".svg")
    pl.panel(panel, "bulk_labels", kind="dotplot", save=tmp_path / "dots.png")
    found = {str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*") if file.is_file()}
    assert found == {
        *("mine.png", "mine.svg", "dots.png"),
        f"figures/glfs_enrichment.{sc.settings.file_format_figs}",
        "figures/glfs_stability.svg",
    }


def test_saved_from_axes_in_a_part_of_a_figure(panel, tmp_path):
    figure = plt.figure()
    left, _ = figure.subfigures(1, 2)
    pl.weights(panel, ax=left.subplots(), save=tmp_path / "whole.png")
    assert (tmp_path / "whole.png").stat().st_size > 0


@pytest.mark.parametrize("draw", [pl.weights, pl.path, pl.stability, pl.enrichment])
def test_shown_or_handed_back(panel, monkeypatch, settings, draw):
    shown = []
    monkeypatch.setattr(plt, "show", lambda: shown.append(1))
    settings.autoshow = True
    assert draw(panel) is None
    assert draw(panel, show=True) is None
    assert len(shown) == 2
    assert draw(panel, show=False) is not None
    settings.autoshow = False
    assert draw(panel) is not None
    assert len(shown) == 2


@pytest.mark.parametrize(
    ("draw", "options", "error", "argument"),
    [
        (pl.weights, {"key": "no"}, KeyError, "key"),
        (pl.weights, {"n_genes": 0}, ValueError, "n_genes"),
        (pl.weights, {"symbols": "no"}, KeyError, "symbols"),
        (pl.path, {"key": "no"}, KeyError, "key"),
        (pl.stability, {"key": "no"}, KeyError, "key"),
        (pl.enrichment, {"key": "no"}, KeyError, "key"),
        (pl.enrichment, {"n_terms": 0}, ValueError, "n_terms"),
        (pl.panel, {"kind": "violin"}, ValueError, "kind"),
        (pl.panel, {"kind": "heatmap"}, ValueError, "kind"),
        (pl.panel, {"labels": "no"}, KeyError, "labels"),
        (pl.panel, {"labels": "S_score", "kind": "dotplot"}, TypeError, "labels"),
        (pl.panel, {"labels": "phase", "kind": "dotplot", "ax": "one"}, ValueError, "ax"),
        (pl.panel, {"ax": "one"}, TypeError, "ax"),
    ],
)
def test_bad_input_draws_nothing(panel, draw, options, error, argument):
    with refused(error, argument):
        draw(panel, **options)
    assert plt.get_fignums() == []


def test_what_pictures_share_is_in_every_docstring():
    for name in pl.__all__:
        told = getattr(pl, name).__doc__
        assert "Whether to show the figure" in told
        assert "<" not in told


def test_many_groups_keep_scanpys_colours(panel):
    panel.obs["many_groups"] = pd.Categorical([f"t{i % 14}" for i in range(700)])
    axes = pl.panel(panel, "many_groups", kind="heatmap", show=False)
    assert len(axes["groupby_ax"].get_yticklabels()) == 14
