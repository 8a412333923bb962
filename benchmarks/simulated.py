"""Counts simulated with known truth, as Splatter does it: types, a trajectory, rare types, batches.

The generator follows Zappia, Phipson and Oshlack (2017), Splatter: simulation of single-cell RNA
sequencing data, Genome Biology 18:174, doi:10.1186/s13059-017-1305-0:

1. The mean of a gene is drawn from a gamma distribution, shape 0.6 and rate 0.3.  5 % of the genes
   are outliers: the median mean times a lognormal factor (4, 0.5).
2. A type (or a branch of the trajectory) multiplies the means of a random 3 % of the genes by a
   lognormal factor (1, 0.4) or its inverse, with equal odds.  These genes are the true ones.
   On a branch the factor is raised to the place of the cell on the branch, between 0 and 1.
3. A batch multiplies the means of all genes by lognormal factors (0.1, 0.1).
4. The library size of a cell is lognormal with median 4,000 and scale 0.3.  The means of a cell are
   scaled to it.
5. Biological variation: the mean of a gene in a cell is drawn from a gamma distribution whose
   coefficient of variation is (0.1 + 1 / √mean) √(60 / χ²₆₀), χ² drawn for each gene.
6. Counts are Poisson of that.  With dropout, a count is set to 0 with the probability
   1 / (1 + mean of the gene in the cell), Splatter's logistic function of the log mean with
   midpoint 0 and shape −1.

Steps 2 and 4 were set, once for all simulations, so that the neighbours in 50 principal components
of all genes show the types; with the factors (0.5, 0.4) those of the trajectory did not.  The other
figures are the defaults of Splatter.  No method was run before they were set, and nothing is tuned
on these sets.
"""

from __future__ import annotations

from dataclasses import dataclass

import anndata as ad
import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix

N_GENES = 5000
MEAN_SHAPE, MEAN_RATE = 0.6, 0.3
OUTLIERS, OUTLIER_FACTOR = 0.05, (4.0, 0.5)
TRUE_SHARE, TRUE_FACTOR = 0.03, (1.0, 0.4)
BATCH_FACTOR = (0.1, 0.1)
LIBRARY = (np.log(4000), 0.3)
BCV, BCV_FREEDOM = 0.1, 60
#: A branch is cut into this many labels.
STAGES = 3


@dataclass(frozen=True)
class Simulation:
    """What is simulated: the share of cells of every type, or of every branch of a trajectory."""

    seed: int
    n_cells: int
    shares: tuple[float, ...]
    trajectory: bool = False
    n_batches: int = 1
    dropout: bool = False

    def draw(self) -> ad.AnnData:
        """Counts; `.obs["label"]`, `.obs["batch"]`, `.var["true"]` and `.obsm["latent"]`.

        `latent` has a column a type or branch: membership, or the place on the branch.
        """
        rng = np.random.default_rng(self.seed)
        members = rng.choice(len(self.shares), self.n_cells, p=np.array(self.shares))
        latent = np.eye(len(self.shares))[members]
        labels = pd.Series(members).map(lambda kind: f"type {kind + 1}").to_numpy()
        if self.trajectory:
            latent, labels = branches(members, rng)
        factors = differential(len(self.shares), rng)
        log_means = np.log(gene_means(rng)) + latent @ factors
        batch = rng.integers(self.n_batches, size=self.n_cells)
        if self.n_batches > 1:
            log_means += rng.normal(*BATCH_FACTOR, (self.n_batches, N_GENES))[batch]
        counts = sample(np.exp(log_means), rng, dropout=self.dropout)
        obs = pd.DataFrame({"label": labels}, index=[f"cell {i}" for i in range(self.n_cells)])
        if self.n_batches > 1:
            obs["batch"] = [f"batch {one + 1}" for one in batch]
        var = pd.DataFrame({"true": (factors != 0).any(axis=0)})
        var.index = [f"gene {i}" for i in range(N_GENES)]
        return ad.AnnData(csr_matrix(counts), obs, var, obsm={"latent": latent})


def branches(members: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Places on a trunk, branch 0, from whose end all others start; labels are thirds of them."""
    place = rng.uniform(size=len(members))
    latent = np.zeros((len(members), members.max() + 1))
    latent[np.arange(len(members)), members] = place
    latent[members > 0, 0] = 1.0
    stage = np.minimum((place * STAGES).astype(int), STAGES - 1)
    names = [f"branch {one + 1}, stage {two + 1}" for one, two in zip(members, stage, strict=True)]
    return latent, np.array(names)


def gene_means(rng: np.random.Generator) -> np.ndarray:
    """Step 1."""
    means = rng.gamma(MEAN_SHAPE, 1 / MEAN_RATE, N_GENES)
    outliers = rng.uniform(size=N_GENES) < OUTLIERS
    means[outliers] = np.median(means) * rng.lognormal(*OUTLIER_FACTOR, outliers.sum())
    return means


def differential(n_groups: int, rng: np.random.Generator) -> np.ndarray:
    """Step 2: logarithms of the factors, groups by genes; 0 where a gene is not differential."""
    size = n_groups, N_GENES
    chosen = rng.uniform(size=size) < TRUE_SHARE
    return chosen * rng.choice([-1.0, 1.0], size) * rng.normal(*TRUE_FACTOR, size)


def sample(means: np.ndarray, rng: np.random.Generator, *, dropout: bool) -> np.ndarray:
    """Steps 4 to 6."""
    library = rng.lognormal(*LIBRARY, (len(means), 1))
    means = means / means.sum(axis=1, keepdims=True) * library
    spread = np.sqrt(BCV_FREEDOM / rng.chisquare(BCV_FREEDOM, N_GENES))
    shape = ((BCV + 1 / np.sqrt(means)) * spread) ** -2
    means = rng.gamma(shape, means / shape)
    counts = rng.poisson(means).astype(np.float32)
    return counts * (rng.uniform(size=counts.shape) >= 1 / (1 + means)) if dropout else counts


SIMULATIONS = {
    "types": Simulation(1, 2000, (0.125,) * 8),
    "types, dropout": Simulation(2, 2000, (0.125,) * 8, dropout=True),
    "rare types": Simulation(3, 3000, (0.35, 0.25, 0.18, 0.105, 0.05, 0.03, 0.02, 0.01, 0.005)),
    "trajectory": Simulation(4, 2000, (0.4, 0.3, 0.3), trajectory=True),
    "batches": Simulation(5, 2500, (0.25, 0.25, 0.2, 0.15, 0.1, 0.05), n_batches=3),
}
