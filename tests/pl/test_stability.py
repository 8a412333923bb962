from __future__ import annotations

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import same_color

from glfs_bio import pl, pp, tl
from glfs_bio.pl._figure import BLUE, GREY


@pytest.fixture(scope="module", autouse=True)
def _agg():
    before = mpl.get_backend()
    plt.switch_backend("agg")
    yield
    plt.switch_backend(before)


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


@pytest.fixture
def examined(pbmc):
    adata = pbmc[::2, :200].copy()
    pp.select_genes(adata, 10)
    tl.stability(adata, n_resamples=3)
    return adata


def drawn(adata):
    bars, _ = pl.stability(adata, 15, show=False)
    names = [label.get_text() for label in bars.get_yticklabels()]
    return bars, dict(zip(names, bars.patches, strict=False))


def test_genes_of_the_panel_are_told_from_the_others(examined):
    bars, by_name = drawn(examined)
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
    bars, by_name = drawn(examined)
    assert all(same_color(bar.get_facecolor(), BLUE) for bar in by_name.values())
    assert bars.get_legend() is None
    said = bars.get_title().replace("\n", " ")
    assert said == "not of the selection under 'glfs': n_genes=10 and not 5"


def test_without_the_selection(examined):
    del examined.uns["glfs"]
    bars, _ = drawn(examined)
    assert bars.get_title() == ""
    assert bars.get_legend() is None
