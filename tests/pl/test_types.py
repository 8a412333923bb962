from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
import pytest
import scanpy as sc
from pictures import apart, drawn, labels_apart, names
from refusals import refused

from glfs_bio import pl, pp, tl
from glfs_bio.errors import InvalidValue
from glfs_bio.pl._cells import grouped
from glfs_bio.pl._types import by_type

GROUPS = ["a", "b", "c"]
#: Counts of the genes in the groups; what each marks.
GENES = {
    "of_b": ([0, 4, 0], "b"),
    "of_c": ([1, 0, 4], "c"),
    "more_of_c": ([0, 0, 4], "c"),
    "everywhere": ([4, 4, 4], None),
    "mostly_of_b": ([4, 9, 6], None),
    "of_a": ([3, 1, 0], "a"),
    "nowhere": ([0, 0, 0], None),
}


@pytest.fixture
def few():
    codes = np.repeat(range(3), 4)
    means = np.array([mean for mean, _ in GENES.values()], dtype=np.float32)
    obs = pd.DataFrame(
        {"type": pd.Categorical.from_codes(codes, GROUPS)}, index=map(str, range(12))
    )
    return ad.AnnData(means.T[codes], obs=obs, var=pd.DataFrame(index=list(GENES)))


def ordered(cells):
    return by_type(grouped(cells, cells.var_names, "type", None, None, None))[0]


def test_a_gene_stands_under_the_type_that_it_marks(few):
    found = ordered(few)
    under = {gene: None if row.several else row.type for gene, row in found.iterrows()}
    assert under == {gene: kind for gene, (_, kind) in GENES.items()}
    of_types = [gene for gene in found.index if under[gene]]
    assert of_types == ["of_a", "of_b", "more_of_c", "of_c"]


def test_a_gene_that_is_no_marker_stands_where_it_is_on_most(few):
    few.X[:, 3] = [1, 1, 1, 1, 3, 0, 0, 0, 0, 0, 0, 0]
    found = ordered(few).loc["everywhere"]
    assert (found["type"], found["several"]) == ("a", False)


def test_scaled_expression_has_an_order(few):
    few.X = few.X - few.X.mean(axis=0)
    assert set(ordered(few).index) == set(GENES)


def test_one_type_alone(few):
    few.obs["type"] = pd.Categorical(["a"] * 12)
    assert set(ordered(few)["type"]) == {"a"}


def test_genes_stand_under_their_types(panel):
    axes = pl.dotplot(panel, "bulk_labels", key="many", show=False)
    assert [len(row["mainplot_ax"].get_xticklabels()) for row in axes] == [50] * 4
    assert labels_apart(*(row["mainplot_ax"].get_xticklabels() for row in axes))
    told = [names(row["gene_group_ax"].texts) for row in axes]
    every = [name for row in told for name in row]
    assert "several types" in every
    types = list(panel.obs["bulk_labels"].cat.categories)
    places = [types.index(name) for name in every if name in types]
    assert places == sorted(places)
    assert len(types) > len(set(places)) > 3
    drawn()


def test_dots_are_those_of_scanpy(panel):
    (axes,) = pl.dotplot(panel, "bulk_labels", show=False)
    dots = axes["mainplot_ax"].collections[0]
    genes = names(axes["mainplot_ax"].get_xticklabels())
    theirs = sc.pl.dotplot(
        panel, genes, "bulk_labels", standard_scale="var", dot_max=1.0, return_fig=True
    )
    theirs.style(cmap="Reds", largest_dot=150.0).make_figure()
    other = theirs.get_axes()["mainplot_ax"].collections[0]
    np.testing.assert_allclose(dots.get_sizes(), other.get_sizes(), rtol=1e-5)
    np.testing.assert_allclose(dots.get_facecolors(), other.get_facecolors(), atol=0.01)


def test_dots_with_symbols_and_options(panel):
    options = {"symbols": "symbol", "title": "Blood", "cmap": "Blues", "palette": "tab20"}
    (axes,) = pl.dotplot(panel, "bulk_labels", n_genes=5, show=False, **options)
    genes = names(axes["mainplot_ax"].get_xticklabels())
    assert len(genes) == 5
    assert all(name.startswith("symbol") for name in genes)
    assert axes["mainplot_ax"].figure.get_suptitle() == "Blood"
    panel.obs["numbers"] = np.arange(700) % 3
    (axes,) = pl.dotplot(panel, "numbers", show=False)
    assert names(axes["mainplot_ax"].get_yticklabels()) == ["0", "1", "2"]
    with refused(TypeError, "labels"):
        pl.dotplot(panel, "percent_mito")


def test_markers_of_each_label(panel):
    tl.markers(panel, "glfs", "bulk_labels")
    table = panel.uns["glfs_markers"]["table"]
    ax = pl.markers(panel, show=False)
    assert names(ax.get_yticklabels()) == list(table["label"])
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], table["f_beta"])
    precision, recall = (line.get_xdata() for line in ax.lines)
    np.testing.assert_allclose(precision, table["precision"])
    np.testing.assert_allclose(recall, table["recall"])
    assert names(ax.texts) == list(table["markers"].where(table["markers"] != "", "no marker"))
    assert apart(ax)
    called = names(pl.markers(panel, symbols="symbol", show=False).texts)
    assert all(one.startswith("symbol") for one in called)


def test_markers_of_another_selection_are_refused(panel):
    tl.markers(panel, "glfs", "bulk_labels")
    pp.select_genes(panel, 4)
    with refused(InvalidValue, "key"):
        pl.markers(panel)
