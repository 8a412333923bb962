"""Simulation of the original GLFS."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd
from anndata import AnnData
from sklearn.datasets import make_moons

from .. import checks

#: Features that carry the structure.
N_INFORMATIVE = 4
SHAPES = ("clusters", "moons", "uniform")


def simulate(
    n_samples: int = 400,
    n_noise: int = 1000,
    *,
    sigma: float = 0.2,
    shape: Literal["clusters", "moons", "uniform"] = "clusters",
    random_state: int | None = 0,
) -> AnnData:
    """Simulate four informative features among many features of Gaussian noise.

    The simulation of [1]_ has as many samples and informative features and the same noise; it does
    not state the shape of the informative features.  All shapes span 0 to 1 in each informative
    feature, without noise.

    Parameters
    ----------
    n_samples : int, default 400
        Number of samples, at least 4.
    n_noise : int, default 1000
        Number of noise features, with mean 0.
    sigma : float, default 0.2
        Standard deviation of the noise.
    shape : {"clusters", "moons", "uniform"}, default "clusters"
        Shape of the informative features:

        - ``"clusters"``: four clusters of equal size, each with a feature that is 1 in it and 0
          elsewhere
        - ``"moons"``: two independent pairs of interleaved half circles, which make four clusters
        - ``"uniform"``: four independent uniform features, without clusters
    random_state : int, default 0
        Seed.  None: a new dataset at each call.

    Returns
    -------
    AnnData of `n_samples` × (4 + `n_noise`), with the features in random order:

    ``.var["informative"]`` : bool
        Informative features.
    ``.obs["label"]`` : category
        Cluster, unless `shape` is ``"uniform"``.
    ``.uns["simulate"]`` : dict
        Arguments of the call.

    References
    ----------
    .. [1] B. Wang and A. Goldenberg, Gradient-based Laplacian Feature Selection, section 3.1.

    Examples
    --------
    >>> import glfs_bio
    >>> adata = glfs_bio.datasets.simulate(n_noise=50)
    >>> adata.shape
    (400, 54)
    >>> glfs_bio.pp.select_genes(adata, 4, n_comps=None)
    >>> bool(adata.var.loc[adata.var["glfs_selected"], "informative"].all())
    True
    """
    checks.whole_number("n_samples", n_samples, at_least=N_INFORMATIVE)
    checks.whole_number("n_noise", n_noise, at_least=0)
    checks.number("sigma", sigma)
    checks.one_of("shape", shape, SHAPES)
    checks.seed(random_state)
    rng = np.random.default_rng(random_state)
    signal, labels = _signal(shape, n_samples, rng)
    noise = rng.normal(scale=sigma, size=(n_samples, n_noise))
    order = rng.permutation(N_INFORMATIVE + n_noise)
    names = [f"signal_{i + 1}" for i in range(N_INFORMATIVE)]
    names += [f"noise_{i + 1}" for i in range(n_noise)]
    adata = AnnData(
        np.hstack([signal, noise])[:, order],
        obs=pd.DataFrame(index=[f"sample_{i + 1}" for i in range(n_samples)]),
        var=pd.DataFrame({"informative": order < N_INFORMATIVE}, index=np.array(names)[order]),
    )
    if labels is not None:
        adata.obs["label"] = pd.Categorical([f"cluster_{label + 1}" for label in labels])
    adata.uns["simulate"] = {"sigma": float(sigma), "shape": shape}
    if random_state is not None:
        adata.uns["simulate"]["random_state"] = int(random_state)
    return adata


def _signal(
    shape: str, n_samples: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray | None]:
    """The informative features, and the cluster of every sample where there are clusters."""
    if shape == "uniform":
        return rng.uniform(size=(n_samples, N_INFORMATIVE)), None
    if shape == "clusters":
        labels = rng.permutation(np.arange(n_samples) % N_INFORMATIVE)
        return np.eye(N_INFORMATIVE)[labels], labels
    pairs, halves = zip(*(_moons(n_samples, rng) for _ in range(2)), strict=True)
    return np.hstack(pairs), 2 * halves[0] + halves[1]


def _moons(n_samples: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Interleaved half circles in the unit square, and which of the two a sample is on."""
    points, half = make_moons(n_samples, random_state=int(rng.integers(2**31)))
    points -= points.min(axis=0)
    return points / points.max(axis=0), half
