"""Where nothing stands above the noise it is said, and nothing is certified."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

import glfs_bio
from glfs_bio.errors import Caution, InvalidValue
from glfs_bio.pp import select_genes


@pytest.mark.parametrize(
    ("shape", "n_noise"), [("clusters", 3000), ("uniform", 1000), ("moons", 5000)]
)
def test_four_features_among_noise(shape, n_noise):
    """No axis of the cells shows them, but each by itself varies more than the noise does."""
    adata = glfs_bio.datasets.simulate(n_noise=n_noise, shape=shape)
    with pytest.warns(Caution):
        select_genes(adata, 4)
    var, entry = adata.var, adata.uns["glfs"]
    assert var["informative"][var["glfs_selected"]].all()
    assert set(var["glfs_weight"]) == {0.0, 1.0}
    assert entry["n_axes"] == 0
    assert np.isnan(entry["optimality"]).all()
    with refused(InvalidValue, "n_genes"):
        select_genes(adata)
    with pytest.warns(Caution):
        glfs_bio.tl.evaluate_panel(adata, adata.var_names[:3], measures="optimality")
    assert adata.uns["glfs_evaluation"]["measures"]["value"].isna().all()


def test_clusters_and_blood_cells_have_axes(pbmc):
    adata = glfs_bio.datasets.simulate(n_noise=1000)
    select_genes(adata, 4)
    assert adata.var["informative"][adata.var["glfs_selected"]].all()
    assert adata.uns["glfs"]["n_axes"] == 3
    select_genes(pbmc, 5)
    assert 3 < pbmc.uns["glfs"]["n_axes"] < 30
    pbmc.obs["half"] = np.where(np.arange(pbmc.n_obs) % 2, "a", "b")
    select_genes(pbmc, 5, batch_key="half")
    assert pbmc.uns["glfs"]["n_axes"].shape == (2,)


def test_38_samples(real):
    """The leukaemia's structure is evident; none is left when its genes are permuted."""
    golub = real("golub72")
    golub = golub[(golub.obs["split"] == "train").to_numpy()].copy()
    golub.X = np.log10(np.clip(golub.X.astype(float), 100, 16000))
    select_genes(golub, 20)
    assert 3 < golub.uns["glfs"]["n_axes"] < 10
    golub.X = np.random.default_rng(0).permuted(golub.X, axis=0)
    with pytest.warns(Caution):
        select_genes(golub, 20, include=list(golub.var_names[:2]))
    assert np.isnan(golub.uns["glfs"]["optimality"]).all()
    assert golub.var["glfs_included"][golub.var["glfs_rank"] <= 2].all()
