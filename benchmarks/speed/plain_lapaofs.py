"""LapAOFS as its authors write it: every step evaluates the criterion of all genes from scratch.

``f_iᵀB M B f_i / (1 + f_iᵀB f_i)`` takes two products of the genes with an n × n matrix a step,
``4 d n²`` flop; B itself follows by Sherman–Morrison.  The one of glfs_bio keeps both quadratic
forms up to date instead, with ``4 d n`` flop a step.
"""

from __future__ import annotations

import numpy as np

from glfs_bio.cells.problem import build_problems
from glfs_bio.cells.reduction import Reduction
from glfs_bio.rivals.designs import alike


def blocks(adata) -> list:
    """Whitened genes at full rank, as the ranker is given them."""
    values = np.asarray(adata.X, dtype=float)
    return [alike(one) for one in build_problems(values, Reduction(n_comps=None, standardize=None))]


def select(parts: list, n_genes: int) -> list[int]:
    """Genes in the order in which they enter."""
    (block,) = parts
    genes = block.genes
    inverse = np.linalg.inv(np.eye(genes.shape[1]) + block.covered)
    picked: list[int] = []
    for _ in range(n_genes):
        through = genes @ inverse
        gain = np.einsum("ij,ij->i", through, through)
        gain /= 1.0 + np.einsum("ij,ij->i", through, genes)
        gain[picked] = -np.inf
        picked.append(int(np.argmax(gain)))
        u = inverse @ genes[picked[-1]]
        inverse -= np.outer(u, u) / (1.0 + genes[picked[-1]] @ u)
    return picked
