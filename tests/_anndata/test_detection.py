"""What another assay detects of each gene."""

from __future__ import annotations

import anndata as ad
import numpy as np
import pytest
from refusals import refused
from scipy import sparse

from glfs_bio import Platform, pp, tl
from glfs_bio._anndata import platform
from glfs_bio.errors import InvalidValue, NotFound


@pytest.fixture
def counts():
    """Poisson counts of 3 types, and half of the molecules of the first ten genes elsewhere."""
    rng = np.random.default_rng(0)
    means = rng.gamma(1.0, 1.0, size=(3, 40))[np.repeat([0, 1, 2], 200)]
    share = np.where(np.arange(40) < 10, 0.3, 1.0)
    names = [f"g{i}" for i in range(40)]
    cells = []
    for of in (means, means * share):
        adata = ad.AnnData(sparse.csr_array(np.log1p(rng.poisson(of)).astype(np.float64)))
        adata.var_names = names
        cells.append(adata)
    return cells


def test_it_is_the_share_of_the_molecules(counts):
    here, there = counts
    found = platform.shares(here, there, None)
    assert found[:10].mean() == pytest.approx(0.35, abs=0.06)  # types differ, which hides some
    assert found[10:].mean() == pytest.approx(1.0, abs=0.06)
    part = there[:, ::-1][:, :35].copy()
    np.testing.assert_allclose(
        platform.shares(here, part, None)[5:], platform.shares(here, there, None)[5:]
    )
    assert (platform.shares(here, part, None)[:5] == 0).all()


def test_genes_that_are_not_seen_are_not_selected(counts, tmp_path):
    here, there = counts
    pp.select_genes(here, 10, n_comps=5)
    before = set(here.var_names[here.var["glfs_selected"]])
    blind = {name: float(name not in before) for name in here.var_names}
    pp.select_genes(here, 10, n_comps=5, platform=Platform(efficiency=blind))
    assert not before & set(here.var_names[here.var["glfs_selected"]])
    kept = here.uns["glfs"]["preserved"][-1]
    assert here.uns["glfs"]["params"]["platform"]["efficiency"] == "glfs_efficiency"
    assert here.var["glfs_efficiency"].to_dict() == blind

    here.write_h5ad(tmp_path / "here.h5ad")
    again = ad.read_h5ad(tmp_path / "here.h5ad")
    ranks = again.var["glfs_rank"].copy()
    pp.select_genes(again, **pp.recorded_parameters(again))
    assert (again.var["glfs_rank"] == ranks).all()
    judged = tl.evaluate_panel(again, n_random=0, inplace=False)
    assert judged["preserved"] == pytest.approx(kept)
    tl.extend_panel(again, "glfs", 2)
    np.testing.assert_allclose(
        again.uns["glfs_extended"]["preserved"][:10], again.uns["glfs"]["preserved"]
    )
    assert (again.var["glfs_extended_efficiency"] == again.var["glfs_efficiency"]).all()

    pp.select_genes(here, 10, n_comps=5, platform=Platform(efficiency=there))
    assert here.var["glfs_efficiency"][:10].max() < 0.6


def test_one_share_for_all_is_more_noise(counts):
    """Fewer genes are trusted, and all that can be kept is on the scale of that assay."""
    here, _ = counts
    pp.select_genes(here, 40, n_comps=5)
    pp.select_genes(here, 40, n_comps=5, platform=Platform(efficiency=0.1), key_added="low")
    assert here.uns["low"]["preserved"][-1] == pytest.approx(1.0)
    assert here.uns["low"]["preserved"][9] < here.uns["glfs"]["preserved"][9]
    pp.select_genes(here, 40, n_comps=5, platform=Platform(efficiency=1.0), key_added="same")
    np.testing.assert_allclose(here.uns["same"]["preserved"], here.uns["glfs"]["preserved"])


@pytest.mark.parametrize(
    ("given", "options", "kind", "argument"),
    [
        ("nope", {}, NotFound, "efficiency"),
        (np.inf, {}, InvalidValue, "efficiency"),
        (-0.1, {}, InvalidValue, "efficiency"),
        ({"g1": 0.5}, {}, InvalidValue, "efficiency"),
        (ad.AnnData(np.ones((3, 2))), {}, InvalidValue, "efficiency"),
        (0.5, {"use_rep": "unit"}, InvalidValue, "platform"),
        (0.5, {"objective": "exact"}, InvalidValue, "platform"),
    ],
)
def test_bad_detection(counts, given, options, kind, argument):
    here, _ = counts
    pp.structure(here, n_comps=5, standardize="unit", key_added="unit")
    with refused(kind, argument):
        pp.select_genes(here, 5, n_comps=5, platform=Platform(efficiency=given), **options)
    assert not len(here.var.columns)
    low = here.copy()
    low.X = low.X - 1.0 * sparse.csr_array(np.ones(low.shape))
    with refused(InvalidValue, "efficiency"):
        pp.select_genes(here, 5, n_comps=5, platform=Platform(efficiency=low))
