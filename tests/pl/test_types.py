from __future__ import annotations

import anndata as ad
import numpy as np
import pandas as pd
import pytest
import scanpy as sc
from pictures import drawn, labels_apart, names

from glfs_bio import pl
from glfs_bio.pl._cells import grouped
from glfs_bio.pl._types import by_type

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
        {"type": pd.Categorical.from_codes(codes, ["a", "b", "c"])}, index=map(str, range(12))
    )
    return ad.AnnData(means.T[codes], obs=obs, var=pd.DataFrame(index=list(GENES)))


def ordered(cells):
    return by_type(grouped(cells, cells.var_names, "type", None, None, None))[0]


def test_a_gene_stands_under_the_type_that_it_marks(few):
    table = ordered(few)
    under = {gene: None if row.several else row.type for gene, row in table.iterrows()}
    assert under == {gene: kind for gene, (_, kind) in GENES.items()}
    of_types = [gene for gene in table.index if under[gene]]
    assert of_types == ["of_a", "of_b", "more_of_c", "of_c"]
    # one that is no marker stands where it is on most
    few.X[:, 3] = [1, 1, 1, 1, 3, 0, 0, 0, 0, 0, 0, 0]
    row = ordered(few).loc["everywhere"]
    assert (row["type"], row["several"]) == ("a", False)
    # scaled expression, and one type alone, have an order
    few.X = few.X - few.X.mean(axis=0)
    assert set(ordered(few).index) == set(GENES)
    few.obs["type"] = pd.Categorical(["a"] * 12)
    assert set(ordered(few)["type"]) == {"a"}


def test_genes_stand_under_their_types(panel):
    axes = pl.dotplot(panel, "bulk_labels", key="many", show=False)
    assert [len(row["mainplot_ax"].get_xticklabels()) for row in axes] == [50] * 4
    assert labels_apart(*(row["mainplot_ax"].get_xticklabels() for row in axes))
    every = [name for row in axes for name in names(row["gene_group_ax"].texts)]
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


def test_dots_with_symbols(panel):
    panel.obs["numbers"] = np.arange(700) % 3
    (axes,) = pl.dotplot(panel, "numbers", n_genes=5, symbols="symbol", show=False)
    genes = names(axes["mainplot_ax"].get_xticklabels())
    assert len(genes) == 5
    assert all(name.startswith("symbol") for name in genes)
    assert names(axes["mainplot_ax"].get_yticklabels()) == ["0", "1", "2"]
