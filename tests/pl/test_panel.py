from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scanpy as sc
from matplotlib import pyplot as plt
from matplotlib.colors import same_color
from pictures import best_first, names, rows

from glfs_bio import pl, pp
from glfs_bio._anndata.expression import Expression
from glfs_bio.data.matrix import RowMatrix
from glfs_bio.labels import Labels
from glfs_bio.pl import _panel
from glfs_bio.pl._figure import BLUE, VERMILLION

#: Counts of the genes in the groups; what each marks.
GENES = {
    "of_b": ([0, 4, 0], "b"),
    "of_c": ([1, 0, 4], "c"),
    "more_of_c": ([0, 0, 4], "c"),
    "everywhere": ([4, 4, 4], "several types"),
    "mostly_of_b": ([4, 9, 6], "several types"),
    "of_a": ([3, 1, 0], "a"),
    "nowhere": ([0, 0, 0], "several types"),
}


def test_panel_beside_all_genes(drawn, unchanged):
    with unchanged(drawn):
        left, right = pl.panel(drawn, "label", basis="mine", show=False)
    assert [ax.get_title() for ax in (left, right)] == ["all 765 genes", "panel of 10 genes"]
    np.testing.assert_allclose(left.collections[0].get_offsets(), drawn.obsm["X_umap"], rtol=1e-5)
    np.testing.assert_allclose(right.collections[0].get_offsets(), drawn.obsm["X_mine"], rtol=1e-5)
    groups = drawn.obs["label"].cat.categories
    assert names(right.get_legend().get_texts()) == list(groups)
    shades = [handle.get_color() for handle in right.get_legend().legend_handles]
    cells = right.collections[0].get_facecolors()
    codes = drawn.obs["label"].cat.codes
    assert all(same_color(cells[i], shades[codes.iloc[i]]) for i in range(50))
    assert left.get_legend() is None


def test_umap_of_the_panel_where_none_is_named(drawn, quick_umaps):
    del drawn.obsm["X_umap"]
    with quick_umaps():
        (ax,) = pl.panel(drawn, show=False)
    values = drawn[:, best_first(drawn).index].X.toarray()
    centred = values[:, :2] - values[:, :2].mean(axis=0)
    np.testing.assert_allclose(ax.collections[0].get_offsets(), centred, atol=1e-5)


def test_several_columns_and_genes(drawn):
    drawn.var.loc["CD3D", "symbol"] = "$a$ CD3"
    drawn.obs["many"] = pd.Categorical([f"a group with a long name {i % 80}" for i in range(700)])
    shown = ["many", "percent_mito", "CD3D"]
    axes = pl.panel(drawn, shown, symbols="symbol", basis="mine", show=False)
    assert len(axes) == 6
    assert axes[4].get_title() == "$a$ CD3, all 765 genes"
    values = axes[4].collections[0].get_array()
    np.testing.assert_allclose(values, np.sort(drawn[:, "CD3D"].X.toarray().ravel()))
    axes[0].figure.draw_without_rendering()
    for ax in axes:
        assert ax.get_position().width * ax.figure.get_figwidth() > 2.5  # beside the legend
    assert len(axes[1].get_legend().get_texts()) == 80


def test_a_sample_of_many_cells(drawn, monkeypatch):
    monkeypatch.setattr(_panel, "_MOST_CELLS", 100)
    drawn.obsm["X_mine"][0] = np.nan
    for ax in pl.panel(drawn, "LYZ", basis="mine", show=False):
        assert len(ax.collections[0].get_offsets()) == 100
        assert "100 of 700 cells" in ax.get_title()


def test_contributions_with_must_haves(drawn):
    ax, ranked = pl.genes(drawn, symbols="symbol", show=False), best_first(drawn)
    assert rows(ax) == list(ranked["symbol"])
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], ranked["glfs_loss"])
    marked = zip(ax.patches, ax.get_yticklabels(), ranked["glfs_included"], strict=True)
    for bar, name, is_included in marked:
        assert same_color(bar.get_facecolor(), VERMILLION if is_included else BLUE)
        assert same_color(name.get_color(), VERMILLION) == is_included
    assert len(ax.get_legend().get_texts()) == 2
    explained = drawn.uns["glfs_explanation"]["table"].set_index("gene").loc[ranked.index]
    first = explained["supports"].str.partition(" (")[0]
    assert all(text.get_text().endswith(label) for text, label in zip(ax.texts, first, strict=True))


def test_weights_of_many_genes(drawn):
    axes = pl.genes(drawn, column="weight", key="many", show=False)
    ranked = best_first(drawn, "many")
    assert [name for ax in axes for name in rows(ax)] == list(ranked.index)
    widths = [bar.get_width() for ax in axes for bar in ax.patches]
    np.testing.assert_allclose(widths, ranked["many_weight"])
    assert len({ax.get_xlim() for ax in axes}) == 1
    assert len(pl.genes(drawn, 7, key="many", show=False).patches) == 7
    assert len(pl.genes(drawn, key="many", ax=plt.figure().subplots()).patches) == 120
    pp.select_genes(drawn, 5, method="laplacian_score", key_added="other")
    assert (
        "laplacian_score" in pl.genes(drawn, column="weight", key="other", show=False).get_xlabel()
    )


@pytest.mark.parametrize("scaled", [False, True])
def test_a_gene_stands_under_the_type_that_it_marks(scaled):
    codes = np.repeat(range(3), 4)
    values = np.array([means for means, _ in GENES.values()], dtype=np.float32).T[codes]
    values = values - scaled * values.mean(axis=0)
    types = Labels(codes, np.array(["a", "b", "c"]))
    table, _ = _panel.by_type(Expression.of(RowMatrix(values), types), pd.Index(list(GENES)))
    assert set(table.index) == set(GENES)
    if not scaled:
        assert dict(table["type"]) == {gene: kind for gene, (_, kind) in GENES.items()}
        assert list(table.index)[:4] == ["of_a", "of_b", "more_of_c", "of_c"]


def test_dots_are_those_of_scanpy(drawn):
    (ax,) = pl.dotplot(drawn, "label", show=False)
    genes = [name.removesuffix(" *") for name in names(ax.get_xticklabels())]
    assert [name for name in names(ax.get_xticklabels()) if name.endswith(" *")] == ["LYZ *"]
    theirs = sc.pl.dotplot(
        drawn, genes, "label", standard_scale="var", dot_max=1.0, return_fig=True
    )
    dots = ax.collections[0]
    shares = np.asarray(dots.get_sizes()).reshape(10, 10) / _panel._DOT
    np.testing.assert_allclose(shares, theirs.dot_size_df[genes], rtol=1e-5)
    means = np.asarray(dots.get_array()).reshape(10, 10)
    np.testing.assert_allclose(means, theirs.dot_color_df[genes], atol=1e-5)
    assert rows(ax) == list(drawn.obs["label"].cat.categories)


def test_dots_of_many_genes_in_rows(drawn):
    drawn.obs["numbers"] = np.arange(700) % 3
    axes = pl.dotplot(drawn, "numbers", key="many", symbols="symbol", show=False)
    genes = [name for ax in axes for name in names(ax.get_xticklabels())]
    assert sorted(genes) == sorted(best_first(drawn, "many")["symbol"])
    assert len(axes) == 3
    assert rows(axes[0]) == ["0", "1", "2"]
