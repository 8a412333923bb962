"""The simulation of the GLFS paper."""

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
    """Four informative features among many of pure Gaussian noise.

    The simulation of the paper [1]_, which gives the number of samples (400), of informative
    features (4), and the noise, and leaves open what the four look like.  All shapes span 0 to 1 in
    every informative feature and carry no noise themselves:

    ``"clusters"``
        Four clusters of one size, each with a feature that is 1 in it and 0 elsewhere.  The
        standard deviation of such a feature is 0.433.
    ``"moons"``
        Two independent pairs of interleaved half circles, two coordinates each; four clusters, by
        the half circle in either pair.
    ``"uniform"``
        Four independent uniform features; no clusters.

    Parameters
    ----------
    n_samples
        Samples, at least 4.
    n_noise
        Features that are Gaussian noise with mean 0.
    sigma
        Standard deviation of the noise.
    shape
        What the informative features look like.
    random_state
        Seed; None: another data set every time.

    Returns
    -------
    :class:`~anndata.AnnData` of `n_samples` × (4 + `n_noise`), features in random order, so that no
    method gains by the order in which it breaks ties:

    ``.var["informative"]``
        Whether a feature carries structure.
    ``.obs["label"]``
        Cluster, where there are clusters.
    ``.uns["simulate"]``
        The parameters.

    Raises
    ------
    TypeError, ValueError
        A parameter out of range.

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
