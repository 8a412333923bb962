"""Where nothing stands above the noise it is said, and nothing is certified."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

import glfs_bio
from glfs_bio.errors import Caution, InvalidValue
from glfs_bio.pp import select_genes


@pytest.mark.parametrize(("clusters", "n_noise"), [(True, 3000), (False, 1000)])
def test_four_features_among_noise(four_among_noise, clusters, n_noise):
    """No axis of the cells shows them, but each by itself varies more than the noise does."""
    adata = four_among_noise(n_noise=n_noise, clusters=clusters)
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
        glfs_bio.tl.curve(adata, max_genes=4)
    with pytest.warns(Caution):
        glfs_bio.tl.evaluate_panel(adata, adata.var_names[:3], n_random=2)
    assert adata.uns["glfs_curve"]["table"]["optimality"].isna().all()
    assert np.isnan(adata.uns["glfs_evaluation"]["optimality"])


def test_clusters_and_blood_cells_have_axes(pbmc, four_among_noise):
    adata = four_among_noise()
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
